//! Walks over keys, and over the rows they make up, past whatever is damaged.

use std::collections::VecDeque;

use bytes::Bytes;
use shelfmark_records::items::{RecordKind, kind_of};
use shelfmark_records::keys::RowKey;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits};

use super::kind::RowKind;
use super::moment::Moment;
use super::scan::{RawRow, chunk_count};
use super::view::View as _;
use crate::error::{Error, ErrorKind, Result};

/// All keys of a range in order.
pub struct Walk {
    rest: Option<KeyRange>,
    buffer: VecDeque<Row>,
}

/// A row that a walk comes to, or what is found in its place.
pub enum Found<R> {
    /// A row that could be read.
    Row(RawRow, R),
    /// A row that has all its chunks and cannot be read, and why.
    Unsound(RawRow, String),
    /// Remains of a row at this key, and what they lack.
    Remains(Bytes, &'static str),
}

impl<R> Found<R> {
    /// Returns the key (without chunk, if it is of a whole row) and what is wrong there.
    pub fn damage(&self) -> Option<(&[u8], &str)> {
        match self {
            Self::Row(..) => None,
            Self::Unsound(row, why) => Some((&row.key, why)),
            Self::Remains(key, why) => Some((key, why)),
        }
    }
}

impl Walk {
    /// Creates a walk over the keys of a range.
    #[must_use]
    pub fn over(range: KeyRange) -> Self {
        Self { rest: (!range.is_empty()).then_some(range), buffer: VecDeque::new() }
    }

    fn fill(&mut self, moment: &Moment) -> Result<()> {
        while self.buffer.is_empty() {
            let Some(range) = self.rest.take() else { return Ok(()) };
            let page = moment.scan(&range, Direction::Ascending, ScanLimits::default())?;
            self.rest = page.next;
            self.buffer.extend(page.rows);
        }
        Ok(())
    }

    /// Returns the next key and its value.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn next(&mut self, moment: &Moment) -> Result<Option<Row>> {
        self.fill(moment)?;
        Ok(self.buffer.pop_front())
    }

    /// Returns the next row of a kind.
    ///
    /// # Errors
    ///
    /// * As [`Walk::next`]; rows that cannot be read are [`Found::Unsound`] or [`Found::Remains`].
    pub fn next_of<K: RowKind>(
        &mut self,
        moment: &Moment,
        kind: &K,
    ) -> Result<Option<Found<K::Row>>> {
        self.next_read(moment, |raw| kind.read(raw))
    }

    /// Returns the next row with its chunks, as `read` reads it.
    ///
    /// # Errors
    ///
    /// * As [`Walk::next_of`].
    pub fn next_read<R>(
        &mut self,
        moment: &Moment,
        read: impl Fn(&RawRow) -> Result<R>,
    ) -> Result<Option<Found<R>>> {
        let Some(first) = self.next(moment)? else { return Ok(None) };
        let remains = |why| Ok(Some(Found::Remains(first.key.clone(), why)));
        match kind_of(&first.value) {
            Ok(RecordKind::Chunk) => return remains("a chunk without its row"),
            Ok(_) => {}
            Err(_) => return remains("a record of an unknown version"),
        }
        let Ok(key) = RowKey::of_head(first.key.clone()) else {
            return remains("a head at a chunk's key");
        };
        let Ok(count) = chunk_count(&first.value) else { return remains("a head that is damaged") };
        let mut chunks = Vec::new();
        for number in 1..=count {
            let wanted = chunk_key(&key, number as u64);
            self.fill(moment)?;
            match self.buffer.pop_front_if(|next| next.key == wanted) {
                Some(chunk) => chunks.push(chunk.value),
                None => return remains("a row that lacks chunks"),
            }
        }
        let raw = RawRow { key, head: first.value, chunks };
        Ok(Some(match damage(read(&raw))? {
            Ok(row) => Found::Row(raw, row),
            Err(why) => Found::Unsound(raw, why),
        }))
    }
}

/// Takes damage out of an outcome, as its message; other errors stay.
///
/// # Errors
///
/// * Those of `outcome` that are no damage.
pub fn damage<T, E: Into<Error>>(
    outcome: std::result::Result<T, E>,
) -> Result<std::result::Result<T, String>> {
    match outcome.map_err(Into::into) {
        Ok(value) => Ok(Ok(value)),
        Err(error) if is_damage(&error) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Returns true if an error tells of damage. Damaged keys and values may also be ones that could
/// never have been written.
fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Invalid | ErrorKind::LimitExceeded)
}
