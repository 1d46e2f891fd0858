//! Translates SET and REMOVE to a patch, by way of the tree of update expressions and its checks.

use shelfmark_model::{Patch, Value};

use super::ast::{Binary, Change as Written, Expr, ExprKind, Step, Update};
use super::condition::{
    FUNCTIONS as CONDITION_FUNCTIONS, Lowering, assigned_path, count, references,
};
use super::value::is_value;
use crate::errors::{Error, Result, texts, type_name};
use crate::expression::Placeholders;
use crate::expression::tree::{Arg, Change, Leaf, Operator, Section};

/// The functions of an assignment, all with two operands.
const FUNCTIONS: [&str; 2] = ["if_not_exists", "list_append"];

/// Translates the changes of an UPDATE.
///
/// # Errors
///
/// * ValidationException: something that is assigned is no value, or two paths overlap.
pub(crate) fn patch(update: &Update, parameters: &[Value]) -> Result<Patch> {
    let values = update.changes.iter().map(|change| match change {
        Written::Set(_, expr) => count(expr),
        Written::Remove(_) => 0,
    });
    let references = references(values.sum());
    let mut lowering = Lowering::new(parameters, &references);
    let mut changes = Vec::with_capacity(update.changes.len());
    for change in &update.changes {
        changes.push(match change {
            Written::Remove(path) => {
                Change { section: Section::Remove, path: assigned_path(path)?, arg: None }
            }
            Written::Set(path, expr) => set(&mut lowering, path, expr, parameters)?,
        });
    }
    Placeholders::of_values(lowering.given()).update_of(&changes)
}

/// Translates one assignment. `set_add` and `set_delete` are the sections ADD and DELETE.
fn set<'t>(
    lowering: &mut Lowering<'t>,
    path: &'t [Step],
    expr: &'t Expr,
    parameters: &[Value],
) -> Result<Change<'t>> {
    let target = assigned_path(path)?;
    let (name, operands) = match &expr.kind {
        ExprKind::Call(name, operands) if name == "set_add" || name == "set_delete" => {
            (name.to_ascii_uppercase(), operands)
        }
        _ => {
            let arg = assigned(lowering, expr)?;
            return Ok(Change { section: Section::Set, path: target, arg: Some(arg) });
        }
    };
    let refused = |text: String| Err(Error::validation(text));
    let [set, members] = operands.as_slice() else {
        return refused(texts::set_operands(&name, &expr.place));
    };
    match &set.kind {
        ExprKind::Path(steps) if steps == path => {}
        _ => return refused(texts::set_target(&name, &expr.place)),
    }
    if !is_value(members) {
        return refused(texts::set_type(&name, &set.place));
    }
    let value = super::value::value(members, parameters)?;
    if !matches!(type_name(&value), "SS" | "NS" | "BS") {
        return refused(texts::set_type(&name, &set.place));
    }
    let section = if name == "SET_ADD" { Section::Add } else { Section::Delete };
    Ok(Change { section, path: target, arg: Some(lowering.reference(value)?) })
}

/// Translates what is assigned: a value, a path, a sum, or a call.
fn assigned<'t>(lowering: &mut Lowering<'t>, expr: &'t Expr) -> Result<Arg<'t>> {
    let (operator, operands): (Operator<'t>, Vec<&'t Expr>) = match &expr.kind {
        ExprKind::Binary(Binary::Plus, left, right) => (Operator::Plus, vec![left, right]),
        ExprKind::Binary(Binary::Minus, left, right) => (Operator::Minus, vec![left, right]),
        ExprKind::Binary(binary, ..) => {
            let text = texts::unsupported_operator("Update", binary.symbol());
            return Err(Error::validation(text));
        }
        ExprKind::Signed(sign, _) => {
            return Err(Error::validation(texts::operand_count(&sign.to_string(), 1)));
        }
        ExprKind::Call(name, operands) => {
            let known = FUNCTIONS.into_iter().find(|own| own == name);
            let known = known.ok_or_else(|| Error::validation(refused(name, expr)))?;
            (Operator::Call(known), operands.iter().collect())
        }
        _ => return lowering.arg(expr),
    };
    let args = operands.into_iter().map(|operand| assigned(lowering, operand));
    let args = args.collect::<Result<_>>()?;
    Ok(Arg::Call(Leaf { operator, args }))
}

/// Words a function that no assignment has.
fn refused(name: &str, expr: &Expr) -> String {
    if name == "size" || CONDITION_FUNCTIONS.contains(&name) {
        return texts::function_not_allowed("an update", name);
    }
    texts::unrecognized_function(name, &expr.place)
}
