//! Which of several functions of one name a call means.

use super::{Aggregate, CqlType, Function, Scalar, candidates, full_signature};
use crate::error::CqlError;

/// How well an argument fits a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Assign {
    /// It is of this type.
    Exact,
    /// It can be taken as of this type.
    Weak,
    /// It cannot.
    No,
}

/// What a call knows about one of its arguments.
pub(crate) trait Argument {
    /// Its type, if it has one of its own.
    fn known_type(&self) -> Option<CqlType>;
    /// How well it fits.
    fn test(&self, ty: &CqlType) -> Assign;
    /// The type of a list in it that stands where none can.
    fn misplaced_list(&self, _ty: &CqlType) -> Option<CqlType> {
        None
    }
    /// How it was written.
    fn text(&self) -> String;
}

/// What a call turned out to be.
#[derive(Debug, Clone)]
pub(crate) enum Resolved {
    Scalar(Scalar),
    Aggregate(Aggregate),
}

/// Resolves a call of a native function.
///
/// # Errors
///
/// * `Invalid`: no function fits, or several fit equally.
pub(crate) fn resolve(
    name: &str,
    arguments: &[&dyn Argument],
    receiver: Option<&CqlType>,
) -> Result<Option<Resolved>, CqlError> {
    let types: Vec<Option<CqlType>> =
        arguments.iter().map(|argument| argument.known_type()).collect();
    if name.chars().any(char::is_uppercase) {
        // Names without quotes were folded; those with them are none of these.
        return Ok(None);
    }
    let texts: Vec<String> = arguments.iter().map(|argument| argument.text()).collect();
    let Some(found) = candidates(name, &types, &texts, receiver)? else { return Ok(None) };
    if let [only] = found.as_slice() {
        check_arguments(only, arguments)?;
        return Ok(found.into_iter().next().map(into_resolved));
    }
    let mut weak = Vec::new();
    for function in &found {
        if function.arguments().len() != arguments.len() {
            continue;
        }
        let tests =
            function.arguments().iter().zip(arguments).map(|(ty, argument)| argument.test(ty));
        match tests.max().unwrap_or(Assign::Exact) {
            Assign::Exact => return Ok(Some(into_resolved(function.clone()))),
            Assign::Weak => weak.push(function),
            Assign::No => {}
        }
    }
    if weak.len() > 1
        && let Some(receiver) = receiver
    {
        let fitting: Vec<&Function> =
            weak.iter().copied().filter(|own| own.returns() == receiver).collect();
        if let [only] = fitting.as_slice() {
            return Ok(Some(into_resolved((*only).clone())));
        }
    }
    let shown = |functions: &[&Function]| {
        let all: Vec<String> = functions
            .iter()
            .map(|own| full_signature(own.name(), own.arguments(), own.returns()))
            .collect();
        all.join(", ")
    };
    match weak.as_slice() {
        [only] => Ok(Some(into_resolved((*only).clone()))),
        [] => Err(CqlError::invalid(format!(
            "Invalid call to function {name}, none of its type signatures match (known type signatures: {})",
            shown(&found.iter().collect::<Vec<_>>())
        ))),
        several => Err(CqlError::invalid(format!(
            "Ambiguous call to function {name} (can be matched by following signatures: {}): use type casts to disambiguate",
            shown(several)
        ))),
    }
}

fn into_resolved(function: Function) -> Resolved {
    match function {
        Function::Scalar(own) => Resolved::Scalar(own),
        Function::Aggregate(own) => Resolved::Aggregate(own),
    }
}

fn check_arguments(function: &Function, arguments: &[&dyn Argument]) -> Result<(), CqlError> {
    let name = format!("system.{}", function.name());
    let (wanted, given) = (function.arguments().len(), arguments.len());
    if wanted != given {
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments in call to function {name}: {wanted} required but {given} provided"
        )));
    }
    for (at, (ty, argument)) in function.arguments().iter().zip(arguments).enumerate() {
        if let Some(other) = argument.misplaced_list(ty) {
            return Err(CqlError::invalid(format!(
                "Unexpected receiver type '{other}'; only list and vector are expected"
            )));
        }
        if argument.test(ty) == Assign::No {
            return Err(CqlError::invalid(format!(
                "Type error: {} cannot be passed as argument {at} of function {name} of type {ty}",
                argument.text()
            )));
        }
    }
    Ok(())
}
