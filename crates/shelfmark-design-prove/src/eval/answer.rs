//! Evaluates reads by their definition: goes through the whole state.

use super::state::{State, meets};
use crate::tally::is_tally;
use shelfmark_design_language::model::{Model, OrderKey, Read, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::Aggregate;

/// One record of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Its row type.
    pub relation: RelationId,
    /// The values, in the order of the outputs.
    pub values: Vec<Value>,
}

/// The whole list with its sort keys; ties may come in any order.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Every record with its sort key.
    pub items: Vec<(Vec<Value>, Record)>,
    /// The limit of records.
    pub limit: Option<usize>,
}

/// Computes the answer by the definition of the pattern.
pub fn answer(model: &Model, state: &State, read: &Read, inputs: &[Value]) -> Answer {
    let leaf = |term: &Term| match term {
        Term::Param(index) => inputs.get(*index).cloned(),
        _ => None,
    };
    let mut items: Vec<(Vec<Value>, Record)> = Vec::new();
    for (index, source) in read.sources.iter().enumerate() {
        for tuple in state.tuples(source.relation) {
            let fits = source
                .predicates
                .iter()
                .all(|predicate| meets(state, model, source.relation, tuple, predicate, &leaf));
            if !fits {
                continue;
            }
            let key = read
                .order
                .iter()
                .map(|(key, _)| match key {
                    OrderKey::Kind => Value::Int(index as i64),
                    OrderKey::Columns(paths) => {
                        let path = paths.get(index).and_then(Option::as_ref);
                        let value = |path| state.value(model, source.relation, tuple, path);
                        path.map_or(Value::Null, |path: &Vec<usize>| value(path))
                    }
                })
                .collect();
            let added = match &read.aggregate {
                Some((Aggregate::Sum, Some(path))) => Some(path),
                _ => None,
            };
            let shown = source.outputs.iter().map(Option::as_ref);
            let values = added
                .map(Some)
                .into_iter()
                .chain(shown)
                .map(|path| match path {
                    Some(path) => state.value(model, source.relation, tuple, path),
                    None => Value::Null,
                })
                .collect();
            items.push((key, Record { relation: source.relation, values }));
        }
    }
    if is_tally(read) {
        let relation = read.sources.first().map_or(0, |source| source.relation);
        let count = match &read.aggregate {
            Some((Aggregate::Sum, _)) => total(&items),
            _ => Value::Int(items.len() as i64),
        };
        return Answer {
            items: vec![(Vec::new(), Record { relation, values: vec![count] })],
            limit: None,
        };
    }
    items.sort_by(|(a, _), (b, _)| compare_keys(read, a, b));
    if read.distinct {
        let mut seen = std::collections::BTreeSet::new();
        items.retain(|(_, record)| seen.insert(record.clone()));
    }
    let limit =
        read.limit.as_ref().and_then(|limit| limit.compute(&leaf)).and_then(|limit| match limit {
            Value::Int(n) => usize::try_from(n).ok(),
            _ => None,
        });
    Answer { items, limit }
}

/// Returns the sum of what records show first; of none it is 0.
fn total(items: &[(Vec<Value>, Record)]) -> Value {
    let number = |record: &Record| match record.values.first() {
        Some(Value::Int(n)) => *n,
        _ => 0,
    };
    Value::Int(items.iter().map(|(_, record)| number(record)).fold(0, i64::saturating_add))
}

fn compare_keys(read: &Read, a: &[Value], b: &[Value]) -> std::cmp::Ordering {
    for ((x, y), (_, desc)) in a.iter().zip(b).zip(&read.order) {
        let order = if *desc { y.cmp(x) } else { x.cmp(y) };
        if order.is_ne() {
            return order;
        }
    }
    std::cmp::Ordering::Equal
}

impl Answer {
    /// Returns the number of records of a right answer.
    pub fn length(&self) -> usize {
        self.limit.map_or(self.items.len(), |limit| limit.min(self.items.len()))
    }

    /// Returns true if a list is a correct answer: ties in any order, a correct first *n*.
    pub fn accepts(&self, found: &[Record]) -> bool {
        let length = self.length();
        if found.len() != length {
            return false;
        }
        let mut at = 0;
        while at < length {
            let Some((key, _)) = self.items.get(at) else { return false };
            let group: Vec<&Record> = self
                .items
                .iter()
                .skip(at)
                .take_while(|(other, _)| other == key)
                .map(|(_, record)| record)
                .collect();
            let taken = group.len().min(length - at);
            let mut rest = group;
            for record in found.iter().skip(at).take(taken) {
                let Some(place) = rest.iter().position(|other| *other == record) else {
                    return false;
                };
                rest.swap_remove(place);
            }
            at += taken;
        }
        true
    }

    /// Returns one right answer.
    pub fn records(&self) -> Vec<Record> {
        self.items.iter().take(self.length()).map(|(_, record)| record.clone()).collect()
    }
}
