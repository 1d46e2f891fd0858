//! Rows that are held in memory until all were read, as where they are sorted.
//!
//! Invariant: what is held is covered by the client's part of the memory budget.

use shelfmark_cql_protocol::Result;
use shelfmark_engine::budget::{Client, Share};

use super::run::Row;
use crate::outcome::{RequestOptions, no_room};

/// The share of the memory budget of rows that are held until all were read.
pub(super) struct Held {
    client: Option<Client>,
    share: Option<Share>,
    bytes: usize,
    /// Bytes that the request holds beside.
    beside: usize,
}

impl Held {
    pub(super) fn of(options: &RequestOptions) -> Self {
        let share = options.client.as_ref().map(Client::share);
        Self { client: options.client.clone(), share, bytes: 0, beside: options.held_bytes }
    }

    /// Accounts for one more.
    pub(super) fn add(&mut self, row: &Row) -> Result<()> {
        self.add_bytes(row.size_bytes())
    }

    /// Accounts for more bytes.
    pub(super) fn add_bytes(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.share.as_mut().is_none_or(|share| share.cover(self.bytes)) {
            return Ok(());
        }
        let whole = self.bytes.saturating_add(self.beside);
        let what = "the rows that would have to be sorted";
        Err(no_room(self.client.as_ref(), what, whole, "restrict the query"))
    }
}
