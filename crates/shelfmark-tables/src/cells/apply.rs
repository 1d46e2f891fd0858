//! Applies one mutation: merges what it says about a row with the row that is there.

use bytes::Bytes;
use shelfmark_records::cells::{
    Cell, CellKey, CellRow, ClusteringValue, Content, Deletion, Expiry, Liveness, Place, Timestamp,
};

use super::add_within::add_within;
use super::find::Target;
use super::patch::patch;
use super::request::{CellChange, CellOperation, Mutation};
use super::{delete, tombstones};
use crate::error::{Error, Result};

/// Applies one mutation to the buffer of its target.
pub(crate) fn apply(target: &Target<'_>, mutation: &Mutation) -> Result<()> {
    if !mutation.is_deletion() {
        target.writer.deletes_only.set(false);
    }
    let partition = mutation.partition.clone();
    target.note_written(&partition, latest_of(mutation));
    target.guard(&partition, mutation.change.is_of_range());
    match &mutation.change {
        CellChange::Row { clustering, is_insert, operations } => {
            let place = Place { partition, clustering: Some(clustering.clone()) };
            write(target, mutation, place, *is_insert, operations)
        }
        CellChange::Statics(operations) => {
            write(target, mutation, Place { partition, clustering: None }, false, operations)
        }
        CellChange::DeleteRow(clustering) => delete_row(target, mutation, clustering),
        CellChange::DeleteSpan(span) => {
            let range = target.layout.keys.span(&partition, span)?;
            delete::range(target, range, mutation.timestamp)
        }
        CellChange::DeletePartition => {
            let prefix = target.layout.keys.partition(&partition)?;
            delete::range(target, shelfmark_store::KeyRange::prefix(prefix), mutation.timestamp)
        }
    }
}

/// Returns a timestamp that nothing of a mutation is later than.
fn latest_of(mutation: &Mutation) -> Timestamp {
    let counts = match &mutation.change {
        CellChange::Row { operations, .. } | CellChange::Statics(operations) => {
            operations.iter().any(|operation| matches!(operation, CellOperation::Add { .. }))
        }
        CellChange::DeleteRow(_) | CellChange::DeleteSpan(_) | CellChange::DeletePartition => false,
    };
    // Those of counters follow from what is there.
    if counts { Timestamp::MAX } else { mutation.timestamp }
}

fn write(
    target: &Target<'_>,
    mutation: &Mutation,
    place: Place,
    is_insert: bool,
    operations: &[CellOperation],
) -> Result<()> {
    let key = target.layout.keys.place(&place)?;
    let counts = operations.iter().any(|operation| matches!(operation, CellOperation::Add { .. }));
    let server_micros = target.writer.now_micros.cast_signed();
    let looked = if counts { mutation.timestamp.max(server_micros) } else { mutation.timestamp };
    let deleted_at = target.deleted_at(&key, looked)?;
    let mut says = Says {
        target,
        timestamp: mutation.timestamp,
        expiry: expiry(target.now, mutation.ttl_seconds),
        row: CellRow::default(),
    };
    if is_insert {
        says.row.liveness = Some(Liveness { timestamp: says.timestamp, expiry: says.expiry });
    }
    operations.iter().for_each(|operation| says.take(operation));
    if let Some(deleted_at) = deleted_at {
        says.row.delete_up_to(deleted_at);
    }
    let says = says.row;
    let kept = target.take_kept(&key);
    if !counts && target.table.shared.cells.has_met_chunks() && patch(target, &place, &key, &says)?
    {
        return Ok(());
    }
    if kept.is_none() && target.adds_within() && add_within(target, &key, operations, deleted_at)? {
        return Ok(());
    }
    let found = match kept {
        Some(kept) => kept,
        None => target.find_at(place, key)?,
    };
    let mut after = found.to_row();
    let floor = deleted_at
        .map_or(server_micros, |deleted_at| server_micros.max(deleted_at.saturating_add(1)));
    for operation in operations {
        if let CellOperation::Add { column, delta } = operation {
            add(&mut after, *column, *delta, floor)?;
        }
    }
    after.merge(says);
    target.put(&found, after)
}

/// Returns when what is written now with a TTL expires.
pub(super) fn expiry(now: u64, ttl_seconds: Option<u32>) -> Option<Expiry> {
    let ttl_seconds = ttl_seconds.filter(|ttl| *ttl > 0)?;
    Some(Expiry { ttl_seconds, at_seconds: now.saturating_add(u64::from(ttl_seconds)) })
}

/// The cells and deletions that a mutation writes to one row, before they are merged with it.
struct Says<'t, 'a> {
    target: &'t Target<'a>,
    timestamp: Timestamp,
    expiry: Option<Expiry>,
    row: CellRow,
}

impl Says<'_, '_> {
    fn take(&mut self, operation: &CellOperation) {
        match operation {
            CellOperation::Set { column, value } => self.set(*column, Bytes::new(), value),
            CellOperation::Delete { column } => self.kill(*column, Bytes::new()),
            CellOperation::SetElement { column, path, value } => {
                self.set(*column, path.clone(), value);
            }
            CellOperation::DeleteElement { column, path } => self.kill(*column, path.clone()),
            CellOperation::Clear { column } => self.clear(*column, self.timestamp),
            CellOperation::Overwrite { column, elements } => {
                self.clear(*column, self.timestamp.saturating_sub(1));
                for (path, value) in elements {
                    self.set(*column, path.clone(), value);
                }
            }
            CellOperation::OverwriteList { column, values } => {
                self.clear(*column, self.timestamp.saturating_sub(1));
                self.list(*column, values, false);
            }
            CellOperation::Append { column, values } => self.list(*column, values, false),
            CellOperation::Prepend { column, values } => self.list(*column, values, true),
            CellOperation::Add { .. } => {}
        }
    }

    fn set(&mut self, column: u32, path: Bytes, value: &Bytes) {
        let content = Content::Live { value: value.clone(), expiry: self.expiry };
        self.row.take_cell(CellKey { column, path }, Cell { timestamp: self.timestamp, content });
    }

    fn kill(&mut self, column: u32, path: Bytes) {
        let content = Content::Dead { at_seconds: self.target.now };
        self.row.take_cell(CellKey { column, path }, Cell { timestamp: self.timestamp, content });
    }

    fn clear(&mut self, column: u32, timestamp: Timestamp) {
        let deletion = Deletion { timestamp, at_seconds: self.target.now };
        self.row.take_collection(column, deletion);
    }

    /// Elements get places by the time at which they are put: behind or before all earlier ones.
    fn list(&mut self, column: u32, values: &[Bytes], before: bool) {
        let micros = self.target.tables.places.next(self.target.writer.now_micros);
        let time = if before { PLACE_ZERO - micros } else { PLACE_ZERO + micros };
        let random = self.target.tables.environment.random.number().to_be_bytes();
        for (position, value) in (0u32..).zip(values) {
            let mut path = Vec::with_capacity(16);
            path.extend_from_slice(&time.to_be_bytes());
            path.extend_from_slice(&position.to_be_bytes());
            path.extend_from_slice(random.get(..4).unwrap_or_default());
            self.set(column, path.into(), value);
        }
    }
}

/// Places before it were put before a list, places behind it behind.
const PLACE_ZERO: u64 = 1 << 63;

/// Adds to a counter. Its timestamp rises, so that the later value wins wherever rows are merged.
fn add(row: &mut CellRow, column: u32, delta: i64, floor: Timestamp) -> Result<()> {
    let key = CellKey { column, path: Bytes::new() };
    let (count, at) = match row.cells.get(&key) {
        Some(Cell { timestamp, content: Content::Live { value, .. } }) => {
            let bytes = value.as_ref().try_into();
            let bytes = bytes.map_err(|_| Error::invalid("the column holds no counter"))?;
            (i64::from_be_bytes(bytes), *timestamp)
        }
        // Deleted: it starts at zero, behind its deletion.
        Some(Cell { timestamp, .. }) => (0, *timestamp),
        None => (0, Timestamp::MIN),
    };
    let timestamp = floor.max(at.saturating_add(1));
    let value = Bytes::copy_from_slice(&count.wrapping_add(delta).to_be_bytes());
    let content = Content::Live { value, expiry: None };
    row.cells.insert(key, Cell { timestamp, content });
    Ok(())
}

fn delete_row(
    target: &Target<'_>,
    mutation: &Mutation,
    clustering: &[ClusteringValue],
) -> Result<()> {
    let place =
        Place { partition: mutation.partition.clone(), clustering: Some(clustering.to_vec()) };
    let key = target.layout.keys.place(&place)?;
    let found = match target.take_kept(&key) {
        Some(kept) => kept,
        None => target.find_at(place, key)?,
    };
    let mut after = found.to_row();
    after.delete_up_to(mutation.timestamp);
    target.put(&found, after)?;
    let deletion = Deletion { timestamp: mutation.timestamp, at_seconds: target.now };
    let rest = target.rest_of(&found.key);
    target.note_deletion(mutation.timestamp);
    let tombstone = {
        let mut buffer = target.writer.buffer.borrow_mut();
        tombstones::put_row_tombstone(&mut buffer, target.table.id, rest, deletion)?
    };
    if let Some(tombstone) = tombstone {
        target.put_tombstone_due(&tombstone, target.now);
    }
    Ok(())
}
