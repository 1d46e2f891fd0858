//! Writes items into a table of cells.
//!
//! The condition is looked at, and the item worked out, as in a table of items; the row gets what
//! differs. Each write is later than anything that its row has, so what is acknowledged is there.

use std::sync::Arc;

use shelfmark_records::cells::{Place, Timestamp};

use super::grant::Share;
use super::mapping::ItemsOfCells;
use crate::catalogue::Table;
use crate::cells::{CellChange, Mutation, StoredCells, Target, apply as apply_cells};
use crate::error::{Error, Result};
use crate::items::{Applied, Before, Change, Decided, Write, decide};
use crate::report::AccessReport;

/// Applies one write of an item to the buffer of the table of cells.
pub(crate) fn apply(
    target: &Target<'_>,
    table: &Table,
    mapping: &ItemsOfCells,
    base: &Arc<Table>,
    write: &Write,
) -> Result<Applied> {
    let is_check = matches!(write.change, Change::Check(_));
    if mapping.grant != Share::All && !is_check {
        return Err(Error::invalid(format!(
            "table {} is another face's, and grants reading alone; start the server with \
             `--share all`, or grant it to this table",
            base.schema.name
        )));
    }
    if !is_check && mapping.has_counters() {
        return Err(Error::invalid(format!(
            "table {} has counters, which CQL's UPDATE adds to and nothing else writes",
            base.schema.name
        )));
    }
    let key = write.change.key_of(table)?;
    let partition = mapping.partition(&key.partition)?;
    let clustering = mapping.clustering(&key.sort)?;
    let place = Place { partition: partition.clone(), clustering: Some(clustering.clone()) };
    let found = target.find(place)?;
    let live = target.live(&found);
    let item = live.map(|row| mapping.item(&partition, &clustering, &row)).transpose()?;
    let before = item.clone().map(Before::of_item);
    let decided = decide(table, write, &key, before.as_ref(), true)?;
    let (after, mut written) = match decided {
        Decided::Refused(refusal) => return Ok(Applied::Refused(refusal)),
        Decided::Stays(written) => {
            target.keep(found);
            return Ok(Applied::Written(written));
        }
        Decided::Becomes(after, written) => (after, written),
    };
    let timestamp = later_than_all(target, &found)?;
    target.keep(found);
    let change = match &after {
        None => CellChange::DeleteRow(clustering),
        Some(after) => {
            let operations = mapping.operations(item.as_ref(), &after.item, &write.change)?;
            mapping.check_values(&mapping.key_parts(&partition, &clustering), &operations)?;
            CellChange::Row { clustering, is_insert: true, operations }
        }
    };
    let (table, ttl_seconds) = (Arc::clone(base), None);
    apply_cells(target, &Mutation { table, partition, change, timestamp, ttl_seconds })?;
    written.new = if write.returns.new { after.map(|after| after.item) } else { None };
    written.report = AccessReport::default();
    Ok(Applied::Written(written))
}

/// Returns a timestamp above everything in a row, and above deletions that concern it.
fn later_than_all(target: &Target<'_>, found: &crate::cells::FoundRow) -> Result<Timestamp> {
    let now = target.server_timestamp();
    let latest = found.stored.as_ref().and_then(StoredCells::latest_in);
    let deleted_at = target.deleted_at(&found.key, now)?;
    let before = latest.max(deleted_at);
    match before {
        Some(before) if before >= now => before.checked_add(1).ok_or_else(|| {
            Error::invalid("the row has the latest timestamp that there is; nothing can follow it")
        }),
        _ => Ok(now),
    }
}
