//! Restores: new tables from backups, and from histories as of a moment.
//!
//! Invariant: the new table is dormant until its rows and its indexes are whole. A restore whose source
//! goes away takes the new table with it.

use std::sync::Arc;

use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_tables::catalogue::{Owner, Table};
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::backup::Backup;
use super::fill::{Fill, Until};
use super::history::{HISTORIES, history_name};
use super::keeper::RUNNING;
use super::ledger::Entry;
use crate::engine::Engine;

/// The first part of the ids of running restores.
pub(super) const RESTORES: &str = "restore";

/// A moment to which a table is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// With every change that was committed by now.
    Latest,
    /// With the changes up to this time: microseconds since the Unix epoch.
    At(u64),
}

impl Engine {
    /// Begins to restore a backup as a new table of this schema, whose key is that of the backup. The table
    /// cannot be used before it is whole ([`Engine::is_being_filled`]).
    ///
    /// Durability: it is completed, also after a crash, once this returns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the backup is gone.
    /// * [`ErrorKind::Conflict`]: the backup is not complete yet.
    /// * [`ErrorKind::AlreadyExists`]: there is a table of this name.
    pub fn restore_backup(&self, backup: &Backup, schema: TableSchema) -> Result<Arc<Table>> {
        let _held = self.inner.backups.hold();
        let found = self.backup(&backup.table, &backup.id)?;
        let gone = || Error::new(ErrorKind::NotFound, "there is no such backup");
        if !found.ok_or_else(gone)?.is_complete {
            return Err(Error::new(ErrorKind::Conflict, "the backup is not complete yet"));
        }
        let copy = self.inner.catalogue.table(&backup.copy_name())?;
        let fill = Fill::of((backup.copy_name(), copy.id), schema.name.clone());
        self.begin_restore(fill, schema)
    }

    /// Begins to restore a table with continuous backups, as it was at a moment, as a new table of this
    /// schema. As [`Engine::restore_backup`] otherwise.
    ///
    /// While the first copy of the table is being made there is the latest moment alone: the restore waits
    /// for the copy, and has what was committed until then.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the table has no continuous backups.
    /// * [`ErrorKind::TooOld`]: the moment lies before the earliest or behind the latest one.
    /// * [`ErrorKind::AlreadyExists`]: there is a table of this name.
    pub fn restore_to_moment(
        &self,
        table: &Table,
        moment: Moment,
        schema: TableSchema,
    ) -> Result<Arc<Table>> {
        let _held = self.inner.backups.hold();
        let base = self.inner.catalogue.table(&table.schema.name)?;
        let own = base.schema.options.history.as_deref().filter(|own| own.days.is_some());
        let off = || Error::invalid("the table has no continuous backups; switch them on first");
        let own = own.ok_or_else(off)?;
        let name = history_name(&base.schema.name, &own.label);
        let entry = self.ledger_entry(HISTORIES, &name.name)?;
        let is_whole = Self::check_is_whole(entry.as_ref());
        let moments = self.continuous_backups(&base)?.ok_or_else(off)?;
        let until = match moment {
            Moment::Latest => u64::MAX,
            Moment::At(micros) => {
                is_whole.as_ref().map_err(Clone::clone)?;
                let is_kept = moments.earliest_micros.is_some_and(|earliest| earliest <= micros);
                if !is_kept || micros > moments.latest_micros {
                    return Err(Error::new(ErrorKind::TooOld, "nothing is kept of that moment"));
                }
                micros
            }
        };
        let mut fill = Fill::of((name, own.log), schema.name.clone());
        fill.log = Some(own.log);
        // A copy that is not whole may get changes of later than now: the end is then that of the restore.
        if is_whole.is_ok() {
            let commit = self.inner.store.snapshot()?.id().commit;
            fill.until = Some(Until { commit, micros: until });
        }
        self.begin_restore(fill, schema)
    }

    /// Tells whether a restore to the latest moment waits for the first copy of its table.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: nobody makes that copy any more.
    pub(super) fn waits_for_base(&self, fill: &Fill) -> Result<bool> {
        if fill.log.is_none() || fill.until.is_some() || fill.is_in_use() {
            return Ok(false);
        }
        let name = &fill.source.0.name;
        let history = self.ledger_entry(HISTORIES, name)?;
        if Self::check_is_whole(history.as_ref()).is_ok() {
            return Ok(false);
        }
        match self.ledger_entry(RUNNING, &format!("{HISTORIES}/{name}"))? {
            Some(_) => Ok(true),
            None => Err(Error::new(ErrorKind::NotFound, "the first copy of the table is gone")),
        }
    }

    fn begin_restore(&self, fill: Fill, schema: TableSchema) -> Result<Arc<Table>> {
        let name = schema.name.clone();
        let id = format!("{RESTORES}/{}/{}", name.namespace, name.name);
        match self.inner.catalogue.table(&name) {
            Ok(_) => {
                let why = format!("there is a table {name} already");
                return Err(Error::new(ErrorKind::AlreadyExists, why));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.put_ledger_entry(fill.put(Entry::new(RUNNING, id.as_str())))?;
        self.create_dormant(schema).inspect_err(|_| {
            // Without its table the entry is removed later, too.
            let _ = self.delete_ledger_entry(RUNNING, &id);
        })
    }

    /// Creates a table that is to be filled, with indexes that are to be built then.
    pub(super) fn create_dormant(&self, mut schema: TableSchema) -> Result<Arc<Table>> {
        schema.options.dormant = true;
        for index in &mut schema.indexes {
            index.state = IndexState::Building;
        }
        // A copy for a reader is the engine's, whoever reads it.
        let is_copy = schema.name.namespace == shelfmark_tables::catalogue::BACKUPS_NAMESPACE;
        let owner = if is_copy { Owner::Engine } else { self.owner };
        patiently(|| self.inner.catalogue.create(schema.clone(), owner))
    }

    /// Builds the indexes of a table that has all its rows, and lets it be used.
    pub(super) fn wake(&self, name: &TableName) -> Result<()> {
        shelfmark_tables::rows::resume(&self.inner, name)?;
        patiently(|| {
            self.inner.catalogue.alter(name, |schema| {
                schema.options.dormant = false;
                Ok(())
            })
        })
        .map(drop)
    }

    /// Ends a restore whose table has all its rows.
    pub(super) fn complete_restore(&self, running: &Entry, fill: &Fill) -> Result<()> {
        // Changes of before the moment may have been all there was, and later ones came to them.
        let micros = fill.until.map_or(u64::MAX, |until| until.micros);
        let history = self.ledger_entry(HISTORIES, &fill.source.0.name)?;
        let first = history.and_then(|entry| entry.number("copy_micros"));
        if first.is_some_and(|first| first > micros) {
            return self.abandon_restore(running, fill);
        }
        // A copy for a reader stays as it is; nobody else knows of it.
        if fill.target.namespace != shelfmark_tables::catalogue::BACKUPS_NAMESPACE {
            self.wake(&fill.target)?;
        }
        self.delete_ledger_entry(RUNNING, &running.id)
    }

    /// Gives a restore up whose source went away, with its table.
    pub(super) fn abandon_restore(&self, running: &Entry, fill: &Fill) -> Result<()> {
        match self.inner.catalogue.table(&fill.target) {
            Ok(table) if table.schema.options.dormant => {
                patiently(|| self.inner.catalogue.drop_table(&fill.target, Owner::Engine))?;
            }
            _ => {}
        }
        self.delete_ledger_entry(RUNNING, &running.id)
    }

    /// Tells whether a table cannot be used yet because it is being filled.
    #[must_use]
    pub fn is_being_filled(table: &Table) -> bool {
        table.schema.options.dormant
    }
}
