//! The command as a user meets it: real processes, real sockets, real folders.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]
#![expect(clippy::zombie_processes, reason = "the server is waited for when it is dropped")]
#![expect(clippy::disallowed_methods, reason = "a test waits for real processes with a real clock")]

mod attacks;
mod backup;
#[cfg(feature = "tikv")]
#[path = "../../../shelfmark-tikv/tests/it/bed.rs"]
mod bed;
mod both_ways;
mod by_console;
mod cassandra_cli;
mod command;
mod console;
mod copy;
mod counters;
mod cql;
mod design;
mod documents;
mod faces;
mod hostile;
mod migrate;
mod operating;
mod process;
mod salvage;
mod serve;
mod settings;
mod sizes;
#[cfg(feature = "tikv")]
mod suites;
mod terminal;
mod tour;
mod traces;
mod transfer;
mod watch;
