//! CQL's functions: scalar and aggregate, operators and casts.
//!
//! What it is not: no terms and no selection; whoever resolves a call says what it knows about the
//! arguments. User-defined functions are not there.
//!
//! Invariant: a function that is resolved gets as many arguments as it has types, each null or a
//! valid value of its type.
//!
//! Source: Apache Cassandra 5.0, package `cql3.functions`, read 2026-11.

mod aggregate;
mod blob;
mod cast;
mod collection;
mod mask;
mod math;
mod numeric;
mod operator;
mod real;
mod resolve;
mod time;
mod vector;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use shelfmark_engine::Environment;

use crate::error::CqlError;
use crate::types::CqlType;

pub(crate) use aggregate::{Accumulator, Aggregate};
pub(crate) use cast::{ambiguous_cast, cast, no_cast};
pub(crate) use operator::{negate, operate};
pub(crate) use resolve::{Argument, Assign, Resolved, resolve};
pub(crate) use time::new_timeuuid;
pub(crate) use vector::{SIMILARITIES, Similarity};

/// What a function may ask of the world.
#[derive(Clone, Copy)]
pub(crate) struct World<'e> {
    /// Clock and randomness.
    pub(crate) environment: &'e Environment,
}

/// The body of a scalar function.
pub(crate) type Body =
    Arc<dyn Fn(World<'_>, &[Option<&[u8]>]) -> Result<Option<Vec<u8>>, CqlError> + Send + Sync>;

/// A function of values to a value.
#[derive(Clone)]
pub(crate) struct Scalar {
    /// Its name, without keyspace.
    pub(crate) name: String,
    /// The types of its arguments.
    pub(crate) arguments: Vec<CqlType>,
    /// The type of its value.
    pub(crate) returns: CqlType,
    pub(crate) body: Body,
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", signature(&self.name, &self.arguments))
    }
}

impl Scalar {
    /// A function that is null when an argument is null.
    pub(crate) fn strict(
        name: &str,
        arguments: Vec<CqlType>,
        returns: CqlType,
        body: impl Fn(&[&[u8]]) -> Result<Option<Vec<u8>>, CqlError> + Send + Sync + 'static,
    ) -> Self {
        let meaningless: Vec<bool> = arguments.iter().map(CqlType::empty_is_meaningless).collect();
        let body: Body = Arc::new(move |_, values| {
            let values: Option<Vec<&[u8]>> = values
                .iter()
                .zip(&meaningless)
                .map(|(value, skip)| value.filter(|value| !(*skip && value.is_empty())))
                .collect();
            values.map_or(Ok(None), |values| body(&values))
        });
        Self { name: name.to_owned(), arguments, returns, body }
    }

    /// A function of no arguments that asks the world.
    pub(crate) fn of_world(
        name: &str,
        returns: CqlType,
        body: impl Fn(World<'_>) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let body: Body = Arc::new(move |world, _| Ok(Some(body(world))));
        Self { name: name.to_owned(), arguments: Vec::new(), returns, body }
    }

    /// Computes the value.
    pub(crate) fn call(
        &self,
        world: World<'_>,
        values: &[Option<&[u8]>],
    ) -> Result<Option<Vec<u8>>, CqlError> {
        (self.body)(world, values)
    }
}

/// Writes a signature with its result as Cassandra lists them: `system.abs : (int) -> int`.
pub(crate) fn full_signature(name: &str, arguments: &[CqlType], returns: &CqlType) -> String {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("system.{name} : ({}) -> {returns}", arguments.join(", "))
}

/// Writes a signature as Cassandra's messages do: `system.abs(int)`.
pub(crate) fn signature(name: &str, arguments: &[CqlType]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("system.{name}({})", arguments.join(", "))
}

/// One of the two kinds.
#[derive(Debug, Clone)]
pub(crate) enum Function {
    Scalar(Scalar),
    Aggregate(Aggregate),
}

impl Function {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Scalar(own) => &own.name,
            Self::Aggregate(own) => own.name,
        }
    }

    pub(crate) fn arguments(&self) -> &[CqlType] {
        match self {
            Self::Scalar(own) => &own.arguments,
            Self::Aggregate(own) => &own.arguments,
        }
    }

    pub(crate) fn returns(&self) -> &CqlType {
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
) -> Result<Option<Vec<Function>>, CqlError> {
    let scalars = |found: Vec<Scalar>| Some(found.into_iter().map(Function::Scalar).collect());
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
    let found = aggregate::candidates(name, arguments)?;
    Ok(found.map(|found| found.into_iter().map(Function::Aggregate).collect()))
}

/// The numeric types, in the order of Cassandra's declarations.
pub(crate) const NUMERIC: [CqlType; 9] = [
    CqlType::Tinyint,
    CqlType::Smallint,
    CqlType::Int,
    CqlType::Bigint,
    CqlType::Float,
    CqlType::Double,
    CqlType::Varint,
    CqlType::Decimal,
    CqlType::Counter,
];

fn refused(name: &str, message: &str) -> CqlError {
    CqlError::invalid(format!("Function {name} {message}"))
}
