//! A table of items after a loss: its counts, its shards and its change log.

use bytes::Bytes;
use shelfmark_records::keys::{Tree, tree_key, tree_range};
use shelfmark_store::{KeyRange, Write as StoreWrite};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{Items, StoredItem, partition_count_key, table_count_key};
use shelfmark_tables::rows::{Moment, RawRow, View as _, Walk};

use super::pen::Pen;
use super::rows::{rows as each_row, tell_queued};
use super::{Mended, Teller};
use crate::verify::each_change;

/// Counts rows, and corrects what was kept of their number.
struct Counting<'t> {
    table: &'t Table,
    all: u64,
    /// The prefix of the keys of the partition's rows, the key of its count, and its rows so far.
    partition: Option<(Bytes, Bytes, u64)>,
    corrected: u64,
}

/// Removes remains of rows, and corrects due times, counts and shards.
pub(super) fn rows(pen: &mut Pen<'_>, table: &Table, tell: &mut Teller<'_>) -> Result<()> {
    let moment = Moment::take(&pen.inner.store)?;
    let kind = Items { table, now: pen.inner.environment.clock.now_seconds() };
    let mut counting = Counting { table, all: 0, partition: None, corrected: 0 };
    let queued = each_row(pen, &moment, &kind, tell, |pen, raw, row| {
        if !raw.chunks.is_empty() {
            pen.inner.catalogue.set_chunked(table)?;
        }
        counting.add(pen, &moment, raw, row)
    })?;
    let mut corrected = counting.end(pen, &moment)?;
    // What is walked over from here on is as the writes so far have left it.
    pen.end()?;
    corrected += empty_partitions(pen, table)?;
    corrected += super::shards::renew(pen, table)?;
    pen.end()?;
    corrected += super::shards::renew_bytes(pen, table)?;
    pen.end()?;
    if corrected > 0 {
        tell(Mended::Counts { table: table.schema.name.clone(), corrected });
    }
    tell_queued(&kind, queued, tell);
    Ok(())
}

impl Counting<'_> {
    fn add(
        &mut self,
        pen: &mut Pen<'_>,
        moment: &Moment,
        raw: &RawRow,
        row: &StoredItem,
    ) -> Result<()> {
        if !self.table.counts_exactly() {
            return Ok(());
        }
        self.all += 1;
        match &mut self.partition {
            Some((rows, _, count)) if raw.key.starts_with(rows) => *count += 1,
            _ => {
                self.end_partition(pen, moment)?;
                let values = &row.key.partition;
                let rows = self.table.key.partition_key(values)?;
                let key = partition_count_key(self.table, values)?;
                self.partition = Some((rows.into(), key, 1));
            }
        }
        Ok(())
    }

    fn end_partition(&mut self, pen: &mut Pen<'_>, moment: &Moment) -> Result<()> {
        if let Some((_, key, count)) = self.partition.take() {
            self.corrected += u64::from(put_count(pen, moment, key, count)?);
        }
        Ok(())
    }

    /// Returns how many counts were not right.
    fn end(mut self, pen: &mut Pen<'_>, moment: &Moment) -> Result<u64> {
        if self.table.counts_exactly() {
            self.end_partition(pen, moment)?;
            let key = table_count_key(self.table.id);
            self.corrected += u64::from(put_count(pen, moment, key, self.all)?);
        }
        Ok(self.corrected)
    }
}

/// Has a counter say `count`. Returns whether it did not.
pub(crate) fn put_count(
    pen: &mut Pen<'_>,
    moment: &Moment,
    key: Bytes,
    count: u64,
) -> Result<bool> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let value = StoreWrite::counter_value(count);
    let is_right = match moment.get(&key)? {
        Some(kept) => kept == value,
        None => count == 0,
    };
    if !is_right {
        pen.put(key, value)?;
    }
    Ok(!is_right)
}

/// Removes the counts of partitions that have no rows. Returns how many were not 0.
fn empty_partitions(pen: &mut Pen<'_>, table: &Table) -> Result<u64> {
    let moment = Moment::take(&pen.inner.store)?;
    let prefix = tree_key(Tree::Counts, table.id).len();
    let mut removed = 0;
    let mut walk = Walk::over(tree_range(Tree::Counts, table.id));
    while let Some(row) = walk.next(&moment)? {
        let Some((1, partition)) = row.key.get(prefix..).and_then(<[u8]>::split_first) else {
            continue;
        };
        let rows = [table.key.prefix.as_ref(), partition].concat();
        if Walk::over(KeyRange::prefix(rows)).next(&moment)?.is_none() {
            removed += u64::from(StoreWrite::counter(&row.value).ok() != Some(0));
            pen.delete(row.key)?;
        }
    }
    Ok(removed)
}

/// Removes the remains of changes from the change log.
pub(super) fn changes(pen: &mut Pen<'_>, table: &Table, tell: &mut Teller<'_>) -> Result<()> {
    let moment = Moment::take(&pen.inner.store)?;
    let mut removed = 0;
    each_change(&moment, table, |keys, outcome| {
        if outcome.is_err() {
            removed += 1;
            for key in keys {
                pen.delete(key.clone())?;
            }
        }
        Ok(())
    })?;
    pen.end()?;
    if removed > 0 {
        tell(Mended::ChangesRemoved { table: table.schema.name.clone(), removed });
    }
    Ok(())
}
