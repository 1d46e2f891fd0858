//! Stores that were interrupted, and what must be in them.
//!
//! A program of the testkit writes what a [`plan`] says and tells what was acknowledged
//! ([`program`], [`run`]); it is killed, cut off ([`trial`]) or made to fail; and the store that is
//! left is compared with the plan ([`judge`]).
//!
//! What it is not: a test of answers. It knows which commits must be there, and that each is there
//! as a whole.
//!
//! Invariant: what a store must hold follows from the plan, from how many of its commits are there,
//! and from nothing that the store says itself.

pub mod judge;
pub mod plan;
pub mod program;
pub mod promise;
pub mod run;
pub mod trial;

#[cfg(test)]
mod tests;
