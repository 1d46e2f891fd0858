//! Evaluates conditions on items.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{Comparison, Condition, Operand};
use crate::item::Item;
use crate::limits::CONDITION_DEPTH_MAX;
use crate::value::Value;

impl Condition {
    /// Returns true if the condition holds on `item`; an absent item is an empty one.
    ///
    /// Nested deeper than [`CONDITION_DEPTH_MAX`] it does not hold; faces refuse such conditions
    /// before they get here.
    #[must_use]
    pub fn holds(&self, item: &Item) -> bool {
        self.holds_at(item, CONDITION_DEPTH_MAX)
    }

    fn holds_at(&self, item: &Item, depth: usize) -> bool {
        let Some(below) = depth.checked_sub(1) else { return false };
        match self {
            Self::And(all) => all.iter().all(|condition| condition.holds_at(item, below)),
            Self::Or(any) => any.iter().any(|condition| condition.holds_at(item, below)),
            Self::Not(condition) => !condition.holds_at(item, below),
            Self::Compare(comparison, a, b) => {
                compare(*comparison, a.value(item).as_deref(), b.value(item).as_deref())
            }
            Self::Between(value, lower, upper) => {
                let (value, lower, upper) =
                    (value.value(item), lower.value(item), upper.value(item));
                compare(Comparison::GreaterOrEqual, value.as_deref(), lower.as_deref())
                    && compare(Comparison::LessOrEqual, value.as_deref(), upper.as_deref())
            }
            Self::In(value, among) => {
                let value = value.value(item);
                among.iter().any(|other| {
                    compare(Comparison::Equal, value.as_deref(), other.value(item).as_deref())
                })
            }
            Self::Exists(path) => path.find(item).is_some(),
            Self::NotExists(path) => path.find(item).is_none(),
            Self::KindIn(path, kinds) => {
                path.find(item).is_some_and(|value| kinds.contains(&value.kind()))
            }
            Self::SetOf(path, kind) => match path.find(item) {
                Some(Value::Set(members)) => {
                    members.first().is_some_and(|member| member.kind() == *kind)
                }
                _ => false,
            },
            Self::BeginsWith(value, prefix) => {
                match (value.value(item).as_deref(), prefix.value(item).as_deref()) {
                    (Some(Value::Text(text)), Some(Value::Text(prefix))) => {
                        text.starts_with(prefix.as_str())
                    }
                    (Some(Value::Bytes(bytes)), Some(Value::Bytes(prefix))) => {
                        bytes.starts_with(prefix)
                    }
                    _ => false,
                }
            }
            Self::Contains(whole, part) => {
                match (whole.value(item).as_deref(), part.value(item).as_deref()) {
                    (Some(whole), Some(part)) => contains(whole, part),
                    _ => false,
                }
            }
        }
    }
}

impl Operand {
    fn value<'a>(&'a self, item: &'a Item) -> Option<Cow<'a, Value>> {
        match self {
            Self::Path(path) => path.find(item).map(Cow::Borrowed),
            Self::Value(value) => Some(Cow::Borrowed(value)),
            Self::Size(path) => size(path.find(item)?).map(Cow::Owned),
        }
    }
}

fn compare(comparison: Comparison, a: Option<&Value>, b: Option<&Value>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return comparison == Comparison::NotEqual };
    match comparison {
        Comparison::Equal => a.equals(b),
        Comparison::NotEqual => !a.equals(b),
        Comparison::Less => a.compare(b).is_some_and(Ordering::is_lt),
        Comparison::LessOrEqual => a.compare(b).is_some_and(Ordering::is_le),
        Comparison::Greater => a.compare(b).is_some_and(Ordering::is_gt),
        Comparison::GreaterOrEqual => a.compare(b).is_some_and(Ordering::is_ge),
    }
}

fn size(value: &Value) -> Option<Value> {
    let size = match value {
        Value::Text(text) => text.encode_utf16().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Set(members) => members.len(),
        Value::Map(map) => map.len(),
        Value::Pairs(pairs) => pairs.len(),
        _ => return None,
    };
    Some(Value::number(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Text(text), Value::Text(part)) => text.contains(part.as_str()),
        (Value::Bytes(bytes), Value::Bytes(part)) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part.as_ref())
        }
        (Value::Set(members) | Value::List(members), part) => {
            members.iter().any(|member| member.equals(part))
        }
        _ => false,
    }
}
