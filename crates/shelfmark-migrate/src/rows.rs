//! Reads a whole store in key order, page by page.
//!
//! Each page is read at a moment of its own: nobody writes meanwhile, and no moment is kept longer
//! than any driver allows.

use std::collections::VecDeque;

use bytes::Bytes;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits, Store};

use crate::error::Result;

/// Rows and bytes of one page.
pub(crate) const PAGE: ScanLimits =
    ScanLimits { rows_max: 1000, bytes_max: 1024 * 1024, keys_only: false };

/// The rows of a store from a key on.
pub(crate) struct Rows<'a> {
    store: &'a dyn Store,
    rest: Option<KeyRange>,
    page: VecDeque<Row>,
}

impl<'a> Rows<'a> {
    pub(crate) fn from(store: &'a dyn Store, start: Bytes) -> Self {
        Self { store, rest: Some(KeyRange::from(start)), page: VecDeque::new() }
    }

    /// Returns the rows that were read and not taken, reading on if there are none.
    pub(crate) fn next_page(&mut self) -> Result<Vec<Row>> {
        while self.page.is_empty() {
            let Some(range) = self.rest.take() else { return Ok(Vec::new()) };
            let page = self.store.snapshot()?.scan(&range, Direction::Ascending, PAGE)?;
            self.page = page.rows.into();
            self.rest = page.next;
        }
        Ok(std::mem::take(&mut self.page).into())
    }

    /// Returns the next row; `None` behind the last.
    pub(crate) fn next_row(&mut self) -> Result<Option<Row>> {
        if self.page.is_empty() {
            self.page = self.next_page()?.into();
        }
        Ok(self.page.pop_front())
    }
}
