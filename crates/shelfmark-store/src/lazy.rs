//! A view whose moment is drawn as late as it can be, or never.
//!
//! Where a moment costs a round trip, a driver that can read one key alone as it was committed last
//! answers most point reads without one. Whatever follows is read at a moment, together with the first
//! key once more, which must still be what it was.
//!
//! What it is not: the base of a commit. It has no id that one could rest on.
//!
//! Invariant: all that one view showed was so at one moment, which is not before the view was made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::contract::{
    CommitNumber, Direction, Error, ErrorKind, KeyRange, Page, Result, ScanLimits, Snapshot,
    SnapshotId,
};

/// The two ways in which a driver reads.
pub trait Source: Send + Sync {
    /// Returns the value of a key as it was committed last, or none if it is absent; `None` if
    /// something stands in the way, so that a moment is needed.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::get`].
    fn newest(&self, key: &Bytes) -> Result<Option<Option<Bytes>>>;

    /// Returns a view of now.
    ///
    /// # Errors
    ///
    /// As [`crate::Store::snapshot`].
    fn now(&self) -> Result<Arc<dyn Snapshot>>;

    /// Returns how long a view of now may be read.
    fn lifetime(&self) -> Duration;
}

/// A view for one answer; see [`crate::Store::snapshot_at_first_read`].
pub struct LazySnapshot<S> {
    source: S,
    shown: Mutex<Shown>,
}

/// The part of the store that was shown so far.
enum Shown {
    Nothing,
    /// One key, read without a moment.
    One(Bytes, Option<Bytes>),
    /// Anything, at a moment.
    At(Arc<dyn Snapshot>),
}

impl<S: Source> LazySnapshot<S> {
    /// Creates a view that nothing was read from.
    pub fn new(source: S) -> Self {
        Self { source, shown: Mutex::new(Shown::Nothing) }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        // It changes in one step, whatever panicked.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the view at a moment, which is drawn now if there is none. `preload` is read there
    /// together with what was shown before.
    fn at(&self, preload: &[Bytes]) -> Result<Arc<dyn Snapshot>> {
        let mut shown = self.shown();
        let snapshot = match &*shown {
            Shown::At(snapshot) => return Ok(Arc::clone(snapshot)),
            Shown::Nothing => self.source.now()?,
            Shown::One(key, value) => {
                let snapshot = self.source.now()?;
                let mut keys = vec![key.clone()];
                keys.extend_from_slice(preload);
                snapshot.preload(&keys)?;
                if snapshot.get(key)? != *value {
                    let message = "a key was written between two reads of one answer";
                    return Err(Error::new(ErrorKind::TooOld, message));
                }
                snapshot
            }
        };
        *shown = Shown::At(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}

impl<S: Source> Snapshot for LazySnapshot<S> {
    fn id(&self) -> SnapshotId {
        match &*self.shown() {
            Shown::At(snapshot) => snapshot.id(),
            Shown::Nothing | Shown::One(..) => SnapshotId { commit: 0, position: 0 },
        }
    }

    fn stamped_through(&self) -> Result<CommitNumber> {
        self.at(&[])?.stamped_through()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let key = Bytes::copy_from_slice(key);
        let mut shown = self.shown();
        match &*shown {
            Shown::Nothing => {
                let Some(value) = self.source.newest(&key)? else {
                    drop(shown);
                    return self.at(&[])?.get(&key);
                };
                *shown = Shown::One(key, value.clone());
                Ok(value)
            }
            Shown::One(first, value) if *first == key => Ok(value.clone()),
            Shown::One(..) | Shown::At(_) => {
                drop(shown);
                self.at(std::slice::from_ref(&key))?.get(&key)
            }
        }
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        match keys {
            [] => Ok(Vec::new()),
            [key] => Ok(vec![self.get(key)?]),
            keys => self.at(keys)?.get_many(keys),
        }
    }

    fn preload(&self, keys: &[Bytes]) -> Result<()> {
        if keys.len() < 2 {
            return Ok(());
        }
        self.at(&[])?.preload(keys)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.at(&[])?.scan(range, direction, limits)
    }

    fn time_left(&self) -> Option<Duration> {
        match &*self.shown() {
            Shown::At(snapshot) => snapshot.time_left(),
            Shown::Nothing | Shown::One(..) => Some(self.source.lifetime()),
        }
    }
}
