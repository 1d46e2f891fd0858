//! Models run by brute force: states, answers by definition, rows, plans on rows.
//!
//! What it is not: no proofs. The prover is checked against it, and witnesses are found by it.
//!
//! Invariant: everything is a function of a seed, so that whatever is found can be replayed.

pub(crate) mod answer;
pub(crate) mod change;
pub(crate) mod focus;
pub(crate) mod generate;
mod items;
pub(crate) mod json;
pub(crate) mod random;
pub(crate) mod rows;
pub(crate) mod run;
pub(crate) mod shelf;
pub(crate) mod state;
pub(crate) mod witness;
