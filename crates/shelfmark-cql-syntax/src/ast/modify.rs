//! `INSERT`, `UPDATE`, `DELETE`, batches.

use crate::ast::{InValues, IntegerValue, Marker, Name, Operator, QualifiedName, Relation, Term};

/// A statement that a batch may hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Modification {
    /// `INSERT`
    Insert(Insert),
    /// `UPDATE`
    Update(Update),
    /// `DELETE`
    Delete(Delete),
}

/// `USING TIMESTAMP … AND TTL …`. A part named twice counts as it was named last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// Microseconds since 1970.
    pub timestamp: Option<IntegerValue>,
    /// Seconds; never on a `DELETE`.
    pub ttl: Option<IntegerValue>,
}

/// `INSERT INTO table …`
#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    /// The table.
    pub table: QualifiedName,
    /// The columns and values.
    pub values: InsertValues,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `USING …`
    pub attributes: Attributes,
}

/// The values of an `INSERT`.
#[derive(Clone, Debug, PartialEq)]
pub enum InsertValues {
    /// `(a, b) VALUES (1, 2)`. The two lists may differ in length: the executor refuses it.
    Columns {
        /// The columns.
        columns: Vec<Name>,
        /// The values.
        values: Vec<Term>,
    },
    /// `JSON '…'`
    Json {
        /// The JSON text.
        value: JsonValue,
        /// The treatment of columns that the text does not name.
        default: JsonDefault,
    },
}

/// The text of an `INSERT JSON`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonValue {
    /// Given.
    Text(Box<str>),
    /// To come.
    Marker(Marker),
}

/// The treatment of columns that the JSON does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonDefault {
    /// `DEFAULT NULL`, which is also meant when nothing is said: they are deleted.
    #[default]
    Null,
    /// `DEFAULT UNSET`: they stay as they are.
    Unset,
}

/// `UPDATE table SET … WHERE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The table.
    pub table: QualifiedName,
    /// `USING …`
    pub attributes: Attributes,
    /// The assignments; at least one.
    pub assignments: Vec<Assignment>,
    /// The `WHERE`; at least one.
    pub relations: Vec<Relation>,
    /// `IF …`
    pub conditions: Conditions,
}

/// One part of a `SET`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The column.
    pub column: Name,
    /// The action.
    pub operation: Operation,
}

/// An operation on a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// `c = t`
    Set(Term),
    /// `c = c + t` and `c += t`: counts up, appends, adds.
    Add(Term),
    /// `c = c - t` and `c -= t`: counts down, removes.
    Subtract(Term),
    /// `c = t + c`: prepends to a list.
    Prepend(Term),
    /// `c[key] = t`
    SetElement {
        /// The key of a map, the index of a list.
        key: Term,
        /// The value.
        value: Term,
    },
    /// `c.field = t`
    SetField {
        /// The field.
        field: Name,
        /// The value.
        value: Term,
    },
}

/// `DELETE … FROM table WHERE …`
#[derive(Clone, Debug, PartialEq)]
pub struct Delete {
    /// The parts of the rows that are deleted; whole rows when empty.
    pub deletions: Vec<Deletion>,
    /// The table.
    pub table: QualifiedName,
    /// `USING TIMESTAMP …`
    pub attributes: Attributes,
    /// The `WHERE`; at least one.
    pub relations: Vec<Relation>,
    /// `IF …`
    pub conditions: Conditions,
}

/// A part of a row that is deleted.
#[derive(Clone, Debug, PartialEq)]
pub enum Deletion {
    /// A column.
    Column(Name),
    /// `c[key]`
    Element {
        /// The collection.
        column: Name,
        /// The key of a map, the index of a list, the element of a set.
        key: Term,
    },
    /// `c.field`
    Field {
        /// The column of a user type.
        column: Name,
        /// The field.
        field: Name,
    },
}

/// The `IF` of an `UPDATE` or a `DELETE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Conditions {
    /// There is none.
    #[default]
    None,
    /// `IF EXISTS`
    Exists,
    /// `IF a = 1 AND …`; at least one.
    All(Vec<Condition>),
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: Name,
    /// The part of the column.
    pub path: ConditionPath,
    /// The test of it.
    pub test: ConditionTest,
}

/// The part of a column that a condition looks at.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionPath {
    /// All of it.
    Whole,
    /// `c[key]`
    Element(Term),
    /// `c.field`
    Field(Name),
}

/// The test of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionTest {
    /// A comparison; `CONTAINS` and `CONTAINS KEY` only of a whole column.
    Compare {
        /// The operator; never `LIKE`.
        operator: Operator,
        /// The value that it is compared with.
        value: Term,
    },
    /// `IN (…)` or `IN ?`
    In(InValues),
}

/// `BEGIN BATCH … APPLY BATCH`
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The kind of the batch.
    pub kind: BatchKind,
    /// `USING …` for all statements.
    pub attributes: Attributes,
    /// The statements; none is legal.
    pub statements: Vec<Modification>,
}

/// The sorts of batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BatchKind {
    /// All or nothing.
    #[default]
    Logged,
    /// `UNLOGGED`
    Unlogged,
    /// `COUNTER`
    Counter,
}
