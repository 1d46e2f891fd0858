//! Records of exports and imports in the ledger of backups.

use shelfmark_engine::{Engine, LedgerEntry, Result};
use shelfmark_model::TableName;

use super::manifest;
use crate::options::FaceOptions;
use crate::scope::namespace_of;

/// The kinds of entries about exports and imports, and about those that are not finished.
pub(crate) const EXPORTS: &str = "export/dynamodb";
pub(crate) const IMPORTS: &str = "import/dynamodb";
pub(super) const EXPORTING: &str = "exporting";
pub(super) const IMPORTING: &str = "importing";

/// The status of one that has not ended.
const IN_PROGRESS: &str = "IN_PROGRESS";

/// An export or import: its entry, and the kind under which it is found while it runs.
pub(crate) struct Transfer {
    pub(crate) entry: LedgerEntry,
    running: &'static str,
}

impl Transfer {
    /// Creates one that is in progress. `kind` is [`EXPORTS`] or [`IMPORTS`].
    pub(crate) fn new(kind: &'static str, id: &str, now_ms: u64) -> Self {
        let entry = LedgerEntry::new(kind, id).with("status", IN_PROGRESS);
        Self::of(entry.with_number("start_ms", now_ms))
    }

    fn of(entry: LedgerEntry) -> Self {
        let running = if entry.kind == EXPORTS { EXPORTING } else { IMPORTING };
        Self { entry, running }
    }

    /// Finds one that is in progress: whoever worked on it before, here or on another server, may have ended
    /// it.
    pub(super) fn find(engine: &Engine, kind: &'static str, id: &str) -> Result<Option<Self>> {
        let entry = engine.ledger_entry(kind, id)?;
        Ok(entry.filter(|entry| entry.text("status") == IN_PROGRESS).map(Self::of))
    }

    /// Writes it down for the first time; from now on the background works on it.
    pub(crate) fn begin(&self, engine: &Engine) -> Result<()> {
        let note = LedgerEntry::new(self.running, self.entry.id.as_str());
        engine.put_ledger_entry_with(self.entry.clone(), note, true)
    }

    /// Takes back that it was begun.
    pub(crate) fn call_off(&self, engine: &Engine) -> Result<()> {
        Self::forget(engine, self.running, &self.entry.id)?;
        engine.delete_ledger_entry(&self.entry.kind, &self.entry.id)
    }

    /// Writes down how far it has come.
    pub(super) fn keep(&self, engine: &Engine) -> Result<()> {
        engine.put_ledger_entry(self.entry.clone())
    }

    /// Ends it: with an error, or well.
    pub(super) fn end(
        mut self,
        engine: &Engine,
        now_ms: u64,
        failure: Option<(&str, String)>,
    ) -> Result<()> {
        let status = if failure.is_some() { "FAILED" } else { "COMPLETED" };
        self.entry = self.entry.with("status", status).with_number("end_ms", now_ms);
        if let Some((code, message)) = failure {
            let message: String = message.chars().take(1_000).collect();
            self.entry = self.entry.with("failure_code", code).with("failure_message", message);
        }
        let note = LedgerEntry::new(self.running, self.entry.id.as_str());
        engine.put_ledger_entry_with(self.entry, note, false)
    }

    /// Removes the note that something is in progress.
    pub(super) fn forget(engine: &Engine, running: &str, id: &str) -> Result<()> {
        engine.delete_ledger_entry(running, id)
    }

    pub(crate) fn add(&mut self, name: &str, more: u64) {
        let before = self.entry.number(name).unwrap_or_default();
        self.entry = self.entry.clone().with_number(name, before + more);
    }
}

/// Returns the table of a transfer.
pub(super) fn table_of(entry: &LedgerEntry) -> TableName {
    TableName::new(namespace_of(entry), entry.text("table"))
}

/// Returns the settings by which the ARNs of a transfer are made.
pub(super) fn options_of(options: &FaceOptions, entry: &LedgerEntry) -> FaceOptions {
    let own = |name: &str, default: &String| match entry.text(name) {
        "" => default.clone(),
        own => own.to_owned(),
    };
    let (region, account) = (own("region", &options.region), own("account", &options.account));
    FaceOptions { region, account, ..options.clone() }
}

/// Returns the status of a transfer.
pub(crate) fn take_status(entry: &LedgerEntry) -> &str {
    entry.text("status")
}

/// Returns a new id.
pub(crate) fn new_id(engine: &Engine) -> String {
    let environment = engine.environment();
    manifest::id(environment.clock.now_millis(), environment.random.number())
}
