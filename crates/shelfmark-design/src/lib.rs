//! The modeller: a language for models, lints, and proofs of access patterns.
//!
//! A model says which entities and links there are, how they are read and written, and how one
//! or more schemas lay them out as keys. This crate parses it, looks for defects, and proves each
//! pattern: one contiguous range of keys, complete, in order, nothing filtered away. What it
//! cannot prove it refuses, with a state on which the plan is wrong.
//!
//! What it is not: it reads no file, opens no socket, starts no thread and asks no clock, so that
//! it can run in a browser. Running a model on the engine is `shelfmark-confirm`'s.
//!
//! Invariant: output is a function of the text given.

pub mod limits;
pub mod trial;

mod document;
mod draw;
mod explain;

pub(crate) mod certificate;
pub(crate) mod eval;
pub mod import;
pub(crate) mod key;
pub(crate) mod lint;
pub(crate) mod machine;
pub(crate) mod model;
pub(crate) mod plan;
pub(crate) mod prove;
pub(crate) mod size;
pub(crate) mod syntax;
pub(crate) mod target;
pub(crate) mod verify;

pub use certificate::{Certificate, Obligation, Range, RangeEnd, Status, shown};
pub use document::{Document, Finding, Report, Severity, explain, lints, nearest, starter};
pub use draw::View;
pub use plan::Plan;
pub use size::{FamilySize, HotPartition, Limit, SchemaSize, SizeReport, Spread, WriteSize};

#[cfg(test)]
mod tests;
