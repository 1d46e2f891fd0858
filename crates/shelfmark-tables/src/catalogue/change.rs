//! Changes the catalogue: creates, alters and drops tables, indexes and namespaces.
//!
//! Each is one commit, validated against the record it read, so two servers cannot both change one
//! table. In this process a change also waits until writes planned with the old form are queued.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{
    catalogue_key, change_lock_key, dropped_key, section, table_key,
};
use shelfmark_store::{
    Commit, CommitNumber, ErrorKind as StoreErrorKind, KeyRange, ScanLimits, Snapshot, Write,
};

use super::batch::{Batch, CatalogueChange};
use super::copies::{self, with_copies};
use super::following;
use super::table::Table;
use super::{Catalogue, Owner};
use super::{TableEvent, Watcher};
use crate::error::{Error, ErrorKind, Result};

/// The number of times a change is planned again after a conflict before the caller is told.
const ATTEMPTS_MAX: usize = 64;

/// An id whose keys are garbage, since the commit of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedId {
    /// The id.
    pub id: u64,
    /// The commit since which nobody needs them.
    pub since: CommitNumber,
}

/// Forms of tables by name.
type Forms = BTreeMap<TableName, Arc<Table>>;

impl Catalogue {
    pub(super) fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits a change that `plan` makes of a snapshot, and plans it again as long as it conflicts:
    /// a driver may say so although nobody else was there.
    pub(super) fn commit_planned<T>(
        &self,
        mut plan: impl FnMut(&dyn Snapshot) -> Result<(Vec<Bytes>, Vec<Write>, T)>,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS_MAX {
            let snapshot = self.store.snapshot()?;
            let (mut validate, writes, value) = match plan(&*snapshot) {
                Err(error) if error.kind() == ErrorKind::TooOld => continue,
                planned => planned?,
            };
            let mut writes = with_copies(writes);
            if self.following.is_some() {
                self.check_change_lock(&*snapshot)?;
                validate.push(change_lock_key());
                writes.push(following::raise());
            }
            match self.store.commit(Commit {
                base: Some(snapshot),
                validate,
                writes,
                // Small, and the way in which tables and indexes that take room are dropped.
                is_deletion: true,
                ..Commit::default()
            }) {
                Ok(_) => return Ok(value),
                Err(error) => match error.kind() {
                    StoreErrorKind::Conflict | StoreErrorKind::TooOld => {}
                    _ => return Err(error.into()),
                },
            }
        }
        Err(Error::new(ErrorKind::Conflict, "others changed the catalogue every time; retry"))
    }

    /// Creates a table and its indexes, all empty and public.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::AlreadyExists`]: there is a table of this name.
    /// * [`crate::ErrorKind::Invalid`]: fix the schema, or choose a namespace that is not of
    ///   another owner.
    /// * [`crate::ErrorKind::LimitExceeded`]: make the schema smaller.
    pub fn create(&self, schema: TableSchema, who: Owner) -> Result<Arc<Table>> {
        let name = schema.name.clone();
        self.apply_one(name, CatalogueChange::CreateTable(schema), who)
    }

    /// Replaces a table's schema by what `change` makes of it. Indexes are told apart by name: new
    /// ones get ids (their state is the caller's), those left out become garbage.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * What `change` returned, and those of a schema as in [`Catalogue::create`].
    pub fn alter(
        &self,
        name: &TableName,
        change: impl FnOnce(&mut TableSchema) -> Result<()>,
    ) -> Result<Arc<Table>> {
        let mut change = Some(change);
        let change = |schema: &mut TableSchema| match change.take() {
            Some(change) => change(schema),
            None => Ok(()),
        };
        let change = CatalogueChange::AlterTable(name.clone(), Box::new(change));
        self.apply_one(name.clone(), change, Owner::Engine)
    }

    fn apply_one(
        &self,
        name: TableName,
        change: CatalogueChange<'_>,
        who: Owner,
    ) -> Result<Arc<Table>> {
        let mut forms = self.apply(vec![change], who)?;
        forms.remove(&name).ok_or_else(|| no_table(&name))
    }

    /// Drops a table and its indexes: instantly, the space comes back later.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * [`crate::ErrorKind::Invalid`]: it is another owner's.
    pub fn drop_table(&self, name: &TableName, who: Owner) -> Result<()> {
        self.apply(vec![CatalogueChange::DropTable(name.clone())], who).map(drop)
    }

    /// Makes changes of what `who` owns, all or none, and returns the new forms of the tables concerned.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::AlreadyExists`]: a name is taken.
    /// * [`crate::ErrorKind::NotFound`]: a name is not there.
    /// * [`crate::ErrorKind::Invalid`]: fix the change.
    /// * [`crate::ErrorKind::LimitExceeded`]: make the change smaller.
    pub fn apply(&self, changes: Vec<CatalogueChange<'_>>, who: Owner) -> Result<Forms> {
        // Whoever is told may use the catalogue.
        self.tell_watchers(&self.creating(&changes), TableEvent::Creating);
        let (forms, changed) = self.exclusively(|| self.apply_alone(changes, who))?;
        self.tell_watchers(&changed, TableEvent::Changed);
        Ok(forms)
    }

    /// Has `watcher` told of every table of `owner` that is created, changed or dropped.
    pub fn watch(&self, owner: Owner, watcher: Watcher) {
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        watchers.push((owner, watcher));
    }

    /// Returns the tables among changes that are created and not there, of owners that are watched.
    fn creating(&self, changes: &[CatalogueChange<'_>]) -> Vec<(TableName, Owner)> {
        let watched: Vec<Owner> = {
            let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watchers.iter().map(|(owner, _)| *owner).collect()
        };
        let is_absent = |name: &TableName| {
            self.table(name).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        let created = changes.iter().filter_map(|change| match change {
            CatalogueChange::CreateTable(schema) => {
                let owner = Owner::of_table(schema);
                let is_told = watched.contains(&owner) && is_absent(&schema.name);
                is_told.then(|| (schema.name.clone(), owner))
            }
            _ => None,
        });
        created.collect()
    }

    pub(super) fn tell_watchers(&self, changed: &[(TableName, Owner)], event: TableEvent) {
        if changed.is_empty() {
            return;
        }
        let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tell = |(of, watcher): &(Owner, Watcher)| {
            changed.iter().filter(|(_, owner)| owner == of).all(|(name, _)| watcher(name, event))
        };
        let ended: Vec<&Watcher> =
            watchers.iter().filter(|own| !tell(own)).map(|(_, watcher)| watcher).collect();
        if !ended.is_empty() {
            let mut all = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|(_, own)| !ended.iter().any(|ended| Arc::ptr_eq(ended, own)));
        }
    }

    /// Makes changes while nobody else does; returns the new forms, and which tables changed.
    fn apply_alone(
        &self,
        changes: Vec<CatalogueChange<'_>>,
        who: Owner,
    ) -> Result<(Forms, Vec<(TableName, Owner)>)> {
        let _change = self.change();
        let batch = Batch::of(self, changes, who)?;
        if batch.changes_nothing() {
            return Ok((batch.unchanged(), Vec::new()));
        }
        let olds = batch.olds();
        // From here to the new forms' places in the cache no write is planned or queued.
        let gates: Vec<_> = olds
            .iter()
            .map(|old| old.shared.gate.write().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let records =
            self.hold_up(&olds).and_then(|()| self.commit_planned(|snapshot| batch.plan(snapshot)));
        let records =
            records.inspect_err(|error| olds.iter().for_each(|old| self.doubt(old, error)))?;
        let mut forms = batch.unchanged();
        let mut changed = Vec::with_capacity(records.len());
        for (name, record) in records {
            let old = batch.old(&name);
            let schema = record.as_ref().map(|own| &own.schema).or(old.map(|own| &own.schema));
            changed.extend(schema.map(|schema| (name.clone(), Owner::of_table(schema))));
            if let Some(old) = old {
                old.retired.store(true, Ordering::Release);
            }
            let Some(record) = record else {
                self.forget(&name);
                continue;
            };
            let kept = old.filter(|old| old.id == record.id).map(|old| Arc::clone(&old.shared));
            let table = Arc::new(match kept {
                Some(shared) => Table::with_shared(record, shared),
                None => Table::of(record),
            });
            self.cache(Arc::clone(&table));
            forms.insert(name, table);
        }
        drop(gates);
        Ok((forms, changed))
    }

    /// Forgets a form of which nobody knows whether the store still has it: its next user reads it
    /// again. Called with the gate held, so that nothing planned with it is queued any more.
    fn doubt(&self, old: &Table, error: &Error) {
        use ErrorKind::{Conflict, NotFound, Undetermined};
        if matches!(error.kind(), Undetermined | Conflict | NotFound) {
            old.retired.store(true, Ordering::Release);
            self.forget(&old.schema.name);
        }
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
    ///
    /// Waits for the writes that were planned without knowing: a put that did not look would leave
    /// the chunks of the row that it replaces behind.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * Those of the store.
    pub fn set_chunked(&self, table: &Table) -> Result<()> {
        if table.has_chunks() {
            return Ok(());
        }
        self.set_for_ever(table, |record| &mut record.chunked, &table.shared.chunked)
    }

    /// Persists that ranges of rows may be deleted, before the first is, where several servers share
    /// the store: from then on writers of a partition meet its deletions in a guard.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * Those of the store.
    pub fn set_ranged(&self, table: &Table) -> Result<()> {
        if table.has_ranges() {
            return Ok(());
        }
        self.set_for_ever(table, |record| &mut record.ranged, &table.shared.ranged)
    }

    fn set_for_ever(
        &self,
        table: &Table,
        flag: fn(&mut TableRecord) -> &mut bool,
        known: &AtomicBool,
    ) -> Result<()> {
        self.exclusively(|| {
            let _change = self.change();
            let name = &table.schema.name;
            let key = Bytes::from(table_key(name));
            let held = self.cached(name).filter(|own| own.id == table.id);
            self.hold_up(held.as_slice())?;
            self.commit_planned(|snapshot| {
                let record = copies::get(snapshot, &key, TableRecord::decode)?;
                let mut record = record.ok_or_else(|| no_table(name))?;
                *flag(&mut record) = true;
                let value = record.encode_checked()?;
                Ok((vec![key.clone()], vec![Write::Put { key: key.clone(), value }], ()))
            })?;
            let _gate = table.shared.gate.write().unwrap_or_else(PoisonError::into_inner);
            known.store(true, Ordering::Release);
            Ok(())
        })
    }

    /// Returns ids whose keys are still there though nobody needs them.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn dropped(&self) -> Result<Vec<DroppedId>> {
        // Whoever drops one just now is done with it before its id is listed.
        let _change = self.change();
        let snapshot = self.store.snapshot()?;
        // The commits that dropped them are not newer than this snapshot.
        let since = snapshot.id().commit;
        let mut dropped = Vec::new();
        let mut rest = Some(KeyRange::prefix(catalogue_key(section::DROPPED)));
        while let Some(range) = rest.take() {
            let page = copies::scan(&*snapshot, &range, ScanLimits::default())?;
            for row in &page.rows {
                let damaged = || Error::corrupt("the record of a dropped table is damaged");
                let mut after = row.key.get(2..).ok_or_else(damaged)?;
                let id = take_ordered_varint(&mut after).map_err(|_| damaged())?;
                dropped.push(DroppedId { id, since });
            }
            rest = page.next;
        }
        Ok(dropped)
    }

    /// Forgets a dropped id once its keys are gone.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn purged(&self, id: u64) -> Result<()> {
        let writes = with_copies(vec![Write::Delete { key: dropped_key(id).into() }]);
        self.store.commit(Commit::of(writes).deleting())?;
        Ok(())
    }
}

/// Returns the first of `count` new ids, and the write that takes them.
pub(super) fn take_ids(snapshot: &dyn Snapshot, count: u64) -> Result<(u64, (Bytes, Bytes))> {
    let key = Bytes::from(catalogue_key(section::NEXT_ID));
    let read = |value: &Bytes| {
        let bytes = value.as_ref().try_into();
        bytes.map(u64::from_be_bytes).map_err(|_| Error::corrupt("the counter of ids is damaged"))
    };
    let first = copies::get(snapshot, &key, read)?.unwrap_or(1);
    let next = Bytes::copy_from_slice(&(first + count).to_be_bytes());
    Ok((first, (key, next)))
}

/// Checks that the store still has the form that a change was made from.
pub(super) fn check_unchanged(snapshot: &dyn Snapshot, key: &[u8], old: &Table) -> Result<()> {
    let name = &old.schema.name;
    let record = copies::get(snapshot, key, TableRecord::decode)?.ok_or_else(|| no_table(name))?;
    if (record.id, record.version) == (old.id, old.version) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Conflict, format!("another server changed table {name}; retry")))
}

pub(super) fn no_table(name: &TableName) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no table {name}"))
}

pub(super) fn dropped_write(id: u64) -> Write {
    Write::Put { key: dropped_key(id).into(), value: Bytes::from_static(&[1]) }
}
