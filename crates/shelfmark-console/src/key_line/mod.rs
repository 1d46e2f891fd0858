//! The key line: the keys of a table in their order, as stretches of partitions and rows by size.
//!
//! * `keys`: takes keys apart; `ruler`: says how far along a key lies; `measure`: finds the stretches;
//!   `draw`: draws them, with the ranges that a request touched.
//!
//! What it is not: a count. A large table is sampled at a bounded number of places, so its figures are
//! estimates and are shown as such.
//!
//! Invariant: the cost does not grow with the table: a bounded number of seeks, each of a bounded
//! number of rows.

mod draw;
mod keys;
mod measure;
mod ruler;

pub(crate) use draw::{Picture, Touched};
pub(crate) use keys::LineKeys;
pub(crate) use measure::{Effort, Line, measure};
