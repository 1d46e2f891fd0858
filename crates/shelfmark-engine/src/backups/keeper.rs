//! Does the work on backups, restores and histories, in pieces.
//!
//! Invariant: one piece is done at a time by one engine. Where several servers share a store one of them
//! does it; two that do the same for a while end in the same rows.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_model::TableName;
use shelfmark_tables::{ErrorKind, Result};

use super::backup::{Backup, EXPIRING};
use super::fill::Fill;
use super::history::HISTORIES;
use super::ledger::Entry;
use super::restore::RESTORES;
use crate::engine::Engine;

/// The kind of entries about work that is not finished.
pub(super) const RUNNING: &str = "running";

/// Time that is spent at once on work that was begun just now.
const HURRIED_TIME_MAX: Duration = Duration::from_millis(500);

/// Time between two looks at histories and at backups that expire.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// The time of the last look at histories, and whether work was left. Begins anew with the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupKeeper {
    looked_at_micros: u64,
    has_more: bool,
}

impl BackupKeeper {
    /// Returns true if the last call ended because it had done as much as it was allowed to, or for somebody
    /// who waited to begin work: there is more to do at once.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Notes that work beside it has more to do at once.
    pub(crate) fn has_more_beside(&mut self) {
        self.has_more = true;
    }
}

/// The rest of the work that may be done at once.
pub(super) struct Allowed<'a> {
    bytes_left: u64,
    should_stop: &'a dyn Fn() -> bool,
}

impl Allowed<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.bytes_left == 0 || (self.should_stop)()
    }

    pub(super) fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    pub(super) fn used(&mut self, bytes: u64) {
        // Reading nothing costs something, too.
        self.bytes_left = self.bytes_left.saturating_sub(bytes.max(1_024));
    }
}

impl Engine {
    /// Goes on with backups, restores and histories, up to about `bytes_max` bytes or until
    /// `should_stop`. Returns how much was done: finished work and moved changes. To be called every
    /// second or so; an [`crate::Upkeep`] does.
    ///
    /// Cost: one read if there is nothing to do; once a minute a read for each history.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later. What concerns one piece of work does not keep the others.
    pub fn keep_backups(
        &self,
        keeper: &mut BackupKeeper,
        bytes_max: u64,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<u64> {
        keeper.has_more = self.inner.backups.is_wanted();
        let Some(_held) = self.inner.backups.try_hold() else { return Ok(0) };
        let is_cut = Cell::new(false);
        let should_stop = || {
            is_cut.set(is_cut.get() || self.inner.backups.is_wanted());
            is_cut.get() || should_stop()
        };
        let mut allowed = Allowed { bytes_left: bytes_max, should_stop: &should_stop };
        let (mut done, mut outcome) = (0, Ok(()));
        for entry in self.ledger_entries(RUNNING, "", None, usize::MAX)? {
            if allowed.is_over() {
                break;
            }
            match self.go_on_with(&entry, &mut allowed) {
                Ok(is_done) => done += u64::from(is_done),
                Err(error) => outcome = Err(error),
            }
        }
        let now = self.inner.environment.clock.now_micros();
        let since = now.abs_diff(keeper.looked_at_micros);
        if u128::from(since) >= LOOK_EVERY.as_micros() && !allowed.is_over() {
            done += self.keep_histories(&mut allowed)?;
            done += self.keep_expiring_backups(&should_stop)?;
            keeper.looked_at_micros = now;
        }
        outcome?;
        keeper.has_more = allowed.bytes_left == 0 || is_cut.get();
        Ok(done)
    }

    /// Has work of a face done beside that on backups, by the same thread: exports and imports, and builds
    /// that could not go on. What fails is told as the trouble of the work on backups, keeps no other
    /// face's work, and is done again with the next period.
    pub fn work_beside_backups(
        &self,
        runner: impl Fn(&dyn Fn() -> bool) -> Result<u64> + Send + Sync + 'static,
    ) {
        self.inner.backups.add_runner(Arc::new(runner));
    }

    /// Does the work of all faces. Returns how much was done.
    ///
    /// # Errors
    ///
    /// * The last of them, once each face had its turn.
    pub(crate) fn run_beside_backups(&self, should_stop: &dyn Fn() -> bool) -> Result<u64> {
        let (mut done, mut outcome) = (0, Ok(()));
        for runner in self.inner.backups.runners() {
            match runner(should_stop) {
                Ok(own) => done += own,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| done)
    }

    /// Does work that was begun just now as far as it is small, so that its end need not be waited for.
    /// Leaves it to the background where servers share the store or other work is being done.
    ///
    /// # Errors
    ///
    /// * As [`Engine::keep_backups`]; the work stays begun.
    pub fn hurry_backups(&self, bytes_max: u64) -> Result<()> {
        if self.inner.store.peers().is_some() {
            return Ok(());
        }
        let clock = &self.inner.environment.clock;
        let mut keeper = BackupKeeper { looked_at_micros: clock.now_micros(), has_more: false };
        let end = clock.monotonic() + HURRIED_TIME_MAX;
        self.keep_backups(&mut keeper, bytes_max, &|| clock.monotonic() > end).map(drop)
    }

    /// Goes on with one piece of work. Tells whether it ended.
    fn go_on_with(&self, entry: &Entry, allowed: &mut Allowed<'_>) -> Result<bool> {
        let mut fill = Fill::read(entry)?;
        let before = fill.clone();
        let kind = entry.id.split('/').next().unwrap_or_default();
        let outcome = match self.waits_for_base(&fill) {
            Ok(true) => return Ok(false),
            Ok(false) => self.fill(&entry.id, &mut fill, allowed),
            Err(error) => Err(error),
        };
        let has_ended = match &outcome {
            Ok(is_whole) => *is_whole,
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        if has_ended {
            self.inner.backups.let_moment_go(&entry.id);
        }
        match outcome {
            Ok(true) => match kind {
                RESTORES => self.complete_restore(entry, &fill)?,
                HISTORIES => self.complete_base(entry, &fill)?,
                _ => self.complete_backup(entry, &fill)?,
            },
            Err(error) if error.kind() == ErrorKind::NotFound => match kind {
                RESTORES => self.abandon_restore(entry, &fill)?,
                HISTORIES => self.delete_ledger_entry(RUNNING, &entry.id)?,
                _ => self.abandon_backup(entry, &fill)?,
            },
            unfinished => {
                if fill != before {
                    self.put_ledger_entry(fill.put(Entry::new(RUNNING, entry.id.as_str())))?;
                }
                return unfinished;
            }
        }
        Ok(true)
    }

    /// Stops the history of a table once no work needs it any more.
    pub(super) fn end_of_work_on(&self, table: &TableName) -> Result<()> {
        let running = self.ledger_entries(RUNNING, "", None, usize::MAX)?;
        let is_needed = running
            .iter()
            .filter_map(|entry| Fill::read(entry).ok())
            .any(|fill| fill.source.0 == *table);
        if is_needed {
            return Ok(());
        }
        match self.stop_history(table) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            stopped => stopped?,
        }
        let prefix = format!("history/{}/{}/", table.namespace, table.name);
        for entry in self.ledger_entries(HISTORIES, &prefix, None, usize::MAX)? {
            let current = self.inner.catalogue.table(table);
            let own = current.ok().and_then(|own| own.schema.options.history.clone());
            let name = own.map(|own| super::history::history_name(table, &own.label).name);
            let is_read = running
                .iter()
                .filter_map(|entry| Fill::read(entry).ok())
                .any(|fill| fill.source.0.name == entry.id || fill.target.name == entry.id);
            if name.as_ref() != Some(&entry.id) && !is_read {
                self.drop_history(&entry)?;
            }
        }
        Ok(())
    }

    /// Deletes the engine's own backups whose time is over, and counts those that were too large to be
    /// counted when their tables were dropped. Returns how many.
    fn keep_expiring_backups(&self, should_stop: &dyn Fn() -> bool) -> Result<u64> {
        let now = self.inner.environment.clock.now_millis();
        let mut done = 0;
        for note in self.ledger_entries(EXPIRING, "", None, usize::MAX)? {
            let table = TableName::new(note.text("namespace"), note.text("table"));
            let Some(backup) = self.backup(&table, note.text("backup"))? else {
                self.delete_ledger_entry(EXPIRING, &note.id)?;
                continue;
            };
            if backup.expires_ms.is_some_and(|expires| expires <= now) {
                self.drop_backup(&backup)?;
                done += 1;
            } else if backup.bytes == 0 {
                let copy = self.inner.catalogue.table(&backup.copy_name())?;
                let size = self.inner.rows_size(copy.id, |_| should_stop())?;
                if let Some((items, bytes)) = size.filter(|(items, _)| *items > 0) {
                    self.put_ledger_entry(Backup { items, bytes, ..backup }.entry())?;
                    done += 1;
                }
            }
        }
        Ok(done)
    }
}
