//! Parses key conditions: a condition that must be one contiguous range of one partition.
//!
//! Here they become one relation per attribute; whether the attributes are the key's is for the
//! query to judge.

use shelfmark_model::{Comparison, Value};

use super::ast::{Arg, Leaf, Node, Operator};
use super::placeholders::Placeholders;
use crate::errors::{Error, Result, texts};

/// The condition on one key attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeyCondition {
    pub(crate) attribute: String,
    pub(crate) relation: KeyRelation,
}

/// The relation of a key attribute to given values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KeyRelation {
    Equal(Value),
    Less(Value),
    LessOrEqual(Value),
    Greater(Value),
    GreaterOrEqual(Value),
    Between(Value, Value),
    BeginsWith(Value),
}

impl KeyRelation {
    /// Returns the values, smallest first.
    pub(crate) fn values(&self) -> Vec<&Value> {
        match self {
            Self::Equal(value)
            | Self::Less(value)
            | Self::LessOrEqual(value)
            | Self::Greater(value)
            | Self::GreaterOrEqual(value)
            | Self::BeginsWith(value) => vec![value],
            Self::Between(lower, upper) => vec![lower, upper],
        }
    }

    /// Returns true if a key value satisfies the relation.
    pub(crate) fn holds(&self, key: &Value) -> bool {
        let compared = |other: &Value| key.compare(other);
        match self {
            Self::Equal(value) => key.equals(value),
            Self::Less(value) => compared(value).is_some_and(std::cmp::Ordering::is_lt),
            Self::LessOrEqual(value) => compared(value).is_some_and(std::cmp::Ordering::is_le),
            Self::Greater(value) => compared(value).is_some_and(std::cmp::Ordering::is_gt),
            Self::GreaterOrEqual(value) => compared(value).is_some_and(std::cmp::Ordering::is_ge),
            Self::Between(lower, upper) => {
                compared(lower).is_some_and(std::cmp::Ordering::is_ge)
                    && compared(upper).is_some_and(std::cmp::Ordering::is_le)
            }
            Self::BeginsWith(prefix) => match (key, prefix) {
                (Value::Text(text), Value::Text(prefix)) => text.starts_with(prefix.as_str()),
                (Value::Bytes(bytes), Value::Bytes(prefix)) => bytes.starts_with(prefix),
                _ => false,
            },
        }
    }
}

/// Returns the relations of a key condition, in the order of the text.
pub(super) fn conditions(
    placeholders: &Placeholders,
    node: &Node<'_>,
) -> Result<Vec<KeyCondition>> {
    let mut found = Vec::new();
    collect(placeholders, node, &mut found)?;
    Ok(found)
}

fn collect(
    placeholders: &Placeholders,
    node: &Node<'_>,
    found: &mut Vec<KeyCondition>,
) -> Result<()> {
    let not_allowed =
        |operator: &str| Err(Error::validation(texts::key_condition_operator(operator)));
    match node {
        Node::Or(_) => not_allowed("OR"),
        Node::Not(_) => not_allowed("NOT"),
        Node::And(nodes) => nodes.iter().try_for_each(|node| collect(placeholders, node, found)),
        Node::Leaf(leaf) => {
            let condition = one(placeholders, leaf)?;
            if found.iter().any(|other| other.attribute == condition.attribute) {
                return Err(Error::validation(texts::ONE_CONDITION_PER_KEY));
            }
            found.push(condition);
            Ok(())
        }
    }
}

fn one(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Result<KeyCondition> {
    let not_allowed =
        || Err(Error::validation(texts::key_condition_operator(leaf.operator.name())));
    match leaf.operator {
        Operator::Compare(Comparison::NotEqual) | Operator::In => return not_allowed(),
        Operator::Call(name) if name != "begins_with" => return not_allowed(),
        Operator::Call(_)
        | Operator::Compare(_)
        | Operator::Between
        | Operator::Plus
        | Operator::Minus => {}
    }
    let mut values = Vec::new();
    for arg in &leaf.args {
        match arg {
            Arg::Value(reference) => {
                let value = placeholders.value(reference);
                // The checks of conditions have found every value.
                values.push(value.cloned().unwrap_or(Value::Null));
            }
            Arg::Path(_) => {}
            Arg::Call(_) => return Err(Error::validation(texts::KEY_CONDITION_OPERATIONS)),
        }
    }
    let (attribute, position) = attribute(placeholders, leaf)?;
    let ordered = matches!(leaf.operator, Operator::Between | Operator::Call(_));
    if ordered && position != 0 {
        return Err(Error::validation(texts::key_condition_first(leaf.operator.name())));
    }
    let relation = relation(leaf.operator, position, values);
    let relation = relation.ok_or_else(|| Error::validation(texts::KEY_CONDITION_NOT_SUPPORTED))?;
    Ok(KeyCondition { attribute, relation })
}

/// Finds the one attribute that the condition restricts, and its position among the operands.
fn attribute(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Result<(String, usize)> {
    let mut found = None;
    for (position, arg) in leaf.args.iter().enumerate() {
        let Arg::Path(path) = arg else { continue };
        if found.is_some() {
            return Err(Error::validation(texts::KEY_CONDITION_TWO_NAMES));
        }
        // The checks of conditions have found every name.
        let path = placeholders.path(path);
        match path {
            Ok(path) if path.steps.is_empty() => found = Some((path.attribute, position)),
            Ok(_) | Err(_) => return Err(Error::validation(texts::KEY_CONDITION_NESTED)),
        }
    }
    found.ok_or_else(|| Error::validation(texts::KEY_CONDITION_NO_NAME))
}

fn relation(operator: Operator<'_>, position: usize, values: Vec<Value>) -> Option<KeyRelation> {
    let mut values = values.into_iter();
    let first = values.next()?;
    let swapped = position != 0;
    Some(match operator {
        Operator::Compare(Comparison::Equal) => KeyRelation::Equal(first),
        Operator::Compare(Comparison::Less) if swapped => KeyRelation::Greater(first),
        Operator::Compare(Comparison::Less) => KeyRelation::Less(first),
        Operator::Compare(Comparison::LessOrEqual) if swapped => KeyRelation::GreaterOrEqual(first),
        Operator::Compare(Comparison::LessOrEqual) => KeyRelation::LessOrEqual(first),
        Operator::Compare(Comparison::Greater) if swapped => KeyRelation::Less(first),
        Operator::Compare(Comparison::Greater) => KeyRelation::Greater(first),
        Operator::Compare(Comparison::GreaterOrEqual) if swapped => KeyRelation::LessOrEqual(first),
        Operator::Compare(Comparison::GreaterOrEqual) => KeyRelation::GreaterOrEqual(first),
        Operator::Between => KeyRelation::Between(first, values.next()?),
        Operator::Call(_) => KeyRelation::BeginsWith(first),
        Operator::Compare(Comparison::NotEqual)
        | Operator::In
        | Operator::Plus
        | Operator::Minus => return None,
    })
}
