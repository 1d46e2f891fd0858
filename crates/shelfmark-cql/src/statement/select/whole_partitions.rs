//! Reads by an index whose entries stand for more or less than a row: one on a static column, an entry
//! for each partition, and one on a part of the partition key, with entries for partitions without rows.
//!
//! What it is not: the choice of an index, nor the walk over units, which hands on what is read here.
//!
//! Invariant: a place within a partition is the row behind which it goes on, so rows that are written
//! or deleted between two pages neither hide others nor show them twice.

use bytes::{Buf as _, Bytes};
use shelfmark_cql_protocol::Result;
use shelfmark_engine::{CellEntry, Cursor, Span};

use super::source::{Read, Reading, Unit};
use super::{Access, Select};
use crate::schema::ColumnKind;

/// Begins the bytes of a cursor with a place in a partition; no engine's cursor begins so.
const INSIDE: u8 = 0x80;

/// A place in a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnitCursor {
    /// The engine's cursor in the unit; `None` before its first entry.
    at: Option<Cursor>,
    /// The partition that the entry behind it stands for, and the last of its rows that was answered.
    inside: Option<(Bytes, Cursor)>,
}

impl From<Cursor> for UnitCursor {
    fn from(at: Cursor) -> Self {
        Self { at: Some(at), inside: None }
    }
}

impl UnitCursor {
    /// Returns the engine's cursor.
    pub(super) fn engine(own: Option<Self>) -> Option<Cursor> {
        own.and_then(|own| own.at)
    }

    /// Returns the cursor as positions carry it.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let at = self.at.as_ref().map(Cursor::to_bytes).unwrap_or_default();
        let Some((partition, row)) = &self.inside else { return at };
        let mut bytes = vec![INSIDE];
        for part in [at.as_slice(), partition] {
            let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&row.to_bytes());
        bytes
    }

    /// Reads a cursor back; `None` if the bytes are none.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let Some(mut rest) = bytes.strip_prefix(&[INSIDE]) else {
            return Cursor::from_bytes(bytes).ok().map(Self::from);
        };
        let mut part = || {
            let length = usize::try_from(rest.try_get_u32().ok()?).ok()?;
            let (part, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some(part)
        };
        let (at, partition) = (part()?, part()?);
        let at = match at.is_empty() {
            true => None,
            false => Some(Cursor::from_bytes(at).ok()?),
        };
        let row = Cursor::from_bytes(rest).ok()?;
        Some(Self { at, inside: Some((Bytes::copy_from_slice(partition), row)) })
    }
}

/// Returns true if an entry of the index that is read stands for a whole partition.
pub(super) fn names_partitions(select: &Select) -> bool {
    matches!(&select.access, Access::Index { column, .. }
        if select.table.columns.get(*column).is_some_and(|own| own.role == ColumnKind::Static))
}

/// Returns true if the index that is read is on a part of the partition key.
fn is_of_partition_key(select: &Select) -> bool {
    matches!(&select.access, Access::Index { column, .. } if *column < select.table.partition_count)
}

impl Reading<'_> {
    fn passes(&self, entry: &CellEntry) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(entry))
    }

    /// Reads at most `most` rows of the partitions that an index names, of each at most `of_each`.
    ///
    /// An entry is read at a time: where the next page goes on is told by its place, not by a number of
    /// entries, which others may change meanwhile.
    pub(super) fn read_partitions(
        &self,
        select: &Select,
        unit: &Unit,
        cursor: Option<UnitCursor>,
        (most, of_each): (usize, Option<usize>),
    ) -> Result<Read> {
        let UnitCursor { mut at, mut inside } =
            cursor.unwrap_or(UnitCursor { at: None, inside: None });
        let mut rows = Vec::new();
        loop {
            let found = self.entries(select, unit, self.limits(select, at.clone(), 1, None))?;
            for entry in found.rows {
                let of_entry = Unit::Span(entry.partition.clone(), Span::all());
                let begun = inside.take().filter(|(partition, _)| *partition == entry.partition);
                let begun = begun.map(|(_, row)| UnitCursor::from(row));
                let page = self.read(select, &of_entry, begun, most - rows.len(), of_each)?;
                rows.extend(page.rows);
                if let Some(row) = UnitCursor::engine(page.cursor) {
                    let cursor = UnitCursor { at, inside: Some((entry.partition, row)) };
                    return Ok(Read { rows, cursor: Some(cursor) });
                }
            }
            at = found.cursor;
            let bytes: usize = rows.iter().map(|own: &CellEntry| own.row.size_bytes()).sum();
            if at.is_none() || rows.len() >= most || bytes >= self.bytes_max {
                return Ok(Read { rows, cursor: at.map(UnitCursor::from) });
            }
        }
    }

    /// Tests the entries of an index. Of a partition without rows one on a part of the partition key has
    /// an entry, which is exchanged for the statics, if there are any.
    pub(super) fn with_statics_alone(
        &self,
        select: &Select,
        entries: Vec<CellEntry>,
    ) -> Result<Vec<CellEntry>> {
        let mut rows = Vec::with_capacity(entries.len());
        for entry in entries {
            if entry.clustering.is_some() || !is_of_partition_key(select) {
                rows.extend(Some(entry).filter(|own| self.passes(own)));
                continue;
            }
            // Rows have entries of their own; the statics are shown where there are none.
            let unit = Unit::Span(entry.partition.clone(), Span::all());
            let unfiltered = Reading { filter: None, ..self.clone() };
            let first = unfiltered.read(select, &unit, None, 1, None)?.rows;
            if first.iter().all(|own| own.clustering.is_none()) {
                rows.extend(first.into_iter().filter(|own| self.passes(own)));
            }
        }
        Ok(rows)
    }
}
