//! Oracles, checkers and workloads that the tests of several crates share.
//!
//! What it is not: part of the product. Nothing outside of tests depends on it.
//!
//! Invariant: what it does follows from a seed, and a failing seed is told and can be replayed
//! alone ([`seeds`]).

pub mod counting;
pub mod crash;
mod forward;
pub mod powercut;
pub mod seeds;
pub mod waiting;
