//! Bytes and counts, from what is declared.

use crate::model::schema::{Family, Part, Schema, Stored, Table};
use crate::model::{ColumnPath, Model, Term, Type};
use crate::prove::canon::canonical;

/// Bytes of a row beside its values: head, lengths and the record of the store.
///
/// Source: `docs/format.md`, records.
pub(crate) const ROW_OVERHEAD_BYTES: f64 = 40.0;

/// Average bytes of one value.
pub(crate) fn value_bytes(model: &Model, relation: usize, path: &[usize]) -> f64 {
    let owner = model.path_owner(relation, path);
    let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
    let Some(column) = column else { return 16.0 };
    if let Some(avg) = column.facts.get("avg") {
        return *avg;
    }
    match &column.ty {
        Type::Bool => 1.0,
        Type::Int(_) | Type::Timestamp | Type::Date => 8.0,
        Type::Uuid | Type::Ulid => 16.0,
        Type::Enum(_) => 8.0,
        Type::Text(domain) => domain.max.map_or(32.0, |max| (max as f64 / 2.0).min(64.0)),
        Type::Bytes => column.facts.get("max").copied().unwrap_or(256.0),
        Type::List(_, max) => max.map_or(64.0, |max| max as f64 * 16.0),
    }
}

/// Average bytes of a row: key, stored attributes, overhead; collections at their average.
pub(crate) fn row_bytes(model: &Model, family: &Family) -> f64 {
    let mut bytes = ROW_OVERHEAD_BYTES;
    for part in family.key.iter().flat_map(|column| &column.parts) {
        bytes += match part {
            Part::Literal(text) => text.len() as f64,
            Part::End => 1.0,
            Part::Hole { term: Term::Column(path), .. } => value_bytes(model, family.source, path),
            Part::Hole { .. } => 8.0,
        };
    }
    for stored in &family.stored {
        bytes += match stored {
            Stored::Path(path) => value_bytes(model, family.source, path),
            Stored::Count { .. } => 8.0,
            Stored::Collect { relation, via, path, .. } => {
                let each = value_bytes(model, *relation, path);
                each * elements(model, *relation, *via, "avg").unwrap_or(1.0)
            }
        };
    }
    bytes
}

/// How many tuples share one value of a column, by a declared figure.
pub(crate) fn elements(model: &Model, relation: usize, via: usize, figure: &str) -> Option<f64> {
    let relation = model.relation(relation);
    relation
        .fanouts
        .iter()
        .filter(|fanout| fanout.from == [via])
        .find_map(|fanout| fanout.facts.get(figure).copied())
}

/// The attributes of the partition key; `None` when a part is computed.
pub(crate) fn partition_paths(
    model: &Model,
    table: &Table,
    family: &Family,
) -> Option<Vec<ColumnPath>> {
    let mut paths = Vec::new();
    for part in family.key.iter().take(table.partition).flat_map(|column| &column.parts) {
        match part {
            Part::Hole { term: Term::Column(path), .. } => {
                paths.push(canonical(model, family.source, path));
            }
            Part::Hole { .. } => return None,
            _ => {}
        }
    }
    Some(paths)
}

/// Rows of the family in one partition now, by a declared figure.
pub(crate) fn partition_rows(
    model: &Model,
    schema: &Schema,
    family: &Family,
    figure: &str,
) -> Option<f64> {
    let table = schema.tables.get(family.table)?;
    if table.partition == 0 {
        return None;
    }
    let paths = partition_paths(model, table, family)?;
    let relation = model.relation(family.source);
    if paths.is_empty() {
        let count = relation.facts.get("count").copied();
        return count.map(|count| count * sparse_share(model, family));
    }
    let known: std::collections::BTreeSet<ColumnPath> = paths.iter().cloned().collect();
    if crate::model::closure::determines_tuple(model, family.source, &known) {
        return Some(1.0);
    }
    relation
        .fanouts
        .iter()
        .filter(|fanout| fanout.from.iter().all(|column| known.contains(&vec![*column])))
        .filter_map(|fanout| fanout.facts.get(figure).or(fanout.facts.get("max")).copied())
        .min_by(f64::total_cmp)
}

/// The share of the source's tuples that have a row: those with every optional part of the key.
fn sparse_share(model: &Model, family: &Family) -> f64 {
    let mut share = 1.0;
    for path in crate::prove::read::all_key_paths(model, family) {
        let owner = model.path_owner(family.source, &path);
        let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
        if let Some(column) = column.filter(|column| column.optional) {
            share *= column.facts.get("sparse").copied().unwrap_or(1.0);
        }
    }
    share
}

/// By how much the rows of a relation grow in so many seconds.
pub(crate) fn growth(model: &Model, relation: usize, seconds: f64) -> f64 {
    const MONTH_SECONDS: f64 = 30.5 * 86_400.0;
    let monthly =
        model.relation(relation).facts.get("growth").copied().unwrap_or(0.0) * MONTH_SECONDS;
    (1.0 + monthly).powf(seconds / MONTH_SECONDS)
}
