//! Target profiles: abilities and limits of each store. The numbers are data files.
//!
//! Invariant: every profile file parses; a test reads them all.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The profile of a target. Each file also says where its numbers come from.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// The name in models.
    pub name: String,
    /// True if partitions lie in key order and need not be named.
    pub ordered: bool,
    /// True if keys are texts only.
    pub text_keys: bool,
    /// True if several rows can be written at once, all or none.
    pub transactions: bool,
    /// True if such a transaction may read first and is serializable.
    pub reading_transactions: bool,
    /// True if an index shows a write at once.
    pub strong_indexes: bool,
    /// True if an index of one attribute lies beside the rows of each partition, so that every
    /// partition is asked.
    pub scattered_indexes: bool,
    /// True if a query of an index may also name the columns of the base key that end its entries.
    pub index_conditions_on_base_key: bool,
    /// True if one transaction may change an item only once.
    pub one_operation_per_item: bool,
    /// True if reads step over deleted rows (tombstones) until compaction removes them.
    pub tombstones: bool,
    /// Bytes of one item.
    pub item_bytes_max: f64,
    /// Bytes of one partition.
    pub partition_bytes_max: f64,
    /// Reads per second on one partition.
    pub partition_reads_max: f64,
    /// Writes per second on one partition.
    pub partition_writes_max: f64,
    /// Items in one transaction.
    pub transaction_items_max: f64,
    /// Bytes of a whole key.
    pub key_bytes_max: f64,
    /// Bytes of the rows of one answer, where the target cuts it there: the rest is asked for again.
    #[serde(default)]
    pub answer_bytes_max: Option<f64>,
    /// Of one table.
    pub indexes_max: f64,
    /// Indexes of one table that lie beside its rows, in their partition.
    #[serde(default)]
    pub local_indexes_max: f64,
    /// Bytes of one partition with its local indexes, where there are any.
    #[serde(default)]
    pub collection_bytes_max: Option<f64>,
    /// The attributes that indexes include by name, where their number has a limit.
    #[serde(default)]
    pub included: Option<Included>,
    /// True if its requests are sentences of a language that refuses some.
    #[serde(default)]
    pub has_requests: bool,
    /// The rules of its requests, by name.
    #[serde(default)]
    pub rules: BTreeMap<String, Rule>,
    /// The shape of its keys, where they are no free lists of columns.
    pub key_shape: Option<KeyShape>,
}

/// One rule of a target's requests.
#[derive(Debug, Clone, Deserialize)]
pub struct Rule {
    /// The rule as a sentence.
    pub says: String,
    /// The source of the rule.
    pub source: String,
}

/// The limits of attributes that indexes include by name, beside keys; one that has all attributes
/// names none.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Included {
    /// Names of one index.
    pub index_max: usize,
    /// Names of all indexes of a table together.
    pub table_max: usize,
}

/// The limits of the two halves of a key: columns and bytes.
#[derive(Debug, Clone, Deserialize)]
pub struct KeyShape {
    /// Partition key columns of a table.
    pub partition_columns_max: usize,
    /// Sort key columns of a table.
    pub sort_columns_max: usize,
    /// Partition key columns of an index.
    pub index_partition_columns_max: usize,
    /// Sort key columns of an index.
    pub index_sort_columns_max: usize,
    /// Bytes of a partition key.
    pub partition_bytes_max: f64,
    /// Bytes of a sort key.
    pub sort_bytes_max: f64,
    /// True if a column can be declared descending.
    pub descending: bool,
}

impl Target {
    /// Returns true if derived keys are texts: where the target has nothing else, or where a key
    /// has too few columns for what it must hold.
    pub fn plans_texts(&self) -> bool {
        self.text_keys || self.key_shape.is_some()
    }

    /// The settings of a model, beside the thresholds of lints.
    pub const SETTINGS: [&'static str; 14] = [
        "item.max",
        "partition.max",
        "partition.reads",
        "partition.writes",
        "transaction.items",
        "key.max",
        "indexes.max",
        "A5.reads",
        "P1.horizon",
        "P3.values",
        "P3.share",
        "P4.partitions",
        "V2.share",
        "W3.rows",
    ];
}

const FILES: [&str; 5] = [
    include_str!("shelfmark.json"),
    include_str!("dynamodb.json"),
    include_str!("cql.json"),
    include_str!("candb.json"),
    include_str!("ordered.json"),
];

static TARGETS: std::sync::LazyLock<Vec<Target>> = std::sync::LazyLock::new(|| {
    FILES.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
});

/// Returns every profile.
pub fn all() -> impl Iterator<Item = &'static Target> {
    TARGETS.iter()
}

/// Returns the names of all targets.
pub fn names() -> Vec<&'static str> {
    TARGETS.iter().map(|target| target.name.as_str()).collect()
}

/// Returns the usual name of a target that has others.
pub fn usual(name: &str) -> &str {
    match name {
        // What the reference of the language calls it.
        "native" => "shelfmark",
        other => other,
    }
}

/// Returns the profile of a target.
pub fn profile(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
