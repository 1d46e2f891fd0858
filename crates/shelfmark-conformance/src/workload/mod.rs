//! Transactions on few hot keys, run side by side, and the history of what they saw.
//!
//! Clients take turns in an order that the seed decides ([`interleave`]), in one thread, so that
//! reads and commits of different transactions fall between each other and a failing seed does the
//! same again; or each has its own thread ([`race`]), for what only real threads meet, and its own server
//! where several share a store ([`race_on`]).
//!
//! What it is not: a benchmark, or a check. [`crate::history::check`] judges what comes out.

mod client;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use shelfmark_store::random::SplitMix;
use shelfmark_store::{Commit, Error, ErrorKind, Result, Store};

use self::client::Client;
use crate::history::{History, Record, Version};

/// The workload to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Decides what each transaction does, and whose turn it is.
    pub seed: u64,
    /// Transactions at the same time.
    pub clients: usize,
    /// Transactions of each client.
    pub transactions: usize,
    /// Keys they meet at.
    pub keys: usize,
    /// Bytes of other keys that each writing commit puts beside, so that memory tables fill up.
    pub filler_bytes: usize,
}

impl Workload {
    /// Creates a workload of 4 clients with 12 transactions each on 4 keys, without filler.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, clients: 4, transactions: 12, keys: 4, filler_bytes: 0 }
    }

    /// Returns the `at`-th of the hot keys.
    fn key(&self, at: usize) -> Bytes {
        // Of this seed alone, so that one store takes several workloads.
        Bytes::from(format!("hot/{}/{at}", self.seed))
    }
}

/// The state that all clients share.
struct Stage<'a> {
    store: &'a dyn Store,
    workload: Workload,
    /// Events so far; also the source of names.
    events: AtomicU64,
    records: Mutex<Vec<Record>>,
}

impl Stage<'_> {
    fn event(&self) -> u64 {
        self.events.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn note(&self, record: Record) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

/// Runs `workload` on `store`, which holds none of its keys, client by client in turns.
///
/// # Errors
///
/// * What the store answered, unless a transaction must expect it (`Conflict`, `Exists`, `TooOld`,
///   `Busy`, `Undetermined`). The store is at fault, or not fit for the workload.
pub fn interleave(store: &dyn Store, workload: Workload) -> Result<History> {
    let stage = Stage::new(store, workload);
    let mut turns = SplitMix::new(workload.seed);
    let mut clients: Vec<Client<'_>> =
        (0..workload.clients).map(|_| Client::new(store, &mut turns)).collect();
    while !clients.is_empty() {
        let at = turns.index(clients.len());
        let Some(client) = clients.get_mut(at) else { break };
        if client.step(&stage)?.is_done {
            clients.swap_remove(at);
        }
    }
    stage.into_history()
}

/// Runs `workload` on `store`, which holds none of its keys, with a thread for each client.
///
/// # Errors
///
/// * As [`interleave`].
pub fn race(store: &dyn Store, workload: Workload) -> Result<History> {
    race_on(&[store], workload)
}

/// Runs `workload` on servers that share one store, which holds none of its keys, with a thread for
/// each client. Clients are spread over the servers.
///
/// # Errors
///
/// * As [`interleave`]; `Invalid` without a server.
pub fn race_on(servers: &[&dyn Store], workload: Workload) -> Result<History> {
    let Some(first) = servers.first() else {
        return Err(Error::new(ErrorKind::Invalid, "a workload needs a server"));
    };
    let stage = Stage::new(*first, workload);
    let mut seeds = SplitMix::new(workload.seed);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for server in servers.iter().cycle().take(workload.clients) {
            let (mut client, mut pauses) = (Client::new(*server, &mut seeds), seeds.fork());
            let (stage, failure) = (&stage, &failure);
            scope.spawn(move || {
                loop {
                    match client.step(stage) {
                        Ok(step) if step.is_done => return,
                        Ok(_) => {}
                        Err(error) => {
                            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                            return;
                        }
                    }
                    if pauses.chance(300) {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => stage.into_history(),
    }
}

impl<'a> Stage<'a> {
    fn new(store: &'a dyn Store, workload: Workload) -> Self {
        Self { store, workload, events: AtomicU64::new(0), records: Mutex::new(Vec::new()) }
    }

    /// Reads the keys as they are at the end.
    fn into_history(self) -> Result<History> {
        // Whatever was queued has its end before the lists are read.
        patiently(|| self.store.commit(Commit::default()))?;
        let finals = patiently(|| {
            let snapshot = self.store.snapshot()?;
            let keys = (0..self.workload.keys).map(|at| self.workload.key(at));
            keys.map(|key| Ok((key.clone(), read_list(snapshot.get(&key)?.as_ref())?))).collect()
        })?;
        Ok(History {
            records: self.records.into_inner().unwrap_or_else(PoisonError::into_inner),
            finals,
            is_numbered_in_order: self.store.caps().stamps_total_order,
        })
    }
}

/// Tries again as long as there is nothing but what must be expected.
fn patiently<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match attempt() {
            Err(error) if is_expected(error.kind()) => {}
            ended => return ended,
        }
    }
}

/// Returns true if a transaction must expect to end like this.
fn is_expected(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Conflict
            | ErrorKind::Exists
            | ErrorKind::TooOld
            | ErrorKind::Busy
            | ErrorKind::Undetermined
    )
}

fn read_list(value: Option<&Bytes>) -> Result<Vec<Version>> {
    Version::read_list(value)
        .ok_or_else(|| Error::new(ErrorKind::Corrupt, "a value is no list of versions"))
}
