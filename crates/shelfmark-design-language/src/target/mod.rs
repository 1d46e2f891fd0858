//! Target profiles: what each store can do and how much it takes. The numbers are data files.
//!
//! Invariant: every profile file parses; a test reads them all.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What a target can do. Each file also says where its numbers come from.
#[derive(Debug, Clone, Deserialize)]
pub struct Target {
    /// The name in models.
    pub name: String,
    /// Whether partitions lie in key order and need not be named.
    pub ordered: bool,
    /// Whether keys are texts only.
    pub text_keys: bool,
    /// Whether several rows can be written at once, all or none.
    pub transactions: bool,
    /// Whether such a transaction may read first and is serializable.
    pub reading_transactions: bool,
    /// Whether an index shows a write at once.
    pub strong_indexes: bool,
    /// Whether an index of one attribute lies beside the rows of each partition, so that every
    /// partition is asked.
    pub scattered_indexes: bool,
    /// Whether a query of an index may also name the columns of the base key that end its entries.
    pub index_conditions_on_base_key: bool,
    /// Whether one transaction may change an item only once.
    pub one_operation_per_item: bool,
    /// Whether what was deleted is read over until it is compacted away.
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
    /// Of one table.
    pub indexes_max: f64,
    /// Whether it is asked in a language of requests that refuses some.
    #[serde(default)]
    pub has_requests: bool,
    /// What its requests must obey, by the name of the rule.
    #[serde(default)]
    pub rules: BTreeMap<String, Rule>,
    /// What its keys look like, where they are no free lists of columns.
    pub key_shape: Option<KeyShape>,
}

/// One rule of a target's requests.
#[derive(Debug, Clone, Deserialize)]
pub struct Rule {
    /// The rule, in a sentence.
    pub says: String,
    /// Where it is written.
    pub source: String,
}

/// How many columns the two halves of a key have, and how long they get.
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
    /// Whether a column can be told to descend.
    pub descending: bool,
}

impl Target {
    /// Whether derived keys are texts: where nothing else is had, or where a key has too few
    /// columns for what it must hold.
    pub fn plans_texts(&self) -> bool {
        self.text_keys || self.key_shape.is_some()
    }

    /// What a model may set, beside the thresholds of lints.
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

/// The name a target goes by here, of whatever other name it has elsewhere.
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
