//! The shape of a statement: what it reads or changes, with inputs for its values.
//!
//! Two statements of one shape are one pattern, whatever values they had.

/// A condition on a column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The number of the table, and its column.
    pub(super) table: usize,
    pub(super) column: String,
    /// The operator in the model's language.
    pub(super) operator: &'static str,
}

/// A read or a change, without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Read {
        table: usize,
        /// Tables that the first refers to by a column, which are read with it.
        with: Vec<(String, usize)>,
        /// The columns shown; nothing means all.
        shown: Vec<(usize, String)>,
        aggregate: Option<String>,
        conditions: Vec<Condition>,
        order: Vec<(String, bool)>,
        limit: Option<String>,
        offset: bool,
    },
    Insert {
        table: usize,
        columns: Vec<String>,
        existing: &'static str,
    },
    Update {
        table: usize,
        set: Vec<(String, Option<String>)>,
        known: Vec<String>,
    },
    Delete {
        table: usize,
        known: Vec<String>,
    },
}

impl Shape {
    /// Returns a text that is the same for statements of one shape.
    pub(super) fn text(&self) -> String {
        format!("{self:?}")
    }
}
