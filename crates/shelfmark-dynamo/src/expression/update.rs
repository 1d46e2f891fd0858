//! Parses updates: SET, REMOVE, ADD and DELETE, at most once each, in any order.

use std::collections::BTreeSet;

use shelfmark_model::{Operand, Patch, PatchOperation, PatchValue, Path, Value};

use super::ast::{Arg, Change, Leaf, Operator, Section};
use super::check::{
    FUNCTIONS as CONDITION_FUNCTIONS, path_first, reserved_in_path, reserved_words,
};
use super::lexer::TokenKind;
use super::parser::Parser;
use super::placeholders::Placeholders;
use super::projection::apart;
use super::{Problem, Refused};
use crate::errors::{texts, type_name};
use crate::limits::EXPRESSION_SIZE_BYTES_MAX;

/// The functions of updates, all with two operands.
pub(super) const FUNCTIONS: [&str; 2] = ["if_not_exists", "list_append"];

/// Parses an update.
pub(super) fn read(placeholders: &Placeholders, source: &str) -> Refused<Patch> {
    let parsed = parse(source)?;
    check(placeholders, &parsed)?;
    translate(placeholders, &parsed.changes)
}

/// Returns the attributes that an update changes, each once, in the order of their names.
pub(crate) fn changed(placeholders: &Placeholders, source: &str) -> Option<Vec<String>> {
    // Longer ones are refused before they are parsed.
    let source = Some(source).filter(|own| own.len() <= EXPRESSION_SIZE_BYTES_MAX)?;
    let parsed = parse(source).ok()?;
    let paths = parsed.changes.iter().map(|change| placeholders.path(&change.path).ok());
    let names: Option<BTreeSet<String>> =
        paths.map(|path| path.map(|path| path.attribute)).collect();
    names.map(|names| names.into_iter().collect())
}

/// Translates changes, and checks that they go together and that their operands fit.
pub(super) fn translate(placeholders: &Placeholders, changes: &[Change<'_>]) -> Refused<Patch> {
    let mut patch = Patch::default();
    for change in changes {
        patch.operations.push(operation(placeholders, change)?);
    }
    let paths: Vec<Path> =
        patch.operations.iter().map(|operation| operation.path().clone()).collect();
    apart(&paths)?;
    changes.iter().try_for_each(|change| section_type(placeholders, change))?;
    changes.iter().try_for_each(|change| types(placeholders, change))?;
    Ok(patch)
}

struct Parsed<'a> {
    changes: Vec<Change<'a>>,
    /// The first section that stands twice.
    twice: Option<Section>,
}

fn parse(source: &str) -> Refused<Parsed<'_>> {
    let mut parser = Parser::new(source);
    let mut parsed = Parsed { changes: Vec::new(), twice: None };
    let mut seen = Vec::new();
    loop {
        let word = parser.peek();
        let section = Section::ALL.into_iter().find(|own| word.is_word(own.keyword()));
        let Some(section) = section else { return Err(parser.unexpected()) };
        parser.advance();
        if seen.contains(&section) {
            parsed.twice.get_or_insert(section);
        }
        seen.push(section);
        parsed.changes.extend(parser.list(|parser| change(parser, section))?);
        if parser.end().is_err() {
            continue;
        }
        if parser.redundant_parentheses {
            return Err(Problem::Other(texts::REDUNDANT_PARENTHESES.to_owned()));
        }
        return Ok(parsed);
    }
}

fn change<'a>(parser: &mut Parser<'a>, section: Section) -> Refused<Change<'a>> {
    let path = parser.path()?;
    let arg = match section {
        Section::Remove => None,
        Section::Set => {
            parser.expect("=")?;
            Some(right_hand_side(parser)?.arg)
        }
        Section::Add | Section::Delete if parser.peek().kind != TokenKind::Value => {
            return Err(parser.unexpected());
        }
        Section::Add | Section::Delete => Some(parser.bare_operand()?),
    };
    Ok(Change { section, path, arg })
}

/// The right-hand side of a SET, and its content if it was one pair of parentheses.
struct RightHandSide<'a> {
    arg: Arg<'a>,
    grouped: bool,
}

/// Parses an operand, a sum or a difference. Each may stand in parentheses, but a sum in
/// parentheses is no operand of another.
fn right_hand_side<'a>(parser: &mut Parser<'a>) -> Refused<RightHandSide<'a>> {
    let grouped = parser.peek().is("(");
    let left = if grouped { grouped_side(parser)? } else { parser.bare_operand()? };
    let is_sum =
        matches!(&left, Arg::Call(Leaf { operator: Operator::Plus | Operator::Minus, .. }));
    let operator = match parser.peek() {
        token if token.is("+") && !is_sum => Operator::Plus,
        token if token.is("-") && !is_sum => Operator::Minus,
        _ => return Ok(RightHandSide { arg: left, grouped }),
    };
    parser.advance();
    parser.count_operator()?;
    let right = parser.operand()?;
    let arg = Arg::Call(Leaf { operator, args: vec![left, right] });
    Ok(RightHandSide { arg, grouped: false })
}

fn grouped_side<'a>(parser: &mut Parser<'a>) -> Refused<Arg<'a>> {
    parser.deeper(|parser| {
        parser.advance();
        let inner = right_hand_side(parser)?;
        parser.expect(")")?;
        parser.redundant_parentheses |= inner.grouped;
        Ok(inner.arg)
    })
}

/// Checks an update as far as that needs no placeholders.
fn check(placeholders: &Placeholders, parsed: &Parsed<'_>) -> Refused<()> {
    for change in &parsed.changes {
        reserved_in_path(&change.path)?;
        change.arg.iter().try_for_each(reserved_words)?;
    }
    for change in &parsed.changes {
        change.arg.iter().try_for_each(unknown_function)?;
        change.arg.iter().try_for_each(misused_function)?;
    }
    if let Some(section) = parsed.twice {
        return Err(Problem::Other(texts::section_twice(section.keyword())));
    }
    for change in &parsed.changes {
        placeholders.path(&change.path)?;
        change.arg.iter().try_for_each(|arg| names(placeholders, arg))?;
    }
    Ok(())
}

fn unknown_function(arg: &Arg<'_>) -> Refused<()> {
    let mut found = Ok(());
    arg.calls(&mut |call| {
        if let Operator::Call(name) = call.operator
            && found.is_ok()
            && !FUNCTIONS.contains(&name)
        {
            let known = CONDITION_FUNCTIONS.iter().any(|(own, _)| *own == name);
            found = Err(Problem::Other(if known {
                texts::function_not_allowed("an update", name)
            } else {
                texts::unknown_function(name)
            }));
        }
    });
    found
}

/// Refuses misused functions: only `if_not_exists` is an operand of something else.
fn misused_function(arg: &Arg<'_>) -> Refused<()> {
    let Arg::Call(outermost) = arg else { return Ok(()) };
    let mut found = Ok(());
    for arg in &outermost.args {
        arg.calls(&mut |call| {
            if call.operator == Operator::Call("list_append") {
                found = Err(Problem::Other(texts::misused_function("list_append")));
            }
        });
    }
    found
}

/// Resolves the names before any value, as the service does.
fn names(placeholders: &Placeholders, arg: &Arg<'_>) -> Refused<()> {
    let mut found = Ok(());
    arg.paths(&mut |path| {
        if found.is_ok() {
            found = placeholders.path(path).map(|_| ());
        }
    });
    found
}

fn operation(placeholders: &Placeholders, change: &Change<'_>) -> Refused<PatchOperation> {
    let path = placeholders.path(&change.path)?;
    let given = || match &change.arg {
        Some(Arg::Value(reference)) => placeholders.value(reference).cloned(),
        Some(Arg::Path(_) | Arg::Call(_)) | None => {
            Err(Problem::Other(texts::operand_count(change.section.keyword(), 0)))
        }
    };
    Ok(match change.section {
        Section::Remove => PatchOperation::Remove(path),
        Section::Add => PatchOperation::Add(path, given()?),
        Section::Delete => PatchOperation::Subtract(path, given()?),
        Section::Set => match &change.arg {
            Some(arg) => PatchOperation::Set(path, value(placeholders, arg)?),
            None => return Err(Problem::Other(texts::operand_count("SET", 0))),
        },
    })
}

fn value(placeholders: &Placeholders, arg: &Arg<'_>) -> Refused<PatchValue> {
    let call = match arg {
        Arg::Path(path) => return Ok(PatchValue::Operand(Operand::Path(placeholders.path(path)?))),
        Arg::Value(reference) => {
            return Ok(PatchValue::Operand(Operand::Value(placeholders.value(reference)?.clone())));
        }
        Arg::Call(call) => call,
    };
    let boxed = |arg| value(placeholders, arg).map(Box::new);
    match (call.operator, call.args.as_slice()) {
        (Operator::Plus, [left, right]) => Ok(PatchValue::Plus(boxed(left)?, boxed(right)?)),
        (Operator::Minus, [left, right]) => Ok(PatchValue::Minus(boxed(left)?, boxed(right)?)),
        (Operator::Call("list_append"), [left, right]) => {
            Ok(PatchValue::ListAppend(boxed(left)?, boxed(right)?))
        }
        (Operator::Call("if_not_exists"), [Arg::Path(path), other]) => {
            Ok(PatchValue::IfNotExists(placeholders.path(path)?, boxed(other)?))
        }
        (Operator::Call("if_not_exists"), [_, _]) => {
            Err(Problem::Other(texts::path_required("if_not_exists")))
        }
        (operator, args) => Err(Problem::Other(texts::operand_count(operator.name(), args.len()))),
    }
}

/// Checks the operand of a section: ADD takes a number or a set, DELETE a set.
fn section_type(placeholders: &Placeholders, change: &Change<'_>) -> Refused<()> {
    let (Section::Add | Section::Delete, Some(Arg::Value(reference))) =
        (change.section, &change.arg)
    else {
        return Ok(());
    };
    let found = placeholders.value(reference)?;
    let fits = matches!(found, Value::Set(_))
        || (change.section == Section::Add && matches!(found, Value::Number(_)));
    if fits {
        return Ok(());
    }
    let name = match type_name(found) {
        "S" => "STRING",
        "N" => "NUMBER",
        "B" => "BINARY",
        "BOOL" => "BOOLEAN",
        "L" => "LIST",
        "M" => "MAP",
        other => other,
    };
    Err(Problem::Other(texts::section_operand_type(change.section.keyword(), name)))
}

/// Checks operands of functions and sums whose type is known without the item.
fn types(placeholders: &Placeholders, change: &Change<'_>) -> Refused<()> {
    let mut found = Ok(());
    if let Some(arg) = &change.arg {
        arg.calls(&mut |call| {
            if found.is_ok() {
                found = call_types(placeholders, call);
            }
        });
    }
    found
}

fn call_types(placeholders: &Placeholders, call: &Leaf<'_>) -> Refused<()> {
    let wanted = match call.operator {
        Operator::Plus | Operator::Minus => "N",
        Operator::Call("list_append") => "L",
        Operator::Call("if_not_exists") => return path_first(call),
        Operator::Call(_) | Operator::Compare(_) | Operator::Between | Operator::In => {
            return Ok(());
        }
    };
    for arg in &call.args {
        if let Arg::Value(reference) = arg {
            let found = type_name(placeholders.value(reference)?);
            if found != wanted {
                let text = texts::operand_type(call.operator.name(), found);
                return Err(Problem::Other(text));
            }
        }
    }
    Ok(())
}
