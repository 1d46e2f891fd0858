//! The CQL face: the bytes of a connection in, the bytes of its answers out.
//!
//! It knows Cassandra's sessions, system tables, rules for queries and words for errors. What it is
//! not: it has no socket, no async and no thread; a server reads and writes. It holds no data logic:
//! rows, cells, indexes and conditions are the engine's. CQL text is parsed by
//! `shelfmark-cql-syntax`, frames and messages are `shelfmark-cql-protocol`'s, values, functions and
//! terms `shelfmark-cql-types`'.
//!
//! Invariant: no bytes, however hostile, end the process or cost more memory than the limits in
//! [`limits`] allow. Every fault ends in an error of the protocol, at worst with the end of the one
//! connection that caused it.
//!
//! # Parts, from the socket inwards
//!
//! * `session`: the state of one connection, prepared statements, paging states, events, traces.
//! * `auth`: authentication and authorization.
//! * `statement`: statements planned and run. `schema` serves it.
//! * `outcome`: the values that session and executor exchange.
//! * `user_function`: functions and aggregates of users, and what calls them.
//! * `system`: the tables that describe the server itself, selected from like any other.

mod auth;
mod engine_error;
mod function_context;
pub mod limits;
mod outcome;
mod schema;
mod session;
mod statement;
mod system;
mod trace_recorder;
mod user_function;
mod watch;

pub use auth::{Authorizer, BadHash, Login, OneRole, PasswordHash, RefusalListener, User};
pub use outcome::{Answer, Answered, Outcome, RequestOptions, ResultRows, RowBuffer};
pub use schema::{
    Column, ColumnKind, ColumnTypes, Damage, DroppedColumn, Index, IndexTarget, Keyspace, Schema,
    SharedIndex, Table, TableFlags, TableId, TableOptions, UserAggregate, UserFunction, View,
    VirtualRow, VirtualTable,
};
pub use session::{Connection, Face, FaceOptions, Inline, Progress};
pub use shelfmark_cql_protocol::{
    BatchKind, BoundValue, ChangeKind, ChangeTarget, ColumnSpec, Consistency, CqlError, ErrorCode,
    ErrorExtra, SchemaChange, Spool, Spools, Values, WriteKind,
};
pub use shelfmark_cql_types::{CqlType, UserType};
pub use shelfmark_engine::weight::Weight;
pub use statement::{BatchEntry, BatchRequest, Executor, Plan, PreparedStatement};
pub use trace_recorder::TraceRecorder;
pub use watch::{EndedRequest, Ending, Reads, WATCHED_OPERATIONS, Watcher};
