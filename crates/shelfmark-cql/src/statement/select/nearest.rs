//! `ORDER BY v ANN OF w LIMIT n`: the rows whose vectors are most similar to one that is given.
//!
//! Every row that the restrictions let through is compared, so the answer is exact, where Cassandra's
//! is approximate. What it is not: a graph of neighbours; the cost is that of reading these rows.
//!
//! Source of refusals and limits: Apache Cassandra 5.0, storage attached indexes, read 2026-11.

use bytes::Bytes;
use shelfmark_cql_protocol::{BoundValue, Consistency, Result, invalid};
use shelfmark_cql_syntax::ast;
use shelfmark_cql_types::CqlType;
use shelfmark_cql_types::function::Similarity;
use shelfmark_cql_types::term::{Expr, Receiver, Scope, prepare};

use super::prepare::FILTERING;
use super::run::{Flow, Page, Row, Run};
use super::source::Position;
use crate::outcome::RowBuffer;
use crate::schema::{Column, Table};
use crate::statement::relation::{Restrictions, Test};

/// Most rows that may be asked for.
const ROWS_MAX: u64 = 1_000;

/// The ANN ordering of a query: the vector, its column and the similarity.
#[derive(Debug, Clone)]
pub(crate) struct Nearest {
    /// The place of the column of vectors.
    pub(super) at: usize,
    vector: Expr,
    similarity: Similarity,
}

/// Prepares `ANN OF`; `None` where nothing is ordered so.
///
/// # Errors
///
/// * `Invalid`: something else is to be ordered too, or there is no index on vectors.
pub(super) fn nearest(
    select: &ast::Select,
    table: &Table,
    scope: &mut Scope<'_>,
) -> Result<Option<Nearest>> {
    let mut wanted = select.order_by.iter().filter_map(|own| Some((own, own.ann_of.as_ref()?)));
    let Some((ordering, vector)) = wanted.next() else { return Ok(None) };
    if wanted.next().is_some() {
        return invalid("Cannot specify more than one ANN ordering");
    }
    if select.order_by.len() > 1 {
        return invalid("ANN ordering does not support any other ordering");
    }
    if ordering.direction == ast::Direction::Descending {
        return invalid("Descending ANN ordering is not supported");
    }
    let Some((at, column)) = table.find(ordering.column.as_str()) else { return Ok(None) };
    let vector = prepare(vector, Receiver { name: &column.name, ty: &column.kind }, scope)?;
    if !is_floats(&column.kind) {
        return invalid("ANN ordering is only supported on float vector indexes");
    }
    let mut indexes = table.indexes.iter().filter(|index| index.column == column.name);
    let Some(index) = indexes.find(|index| index.is_sai() && index.is_public) else {
        return invalid(match is_indexed(table, column) {
            true => FILTERING,
            false => "ANN ordering by vector requires the column to be indexed",
        });
    };
    Ok(Some(Nearest { at, vector, similarity: Similarity::of_options(&index.options) }))
}

pub(super) fn is_floats(ty: &CqlType) -> bool {
    matches!(ty, CqlType::Vector { element, .. } if **element == CqlType::Float)
}

fn is_served(table: &Table, column: &Column) -> bool {
    table.indexes.iter().any(|index| index.is_sai() && index.column == column.name)
}

fn is_indexed(table: &Table, column: &Column) -> bool {
    table.indexes.iter().any(|index| index.column == column.name)
}

/// Refuses restrictions of vectors that have an index: it serves nothing else.
pub(super) fn check_vectors(
    own: &Restrictions,
    table: &Table,
    nearest: Option<&Nearest>,
) -> Result<()> {
    for (at, tests) in &own.single {
        let Some(column) = table.columns.get(*at) else { continue };
        if !is_floats(&column.kind) || !is_indexed(table, column) {
            continue;
        }
        let is_equal = tests.iter().any(|test| matches!(test, Test::Equal(_)));
        if is_equal && nearest.is_some_and(|nearest| nearest.at == *at) {
            return invalid(format!(
                "{} cannot be restricted by more than one relation if it includes an Equal",
                column.name
            ));
        }
        return invalid("Vector indexes only support ANN queries");
    }
    Ok(())
}

impl Nearest {
    /// Refuses what cannot be together with it.
    pub(super) fn check(
        &self,
        select: &ast::Select,
        own: &Restrictions,
        table: &Table,
    ) -> Result<()> {
        let mut partition = (0..table.partition_count).map(|at| own.of(at));
        if (0..table.partition_count).any(|at| matches!(own.of(at), [Test::In(_)])) {
            return invalid(
                "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            );
        }
        let in_partition = partition.all(|tests| matches!(tests, [Test::Equal(_)]));
        let key_count = table.partition_count + table.clustering_count;
        let is_open = |at: &usize| {
            let of_key = in_partition && *at < key_count;
            let column = table.columns.get(*at);
            !of_key && column.is_some_and(|column| !is_served(table, column))
        };
        if own.single.keys().any(is_open) || (!in_partition && !own.multi.is_empty()) {
            return invalid(
                "ANN ordering by vector requires all restricted column(s) to be indexed",
            );
        }
        if select.distinct {
            return invalid(
                "SELECT DISTINCT with WHERE clause only supports restriction by partition key and/or static columns.",
            );
        }
        Ok(())
    }
}

/// Returns the message for what would need more than one node.
pub(super) fn downgraded(consistency: Consistency) -> Option<String> {
    if matches!(consistency, Consistency::One | Consistency::LocalOne) {
        return None;
    }
    Some(format!(
        "Top-K queries can only be run with consistency level ONE / LOCAL_ONE / NODE_LOCAL. Consistency level {} was requested. Downgrading the consistency level to ONE.",
        consistency.name()
    ))
}

/// Returns the message for a limit that one page is too small for: all rows come on it.
pub(super) fn paged(page_size: Option<u64>, limit: Option<u64>) -> Option<String> {
    let (size, limit) = (page_size?, limit?);
    (size < limit).then(|| {
        format!(
            "Top-K queries do not support paging and the page size is set to {size}, which is less than LIMIT {limit}. The page size has been set to {limit} to match the LIMIT."
        )
    })
}

impl Page<'_> {
    /// Finds the rows that are most similar, the nearest first.
    pub(super) fn nearest(&mut self, nearest: &Nearest, run: &Run<'_>) -> Result<RowBuffer> {
        let Some(limit) = self.limit else {
            return invalid(
                "Top-K queries must have a limit specified and the limit must be less than the query page size",
            );
        };
        if limit > ROWS_MAX {
            return invalid(format!(
                "Use of ANN OF in an ORDER BY clause requires a LIMIT that is not greater than {ROWS_MAX}. LIMIT was {limit}"
            ));
        }
        if self.per_partition.is_some() {
            return invalid("Top-K queries do not support per-partition limits");
        }
        let name =
            self.select.table.columns.get(nearest.at).map_or("", |column| &*column.name).to_owned();
        let wanted = match nearest.vector.eval(run.env(None))? {
            BoundValue::Bytes(bytes) => bytes,
            BoundValue::Null => {
                return invalid(format!("Unsupported null value for column {name}"));
            }
            BoundValue::Unset => {
                return invalid(format!("Unsupported unset value for column {name}"));
            }
        };
        nearest.similarity.check(&wanted)?;
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found: Vec<(f32, Row)> = Vec::new();
        let keep = |found: &mut Vec<(f32, Row)>| {
            // Of two that are equally near the first in the order of tokens stays the first.
            found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            found.truncate(most);
        };
        let mut end = Position::default();
        self.each_row(None, &mut end, &mut |page, row| {
            let own: Option<Bytes> = page.value(&row, nearest.at);
            let score = own.and_then(|own| nearest.similarity.score(&own, &wanted));
            if let Some(score) = score {
                found.push((score, row));
            }
            if found.len() > most.saturating_mul(2) {
                keep(&mut found);
            }
            Ok(Flow::More)
        })?;
        keep(&mut found);
        let mut buffer = RowBuffer::of(run.options);
        let select = std::sync::Arc::clone(self.select);
        for (_, row) in found {
            self.put(&select, row, &[], &mut buffer)?;
        }
        Ok(buffer)
    }
}
