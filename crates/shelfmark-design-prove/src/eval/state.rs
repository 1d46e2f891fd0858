//! A state: a finite set of entities and links that obeys its declarations.

use std::collections::{BTreeMap, BTreeSet};

use shelfmark_design_language::model::pattern::Predicate;
use shelfmark_design_language::model::{Model, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// The attributes of one tuple, in the order of the relation.
pub type Tuple = Vec<Value>;

/// A finite set of tuples that obeys a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// The tuples of each relation.
    pub relations: Vec<Vec<Tuple>>,
}

impl State {
    /// Returns the state without tuples.
    pub fn empty(model: &Model) -> Self {
        Self { relations: vec![Vec::new(); model.relations.len()] }
    }

    /// Returns how many tuples the largest relation has.
    pub fn size(&self) -> usize {
        self.relations.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the tuples of a relation.
    pub fn tuples(&self, relation: RelationId) -> &[Tuple] {
        self.relations.get(relation).map_or(&[], Vec::as_slice)
    }

    /// Returns the value at the end of a path; absent when a reference on it is.
    pub fn value(
        &self,
        model: &Model,
        relation: RelationId,
        tuple: &Tuple,
        path: &[usize],
    ) -> Value {
        let mut relation = relation;
        let mut tuple = tuple;
        for (index, column) in path.iter().enumerate() {
            let Some(value) = tuple.get(*column) else { return Value::Null };
            if index + 1 == path.len() {
                return value.clone();
            }
            let refers = model.relation(relation).columns.get(*column).and_then(|c| c.refers);
            let Some(target) = refers else { return Value::Null };
            let key = model.relation(target).key().first().copied().unwrap_or(0);
            let found = self.tuples(target).iter().find(|other| other.get(key) == Some(value));
            let Some(found) = found else { return Value::Null };
            relation = target;
            tuple = found;
        }
        Value::Null
    }

    /// Returns true if this is a state of the model: types, keys, dependencies, references, fan-outs,
    /// attributes that come together.
    pub fn is_valid(&self, model: &Model) -> bool {
        (0..model.relations.len()).all(|id| self.is_valid_in(model, id))
    }

    /// Returns true if the tuples of one relation obey its declarations.
    pub fn is_valid_in(&self, model: &Model, id: RelationId) -> bool {
        let tuples = self.tuples(id);
        if tuples.is_empty() {
            return true;
        }
        let relation = model.relation(id);
        relation.keys.iter().all(|key| distinct(tuples, key))
            && relation.dependencies.iter().all(|(from, to)| determined(tuples, from, to))
            && relation.fanouts.iter().all(|fanout| {
                fanout.max().is_none_or(|max| {
                    groups(tuples, &fanout.from).values().all(|count| *count as f64 <= max)
                })
            })
            && tuples.iter().all(|tuple| self.fits(model, id, tuple))
    }

    fn fits(&self, model: &Model, relation: RelationId, tuple: &Tuple) -> bool {
        let own = model.relation(relation);
        own.is_whole(tuple)
            && own.columns.iter().zip(tuple).all(|(column, value)| {
                if *value == Value::Null {
                    return column.optional;
                }
                let Some(target) = column.refers else { return column.ty.holds(value) };
                let key = model.relation(target).key().first().copied().unwrap_or(0);
                self.tuples(target).iter().any(|other| other.get(key) == Some(value))
            })
    }
}

fn project<'a>(tuple: &'a Tuple, columns: &[usize]) -> Vec<Option<&'a Value>> {
    columns.iter().map(|column| tuple.get(*column)).collect()
}

/// Returns true if no two tuples that have all attributes of the key are equal in them.
fn distinct(tuples: &[Tuple], key: &[usize]) -> bool {
    let mut seen = BTreeSet::new();
    tuples.iter().all(|tuple| {
        let values = project(tuple, key);
        values.contains(&Some(&Value::Null)) || seen.insert(values)
    })
}

fn determined(tuples: &[Tuple], from: &[usize], to: &[usize]) -> bool {
    let mut seen = BTreeMap::new();
    tuples.iter().all(|tuple| {
        let value = project(tuple, to);
        *seen.entry(project(tuple, from)).or_insert_with(|| value.clone()) == value
    })
}

fn groups<'a>(tuples: &'a [Tuple], from: &[usize]) -> BTreeMap<Vec<Option<&'a Value>>, usize> {
    let mut counts = BTreeMap::new();
    for tuple in tuples {
        *counts.entry(project(tuple, from)).or_insert(0) += 1;
    }
    counts
}

/// Returns true if a tuple satisfies a predicate, given the inputs (and the tuple of a loop).
pub fn meets(
    state: &State,
    model: &Model,
    relation: RelationId,
    tuple: &Tuple,
    predicate: &Predicate,
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> bool {
    let found = state.value(model, relation, tuple, &predicate.path);
    let values: Option<Vec<Value>> =
        predicate.values.iter().map(|value| value.compute(leaf)).collect();
    values.is_some_and(|values| compare(predicate.op, &found, &values))
}

/// Returns true if `found op values` holds; what is absent satisfies nothing but `is absent`.
pub fn compare(op: CondOp, found: &Value, values: &[Value]) -> bool {
    match op {
        CondOp::Absent => return *found == Value::Null,
        _ if *found == Value::Null => return false,
        CondOp::Present => return true,
        _ => {}
    }
    let Some(first) = values.first() else { return false };
    if *first == Value::Null {
        return false;
    }
    match (op, found, first) {
        (CondOp::Eq, ..) => found == first,
        (CondOp::Lt, ..) => found < first,
        (CondOp::Le, ..) => found <= first,
        (CondOp::Gt, ..) => found > first,
        (CondOp::Ge, ..) => found >= first,
        (CondOp::Between, ..) => first <= found && values.get(1).is_some_and(|last| found <= last),
        (CondOp::Begins, Value::Text(found), Value::Text(text)) => found.starts_with(text.as_str()),
        (CondOp::Ends, Value::Text(found), Value::Text(text)) => found.ends_with(text.as_str()),
        (CondOp::Contains | CondOp::Matches, Value::Text(found), Value::Text(text)) => {
            found.contains(text.as_str())
        }
        (CondOp::Contains, Value::List(items), value) => items.contains(value),
        (CondOp::In, _, Value::List(items)) => items.contains(found),
        _ => false,
    }
}
