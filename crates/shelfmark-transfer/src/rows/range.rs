//! Reads a table by ranges of tokens, each page by page.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::BoundValue;
use shelfmark_cql_protocol::client::{Execute, PreparedStatement, Request};

use super::peer::{ConnectCql, Peer};
use super::table::{Column, RowTable};
use super::{Row, Stamp};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::walk::{Mark, Page, Part, Source};

/// Most rows of a page. Source: ours; as cqlsh's COPY.
const PAGE_ROWS_MAX: usize = 1_000;

/// Rows of the first page, of which nothing is known yet: as many of the longest there are fit a frame.
const PAGE_ROWS_FIRST: usize = 8;

/// Bytes that a page is to have. Source: ours; many pages of them are held at once in a server.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// A table that is read in ranges of tokens.
pub struct RowSource<'s> {
    /// The server.
    pub connect: &'s ConnectCql<'s>,
    /// The settings of the transfer.
    pub control: &'s Control<'s>,
    /// The table.
    pub table: Arc<RowTable>,
    /// The number of ranges.
    pub ranges: usize,
    /// True if write times and expiries are read.
    pub with_stamps: bool,
}

struct Range<'s> {
    peer: Peer<'s>,
    statement: PreparedStatement,
    ends: [BoundValue; 2],
    table: Arc<RowTable>,
    with_stamps: bool,
    page_rows: usize,
}

/// Returns how many rows the next page is to have behind one of so many rows and bytes: it grows slowly,
/// for rows may be longer there, and shrinks at once.
fn next_page_rows(rows: usize, bytes: usize) -> usize {
    let fitting = rows.saturating_mul(PAGE_BYTES) / bytes.max(1);
    fitting.min(rows.saturating_mul(4)).clamp(1, PAGE_ROWS_MAX)
}

/// Returns the ends of a range of tokens: the first is not in it, the last one is.
///
/// No partition has the least token. Source: Cassandra's Murmur3Partitioner.
fn ends(part: usize, parts: usize) -> [i64; 2] {
    let end = |number: usize| {
        let width = u128::from(u64::MAX) * number as u128 / parts.max(1) as u128;
        i64::try_from(i128::from(i64::MIN) + i128::try_from(width).unwrap_or_default())
            .unwrap_or(i64::MAX)
    };
    [end(part), end(part + 1)]
}

impl Source for RowSource<'_> {
    type Row = Row;

    fn open(&self, part: usize) -> Result<Box<dyn Part<Row = Row> + '_>> {
        let mut peer = Peer::new(self.connect, self.control)?;
        let statement = peer.prepare(&self.table.select(self.with_stamps))?;
        let bound = |token: i64| BoundValue::Bytes(Bytes::copy_from_slice(&token.to_be_bytes()));
        let ends = ends(part, self.ranges).map(bound);
        let (table, with_stamps) = (Arc::clone(&self.table), self.with_stamps);
        let page_rows = PAGE_ROWS_FIRST;
        Ok(Box::new(Range { peer, statement, ends, table, with_stamps, page_rows }))
    }
}

impl Part for Range<'_> {
    type Row = Row;

    fn page(&mut self, behind: &Mark) -> Result<Page<Row>> {
        let paging = match behind {
            Mark::At(state) => Some(unhex(state)?),
            Mark::Begin | Mark::End => None,
        };
        let execute = Execute {
            statement: &self.statement,
            values: &self.ends,
            consistency: self.peer.consistency,
            page_size: i32::try_from(self.page_rows).ok(),
            paging,
        };
        let page = self.peer.call(&Request::Execute(execute))?.page.unwrap_or_default();
        let cells = page.rows.iter().flatten().flatten();
        let bytes: usize = cells.map(Bytes::len).sum();
        if !page.rows.is_empty() {
            self.page_rows = next_page_rows(page.rows.len(), bytes);
        }
        let rows = page.rows.into_iter().map(|cells| self.row(cells)).collect();
        let mark = page.paging.map_or(Mark::End, |state| Mark::At(hex(&state)));
        Ok(Page { rows, mark })
    }
}

impl Range<'_> {
    fn row(&self, mut cells: Vec<Option<Bytes>>) -> Row {
        let columns = &self.table.columns;
        let mut rest = cells.split_off(columns.len().min(cells.len())).into_iter();
        if !self.with_stamps {
            return Row { cells, stamps: Vec::new() };
        }
        let stamp = |column: &Column| {
            if !column.has_stamp() {
                return Stamp::default();
            }
            let written = rest.next().flatten();
            let ttl = rest.next().flatten();
            Stamp {
                written: written.and_then(|own| Some(i64::from_be_bytes((*own).try_into().ok()?))),
                ttl: ttl.and_then(|own| Some(i32::from_be_bytes((*own).try_into().ok()?))),
            }
        };
        let stamps = columns.iter().map(stamp).collect();
        Row { cells, stamps }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Bytes> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    bytes.map(Bytes::from).ok_or_else(|| Error::invalid("the position has no paging state"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_as_many_rows_as_fit() {
        assert_eq!(next_page_rows(8, 8 * 100), 32);
        assert_eq!(next_page_rows(512, 512 * 100), PAGE_ROWS_MAX);
        assert_eq!(next_page_rows(8, 8 * 1024 * 1024), 4);
        assert_eq!(next_page_rows(8, 8 * 16 * 1024 * 1024), 1);
        assert_eq!(next_page_rows(1, 16 * 1024 * 1024), 1);
        assert_eq!(next_page_rows(1, 0), 4);
    }

    #[test]
    fn ranges_cover_all_tokens_once() {
        for parts in [1, 2, 3, 7, 256] {
            assert_eq!(ends(0, parts)[0], i64::MIN);
            assert_eq!(ends(parts - 1, parts)[1], i64::MAX);
            for part in 1..parts {
                assert_eq!(ends(part - 1, parts)[1], ends(part, parts)[0], "{part} of {parts}");
                assert!(ends(part, parts)[0] < ends(part, parts)[1]);
            }
        }
        assert_eq!(unhex(&hex(b"\x00\xff")).unwrap(), Bytes::from_static(b"\x00\xff"));
    }
}
