//! Resolves a call to the one function that it means, by asking each family for its name.
//!
//! A new family of functions is asked in `candidates` here; a new function of a family is
//! registered in the family's own file.

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_syntax::ast::{FunctionName, Name};

use super::aggregate::Aggregate;
use super::scalar::{Scalar, full_signature};
use super::{aggregate, blob, collection, mask, math, time, vector};
use crate::resolve::UserTypes;
use crate::value::CqlType;

/// A grade of how well an argument fits a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assignability {
    /// The argument is of this type.
    Exact,
    /// The argument can be taken as of this type.
    Weak,
    /// The argument does not fit.
    No,
}

/// Describes one argument of a call to the resolution.
pub trait Argument {
    /// Returns its type, if it has one of its own.
    fn known_type(&self) -> Option<CqlType>;
    /// Returns how well it fits a type.
    fn test(&self, ty: &CqlType) -> Assignability;
    /// Returns the type of a list in it that stands where none can.
    fn misplaced_list(&self, _ty: &CqlType) -> Option<CqlType> {
        None
    }
    /// Returns it as it was written.
    fn text(&self) -> String;
}

/// The function that a call was resolved to.
#[derive(Debug, Clone)]
pub enum Resolved {
    /// A function of the values of one row.
    Scalar(Scalar),
    /// A function of the values of many rows.
    Aggregate(Aggregate),
}

/// Returns the refusal of an argument whose type nothing tells, of a function that takes its types from
/// its arguments; `function` is its name with its parameters.
pub(super) fn untyped_argument(argument: &str, function: &str) -> CqlError {
    CqlError::invalid(format!(
        "Cannot infer type of argument {argument} in call to function system.{function}: use type casts to disambiguate"
    ))
}

/// Resolves a call of a native function.
///
/// # Errors
///
/// * `Invalid`: no function fits, or several fit equally.
pub fn resolve(
    name: &str,
    arguments: &[&dyn Argument],
    receiver: Option<&CqlType>,
) -> Result<Option<Resolved>, CqlError> {
    let found = native_candidates(name, arguments, receiver)?;
    choose(name, found, arguments, receiver)
}

/// Resolves a call of a function of a user's or a native one; the call may name a keyspace, else it
/// is made in one.
///
/// # Errors
///
/// * `Invalid`: no function fits, or several fit equally.
pub fn resolve_call(
    function: &FunctionName,
    schema: &dyn UserTypes,
    keyspace: &str,
    arguments: &[&dyn Argument],
    receiver: Option<&CqlType>,
) -> Result<Option<Resolved>, CqlError> {
    let (own, name) = (function.keyspace.as_ref().map(Name::as_str), function.name.as_str());
    let mut found = schema.user_functions(own.unwrap_or(keyspace), name);
    if own.is_none_or(|own| own == "system") {
        match native_candidates(name, arguments, receiver) {
            Ok(native) => found.extend(native),
            // What native functions say of their arguments counts where there is no other.
            Err(error) if found.is_empty() => return Err(error),
            Err(_) => {}
        }
    }
    choose(name, found, arguments, receiver)
}

fn native_candidates(
    name: &str,
    arguments: &[&dyn Argument],
    receiver: Option<&CqlType>,
) -> Result<Vec<Resolved>, CqlError> {
    let types: Vec<Option<CqlType>> =
        arguments.iter().map(|argument| argument.known_type()).collect();
    if name.chars().any(char::is_uppercase) {
        // Names without quotes were folded; those with them are none of these.
        return Ok(Vec::new());
    }
    let texts: Vec<String> = arguments.iter().map(|argument| argument.text()).collect();
    Ok(candidates(name, &types, &texts, receiver)?.unwrap_or_default())
}

/// Chooses the one function among those of a name that takes the arguments best.
fn choose(
    name: &str,
    found: Vec<Resolved>,
    arguments: &[&dyn Argument],
    receiver: Option<&CqlType>,
) -> Result<Option<Resolved>, CqlError> {
    if found.is_empty() {
        return Ok(None);
    }
    if let [only] = found.as_slice() {
        check_arguments(only, arguments)?;
        return Ok(found.into_iter().next());
    }
    let mut weak = Vec::new();
    for function in &found {
        let suits = receiver.is_none_or(|receiver| is_taken_as(function.returns(), receiver));
        if function.arguments().len() != arguments.len() || !suits {
            continue;
        }
        let tests =
            function.arguments().iter().zip(arguments).map(|(ty, argument)| argument.test(ty));
        match tests.max().unwrap_or(Assignability::Exact) {
            Assignability::Exact => return Ok(Some(function.clone())),
            Assignability::Weak => weak.push(function),
            Assignability::No => {}
        }
    }
    if weak.len() > 1
        && let Some(receiver) = receiver
    {
        let fitting: Vec<&Resolved> =
            weak.iter().copied().filter(|own| own.returns() == receiver).collect();
        if let [only] = fitting.as_slice() {
            return Ok(Some((*only).clone()));
        }
    }
    let shown = |functions: &[&Resolved]| {
        let mut all: Vec<String> = functions
            .iter()
            .map(|own| full_signature(&own.full_name(), own.arguments(), own.returns()))
            .collect();
        all.sort();
        all.join(", ")
    };
    match weak.as_slice() {
        [only] => Ok(Some((*only).clone())),
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

/// Returns true if a value of a type may be assigned to what is of another.
fn is_taken_as(ty: &CqlType, receiver: &CqlType) -> bool {
    ty.freeze() == receiver.freeze() || receiver.is_value_compatible_with(ty)
}

fn check_arguments(function: &Resolved, arguments: &[&dyn Argument]) -> Result<(), CqlError> {
    let name = function.full_name();
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
        if argument.test(ty) == Assignability::No {
            return Err(CqlError::invalid(format!(
                "Type error: {} cannot be passed as argument {at} of function {name} of type {ty}",
                argument.text()
            )));
        }
    }
    Ok(())
}

impl Resolved {
    /// Returns its name with its keyspace.
    #[must_use]
    pub fn full_name(&self) -> String {
        match self {
            Self::Scalar(own) => own.full_name(),
            Self::Aggregate(own) => own.full_name(),
        }
    }

    /// Returns the types of its arguments.
    #[must_use]
    pub fn arguments(&self) -> &[CqlType] {
        match self {
            Self::Scalar(own) => &own.arguments,
            Self::Aggregate(own) => &own.arguments,
        }
    }

    /// Returns the type of its value.
    #[must_use]
    pub fn returns(&self) -> &CqlType {
        match self {
            Self::Scalar(own) => &own.returns,
            Self::Aggregate(own) => &own.returns,
        }
    }
}

/// Finds the functions of a (lower-case) name that could take arguments of these types; `None`
/// for a type that is not known. `receiver` is the type that is wanted of the value.
fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
    receiver: Option<&CqlType>,
) -> Result<Option<Vec<Resolved>>, CqlError> {
    let scalars = |found: Vec<Scalar>| Some(found.into_iter().map(Resolved::Scalar).collect());
    if let Some(found) = time::candidates(name) {
        return Ok(scalars(found));
    }
    if let Some(found) = blob::candidates(name, arguments, texts, receiver)? {
        return Ok(scalars(found));
    }
    if let Some(found) = math::candidates(name) {
        return Ok(scalars(found));
    }
    if let Some(found) = collection::candidates(name, arguments, texts)? {
        return Ok(scalars(found));
    }
    if let Some(found) = vector::candidates(name, arguments, texts)? {
        return Ok(scalars(found));
    }
    if let Some(found) = mask::candidates(name, arguments, texts)? {
        return Ok(scalars(found));
    }
    let found = aggregate::candidates(name, arguments, texts)?;
    Ok(found.map(|found| found.into_iter().map(Resolved::Aggregate).collect()))
}
