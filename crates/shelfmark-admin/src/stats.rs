//! `stats`: the content of a store and its size on disk.

use serde::{Deserialize, Serialize};

use crate::admin::Admin;
use crate::error::Result;
use crate::operation::Operation;
use crate::tables::readable_tables;

/// Asks for the content of the store and its size.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stats {}

/// The content of a store and its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsAnswer {
    /// Number of tables that can be read.
    pub tables: usize,
    /// Commits since the store was created.
    pub commits: u64,
    /// Bytes of rows in table files.
    pub tree_bytes_on_disk: u64,
    /// Bytes of the commit log.
    pub log_bytes_on_disk: u64,
    /// Bytes in memory that are not in table files yet.
    pub memory_table_bytes: u64,
    /// Free bytes of the store's file system, where there is one.
    pub disk_free_bytes: Option<u64>,
}

impl Operation for Stats {
    const NAME: &'static str = "stats";
    type Answer = StatsAnswer;

    fn run(self, admin: &Admin) -> Result<StatsAnswer> {
        let tables = readable_tables(admin.engine())?.0.len();
        let store = admin.engine().store().stats();
        Ok(StatsAnswer {
            tables,
            commits: store.published,
            tree_bytes_on_disk: store.tree_bytes_on_disk,
            log_bytes_on_disk: store.log_bytes_on_disk,
            memory_table_bytes: store.memory_table_bytes,
            disk_free_bytes: store.disk_free_bytes,
        })
    }
}
