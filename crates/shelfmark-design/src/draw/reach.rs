//! Computes which of the sample rows a read's plan touches: the interval that the range view draws.
//!
//! What it is not: no proof. The certificate says what holds for every state; this shows one.
//!
//! Invariant: positions count rows of a table in key order, and lie between 0 and their number.

use std::collections::BTreeSet;

use shelfmark_design_language::model::schema::{
    EachOf, FamilyId, Part, ReadStep, Schema, Serve, Step, TableId,
};
use shelfmark_design_language::model::{Model, Read, Term, Type, Value};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp};
use shelfmark_design_prove::eval::answer::answer;
use shelfmark_design_prove::eval::rows::{KeyValue, Row, column};
use shelfmark_design_prove::eval::run::within;
use shelfmark_design_prove::eval::state::{State, meets};

/// The relation of a row inside an interval to the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The pattern asks for it.
    Wanted,
    /// A row of a type that the pattern asks for, but not this one.
    Dropped,
    /// A row of a type that the pattern does not ask for.
    Foreign,
}

/// One interval on the key line of a table.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    /// The first row inside, and the one behind the last; equal when it is empty, and in the
    /// wrong order when the lower end lies above the upper end.
    pub(super) low: usize,
    pub(super) high: usize,
    /// The relation of each row inside to the pattern.
    pub(super) marks: Vec<Mark>,
    /// Rows outside that the pattern asks for.
    pub(super) missed: Vec<usize>,
    /// True if it is a point read that follows from an earlier step.
    pub(super) follows: bool,
}

type Line<'a> = [(&'a Vec<KeyValue>, &'a Row)];

/// Returns the intervals of the plan's first step, for one call with the inputs.
///
/// `expected` are the row families that the plan reads on purpose, where the proof found them.
pub(super) fn first(
    model: &Model,
    schema: &Schema,
    state: &State,
    (read, expected): (&Read, &BTreeSet<FamilyId>),
    step: &ReadStep,
    line: &Line<'_>,
    inputs: &[Value],
) -> Vec<Reach> {
    let eaches: Vec<Option<Value>> = match &step.each {
        None => vec![None],
        Some(EachOf::Numbers(low, high)) => {
            (*low..=*high).take(4).map(|n| Some(Value::Int(n))).collect()
        }
        Some(EachOf::Param(index)) => match inputs.get(*index) {
            Some(Value::List(items)) => items.iter().cloned().map(Some).collect(),
            _ => Vec::new(),
        },
    };
    let wanted = |row: &Row| {
        let Some(family) = schema.families.get(row.family) else { return Mark::Foreign };
        if !expected.is_empty() && !expected.contains(&row.family) {
            return Mark::Foreign;
        }
        let Some(source) = read.sources.iter().find(|one| one.relation == family.source) else {
            return Mark::Foreign;
        };
        let leaf = |term: &Term| match term {
            Term::Param(index) => inputs.get(*index).cloned(),
            _ => None,
        };
        let fits = source
            .predicates
            .iter()
            .all(|one| meets(state, model, family.source, &row.origin, one, &leaf));
        if fits { Mark::Wanted } else { Mark::Dropped }
    };
    let mut found: Vec<Reach> = eaches
        .iter()
        .filter_map(|each| {
            let leaf = |term: &Term| match term {
                Term::Param(index) => inputs.get(*index).cloned(),
                Term::Each => each.clone(),
                _ => None,
            };
            interval(schema, step, line, &leaf)
        })
        .map(|mut reach| {
            let inside = line.get(reach.low..reach.high).unwrap_or(&[]);
            reach.marks = inside.iter().map(|(_, row)| wanted(row)).collect();
            reach
        })
        .collect();
    // What is missed is asked of all intervals together.
    let covered = |at: usize| found.iter().any(|reach| reach.low <= at && at < reach.high);
    let missed: Vec<usize> = line
        .iter()
        .enumerate()
        .filter(|(at, (_, row))| !covered(*at) && wanted(row) == Mark::Wanted)
        .map(|(at, _)| at)
        .collect();
    if let Some(reach) = found.first_mut() {
        reach.missed = missed;
    }
    found
}

/// Returns the point reads of a follow-up step, one for each row that the first step delivered.
pub(super) fn follow(
    schema: &Schema,
    step: &ReadStep,
    line: &Line<'_>,
    from: &[&Row],
    inputs: &[Value],
) -> Vec<Reach> {
    let mut found: Vec<Reach> = from
        .iter()
        .filter_map(|row| {
            let leaf = |term: &Term| match term {
                Term::Param(index) => inputs.get(*index).cloned(),
                Term::Prior(path) => row.values.get(path).cloned(),
                _ => None,
            };
            let mut reach = interval(schema, step, line, &leaf)?;
            reach.follows = true;
            reach.marks = vec![Mark::Wanted; reach.high.saturating_sub(reach.low)];
            Some(reach)
        })
        .filter(|reach| reach.low < reach.high)
        .collect();
    found.sort_by_key(|reach| reach.low);
    found.dedup_by_key(|reach| reach.low);
    found
}

fn interval(
    schema: &Schema,
    step: &ReadStep,
    line: &Line<'_>,
    leaf: &impl Fn(&Term) -> Option<Value>,
) -> Option<Reach> {
    let table = schema.tables.get(step.table)?;
    let bound: Vec<KeyValue> =
        step.bound.iter().map(|parts| column(parts, leaf)).collect::<Option<_>>()?;
    let mut ends = Vec::new();
    for (kind, parts) in &step.bounds {
        let whole = matches!(parts.last(), Some(Part::End));
        ends.push((*kind, column(parts, leaf)?, whole));
    }
    let fits = |key: &[KeyValue]| key.iter().zip(&bound).all(|(a, b)| a == b);
    let within_ends = |key: &[KeyValue], low: bool| {
        key.get(bound.len()).is_none_or(|value| {
            ends.iter()
                .filter(|(kind, ..)| {
                    let is_low =
                        matches!(kind, BoundKind::Begins | BoundKind::From | BoundKind::After);
                    is_low == low || *kind == BoundKind::Begins
                })
                .all(|(kind, end, whole)| match (kind, low) {
                    // `begins` from below: everything from there on; from above: all up to it.
                    (BoundKind::Begins, true) => value >= end,
                    (BoundKind::Begins, false) => value <= end || within(*kind, value, end, *whole),
                    _ => within(*kind, value, end, *whole),
                })
        })
    };
    let desc = table.desc.get(bound.len()).copied().unwrap_or(false);
    let start = line.iter().position(|(key, _)| fits(key));
    let Some(start) = start else {
        // No such partition: where it would be.
        let at = line.iter().filter(|(key, _)| before(key, &bound, &table.desc)).count();
        return Some(empty(at, at));
    };
    let group: Vec<&Vec<KeyValue>> =
        line.iter().skip(start).map(|(key, _)| *key).take_while(|key| fits(key)).collect();
    // Read from the side where keys are small in the table's own order.
    let (head, tail) = (!desc, desc);
    let low = start + group.iter().filter(|key| !within_ends(key, head)).count();
    let high = start + group.iter().filter(|key| within_ends(key, tail)).count();
    Some(empty(low, high))
}

fn empty(low: usize, high: usize) -> Reach {
    Reach { low, high, marks: Vec::new(), missed: Vec::new(), follows: false }
}

fn before(key: &[KeyValue], bound: &[KeyValue], desc: &[bool]) -> bool {
    for ((a, b), desc) in key.iter().zip(bound).zip(desc) {
        let order = if *desc { b.cmp(a) } else { a.cmp(b) };
        if order.is_ne() {
            return order.is_lt();
        }
    }
    false
}

/// Returns the table that a plan's first step reads.
pub(super) fn table_of(serve: &Serve) -> Option<TableId> {
    match serve.steps.first() {
        Some(Step::Read(step)) => Some(step.table),
        _ => None,
    }
}

/// Returns inputs for which the pattern has something to show: those of the tuple with the longest answer.
pub(super) fn inputs(model: &Model, state: &State, read: &Read) -> Vec<Value> {
    let mut best: Option<(usize, Vec<Value>)> = None;
    for source in &read.sources {
        for at in 0..state.tuples(source.relation).len() {
            let made = inputs_of(model, state, read, source.relation, at);
            let score = answer(model, state, read, &made).length();
            if best.as_ref().is_none_or(|(old, _)| score > *old) {
                best = Some((score, made));
            }
        }
    }
    best.map_or_else(|| inputs_of(model, state, read, 0, usize::MAX), |(_, made)| made)
}

fn inputs_of(model: &Model, state: &State, read: &Read, relation: usize, at: usize) -> Vec<Value> {
    let tuple = state.tuples(relation).get(at);
    let predicates = read
        .sources
        .iter()
        .filter(|source| source.relation == relation)
        .flat_map(|source| &source.predicates);
    let predicates: Vec<_> = predicates.collect();
    let value_of = |path: &[usize]| tuple.map(|tuple| state.value(model, relation, tuple, path));
    let all_of = |path: &[usize]| {
        let mut values: Vec<Value> = state
            .tuples(relation)
            .iter()
            .map(|tuple| state.value(model, relation, tuple, path))
            .filter(|value| *value != Value::Null)
            .collect();
        values.sort();
        values.dedup();
        values
    };
    read.params
        .iter()
        .enumerate()
        .map(|(index, param)| {
            let is = |term: &Term| *term == Term::Param(index);
            let own = read.sources.iter().filter_map(|source| source.limit.as_ref());
            if read.limit.iter().chain(own).any(is) {
                return Value::Int(2);
            }
            let used = predicates.iter().find_map(|one| {
                let place = one.values.iter().position(is)?;
                Some((one, place))
            });
            let Some((predicate, place)) = used else { return Value::Int(1) };
            let value = value_of(&predicate.path);
            let mut all = all_of(&predicate.path);
            let fallback = || Value::Int(1);
            match (predicate.op, place) {
                (CondOp::Ge | CondOp::Gt | CondOp::Between, 0) => value.unwrap_or_else(fallback),
                (CondOp::Between, _) | (CondOp::Le | CondOp::Lt, _) => {
                    all.pop().unwrap_or_else(fallback)
                }
                (CondOp::Begins, _) => match value {
                    Some(Value::Text(text)) => Value::Text(text.chars().take(1).collect()),
                    _ => Value::Text(String::new()),
                },
                (CondOp::In, _) => {
                    let most = match &param.ty {
                        Type::List(_, Some(max)) => usize::try_from(*max).unwrap_or(2).min(2),
                        _ => 2,
                    };
                    all.truncate(most);
                    Value::List(all)
                }
                _ => value.unwrap_or_else(fallback),
            }
        })
        .collect()
}
