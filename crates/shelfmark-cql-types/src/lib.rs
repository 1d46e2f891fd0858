//! CQL's values and what can be computed of them: types, terms, functions, comparison, text.
//!
//! What it is not: it knows no table's rows, no statement and no connection; whoever prepares a term
//! hands in what the schema says. Clock and randomness are handed in, too.
//!
//! Invariant: whatever is evaluated is null, unset, or a valid value of the type that it was
//! prepared for, as the bytes of the protocol.
//!
//! # Parts, from the bytes upwards
//!
//! * `value`: serialised values validated, compared, as text, JSON and key components.
//! * `resolve`: types of the text resolved against user types.
//! * [`function`]: functions, operators and casts.
//! * [`term`]: terms of the text prepared and evaluated.

pub mod function;
mod resolve;
pub mod term;
mod value;

pub use resolve::{UserTypes, is_reversed, refresh, resolve_type};
pub use value::*;
