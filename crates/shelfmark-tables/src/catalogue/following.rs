//! Takes over what other servers on the same store change in the catalogue, and waits for them.
//!
//! A change of the catalogue also raises a number. Each server reads that number several times a
//! second, drops what it remembers of changed tables, and publishes how far it has come; whoever
//! changes something returns only once every server with a lease has come as far. A server that can
//! read neither the number nor renew its lease stops using what it remembers, and the others go on
//! without it.
//!
//! What it is not: agreement on who changes what. Two changes of one record conflict in the store.
//!
//! Invariant: while a change waits, forms from before and after it are in use; once it has returned,
//! no server uses one from before.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{forms_key, table_key};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Snapshot, Write, threads};

use super::change_lock::{ChangeLock, HeldUp, is_live};
use super::table::Table;
use super::{Catalogue, Owner, TableEvent, copies};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;

/// Names what servers publish: the number up to which they have taken changes over …
pub(super) const TAKEN_OVER: &str = "catalogue";
/// … and the one up to which all their faces know of them.
pub(super) const TOLD: &str = "catalogue-told";
/// The time for which what was read of the number is believed.
const BELIEVED: Duration = Duration::from_secs(2);
/// The time between two looks at the number.
const EVERY: Duration = Duration::from_millis(50);
/// The time between two looks at servers that are waited for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The longest wait for servers that have leases and do not follow.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A listener that is told that another server changed the catalogue.
pub(crate) type Follower = Arc<dyn Fn() + Send + Sync>;

/// The number up to which this server has come.
#[derive(Default)]
pub(super) struct Following {
    /// The number up to which everything was taken over.
    seen: AtomicU64,
    /// The number up to which the faces were told.
    told: AtomicU64,
    /// The changes that they were not told of yet.
    untold: Mutex<Vec<(TableName, Owner)>>,
    /// The end of the time for which that is believed, in microseconds of the monotonic clock.
    believed_until: AtomicU64,
    followers: Mutex<Vec<Follower>>,
    /// The tables that another server holds up, used here or not.
    held_up: Mutex<Vec<u64>>,
    /// The gates that are held for it. Locked while changes are taken over.
    held: Mutex<HeldUp>,
}

/// Returns the write that tells other servers of a change.
pub(super) fn raise() -> Write {
    Write::Add { key: forms_key(), delta: 1 }
}

fn number(snapshot: &dyn Snapshot) -> Result<u64> {
    match snapshot.get(&forms_key())? {
        None => Ok(0),
        Some(value) => Ok(Write::counter(&value)?.cast_unsigned()),
    }
}

impl Catalogue {
    /// Takes over what others changed, and holds up the tables that they are about to change.
    ///
    /// Not for a thread that holds a gate: it waits for the gates of changed tables.
    ///
    /// # Errors
    ///
    /// * Those of the store; what is remembered stays as it is.
    pub(crate) fn follow(&self) -> Result<()> {
        let (Some(following), Some(peers)) = (&self.following, self.store.peers()) else {
            return Ok(());
        };
        let begun = peers.monotonic();
        let mut held = following.held.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.store.snapshot()?;
        let number = number(&*snapshot)?;
        let lock = ChangeLock::read(&*snapshot)?.filter(|lock| lock.server != peers.id());
        let is_new = number != following.seen.load(Ordering::Acquire);
        let mut changed = Vec::new();
        if is_new {
            changed = self.take_over(&*snapshot, &held)?;
        }
        // A server that is gone holds up nobody.
        let lock = match lock {
            Some(lock) if !lock.tables.is_empty() && is_live(peers, lock.server)? => Some(lock),
            _ => None,
        };
        let held_up = lock.map(|lock| lock.tables).unwrap_or_default();
        following.held_up.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&held_up);
        let wanted: Vec<Arc<Table>> =
            self.loaded().into_iter().filter(|table| held_up.contains(&table.id)).collect();
        held.become_those_of(&wanted)?;
        following.seen.store(number, Ordering::Release);
        let until = u64::try_from((begun + BELIEVED).as_micros()).unwrap_or(u64::MAX);
        following.believed_until.store(until, Ordering::Release);
        drop(held);
        if is_new {
            peers.publish(TAKEN_OVER, Bytes::copy_from_slice(&number.to_be_bytes()))?;
            following.untold.lock().unwrap_or_else(PoisonError::into_inner).extend(changed);
        }
        // Whoever is told uses tables, which those that are held up would not let it.
        if held_up.is_empty() && following.told.load(Ordering::Acquire) < number {
            self.tell(following);
            following.told.store(number, Ordering::Release);
            peers.publish(TOLD, Bytes::copy_from_slice(&number.to_be_bytes()))?;
        }
        Ok(())
    }

    fn tell(&self, following: &Following) {
        let changed: Vec<(TableName, Owner)> =
            following.untold.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        self.tell_watchers(&changed, TableEvent::Changed);
        let followers = following.followers.lock().unwrap_or_else(PoisonError::into_inner);
        let followers = followers.clone();
        followers.iter().for_each(|follower| follower());
    }

    /// Waits, before a table is used for the first time, until no other server holds it up.
    pub(super) fn hold_if_held_up(&self, table: &Table) -> Result<()> {
        let Some(following) = &self.following else { return Ok(()) };
        let held_up = following.held_up.lock().unwrap_or_else(PoisonError::into_inner);
        if held_up.contains(&table.id) {
            let message = format!("table {} is being changed; try again", table.schema.name);
            return Err(Error::new(ErrorKind::Busy, message));
        }
        Ok(())
    }

    /// Follows until the engine is gone, in a thread of its own.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the system has no thread to give.
    pub(crate) fn keep_following(tables: &Arc<Tables>) -> Result<()> {
        if tables.catalogue.following.is_none() {
            return Ok(());
        }
        let weak = Arc::downgrade(tables);
        let body = move || {
            while let Some(tables) = weak.upgrade() {
                // What fails is tried again; until then the server stops by itself.
                if tables.catalogue.follow().is_err_and(|error| error.kind() == ErrorKind::Closed) {
                    return;
                }
                drop(tables);
                ThreadSleeper.sleep(EVERY);
            }
        };
        threads::spawn("shelfmark-catalogue", body)
            .map(drop)
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
    }

    /// Has `follower` told each time after changes of other servers were taken over.
    pub fn add_follower(&self, follower: Follower) {
        if let Some(following) = &self.following {
            following.followers.lock().unwrap_or_else(PoisonError::into_inner).push(follower);
        }
    }

    /// Checks that what is remembered may be used.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`]: the store has not been reached for so long that others may have
    ///   changed it without waiting for this server. Try again.
    pub(crate) fn check_followed(&self) -> Result<()> {
        let (Some(following), Some(peers)) = (&self.following, self.store.peers()) else {
            return Ok(());
        };
        let now = u64::try_from(peers.monotonic().as_micros()).unwrap_or(u64::MAX);
        let is_fresh = now < following.believed_until.load(Ordering::Acquire);
        if is_fresh && !peers.lease_left().is_zero() {
            return Ok(());
        }
        let message = "this server has lost touch with the store it shares with others; try again";
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    /// Waits until every server that shares the store has come as far as the catalogue is now, by
    /// what it publishes under `fact`.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`]: a server has a lease and does not follow. What was changed stays.
    pub(super) fn wait_for_others(&self, fact: &str) -> Result<()> {
        let (Some(following), Some(peers)) = (&self.following, self.store.peers()) else {
            return Ok(());
        };
        self.follow()?;
        let wanted = following.seen.load(Ordering::Acquire);
        let begun = peers.monotonic();
        loop {
            let is_behind = |peer: &shelfmark_store::Peer| {
                let come = peer.fact(fact).and_then(|fact| <[u8; 8]>::try_from(&fact[..]).ok());
                come.is_some_and(|come| u64::from_be_bytes(come) < wanted)
            };
            let Some(behind) = peers.live()?.into_iter().find(is_behind) else { return Ok(()) };
            if peers.monotonic().saturating_sub(begun) > WAIT_MAX {
                let message =
                    format!("the change is made, but server {} has not seen it", behind.id);
                return Err(Error::new(ErrorKind::Unavailable, message));
            }
            ThreadSleeper.sleep(LOOK_AGAIN);
        }
    }

    /// Replaces the remembered forms that are no longer those of the store; returns whose changed.
    fn take_over(&self, snapshot: &dyn Snapshot, held: &HeldUp) -> Result<Vec<(TableName, Owner)>> {
        let mut changed = Vec::new();
        for old in self.loaded() {
            let name = &old.schema.name;
            let record = copies::get(snapshot, &table_key(name), TableRecord::decode);
            let is_same = matches!(&record, Ok(Some(record)) if old.is_of(record));
            if is_same {
                continue;
            }
            let gate = &old.shared.gate;
            // One that is held up is held already.
            let _gate =
                (!held.has(old.id)).then(|| gate.write().unwrap_or_else(PoisonError::into_inner));
            if self.cached(name).is_none_or(|now| !Arc::ptr_eq(&now, &old)) {
                // A change of this server was faster.
                continue;
            }
            changed.push((name.clone(), Owner::of_table(&old.schema)));
            old.retired.store(true, Ordering::Release);
            match record {
                Ok(Some(record)) => {
                    let kept = (record.id == old.id).then(|| Arc::clone(&old.shared));
                    let shared = kept.unwrap_or_default();
                    shared.learn(&record);
                    self.cache(Arc::new(Table::with_shared(record, shared)));
                }
                // Whoever uses it next is told.
                Ok(None) | Err(_) => self.forget(name),
            }
        }
        Ok(changed)
    }
}
