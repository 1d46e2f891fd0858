//! Continuous backups: histories that are kept for some days, with a copy that follows behind them.

use shelfmark_model::TableName;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::patiently;
use shelfmark_tables::{Error, ErrorKind, Result};

use super::fill::Fill;
use super::history::{HISTORIES, history_name};
use super::keeper::RUNNING;
use super::ledger::Entry;
use crate::engine::Engine;

const MICROS_PER_DAY: u64 = 24 * 3_600 * 1_000_000;

/// The moments to which a table can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continuous {
    /// Days for which changes are kept.
    pub days: u32,
    /// Microseconds since the Unix epoch of the first such moment; `None` until the first copy is whole.
    pub earliest_micros: Option<u64>,
    /// That of the last one: now.
    pub latest_micros: u64,
}

impl Engine {
    /// Has a table be restorable to every moment of the last `days` days, from now on. If it is already,
    /// only the number of days changes.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table.
    /// * [`ErrorKind::Invalid`]: its rows or placement are none that backups are for.
    pub fn start_continuous_backups(&self, name: &TableName, days: u32) -> Result<()> {
        self.table(name)?.check_items()?;
        let _held = self.inner.backups.hold();
        let had_days = |table: &Table| table.schema.options.history.as_ref()?.days;
        let had = had_days(&*self.inner.catalogue.table(name)?);
        let (table, _) = self.start_history(name, Some(days))?;
        if had.is_some() {
            return Ok(());
        }
        let Some(own) = table.schema.options.history.as_deref() else { return Ok(()) };
        let target = history_name(name, &own.label);
        let mut fill = Fill::of((name.clone(), table.id), target.clone());
        fill.log = Some(own.log);
        let running = Entry::new(RUNNING, format!("{HISTORIES}/{}", target.name));
        self.put_ledger_entry(fill.put(running))
    }

    /// Forgets all moments to which a table can be restored.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table.
    /// * [`ErrorKind::Conflict`]: a backup of the table is being made. Wait for it.
    pub fn stop_continuous_backups(&self, name: &TableName) -> Result<()> {
        self.table(name)?;
        let _held = self.inner.backups.hold();
        if self.is_backed_up_now(name)? {
            return Err(Error::new(ErrorKind::Conflict, "a backup of the table is being made"));
        }
        patiently(|| {
            self.inner.catalogue.alter(name, |schema| {
                schema.options.history = None;
                Ok(())
            })
        })
        .map(drop)
    }

    /// Returns the moments to which a table can be restored; `None` if it has no continuous backups.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn continuous_backups(&self, table: &Table) -> Result<Option<Continuous>> {
        let current = self.inner.catalogue.current(table)?;
        let table = current.as_deref().unwrap_or(table);
        let Some(own) = table.schema.options.history.as_deref() else { return Ok(None) };
        let Some(days) = own.days else { return Ok(None) };
        let name = history_name(&table.schema.name, &own.label);
        let entry = self.ledger_entry(HISTORIES, &name.name)?;
        let copied = entry.and_then(|entry| entry.number("copy_micros"));
        let now = self.inner.environment.clock.now_micros();
        let horizon = now.saturating_sub(u64::from(days) * MICROS_PER_DAY);
        Ok(Some(Continuous {
            days,
            earliest_micros: copied.map(|copied| copied.max(horizon)),
            latest_micros: now,
        }))
    }

    /// Notes that the first copy behind a history is whole: from now on there are moments to restore to.
    pub(super) fn complete_base(&self, running: &Entry, fill: &Fill) -> Result<()> {
        if let Some(entry) = self.ledger_entry(HISTORIES, &fill.target.name)? {
            let now = self.inner.environment.clock.now_micros();
            let entry = entry.with_number("copy_micros", now);
            let entry = entry.with_some("copy_commit", fill.after.map(|after| after.commit));
            self.put_ledger_entry(
                entry.with_some("copy_position", fill.after.map(|after| u64::from(after.position))),
            )?;
        }
        self.delete_ledger_entry(RUNNING, &running.id)
    }

    /// Returns the first moment that the copy of a history has changes of, if it is whole.
    pub(super) fn check_is_whole(entry: Option<&Entry>) -> Result<u64> {
        entry.and_then(|entry| entry.number("copy_micros")).ok_or_else(|| {
            let why = "the first copy of the table is still being made";
            Error::new(ErrorKind::TooOld, why)
        })
    }
}
