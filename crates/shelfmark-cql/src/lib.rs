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
mod engine_error;
mod function_context;
pub mod limits;
mod lock;
mod outcome;
mod schema;
mod session;
mod statement;
mod system;
mod trace_recorder;

pub use auth::{Authorizer, BadHash, Login, OneRole, PasswordHash, RefusalListener, User};
pub use outcome::{Answer, Answered, Outcome, RequestOptions, ResultRows, RowBuffer};
pub use schema::{
    Column, ColumnKind, Damage, DroppedColumn, Index, IndexTarget, Keyspace, Schema, Table,
    TableFlags, TableId, TableOptions, View, VirtualRow, VirtualTable,
};
pub use session::{Background, Connection, Face, FaceOptions, Inline, Progress};
pub use shelfmark_cql_protocol::{
    BatchKind, BoundValue, ChangeKind, ChangeTarget, ColumnSpec, Consistency, CqlError, ErrorCode,
    ErrorExtra, SchemaChange, Spool, Spools, Values, WriteKind,
};
pub use shelfmark_cql_types::{CqlType, UserType};
pub use statement::{BatchEntry, BatchRequest, Executor, Plan, PreparedStatement, Weight};
pub use trace_recorder::TraceRecorder;
