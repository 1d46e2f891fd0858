//! Computes the rows of a state in a schema.
//!
//! Two sources with one key are one row: the last one written stays.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::state::{State, Tuple, meets};
use crate::unique::available;
use shelfmark_design_language::codec::text;
use shelfmark_design_language::model::schema::{
    Codec, Column, Family, FamilyId, Fold, Part, Schema, Stored, TableId,
};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Type, Value};

/// One column of a row's key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyValue {
    /// The text of a text column.
    Text(String),
    /// The value of a typed one.
    Native(Value),
}

impl KeyValue {
    /// Formats the value as text keys hold it.
    pub fn text(&self, ty: &Type) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Native(value) => value.text(ty),
        }
    }
}

/// A row of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row family that it belongs to.
    pub family: FamilyId,
    /// Its values, by attribute.
    pub values: BTreeMap<ColumnPath, Value>,
    /// Collected lists and counts by name.
    pub kept: BTreeMap<String, Value>,
    /// The source, from which index keys are computed.
    pub origin: Tuple,
}

/// All rows of a state, by table and key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// The rows of each table or index, by key.
    pub tables: BTreeMap<TableId, BTreeMap<Vec<KeyValue>, Row>>,
}

impl Rows {
    /// Returns the rows of a table in the order of its keys.
    pub fn in_order(&self, schema: &Schema, table: TableId) -> Vec<(&Vec<KeyValue>, &Row)> {
        let desc = schema.tables.get(table).map(|table| table.desc.clone()).unwrap_or_default();
        let mut rows: Vec<(&Vec<KeyValue>, &Row)> =
            self.tables.get(&table).into_iter().flatten().collect();
        if desc.contains(&true) {
            rows.sort_by(|(a, _), (b, _)| compare(a, b, &desc));
        }
        rows
    }
}

fn compare(a: &[KeyValue], b: &[KeyValue], desc: &[bool]) -> Ordering {
    for ((x, y), desc) in a.iter().zip(b).zip(desc) {
        let order = if *desc { y.cmp(x) } else { x.cmp(y) };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Computes a column from the values of its leaves; `None` when one is absent or unknown.
pub fn column(parts: &[Part], leaf: &impl Fn(&Term) -> Option<Value>) -> Option<KeyValue> {
    if let [Part::Hole { term, codec: Codec::Native, .. }] = parts {
        let value = term.compute(leaf)?;
        return (value != Value::Null).then_some(KeyValue::Native(value));
    }
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::End => {}
            Part::Hole { term, ty, codec } => {
                out.push_str(&text(&term.compute(leaf)?, ty, *codec)?)
            }
        }
    }
    Some(KeyValue::Text(out))
}

/// Computes a key; `None` where an attribute is absent.
pub fn key_of(columns: &[Column], leaf: &impl Fn(&Term) -> Option<Value>) -> Option<Vec<KeyValue>> {
    columns.iter().map(|one| column(&one.parts, leaf)).collect()
}

/// Returns the row of one source, if it has one.
pub fn row_of(
    model: &Model,
    state: &State,
    family_id: FamilyId,
    family: &Family,
    tuple: &Tuple,
) -> Option<(Vec<KeyValue>, Row)> {
    let fits = family
        .when
        .iter()
        .all(|predicate| meets(state, model, family.source, tuple, predicate, &|_| None));
    if !fits {
        return None;
    }
    let leaf = |term: &Term| match term {
        Term::Column(path) => Some(state.value(model, family.source, tuple, path)),
        _ => None,
    };
    let key = key_of(&family.key, &leaf)?;
    let values = available(model, family)
        .iter()
        .map(|path| {
            let value = state.value(model, family.source, tuple, path);
            (path.clone(), value)
        })
        .collect();
    let mut kept = BTreeMap::new();
    for stored in &family.stored {
        if let Some((name, value)) = keep(model, state, family, tuple, stored) {
            kept.insert(name, value);
        }
    }
    Some((key, Row { family: family_id, values, kept, origin: tuple.clone() }))
}

fn keep(
    model: &Model,
    state: &State,
    family: &Family,
    tuple: &Tuple,
    stored: &Stored,
) -> Option<(String, Value)> {
    let (relation, via, name) = match stored {
        Stored::Path(_) => return None,
        Stored::Collect { relation, via, name, .. } | Stored::Tally { relation, via, name, .. } => {
            (*relation, *via, name.clone())
        }
    };
    let key = model.relation(family.source).key().first().copied().unwrap_or(0);
    let own = tuple.get(key);
    let of_this = state.tuples(relation).iter().filter(|other| other.get(via) == own);
    let value = match stored {
        Stored::Collect { path, .. } => {
            let mut items: Vec<Value> =
                of_this.map(|other| state.value(model, relation, other, path)).collect();
            items.sort();
            Value::List(items)
        }
        Stored::Tally { when, fold, .. } => {
            let counted = of_this.filter(|other| {
                when.iter().all(|one| meets(state, model, relation, other, one, &|_| None))
            });
            folded(*fold, counted)
        }
        Stored::Path(_) => return None,
    };
    Some((name, value))
}

/// Returns the value of several tuples.
fn folded<'t>(fold: Fold, tuples: impl Iterator<Item = &'t Tuple>) -> Value {
    let number = |tuple: &Tuple, at: usize| match tuple.get(at) {
        Some(Value::Int(n)) => *n,
        _ => 0,
    };
    match fold {
        Fold::Count => Value::Int(tuples.map(|_| 1).fold(0, i64::saturating_add)),
        Fold::Sum(at) => Value::Int(tuples.map(|one| number(one, at)).fold(0, i64::saturating_add)),
        Fold::Max(at) => tuples.filter_map(|one| one.get(at)).max().cloned().unwrap_or(Value::Null),
        Fold::Min(at) => tuples.filter_map(|one| one.get(at)).min().cloned().unwrap_or(Value::Null),
    }
}

/// Returns the families that have sources in the state, in the order of the schema.
pub fn present<'a>(schema: &'a Schema, state: &State) -> Vec<(FamilyId, &'a Family)> {
    let relations = state.relations.iter().enumerate().filter(|(_, tuples)| !tuples.is_empty());
    let mut found: Vec<(FamilyId, &Family)> =
        relations.flat_map(|(id, _)| schema.of_source(id)).collect();
    found.sort_unstable_by_key(|(id, _)| *id);
    found
}

/// Computes the rows of a whole state.
pub fn rows(model: &Model, schema: &Schema, state: &State) -> Rows {
    rows_after(model, schema, state, state)
}

/// Computes the rows that a write leaves: those of the changed state, where rows that follow what they
/// stem from are still as they were.
pub fn rows_after(model: &Model, schema: &Schema, before: &State, after: &State) -> Rows {
    let mut rows = Rows::default();
    let late = present(schema, before).into_iter().filter(|(_, family)| family.follows.is_some());
    let kept = present(schema, after).into_iter().filter(|(_, family)| family.follows.is_none());
    let mut families: Vec<(FamilyId, &Family)> = late.chain(kept).collect();
    families.sort_unstable_by_key(|(id, _)| *id);
    for (id, family) in families {
        if family.base.is_some() {
            continue;
        }
        let state = if family.follows.is_some() { before } else { after };
        for tuple in state.tuples(family.source) {
            if let Some((key, row)) = row_of(model, state, id, family, tuple) {
                rows.tables.entry(family.table).or_default().insert(key, row);
            }
        }
    }
    index(model, schema, after, &mut rows);
    rows
}

/// Adds index entries, which stem from the rows, not from the sources.
pub fn index(model: &Model, schema: &Schema, state: &State, rows: &mut Rows) {
    let bases = rows.tables.keys().flat_map(|table| schema.of_table(*table));
    let mut entries: Vec<FamilyId> =
        bases.flat_map(|(base, _)| schema.entries(base)).map(|(id, _)| id).collect();
    entries.sort_unstable();
    for id in entries {
        let Some(family) = schema.families.get(id) else { continue };
        let Some(base) = family.base else { continue };
        let Some(table) = schema.families.get(base).map(|base| base.table) else { continue };
        let of_base: Vec<Row> = rows
            .tables
            .get(&table)
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|row| row.family == base)
            .cloned()
            .collect();
        for row in of_base {
            if let Some((key, entry)) = row_of(model, state, id, family, &row.origin) {
                rows.tables.entry(family.table).or_default().insert(key, entry);
            }
        }
    }
}
