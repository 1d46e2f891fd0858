//! The view that a read has: a snapshot, or a transaction's own writes over one.

use std::cell::RefCell;

use bytes::Bytes;
use shelfmark_store::txn::Transaction;
use shelfmark_store::{Direction, KeyRange, Page, ScanLimits, Snapshot};

use crate::error::Result;

/// Something that rows can be read from.
pub trait View {
    /// Returns the value of a key.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>>;

    /// Returns the values of keys, in their order; together where that helps the store.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Returns the next rows of a range.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page>;
}

impl View for &dyn Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(Snapshot::get(*self, key)?)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        Ok(Snapshot::get_many(*self, keys)?)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        Ok(Snapshot::scan(*self, range, direction, limits)?)
    }
}

/// A transaction whose reads of ranges are validated at commit.
pub(crate) struct Validated<'a>(pub(crate) &'a RefCell<Transaction>);

impl View for Validated<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.0.borrow().get(key)?)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        Ok(self.0.borrow().get_many(keys)?)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        Ok(self.0.borrow().scan_validated(range, direction, limits)?)
    }
}

impl View for RefCell<Transaction> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.borrow_mut().get(key)?)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        Ok(self.borrow_mut().get_many(keys)?)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        Ok(self.borrow_mut().scan(range, direction, limits)?)
    }
}
