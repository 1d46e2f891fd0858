//! Derives index entries and rows of views from a row of cells.
//!
//! Both are worked out from the row before and the row after and differ only where those do. An
//! entry or a row of a view carries the expiry that unmakes it; readers look at it.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_keycode::Direction;
use shelfmark_model::{CellIndexTarget, IndexState, ViewPart};

use super::cell::{Cell, CellKey, CellRow, Content, Expiry, Liveness};
use super::clustering::{ClusteringValue, join_partition, put_raw, split_partition};
use super::keys::{CellKeys, Place, ROW, STATICS, put_partition};
use super::layout::{CellsLayout, IndexLayout};
use crate::error::{Error, ErrorKind, Result};
use crate::items::encode_record;
use crate::keys::chunk_key;

/// The end of something: `None` for never.
type Ends = Option<Expiry>;

/// Returns the bytes of an index entry: a head without attributes that says when it ends.
pub fn entry_value(ends: Ends) -> Bytes {
    encode_record(std::iter::empty(), ends.map(|expiry| expiry.at_seconds)).head
}

/// Bytes that the key of an entry may have. A value that was there before its index, and would make a
/// longer one, has no entry: it is not found by the index, as in Cassandra.
pub const ENTRY_KEY_BYTES_MAX: usize = 65_535;

/// Returns true if the key of an entry is short enough to be there.
pub fn is_entry(key: &Bytes) -> bool {
    key.len() <= ENTRY_KEY_BYTES_MAX
}

/// Returns the keys of a row's entries in an index, with their chunk, and when each ends.
///
/// # Errors
///
/// * `Invalid`: a value is none of the type of the column whose key it becomes.
/// * `LimitExceeded`: the key would be too long.
pub fn entries(
    layout: &CellsLayout,
    index: &IndexLayout,
    place: &Place,
    row: &CellRow,
) -> Result<BTreeMap<Bytes, Ends>> {
    let mut entries = entries_of_any_length(layout, index, place, row)?;
    entries.retain(|key, _| is_entry(key));
    Ok(entries)
}

/// Works as [`entries`], with those that are too long to be there.
///
/// # Errors
///
/// * `Invalid`: a value is none of the type of the column whose key it becomes.
/// * `LimitExceeded`: the key would be too long.
pub fn entries_of_any_length(
    layout: &CellsLayout,
    index: &IndexLayout,
    place: &Place,
    row: &CellRow,
) -> Result<BTreeMap<Bytes, Ends>> {
    let mut entries = BTreeMap::new();
    let mut add = |terms: &[&[u8]], ends: Ends| -> Result<()> {
        let key = entry_key(layout, index, terms, place)?;
        entries.entry(key).and_modify(|own| *own = later(*own, ends)).or_insert(ends);
        Ok(())
    };
    match index.schema.target {
        CellIndexTarget::PartitionColumn(at) => {
            // Statics have an entry too: the partition may have no rows.
            if let Some(ends) = ends_of(row) {
                let parts = split_partition(&place.partition, layout.partition_columns)?;
                if let Some(part) = parts.get(at as usize) {
                    add(&[part], ends)?;
                }
            }
        }
        CellIndexTarget::SortColumn(at) => {
            if let (Some(ends), Some(clustering)) = (ends_of(row), &place.clustering)
                && let Some(Some(value)) = clustering.get(at as usize)
            {
                add(&[value], ends)?;
            }
        }
        CellIndexTarget::Column(column)
        | CellIndexTarget::Keys(column)
        | CellIndexTarget::Values(column)
        | CellIndexTarget::Entries(column) => {
            for (key, value, ends) in live(layout, row, column) {
                match index.schema.target {
                    CellIndexTarget::Keys(_) => add(&[&key.path], ends)?,
                    CellIndexTarget::Entries(_) => add(&[&key.path, value], ends)?,
                    _ => add(&[value], ends)?,
                }
            }
        }
    }
    Ok(entries)
}

fn live<'r>(
    layout: &CellsLayout,
    row: &'r CellRow,
    column: u32,
) -> impl Iterator<Item = (&'r CellKey, &'r Bytes, Ends)> {
    let first = CellKey { column, path: Bytes::new() };
    row.cells
        .range(first..)
        .take_while(move |(key, _)| key.column == column)
        .filter(|(key, cell)| !layout.is_of_before(key.column, cell.timestamp))
        .filter_map(|(key, cell)| match &cell.content {
            Content::Live { value, expiry } => Some((key, value, *expiry)),
            Content::Dead { .. } => None,
        })
}

fn later(a: Ends, b: Ends) -> Ends {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.at_seconds < b.at_seconds { b } else { a }),
        _ => None,
    }
}

fn earlier(a: Ends, b: Ends) -> Ends {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.at_seconds <= b.at_seconds { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// Returns when a row stops existing; `None` if it does not exist whatever the time is.
pub fn ends_of(row: &CellRow) -> Option<Ends> {
    let cells = row.cells.values().filter_map(|cell| match &cell.content {
        Content::Live { expiry, .. } => Some(*expiry),
        Content::Dead { .. } => None,
    });
    cells.chain(row.liveness.map(|liveness| liveness.expiry)).reduce(later)
}

/// Returns the key of an index entry: `[index][id][terms][token][partition key]`, then `00` or `01`
/// and the clustering key, and the chunk 0.
fn entry_key(
    layout: &CellsLayout,
    index: &IndexLayout,
    terms: &[&[u8]],
    place: &Place,
) -> Result<Bytes> {
    let packs = layout.keys.packs;
    let mut key = index.prefix.to_vec();
    for (column, term) in index.terms.iter().zip(terms) {
        let term = index.schema.fold.apply(term);
        put_raw(&column.key_type, Direction::Ascending, Some(&term), packs, &mut key).map_err(
            |error| Error::new(error.kind(), format!("index {}: {error}", index.schema.name)),
        )?;
    }
    put_partition(&mut key, &place.partition, packs);
    match &place.clustering {
        None => key.push(STATICS),
        Some(clustering) => {
            key.push(ROW);
            put_clustering(&layout.keys, clustering, &mut key)?;
        }
    }
    Ok(chunk_key(&key, 0).into())
}

fn put_clustering(
    keys: &CellKeys,
    clustering: &[ClusteringValue],
    out: &mut Vec<u8>,
) -> Result<()> {
    for (column, value) in keys.sort.iter().zip(clustering) {
        put_raw(&column.key_type, column.direction, value.as_deref(), keys.packs, out)?;
    }
    Ok(())
}

/// Returns the row that a row of the base makes in a view, and its key there.
///
/// It exists while all components of its key are there and the base row exists; what of it lives
/// longer is cut to that.
///
/// # Errors
///
/// * `Invalid`: a value is none of the type of the column whose key it becomes.
/// * `LimitExceeded`: the key would be too long.
pub fn view_row(
    base: &CellsLayout,
    view: &CellsLayout,
    place: &Place,
    row: &CellRow,
) -> Result<Option<(Vec<u8>, CellRow)>> {
    let (Some(schema), Some(clustering)) = (&view.view_of, &place.clustering) else {
        return Ok(None);
    };
    let Some(mut ends) = ends_of(row) else { return Ok(None) };
    let mut timestamp = row.liveness.map(|liveness| liveness.timestamp);
    let parts = split_partition(&place.partition, base.partition_columns)?;
    if !view.tests.iter().all(|test| test.passes(&parts, clustering)) {
        return Ok(None);
    }
    let mut key_columns = Vec::new();
    let mut component = |part: &ViewPart| -> Option<Bytes> {
        match part {
            ViewPart::PartitionColumn(at) => parts.get(*at as usize).cloned(),
            ViewPart::SortColumn(at) => clustering.get(*at as usize).cloned().flatten(),
            ViewPart::Column(column) => {
                let key = CellKey { column: *column, path: Bytes::new() };
                let cell = row.cells.get(&key)?;
                let Content::Live { value, expiry } = &cell.content else { return None };
                if base.is_of_before(*column, cell.timestamp) {
                    return None;
                }
                ends = earlier(*expiry, ends);
                timestamp = timestamp.max(Some(cell.timestamp));
                key_columns.push(*column);
                Some(value.clone())
            }
        }
    };
    let partition: Option<Vec<Bytes>> = schema.partition.iter().map(&mut component).collect();
    let sort: Option<Vec<ClusteringValue>> =
        schema.sort.iter().map(|part| component(part).map(Some)).collect();
    let (Some(partition), Some(sort)) = (partition, sort) else { return Ok(None) };
    let partition = join_partition(&partition)?;
    let key = view.keys.row(&partition, &sort).map_err(|error| {
        let name = &view.name;
        let kind = match error.kind() {
            ErrorKind::Corrupt => ErrorKind::Corrupt,
            _ => ErrorKind::Invalid,
        };
        Error::new(kind, format!("the row has no place in view {name}: {error}"))
    })?;
    let held = |column: u32| {
        !key_columns.contains(&column)
            && schema.columns.as_ref().is_none_or(|columns| columns.contains(&column))
    };
    let seen = |key: &CellKey, cell: &Cell| {
        held(key.column) && !base.is_of_before(key.column, cell.timestamp)
    };
    let cells = row.cells.iter().filter(|(key, cell)| seen(key, cell)).filter_map(|(key, cell)| {
        let Content::Live { value, expiry } = &cell.content else { return None };
        let content = Content::Live { value: value.clone(), expiry: earlier(*expiry, ends) };
        Some((key.clone(), Cell { timestamp: cell.timestamp, content }))
    });
    let cells: BTreeMap<CellKey, Cell> = cells.collect();
    let newest = cells.values().map(|cell| cell.timestamp).max();
    let timestamp = timestamp.or(newest).unwrap_or_default();
    let liveness = Some(Liveness { timestamp, expiry: ends });
    Ok(Some((key, CellRow { liveness, cells, ..CellRow::default() })))
}

impl CellsLayout {
    /// Returns the key (without chunk) of the row of `base` that a row of this view follows from.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this view.
    pub fn view_row_leads_to(&self, base: &Self, row_key: &[u8]) -> Result<Vec<u8>> {
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

    /// Returns true if the table is a view.
    pub fn is_view(&self) -> bool {
        self.view_of.is_some()
    }

    /// Returns true if every row of the base has its own in this view.
    pub fn is_view_complete(&self) -> bool {
        self.view_of.as_ref().is_some_and(|view| view.state == IndexState::Public)
    }
}
