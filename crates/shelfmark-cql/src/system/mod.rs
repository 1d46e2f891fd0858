//! The tables that describe the server itself: `system`, `system_schema`, `system_virtual_schema`,
//! `system_auth`, `system_traces`.
//!
//! What it is not: a way of its own to select. These tables are selected from by the same path as
//! any other; they only say what they are and what rows they have.
//!
//! Invariant: each of them is listed in `system_schema` itself (or in `system_virtual_schema`), and
//! none in keyspace `system` has "scylla" in its name.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::Environment;

use crate::schema::{Schema, Table};
use crate::session::{FaceOptions, Traces};

/// A row: one serialised value, or null, for each of [`Table::columns`].
pub type VirtualRow = Vec<Option<Bytes>>;

/// A table whose rows are computed when they are asked for.
pub trait VirtualTable: Send + Sync {
    /// Returns what the table looks like.
    fn definition(&self) -> &Arc<Table>;

    /// Returns the rows: those of one partition next to each other and in clustering order. The
    /// executor restricts, orders by token, pages and limits.
    ///
    /// `partition`, if given, are the serialised partition key columns; then rows of other
    /// partitions may be left out.
    fn rows(&self, schema: &Schema, partition: Option<&[Bytes]>) -> Vec<VirtualRow>;
}

/// Returns the tables of a server.
pub(crate) fn tables(
    _options: &FaceOptions,
    _environment: &Environment,
    _traces: &Arc<Traces>,
) -> Vec<Arc<dyn VirtualTable>> {
    Vec::new()
}
