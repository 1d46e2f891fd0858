//! A table of cells after a loss: its marks and its lease.

use std::sync::Arc;

use super::pen::Pen;
use super::rows::{rows as each_row, tell_queued};
use super::{Mended, Teller};
use crate::catalogue::Table;
use crate::cells::{Cells, CellsSeen, correct_lease, correct_marks};
use crate::error::Result;
use crate::rows::Moment;

/// Removes remains of rows, and corrects due times, marks and the lease.
pub(super) fn rows(pen: &mut Pen<'_>, table: &Arc<Table>, tell: &mut Teller<'_>) -> Result<()> {
    let kind = Cells::of(table)?;
    let moment = Moment::take(&pen.inner.store)?;
    let mut seen = CellsSeen::default();
    let queued = each_row(pen, &moment, &kind, tell, |_, raw, row| {
        seen.latest = seen.latest.max(row.latest_of_all());
        seen.has_chunks |= !raw.chunks.is_empty();
        Ok(())
    })?;
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
    tell_queued(&kind, queued + marks.queued, tell);
    Ok(())
}
