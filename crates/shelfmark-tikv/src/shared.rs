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
    /// Connects to a cluster. Nothing is written there, and no other process sees it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the options contradict themselves, or a certificate cannot be read.
    /// * [`ErrorKind::Unavailable`]: no placement driver answers.
    pub(crate) fn connect(options: Options, clock: Arc<dyn Clock>) -> Result<Arc<Self>> {
        options.check()?;
        let bridge = Bridge::new()?;
        let (clients, id) = bridge.wait({
            let options = options.clone();
            async move {
                let connecting = Clients::connect(&options);
                let clients = match tokio::time::timeout(options.patience * 2, connecting).await {
                    Ok(clients) => clients?,
                    Err(_) => return Err(no_answer(&options)),
                };
                let id = crate::retry::read(options.patience, || {
                    let client = clients.next();
                    async move { client.current_timestamp().await }
                })
                .await?;
                Ok((clients, tikv_client::TimestampExt::version(&id)))
            }
        })?;
        Ok(Arc::new(Self {
            bridge,
            keys: Keys::new(&options.space),
            clients,
            placement: Placement::new(&options),
            regions: Regions::default(),
            stores: Stores::default(),
            stats: Stats::default(),
            membership: Membership::default(),
            slots: Arc::default(),
            seen: Mutex::default(),
            id,
            clock,
            bases: Mutex::default(),
            is_closed: AtomicBool::new(false),
            options,
        }))
    }

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

fn no_answer(options: &Options) -> Error {
    let places = options.placement.join(", ");
    Error::new(ErrorKind::Unavailable, format!("no placement driver answers at {places}"))
}
