//! Exact counts, of tables that keep them.

use shelfmark_model::Value;
use shelfmark_store::Write as StoreWrite;

use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::items::{partition_count_key, table_count_key};
use crate::tables::Tables;

impl Tables {
    /// Returns how many items the table holds, expired ones that were not swept yet included.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no exact counts. Set its option.
    pub fn count(&self, table: &Table) -> Result<u64> {
        self.counter(table, &table_count_key(table.id))
    }

    /// Returns how many items the partition holds.
    ///
    /// # Errors
    ///
    /// * As [`Tables::count`].
    pub fn count_partition(&self, table: &Table, partition: &[Value]) -> Result<u64> {
        self.counter(table, &partition_count_key(table, partition)?)
    }

    fn counter(&self, table: &Table, key: &[u8]) -> Result<u64> {
        if !table.counts_exactly() {
            return Err(Error::invalid(format!(
                "table {} keeps no exact counts; create it with `exact_counts`",
                table.schema.name
            )));
        }
        match self.store.snapshot()?.get(key)? {
            None => Ok(0),
            Some(value) => Ok(u64::try_from(StoreWrite::counter(&value)?).unwrap_or(0)),
        }
    }
}
