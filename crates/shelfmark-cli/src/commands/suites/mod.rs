//! `shelfmark verify --engine tikv://… --suites`: the storage contract and histories of transactions, tried
//! on a cluster of the user's.
//!
//! What it is not: the cases, which `shelfmark-conformance` has, nor faults: nothing is broken here to see
//! what happens.
//!
//! Invariant: nothing is written but to key spaces of this run, and none of them stays.

mod ground;
mod run;
mod show;
mod space;

pub(super) use self::run::run;
