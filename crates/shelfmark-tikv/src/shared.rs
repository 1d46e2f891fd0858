//! The state that the parts of a store share.
//!
//! What it is not: their work. It knows which parts there are, and they know it.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use shelfmark_store::clock::Clock;
use shelfmark_store::{Error, ErrorKind, Result};

use crate::blocking::Bridge;
use crate::clients::Clients;
use crate::counters::seen::Seen;
use crate::counters::slots::Slots;
use crate::keys::Keys;
use crate::leaders::Stores;
use crate::options::Options;
use crate::peers::Membership;
use crate::placement::Placement;
use crate::regions::Regions;
use crate::snapshot::TikvSnapshot;
use crate::stats::Stats;

/// The state that the store, its snapshots and its background work share.
pub(crate) struct Shared {
    pub(crate) bridge: Bridge,
    pub(crate) options: Options,
    pub(crate) keys: Keys,
    pub(crate) clients: Clients,
    pub(crate) placement: Placement,
    pub(crate) regions: Regions,
    pub(crate) stores: Stores,
    pub(crate) stats: Stats,
    pub(crate) membership: Membership,
    pub(crate) slots: Arc<Slots>,
    pub(crate) seen: Mutex<Seen>,
    /// Tells this process apart from others on the cluster: the timestamp at which it connected.
    pub(crate) id: u64,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) bases: Mutex<HashMap<u64, Weak<TikvSnapshot>>>,
    pub(crate) is_closed: AtomicBool,
}

impl Shared {
    /// Runs a call's future and waits for it.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.bridge.wait(future)
    }

    pub(crate) fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::Acquire) {
            return Err(Error::new(ErrorKind::Closed, "the store was closed"));
        }
        Ok(())
    }

    /// Returns the memory of which counters nobody has added to.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        // Taken and put back as a whole, whatever panicked.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open snapshots by their moment, for commits that rest on them.
    pub(crate) fn bases(&self) -> MutexGuard<'_, HashMap<u64, Weak<TikvSnapshot>>> {
        // One insertion or removal each: whole, whatever panicked.
        self.bases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
