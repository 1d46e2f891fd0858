//! Texts of requests as what they ask: the table, the columns that they bind, the attributes that they
//! change. One module for each target.
//!
//! What it is not: a parser. The faces' own parsers read expressions and statements.
//!
//! Invariant: requests of clients and those that the model sends are read by the same code; a value leaves
//! it only to be looked at for its form.

mod cql;
mod dynamo;

pub use cql::{Statement, statement};
pub use dynamo::operation;

use serde_json::{Map, Value as Json};

use crate::shape::Kind;

/// A value of a request: its text, if it is a text whose form can be told.
pub type Text = Option<String>;

/// The values that a column may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedBound {
    /// One value.
    Equal(Text),
    /// All that begin with a text.
    Prefix(Text),
    /// All between two ends.
    Range(Option<Text>, Option<Text>),
}

/// The order that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskedOrder {
    /// That of the key, or the one against it.
    Key {
        /// True if against it.
        backward: bool,
    },
    /// That of a column.
    Column {
        /// The column.
        name: String,
        /// True from the largest on.
        descending: bool,
    },
}

/// One access of a request: the rows that it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The kind of access.
    pub kind: Kind,
    /// The table.
    pub table: String,
    /// The index, if it is named.
    pub index: Option<String>,
    /// The columns with their values. Of a put all of its attributes.
    pub bound: Vec<(String, AskedBound)>,
    /// The attributes that an update changes.
    pub changes: Vec<String>,
    /// The order.
    pub order: AskedOrder,
    /// True if it names a largest number of rows.
    pub limited: bool,
    /// True if rows are filtered after they were read.
    pub filtered: bool,
    /// True if it asks for what is behind an earlier page.
    pub goes_on: bool,
    /// The item of a put, as plain JSON.
    pub item: Option<Map<String, Json>>,
}

impl Asked {
    fn new(kind: Kind, table: &str) -> Self {
        Self {
            kind,
            table: table.to_owned(),
            index: None,
            bound: Vec::new(),
            changes: Vec::new(),
            order: AskedOrder::Key { backward: false },
            limited: false,
            filtered: false,
            goes_on: false,
            item: None,
        }
    }
}

/// A request as what it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// These accesses; none where it touches no row.
    Asks(Vec<Asked>),
    /// Its form is not read.
    Unread,
}
