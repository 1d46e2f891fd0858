//! The CQL face: the bytes of a connection in, the bytes of its answers out.
//!
//! It knows Cassandra's native protocol (versions 3 to 5), its system tables, its types, its rules
//! for queries and its words for errors. What it is not: it has no socket, no async and no thread;
//! a server reads and writes. It holds no data logic: rows, cells, indexes and conditions are the
//! engine's. It does not parse CQL text; that is `shelfmark-cql-syntax`.
//!
//! Invariant: no bytes, however hostile, end the process or cost more memory than the limits in
//! [`limits`] allow. Every fault ends in an error of the protocol, at worst with the end of the one
//! connection that caused it.
//!
//! # Parts, from the socket inwards
//!
//! * `frame`: envelopes, checksummed frames, compression.
//! * `message`: requests decoded, answers encoded.
//! * `session`: what one connection is allowed to say next, prepared statements, paging, events.
//! * `auth`: who may connect, and do what.
//! * `statement`: statements planned and run. `schema`, `types`, `term` and `function` serve it.
//! * [`cassandra_cli`]: the command language of 2012, on the same tables.
//! * `system`: the tables that describe the server itself, selected from like any other.
//! * [`caller`]: the other end of a connection, for tools that ask.

mod auth;
pub mod caller;
pub mod cassandra_cli;
mod error;
mod frame;

mod function;
pub mod limits;
mod message;
mod outcome;
mod schema;
mod session;
mod statement;
mod system;
mod term;
mod trace;
pub mod types;

pub use auth::{Authorizer, BadHash, Login, OneRole, PasswordHash, RefusalListener, User};
pub use error::{CqlError, ErrorCode, ErrorExtra, WriteKind};
pub use outcome::{
    Answer, Answered, BatchEntry, BatchKind, BatchRequest, BoundValue, ChangeKind, ChangeTarget,
    ColumnSpec, Consistency, Outcome, PreparedStatement, RequestOptions, ResultRows, RowBuffer,
    SchemaChange, Spool, Spools, Values,
};
pub use schema::{
    Column, ColumnKind, Damage, DroppedColumn, Index, IndexTarget, Keyspace, Schema, Table,
    TableFlags, TableId, TableOptions, View,
};
pub use session::{Connection, Face, FaceOptions, Inline, Progress};
pub use shelfmark_engine::weight::Weight;
pub use statement::{Executor, Plan};
pub use system::{VirtualRow, VirtualTable};
pub use trace::TraceLog;
pub use types::{CqlType, UserType};
