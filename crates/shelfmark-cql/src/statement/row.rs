//! Values of columns out of the engine's rows of cells.

use bytes::{Bytes, BytesMut};
use shelfmark_cql_types::term::{MetadataKind, ResolvedPath, RowView};
use shelfmark_cql_types::{CqlType, compare, partition_parts, put_cell, put_collection, put_tuple};
use shelfmark_engine::{CellEntry, LiveCell, LiveRow};

use super::modify::field_path;
use crate::schema::{Column, ColumnKind, Table};

/// Returns a column's value; a live collection is put together from its cells.
pub(crate) fn column_value(column: &Column, row: &LiveRow) -> Option<Bytes> {
    if !column.kind.is_multi_cell() {
        return row.cell(column.id).map(|cell| cell.value.clone());
    }
    let cells = row.elements(column.id);
    if cells.is_empty() {
        return None;
    }
    Some(assemble(&column.kind, cells))
}

fn assemble(ty: &CqlType, cells: &[LiveCell]) -> Bytes {
    match ty {
        CqlType::List { .. } => {
            put_collection(cells.len(), cells.iter().map(|cell| cell.value.as_ref())).into()
        }
        CqlType::Set { element, .. } => {
            let sorted = sorted(element, cells);
            put_collection(sorted.len(), sorted.iter().map(|cell| cell.path.as_ref())).into()
        }
        CqlType::Map { key, .. } => {
            let sorted = sorted(key, cells);
            let flat = sorted.iter().flat_map(|cell| [cell.path.as_ref(), cell.value.as_ref()]);
            put_collection(sorted.len(), flat).into()
        }
        CqlType::User { definition, .. } => {
            let parts = (0..definition.fields.len()).map(|at| {
                let path = field_path(at);
                cells.iter().find(|cell| cell.path == path).map(|cell| cell.value.as_ref())
            });
            put_tuple(parts).into()
        }
        _ => Bytes::new(),
    }
}

/// Returns the cells in the order of their keys; stored they lie in the order of the bytes.
fn sorted<'c>(key: &CqlType, cells: &'c [LiveCell]) -> Vec<&'c LiveCell> {
    let mut all: Vec<&LiveCell> = cells.iter().collect();
    all.sort_by(|a, b| compare(key, &a.path, &b.path));
    all
}

/// A row of the engine, as a selection sees it.
pub(crate) struct StoredRow<'a> {
    pub(crate) table: &'a Table,
    pub(crate) entry: &'a CellEntry,
    /// The second that times to live are counted from.
    pub(crate) now: u64,
    /// Values of aggregates.
    pub(crate) aggregates: &'a [Option<Bytes>],
}

impl StoredRow<'_> {
    /// Returns a value as it lies in the row; `None` if it must be put together first.
    fn plain(&self, column: &Column) -> Option<Option<&[u8]>> {
        match column.role {
            ColumnKind::PartitionKey if self.table.partition_count == 1 => {
                Some(Some(&self.entry.partition))
            }
            ColumnKind::PartitionKey => None,
            ColumnKind::Clustering => {
                let place = usize::try_from(column.id).ok()?;
                let clustering = self.entry.clustering.as_deref().unwrap_or_default();
                Some(clustering.get(place).and_then(Option::as_deref))
            }
            ColumnKind::Static | ColumnKind::Regular if column.kind.is_multi_cell() => None,
            ColumnKind::Static | ColumnKind::Regular => {
                let cell = self.source(column).and_then(|row| row.cell(column.id));
                Some(cell.map(|cell| cell.value.as_ref()))
            }
        }
    }

    fn source(&self, column: &Column) -> Option<&LiveRow> {
        match column.role {
            ColumnKind::Static => self.entry.statics.as_deref(),
            ColumnKind::Regular if self.entry.clustering.is_some() => Some(&self.entry.row),
            _ => None,
        }
    }
}

impl RowView for StoredRow<'_> {
    fn put(&self, at: usize, out: &mut BytesMut) {
        match self.table.columns.get(at).and_then(|column| self.plain(column)) {
            // The common case takes part in no counting of references.
            Some(value) => put_cell(value, out),
            None => put_cell(self.value(at).as_deref(), out),
        }
    }

    fn value(&self, at: usize) -> Option<Bytes> {
        let column = self.table.columns.get(at)?;
        let place = usize::try_from(column.id).ok()?;
        match column.role {
            ColumnKind::PartitionKey if self.table.partition_count == 1 => {
                Some(self.entry.partition.clone())
            }
            ColumnKind::PartitionKey => {
                partition_parts(&self.entry.partition, self.table.partition_count)
                    .into_iter()
                    .nth(place)
            }
            ColumnKind::Clustering => self.entry.clustering.as_ref()?.get(place)?.clone(),
            ColumnKind::Static | ColumnKind::Regular => column_value(column, self.source(column)?),
        }
    }

    fn metadata(&self, kind: MetadataKind, column: usize, path: &ResolvedPath) -> Option<Bytes> {
        let column = self.table.columns.get(column)?;
        let row = self.source(column)?;
        let now = self.now;
        let of = |cell: &LiveCell| metadata_of(kind, cell, now);
        if !column.kind.is_multi_cell() {
            return of(row.cell(column.id)?);
        }
        let cells = row.elements(column.id);
        let key = match &column.kind {
            CqlType::Set { element, .. } => element.as_ref(),
            CqlType::Map { key, .. } => key.as_ref(),
            _ => &CqlType::Blob,
        };
        let cells = match &column.kind {
            CqlType::List { .. } => cells.iter().collect(),
            _ => sorted(key, cells),
        };
        match path {
            ResolvedPath::Element(wanted) => {
                cells.into_iter().find(|cell| compare(key, &cell.path, wanted).is_eq()).and_then(of)
            }
            ResolvedPath::Field(at) => {
                let path = field_path(*at);
                cells.into_iter().find(|cell| cell.path == path).and_then(of)
            }
            ResolvedPath::Whole => many(kind, &column.kind, cells, of),
            ResolvedPath::Slice(from, to) => {
                let inside = |cell: &&LiveCell| {
                    from.as_ref().is_none_or(|from| compare(key, &cell.path, from).is_ge())
                        && to.as_ref().is_none_or(|to| compare(key, &cell.path, to).is_le())
                };
                many(kind, &column.kind, cells.into_iter().filter(inside).collect(), of)
            }
        }
    }

    fn aggregate(&self, at: usize) -> Option<Bytes> {
        self.aggregates.get(at).cloned().flatten()
    }
}

fn metadata_of(kind: MetadataKind, cell: &LiveCell, now: u64) -> Option<Bytes> {
    match kind {
        MetadataKind::WriteTime | MetadataKind::MaxWriteTime => {
            Some(Bytes::copy_from_slice(&cell.timestamp.to_be_bytes()))
        }
        MetadataKind::Ttl => {
            let left = cell.expiry?.at_seconds.saturating_sub(now);
            let left = i32::try_from(left).unwrap_or(i32::MAX);
            Some(Bytes::copy_from_slice(&left.to_be_bytes()))
        }
    }
}

/// Returns the property of several cells: a list of each, or the latest timestamp.
fn many(
    kind: MetadataKind,
    ty: &CqlType,
    cells: Vec<&LiveCell>,
    of: impl Fn(&LiveCell) -> Option<Bytes>,
) -> Option<Bytes> {
    if cells.is_empty() {
        return None;
    }
    if kind == MetadataKind::MaxWriteTime {
        let latest = cells.iter().map(|cell| cell.timestamp).max()?;
        return Some(Bytes::copy_from_slice(&latest.to_be_bytes()));
    }
    let parts: Vec<Option<Bytes>> = match ty {
        CqlType::User { definition, .. } => (0..definition.fields.len())
            .map(|at| {
                let path = field_path(at);
                cells.iter().find(|cell| cell.path == path).and_then(|cell| of(cell))
            })
            .collect(),
        _ => cells.into_iter().map(of).collect(),
    };
    let count = i32::try_from(parts.len()).unwrap_or(i32::MAX);
    let mut out = count.to_be_bytes().to_vec();
    for part in &parts {
        shelfmark_cql_types::put_field(&mut out, part.as_deref());
    }
    Some(out.into())
}

/// A row that was computed, as a selection sees it.
pub(crate) struct ComputedRow<'a> {
    pub(crate) values: &'a [Option<Bytes>],
    pub(crate) aggregates: &'a [Option<Bytes>],
}

impl RowView for ComputedRow<'_> {
    fn value(&self, at: usize) -> Option<Bytes> {
        self.values.get(at).cloned().flatten()
    }

    fn metadata(&self, _: MetadataKind, _: usize, _: &ResolvedPath) -> Option<Bytes> {
        None
    }

    fn aggregate(&self, at: usize) -> Option<Bytes> {
        self.aggregates.get(at).cloned().flatten()
    }
}
