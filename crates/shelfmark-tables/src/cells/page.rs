//! Reads pages of rows of cells, which end at a number of kept rows or of evaluated rows' bytes.
//!
//! Reads are of single rows, spans of a partition, and token ranges of a table.
//!
//! Dead records are stepped over and are not counted as read. A page ends only behind a row that was
//! evaluated, so a partition whose rows are all dead is known as such when its end is reached.

use std::cell::Cell;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::{prefix_successor, token_bytes};
use shelfmark_model::IndexState;
use shelfmark_records::cells::{
    CellRow, CellsLayout, ClusteringValue, Content, LiveCell, LiveRow, Visible, has_expired,
};
use shelfmark_records::keys::chunk_key;
use shelfmark_store::KeyRange;

use super::keep::Collect;
use super::purging::{PurgedBase, Purges};
use super::request::{CellEntry, CellLimits, CellPage, CellQuery, CellScan};
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::report::{AccessReport, AccessStep};
use crate::rows::{RawRow, View, read_row};
use crate::tables::Tables;

/// Room is made for no more cells of a row than this before they are there.
const CELLS_EXPECTED_MAX: usize = 64;

/// The answer of a point read of a row of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellGot {
    /// The row, if it exists.
    pub row: Option<LiveRow>,
    /// The statics of its partition, if they were asked for; empty if there are none.
    pub statics: Option<Arc<LiveRow>>,
    /// The cost of the read.
    pub report: AccessReport,
}

/// A point read of a row of cells.
#[derive(Debug, Clone, Default)]
pub struct CellGet {
    /// The partition key in its plain serialisation.
    pub partition: Bytes,
    /// The clustering key.
    pub clustering: Vec<ClusteringValue>,
    /// Give the statics of the partition as well.
    pub statics: bool,
    /// The second since the Unix epoch that expiries are compared with; the clock's by default.
    pub now: Option<u64>,
}

impl CellGet {
    /// Returns the first keys that the read looks at, as far as they are known beforehand.
    fn heads(&self, table: &Table) -> Vec<Bytes> {
        let Ok(layout) = table.cells() else { return Vec::new() };
        let row = layout.keys.row(&self.partition, &self.clustering).ok();
        let statics = self.statics.then(|| layout.keys.statics(&self.partition).ok()).flatten();
        row.into_iter().chain(statics).map(|key| chunk_key(&key, 0).into()).collect()
    }
}

impl Tables {
    /// Reads one row of cells.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key does not fit, or it is no table of cells.
    /// * [`crate::ErrorKind::NotFound`]: the table was dropped.
    pub fn get_cells(&self, table: &Table, get: &CellGet) -> Result<CellGot> {
        self.reading_row(table, |view, table| {
            let now = get.now.unwrap_or_else(|| self.now());
            if let Some(rows) = table.typed_rows() {
                return rows.get(&view, get, now);
            }
            if !self.is_alone {
                view.preload(&get.heads(table))?;
            }
            self.get_cells_over(&view, table, get, now)
        })
    }

    /// Reads rows of several tables of cells at one moment, in order.
    ///
    /// # Errors
    ///
    /// * As [`Tables::get_cells`].
    pub fn get_many_cells(&self, gets: &[(Arc<Table>, CellGet)]) -> Result<Vec<CellGot>> {
        let Some((first, _)) = gets.first() else { return Ok(Vec::new()) };
        self.reading(first, |view, _| {
            if !self.is_alone {
                let heads = gets.iter().flat_map(|(table, get)| get.heads(table));
                view.preload(&heads.collect::<Vec<_>>())?;
            }
            gets.iter()
                .map(|(table, get)| {
                    let current = self.current(table)?;
                    let table = current.as_deref().unwrap_or(table);
                    let now = get.now.unwrap_or_else(|| self.now());
                    self.get_cells_over(&view, table, get, now)
                })
                .collect()
        })
    }

    /// Reads one row of cells over a view.
    pub(super) fn get_cells_over(
        &self,
        view: &impl View,
        table: &Table,
        get: &CellGet,
        now: u64,
    ) -> Result<CellGot> {
        let mut reader = CellReader::new(self, view, table, now)?;
        let row = reader.get(&get.partition, &get.clustering)?;
        let statics = if get.statics { Some(reader.statics(&get.partition)?) } else { None };
        Ok(CellGot { row, statics, report: reader.report() })
    }

    /// Reads the live statics of a partition; empty if there are none.
    ///
    /// # Errors
    ///
    /// * As [`Tables::get_cells`].
    pub fn get_statics(&self, table: &Table, partition: &Bytes) -> Result<Arc<LiveRow>> {
        self.reading(table, |view, table| {
            CellReader::new(self, &view, table, self.now())?.statics(partition)
        })
    }

    /// Reads one page of a partition. One page sees one moment.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key or span does not fit, or the cursor is foreign.
    pub fn query_cells(&self, table: &Table, query: &CellQuery) -> Result<CellPage> {
        self.reading(table, |view, table| {
            let now = query.limits.now.unwrap_or_else(|| self.now());
            if let Some(rows) = table.typed_rows() {
                return rows.query(&view, query, now);
            }
            self.query_cells_over(&view, table, query, now)
        })
    }

    /// Reads one page of a partition over a view.
    pub(super) fn query_cells_over(
        &self,
        view: &impl View,
        table: &Table,
        query: &CellQuery,
        now: u64,
    ) -> Result<CellPage> {
        let reader = CellReader::new(self, view, table, now)?;
        let range = reader.layout.keys.span(&query.partition, &query.span)?;
        let mut kept = Collect::new(query);
        let (cursor, step) = reader.query(query, range, &mut kept)?;
        Ok(CellPage { cursor, report: AccessReport { steps: vec![step] }, ..kept.into_page() })
    }

    /// Reads one page of a table in the order of tokens. One page sees one moment.
    ///
    /// # Errors
    ///
    /// * As [`Tables::query_cells`].
    pub fn scan_cells(&self, table: &Table, scan: &CellScan) -> Result<CellPage> {
        self.reading(table, |view, table| {
            let now = scan.limits.now.unwrap_or_else(|| self.now());
            if let Some(rows) = table.typed_rows() {
                return rows.scan(&view, scan, now);
            }
            let reader = CellReader::new(self, &view, table, now)?;
            let range = token_range(&reader.layout.keys.prefix, scan.tokens);
            reader.scan(&scan.limits, range)
        })
    }
}

/// Returns the range of the partitions with these tokens, of keys that begin with `prefix`.
pub(super) fn token_range(prefix: &Bytes, tokens: (Bound<i64>, Bound<i64>)) -> KeyRange {
    let whole = KeyRange::prefix(prefix.clone());
    let key = |token: i64| {
        let mut key = prefix.to_vec();
        key.extend_from_slice(&token_bytes(token));
        key
    };
    let behind = |token: i64| prefix_successor(&key(token)).map(Bytes::from);
    let start = match tokens.0 {
        Bound::Unbounded => whole.start,
        Bound::Included(token) => key(token).into(),
        Bound::Excluded(i64::MAX) => {
            return KeyRange { start: whole.start.clone(), end: Some(whole.start) };
        }
        Bound::Excluded(token) => behind(token).unwrap_or(whole.start),
    };
    let end = match tokens.1 {
        Bound::Unbounded => whole.end,
        Bound::Included(i64::MAX) => whole.end,
        Bound::Included(token) => behind(token),
        Bound::Excluded(token) => Some(key(token).into()),
    };
    KeyRange { start, end }
}

/// Returns what is live of a decoded row; `None` if it does not exist.
pub(super) fn live_row(row: &CellRow, layout: &CellsLayout, now: u64) -> Option<LiveRow> {
    let inserted = row.liveness.filter(|liveness| !has_expired(liveness.expiry, now));
    let cells = row.cells.iter().filter_map(|(key, cell)| match &cell.content {
        Content::Live { value, expiry }
            if !has_expired(*expiry, now) && layout.sees(key.column, cell.timestamp) =>
        {
            Some(LiveCell {
                column: key.column,
                path: key.path.clone(),
                value: value.clone(),
                timestamp: cell.timestamp,
                expiry: *expiry,
            })
        }
        _ => None,
    });
    let row = LiveRow { inserted, cells: cells.collect(), misfits: Vec::new() };
    row.exists().then_some(row)
}

/// One read of a table of cells over one view.
pub(crate) struct CellReader<'a, V: View> {
    pub(super) view: &'a V,
    pub(super) table: &'a Table,
    pub(super) layout: &'a CellsLayout,
    pub(super) now: u64,
    purges: Purges,
    /// The purged base of a view, whose deletions concern the view, too.
    base: Option<PurgedBase>,
    step: AccessStep,
    /// The number of cells of the row before: the next one will have about as many.
    cells: Cell<usize>,
}

impl<'a, V: View> CellReader<'a, V> {
    pub(crate) fn new(tables: &Tables, view: &'a V, table: &'a Table, now: u64) -> Result<Self> {
        let layout = table.cells()?;
        if layout.view_of.as_ref().is_some_and(|schema| schema.state != IndexState::Public) {
            return Err(Error::invalid(format!(
                "view {} is not ready to be read; wait until it is built",
                table.schema.name
            )));
        }
        tables.load_state(table, view)?;
        let purges = Purges::of(table);
        let base = PurgedBase::of(tables, view, table)?;
        let step = AccessStep::new(&table.schema.name.name, None);
        Ok(Self { view, table, layout, now, purges, base, step, cells: Cell::new(8) })
    }

    pub(crate) fn report(self) -> AccessReport {
        AccessReport { steps: vec![self.step] }
    }

    pub(super) fn into_step(self) -> AccessStep {
        self.step
    }

    /// Returns what is seen of a stored row, which is as its record says ([`CellReader::is_made`]).
    pub(super) fn visible(&self, raw: &RawRow) -> Result<Visible<'a>> {
        let rest = raw.key.get(self.layout.keys.prefix.len()..).unwrap_or_default();
        let deleted = self.purges.covering(self.view, &self.layout.keys, rest)?;
        Ok(Visible { declared: self.layout.declared(), now: self.now, deleted })
    }

    /// Tells whether a row is not what its record says: its base makes it, or it is an item.
    pub(super) fn is_made(&self) -> bool {
        self.base.is_some() || self.table.items.is_some()
    }

    pub(super) fn live(&self, raw: &RawRow) -> Result<LiveRow> {
        if let Some(items) = &self.table.items {
            return items.live_row(raw, self.now);
        }
        if let Some(base) = &self.base
            && let Some(left) = base.left(self.view, self.table, &raw.key)?
        {
            return Ok(live_row(&left, self.layout, self.now).unwrap_or_default());
        }
        let room = self.cells.get();
        let row = LiveRow::decode(&raw.head, &raw.chunks, &self.visible(raw)?, room)?;
        self.cells.set(row.cells.len().min(CELLS_EXPECTED_MAX));
        Ok(row)
    }

    pub(crate) fn get(
        &mut self,
        partition: &[u8],
        clustering: &[ClusteringValue],
    ) -> Result<Option<LiveRow>> {
        let row = self.look(partition, clustering)?;
        if let Some(row) = &row {
            self.evaluated(row.size_bytes());
            self.returned();
        }
        Ok(row)
    }

    /// Reads a row as [`CellReader::get`] does; the caller counts it.
    pub(crate) fn look(
        &mut self,
        partition: &[u8],
        clustering: &[ClusteringValue],
    ) -> Result<Option<LiveRow>> {
        let key = self.layout.keys.row(partition, clustering)?;
        let raw = read_row(self.view, &key)?;
        self.step.ranges.push(KeyRange::prefix(key));
        match raw {
            Some(raw) => Ok(Some(self.live(&raw)?).filter(LiveRow::exists)),
            None => Ok(None),
        }
    }

    /// Notes a range that is read.
    pub(super) fn touch(&mut self, range: KeyRange) {
        self.step.ranges.push(range);
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.step.bytes_read
    }

    pub(super) fn has_purges(&self) -> bool {
        self.purges.is_any()
    }

    pub(super) fn evaluated(&mut self, size_bytes: usize) {
        self.step.rows_read += 1;
        self.step.bytes_read += size_bytes as u64;
    }

    pub(super) fn returned(&mut self) {
        self.step.rows_returned += 1;
    }

    pub(super) fn statics(&self, partition: &[u8]) -> Result<Arc<LiveRow>> {
        match read_row(self.view, &self.layout.keys.statics(partition)?)? {
            Some(raw) => Ok(Arc::new(self.live(&raw)?)),
            None => Ok(Arc::default()),
        }
    }

    /// Counts a row, and keeps it if the filter does.
    pub(super) fn take(&mut self, limits: &CellLimits, page: &mut CellPage, entry: CellEntry) {
        self.evaluated(entry.row.size_bytes());
        page.evaluated += 1;
        if limits.filter.as_ref().is_none_or(|filter| filter(&entry)) {
            self.step.rows_returned += 1;
            page.rows.push(entry);
        }
    }
}

pub(super) fn statics_alone(partition: Bytes, statics: Arc<LiveRow>) -> CellEntry {
    CellEntry { partition, clustering: None, row: LiveRow::default(), statics: Some(statics) }
}

/// Tells whether a page holds what it may, given the rows that were kept and looked at.
pub(super) fn is_full(limits: &CellLimits, kept: usize, evaluated: usize, bytes_read: u64) -> bool {
    limits.rows_max.is_some_and(|max| kept >= max)
        || evaluated > 0 && limits.bytes_max.is_some_and(|max| bytes_read >= max as u64)
}
