//! Tests of the face from outside: requests in, answers out, over an engine in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that fails says where"
)]

mod buckets;
mod compat;
mod golden;
mod hostile;
mod limits;
mod partiql;
mod placing;
mod policies;
mod ranges;
mod runner;
mod scopes;
mod sizes;
mod transfers;
