//! Prepared statements and batches of them, as the session hands them to the executor.

use std::sync::Arc;

use shelfmark_cql_protocol::{BatchKind, ColumnSpec, Values};
use shelfmark_engine::weight::Weight;

use super::plan::{Action, Plan};

/// A statement that was parsed and planned.
#[derive(Debug)]
pub struct PreparedStatement {
    /// The markers in order: one for each `?` or `:name`, wherever it stands.
    pub markers: Arc<[ColumnSpec]>,
    /// The markers that make the partition key, in key order; empty if they do not make all of it.
    pub pk_indices: Vec<u16>,
    /// The columns of its rows; empty if it answers none. Of a conditional write: `[applied]` only.
    pub result: Arc<[ColumnSpec]>,
    /// True if it is a conditional write.
    pub conditional: bool,
    /// True if a name in it has no keyspace, so that it means another thing elsewhere.
    pub needs_keyspace: bool,
    /// The weight.
    pub weight: Weight,
    /// The plan.
    pub plan: Arc<Plan>,
}

impl PreparedStatement {
    /// Returns what it does, as whoever watches is told.
    pub(crate) fn operation(&self) -> &'static str {
        match &self.plan.action {
            Action::Select(_) => "SELECT",
            Action::Modify(modify) => modify.kind.name(),
            Action::Batch { .. } => "BATCH",
            Action::Use(_) => "USE",
            Action::Schema(..) => "SCHEMA",
            Action::Truncate(..) => "TRUNCATE",
            Action::Role(_) | Action::Permissions(..) => "ROLES",
            Action::Describe(..) => "DESCRIBE",
        }
    }
}

impl Plan {
    /// Returns the first table that it is for.
    pub(crate) fn table(&self) -> Option<String> {
        self.tables.first().map(|table| format!("{}.{}", table.keyspace, table.name))
    }
}

/// A statement of a batch, with its values.
#[derive(Debug, Clone)]
pub struct BatchEntry {
    /// The statement.
    pub statement: Arc<PreparedStatement>,
    /// The values.
    pub values: Values,
}

/// A BATCH request.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// The kind of the batch.
    pub kind: BatchKind,
    /// The statements; may be none.
    pub entries: Vec<BatchEntry>,
}
