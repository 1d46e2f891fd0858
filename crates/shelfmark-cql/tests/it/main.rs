//! Tests of the CQL face from outside.
//!
//! * `statements`: scripts of CQL with the answers beside them.
//! * `compat`: what the document on compatibility says, asked of the executor.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "tests")]

mod compat;
mod statements;
