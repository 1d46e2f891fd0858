//! Updates: SET, REMOVE, ADD and DELETE, at most once each, in any order.

use shelfmark_model::{Operand, Patch, PatchOperation, PatchValue, Path, Value};

use super::ast::{Arg, Change, Leaf, Operator, Section};
use super::check::{path_first, reserved_in_path, reserved_words};
use super::parser::{Parser, UPDATE_KEYWORDS};
use super::placeholders::Placeholders;
use super::projection::apart;
use super::{Problem, Refused};
use crate::errors::{texts, type_name};

/// The functions of updates, all with two operands.
const FUNCTIONS: [&str; 2] = ["if_not_exists", "list_append"];

/// Reads an update.
pub(super) fn read(placeholders: &Placeholders, source: &str) -> Refused<Patch> {
    let parsed = parse(source)?;
    check(placeholders, &parsed)?;
    let mut patch = Patch::default();
    for change in &parsed.changes {
        patch.operations.push(operation(placeholders, change)?);
    }
    let paths: Vec<Path> =
        patch.operations.iter().map(|operation| operation.path().clone()).collect();
    apart(&paths)?;
    parsed.changes.iter().try_for_each(|change| section_type(placeholders, change))?;
    parsed.changes.iter().try_for_each(|change| types(placeholders, change))?;
    Ok(patch)
}

struct Parsed<'a> {
    changes: Vec<Change<'a>>,
    /// The first section that stands there twice.
    twice: Option<Section>,
}

fn parse(source: &str) -> Refused<Parsed<'_>> {
    let mut parser = Parser::new(source, UPDATE_KEYWORDS);
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
        if parser.end().is_ok() {
            return Ok(parsed);
        }
    }
}

fn change<'a>(parser: &mut Parser<'a>, section: Section) -> Refused<Change<'a>> {
    let path = parser.path()?;
    let arg = match section {
        Section::Remove => None,
        Section::Set => {
            parser.expect("=")?;
            Some(right_hand_side(parser)?)
        }
        Section::Add | Section::Delete => match parser.bare_operand()? {
            value @ Arg::Value(_) => Some(value),
            Arg::Path(_) | Arg::Call(_) => return Err(parser.unexpected()),
        },
    };
    Ok(Change { section, path, arg })
}

/// Parses an operand, a sum or a difference, which may stand in parentheses.
fn right_hand_side<'a>(parser: &mut Parser<'a>) -> Refused<Arg<'a>> {
    let left = if parser.peek().is("(") {
        parser.deeper(|parser| {
            parser.advance();
            let inner = right_hand_side(parser)?;
            parser.expect(")")?;
            Ok(inner)
        })?
    } else {
        parser.bare_operand()?
    };
    let operator = match parser.peek() {
        token if token.is("+") => Operator::Plus,
        token if token.is("-") => Operator::Minus,
        _ => return Ok(left),
    };
    parser.advance();
    parser.count_operator()?;
    let right = parser.operand()?;
    Ok(Arg::Call(Leaf { operator, args: vec![left, right] }))
}

/// Checks that come before names and values are looked up.
fn check(placeholders: &Placeholders, parsed: &Parsed<'_>) -> Refused<()> {
    for change in &parsed.changes {
        reserved_in_path(&change.path)?;
        change.arg.iter().try_for_each(reserved_words)?;
    }
    for change in &parsed.changes {
        change.arg.iter().try_for_each(unknown_function)?;
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
            found = Err(Problem::Other(texts::unknown_function(name)));
        }
    });
    found
}

/// Looks the names up before any value is, as the service does.
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

/// ADD takes a number or a set, DELETE a set.
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

/// Checks operands of functions and sums whose type is known before the item is.
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
