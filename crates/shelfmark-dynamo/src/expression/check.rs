//! Checks conditions without their table, in the order in which the service reports problems.
//!
//! Source of the order and of what is checked: the grammar and tests of open-source emulators,
//! which record the service's answers, read 2026-11.

use std::cmp::Ordering;

use shelfmark_model::{Comparison, Value};

use super::ast::{Arg, Leaf, Node, Operator, RawPath, RawStep};
use super::placeholders::Placeholders;
use super::reserved::is_reserved;
use super::update::FUNCTIONS as UPDATE_FUNCTIONS;
use super::{Problem, Refused};
use crate::errors::{texts, type_name};
use crate::json::plain;
use crate::limits::IN_OPERANDS_MAX;

/// The functions of conditions, and their numbers of operands.
pub(super) const FUNCTIONS: [(&str, usize); 6] = [
    ("attribute_exists", 1),
    ("attribute_not_exists", 1),
    ("attribute_type", 2),
    ("begins_with", 2),
    ("contains", 2),
    ("size", 1),
];

/// The type names that `attribute_type` accepts.
const TYPES: [&str; 10] = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"];

/// Checks a condition.
pub(super) fn condition(placeholders: &Placeholders, node: &Node<'_>) -> Refused<()> {
    first_problem(node, unknown_function)?;
    first_problem(node, misused_function)?;
    first_problem(node, |leaf| leaf.args.iter().try_for_each(reserved_words))?;
    first_problem(node, |leaf| operands(placeholders, leaf))
}

fn first_problem<'a>(
    node: &Node<'a>,
    mut check: impl FnMut(&Leaf<'a>) -> Refused<()>,
) -> Refused<()> {
    let mut found = Ok(());
    node.leaves(&mut |leaf| {
        if found.is_ok() {
            found = check(leaf);
        }
    });
    found
}

fn unknown_function(leaf: &Leaf<'_>) -> Refused<()> {
    let mut found = None;
    let mut visit = |name: &str| {
        if found.is_none() && !FUNCTIONS.iter().any(|(own, _)| *own == name) {
            found = Some(Problem::Other(if UPDATE_FUNCTIONS.contains(&name) {
                texts::function_not_allowed("a condition", name)
            } else {
                texts::unknown_function(name)
            }));
        }
    };
    if let Operator::Call(name) = leaf.operator {
        visit(name);
    }
    for arg in &leaf.args {
        arg.calls(&mut |call| visit(call.operator.name()));
    }
    found.map_or(Ok(()), Err)
}

/// Refuses misused functions: only `size` is an operand, and it is no condition.
fn misused_function(leaf: &Leaf<'_>) -> Refused<()> {
    let misused = |name: &str| Err(Problem::Other(texts::misused_function(name)));
    if leaf.operator == Operator::Call("size") {
        return misused("size");
    }
    let mut found = Ok(());
    for arg in &leaf.args {
        arg.calls(&mut |call| {
            if found.is_ok() && call.operator != Operator::Call("size") {
                found = misused(call.operator.name());
            }
        });
    }
    found
}

/// Refuses names that must be written as placeholders.
pub(super) fn reserved_words(arg: &Arg<'_>) -> Refused<()> {
    let mut found = Ok(());
    arg.paths(&mut |path| {
        if found.is_ok() {
            found = reserved_in_path(path);
        }
    });
    found
}

pub(super) fn reserved_in_path(path: &RawPath<'_>) -> Refused<()> {
    let reserved = path.iter().find_map(|step| match step {
        RawStep::Word(word) if is_reserved(word) => Some(*word),
        RawStep::Word(_) | RawStep::Name(_) | RawStep::Exact(_) | RawStep::Index(_) => None,
    });
    reserved.map_or(Ok(()), |word| Err(Problem::Other(texts::reserved_word(word))))
}

fn operands(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<()> {
    for arg in &leaf.args {
        defined(placeholders, arg)?;
    }
    counts(leaf)?;
    distinct(placeholders, leaf)?;
    for arg in &leaf.args {
        if let Arg::Call(call) = arg {
            types(placeholders, call)?;
        }
    }
    types(placeholders, leaf)
}

fn defined(placeholders: &Placeholders, arg: &Arg<'_>) -> Refused<()> {
    match arg {
        Arg::Path(path) => placeholders.path(path).map(|_| ()),
        Arg::Value(reference) => placeholders.value(reference).map(|_| ()),
        Arg::Call(call) => call.args.iter().try_for_each(|arg| defined(placeholders, arg)),
    }
}

fn counts(leaf: &Leaf<'_>) -> Refused<()> {
    let wrong = |leaf: &Leaf<'_>, count: usize| {
        Err(Problem::Other(texts::operand_count(leaf.operator.name(), count)))
    };
    if leaf.operator == Operator::In && leaf.args.len() > IN_OPERANDS_MAX + 1 {
        return Err(Problem::Other(texts::in_operand_count(leaf.args.len() - 1)));
    }
    let mut found = Ok(());
    let mut check = |call: &Leaf<'_>| {
        let wanted = FUNCTIONS.iter().find(|(name, _)| call.operator == Operator::Call(name));
        if found.is_ok() && wanted.is_some_and(|(_, wanted)| *wanted != call.args.len()) {
            found = wrong(call, call.args.len());
        }
    };
    check(leaf);
    for arg in &leaf.args {
        arg.calls(&mut check);
    }
    found
}

fn distinct(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<()> {
    let [Arg::Path(first), others @ ..] = leaf.args.as_slice() else { return Ok(()) };
    let first = placeholders.path(first)?;
    for other in others {
        if let Arg::Path(other) = other
            && placeholders.path(other)? == first
        {
            let text = texts::operands_equal(leaf.operator.name(), &super::lower::shown(&first));
            return Err(Problem::Other(text));
        }
    }
    Ok(())
}

/// Checks the types of operands that are known without an item.
fn types(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<()> {
    let name = leaf.operator.name();
    let wrong = |found: &str| Err(Problem::Other(texts::operand_type(name, found)));
    let known =
        leaf.args.iter().map(|arg| known_type(placeholders, arg)).collect::<Refused<Vec<_>>>()?;
    let not_in =
        |allowed: &[&str]| known.iter().flatten().copied().find(|found| !allowed.contains(found));
    match leaf.operator {
        Operator::Compare(Comparison::Equal | Comparison::NotEqual) | Operator::In => Ok(()),
        Operator::Compare(
            Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual,
        ) => not_in(&["S", "N", "B"]).map_or(Ok(()), wrong),
        Operator::Between => {
            not_in(&["S", "N", "B"]).map_or(Ok(()), wrong)?;
            bounds(placeholders, leaf)
        }
        Operator::Call("begins_with") => not_in(&["S", "B"]).map_or(Ok(()), wrong),
        Operator::Call("size") => {
            not_in(&["S", "B", "SS", "NS", "BS", "L", "M"]).map_or(Ok(()), wrong)
        }
        Operator::Call("attribute_exists" | "attribute_not_exists") => path_first(leaf),
        Operator::Call("attribute_type") => type_operand(placeholders, leaf),
        Operator::Call(_) | Operator::Plus | Operator::Minus => Ok(()),
    }
}

pub(super) fn path_first(leaf: &Leaf<'_>) -> Refused<()> {
    match leaf.args.first() {
        Some(Arg::Path(_)) => Ok(()),
        Some(Arg::Value(_) | Arg::Call(_)) | None => {
            Err(Problem::Other(texts::path_required(leaf.operator.name())))
        }
    }
}

fn type_operand(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<()> {
    let found = match leaf.args.get(1) {
        Some(Arg::Value(reference)) => placeholders.value(reference)?,
        Some(Arg::Call(_)) => {
            return Err(Problem::Other(texts::operand_type("attribute_type", "N")));
        }
        Some(Arg::Path(_)) | None => {
            let any = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}";
            return Err(Problem::Other(texts::operand_type("attribute_type", any)));
        }
    };
    match found.as_text() {
        None => Err(Problem::Other(texts::operand_type("attribute_type", type_name(found)))),
        Some(name) if TYPES.contains(&name) => Ok(()),
        Some(name) => Err(Problem::Other(texts::unknown_type(name))),
    }
}

fn known_type(placeholders: &Placeholders, arg: &Arg<'_>) -> Refused<Option<&'static str>> {
    match arg {
        Arg::Path(_) => Ok(None),
        Arg::Value(reference) => Ok(Some(type_name(placeholders.value(reference)?))),
        Arg::Call(_) => Ok(Some("N")),
    }
}

fn bounds(placeholders: &Placeholders, leaf: &Leaf<'_>) -> Refused<()> {
    let [_, Arg::Value(lower), Arg::Value(upper)] = leaf.args.as_slice() else { return Ok(()) };
    let (lower, upper) = (placeholders.value(lower)?, placeholders.value(upper)?);
    match lower.compare(upper) {
        None => Err(Problem::Other(texts::bounds_of_two_types(&bound(lower), &bound(upper)))),
        Some(Ordering::Greater) => {
            Err(Problem::Other(texts::bounds_out_of_order(&bound(lower), &bound(upper))))
        }
        Some(Ordering::Less | Ordering::Equal) => Ok(()),
    }
}

/// Writes a binary as the message shows it, which is not its content.
fn binary(value: &Value) -> String {
    let Value::Bytes(bytes) = value else { return String::new() };
    let size = bytes.len();
    format!("java.nio.HeapByteBuffer[pos=0 lim={size} cap={size}]")
}

/// Writes a bound as the message shows it: `S:abc`.
fn bound(value: &Value) -> String {
    let shown = match (value.as_text(), value.as_number()) {
        (Some(text), _) => text.to_owned(),
        (_, Some(number)) => plain(number),
        (None, None) => binary(value),
    };
    format!("{}:{shown}", type_name(value))
}
