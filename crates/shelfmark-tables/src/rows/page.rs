//! Reads one page of a range of any rows, and ends it when the reader of its kind says it is full.
//!
//! It begins at a cursor and gives the one to go on from. What fills a page, rows or bytes, is told
//! by `items/page.rs` and `cells/page.rs`.
//!
//! Every read of more than one row goes through here: queries and scans of both kinds, and reads of
//! their indexes. What it is not: what is done with a row ([`Taker`]).
//!
//! Invariant: a page that ends because of a limit ends behind a row that was counted, so the next one
//! gets further.

use std::ops::Range;

use bytes::Bytes;
use shelfmark_records::keys::{RowKey, after_row};
use shelfmark_store::{Direction, KeyRange};

use super::cursor::Cursor;
use super::scan::{RawRow, RowScan};
use super::view::View;
use crate::error::{Error, Result};

/// Rows that a page expects to read when it has no limit.
const ROWS_GUESS: usize = 256;

/// The state of a page that is being filled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageState {
    /// It takes more rows.
    Open,
    /// It holds what it may; there may be more.
    Full,
    /// Nothing behind it is asked for.
    Done,
}

/// The outcome of taking a row.
pub(crate) enum Took {
    /// It counts: the page may end behind it.
    Counted,
    /// It is no row for readers.
    Skipped,
    /// It counts, and all keys that begin so are stepped over.
    Beyond(Bytes),
}

/// A consumer of the rows of a page, one after the other.
pub(crate) trait Taker {
    /// Returns whether the page takes another row.
    fn state(&self) -> PageState;

    fn take(&mut self, row: &RawRow) -> Result<Took>;
}

/// The range that a page is read from.
pub(crate) struct PageRange<'a> {
    /// The prefix of the keys of the table or index.
    pub(crate) prefix: &'a [u8],
    /// The ids that the table and its indexes had before it was truncated, if it was.
    pub(crate) former_ids: Range<u64>,
    pub(crate) whole: KeyRange,
    pub(crate) descending: bool,
    /// The cursor from which the read goes on.
    pub(crate) start: Option<&'a Cursor>,
    /// Most rows that are wanted.
    pub(crate) rows_max: Option<usize>,
}

/// The end of a page.
pub(crate) struct PageEnd<'v, V: View> {
    /// Behind what it ended, if it ended because of a limit.
    pub(crate) cursor: Option<Cursor>,
    /// It ended because of a limit.
    pub(crate) is_full: bool,
    /// The scan of the rows behind the page.
    pub(crate) rest: RowScan<'v, V>,
}

/// The position behind which a page ends.
enum Behind {
    Row(RowKey),
    /// Behind all keys that begin so.
    All(Bytes),
}

impl Behind {
    fn cursor(self) -> Cursor {
        Cursor::behind(match self {
            Self::Row(key) => key.to_bytes(),
            Self::All(prefix) => prefix,
        })
    }
}

impl PageRange<'_> {
    /// Returns what of the range is left to read.
    ///
    /// # Errors
    ///
    /// * `Invalid`: the cursor belongs to another table or index.
    pub(crate) fn range(&self) -> Result<KeyRange> {
        match self.start {
            None => Ok(self.whole.clone()),
            Some(cursor) if cursor.row_key().starts_with(self.prefix) => {
                Ok(after_row(&self.whole, cursor.row_key(), self.descending))
            }
            Some(cursor) => match cursor.moved_to(self.prefix, &self.former_ids) {
                Some(moved) => Ok(after_row(&self.whole, moved.row_key(), self.descending)),
                None => Err(Error::invalid("the cursor belongs to another table or index")),
            },
        }
    }

    /// Hands the rows of `range` to `taker` until it has enough.
    pub(crate) fn read<'v, V: View>(
        &self,
        view: &'v V,
        range: KeyRange,
        taker: &mut impl Taker,
    ) -> Result<PageEnd<'v, V>> {
        let direction = if self.descending { Direction::Descending } else { Direction::Ascending };
        let rows_hint = self.rows_max.unwrap_or(ROWS_GUESS);
        let mut rest = RowScan::new(view, range, direction, rows_hint);
        let mut behind = None;
        loop {
            match taker.state() {
                PageState::Open => {}
                PageState::Full => {
                    let cursor = behind.map(Behind::cursor);
                    return Ok(PageEnd { cursor, is_full: true, rest });
                }
                PageState::Done => return Ok(PageEnd { cursor: None, is_full: false, rest }),
            }
            let Some(row) = rest.next_row()? else {
                return Ok(PageEnd { cursor: None, is_full: false, rest });
            };
            match taker.take(&row)? {
                Took::Counted => behind = Some(Behind::Row(row.key)),
                Took::Skipped => {}
                Took::Beyond(prefix) => {
                    let range = after_row(&self.whole, &prefix, self.descending);
                    rest = RowScan::new(view, range, direction, rows_hint);
                    behind = Some(Behind::All(prefix));
                }
            }
        }
    }
}
