//! Tells whether two conditions on one sort key have keys in common.
//!
//! What it is not: exact about numbers and bytes between two bounds. Two ranges whose bounds leave a
//! gap in which no key can lie count as apart only where their bounds say so.

use std::cmp::Ordering;

use shelfmark_model::{SortBound, SortCondition, Value};

/// Returns true if some key may meet both conditions, which are on the first sort column.
pub(super) fn overlap(one: &SortCondition, other: &SortCondition) -> bool {
    match (prefix(one), prefix(other)) {
        (Some(one), Some(other)) => begins(one, other) || begins(other, one),
        (Some(prefix), None) => meets(prefix, &bounds(other)),
        (None, Some(prefix)) => meets(prefix, &bounds(one)),
        (None, None) => {
            let ((lower_one, upper_one), (lower, upper)) = (bounds(one), bounds(other));
            reaches(&upper_one, &lower) && reaches(&upper, &lower_one)
        }
    }
}

type Bounds = (SortBound, SortBound);

fn prefix(condition: &SortCondition) -> Option<&Value> {
    match condition {
        SortCondition::BeginsWith { equal, prefix } if equal.is_empty() => Some(prefix),
        _ => None,
    }
}

fn bounds(condition: &SortCondition) -> Bounds {
    let point =
        |value: &Value| (SortBound::Included(value.clone()), SortBound::Included(value.clone()));
    match condition {
        SortCondition::Equal(equal)
        | SortCondition::BeginsWith { equal, .. }
        | SortCondition::Range { equal, .. }
            if !equal.is_empty() =>
        {
            equal.first().map_or((SortBound::Unbounded, SortBound::Unbounded), point)
        }
        SortCondition::Range { lower, upper, .. } => (lower.clone(), upper.clone()),
        SortCondition::Equal(_)
        | SortCondition::BeginsWith { .. }
        | SortCondition::TupleRange { .. } => (SortBound::Unbounded, SortBound::Unbounded),
    }
}

/// Returns true if a range that ends at `upper` may reach one that begins at `lower`.
fn reaches(upper: &SortBound, lower: &SortBound) -> bool {
    let (end, start, both) = match (upper, lower) {
        (SortBound::Unbounded, _) | (_, SortBound::Unbounded) => return true,
        (SortBound::Included(end), SortBound::Included(start)) => (end, start, true),
        (
            SortBound::Included(end) | SortBound::Excluded(end),
            SortBound::Included(start) | SortBound::Excluded(start),
        ) => (end, start, false),
    };
    match end.compare(start) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => both,
        Some(Ordering::Less) | None => false,
    }
}

/// Returns true if a range may hold a key that begins with `prefix`.
fn meets(prefix: &Value, (lower, upper): &Bounds) -> bool {
    let above = match lower {
        SortBound::Unbounded => true,
        SortBound::Included(lower) | SortBound::Excluded(lower) => {
            begins(lower, prefix) || lower.compare(prefix).is_some_and(Ordering::is_le)
        }
    };
    above && reaches(upper, &SortBound::Included(prefix.clone()))
}

/// Returns true if a text or binary begins with another.
fn begins(whole: &Value, prefix: &Value) -> bool {
    match (whole, prefix) {
        (Value::Text(whole), Value::Text(prefix)) => whole.starts_with(prefix.as_str()),
        (Value::Bytes(whole), Value::Bytes(prefix)) => whole.starts_with(prefix),
        _ => false,
    }
}
