//! The lock under which one server at a time changes the catalogue, and the tables it holds up.
//!
//! A record in the store names the server that changes something and the tables concerned. The others
//! hold the gates of those tables while it is there, as the changing server does with its own: so no
//! write that was planned with the old form is queued once the new one is written, on any server.
//!
//! What it is not: needed for an answer. A server that is gone holds up nobody: its record is replaced.
//!
//! Invariant: every change validates the record, so a server whose record was replaced changes nothing.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::{BufMut as _, Bytes};
use shelfmark_records::catalogue::keys::change_lock_key;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind, Peers, Snapshot, Write, threads};

use super::table::{Shared, Table};
use super::{Catalogue, following};
use crate::error::{Error, ErrorKind, Result};

/// The time between two looks at a lock that another server has.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The number of looks before the caller is told: half a minute.
const LOOKS_MAX: usize = 1500;

/// The record of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangeLock {
    /// The server that changes something.
    pub(super) server: u64,
    /// The tables that it holds up, by their ids.
    pub(super) tables: Vec<u64>,
}

impl ChangeLock {
    fn encode(&self) -> Bytes {
        let mut record = Vec::with_capacity(8 * (1 + self.tables.len()));
        record.put_u64(self.server);
        self.tables.iter().for_each(|id| record.put_u64(*id));
        record.into()
    }

    /// Reads the record, if there is one.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: it is not made of whole numbers.
    pub(super) fn read(snapshot: &dyn Snapshot) -> Result<Option<Self>> {
        let Some(record) = snapshot.get(&change_lock_key())? else { return Ok(None) };
        let (numbers, rest) = record.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|number| u64::from_be_bytes(*number));
        match (numbers.next(), rest) {
            (Some(server), []) => Ok(Some(Self { server, tables: numbers.collect() })),
            _ => Err(Error::corrupt("the lock of the catalogue is damaged")),
        }
    }
}

impl Catalogue {
    /// Runs a change of the catalogue while no other server changes it. Changes by servers that
    /// share no store are only kept apart by the catalogue's own lock.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Busy`]: another server has been changing something for half a minute.
    /// * Those of `change`.
    pub(super) fn exclusively<T>(&self, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(peers) = self.store.peers() else { return change() };
        let _own = self.exclusive.lock().unwrap_or_else(PoisonError::into_inner);
        self.take_change_lock(peers)?;
        // Plans are made with what is there now.
        let outcome = self.follow().and_then(|()| change());
        let released = self.release_change_lock();
        let waited = released.and_then(|()| self.wait_for_others(following::TOLD));
        outcome.and_then(|value| waited.map(|()| value))
    }

    /// Has the other servers hold up tables, and waits until they do. Under [`Catalogue::exclusively`].
    pub(super) fn hold_up(&self, tables: &[Arc<Table>]) -> Result<()> {
        let Some(peers) = self.store.peers() else { return Ok(()) };
        if tables.is_empty() {
            return Ok(());
        }
        let lock = ChangeLock {
            server: peers.id(),
            tables: tables.iter().map(|table| table.id).collect(),
        };
        self.replace_change_lock(&lock)?;
        self.wait_for_others(following::TAKEN_OVER)
    }

    fn take_change_lock(&self, peers: &dyn Peers) -> Result<()> {
        let lock = ChangeLock { server: peers.id(), tables: Vec::new() };
        for _ in 0..LOOKS_MAX {
            let base = self.store.snapshot()?;
            let is_free = match ChangeLock::read(&*base)? {
                None => true,
                Some(held) => held.server == peers.id() || !is_live(peers, held.server)?,
            };
            if !is_free {
                ThreadSleeper.sleep(LOOK_AGAIN);
                continue;
            }
            let commit = Commit {
                base: Some(base),
                validate: vec![change_lock_key()],
                writes: vec![
                    Write::Put { key: change_lock_key(), value: lock.encode() },
                    following::raise(),
                ],
                is_deletion: true,
                ..Commit::default()
            };
            match self.store.commit(commit) {
                Ok(_) => return Ok(()),
                Err(error) if is_beaten(error.kind()) => ThreadSleeper.sleep(LOOK_AGAIN),
                Err(error) => return Err(error.into()),
            }
        }
        let message = "another server has been changing tables for half a minute; try again";
        Err(Error::new(ErrorKind::Busy, message))
    }

    fn replace_change_lock(&self, lock: &ChangeLock) -> Result<()> {
        self.commit_planned(|_| {
            Ok((Vec::new(), vec![Write::Put { key: change_lock_key(), value: lock.encode() }], ()))
        })
    }

    fn release_change_lock(&self) -> Result<()> {
        let released = self.commit_planned(|_| {
            Ok((Vec::new(), vec![Write::Delete { key: change_lock_key() }], ()))
        });
        match released {
            // Somebody took this server for gone and took it over.
            Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
            // Otherwise it stays until this server's lease is over.
            released => released,
        }
    }

    /// Returns an error unless the lock is this server's, for a change that is about to be made.
    pub(super) fn check_change_lock(&self, snapshot: &dyn Snapshot) -> Result<()> {
        let Some(peers) = self.store.peers() else { return Ok(()) };
        match ChangeLock::read(snapshot)? {
            Some(lock) if lock.server == peers.id() => Ok(()),
            _ => {
                let message = "another server took this one for gone; try again";
                Err(Error::new(ErrorKind::Conflict, message))
            }
        }
    }
}

fn is_beaten(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::Conflict | StoreErrorKind::TooOld)
}

pub(super) fn is_live(peers: &dyn Peers, server: u64) -> Result<bool> {
    Ok(peers.live()?.iter().any(|peer| peer.id == server))
}

/// The gates of tables that another server holds up.
#[derive(Default)]
pub(super) struct HeldUp {
    tables: BTreeMap<u64, Held>,
}

/// One held gate. A thread holds it, because a guard belongs to the thread that took it.
struct Held {
    /// Dropped to let go.
    release: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Held {
    /// Holds a gate; returns once no write that was planned before is still to be queued.
    fn of(shared: Arc<Shared>) -> Result<Self> {
        let (release, released): (_, Receiver<()>) = sync_channel(0);
        let (ready, is_ready) = sync_channel(1);
        let thread = threads::spawn("shelfmark-held-table", move || {
            let _gate = shared.gate.write().unwrap_or_else(PoisonError::into_inner);
            // The receiver waits for this.
            let _ = ready.send(());
            // Ends when the sender is dropped.
            let _ = released.recv();
        })
        .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        // An error is a panic of the thread, which lets go of the gate.
        let _ = is_ready.recv();
        Ok(Self { release: Some(release), thread: Some(thread) })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release = None;
        if let Some(thread) = self.thread.take() {
            // It holds a gate and nothing else.
            let _ = thread.join();
        }
    }
}

impl HeldUp {
    /// Returns true if a table's gate is held here.
    pub(super) fn has(&self, id: u64) -> bool {
        self.tables.contains_key(&id)
    }

    /// Holds the gates of `wanted` and no others.
    pub(super) fn become_those_of(&mut self, wanted: &[Arc<Table>]) -> Result<()> {
        self.tables.retain(|id, _| wanted.iter().any(|table| table.id == *id));
        for table in wanted {
            if !self.has(table.id) {
                self.tables.insert(table.id, Held::of(Arc::clone(&table.shared))?);
            }
        }
        Ok(())
    }
}
