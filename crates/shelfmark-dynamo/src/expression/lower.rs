//! Translates the tree of a condition to the model's conditions.
//!
//! Runs behind the checks, so what they exclude needs no words here; it is still an error, not a
//! panic.

use shelfmark_model::{Comparison, Condition, Operand, Path, Step, Value, ValueKind};

use super::ast::{Arg, Leaf, Node, Operator};
use super::placeholders::Placeholders;
use super::{Problem, Refused};
use crate::errors::{texts, type_name};

/// Translates a condition.
pub(super) fn condition(placeholders: &Placeholders, node: &Node<'_>) -> Refused<Condition> {
    let all = |nodes: &[Node<'_>]| {
        nodes.iter().map(|node| condition(placeholders, node)).collect::<Refused<Vec<_>>>()
    };
    match node {
        Node::And(nodes) => all(nodes).map(Condition::And),
        Node::Or(nodes) => all(nodes).map(Condition::Or),
        Node::Not(node) => Ok(Condition::Not(Box::new(condition(placeholders, node)?))),
        Node::Leaf(leaf) => self::leaf(placeholders, leaf),
    }
}

fn leaf(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<Condition> {
    let operand = |arg: &Arg<'_>| operand(placeholders, arg);
    match (leaf.operator, leaf.args.as_slice()) {
        (Operator::Compare(comparison), [left, right]) => {
            Ok(Condition::Compare(comparison, operand(left)?, operand(right)?))
        }
        (Operator::Between, [value, lower, upper]) => {
            Ok(Condition::Between(operand(value)?, operand(lower)?, operand(upper)?))
        }
        (Operator::In, [value, among @ ..]) => {
            let among = among.iter().map(operand).collect::<Refused<_>>()?;
            Ok(Condition::In(operand(value)?, among))
        }
        (Operator::Call("attribute_exists"), [Arg::Path(path)]) => {
            Ok(Condition::Exists(placeholders.path(path)?))
        }
        (Operator::Call("attribute_not_exists"), [Arg::Path(path)]) => {
            Ok(Condition::NotExists(placeholders.path(path)?))
        }
        (Operator::Call("attribute_type"), [tested, Arg::Value(reference)]) => {
            let name = placeholders.value(reference)?.as_text().unwrap_or_default();
            match tested {
                Arg::Path(path) => is_type(placeholders.path(path)?, name),
                Arg::Value(given) => Ok(truth(type_name(placeholders.value(given)?) == name)),
                // A size is a number, or there is none.
                Arg::Call(_) if name == "N" => Ok(Condition::Compare(
                    Comparison::GreaterOrEqual,
                    operand(tested)?,
                    Operand::Value(Value::number(0)),
                )),
                Arg::Call(_) => Ok(truth(false)),
            }
        }
        (Operator::Call("begins_with"), [whole, prefix]) => {
            Ok(Condition::BeginsWith(operand(whole)?, operand(prefix)?))
        }
        (Operator::Call("contains"), [whole, part]) => {
            Ok(Condition::Contains(operand(whole)?, operand(part)?))
        }
        (operator, args) => Err(Problem::Other(texts::operand_count(operator.name(), args.len()))),
    }
}

/// Returns a condition with a known outcome: all of nothing holds, one of nothing does not.
const fn truth(holds: bool) -> Condition {
    if holds { Condition::And(Vec::new()) } else { Condition::Or(Vec::new()) }
}

fn is_type(path: Path, name: &str) -> Refused<Condition> {
    let kind = match name {
        "S" => ValueKind::Text,
        "N" => ValueKind::Number,
        "B" => ValueKind::Bytes,
        "BOOL" => ValueKind::Bool,
        "NULL" => ValueKind::Null,
        "L" => ValueKind::List,
        "M" => ValueKind::Map,
        "SS" => return Ok(Condition::SetOf(path, ValueKind::Text)),
        "NS" => return Ok(Condition::SetOf(path, ValueKind::Number)),
        "BS" => return Ok(Condition::SetOf(path, ValueKind::Bytes)),
        other => return Err(Problem::Other(texts::unknown_type(other))),
    };
    Ok(Condition::KindIn(path, vec![kind]))
}

fn operand(placeholders: &Placeholders, arg: &Arg<'_>) -> Refused<Operand> {
    match arg {
        Arg::Path(path) => Ok(Operand::Path(placeholders.path(path)?)),
        Arg::Value(reference) => Ok(Operand::Value(placeholders.value(reference)?.clone())),
        Arg::Call(call) => match call.args.as_slice() {
            [Arg::Path(path)] => Ok(Operand::Size(placeholders.path(path)?)),
            [Arg::Value(reference)] => size_of(placeholders.value(reference)?),
            other => Err(Problem::Other(texts::operand_count("size", other.len()))),
        },
    }
}

/// Computes the size of a given value, as the evaluator computes that of an attribute.
fn size_of(value: &Value) -> Refused<Operand> {
    let size = if let Value::Text(text) = value {
        text.len()
    } else if let Value::Bytes(bytes) = value {
        bytes.len()
    } else if let Value::Set(members) | Value::List(members) = value {
        members.len()
    } else if let Value::Map(map) = value {
        map.len()
    } else {
        return Err(Problem::Other(texts::operand_type("size", type_name(value))));
    };
    Ok(Operand::Value(Value::number(i64::try_from(size).unwrap_or(i64::MAX))))
}

/// Formats a path as messages show it: `[a, b, [3]]`.
pub(super) fn shown(path: &Path) -> String {
    let mut out = format!("[{}", path.attribute);
    for step in &path.steps {
        out.push_str(", ");
        match step {
            Step::Name(name) => out.push_str(name),
            Step::Index(index) => out.push_str(&format!("[{index}]")),
        }
    }
    out.push(']');
    out
}
