//! Tests that look inside: random models against brute force, and the pieces that proofs rest on.

use crate::eval::random::Random;

mod changes;
mod features;
mod keys;
mod longer;
mod plans;
mod random_models;
mod random_rich;
mod random_wild;
mod texts;
pub(crate) mod without;
