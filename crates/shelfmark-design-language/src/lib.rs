//! The language of models: text, syntax tree, resolved model, target profiles, and the form of a
//! certificate.
//!
//! What it is not: it judges nothing. Whether a plan is right is for `shelfmark-design-prove` to
//! say and for `shelfmark-design-verify` to check; both stand on this crate and not on each other.
//! It reads no file, opens no socket, starts no thread and asks no clock.
//!
//! Invariant: output is a function of the text given.

pub mod catalogue;
pub mod certificate;
pub mod codec;
mod id_digits;
pub mod limits;
pub mod model;
pub mod notes;
pub mod syntax;
pub mod target;
