//! Cassandra's native protocol, versions 3 to 5, as bytes.
//!
//! It cuts bytes into frames, envelopes and messages, writes answers, names the error codes, and
//! writes types and values as they go over the wire. What it is not: it runs no statement, keeps no
//! session and has no socket; it does not know CQL text, nor what a value means.
//!
//! Invariant: no bytes, however hostile, end the process, and none make it allocate more than
//! [`limits`] allow.
//!
//! # Parts, from the bytes upwards
//!
//! * [`frame`]: envelopes, checksummed frames, compression.
//! * [`types`]: the types of CQL, their names and class names, collections as bytes.
//! * [`message`]: requests decoded, answers encoded.
//! * [`client`]: the client's end of a connection, for tools that ask.
//!
//! Source: native protocol specifications v3 to v5, read 2026-11.

mod bound;
pub mod client;
mod column;
mod consistency;
mod error;
pub mod frame;
pub mod limits;
pub mod message;
mod schema_change;
mod server_change;
mod spool;
pub mod types;

pub use bound::{BoundValue, Values};
pub use column::ColumnSpec;
pub use consistency::Consistency;
pub use error::{CqlError, ErrorCode, ErrorExtra, Result, WriteKind, invalid};
pub use message::BatchKind;
pub use schema_change::{ChangeKind, ChangeTarget, SchemaChange};
pub use server_change::ServerChange;
pub use spool::{Spool, Spooled, Spools};

/// The version of CQL that STARTUP names and `system.local` shows.
pub const CQL_VERSION: &str = "3.4.7";
