//! Tests of the CQL face from outside.
//!
//! * `statements`: scripts of CQL with the answers beside them.
//! * `nested`, `unreadable`: types nested deep, and records that cannot be read, over restarts.
//! * `recorded`: the answers of Apache Cassandra, byte for byte.
//! * `large_values`: values that no index can hold.
//! * `masks`: masked columns, and who sees what is behind them.
//! * `permissions`: what a role may do, and what follows from changes of it.
//! * `long_keys`: keys of 65,535 bytes, packed and not.
//! * `pages`: where pages end, and that they go on when an index comes or goes.
//! * `keys`: user types and collections in keys.
//! * `system`, `traces`: the tables that describe the server, over frames (`wire`).
//! * `functions_limits`: what users' functions may take.
//! * `limits`: how many markers and columns, how long indexed values, which levels.
//! * `client`: the client's end of the protocol.
//! * `compat`: what the document on compatibility says, asked of the executor.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod builds;
mod client;
mod compat;
mod functions_limits;
mod keys;
mod large_values;
mod limits;
mod long_keys;
mod masks;
mod nested;
mod pages;
mod permissions;
mod recorded;
mod statements;
mod system;
mod told;
mod traces;
mod unreadable;
mod wire;
