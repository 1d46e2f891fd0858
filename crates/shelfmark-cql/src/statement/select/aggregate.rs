//! Rows counted and grouped: a row of the answer for each group, in pages of as many groups.
//!
//! Invariant: no group reaches over a page. A page ends before the first row of the group behind it.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_cql_protocol::Result;
use shelfmark_cql_types::function::Accumulator;

use super::held::Held;
use super::run::{Flow, Page, Row};
use super::source::Position;
use super::{Access, Select};
use crate::outcome::RowBuffer;
use crate::statement::relation::Test;

/// The memory that the value of an aggregate takes beside its bytes.
const VALUE_BYTES: usize = 64;

/// Rows of one group, counted.
struct Group {
    key: Vec<Option<Bytes>>,
    /// Groups of a `GROUP BY` do not reach over partitions.
    partition: Option<Bytes>,
    /// The first row: what is selected beside aggregates comes from it.
    first: Option<Row>,
    accumulators: Vec<Accumulator>,
}

impl Group {
    fn new(select: &Select, key: Vec<Option<Bytes>>, partition: Option<Bytes>) -> Self {
        let accumulators = select.aggregates.iter().map(|(own, _)| own.start()).collect();
        Self { key, partition, first: None, accumulators }
    }

    fn add(&mut self, page: &Page<'_>, row: Row) -> Result<()> {
        for ((_, arguments), accumulator) in
            page.select.aggregates.iter().zip(&mut self.accumulators)
        {
            let values: Vec<Option<Bytes>> = page.with_row(&row, &[], |env| {
                arguments.iter().map(|expr| expr.value(env, " in an aggregate")).collect()
            })?;
            let values: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
            accumulator.add(&page.run.context, &values)?;
        }
        page.run.context.keeps(self.accumulators.iter().map(Accumulator::state_bytes).sum())?;
        self.first.get_or_insert(row);
        Ok(())
    }
}

/// A group that waits to be sorted: its first row, and its aggregates.
type Unsorted = (Row, Vec<Option<Bytes>>);

/// The groups of one page.
struct Groups {
    open: Option<Group>,
    buffer: RowBuffer,
    /// Written on this page, and in all.
    on_page: u64,
    written: u64,
    /// Written of the partition that was written last.
    of_partition: (Option<Bytes>, u64),
    limit: u64,
    per_partition: u64,
    /// Groups that wait to be sorted, and what they hold of the memory budget; `None` where groups are
    /// written at once.
    unsorted: Option<(Held, Vec<Unsorted>)>,
}

impl Groups {
    /// Writes the open group.
    fn close(&mut self, page: &Page<'_>) -> Result<()> {
        let Some(full) = self.open.take() else { return Ok(()) };
        if full.partition != self.of_partition.0 {
            self.of_partition = (full.partition.clone(), 0);
        }
        if self.written >= self.limit || self.of_partition.1 >= self.per_partition {
            return Ok(());
        }
        self.on_page += 1;
        self.written += 1;
        self.of_partition.1 += 1;
        let values: Vec<Option<Bytes>> = full
            .accumulators
            .iter()
            .map(|own| Ok(own.finish(&page.run.context)?.map(Bytes::from)))
            .collect::<Result<_>>()?;
        let row = full.first.unwrap_or_else(|| Row::Computed(Vec::new()));
        if let Some((held, unsorted)) = &mut self.unsorted {
            held.add(&row)?;
            held.add_bytes(values.iter().flatten().map(|own| own.len() + VALUE_BYTES).sum())?;
            unsorted.push((row, values));
            return Ok(());
        }
        page.put(page.select, row, &values, &mut self.buffer)?;
        page.checked(&mut self.buffer).map(|_| ())
    }
}

impl Page<'_> {
    /// Reads rows into groups, and writes a row for each, until the page has as many as asked for.
    ///
    /// `sorts` says that groups of several partitions are put into one order: they are made partition
    /// by partition, and sorted and counted then.
    pub(super) fn aggregate(
        &mut self,
        page_size: Option<u64>,
        sorts: bool,
    ) -> Result<(RowBuffer, Option<Bytes>)> {
        let select = Arc::clone(self.select);
        let grouped = !select.group_by.is_empty();
        let sorts = sorts && grouped;
        let limit = self.limit.take().unwrap_or(u64::MAX);
        let pages = grouped && !sorts && !select.distinct;
        let page_size = page_size.filter(|_| pages).unwrap_or(u64::MAX);
        let start = self.position.clone();
        // Groups are counted here, not rows; of DISTINCT each partition has one row.
        let per_partition = match select.distinct {
            true => u64::MAX,
            false => self.per_partition.take().unwrap_or(u64::MAX),
        };
        let mut groups = Groups {
            open: None,
            buffer: RowBuffer::of(self.run.options),
            on_page: 0,
            written: start.answered,
            of_partition: (None, start.of_partition),
            limit: if sorts { u64::MAX } else { limit },
            per_partition,
            unsorted: sorts.then(|| (Held::of(self.run.options), Vec::new())),
        };
        let mut end = Position { of_partition: 0, ..start.clone() };
        let mut first = start.of_partition > 0;
        let done = self.each_row(None, &mut end, &mut |page, row| {
            let key = page.group_key(&row)?;
            let partition = page.partition(&row);
            if std::mem::take(&mut first) {
                // The page before ended within this partition.
                groups.of_partition.0.clone_from(&partition);
            }
            let ends = |own: &Group| grouped && (own.key != key || own.partition != partition);
            if groups.open.as_ref().is_some_and(ends) {
                groups.close(page)?;
                if groups.written >= groups.limit {
                    return Ok(Flow::Enough);
                }
                let has_given_all = groups.of_partition.1 >= groups.per_partition;
                if has_given_all && is_of_one_partition(&select) {
                    return Ok(Flow::Enough);
                }
                if groups.on_page >= page_size {
                    if groups.of_partition.0 != partition {
                        groups.of_partition.1 = 0;
                    }
                    return Ok(Flow::Before);
                }
            }
            groups
                .open
                .get_or_insert_with(|| Group::new(&select, key, partition))
                .add(page, row)?;
            Ok(Flow::More)
        })?;
        if !done {
            let (answered, of_partition) = (groups.written, groups.of_partition.1);
            let end = Position { answered, of_partition, ..end };
            return Ok((groups.buffer, Some(end.encode())));
        }
        // Aggregates of nothing are one row, groups of nothing are none.
        if !grouped && groups.open.is_none() {
            groups.open = Some(Group::new(&select, Vec::new(), None));
        }
        groups.close(self)?;
        if let Some((_held, all)) = groups.unsorted.take() {
            return Ok((self.sorted_groups(all, limit, groups.buffer)?, None));
        }
        self.per_partition = (per_partition < u64::MAX).then_some(per_partition);
        let (answered, of_partition) = (groups.written, groups.of_partition.1);
        let end = Position { answered, of_partition, ..Position::default() };
        let paging = self.behind_full(groups.on_page, Some(page_size), &end);
        Ok((groups.buffer, paging.filter(|_| groups.written < groups.limit)))
    }

    /// Writes the first `limit` of groups that were made partition by partition, in one order.
    fn sorted_groups(
        &self,
        mut all: Vec<Unsorted>,
        limit: u64,
        mut buffer: RowBuffer,
    ) -> Result<RowBuffer> {
        all.sort_by(|(a, _), (b, _)| self.in_order(a, b));
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        for (row, values) in all.into_iter().take(most) {
            self.put(self.select, row, &values, &mut buffer)?;
            buffer.check()?;
        }
        Ok(buffer)
    }

    /// Returns the partition of a row, where there are stored ones.
    fn partition(&self, row: &Row) -> Option<Bytes> {
        match row {
            Row::Stored(entry) if !self.select.group_by.is_empty() => Some(entry.partition.clone()),
            _ => None,
        }
    }

    fn group_key(&self, row: &Row) -> Result<Vec<Option<Bytes>>> {
        self.with_row(row, &[], |env| {
            self.select.group_by.iter().map(|expr| expr.value(env, " in GROUP BY")).collect()
        })
    }
}

/// Returns true if a read names one partition.
fn is_of_one_partition(select: &Select) -> bool {
    select.access == Access::Partitions
        && (0..select.table.partition_count)
            .all(|at| matches!(select.restrictions.of(at), [Test::Equal(_)]))
}
