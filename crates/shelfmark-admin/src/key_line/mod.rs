//! The key line: the keys of a table in their order, as stretches of partitions and rows by size.
//!
//! * `keys`: takes stored keys apart; `ruler`: says how far along a key lies; `measure`: finds the
//!   stretches; `figures`: numbers for all of them.
//!
//! What it is not: a count. A large table is sampled at a bounded number of places, so its figures are
//! estimates and say so ([`Line::is_exact`]). Nor is it a picture: `shelfmark stats` prints it, the
//! console draws it.
//!
//! Invariant: no more rows are read of a large table than of a small one: a bounded number of seeks, each
//! of a bounded number of rows. What grows, by far slower, is the list of its table files or regions.

pub mod figures;
mod keys;
mod measure;
mod ruler;
#[cfg(test)]
mod tests;

pub use keys::StoredKeys;
pub use measure::{Effort, Line, Stretch, measure};
