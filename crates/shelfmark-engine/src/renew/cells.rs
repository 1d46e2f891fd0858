//! A table of cells: one walk over its rows, for what of them must be there beside them.

use std::sync::Arc;

use shelfmark_store::KeyRange;

use super::pen::Pen;
use super::remains::Remains;
use super::{Mended, Teller};
use crate::catalogue::Table;
use crate::cells::{CellsSeen, StoredCells, correct_lease, correct_marks, due_key};
use crate::error::Result;
use crate::verify::{Found, Moment, Walk, damage};

/// Removes remains of rows, and corrects due times, marks and the lease.
pub(super) fn rows(pen: &mut Pen<'_>, table: &Arc<Table>, tell: &mut Teller<'_>) -> Result<()> {
    let layout = table.cells()?;
    let moment = Moment::take(&pen.inner.store)?;
    let mut walk = Walk::over(KeyRange::prefix(layout.rows_prefix()));
    let mut remains = Remains::of(table);
    let mut seen = CellsSeen::default();
    let mut queued = 0;
    while let Some(found) = walk.next_row(&moment)? {
        let row = match found {
            Found::Row(row) => row,
            Found::Damage(key, why) => {
                remains.remove(pen, &moment, &key, why, tell)?;
                continue;
            }
        };
        let stored = match damage(StoredCells::read(layout, &row))? {
            Ok(stored) => stored,
            Err(why) => {
                remains.remove_row(pen, &row, &why, tell)?;
                continue;
            }
        };
        seen.latest = seen.latest.max(stored.latest_of_all());
        seen.has_chunks |= !row.chunks.is_empty();
        // What a view forgets follows from its base.
        if let (Some(second), false) = (stored.due_second(layout), layout.is_view()) {
            let due = due_key(table.id, second, &layout.due_of_row(&row.key));
            queued += u64::from(pen.put_due(&moment, table, due)?);
        }
    }
    remains.end(tell);
    correct_lease(pen, &moment, table, seen)?;
    pen.end()?;
    let marks = correct_marks(pen.inner, table)?;
    let name = || table.schema.name.clone();
    if marks.marks > 0 {
        tell(Mended::Deletions { table: name(), corrected: marks.marks });
    }
    if marks.done_again > 0 {
        tell(Mended::DeletedAgain { table: name(), deletions: marks.done_again });
    }
    if queued + marks.queued > 0 {
        tell(Mended::DueTimes { table: name(), queued: queued + marks.queued });
    }
    Ok(())
}
