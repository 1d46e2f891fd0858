//! Tests that look inside: random models against brute force, and the pieces that proofs rest on.

mod features;
mod keys;
mod plans;
mod random_models;
mod random_rich;
mod syntax;
mod verifier;
pub(crate) mod without;
