//! What a read sees: a snapshot, or a transaction's own writes over one.

use std::cell::RefCell;

use bytes::Bytes;
use shelfmark_store::txn::Transaction;
use shelfmark_store::{Direction, KeyRange, Page, ScanLimits, Snapshot};

use crate::error::Result;

/// Something that rows can be read from.
pub(crate) trait View {
    /// Returns the value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>>;

    /// Returns the next rows of a range.
    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page>;
}

impl View for &dyn Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(Snapshot::get(*self, key)?)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        Ok(Snapshot::scan(*self, range, direction, limits)?)
    }
}

impl View for RefCell<Transaction> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.borrow_mut().get(key)?)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        Ok(self.borrow_mut().scan(range, direction, limits)?)
    }
}
