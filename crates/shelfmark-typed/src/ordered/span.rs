//! Translates ranges of keys to conditions of the engine.
//!
//! A range in table order is one contiguous stretch of the store. The engine says it in one
//! condition where the parts concerned lie in one direction; where directions are mixed it takes
//! several, one behind the other: the tails below the first bound, the middle, the heads above the
//! second.
//!
//! Invariant: the conditions are disjoint, in table order, and together are the range.

use std::ops::Bound;

use shelfmark_model::{Direction, KeyType, SortBound, SortColumn, SortCondition, Value};

use crate::error::{Error, Result};
use crate::key::compare;

/// A bound: leading values, and true if keys that begin with them belong to the range. An open
/// bound has no values.
struct Edge {
    values: Vec<Value>,
    included: bool,
}

impl Edge {
    fn of(bound: Bound<Vec<Value>>) -> Self {
        match bound {
            Bound::Included(values) => Self { values, included: true },
            Bound::Excluded(values) => Self { values, included: false },
            Bound::Unbounded => Self { values: Vec::new(), included: true },
        }
    }
}

/// Returns the conditions of a range, in table order.
pub(super) fn conditions(
    columns: &[SortColumn],
    lower: Bound<Vec<Value>>,
    upper: Bound<Vec<Value>>,
) -> Result<Vec<SortCondition>> {
    let (first, last) = (Edge::of(lower), Edge::of(upper));
    if compare(columns, &first.values, &last.values).is_gt() {
        return Err(Error::invalid(
            "a range is inverted: its first bound comes after its second in table order",
        ));
    }
    let widest = first.values.len().max(last.values.len());
    let Some(direction) = columns.first().map(|column| column.direction) else {
        return Err(Error::invalid("a key has no parts"));
    };
    if columns.iter().take(widest).all(|column| column.direction == direction) {
        return Ok(vec![one_direction(direction, first, last)]);
    }
    Ok(mixed_directions(columns, &first, &last))
}

/// Returns the condition "the part behind `equal` begins with `text`".
pub(super) fn begins_with(
    columns: &[SortColumn],
    equal: Vec<Value>,
    text: &str,
) -> Result<SortCondition> {
    match columns.get(equal.len()) {
        Some(column) if column.key_type == KeyType::Text => {
            Ok(SortCondition::BeginsWith { equal, prefix: Value::text(text) })
        }
        Some(column) => Err(Error::invalid(format!(
            "only a text can begin with a text, and the part {} is none",
            column.name
        ))),
        None => Err(Error::invalid("the whole key is given: no part is left to begin with a text")),
    }
}

/// Returns the condition of a range whose columns have one direction: the engine's bounds are the
/// smallest and the largest values, wherever they lie.
fn one_direction(direction: Direction, first: Edge, last: Edge) -> SortCondition {
    let bound = |edge: Edge| (!edge.values.is_empty()).then_some((edge.values, edge.included));
    let (lower, upper) = match direction {
        Direction::Ascending => (bound(first), bound(last)),
        Direction::Descending => (bound(last), bound(first)),
    };
    SortCondition::TupleRange { lower, upper }
}

fn mixed_directions(columns: &[SortColumn], first: &Edge, last: &Edge) -> Vec<SortCondition> {
    let shared = first
        .values
        .iter()
        .zip(&last.values)
        .zip(columns)
        .take_while(|((a, b), column)| {
            let column = std::slice::from_ref(*column);
            compare(column, std::slice::from_ref(*a), std::slice::from_ref(*b)).is_eq()
        })
        .count();
    let (from, to) = (first.values.as_slice(), last.values.as_slice());
    if shared == from.len() && shared == to.len() {
        let both = first.included && last.included;
        return if both { vec![SortCondition::Equal(from.to_vec())] } else { Vec::new() };
    }
    // One bound begins with the other: where the shorter is excluded, nothing is left.
    if (shared == from.len() && !first.included) || (shared == to.len() && !last.included) {
        return Vec::new();
    }
    let mut conditions = Vec::new();
    if from.len() > shared {
        if first.included {
            conditions.push(SortCondition::Equal(from.to_vec()));
        }
        for place in (shared + 1..from.len()).rev() {
            conditions.extend(part_range(columns, from, place, from.get(place), None));
        }
    }
    conditions.extend(part_range(columns, from, shared, from.get(shared), to.get(shared)));
    if to.len() > shared {
        for place in shared + 1..to.len() {
            conditions.extend(part_range(columns, to, place, None, to.get(place)));
        }
        if last.included {
            conditions.push(SortCondition::Equal(to.to_vec()));
        }
    }
    conditions
}

/// Returns the condition for keys whose first `place` parts are those of `values` and whose next
/// part comes after `after` and before `before` in table order.
fn part_range(
    columns: &[SortColumn],
    values: &[Value],
    place: usize,
    after: Option<&Value>,
    before: Option<&Value>,
) -> Option<SortCondition> {
    let bound =
        |value: Option<&Value>| value.cloned().map_or(SortBound::Unbounded, SortBound::Excluded);
    let (lower, upper) = match columns.get(place)?.direction {
        Direction::Ascending => (bound(after), bound(before)),
        Direction::Descending => (bound(before), bound(after)),
    };
    Some(SortCondition::Range { equal: values.get(..place)?.to_vec(), lower, upper })
}
