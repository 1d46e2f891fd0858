//! The plan of a prepared statement.

use std::sync::Arc;

use shelfmark_cql_protocol::{BatchKind, ColumnSpec};
use shelfmark_cql_syntax::ast::{self, QualifiedName, Statement};
use shelfmark_cql_types::term::Expr;

use super::modify::Modify;
use super::select::Select;
use crate::auth::RequiredPermission;
use crate::schema::Table;

/// The plan of a statement. Opaque to everybody but the executor.
#[derive(Debug)]
pub struct Plan {
    pub(super) action: Action,
    /// The tables that it was made for.
    pub(super) tables: Vec<Arc<Table>>,
    pub(super) markers: Arc<[ColumnSpec]>,
    /// The permissions that it requires; of statements that are not about rows they are found as
    /// they run.
    pub(super) needs: Box<[RequiredPermission]>,
    /// The version of the schema, if it calls functions of users: they may be replaced.
    pub(super) version: Option<[u8; 16]>,
}

#[derive(Debug)]
pub(super) enum Action {
    Select(Arc<Select>),
    Modify(Box<Modify>),
    Batch {
        kind: BatchKind,
        entries: Vec<Modify>,
        timestamp: Option<Expr>,
    },
    Use(String),
    /// A change of the schema, looked at when it runs.
    Schema(Box<Statement>, Option<String>),
    Truncate(QualifiedName, Option<String>),
    /// About roles.
    Role(Box<Statement>),
    /// About permissions.
    Permissions(Box<Statement>, Option<String>),
    Describe(ast::Describe, Option<String>),
}
