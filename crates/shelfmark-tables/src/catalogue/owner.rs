//! Owners of namespaces: which face keeps its tables under a name.
//!
//! A namespace belongs to one face, and only its owner creates, changes or drops what lies in it; the
//! plain engine may do so for every owner, in tables of the owner's kind of row. What it is not: a
//! permission of a user; those are the faces'.
//!
//! Invariant: no commit puts a table into a namespace of another owner. Stores of earlier builds may
//! hold such tables; whose a table is follows from the table itself.

use std::fmt;

use shelfmark_model::{RowKind, TableName, TableSchema};

use crate::error::{Error, Result};
use crate::streams::STREAMS_NAMESPACE;

/// The namespace of copies, of logs of histories, and of the ledger of backups. No face can name it.
pub const BACKUPS_NAMESPACE: &str = "/backups";

/// The face that a namespace or a table belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A program that uses the engine itself.
    Engine,
    /// The DynamoDB face: the namespace `dynamodb`, and those whose names begin with `dynamodb@`.
    DynamoDb,
    /// The CQL face: each keyspace is a namespace.
    Cql,
    /// The typed layer: each database is a namespace, and `shelfmark` holds the lists of them.
    Typed,
}

impl Owner {
    /// Every owner.
    pub const ALL: [Self; 4] = [Self::Engine, Self::DynamoDb, Self::Cql, Self::Typed];

    /// Returns the word that is stored and that listings show.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::DynamoDb => "dynamodb",
            Self::Cql => "cql",
            Self::Typed => "typed",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.word() == word)
    }

    /// Returns the owner of a name that no other face can take; `None` for all other names.
    #[must_use]
    pub fn of_reserved_name(namespace: &str) -> Option<Self> {
        match namespace {
            "dynamodb" => Some(Self::DynamoDb),
            name if name.starts_with("dynamodb@") => Some(Self::DynamoDb),
            STREAMS_NAMESPACE | BACKUPS_NAMESPACE => Some(Self::Engine),
            "shelfmark" => Some(Self::Typed),
            "system" => Some(Self::Cql),
            name if name.starts_with("system_") => Some(Self::Cql),
            _ => None,
        }
    }

    /// Returns whose a table is, by what it holds.
    #[must_use]
    pub fn of_table(schema: &TableSchema) -> Self {
        if schema.rows == RowKind::Cells {
            return Self::Cql;
        }
        if schema.options.face.contains_key("typed") {
            return Self::Typed;
        }
        Self::of_reserved_name(&schema.name.namespace).unwrap_or(Self::Engine)
    }

    /// Tells whether what belongs to `other` may be changed by this owner.
    pub(crate) fn may_change(self, other: Self) -> bool {
        self == Self::Engine || self == other
    }

    /// Checks that a table may be used by this owner.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is another face's.
    pub fn check_table(self, schema: &TableSchema) -> Result<()> {
        let other = Self::of_table(schema);
        if self.may_change(other) {
            return Ok(());
        }
        Err(table_of(&schema.name, other))
    }

    /// Checks that a new table may lie in its namespace, as far as the namespace's name tells.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the name is another face's.
    pub fn check_new(self, schema: &TableSchema) -> Result<()> {
        let owner = Self::of_reserved_name(&schema.name.namespace).unwrap_or(self);
        self.check_place(owner, schema)
    }

    /// Checks that a new table may lie in a namespace of `owner`.
    pub(super) fn check_place(self, owner: Self, schema: &TableSchema) -> Result<()> {
        let name = &schema.name.namespace;
        if !self.may_change(owner) {
            return Err(namespace_of(name, owner));
        }
        let is_cells = schema.rows == RowKind::Cells;
        // The server's own keyspaces hold lists that are tables of items.
        let is_own = Self::of_reserved_name(name) == Some(Self::Cql);
        let fits = match owner {
            Self::Engine => true,
            Self::Cql => is_cells || is_own,
            Self::DynamoDb | Self::Typed => !is_cells,
        };
        if fits { Ok(()) } else { Err(namespace_of(name, owner)) }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine => "programs that use the engine itself",
            Self::DynamoDb => "DynamoDB",
            Self::Cql => "CQL",
            Self::Typed => "typed tables",
        })
    }
}

/// Returns the error that refuses a change in a namespace of another face.
pub(super) fn namespace_of(name: &str, owner: Owner) -> Error {
    Error::invalid(format!("the name {name} belongs to {owner}; choose another name"))
}

fn table_of(name: &TableName, owner: Owner) -> Error {
    Error::invalid(format!("table {name} belongs to {owner}; use it there"))
}
