//! Shows rows of cells one after the other to whoever encodes them, in place of collecting them.
//!
//! Values are shown where they lie in the store's memory, so a row costs no allocation. What it is
//! not: for filters and for collections as a whole; those read [`super::CellEntry`].
//!
//! Invariant: whoever is shown rows is told when a read begins anew; what was shown before is void.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::SortColumn;
use shelfmark_records::cells::{LiveRow, RowReader, take_into};

use super::keep::Keep;
use super::page::CellReader;
use super::request::CellQuery;
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::report::AccessReport;
use crate::rows::{Cursor, RawRow, View};
use crate::tables::Tables;

/// A receiver of the rows that a read shows.
pub trait CellSink {
    /// Begins a read, perhaps for the second time: what was shown before is void.
    fn begin(&mut self);

    /// Takes the next row.
    fn row(&mut self, row: &ShownRow<'_>);
}

/// The progress of a read that shows rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellsShown {
    /// The number of rows that were shown.
    pub rows: usize,
    /// The cursor of the next page; `None` when the range is done.
    pub cursor: Option<Cursor>,
}

/// A row that exists, as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct ShownRow<'a> {
    clustering: Option<&'a Places>,
    cells: Cells<'a>,
    statics: Option<&'a LiveRow>,
}

#[derive(Debug, Clone, Copy)]
enum Cells<'a> {
    /// Of a row that lies in one record.
    Record(&'a [u8], &'a [CellPlace]),
    /// Of one that had to be put together.
    Row(&'a LiveRow),
}

impl<'a> ShownRow<'a> {
    /// Tells whether it stands for the statics of a partition without rows, as
    /// [`super::CellEntry::clustering`] says.
    #[must_use]
    pub fn is_statics_alone(&self) -> bool {
        self.clustering.is_none()
    }

    /// Returns the value of a clustering column, by its place; `None` is null.
    #[must_use]
    pub fn clustering(&self, place: usize) -> Option<&'a [u8]> {
        let places = self.clustering?;
        let range = places.ranges.get(place)?.clone()?;
        places.bytes.get(range)
    }

    /// Returns the live value of a plain column. `guess` is how many cells probably stand before it:
    /// there it is looked for first.
    #[must_use]
    pub fn cell(&self, column: u32, guess: usize) -> Option<&'a [u8]> {
        match self.cells {
            Cells::Row(row) => row.cell(column).map(|cell| cell.value.as_ref()),
            Cells::Record(record, places) => {
                let guessed = places.get(guess).filter(|place| place.column == column);
                let found = guessed.or_else(|| {
                    let place = places.partition_point(|place| place.column < column);
                    places.get(place).filter(|place| place.column == column)
                });
                found.and_then(|place| record.get(place.value.clone()))
            }
        }
    }

    /// Returns the live value of a plain static column, if statics were asked for.
    #[must_use]
    pub fn static_cell(&self, column: u32) -> Option<&'a [u8]> {
        self.statics?.cell(column).map(|cell| cell.value.as_ref())
    }
}

/// A live cell's value in the record of its row.
#[derive(Debug)]
struct CellPlace {
    column: u32,
    value: Range<usize>,
}

/// Values of clustering columns.
#[derive(Debug, Default)]
struct Places {
    bytes: Vec<u8>,
    ranges: Vec<Option<Range<usize>>>,
}

impl Places {
    /// Takes them from a key: what comes behind the kind of row.
    fn read(&mut self, columns: &[SortColumn], mut rest: &[u8]) -> Result<()> {
        self.bytes.clear();
        self.ranges.clear();
        for column in columns {
            let start = self.bytes.len();
            let is_set = take_into(&column.key_type, column.direction, &mut rest, &mut self.bytes)?;
            self.ranges.push(is_set.then_some(start..self.bytes.len()));
        }
        if rest.is_empty() {
            return Ok(());
        }
        Err(Error::corrupt("a stored key of a table of cells cannot be read"))
    }
}

impl Tables {
    /// Reads one page of a partition as [`Tables::query_cells`] does, and shows its rows to `sink`
    /// in place of collecting them. The query's filter is not looked at.
    ///
    /// # Errors
    ///
    /// * As [`Tables::query_cells`]; what was shown before is void.
    pub fn show_cells(
        &self,
        table: &Table,
        query: &CellQuery,
        sink: &mut dyn CellSink,
    ) -> Result<(CellsShown, AccessReport)> {
        self.reading(table, |view, table| {
            sink.begin();
            let now = query.limits.now.unwrap_or_else(|| self.now());
            let reader = CellReader::new(self, &view, table, now)?;
            let range = reader.layout.keys.span(&query.partition, &query.span)?;
            let mut show =
                Show { sink: &mut *sink, rows: 0, cells: Vec::new(), key: Places::default() };
            let (cursor, step) = reader.query(query, range, &mut show)?;
            Ok((CellsShown { rows: show.rows, cursor }, AccessReport { steps: vec![step] }))
        })
    }
}

/// Shows what a read finds.
struct Show<'s> {
    sink: &'s mut dyn CellSink,
    rows: usize,
    /// Room for the cells of a row.
    cells: Vec<CellPlace>,
    /// Room for its key.
    key: Places,
}

impl Show<'_> {
    fn shown<V: View>(&mut self, reader: &mut CellReader<'_, V>, size_bytes: usize) {
        reader.evaluated(size_bytes);
        reader.returned();
        self.rows += 1;
    }
}

impl Keep for Show<'_> {
    fn kept(&self) -> usize {
        self.rows
    }

    fn evaluated(&self) -> usize {
        self.rows
    }

    fn row<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        raw: &RawRow,
        clustering_at: usize,
        statics: Option<&Arc<LiveRow>>,
    ) -> Result<bool> {
        let statics = statics.map(AsRef::as_ref);
        let behind = |key: &mut Places| {
            key.read(&reader.layout.keys.sort, raw.key.get(clustering_at..).unwrap_or_default())
        };
        if !raw.chunks.is_empty() || reader.is_made() {
            let row = reader.live(raw)?;
            if !row.exists() {
                return Ok(false);
            }
            behind(&mut self.key)?;
            let cells = Cells::Row(&row);
            self.sink.row(&ShownRow { clustering: Some(&self.key), cells, statics });
            self.shown(reader, row.size_bytes());
            return Ok(true);
        }
        let visible = reader.visible(raw)?;
        let mut stored = RowReader::new(&raw.head)?;
        let is_inserted = visible.liveness(stored.liveness).is_some();
        self.cells.clear();
        let mut size_bytes = 0;
        stored.each_cell(&raw.head, &[], |cell| {
            if let Some(value) = visible.value(cell) {
                size_bytes += cell.size_bytes(value);
                let value = cell.end - value.len()..cell.end;
                self.cells.push(CellPlace { column: cell.column, value });
            }
        })?;
        if !is_inserted && self.cells.is_empty() {
            return Ok(false);
        }
        behind(&mut self.key)?;
        let cells = Cells::Record(&raw.head, &self.cells);
        self.sink.row(&ShownRow { clustering: Some(&self.key), cells, statics });
        self.shown(reader, size_bytes);
        Ok(true)
    }

    fn statics_alone<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        _: &Bytes,
        statics: Arc<LiveRow>,
    ) {
        let row = LiveRow::default();
        let cells = Cells::Row(&row);
        self.sink.row(&ShownRow { clustering: None, cells, statics: Some(&statics) });
        self.shown(reader, row.size_bytes());
    }
}
