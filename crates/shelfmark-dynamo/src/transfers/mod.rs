//! Exports and imports: items of tables as objects in buckets, and back, in the background.
//!
//! What there is to do is in the engine's ledger of backups, so it goes on after a restart; the objects
//! are wherever the server's [`Buckets`] are. What it is not: the requests, which are operations.
//!
//! Invariant: an object that is written twice is the same, and how far a transfer has come is written down
//! behind the work.

mod buckets;
mod csv;
mod export;
mod filter;
mod import;
mod ion;
mod lines;
pub mod manifest;
mod record;
mod source;
mod zstd;

pub use buckets::{BucketObject, Buckets, is_bucket_name, key_parts};
pub(crate) use export::folder_of;
pub(crate) use filter::{ExportFilter, FilterSpecification};
pub(crate) use lines::{Form, View};
pub(crate) use record::{EXPORTS, IMPORTS, Transfer, new_id, take_status};
pub(crate) use source::{Compression, Format, InputOptions};

use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use shelfmark_engine::{Engine, Result};

use self::record::{EXPORTING, IMPORTING};
use crate::face::FaceOptions;

/// Time that a request spends on what it began.
const HURRIED_TIME_MAX: Duration = Duration::from_millis(200);

/// Transfers that are looked for at once.
const RUNNING_MAX: usize = 1_000;

/// The work on exports and imports of one server.
pub(crate) struct Transfers {
    engine: Engine,
    options: FaceOptions,
    pub(crate) buckets: Arc<dyn Buckets>,
    /// Held while a transfer goes on.
    working: Mutex<()>,
}

impl Transfers {
    pub(crate) fn new(engine: Engine, options: FaceOptions, buckets: Arc<dyn Buckets>) -> Self {
        Self { engine, options, buckets, working: Mutex::default() }
    }

    /// Goes on with all transfers until `should_stop`. Returns how many ended.
    pub(crate) fn go_on(&self, should_stop: &dyn Fn() -> bool) -> Result<u64> {
        let _held = match self.working.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(0),
        };
        let mut done = 0;
        for entry in self.engine.ledger_entries(EXPORTING, "", None, RUNNING_MAX)? {
            done += u64::from(self.export(&entry.id, should_stop)?);
        }
        for entry in self.engine.ledger_entries(IMPORTING, "", None, RUNNING_MAX)? {
            done += u64::from(self.import(&entry.id, should_stop)?);
        }
        Ok(done)
    }

    /// Goes on with all transfers for as long as a request may take: small ones end with it.
    pub(crate) fn go_on_small(&self) -> Result<u64> {
        let clock = &self.engine.environment().clock;
        let end = clock.monotonic() + HURRIED_TIME_MAX;
        self.go_on(&|| clock.monotonic() > end)
    }

    /// Begins a transfer: it is written down, and then made possible by `prepare`. If that fails it is as if
    /// it had never been. The background does not look at it meanwhile.
    pub(crate) fn begin<T>(
        &self,
        transfer: &Transfer,
        prepare: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let _held = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        transfer.begin(&self.engine)?;
        prepare().inspect_err(|_| {
            // Left behind it would fail, for there is nothing to work with.
            let _ = transfer.call_off(&self.engine);
        })
    }

    fn now_ms(&self) -> u64 {
        self.engine.environment().clock.now_millis()
    }
}
