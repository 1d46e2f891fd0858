//! The modeller's tools around models and their proofs: lints, plans, sizes, pictures, explanations
//! and trials.
//!
//! A model says which entities and links there are, how they are read and written, and how one
//! or more schemas lay them out as keys. The language is `shelfmark-design-language`'s; each pattern
//! is proven by `shelfmark-design-prove`: one contiguous range of keys, complete, in order, nothing
//! filtered away. What it cannot prove it refuses, with a state on which the plan is wrong. A
//! certificate is checked again by `shelfmark-design-verify`. [`Document`] has all of it in one place.
//!
//! What it is not: it reads no file, opens no socket, starts no thread and asks no clock, so that
//! it can run in a browser. Running a model on the engine is `shelfmark-confirm`'s.
//!
//! Invariant: output is a function of the text given.

pub mod trial;

mod calls;
mod document;
mod draw;
mod explain;
mod lint;
mod machine;
mod plan;
mod size;

pub use calls::Requests;
pub use document::{Document, Finding, Report, explain, lints, nearest, starter};
pub use draw::View;
pub use shelfmark_design_language::catalogue::Severity;
pub use shelfmark_design_language::certificate::{
    Certificate, Claim, Concurrency, Factor, Ground, Obligation, Range, RangeEnd, RowsMax, Status,
    shown,
};
pub use shelfmark_design_language::limits;
pub use shelfmark_design_plan::Plan;
pub use shelfmark_design_plan::cost::{Beside, PatternCost, SchemaCost};
pub use shelfmark_design_prove::calls::Call;
pub use size::{FamilySize, HotPartition, Limit, SchemaSize, SizeReport, Spread, WriteSize};

#[cfg(test)]
mod tests;
