//! Dormant tables for faces: copies that an export reads, and new tables that an import fills.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{Item, TableName, TableSchema};
use shelfmark_records::keys::{Tree, after_row, tree_key};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, Snapshot};
use shelfmark_tables::catalogue::{BACKUPS_NAMESPACE, Table};
use shelfmark_tables::items::encode;
use shelfmark_tables::rows::{RowScan, commit_chunk, put_stored, read_row};
use shelfmark_tables::{Error, ErrorKind, Result};

use super::history::dormant_schema;
use super::restore::Moment;
use super::{keeper::RUNNING, restore::RESTORES};
use crate::engine::Engine;
use crate::inner::Inner;

/// Items of a dormant table, in the order of their keys.
#[derive(Debug, Clone)]
pub struct DormantPage {
    /// The items.
    pub items: Vec<Item>,
    /// The place behind which the next page begins; `None` at the end.
    pub next: Option<Bytes>,
}

impl Engine {
    /// Begins a copy of a table as of a moment, for [`Engine::read_copy`]. `label` names it.
    ///
    /// # Errors
    ///
    /// * As [`Engine::restore_to_moment`].
    pub fn begin_copy(&self, table: &Table, moment: Moment, label: &str) -> Result<()> {
        let name = copy_name(label);
        self.restore_to_moment(table, moment, dormant_schema(&table.schema, name)).map(drop)
    }

    /// Tells whether a copy is whole.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such copy: it was dropped, or its source went away.
    pub fn is_copy_whole(&self, label: &str) -> Result<bool> {
        let name = copy_name(label);
        self.inner.catalogue.table(&name)?;
        let id = format!("{RESTORES}/{}/{}", name.namespace, name.name);
        Ok(self.ledger_entry(RUNNING, &id)?.is_none())
    }

    /// Returns the next items of a copy, up to about `bytes_max` bytes.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such copy.
    pub fn read_copy(
        &self,
        label: &str,
        behind: Option<&Bytes>,
        bytes_max: usize,
    ) -> Result<DormantPage> {
        let table = self.inner.catalogue.table(&copy_name(label))?;
        let snapshot = self.inner.store.snapshot()?;
        let view: &dyn Snapshot = &*snapshot;
        let prefix = tree_key(Tree::Rows, table.id);
        let all = KeyRange::prefix(prefix.clone());
        let range = match behind {
            Some(rest) => after_row(&all, &[prefix.as_slice(), rest].concat(), false),
            None => all,
        };
        let mut rows = RowScan::new(&view, range, Direction::Ascending, 1024);
        let mut page = DormantPage { items: Vec::new(), next: None };
        let mut bytes = 0;
        while let Some(row) = rows.next_row()? {
            bytes += row.head.len() + row.chunks.iter().map(Bytes::len).sum::<usize>();
            page.items.push(table.decode_whole(&row)?);
            if bytes >= bytes_max {
                let rest = row.key.get(prefix.len()..).unwrap_or_default();
                page.next = Some(Bytes::copy_from_slice(rest));
                break;
            }
        }
        Ok(page)
    }

    /// Drops a copy that was read.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn drop_copy(&self, label: &str) -> Result<()> {
        self.drop_if_there(&copy_name(label))
    }

    /// Creates a table that cannot be used before it is filled ([`Engine::fill_items`]) and let go
    /// ([`Engine::end_filling`]).
    ///
    /// # Errors
    ///
    /// * As [`Engine::create_table`].
    pub fn begin_filling(&self, schema: TableSchema) -> Result<Arc<Table>> {
        self.create_dormant(schema)
    }

    /// Puts items into a table that is being filled; of two of one key the later one stays. Items that do
    /// not fit its key or its size limit are left out: their places are returned.
    ///
    /// Cost: a commit for each megabyte.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the table is gone.
    /// * [`ErrorKind::Invalid`]: the table is not being filled.
    pub fn fill_items(&self, name: &TableName, items: &[Item]) -> Result<Vec<(usize, Error)>> {
        let table = self.inner.catalogue.table(name)?;
        if !table.schema.options.dormant {
            return Err(Error::invalid(format!("table {name} is not being filled")));
        }
        let mut left_out = Vec::new();
        let mut fitting = Vec::new();
        for (place, item) in items.iter().enumerate() {
            match shelfmark_tables::items::fits(&table, item) {
                Ok(row_key) => fitting.push((row_key, item)),
                Err(error) => left_out.push((place, error)),
            }
        }
        let bytes_max = (self.inner.store.caps().commit_size_bytes_max / 4).min(1024 * 1024);
        let mut rest = fitting.as_slice();
        while !rest.is_empty() {
            let put = self.inner.put_items(name, rest, bytes_max)?;
            rest = rest.get(put..).unwrap_or_default();
        }
        Ok(left_out)
    }

    /// Builds the indexes of a table that was filled, and lets it be used.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the table is gone.
    pub fn end_filling(&self, name: &TableName) -> Result<()> {
        self.wake(name)
    }
}

impl Inner {
    /// Puts the first items of a list in one commit. Returns how many.
    fn put_items(
        &self,
        name: &TableName,
        items: &[(Vec<u8>, &Item)],
        bytes_max: usize,
    ) -> Result<usize> {
        let current = || self.catalogue.table(name);
        loop {
            let table = current()?;
            let snapshot = self.store.snapshot()?;
            let view: &dyn Snapshot = &*snapshot;
            let mut buffer = Buffer::new(Arc::clone(&snapshot));
            let mut count = 0;
            // The chunks of what this commit puts: a later item of one key takes their place, too.
            let mut put: HashMap<&[u8], Vec<Bytes>> = HashMap::new();
            for (row_key, item) in items {
                let stored = encode(&table, item, None);
                if !stored.chunks.is_empty() {
                    self.catalogue.set_chunked(&table)?;
                }
                let old = match put.insert(row_key, stored.chunks.clone()) {
                    Some(chunks) => chunks,
                    None if table.has_chunks() => {
                        read_row(&view, row_key)?.map(|old| old.chunks).unwrap_or_default()
                    }
                    None => Vec::new(),
                };
                put_stored(&mut buffer, row_key, &old, Some(stored), true);
                count += 1;
                if buffer.written_bytes() >= bytes_max {
                    break;
                }
            }
            match commit_chunk(self, buffer.into_commit(), current) {
                Ok(true) => return Ok(count),
                Ok(false) => {}
                Err(error) if error.kind() == ErrorKind::TooOld => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Returns the name of the dormant table behind a label.
pub(super) fn copy_name(label: &str) -> TableName {
    TableName::new(BACKUPS_NAMESPACE, format!("read/{label}"))
}
