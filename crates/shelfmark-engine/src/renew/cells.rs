//! A table of cells after a loss: its tombstones and its high-water mark.

use std::sync::Arc;

use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::cells::Cells;
use shelfmark_tables::rows::Moment;

use super::pen::Pen;
use super::rows::{rows as each_row, tell_queued};
use super::tombstones::{CellsSeen, correct_high_water, correct_tombstones};
use super::{Mended, Teller};

/// Removes remains of rows, and corrects due times, tombstones and the high-water mark.
pub(super) fn rows(pen: &mut Pen<'_>, table: &Arc<Table>, tell: &mut Teller<'_>) -> Result<()> {
    let kind = Cells::of(table)?;
    let moment = Moment::take(&pen.inner.store)?;
    let mut seen = CellsSeen::default();
    let queued = each_row(pen, &moment, &kind, tell, |_, raw, row| {
        seen.latest = seen.latest.max(row.latest_of_all());
        seen.has_chunks |= !raw.chunks.is_empty();
        Ok(())
    })?;
    correct_high_water(pen, &moment, table, seen)?;
    pen.end()?;
    let tombstones = correct_tombstones(pen.inner, table)?;
    let name = || table.schema.name.clone();
    if tombstones.tombstones > 0 {
        tell(Mended::Deletions { table: name(), corrected: tombstones.tombstones });
    }
    if tombstones.done_again > 0 {
        tell(Mended::DeletedAgain { table: name(), deletions: tombstones.done_again });
    }
    tell_queued(&kind, queued + tombstones.queued, tell);
    Ok(())
}
