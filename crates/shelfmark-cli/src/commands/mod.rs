//! The commands, one file each.

pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod cassandra_cli;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod cql;
pub(crate) mod design;
pub(crate) mod get;
pub(crate) mod key;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod put;
mod reload;
pub(crate) mod running;
mod salvage;
pub(crate) mod scan;
mod schema;
pub(crate) mod serve;
mod settings;
pub(crate) mod stats;
#[cfg(feature = "tikv")]
mod suites;
pub(crate) mod tables;
pub(crate) mod tour;
pub(crate) mod transfer;
pub(crate) mod verify;
pub(crate) mod watch;

/// A script ended early, with a message that was already printed.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
pub(crate) struct Stopped {
    /// The exit code of the process.
    pub(crate) code: u8,
}
