//! `DESCRIBE`, as servers answer it since Cassandra 4.0.

use crate::ast::{FunctionName, Name, QualifiedName};

/// `DESCRIBE … [WITH INTERNALS]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Describe {
    /// The objects that are described.
    pub target: DescribeTarget,
    /// `WITH INTERNALS`
    pub with_internals: bool,
}

/// The objects that a `DESCRIBE` is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescribeTarget {
    /// `CLUSTER`
    Cluster,
    /// `[FULL] SCHEMA`: every keyspace, with `FULL` the system's too.
    Schema {
        /// `FULL`
        full: bool,
    },
    /// `KEYSPACES`
    Keyspaces,
    /// `[ONLY] KEYSPACE [k]`
    Keyspace {
        /// `ONLY`: without what the keyspace holds.
        only: bool,
        /// The keyspace; otherwise the connection's.
        name: Option<Name>,
    },
    /// `TABLES`
    Tables,
    /// `TABLE t`
    Table(QualifiedName),
    /// `INDEX i`
    Index(QualifiedName),
    /// `MATERIALIZED VIEW v`
    View(QualifiedName),
    /// `TYPES`
    Types,
    /// `TYPE t`
    Type(QualifiedName),
    /// `FUNCTIONS`
    Functions,
    /// `FUNCTION f`
    Function(FunctionName),
    /// `AGGREGATES`
    Aggregates,
    /// `AGGREGATE a`
    Aggregate(FunctionName),
    /// A bare name: a keyspace, else a table, a view, an index.
    Any(QualifiedName),
}
