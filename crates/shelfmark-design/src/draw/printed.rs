//! Lays out the rows that a schema prints of its document.
//!
//! What it is not: no state. A printed row may hold what no model allows (`D1` looks for that), and
//! need not say every attribute; what it leaves out is shown as `?`.
//!
//! Invariant: nothing is added to what is printed but keys that are computed from it.

use std::cmp::Ordering;

use super::aggregate::{Cells, Line};
use super::boxes::{key_columns, own_columns};
use shelfmark_design_language::model::schema::{
    ColumnKind, Family, FamilyId, Sample, Schema, Stored, TableId,
};
use shelfmark_design_language::model::{Model, Term, Type, Value};
use shelfmark_design_prove::eval::rows::{KeyValue, column};
use shelfmark_design_prove::eval::state::compare;

/// The sign for a value that a row does not print.
const UNSAID: &str = "?";

/// Returns the printed rows of a table or an index, in the order of their keys; those whose keys
/// are incomplete come last.
pub(super) fn lines(model: &Model, schema: &Schema, table: TableId) -> Vec<Line> {
    let Some(found) = schema.tables.get(table) else { return Vec::new() };
    let mut lines: Vec<(Vec<Option<KeyValue>>, Line)> = Vec::new();
    for sample in &schema.samples {
        for (id, family) in schema.of_table(table) {
            if id != sample.family && family.base != Some(sample.family) {
                continue;
            }
            let own = own_columns(schema, id).unwrap_or(family.key.len());
            let key = key(model, family, id, sample, own);
            // Whether an index has an entry cannot be told of a row that does not say its key.
            if family.base.is_some()
                && (key.contains(&None) || !is_in(model, schema, family, sample))
            {
                continue;
            }
            let texts: Vec<String> = key
                .iter()
                .enumerate()
                .map(|(at, value)| match (value, found.kinds.get(at)) {
                    (None, _) => UNSAID.to_owned(),
                    (Some(value), Some(ColumnKind::Typed(ty))) => value.text(ty),
                    (Some(value), _) => value.text(&Type::Int(None)),
                })
                .collect();
            let (head, tail) = texts.split_at(found.partition.min(texts.len()));
            let line = Line {
                family: id,
                partition: head.join(" · "),
                sort: tail.join(" · "),
                cells: cells(model, family, sample, own),
            };
            lines.push((key, line));
        }
    }
    lines.sort_by(|(a, _), (b, _)| in_order(a, b, &found.desc));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn in_order(a: &[Option<KeyValue>], b: &[Option<KeyValue>], desc: &[bool]) -> Ordering {
    for (at, pair) in a.iter().zip(b).enumerate() {
        let order = match pair {
            (Some(a), Some(b)) if desc.get(at) == Some(&true) => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Returns the key as it is printed, or else as its template composes it of the printed values.
fn key(
    model: &Model,
    family: &Family,
    id: FamilyId,
    sample: &Sample,
    own: usize,
) -> Vec<Option<KeyValue>> {
    let leaf = |term: &Term| match term {
        Term::Column(path) => said(sample, &model.path_text(family.source, path)).cloned(),
        _ => None,
    };
    let printed = if id == sample.family { sample.keys.as_slice() } else { &[] };
    family
        .key
        .iter()
        .take(own)
        .enumerate()
        .map(|(at, one)| match printed.get(at) {
            Some(text) => Some(KeyValue::Text(text.clone())),
            None => column(&one.parts, &leaf),
        })
        .collect()
}

/// Returns true if a printed row says that it satisfies the conditions of a sparse index; what it does not
/// print is absent where it may be.
fn is_in(model: &Model, schema: &Schema, entry: &Family, sample: &Sample) -> bool {
    schema.own_conditions(entry).iter().all(|one| {
        let values: Option<Vec<Value>> =
            one.values.iter().map(|term| term.compute(&|_| None)).collect();
        let found = said(sample, &model.path_text(entry.source, &one.path));
        let found = found.unwrap_or(&Value::Null);
        values.is_some_and(|values| compare(one.op, found, &values))
    })
}

fn said<'a>(sample: &'a Sample, name: &str) -> Option<&'a Value> {
    sample.values.iter().find(|(said, _)| said == name).map(|(_, value)| value)
}

/// Returns the attributes that the family stores, then whatever else is printed beside it.
fn cells(model: &Model, family: &Family, sample: &Sample, own: usize) -> Cells {
    let in_key: Vec<String> = key_columns(model, family).into_iter().take(own).collect();
    let mut cells = Cells::new();
    for stored in &family.stored {
        let (name, ty) = match stored {
            Stored::Path(path) => {
                (model.path_text(family.source, path), model.path_type(family.source, path))
            }
            Stored::Collect { name, .. } | Stored::Tally { name, .. } => {
                (name.clone(), Type::Int(None))
            }
        };
        if in_key.contains(&name) {
            continue;
        }
        let value = said(sample, &name).map_or(UNSAID.to_owned(), |value| value.text(&ty));
        cells.push((name, value));
    }
    if family.base.is_some() {
        return cells;
    }
    for (name, value) in &sample.values {
        // Values inside a template's text are seen in the key.
        let templated =
            in_key.iter().any(|text| text == name || text.contains(&format!("<{name}")));
        if !templated && !cells.iter().any(|(known, _)| known == name) {
            cells.push((name.clone(), value.text(&Type::Int(None))));
        }
    }
    cells
}
