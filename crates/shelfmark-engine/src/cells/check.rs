//! What a stored row of cells, an entry, a mark and a due time say, for whoever checks a store.
//!
//! What it is not: the checking itself. Nothing is read here; the walks are `verify`'s.

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_model::{IndexState, ViewPart};
use xxhash_rust::xxh3::xxh3_64;

use super::codec::{LISTED_PATH_BYTES_MAX, RowReader, StoredCell, each_cell_of_chunks, parts_of};
use super::derive::{ends_of, entries, entry_value, view_row};
use super::find::{due, due_second};
use super::keys::Place;
use super::layout::CellsLayout;
use super::lease::StoredLease;
use super::raw::{ClusteringValue, join_partition, split_partition};
use super::{CellKey, CellRow, Timestamp, marks};
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::keys::{Tree, without_chunk};
use crate::records::Stored;
use crate::rows::{Entry, IndexRange, RawRow, RowKind, View};

pub(crate) use super::marks::FoundMark;
pub(crate) use super::marks::MarkKind;

/// A stored row, or the statics of a partition, that could be read.
pub(crate) struct StoredCells {
    place: Place,
    row: CellRow,
}

/// The rows of one table of cells.
pub(crate) struct Cells<'t> {
    pub(crate) table: &'t Table,
    pub(crate) layout: &'t CellsLayout,
}

impl<'t> Cells<'t> {
    /// # Errors
    ///
    /// * `Invalid`: it is a table of items.
    pub(crate) fn of(table: &'t Table) -> Result<Self> {
        Ok(Self { table, layout: table.cells()? })
    }
}

impl RowKind for Cells<'_> {
    type Row = StoredCells;

    fn table(&self) -> &Table {
        self.table
    }

    fn rows_prefix(&self) -> Bytes {
        self.layout.keys.prefix.clone()
    }

    fn read(&self, raw: &RawRow) -> Result<StoredCells> {
        let keys = &self.layout.keys;
        let place = keys.parse(&raw.key)?;
        if keys.place(&place)? != *raw.key {
            return Err(Error::corrupt("a row lies at another key than its own"));
        }
        let row = CellRow::decode(&raw.head, &raw.chunks)?;
        check_order(&raw.head, &raw.chunks)?;
        if row == CellRow::default() {
            return Err(Error::corrupt("a row of nothing"));
        }
        Ok(StoredCells { place, row })
    }

    /// Statics, and rows of dead cells alone, are none.
    fn is_row(&self, row: &StoredCells) -> bool {
        row.place.clustering.is_some() && ends_of(&row.row).is_some()
    }

    fn indexes(&self) -> Vec<IndexRange<'_>> {
        let indexes = self.layout.indexes.iter().map(|index| IndexRange {
            name: &index.schema.name,
            prefix: index.prefix.clone(),
            is_complete: index.schema.state == IndexState::Public,
        });
        indexes.collect()
    }

    fn entries(&self, row: &StoredCells, at: usize) -> Result<Vec<Entry>> {
        let Some(index) = self.layout.indexes.get(at) else { return Ok(Vec::new()) };
        let entries = entries(self.layout, index, &row.place, &row.row)?;
        let entry = |(key, ends): (Bytes, _)| {
            let key = without_chunk(&key)?.to_vec();
            let record = Stored { head: entry_value(ends), chunks: Vec::new() };
            Ok(Entry { key, records: vec![record], is_required: true })
        };
        entries.into_iter().map(entry).collect()
    }

    fn entry_leads_to(&self, at: usize, entry: &RawRow) -> Result<Vec<u8>> {
        let index = self.layout.indexes.get(at);
        let index = index.ok_or_else(|| Error::corrupt("an entry of no index"))?;
        self.layout.keys.place(&index.place_of(&self.layout.keys, &entry.key)?)
    }

    /// What a view forgets follows from its base.
    fn due(&self, raw: &RawRow, row: &StoredCells) -> Option<(u64, Bytes)> {
        let second = due_second(&row.row, self.layout.grace_seconds);
        let second = second.filter(|_| !self.layout.is_view())?;
        Some((second, due_key(self.table.id, second, &self.layout.due_of_row(&raw.key))))
    }
}

impl StoredCells {
    /// Returns the row that it makes in a view, and its key (without chunk) there.
    pub(crate) fn in_view(
        &self,
        layout: &CellsLayout,
        view: &Table,
    ) -> Result<Option<(Vec<u8>, Stored)>> {
        let made = view_row(layout, view, &self.place, &self.row)?;
        Ok(made.map(|(key, row)| (key, row.encode())))
    }

    /// Returns the columns that it has cells of, or of which it remembers a deletion.
    pub(crate) fn columns(&self) -> impl Iterator<Item = u32> {
        let cells = self.row.cells.keys().map(|cell| cell.column);
        cells.chain(self.row.collections.keys().copied())
    }

    /// Returns the latest timestamp of anything in a row, deletions included.
    pub(crate) fn latest_in(row: &CellRow) -> Option<Timestamp> {
        let cells = row.cells.values().map(|cell| cell.timestamp);
        let collections = row.collections.values().map(|deletion| deletion.timestamp);
        let of_row = row.deletion.map(|deletion| deletion.timestamp);
        let liveness = row.liveness.map(|liveness| liveness.timestamp);
        cells.chain(collections).chain(of_row).chain(liveness).max()
    }

    /// Returns its latest timestamp.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        let cells = self.row.cells.values().map(|cell| cell.timestamp);
        cells.chain(self.row.liveness.map(|liveness| liveness.timestamp)).max()
    }

    /// Returns the latest timestamp of anything in it, deletions of the row and of collections included.
    pub(crate) fn latest_of_all(&self) -> Option<Timestamp> {
        Self::latest_in(&self.row)
    }

    /// Tells whether anything of it is as early as a deletion at `timestamp`, which so was not done.
    pub(super) fn has_of_before(&self, timestamp: Timestamp) -> bool {
        let cells = self.row.cells.values().map(|cell| cell.timestamp);
        let own = cells.chain(self.row.liveness.map(|liveness| liveness.timestamp)).min();
        own.is_some_and(|own| own <= timestamp)
    }
}

/// Checks that the cells of a row stand in order, and those of each chunk behind the first that the
/// head lists for it: what is written into single chunks relies on both.
///
/// # Errors
///
/// * `Corrupt`: they do not.
fn check_order(head: &Bytes, chunks: &[Bytes]) -> Result<()> {
    let mut reader = RowReader::new(head)?;
    let firsts = reader.firsts()?;
    let mut order = Order { last: None, least: None, is_kept: true };
    if firsts.is_empty() {
        reader.each_cell(head, chunks, |cell| order.next(cell))?;
    }
    let mut listed = firsts.into_iter();
    for part in parts_of(chunks) {
        // All chunks of a part are listed with its first cell.
        if let Some(first) = listed.by_ref().take(part.len()).min() {
            order.begin(first);
        }
        each_cell_of_chunks(part, &mut |cell| order.next(cell))?;
    }
    match order.is_kept {
        true => Ok(()),
        false => Err(Error::corrupt("the cells of a row stand out of order")),
    }
}

/// Whether cells that come one after the other rise.
struct Order {
    last: Option<CellKey>,
    /// What the next one is not before, if a part begins.
    least: Option<CellKey>,
    is_kept: bool,
}

impl Order {
    /// A part begins that is listed with this cell, which may be gone.
    fn begin(&mut self, listed: CellKey) {
        // Of a long path only the beginning is listed: that does not tell its place.
        if listed.path.len() < LISTED_PATH_BYTES_MAX {
            self.is_kept &= self.last.as_ref().is_none_or(|last| *last < listed);
        }
        self.least = Some(listed);
    }

    fn next(&mut self, cell: &StoredCell<'_>) {
        let key = CellKey { column: cell.column, path: cell.shared(cell.path) };
        self.is_kept &= self.last.as_ref().is_none_or(|last| *last < key);
        self.is_kept &= self.least.take().is_none_or(|least| least <= key);
        self.last = Some(key);
    }
}

impl CellsLayout {
    /// Returns the key (without chunk) of the row of `base` that a row of this view follows from.
    pub(crate) fn view_row_leads_to(&self, base: &Self, row_key: &[u8]) -> Result<Vec<u8>> {
        let schema = self.view_of.as_ref().ok_or_else(|| Error::corrupt("no view"))?;
        let place = self.keys.parse(row_key)?;
        let clustering = place.clustering.ok_or_else(|| Error::corrupt("a view has no statics"))?;
        let parts = split_partition(&place.partition, self.partition_columns)?;
        let values: Vec<ClusteringValue> = parts.into_iter().map(Some).chain(clustering).collect();
        let value_of = |wanted: fn(u32) -> ViewPart, at: u32| {
            let mut sources = schema.partition.iter().chain(&schema.sort);
            let place = sources.position(|source| *source == wanted(at));
            place.and_then(|place| values.get(place).cloned().flatten())
        };
        let lacks = || Error::corrupt("a view's row lacks a part of its base's key");
        let partition: Option<Vec<Bytes>> = (0..)
            .take(base.partition_columns)
            .map(|at| value_of(ViewPart::PartitionColumn, at))
            .collect();
        // A row with a null in its clustering key is in no view.
        let sort: Option<Vec<ClusteringValue>> = (0..)
            .take(base.keys.sort.len())
            .map(|at| value_of(ViewPart::SortColumn, at).map(Some))
            .collect();
        let partition = join_partition(&partition.ok_or_else(lacks)?)?;
        base.keys.row(&partition, &sort.ok_or_else(lacks)?)
    }

    /// Whether the table is a view.
    pub(crate) fn is_view(&self) -> bool {
        self.view_of.is_some()
    }

    /// Whether every row of the base has its own in this view.
    pub(crate) fn is_view_complete(&self) -> bool {
        self.view_of.as_ref().is_some_and(|view| view.state == IndexState::Public)
    }

    /// Reads a mark from its key behind `[marks][table id]`, and its value.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: it cannot be read, or names no row.
    pub(crate) fn mark(&self, rest: &[u8], value: &[u8]) -> Result<FoundMark> {
        let mark = marks::found(rest, value)?;
        if mark.kind == MarkKind::Row {
            self.keys.parse_rest(rest.get(1..).unwrap_or_default())?;
        }
        Ok(mark)
    }

    /// Reads what of a due time comes behind the table's id.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: it names neither a row nor a mark.
    pub(crate) fn check_due(&self, rest: &[u8]) -> Result<()> {
        match rest.split_first() {
            Some((&due::ROW, name)) => self.keys.parse_rest(name).map(drop),
            Some((&due::MARK, [_, _, ..])) => Ok(()),
            _ => Err(Error::corrupt("a due time of neither a row nor a mark")),
        }
    }

    /// Returns what of a row's due time comes behind the table's id, from the row's key without
    /// chunk.
    pub(crate) fn due_of_row(&self, row_key: &[u8]) -> Vec<u8> {
        named(due::ROW, row_key.get(self.keys.prefix.len()..).unwrap_or_default())
    }

    /// As [`CellsLayout::due_of_row`], of a mark, from its key behind `[marks][table id]`; and its
    /// second, from that at which its deletion happened.
    pub(crate) fn due_of_mark(&self, rest: &[u8], happened_at: u64) -> (Vec<u8>, u64) {
        let second = happened_at.saturating_add(self.grace_seconds).saturating_add(1);
        (named(due::MARK, rest), second)
    }
}

/// Returns the key of a due time, from what of it comes behind the table's id.
pub(crate) fn due_key(table: u64, second: u64, rest: &[u8]) -> Bytes {
    let mut key = vec![Tree::Due as u8];
    key.extend_from_slice(&second.to_be_bytes());
    put_ordered_varint(&mut key, table);
    key.extend_from_slice(rest);
    key.into()
}

fn named(kind: u8, rest: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(rest.len() + 1);
    name.push(kind);
    name.extend_from_slice(rest);
    name
}

/// Returns the lease of a table, if it has one.
pub(crate) fn stored_lease(view: &impl View, table: u64) -> Result<Option<StoredLease>> {
    view.get(&marks::lease_key(table))?.map(|value| StoredLease::decode(&value)).transpose()
}

/// Returns a number that stands for what of a due time comes behind the table's id.
pub(crate) fn due_hash(rest: &[u8]) -> u64 {
    xxh3_64(rest)
}
