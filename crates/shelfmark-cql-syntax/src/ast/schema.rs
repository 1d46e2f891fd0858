//! Keyspaces, tables, types, indexes and triggers.

use crate::ast::{FunctionName, Literal, Name, QualifiedName, Term, Type};

/// `CREATE KEYSPACE …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateKeyspace {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The keyspace.
    pub name: Name,
    /// `WITH …`; at least one, none twice.
    pub properties: Vec<Property>,
}

/// `ALTER KEYSPACE …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterKeyspace {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The keyspace.
    pub name: Name,
    /// `WITH …`; at least one, none twice.
    pub properties: Vec<Property>,
}

/// `name = value` behind a `WITH`.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The property, folded like any name.
    pub name: Name,
    /// Its value.
    pub value: PropertyValue,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyValue {
    /// A constant.
    Literal(Literal),
    /// An unreserved keyword standing bare, as it was written.
    Word(Box<str>),
    /// `{'k': 'v'}`; keys and values are constants, no key stands twice.
    Map(Vec<(Literal, Literal)>),
}

/// `CREATE TABLE …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The table.
    pub name: QualifiedName,
    /// The columns in the order of the text; a name may stand twice, the executor refuses it.
    pub columns: Vec<ColumnDefinition>,
    /// Every primary key that the text gives, `a int PRIMARY KEY` included. Exactly one is
    /// right; the executor refuses the rest.
    pub primary_keys: Vec<PrimaryKey>,
    /// `WITH …`
    pub options: TableOptions,
}

/// One column of a new table, or one added to a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub column_type: Type,
    /// `STATIC`
    pub is_static: bool,
    /// `MASKED WITH …`
    pub mask: Option<ColumnMask>,
}

/// `MASKED WITH …`
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnMask {
    /// `MASKED WITH DEFAULT`
    Default,
    /// `MASKED WITH f(…)`
    Function {
        /// The masking function.
        name: FunctionName,
        /// Its arguments behind the column.
        arguments: Vec<Term>,
    },
}

/// A primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrimaryKey {
    /// The partition key; at least one column.
    pub partition: Vec<Name>,
    /// The clustering columns in order.
    pub clustering: Vec<Name>,
}

/// The options behind the `WITH` of a table or view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// `name = value`, none twice.
    pub properties: Vec<Property>,
    /// `COMPACT STORAGE`
    pub compact_storage: bool,
    /// `CLUSTERING ORDER BY (…)`, in the order of the text.
    pub clustering_order: Vec<(Name, Direction)>,
}

/// An order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `ASC`
    #[default]
    Ascending,
    /// `DESC`
    Descending,
}

/// `ALTER TABLE …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The table.
    pub name: QualifiedName,
    /// The action.
    pub action: AlterTableAction,
}

/// The action of an `ALTER TABLE`.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTableAction {
    /// `ALTER c TYPE t`: known, and refused since Cassandra 3.0.10.
    AlterType {
        /// The column.
        column: Name,
        /// Its new type.
        column_type: Type,
    },
    /// `ALTER [IF EXISTS] c MASKED WITH …` or, without a mask, `… DROP MASKED`.
    Mask {
        /// `IF EXISTS` of the column.
        if_exists: bool,
        /// The column.
        column: Name,
        /// The new mask.
        mask: Option<ColumnMask>,
    },
    /// `ADD [IF NOT EXISTS] …`
    Add {
        /// `IF NOT EXISTS` of the columns.
        if_not_exists: bool,
        /// The columns; at least one.
        columns: Vec<ColumnDefinition>,
    },
    /// `DROP [IF EXISTS] … [USING TIMESTAMP n]`
    Drop {
        /// `IF EXISTS` of the columns.
        if_exists: bool,
        /// The columns; at least one.
        columns: Vec<Name>,
        /// Digits of a time in microseconds.
        timestamp: Option<Box<str>>,
    },
    /// `RENAME [IF EXISTS] a TO b AND …`
    Rename {
        /// `IF EXISTS` of the columns.
        if_exists: bool,
        /// The renames; at least one.
        renames: Vec<Rename>,
    },
    /// `DROP COMPACT STORAGE`
    DropCompactStorage,
    /// `WITH …`; at least one.
    With(Vec<Property>),
}

/// `a TO b`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The name that is.
    pub from: Name,
    /// The name that is to be.
    pub to: Name,
}

/// `CREATE TYPE …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The type.
    pub name: QualifiedName,
    /// Its fields; at least one.
    pub fields: Vec<Field>,
}

/// A field of a user type.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub field_type: Type,
}

/// `ALTER TYPE …`
#[derive(Clone, Debug, PartialEq)]
pub struct AlterType {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The type.
    pub name: QualifiedName,
    /// The action.
    pub action: AlterTypeAction,
}

/// The action of an `ALTER TYPE`.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterTypeAction {
    /// `ALTER f TYPE t`: known, and refused since Cassandra 3.0.10.
    Alter(Field),
    /// `ADD [IF NOT EXISTS] f t`
    Add {
        /// `IF NOT EXISTS` of the field.
        if_not_exists: bool,
        /// The field.
        field: Field,
    },
    /// `RENAME [IF EXISTS] a TO b AND …`
    Rename {
        /// `IF EXISTS` of the fields.
        if_exists: bool,
        /// The renames; at least one.
        renames: Vec<Rename>,
    },
}

/// `CREATE [CUSTOM] INDEX …`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// `CUSTOM`
    pub custom: bool,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The index's own name, if given. The keyspace is never given here.
    pub name: Option<Name>,
    /// The table.
    pub table: QualifiedName,
    /// The indexed columns; the grammar takes none or several, the executor decides.
    pub targets: Vec<IndexTarget>,
    /// `USING 'class'`
    pub using: Option<Box<str>>,
    /// `WITH …`, none twice.
    pub properties: Vec<Property>,
}

/// A column that an index is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTarget {
    /// The column.
    pub column: Name,
    /// The part of it.
    pub kind: IndexTargetKind,
}

/// The part of a column that an index is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexTargetKind {
    /// `c`: the value; of a collection its values.
    Simple,
    /// `VALUES(c)`
    Values,
    /// `KEYS(c)`
    Keys,
    /// `ENTRIES(c)`
    Entries,
    /// `FULL(c)`: a frozen collection as one.
    Full,
}

/// `CREATE TRIGGER … ON table USING 'class'`
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTrigger {
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// The trigger.
    pub name: Name,
    /// The table.
    pub table: QualifiedName,
    /// The class.
    pub class: Box<str>,
}

/// `DROP TRIGGER … ON table`
#[derive(Clone, Debug, PartialEq)]
pub struct DropTrigger {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The trigger.
    pub name: Name,
    /// The table.
    pub table: QualifiedName,
}

/// `DROP TABLE`, `DROP TYPE`, `DROP INDEX`, `DROP MATERIALIZED VIEW`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The name of what is dropped.
    pub name: QualifiedName,
}
