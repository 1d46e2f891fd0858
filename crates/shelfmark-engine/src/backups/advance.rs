//! Moves changes that are too old to restore to from a history into the copy behind it, and drops
//! histories that nobody needs.
//!
//! Invariant: a change leaves the log in the commit that puts it into the copy, and the earliest moment is
//! raised before that.

use shelfmark_model::TableName;
use shelfmark_tables::catalogue::BACKUPS_NAMESPACE;
use shelfmark_tables::{ErrorKind, Result};

use super::fill::{Fill, Until};
use super::history::{HISTORIES, history_name};
use super::keeper::{Allowed, RUNNING};
use super::ledger::Entry;
use crate::engine::Engine;

const MICROS_PER_DAY: u64 = 24 * 3_600 * 1_000_000;

/// Milliseconds for which a history may be without its table: whoever creates it is about to.
const UNNAMED_MS_MAX: u64 = 60_000;

impl Engine {
    /// Looks at every history: drops those that nobody needs, and moves old changes of the others.
    pub(super) fn keep_histories(&self, allowed: &mut Allowed<'_>) -> Result<u64> {
        let entries = self.ledger_entries(HISTORIES, "", None, usize::MAX)?;
        if entries.is_empty() {
            return Ok(0);
        }
        let running = self.ledger_entries(RUNNING, "", None, usize::MAX)?;
        let running: Vec<Fill> =
            running.iter().filter_map(|entry| Fill::read(entry).ok()).collect();
        let mut done = 0;
        for entry in entries {
            done += u64::from(self.keep_history(&entry, &running, allowed)?);
        }
        Ok(done)
    }

    /// Looks at one history. Tells whether anything was done.
    fn keep_history(
        &self,
        entry: &Entry,
        running: &[Fill],
        allowed: &mut Allowed<'_>,
    ) -> Result<bool> {
        let base = TableName::new(entry.text("namespace"), entry.text("table"));
        let own = TableName::new(BACKUPS_NAMESPACE, entry.id.as_str());
        let log = match self.inner.catalogue.table(&own) {
            Ok(table) => Some(table.id),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let named = match self.inner.catalogue.table(&base) {
            Ok(table) => table.schema.options.history.clone(),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let named = named.filter(|history| history_name(&base, &history.label) == own);
        let is_used = running.iter().any(|fill| fill.log.is_some() && fill.log == log);
        if is_used {
            return Ok(false);
        }
        let now_ms = self.inner.environment.clock.now_millis();
        let age = now_ms.saturating_sub(entry.number("created_ms").unwrap_or_default());
        match named {
            None if age > UNNAMED_MS_MAX => self.drop_history(entry).map(|()| true),
            None => Ok(false),
            Some(history) if history.days.is_none() && age <= UNNAMED_MS_MAX => Ok(false),
            Some(history) if history.days.is_none() => {
                self.stop_history(&base)?;
                self.drop_history(entry)?;
                Ok(true)
            }
            Some(history) => {
                let days = u64::from(history.days.unwrap_or_default());
                let now = self.inner.environment.clock.now_micros();
                let horizon = now.saturating_sub(days * MICROS_PER_DAY);
                self.advance(entry, history.log, horizon, allowed)
            }
        }
    }

    /// Moves the changes up to a time into the copy.
    fn advance(
        &self,
        entry: &Entry,
        log: u64,
        horizon: u64,
        allowed: &mut Allowed<'_>,
    ) -> Result<bool> {
        let Some(copied) = entry.number("copy_micros") else { return Ok(false) };
        let until = Until { commit: u64::MAX, micros: horizon };
        if horizon <= copied || !self.inner.has_change_before(log, until)? {
            return Ok(false);
        }
        self.put_ledger_entry(entry.clone().with_number("copy_micros", horizon))?;
        let own = TableName::new(BACKUPS_NAMESPACE, entry.id.as_str());
        let mut is_any = false;
        while !allowed.is_over() {
            let current = || self.inner.catalogue.table(&own);
            let moved = self.inner.replay_page(log, None, until, true, current)?;
            allowed.used(moved.bytes);
            is_any |= moved.last.is_some();
            if moved.last.is_none() {
                break;
            }
        }
        Ok(is_any)
    }
}
