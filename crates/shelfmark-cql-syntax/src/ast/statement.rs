//! A statement of any kind.

use crate::ast::{
    AddIdentity, AlterKeyspace, AlterRole, AlterTable, AlterType, AlterView, Batch,
    CreateAggregate, CreateFunction, CreateIndex, CreateKeyspace, CreateRole, CreateTable,
    CreateTrigger, CreateType, CreateView, Delete, Describe, DropFunction, DropIdentity, DropRole,
    DropTrigger, Dropped, Grant, GrantRole, Insert, ListPermissions, ListRoles, Name,
    QualifiedName, Select, Transaction, Update,
};
use crate::span::Span;

/// One parsed text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// Its bind markers in the order of the text.
    pub markers: Vec<BindMarker>,
}

/// A bind marker as the text has it.
#[derive(Clone, Debug)]
pub struct BindMarker {
    /// `:name`, folded like any name; none for `?`.
    pub name: Option<Name>,
    /// The place in the text.
    pub span: Span,
}

impl PartialEq for BindMarker {
    fn eq(&self, other: &BindMarker) -> bool {
        self.name == other.name
    }
}

impl Eq for BindMarker {}

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident $(($content:ty))? => $text:literal,)*) => {
        /// A statement.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Statement {
            $($(#[$doc])* $name $(($content))?,)*
        }

        /// The kind of a statement, without its contents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum StatementKind {
            $($(#[$doc])* $name,)*
        }

        impl StatementKind {
            /// All of them.
            pub const ALL: &[StatementKind] = &[$(StatementKind::$name,)*];

            /// Returns the words that the statement begins with, as messages name it.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self {
                    $(StatementKind::$name => $text,)*
                }
            }
        }

        impl Statement {
            /// Returns which statement it is.
            #[must_use]
            pub fn kind(&self) -> StatementKind {
                match self {
                    $(statements!(@pattern $name $($content)?) => StatementKind::$name,)*
                }
            }
        }
    };
    (@pattern $name:ident $content:ty) => { Statement::$name(_) };
    (@pattern $name:ident) => { Statement::$name };
}

statements! {
    /// `SELECT`
    Select(Select) => "SELECT",
    /// `INSERT`
    Insert(Insert) => "INSERT",
    /// `UPDATE`
    Update(Update) => "UPDATE",
    /// `BEGIN BATCH`
    Batch(Batch) => "BATCH",
    /// `DELETE`
    Delete(Delete) => "DELETE",
    /// `USE`
    Use(Name) => "USE",
    /// `TRUNCATE`
    Truncate(QualifiedName) => "TRUNCATE",
    /// `CREATE KEYSPACE`
    CreateKeyspace(CreateKeyspace) => "CREATE KEYSPACE",
    /// `CREATE TABLE`
    CreateTable(CreateTable) => "CREATE TABLE",
    /// `CREATE INDEX`
    CreateIndex(CreateIndex) => "CREATE INDEX",
    /// `DROP KEYSPACE`; the name never has a keyspace of its own.
    DropKeyspace(Dropped) => "DROP KEYSPACE",
    /// `DROP TABLE`
    DropTable(Dropped) => "DROP TABLE",
    /// `DROP INDEX`
    DropIndex(Dropped) => "DROP INDEX",
    /// `ALTER TABLE`
    AlterTable(AlterTable) => "ALTER TABLE",
    /// `ALTER KEYSPACE`
    AlterKeyspace(AlterKeyspace) => "ALTER KEYSPACE",
    /// `GRANT permissions`
    GrantPermissions(Grant) => "GRANT",
    /// `REVOKE permissions`
    RevokePermissions(Grant) => "REVOKE",
    /// `LIST permissions`
    ListPermissions(ListPermissions) => "LIST PERMISSIONS",
    /// `CREATE ROLE` and `CREATE USER`
    CreateRole(CreateRole) => "CREATE ROLE",
    /// `ALTER ROLE` and `ALTER USER`
    AlterRole(AlterRole) => "ALTER ROLE",
    /// `DROP ROLE` and `DROP USER`
    DropRole(DropRole) => "DROP ROLE",
    /// `LIST USERS`
    ListUsers => "LIST USERS",
    /// `CREATE TRIGGER`
    CreateTrigger(CreateTrigger) => "CREATE TRIGGER",
    /// `DROP TRIGGER`
    DropTrigger(DropTrigger) => "DROP TRIGGER",
    /// `CREATE TYPE`
    CreateType(CreateType) => "CREATE TYPE",
    /// `ALTER TYPE`
    AlterType(AlterType) => "ALTER TYPE",
    /// `DROP TYPE`
    DropType(Dropped) => "DROP TYPE",
    /// `CREATE FUNCTION`
    CreateFunction(CreateFunction) => "CREATE FUNCTION",
    /// `DROP FUNCTION`
    DropFunction(DropFunction) => "DROP FUNCTION",
    /// `CREATE AGGREGATE`
    CreateAggregate(CreateAggregate) => "CREATE AGGREGATE",
    /// `DROP AGGREGATE`
    DropAggregate(DropFunction) => "DROP AGGREGATE",
    /// `LIST ROLES`
    ListRoles(ListRoles) => "LIST ROLES",
    /// `LIST SUPERUSERS`
    ListSuperUsers => "LIST SUPERUSERS",
    /// `GRANT role`
    GrantRole(GrantRole) => "GRANT ROLE",
    /// `REVOKE role`
    RevokeRole(GrantRole) => "REVOKE ROLE",
    /// `CREATE MATERIALIZED VIEW`
    CreateView(CreateView) => "CREATE MATERIALIZED VIEW",
    /// `DROP MATERIALIZED VIEW`
    DropView(Dropped) => "DROP MATERIALIZED VIEW",
    /// `ALTER MATERIALIZED VIEW`
    AlterView(AlterView) => "ALTER MATERIALIZED VIEW",
    /// `DESCRIBE`
    Describe(Describe) => "DESCRIBE",
    /// `ADD IDENTITY`
    AddIdentity(AddIdentity) => "ADD IDENTITY",
    /// `DROP IDENTITY`
    DropIdentity(DropIdentity) => "DROP IDENTITY",
    /// `BEGIN TRANSACTION`
    Transaction(Transaction) => "TRANSACTION",
}
