//! Changes of the catalogue: creating, altering and dropping tables and indexes.
//!
//! Each is one commit, validated against the record it read, so two servers cannot both change one
//! table. In this process a change also waits until writes planned with the old form are queued.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_store::{Commit, CommitNumber, Direction, KeyRange, ScanLimits, Snapshot, Write};

use super::record::TableRecord;
use super::table::Table;
use super::{Catalogue, catalogue_key, dropped_key, section, table_key};
use crate::error::{Error, ErrorKind, Result};

/// An id whose keys are garbage, since the commit of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DroppedId {
    pub(crate) id: u64,
    pub(crate) since: CommitNumber,
}

impl Catalogue {
    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a table and its indexes, all empty and public.
    pub(crate) fn create(&self, schema: TableSchema) -> Result<Arc<Table>> {
        schema.check()?;
        let _change = self.change();
        let name = schema.name.clone();
        let snapshot = self.store.snapshot()?;
        let key = Bytes::from(table_key(&name));
        let exists =
            || Error::new(ErrorKind::AlreadyExists, format!("there is a table {name} already"));
        if snapshot.get(&key)?.is_some() {
            return Err(exists());
        }
        let (first, counter) = self.take_ids(&*snapshot, 1 + schema.indexes.len() as u64)?;
        let record = TableRecord {
            id: first,
            version: 1,
            index_ids: (first + 1..).take(schema.indexes.len()).collect(),
            chunked: false,
            schema,
        };
        let commit = Commit {
            validate: vec![key.clone(), counter.0.clone()],
            writes: vec![
                Write::Put { key, value: record.encode()? },
                Write::Put { key: counter.0, value: counter.1 },
            ],
            base: Some(snapshot),
        };
        self.store.commit(commit)?;
        let table = Arc::new(Table::of(record));
        self.cache(Arc::clone(&table));
        Ok(table)
    }

    /// Returns the first of `count` new ids, and the write that takes them.
    fn take_ids(&self, snapshot: &dyn Snapshot, count: u64) -> Result<(u64, (Bytes, Bytes))> {
        let key = Bytes::from(catalogue_key(section::NEXT_ID));
        let first = match snapshot.get(&key)? {
            None => 1,
            Some(value) => u64::from_be_bytes(
                value
                    .as_ref()
                    .try_into()
                    .map_err(|_| Error::corrupt("the counter of table ids is damaged"))?,
            ),
        };
        let next = Bytes::copy_from_slice(&(first + count).to_be_bytes());
        Ok((first, (key, next)))
    }

    /// Replaces a table's schema by what `change` makes of it. Indexes are told apart by name: new
    /// ones get ids (their state is the caller's), those left out become garbage.
    pub(crate) fn alter(
        &self,
        name: &TableName,
        change: impl FnOnce(&mut TableSchema) -> Result<()>,
    ) -> Result<Arc<Table>> {
        let _change = self.change();
        let old = self.load(name)?;
        let mut schema = old.schema.clone();
        change(&mut schema)?;
        schema.check()?;
        if schema == old.schema {
            return Ok(old);
        }
        let snapshot = self.store.snapshot()?;
        let added = schema.indexes.iter().filter(|index| old.index(&index.name).is_none()).count();
        let (mut next_id, counter) = self.take_ids(&*snapshot, added as u64)?;
        let mut index_ids = Vec::with_capacity(schema.indexes.len());
        for index in &schema.indexes {
            index_ids.push(match old.index(&index.name) {
                Some(kept) => kept.id,
                None => {
                    next_id += 1;
                    next_id - 1
                }
            });
        }
        let gone: Vec<u64> =
            old.indexes.iter().map(|index| index.id).filter(|id| !index_ids.contains(id)).collect();
        let record = TableRecord {
            id: old.id,
            version: old.version + 1,
            index_ids,
            chunked: old.shared.chunked.load(Ordering::Acquire),
            schema,
        };
        let key = Bytes::from(table_key(name));
        let mut writes = vec![
            Write::Put { key: key.clone(), value: record.encode()? },
            Write::Put { key: counter.0.clone(), value: counter.1 },
        ];
        writes.extend(gone.into_iter().map(dropped_write));
        let commit = Commit { base: Some(snapshot), validate: vec![key, counter.0], writes };
        // From here to the new form's place in the cache no write is planned or queued.
        let gate = old.shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.store.commit(commit)?;
        let table = Arc::new(Table::with_shared(record, Arc::clone(&old.shared)));
        old.retired.store(true, Ordering::Release);
        self.cache(Arc::clone(&table));
        drop(gate);
        Ok(table)
    }

    /// Drops a table and its indexes: instantly, the space comes back later.
    pub(crate) fn drop_table(&self, name: &TableName) -> Result<()> {
        let _change = self.change();
        let old = self.load(name)?;
        let key = Bytes::from(table_key(name));
        let mut writes = vec![Write::Delete { key: key.clone() }, dropped_write(old.id)];
        writes.extend(old.indexes.iter().map(|index| dropped_write(index.id)));
        let commit = Commit { base: Some(self.store.snapshot()?), validate: vec![key], writes };
        let gate = old.shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.store.commit(commit)?;
        old.retired.store(true, Ordering::Release);
        self.forget(name);
        drop(gate);
        Ok(())
    }

    /// Makes an index public, or gives it another state.
    pub(crate) fn set_index_state(
        &self,
        name: &TableName,
        index: &str,
        state: IndexState,
    ) -> Result<Arc<Table>> {
        self.alter(name, |schema| {
            let found = schema.indexes.iter_mut().find(|own| own.name == index);
            let found = found.ok_or_else(|| {
                Error::new(ErrorKind::NotFound, format!("table {name} has no index {index}"))
            })?;
            found.state = state;
            Ok(())
        })
    }

    /// Persists that rows of more than one chunk may be there, before the first is written.
    pub(crate) fn set_chunked(&self, table: &Table) -> Result<()> {
        if table.shared.chunked.load(Ordering::Acquire) {
            return Ok(());
        }
        let _change = self.change();
        let name = &table.schema.name;
        let snapshot = self.store.snapshot()?;
        let key = Bytes::from(table_key(name));
        let bytes = snapshot
            .get(&key)?
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("there is no table {name}")))?;
        let mut record = TableRecord::decode(&bytes)?;
        record.chunked = true;
        let writes = vec![Write::Put { key: key.clone(), value: record.encode()? }];
        self.store.commit(Commit { base: Some(snapshot), validate: vec![key], writes })?;
        table.shared.chunked.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns ids whose keys are still there though nobody needs them.
    pub(crate) fn dropped(&self) -> Result<Vec<DroppedId>> {
        let snapshot = self.store.snapshot()?;
        let range = KeyRange::prefix(catalogue_key(section::DROPPED));
        let page = snapshot.scan(&range, Direction::Ascending, ScanLimits::default())?;
        page.rows
            .iter()
            .map(|row| {
                let damaged = || Error::corrupt("the record of a dropped table is damaged");
                let mut rest = row.key.get(2..).ok_or_else(damaged)?;
                let id = take_ordered_varint(&mut rest).map_err(|_| damaged())?;
                // The commit that dropped it is not newer than this snapshot.
                Ok(DroppedId { id, since: snapshot.id().commit })
            })
            .collect()
    }

    /// Forgets a dropped id once its keys are gone.
    pub(crate) fn purged(&self, id: u64) -> Result<()> {
        self.store.commit(Commit::of(vec![Write::Delete { key: dropped_key(id).into() }]))?;
        Ok(())
    }
}

fn dropped_write(id: u64) -> Write {
    Write::Put { key: dropped_key(id).into(), value: Bytes::from_static(&[1]) }
}
