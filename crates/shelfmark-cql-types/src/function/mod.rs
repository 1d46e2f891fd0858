//! CQL's functions, operators and casts; functions are registered in their family's `candidates`.
//!
//! `math`, `time`, `blob`, `collection`, `vector` and `mask` have the scalar functions, `aggregate`
//! the aggregates. A new function is a name in the `candidates` of one of them; a new family is
//! also asked by `candidates` in `resolve`, which finds the function that a call means.
//!
//! What it is not: no terms and no selection; whoever resolves a call says what it knows about the
//! arguments. Functions of users come from whoever has them, as functions like any other.
//!
//! Invariant: a function that is resolved gets as many arguments as it has types, each null or a
//! valid value of its type.
//!
//! Source: Apache Cassandra 5.0, package `cql3.functions`, read 2026-11.

mod aggregate;
mod blob;
mod cast;
mod collection;
mod context;
mod float_sum;
mod inside;
mod mask;
mod math;
mod numeric;
mod operator;
mod real;
mod resolve;
mod scalar;
mod time;
mod vector;

#[cfg(test)]
mod tests;

pub use aggregate::{Accumulator, Aggregate, UserAggregate};
pub use cast::{ambiguous_cast, cast, no_cast};
pub use context::FunctionContext;
pub use inside::property_inside;
pub use mask::is_masking;
pub use operator::{negate, no_negative, operate, operator_function};
pub use resolve::{Argument, Assignability, Resolved, resolve, resolve_call};
pub use scalar::Scalar;
pub use time::new_timeuuid;
pub use vector::{SIMILARITIES, Similarity};
