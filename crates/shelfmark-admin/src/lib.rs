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
mod faces;
pub mod http;
pub mod key_line;
mod key_text;
mod maintain;
mod moment;
mod named;
mod operation;
mod partition_stats;
mod read;
mod report;
mod servers;
mod stats;
mod table_stats;
mod tables;
mod values;
mod verify;
mod watch;
mod watched;
mod write;

pub use admin::Admin;
pub use api::OPERATIONS;
pub use config::{Config, ConfigAnswer, HiddenSetting, SettingEntry};
pub use error::{Error, ErrorKind, Refused, Result};
pub use faces::{Cql, CqlAnswer, CqlAnswers, DynamoDb, DynamoDbAnswer, FaceCalls};
pub use maintain::{Backup, COPY_BYTES, COPY_ROWS, Compact, CompactAnswer};
pub use moment::moment_text;
pub use named::DEFAULT_NAMESPACE;
pub use operation::Operation;
pub use partition_stats::{PartitionStats, PartitionStatsAnswer, PlaceEntry, ShardEntry};
pub use read::{Get, GetAnswer, PAGE_ITEMS_MAX, Query, Scan, ScanAnswer};
pub use report::{Range, Report, Step};
pub use servers::{ServerAddresses, ServerEntry, Servers, ServersAnswer, announce};
pub use stats::{Stats, StatsAnswer};
pub use table_stats::{
    Extent, IndexExtent, ShardLimits, StretchEntry, TableStats, TableStatsAnswer,
};
pub use tables::{IndexEntry, TableEntry, Tables, TablesAnswer, readable_tables};
pub use verify::{Verify, VerifyAnswer};
pub use watch::{
    ConnectionEntry, ConnectionList, Connections, ConnectionsAnswer, Noted, RequestTracer, Slow,
    SlowAnswer, SlowEntry, Watch,
};
pub use watched::{
    Declared, ModelFile, ModelWatch, PatternEntry, SeenRequest, SeenText, Spread, TableChecks,
    UncoveredEntry, WatchClose, WatchClosed, WatchFinding, WatchModel, WatchOpen, WatchReport,
    WatchReset, rate_text,
};
pub use write::{Delete, Put, WriteAnswer};
