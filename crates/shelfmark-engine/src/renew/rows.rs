//! One walk over the rows of a table after a loss, for what of them must be there beside them.
//!
//! Written once for all kinds of rows; what a kind corrects besides is in `items` and `cells`.

use shelfmark_store::KeyRange;
use shelfmark_tables::Result;
use shelfmark_tables::rows::{Found, Moment, RawRow, RowKind, Walk};

use super::pen::Pen;
use super::remains::Remains;
use super::{Mended, Teller};

/// Removes remains of rows, and queues due times that are not in the queue. `besides` is told of each
/// row that could be read. Returns how many due times were queued.
pub(super) fn rows<'i, K: RowKind>(
    pen: &mut Pen<'i>,
    moment: &Moment,
    kind: &K,
    tell: &mut Teller<'_>,
    mut besides: impl FnMut(&mut Pen<'i>, &RawRow, &K::Row) -> Result<()>,
) -> Result<u64> {
    let mut walk = Walk::over(KeyRange::prefix(kind.rows_prefix()));
    let mut remains = Remains::of(kind.table());
    let mut queued = 0;
    while let Some(found) = walk.next_of(moment, kind)? {
        match found {
            Found::Remains(key, why) => remains.remove(pen, moment, &key, why, tell)?,
            Found::Unsound(raw, why) => remains.remove_row(pen, &raw, &why, tell)?,
            Found::Row(raw, row) => {
                if let Some((_, due)) = kind.due(&raw, &row) {
                    queued += u64::from(pen.put_due(moment, kind.table(), due)?);
                }
                besides(pen, &raw, &row)?;
            }
        }
    }
    remains.end(tell);
    Ok(queued)
}

/// Tells how many due times were queued, if any were.
pub(super) fn tell_queued(kind: &impl RowKind, queued: u64, tell: &mut Teller<'_>) {
    if queued > 0 {
        tell(Mended::DueTimes { table: kind.table().schema.name.clone(), queued });
    }
}
