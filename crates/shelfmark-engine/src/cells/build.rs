//! Entering the rows that were there before an index or a view was, piece by piece.
//!
//! Writers keep both from their first moment on. A piece is one commit that validates every row it
//! read, so a row that is written meanwhile is its writer's, and the piece is entered again.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{Direction, KeyRange, Snapshot};

use super::derive::{entries, entry_value, view_row};
use super::{CellRow, CellsLayout};
use crate::catalogue::Table;
use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::index::{enter, patiently};
use crate::layout::after_row;
use crate::read::{RowScan, chunk_key};
use crate::write::put_stored;

/// Rows entered per commit.
const ROWS_PER_COMMIT: usize = 256;

/// A piece ends with the row whose entries reach this many bytes.
const BYTES_PER_COMMIT: usize = 1024 * 1024;

/// What is built.
enum Built<'a> {
    /// The index of this position.
    Index(usize),
    /// This view.
    View(&'a Table),
}

/// Builds what a table of cells has to be built: its indexes, or the table itself if it is a view.
pub(crate) fn resume(inner: &Inner, name: &TableName) -> Result<()> {
    let table = inner.catalogue.table(name)?;
    let layout = table.cells()?;
    if let Some(view) = &layout.view_of
        && view.state == IndexState::Building
    {
        let base = inner.catalogue.table(&view.base)?;
        // What was deleted need not be entered only to be removed again.
        patiently(|| inner.purge_ranges(&base))?;
        build(inner, &base, &Built::View(&table))?;
        set_state(inner, name, |schema| {
            let view = schema.cells.as_mut().and_then(|cells| cells.view_of.as_mut());
            view.map(|view| &mut view.state)
        })?;
    }
    for (position, index) in layout.indexes.iter().enumerate() {
        if index.schema.state == IndexState::Building {
            build(inner, &table, &Built::Index(position))?;
            set_state(inner, name, |schema| {
                let cells = schema.cells.as_mut()?;
                let own = cells.indexes.iter_mut().find(|own| own.name == index.schema.name);
                own.map(|own| &mut own.state)
            })?;
        }
    }
    Ok(())
}

fn set_state(
    inner: &Inner,
    name: &TableName,
    find: impl Fn(&mut TableSchema) -> Option<&mut IndexState>,
) -> Result<()> {
    patiently(|| {
        inner.catalogue.alter(name, |schema| match find(schema) {
            Some(state) => {
                *state = IndexState::Public;
                Ok(())
            }
            None => Err(gone(name)),
        })
    })
    .map(drop)
}

fn gone(name: &TableName) -> Error {
    Error::new(ErrorKind::NotFound, format!("what was built of table {name} was dropped"))
}

fn build(inner: &Inner, base: &Table, built: &Built<'_>) -> Result<()> {
    let layout = base.cells()?;
    let mut rest = KeyRange::prefix(layout.keys.prefix.clone());
    loop {
        let snapshot = inner.store.snapshot()?;
        let piece = match read(inner, layout, built, &snapshot, &rest) {
            Err(error) if error.kind() == ErrorKind::TooOld => continue,
            piece => piece?,
        };
        let Some((buffer, last)) = piece else { return Ok(()) };
        if enter(inner, buffer.into_commit(), || current(inner, base, built))? {
            rest = after_row(&rest, &last, false);
        }
    }
}

/// Reads the first rows of a range; `None` if it has none.
fn read(
    inner: &Inner,
    layout: &CellsLayout,
    built: &Built<'_>,
    snapshot: &Arc<dyn Snapshot>,
    range: &KeyRange,
) -> Result<Option<(Buffer, Bytes)>> {
    let bytes_max = (inner.store.caps().commit_size_bytes_max / 2).min(BYTES_PER_COMMIT);
    let view = &**snapshot;
    let mut rows = RowScan::new(&view, range.clone(), Direction::Ascending, ROWS_PER_COMMIT);
    let mut buffer = Buffer::new(Arc::clone(snapshot));
    let mut last = None;
    for _ in 0..ROWS_PER_COMMIT {
        let Some(raw) = rows.next_row()? else { break };
        buffer.validate(&chunk_key(&raw.key, 0));
        let row = CellRow::decode(&raw.head, &raw.chunks)?;
        let place = layout.keys.parse(&raw.key)?;
        match built {
            Built::Index(position) => {
                let index = layout.indexes.get(*position);
                let index =
                    index.ok_or_else(|| Error::new(ErrorKind::Internal, "no such index"))?;
                for (key, ends) in entries(layout, index, &place, &row)? {
                    buffer.put(key, entry_value(ends));
                }
            }
            Built::View(view) => {
                if let Some((key, row)) = view_row(layout, view, &place, &row)? {
                    put_stored(&mut buffer, &key, &[], Some(row.encode()), true);
                }
            }
        }
        last = Some(raw.key.to_bytes());
        if buffer.written_bytes() >= bytes_max {
            break;
        }
    }
    Ok(last.map(|last| (buffer, last)))
}

/// Returns the current form of the base, which has what is built.
fn current(inner: &Inner, base: &Table, built: &Built<'_>) -> Result<Arc<Table>> {
    let name = &base.schema.name;
    let current = inner.catalogue.table(name)?;
    let is_there = match built {
        Built::Index(position) => {
            base.index_ids.get(*position).is_some_and(|id| current.index_ids.contains(id))
        }
        Built::View(view) => {
            let name = &view.schema.name;
            let is_kept =
                current.schema.cells.as_ref().is_some_and(|cells| cells.views.contains(name));
            is_kept && inner.catalogue.table(name).is_ok_and(|own| own.id == view.id)
        }
    };
    if current.id == base.id && is_there { Ok(current) } else { Err(gone(name)) }
}
