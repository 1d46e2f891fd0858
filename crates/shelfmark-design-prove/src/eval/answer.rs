//! Evaluates reads by their definition: goes through the whole state.

use std::collections::BTreeMap;

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
    /// The limits of single row types.
    pub own: BTreeMap<RelationId, usize>,
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
            own: BTreeMap::new(),
        };
    }
    items.sort_by(|(a, _), (b, _)| compare_keys(read, a, b));
    if read.distinct {
        let mut seen = std::collections::BTreeSet::new();
        items.retain(|(_, record)| seen.insert(record.clone()));
    }
    let number = |limit: &Term| number(limit, &leaf);
    let limit = read.limit.as_ref().and_then(number);
    let own = read.sources.iter().filter_map(|source| {
        // Less than one row is none.
        Some((source.relation, number(source.limit.as_ref()?).unwrap_or(0)))
    });
    Answer { items, limit, own: own.collect() }
}

/// Returns a number of rows.
fn number(limit: &Term, leaf: &impl Fn(&Term) -> Option<Value>) -> Option<usize> {
    match limit.compute(leaf)? {
        Value::Int(n) => usize::try_from(n).ok(),
        _ => None,
    }
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
        self.shares().iter().flat_map(|share| share.taken.values()).sum()
    }

    /// Returns the groups of items that tie, in order, with the number that an answer has of each row type.
    fn shares(&self) -> Vec<Share<'_>> {
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut own = self.own.clone();
        let mut shares = Vec::new();
        let mut rest = self.items.as_slice();
        while let Some((key, _)) = rest.first() {
            let length = rest.iter().take_while(|(other, _)| other == key).count();
            let (group, behind) = rest.split_at(length);
            rest = behind;
            let mut taken: BTreeMap<RelationId, usize> = BTreeMap::new();
            for (_, record) in group {
                let of = own.get_mut(&record.relation);
                if of.as_deref() == Some(&0) {
                    continue;
                }
                of.into_iter().for_each(|of| *of -= 1);
                *taken.entry(record.relation).or_default() += 1;
            }
            let whole = taken.values().sum::<usize>();
            // A limit of all rows takes any of those that tie.
            let any = (whole > left).then_some(left);
            shares.push(Share { group, taken: any.map_or(taken, |n| BTreeMap::from([(ANY, n)])) });
            left -= whole.min(left);
        }
        shares
    }

    /// Returns true if a list is a correct answer: ties in any order, a correct first *n*.
    pub fn accepts(&self, found: &[Record]) -> bool {
        let mut rest = found;
        for share in self.shares() {
            let Some((here, behind)) = rest.split_at_checked(share.length()) else { return false };
            if !share.accepts(here) {
                return false;
            }
            rest = behind;
        }
        rest.is_empty()
    }

    /// Returns one right answer.
    pub fn records(&self) -> Vec<Record> {
        self.shares().iter().flat_map(Share::records).collect()
    }
}

/// The place of the number of items of whichever row type.
const ANY: RelationId = RelationId::MAX;

/// Items that tie, and how many an answer has of them, by row type.
struct Share<'a> {
    group: &'a [(Vec<Value>, Record)],
    taken: BTreeMap<RelationId, usize>,
}

impl Share<'_> {
    fn length(&self) -> usize {
        self.taken.values().sum()
    }

    /// Returns true if records are so many of the group, in any order.
    fn accepts(&self, found: &[Record]) -> bool {
        let mut free: Vec<&Record> = self.group.iter().map(|(_, record)| record).collect();
        let mut left = self.taken.clone();
        found.iter().all(|record| {
            let of = if left.contains_key(&ANY) { ANY } else { record.relation };
            let place = free.iter().position(|other| *other == record);
            let counted = left.get_mut(&of).filter(|count| **count > 0);
            let (Some(place), Some(count)) = (place, counted) else { return false };
            free.swap_remove(place);
            *count -= 1;
            true
        })
    }

    /// Returns the first records that fit.
    fn records(&self) -> Vec<Record> {
        let mut left = self.taken.clone();
        let fits = |record: &&Record| {
            let of = if left.contains_key(&ANY) { ANY } else { record.relation };
            let Some(count) = left.get_mut(&of).filter(|count| **count > 0) else { return false };
            *count -= 1;
            true
        };
        self.group.iter().map(|(_, record)| record).filter(fits).cloned().collect()
    }
}
