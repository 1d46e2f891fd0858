//! A view that draws its timestamp as late as it can, or never.
//!
//! One key alone can be read as it was committed last, without a timestamp: the store of its region
//! knows. That saves the round trip to the placement driver, half of a point read. Whatever follows is
//! read at a timestamp, together with the first key once more, which must still be what it was.
//!
//! What it is not: the base of a commit. It has no id that one could rest on.
//!
//! Invariant: all that one view showed was so at one moment, which is not before the view was made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_store::{
    CommitNumber, Direction, Error, ErrorKind, KeyRange, Page, Result, ScanLimits, Snapshot,
    SnapshotId,
};

use crate::newest::newest;
use crate::options::KEY_BYTES_MAX;
use crate::snapshot::TikvSnapshot;
use crate::store::Shared;

/// A view for one answer.
pub(crate) struct LazySnapshot {
    shared: Arc<Shared>,
    shown: Mutex<Shown>,
}

/// The part of the store that was shown so far.
enum Shown {
    Nothing,
    /// One key, read without a timestamp.
    One(Bytes, Option<Bytes>),
    /// Anything, at a timestamp.
    At(Arc<TikvSnapshot>),
}

impl LazySnapshot {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), shown: Mutex::new(Shown::Nothing) }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        // It changes in one step, whatever panicked.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a key without a timestamp; `None` if something stands in the way.
    fn newest(&self, key: &Bytes) -> Result<Option<Option<Bytes>>> {
        self.shared.check_open()?;
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            // What cannot have been written is absent.
            return Ok(Some(None));
        }
        let (shared, outer) = (Arc::clone(&self.shared), self.shared.keys.outer(key));
        self.shared.call(async move { Ok(newest(&shared, &outer).await) })
    }

    /// Returns the view at a timestamp, which is drawn now if there is none. `preload` is read there
    /// together with what was shown before.
    fn at(&self, preload: &[Bytes]) -> Result<Arc<TikvSnapshot>> {
        let mut shown = self.shown();
        let snapshot = match &*shown {
            Shown::At(snapshot) => return Ok(Arc::clone(snapshot)),
            Shown::Nothing => TikvSnapshot::begin(&self.shared)?,
            Shown::One(key, value) => {
                let snapshot = TikvSnapshot::begin(&self.shared)?;
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

impl Snapshot for LazySnapshot {
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
                let Some(value) = self.newest(&key)? else {
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
            Shown::Nothing | Shown::One(..) => Some(self.shared.options.snapshot_age_max),
        }
    }
}
