//! Estimated sizes of tables: connectors of Spark and Hadoop cut a table into splits by them.
//!
//! What it is not: a scan. The engine looks at a few rows of each range; see
//! [`Engine::estimate_cells`].
//!
//! Invariant: the ranges of a table cover every token once.

use std::ops::Bound;

use bytes::Bytes;
use shelfmark_engine::{CellEstimate, Engine};

use super::local::Node;
use super::value::Cells;
use super::value::{bigint, text};
use crate::schema::{Schema, Table};

/// A range of tokens: behind the first, up to the second. The least token stands for both ends.
type Range = (i64, i64);

/// Returns the ranges of the node, in the order of their texts, as they are clustered.
fn ranges(node: &Node) -> Vec<Range> {
    // The whole ring, whoever answers.
    let mut tokens = node.tokens_of(None);
    tokens.sort_unstable();
    let starts = std::iter::once(i64::MIN).chain(tokens.iter().copied());
    let ends = tokens.iter().copied().chain(std::iter::once(i64::MIN));
    let mut ranges: Vec<Range> = starts.zip(ends).collect();
    ranges.sort_by_key(|(start, _)| start.to_string());
    ranges
}

fn bounds(range: &Range) -> (Bound<i64>, Bound<i64>) {
    let (start, end) = *range;
    (
        // The least token itself belongs to nobody else.
        if start == i64::MIN { Bound::Unbounded } else { Bound::Excluded(start) },
        if end == i64::MIN { Bound::Unbounded } else { Bound::Included(end) },
    )
}

/// Estimates each range of each table that is stored, of one keyspace or of all.
fn estimated<'s>(
    engine: &Engine,
    schema: &'s Schema,
    partition: Option<&[Bytes]>,
    ranges: &[Range],
) -> Vec<(&'s Table, Vec<CellEstimate>)> {
    let wanted = partition.and_then(|key| key.first());
    let keyspaces = schema.keyspaces.values();
    let keyspaces =
        keyspaces.filter(|own| wanted.is_none_or(|wanted| own.name.as_bytes() == &wanted[..]));
    let parts: Vec<_> = ranges.iter().map(bounds).collect();
    keyspaces
        .flat_map(|keyspace| keyspace.tables.values())
        .filter_map(|table| {
            // A table that is gone by now, or cannot be read, is left out.
            let found = engine.estimate_cells(table.stored.as_deref()?, &parts).ok()?;
            Some((&**table, found))
        })
        .collect()
}

fn row(table: &Table, kind: Option<&str>, range: &Range, estimate: CellEstimate) -> Cells {
    let number = |number: u64| bigint(i64::try_from(number).unwrap_or(i64::MAX));
    let mut row = vec![("keyspace_name", text(&table.keyspace)), ("table_name", text(&table.name))];
    row.extend(kind.map(|kind| ("range_type", text(kind))));
    row.extend([
        ("range_start", text(&range.0.to_string())),
        ("range_end", text(&range.1.to_string())),
        ("mean_partition_size", number(estimate.partition_size_bytes)),
        ("partitions_count", number(estimate.partitions)),
    ]);
    row
}

/// Returns the rows of `system.size_estimates`.
pub(super) fn size_estimates(
    node: &Node,
    engine: &Engine,
    schema: &Schema,
    partition: Option<&[Bytes]>,
) -> Vec<Cells> {
    let ranges = ranges(node);
    let tables = estimated(engine, schema, partition, &ranges);
    let rows = tables.into_iter().flat_map(|(table, estimates)| {
        let pairs = ranges.iter().zip(estimates);
        pairs.map(move |(range, estimate)| row(table, None, range, estimate))
    });
    rows.collect()
}

/// Returns the rows of `system.table_estimates`: the one node owns all ranges, first and alone.
pub(super) fn table_estimates(
    node: &Node,
    engine: &Engine,
    schema: &Schema,
    partition: Option<&[Bytes]>,
) -> Vec<Cells> {
    let ranges = ranges(node);
    let mut rows = Vec::new();
    for (table, estimates) in estimated(engine, schema, partition, &ranges) {
        for kind in ["local_primary", "primary"] {
            let pairs = ranges.iter().zip(&estimates);
            rows.extend(pairs.map(|(range, own)| row(table, Some(kind), range, *own)));
        }
    }
    rows
}

/// Returns the rows of `system_views.disk_usage`: the size that the estimates come to.
pub(super) fn disk_usage(node: &Node, engine: &Engine, schema: &Schema) -> Vec<Cells> {
    let tables = estimated(engine, schema, None, &ranges(node));
    let rows = tables.into_iter().map(|(table, estimates)| {
        let sizes =
            estimates.iter().map(|own| own.partitions.saturating_mul(own.partition_size_bytes));
        let mebibytes = sizes.fold(0, u64::saturating_add) / (1024 * 1024);
        vec![
            ("keyspace_name", text(&table.keyspace)),
            ("table_name", text(&table.name)),
            ("mebibytes", bigint(i64::try_from(mebibytes).unwrap_or(i64::MAX))),
        ]
    });
    rows.collect()
}
