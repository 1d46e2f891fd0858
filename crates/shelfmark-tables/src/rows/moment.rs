//! The moment that is looked at. When it was held too long there is a new one; without writers it
//! shows the same.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::{Direction, KeyRange, Page, ScanLimits, Snapshot, Store};

use super::view::View;
use crate::error::{ErrorKind, Result};

/// A moment of a store, and a new one where that was held too long.
pub struct Moment {
    store: Arc<dyn Store>,
    snapshot: RefCell<Arc<dyn Snapshot>>,
}

impl Moment {
    /// Takes a moment.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn take(store: &Arc<dyn Store>) -> Result<Self> {
        let snapshot = RefCell::new(store.snapshot()?);
        Ok(Self { store: Arc::clone(store), snapshot })
    }

    /// Takes a moment for a look at everything, which may take long.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn take_for_copy(store: &Arc<dyn Store>) -> Result<Self> {
        let snapshot = RefCell::new(store.snapshot_for_copy()?);
        Ok(Self { store: Arc::clone(store), snapshot })
    }

    /// Reads, at a new moment if this one has become too old.
    ///
    /// # Errors
    ///
    /// * What `read` returned, unless it was that the moment is too old.
    /// * Those of the store.
    pub fn with<T>(&self, read: impl Fn(&dyn Snapshot) -> Result<T>) -> Result<T> {
        let snapshot = Arc::clone(&*self.snapshot.borrow());
        match read(&*snapshot) {
            Err(error) if error.kind() == ErrorKind::TooOld => {
                let fresh = self.store.snapshot()?;
                *self.snapshot.borrow_mut() = Arc::clone(&fresh);
                read(&*fresh)
            }
            outcome => outcome,
        }
    }
}

impl View for Moment {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.with(|snapshot| Ok(snapshot.get(key)?))
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        self.with(|snapshot| Ok(snapshot.scan(range, direction, limits)?))
    }
}
