//! The fuzz targets as functions of an input; `targets/` links each to the fuzzer.
//!
//! Only public interfaces are used. A target panics when a promise is broken; that something is
//! refused is never a find.
//!
//! What it is not: part of the product.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a broken expectation is what a target looks for"
)]
#![expect(clippy::little_endian_bytes, reason = "the tree's files, which are not ours, are so")]

mod bed;
pub mod cassandra_cli;
pub mod cql_frames;
pub mod cql_text;
pub mod dynamo;
pub mod imports;
pub mod input;
pub mod java_bodies;
pub mod keys;
pub mod models;
pub mod operations;
pub mod records;
pub mod schemas;
pub mod store_files;
pub mod texts;
pub mod transfers;
pub mod watch;

/// A target: panics if the input breaks a promise.
pub type Target = fn(&[u8]);

/// Every target by name, for replaying the corpus without the fuzzer.
pub const TARGETS: [(&str, Target); 17] = [
    ("cassandra_cli", cassandra_cli::run),
    ("cql_frames", cql_frames::run),
    ("cql_text", cql_text::run),
    ("dynamo_calls", dynamo::calls::run),
    ("dynamo_expressions", dynamo::expressions::run),
    ("dynamo_statements", dynamo::statements::run),
    ("imports", imports::run),
    ("java_bodies", java_bodies::run),
    ("keys", keys::run),
    ("models", models::run),
    ("operations", operations::run),
    ("records", records::run),
    ("schemas", schemas::run),
    ("store_files", store_files::run),
    ("texts", texts::run),
    ("transfers", transfers::run),
    ("watch", watch::run),
];
