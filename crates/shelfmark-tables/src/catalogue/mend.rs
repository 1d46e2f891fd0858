//! Makes the catalogue agree with what is in the store, after part of it was lost.
//!
//! Invariant: an id that anything in the store still has is never given again.

use std::collections::BTreeSet;

use bytes::Bytes;
use shelfmark_model::TableSchema;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{dropped_key, table_key, version_key};
use shelfmark_store::{Commit, Write};

use super::change::{dropped_write, take_ids};
use super::copies::with_copies;
use super::table::index_names;
use super::{Catalogue, Owner};
use crate::error::Result;

impl Catalogue {
    /// Has the next id above `ids`. Returns whether it was not.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn pass_over(&self, ids: &BTreeSet<u64>) -> Result<bool> {
        let Some(largest) = ids.last() else { return Ok(false) };
        let snapshot = self.store.snapshot()?;
        let (next, (key, _)) = take_ids(&*snapshot, 0)?;
        if next > *largest {
            return Ok(false);
        }
        let value = Bytes::copy_from_slice(&(largest + 1).to_be_bytes());
        self.store.commit(Commit::of(with_copies(vec![Write::Put { key, value }])))?;
        Ok(true)
    }

    /// Makes the record of a table whose rows have this id already. Returns whether there was none.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::LimitExceeded`]: the record is too large.
    /// * Those of the store.
    pub fn adopt(&self, id: u64, schema: TableSchema) -> Result<bool> {
        let _change = self.change();
        let key = Bytes::from(table_key(&schema.name));
        self.commit_planned(|snapshot| {
            if snapshot.get(&key)?.is_some() {
                return Ok((vec![key.clone()], Vec::new(), false));
            }
            let count = index_names(&schema).len() as u64;
            let (first, (ids_key, ids)) = take_ids(snapshot, count)?;
            let record = TableRecord {
                id,
                origin: id,
                version: 1,
                index_ids: (first..first + count).collect(),
                // Rows of several chunks may be there.
                chunked: true,
                ranged: false,
                schema: schema.clone(),
            };
            let mut writes = vec![
                Write::Put { key: ids_key.clone(), value: ids },
                Write::Put { key: key.clone(), value: record.encode_checked()? },
                Write::Add { key: version_key(), delta: 1 },
            ];
            writes.extend(self.place(snapshot, &schema, Owner::of_table(&schema))?);
            Ok((vec![key.clone(), ids_key], writes, true))
        })
    }

    /// Has the keys of ids that no table has purged, and those of ids that tables have left alone.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn set_dropped(&self, strangers: &[u64], kept: &[u64]) -> Result<()> {
        let mut writes: Vec<Write> = strangers.iter().map(|id| dropped_write(*id)).collect();
        writes.extend(kept.iter().map(|id| Write::Delete { key: dropped_key(*id).into() }));
        if !writes.is_empty() {
            self.store.commit(Commit::of(with_copies(writes)))?;
        }
        Ok(())
    }
}
