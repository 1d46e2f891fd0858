//! Operations of whoever runs a store: each a typed request and a typed answer over an engine.
//!
//! A command with `--data` runs them in its own process ([`Admin::run`]), one with `--server` sends them
//! to the console's port of a running server, which dispatches them by name ([`Admin::answer`]). Pages of
//! the console use the same ([`http::Site`]).
//!
//! What it is not: a face. It speaks to people and programs that may do everything; it has no rights, no
//! sockets and no threads of its own.
//!
//! Invariant: an operation is written once. Whichever way it comes, the answer is the same.

mod admin;
mod api;
mod config;
mod error;
pub mod http;
mod maintain;
mod named;
mod operation;
mod read;
mod report;
mod stats;
mod tables;
mod values;
mod verify;
mod watch;
mod watched;
mod write;

pub use admin::Admin;
pub use config::{Config, ConfigAnswer, HiddenSetting, SettingEntry};
pub use error::{Error, ErrorKind, Refused, Result};
pub use maintain::{Backup, COPY_BYTES, COPY_ROWS, Compact, CompactAnswer};
pub use named::DEFAULT_NAMESPACE;
pub use operation::{OPERATIONS, Operation};
pub use read::{Get, GetAnswer, PAGE_ITEMS_MAX, Query, Scan, ScanAnswer};
pub use report::{Range, Report, Step};
pub use stats::{Stats, StatsAnswer};
pub use tables::{IndexEntry, TableEntry, Tables, TablesAnswer, readable_tables};
pub use verify::{Verify, VerifyAnswer};
pub use watch::{
    ConnectionEntry, ConnectionList, Connections, ConnectionsAnswer, Noted, Slow, SlowAnswer,
    SlowEntry, Watch,
};
pub use watched::{
    Declared, ModelFile, ModelWatch, PatternEntry, SeenRequest, SeenText, Spread, TableChecks,
    UncoveredEntry, WatchClose, WatchClosed, WatchFinding, WatchModel, WatchOpen, WatchReport,
    WatchReset, rate_text,
};
pub use write::{Delete, Put, WriteAnswer};
