//! Evaluates models by brute force: states, answers by definition, rows, plans on rows.
//!
//! What it is not: no proofs. The prover is checked against it, and witnesses are found by it.
//!
//! Invariant: everything is a function of a seed, so that whatever is found can be replayed.

pub mod answer;
pub mod change;
pub(crate) mod directed;
pub mod focus;
pub mod generate;
mod items;
pub mod json;
pub mod random;
pub mod rows;
pub mod run;
pub mod shelf;
pub mod state;
pub mod undefined;
pub mod witness;
