//! Walking over keys, and over the rows they make up, past whatever is damaged.

use std::collections::VecDeque;

use bytes::Bytes;
use shelfmark_store::{Direction, KeyRange, Row, ScanLimits};

use super::moment::Moment;
use crate::codec::{RecordKind, kind_of};
use crate::error::Result;
use crate::layout::RowKey;
use crate::read::{RawRow, View as _, chunk_count, chunk_key};

/// All keys of a range in order.
pub(crate) struct Walk {
    rest: Option<KeyRange>,
    buffer: VecDeque<Row>,
}

/// A row, or what was found instead of one.
pub(crate) enum Found {
    Row(RawRow),
    /// At this key, and why.
    Damage(Bytes, &'static str),
}

impl Walk {
    pub(crate) fn over(range: KeyRange) -> Self {
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
    pub(crate) fn next(&mut self, moment: &Moment) -> Result<Option<Row>> {
        self.fill(moment)?;
        Ok(self.buffer.pop_front())
    }

    /// Returns the next row with its chunks.
    pub(crate) fn next_row(&mut self, moment: &Moment) -> Result<Option<Found>> {
        let Some(first) = self.next(moment)? else { return Ok(None) };
        let damage = |why| Ok(Some(Found::Damage(first.key.clone(), why)));
        match kind_of(&first.value) {
            Ok(RecordKind::Chunk) => return damage("a chunk without its row"),
            Ok(_) => {}
            Err(_) => return damage("a record of an unknown version"),
        }
        let Ok(key) = RowKey::of_head(first.key.clone()) else {
            return damage("a head at a chunk's key");
        };
        let Ok(count) = chunk_count(&first.value) else { return damage("a head that is damaged") };
        let mut chunks = Vec::new();
        for number in 1..=count {
            let wanted = chunk_key(&key, number as u64);
            self.fill(moment)?;
            match self.buffer.pop_front_if(|next| next.key == wanted) {
                Some(chunk) => chunks.push(chunk.value),
                None => return damage("a row that lacks chunks"),
            }
        }
        Ok(Some(Found::Row(RawRow { key, head: first.value, chunks })))
    }
}
