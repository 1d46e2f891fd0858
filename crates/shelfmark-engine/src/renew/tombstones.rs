//! Corrects tombstones and high-water marks of a table after some of its keys were lost.
//!
//! They agree with each other and with the rows again, and deletions that came undone are done
//! again.
//!
//! What it is not: a way to have lost tombstones back. A write that is later than nothing any more counts.
//!
//! Nobody may write to the table meanwhile, nor may this process have done so before.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::catalogue::keys::{format_record, put_table_name};
use shelfmark_records::cells::due::due_key;
use shelfmark_records::cells::tombstones::{
    HighWater, RangeTombstone, TombstoneKind, bound_key, high_water_key, range_key, range_prefixes,
};
use shelfmark_records::cells::{CellsLayout, Deletion, Timestamp};
use shelfmark_records::keys::{Tree, tree_key, tree_range};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{KeyRange, Row};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::cells::{Cells, put_range_tombstone, stored_high_water};
use shelfmark_tables::rows::{Found, Moment, Walk, damage};

use super::{Pen, persistently};
use crate::inner::Inner;

/// A summary of the rows of a table that were read.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct CellsSeen {
    /// The latest timestamp of anything in them.
    pub(crate) latest: Option<Timestamp>,
    /// One of them has several chunks.
    pub(crate) has_chunks: bool,
}

/// Has the high-water mark of a table say no less than what was seen. Returns whether it did.
pub(crate) fn correct_high_water(
    pen: &mut Pen<'_>,
    moment: &Moment,
    table: &Table,
    seen: CellsSeen,
) -> Result<bool> {
    let Some(latest) = seen.latest else { return Ok(false) };
    let kept = damage(stored_high_water(moment, table.id))?.ok().flatten();
    let wanted = match kept {
        Some(kept) => HighWater {
            until: kept.until.max(latest),
            has_chunks: kept.has_chunks || seen.has_chunks,
        },
        None if table.cells()?.blind_columns.is_some() => {
            HighWater { until: latest, has_chunks: seen.has_chunks }
        }
        None => return Ok(false),
    };
    if kept == Some(wanted) {
        return Ok(false);
    }
    let (key, value) = format_record();
    pen.put(key, value)?;
    pen.put(high_water_key(table.id), wanted.encode())?;
    Ok(kept.is_some())
}

/// The numbers of corrections that were made to a table's tombstones.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct TombstonesCorrected {
    /// Tombstones that concerned the same rows, or the bound of all.
    pub(crate) tombstones: u64,
    /// Tombstones that were not to be forgotten some day.
    pub(crate) queued: u64,
    /// Deletions that were done again.
    pub(crate) done_again: u64,
}

/// Puts the tombstones of a table right, and does the deletions that they are of again where rows that are
/// as old came back.
pub(crate) fn correct_tombstones(inner: &Inner, table: &Arc<Table>) -> Result<TombstonesCorrected> {
    let moment = Moment::take(&inner.store)?;
    let mut pen = Pen::new(inner);
    let mut work = Work { table, layout: table.cells()?, out: TombstonesCorrected::default() };
    let clusters = work.walk(&mut pen, &moment)?;
    pen.end()?;
    for cluster in clusters {
        work.lay_again(inner, &cluster)?;
    }
    work.delete_again(inner)?;
    Ok(work.out)
}

struct Work<'t> {
    table: &'t Arc<Table>,
    layout: &'t CellsLayout,
    out: TombstonesCorrected,
}

impl Work<'_> {
    /// Looks at every tombstone. Returns those of ranges that concern the same rows.
    fn walk(&mut self, pen: &mut Pen<'_>, moment: &Moment) -> Result<Vec<Cluster>> {
        let prefix = tree_key(Tree::Tombstones, self.table.id).len();
        let (mut latest, mut bound) = (None, None);
        let (mut cluster, mut clusters) = (Cluster::default(), Vec::new());
        let mut walk = Walk::over(tree_range(Tree::Tombstones, self.table.id));
        while let Some(Row { key, value }) = walk.next(moment)? {
            let rest = key.get(prefix..).unwrap_or_default();
            let Ok(tombstone) = damage(self.layout.tombstone(rest, &value))? else {
                pen.delete(key)?;
                self.out.tombstones += 1;
                continue;
            };
            match tombstone.kind {
                TombstoneKind::Bound => bound = Some(tombstone.timestamp),
                TombstoneKind::Purge | TombstoneKind::HighWater => continue,
                TombstoneKind::Range(_) | TombstoneKind::Row => {
                    latest = latest.max(Some(tombstone.timestamp));
                    let (rest, second) = self.layout.due_of_tombstone(rest, tombstone.at_seconds);
                    let due = due_key(self.table.id, second, &rest);
                    self.out.queued += u64::from(pen.put_due(moment, self.table, due)?);
                }
            }
            if let TombstoneKind::Range(kind) = tombstone.kind {
                let deletion =
                    Deletion { timestamp: tombstone.timestamp, at_seconds: tombstone.at_seconds };
                let (start, end) = tombstone.range;
                // They come level by level, in the order of their ends.
                let is_apart = |last: &RangeTombstone| cluster.kind != kind || last.end <= start;
                if cluster.tombstones.last().is_some_and(is_apart) {
                    keep_if_several(&mut clusters, std::mem::take(&mut cluster));
                }
                cluster.kind = kind;
                cluster.tombstones.push(RangeTombstone { start, end, deletion });
            }
        }
        keep_if_several(&mut clusters, cluster);
        if let Some(latest) = latest.filter(|latest| Some(*latest) > bound) {
            pen.put(bound_key(self.table.id), Bytes::copy_from_slice(&latest.to_be_bytes()))?;
            self.out.tombstones += 1;
        }
        Ok(clusters)
    }

    /// Lays tombstones that concern the same rows over each other, as if each came late.
    fn lay_again(&mut self, inner: &Inner, cluster: &Cluster) -> Result<()> {
        persistently(|| {
            let mut buffer = Buffer::new(inner.store.snapshot()?);
            for tombstone in &cluster.tombstones {
                buffer.delete(range_key(self.table.id, cluster.kind, &tombstone.end));
            }
            let view = RefCell::new(buffer);
            let prefix = tree_key(Tree::Tombstones, self.table.id).len();
            for tombstone in &cluster.tombstones {
                for (key, at_seconds) in put_range_tombstone(&view, self.table.id, tombstone)?.keys
                {
                    let rest = key.get(prefix..).unwrap_or_default();
                    let (rest, second) = self.layout.due_of_tombstone(rest, at_seconds);
                    let mut name = Vec::new();
                    put_table_name(&mut name, &self.table.schema.name);
                    view.borrow_mut().put(due_key(self.table.id, second, &rest), name);
                }
            }
            Ok(inner.store.commit(view.into_inner().into_commit())?)
        })?;
        self.out.tombstones += cluster.tombstones.len() as u64;
        Ok(())
    }

    /// Deletes what is as old as the tombstone of a range that it lies in.
    fn delete_again(&mut self, inner: &Inner) -> Result<()> {
        let moment = Moment::take(&inner.store)?;
        for prefix in range_prefixes(self.table.id) {
            let mut walk = Walk::over(KeyRange::prefix(prefix.clone()));
            while let Some(Row { key, value }) = walk.next(&moment)? {
                let end = key.get(prefix.len()..).unwrap_or_default();
                let tombstone = RangeTombstone::decode(end, &value)?;
                if self.is_undone(&moment, &tombstone)? {
                    persistently(|| inner.purge_range(self.table, &tombstone))?;
                    self.out.done_again += 1;
                }
            }
        }
        Ok(())
    }

    fn is_undone(&self, moment: &Moment, tombstone: &RangeTombstone) -> Result<bool> {
        let key = |rest: &Bytes| Bytes::from([self.layout.keys.prefix.as_ref(), rest].concat());
        let mut rows =
            Walk::over(KeyRange { start: key(&tombstone.start), end: Some(key(&tombstone.end)) });
        let kind = Cells { table: self.table, layout: self.layout };
        while let Some(found) = rows.next_of(moment, &kind)? {
            if let Found::Row(_, row) = found
                && row.has_of_before(tombstone.deletion.timestamp)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Tombstones of one level that concern the same rows.
#[derive(Default)]
struct Cluster {
    kind: u8,
    tombstones: Vec<RangeTombstone>,
}

fn keep_if_several(clusters: &mut Vec<Cluster>, cluster: Cluster) {
    if cluster.tombstones.len() > 1 {
        clusters.push(cluster);
    }
}
