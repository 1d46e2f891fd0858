//! Tests of the embedded driver, one module per promise.

mod ahead;
mod basics;
mod contract;
mod creation;
mod damage;
mod destroy;
mod format;
mod free_space;
mod held;
mod ingest;
mod interval;
mod isolation;
mod leader;
mod losses;
mod model;
mod pending;
mod replay;
mod salvage;
mod snapshots;
pub(super) mod support;
mod tombstone_gaps;
mod trouble;
