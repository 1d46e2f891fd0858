//! Exports and imports: items of tables as objects in buckets, and back, in the background.
//!
//! What there is to do is in the engine's ledger of backups, so it goes on after a restart; the objects
//! are wherever the server's [`Buckets`] are. What it is not: the requests, which are operations.
//!
//! Work is done in slices: a piece of an import's object, one object of an export. Each transfer has its
//! turn, so a large one holds up neither the others nor a request that begins one.
//!
//! Invariant: an object that is written twice has the same items, and how far a transfer has come is written
//! down behind the work.

mod buckets;
mod claims;
mod counted;
mod export;
mod filter;
mod gzip;
mod import;
mod ion;
mod lines;
pub mod manifest;
mod object_records;
mod readers;
mod record;
mod source;
mod waiting;
mod zstd;

pub use buckets::{BucketObject, Buckets, is_bucket_name, key_parts};
pub(crate) use export::folder_of;
pub(crate) use filter::{ExportFilter, FilterSpecification};
pub(crate) use lines::{Form, View};
pub(crate) use record::{EXPORTS, IMPORTS, Transfer, new_id, take_status};
pub(crate) use source::{Compression, Format, InputOptions};
pub(crate) use waiting::{give_up_import, waiting};

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Engine, Result};

use self::claims::Claims;
use self::readers::Readers;
use self::record::{EXPORTING, IMPORTING};
use crate::options::FaceOptions;

/// Time that a request spends on what it began.
const HURRIED_TIME_MAX: Duration = Duration::from_millis(200);

/// Time after which a turn of the background ends with the slices that every transfer had.
const TURN_TIME_MAX: Duration = Duration::from_secs(2);

/// Milliseconds for which a transfer may be without its table, copy or window: whoever began it, maybe another
/// server, is about to make it.
const UNPREPARED_MS_MAX: u64 = 60_000;

/// Transfers that are looked for at once.
const RUNNING_MAX: usize = 1_000;

/// The outcome of a slice of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    /// There was nothing to do; something else must come first.
    Waits,
    Moved,
    Ended,
}

/// The work on exports and imports of one server.
pub(crate) struct Transfers {
    engine: Engine,
    options: FaceOptions,
    pub(crate) buckets: Arc<dyn Buckets>,
    claims: Claims,
    readers: Readers,
}

impl Transfers {
    pub(crate) fn new(engine: Engine, options: FaceOptions, buckets: Arc<dyn Buckets>) -> Self {
        let readers = Readers::new(options.import_window_bytes);
        Self { engine, options, buckets, claims: Claims::default(), readers }
    }

    /// Goes on with all transfers, slice by slice and in turn, until `should_stop` or the turn is over. Returns
    /// how many slices did something: if any did, there may be more to do.
    pub(crate) fn go_on(&self, should_stop: &dyn Fn() -> bool) -> Result<u64> {
        let clock = &self.engine.environment().clock;
        let end = clock.monotonic() + TURN_TIME_MAX;
        let (mut done, mut outcome) = (0, Ok(()));
        loop {
            let mut moved = 0;
            for (kind, id) in self.running()? {
                if should_stop() {
                    return outcome.map(|()| done + moved);
                }
                match self.slice(kind, &id, should_stop) {
                    Ok(slice) => moved += u64::from(slice != Slice::Waits),
                    // It does not keep the others.
                    Err(error) => outcome = Err(error),
                }
            }
            done += moved;
            if moved == 0 || clock.monotonic() > end {
                return outcome.map(|()| done);
            }
        }
    }

    /// Goes on with one transfer for as long as a request may take: a small one ends with it.
    pub(crate) fn hurry(&self, kind: &str, id: &str) -> Result<()> {
        let clock = &self.engine.environment().clock;
        let end = clock.monotonic() + HURRIED_TIME_MAX;
        let should_stop = || clock.monotonic() > end;
        let kind = if kind == EXPORTS { EXPORTING } else { IMPORTING };
        while !should_stop() && self.slice(kind, id, &should_stop)? == Slice::Moved {}
        Ok(())
    }

    /// Begins a transfer: it is written down, and then made possible by `prepare`. If that fails it is as if
    /// it had never been. The background does not look at it meanwhile.
    pub(crate) fn begin<T>(
        &self,
        transfer: &Transfer,
        prepare: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _claim = self.claims.claim(&transfer.entry.id);
        transfer.begin(&self.engine)?;
        prepare().inspect_err(|_| {
            // Left behind it would fail, for there is nothing to work with.
            let _ = transfer.call_off(&self.engine);
        })
    }

    /// Does a slice of one transfer, unless somebody else works on it.
    fn slice(&self, kind: &str, id: &str, should_stop: &dyn Fn() -> bool) -> Result<Slice> {
        let Some(_claim) = self.claims.claim(id) else { return Ok(Slice::Waits) };
        match kind {
            EXPORTING => self.export(id, should_stop),
            _ => self.import(id, should_stop),
        }
    }

    /// Returns the transfers that are not finished, each with its kind.
    fn running(&self) -> Result<Vec<(&'static str, String)>> {
        let mut running = Vec::new();
        for kind in [EXPORTING, IMPORTING] {
            let entries = self.engine.ledger_entries(kind, "", None, RUNNING_MAX)?;
            running.extend(entries.into_iter().map(|entry| (kind, entry.id)));
        }
        // Another server may have ended an import that this one began to read.
        let is_running = |id: &String| running.iter().any(|(_, own)| own == id);
        self.readers.retain(is_running);
        Ok(running)
    }

    /// Returns true if a transfer was begun so short a time ago that it need not be prepared yet.
    fn is_new(&self, transfer: &Transfer) -> bool {
        let begun_ms = transfer.entry.number("start_ms").unwrap_or_default();
        self.now_ms().saturating_sub(begun_ms) < UNPREPARED_MS_MAX
    }

    fn now_ms(&self) -> u64 {
        self.engine.environment().clock.now_millis()
    }
}
