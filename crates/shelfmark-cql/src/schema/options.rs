//! The options of tables and views: what `WITH` takes, stores and echoes.
//!
//! Most of them set up another storage than ours. They are checked as Cassandra checks them, kept
//! and shown; the ones that mean something here are `comment`, `default_time_to_live`,
//! `gc_grace_seconds` and `share`, which is ours.

/// The options of a table, by the names of `system_schema.tables`.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the options' own names; the reference is Cassandra's")]
pub struct TableOptions {
    pub additional_write_policy: String,
    /// `None` prints nothing.
    pub allow_auto_snapshot: bool,
    pub bloom_filter_fp_chance: f64,
    pub caching: Vec<(String, String)>,
    pub cdc: Option<bool>,
    pub comment: String,
    pub compaction: Vec<(String, String)>,
    pub compression: Vec<(String, String)>,
    pub memtable: String,
    pub crc_check_chance: f64,
    /// Seconds; 0 for none.
    pub default_time_to_live: i32,
    pub extensions: Vec<(String, Vec<u8>)>,
    /// Seconds.
    pub gc_grace_seconds: i32,
    pub incremental_backups: bool,
    pub max_index_interval: i32,
    pub memtable_flush_period_in_ms: i32,
    pub min_index_interval: i32,
    pub read_repair: String,
    /// Names what other faces may do, as [`shelfmark_engine::Share::word`]; empty leaves it
    /// to the server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub share: String,
    pub speculative_retry: String,
}

/// Seconds that deletions are remembered when nothing is said: 10 days, as in Cassandra.
const GC_GRACE_SECONDS_DEFAULT: i32 = 864_000;

impl Default for TableOptions {
    fn default() -> Self {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Self {
            additional_write_policy: "99p".to_owned(),
            allow_auto_snapshot: true,
            bloom_filter_fp_chance: 0.01,
            caching: map(&[("keys", "ALL"), ("rows_per_partition", "NONE")]),
            cdc: None,
            comment: String::new(),
            compaction: map(&[
                ("class", "org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy"),
                ("max_threshold", "32"),
                ("min_threshold", "4"),
            ]),
            compression: map(&[
                ("chunk_length_in_kb", "16"),
                ("class", "org.apache.cassandra.io.compress.LZ4Compressor"),
            ]),
            memtable: "default".to_owned(),
            crc_check_chance: 1.0,
            default_time_to_live: 0,
            extensions: Vec::new(),
            gc_grace_seconds: GC_GRACE_SECONDS_DEFAULT,
            incremental_backups: true,
            max_index_interval: 2_048,
            memtable_flush_period_in_ms: 0,
            min_index_interval: 128,
            read_repair: "BLOCKING".to_owned(),
            share: String::new(),
            speculative_retry: "99p".to_owned(),
        }
    }
}
