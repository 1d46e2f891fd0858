//! Changes of the schema, as results and events carry them.

/// The kind of a change of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The object is new.
    Created,
    /// The object was altered.
    Updated,
    /// The object was dropped.
    Dropped,
}

/// The kind of the object that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTarget {
    /// A keyspace.
    Keyspace,
    /// A table or view.
    Table,
    /// A user type.
    Type,
    /// A function.
    Function,
    /// An aggregate.
    Aggregate,
}

/// A change of the schema: answered to whoever asked, and sent to whoever registered for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// The kind of change.
    pub kind: ChangeKind,
    /// To which part.
    pub target: ChangeTarget,
    /// In which keyspace.
    pub keyspace: String,
    /// The name; empty for a keyspace.
    pub name: String,
    /// The types of a function's or aggregate's arguments, as CQL text.
    pub arguments: Vec<String>,
}
