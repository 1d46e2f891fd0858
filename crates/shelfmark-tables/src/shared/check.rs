//! The interfaces by which a face checks what others write into its tables more narrowly than the engine
//! does.
//!
//! The engine keeps CQL's `ascii` as text, and its durations and vectors as bytes, so its types take
//! more than those columns do; it knows nothing of DynamoDB's vector indexes. What it is not: a check of
//! the face's own writes, which come checked.
//!
//! Invariant: nothing is written into another face's table that the face would not have written.

use std::fmt;
use std::sync::Arc;

use shelfmark_model::{Item, TableSchema};

/// Checks values for the columns of one table.
pub trait ColumnCheck: Send + Sync + fmt::Debug {
    /// Checks a cell in its plain serialisation: the path is empty except for elements of sets and
    /// maps, and for fields. A column that is not known takes everything.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the value.
    fn check(&self, column: &str, path: &[u8], value: &[u8]) -> std::result::Result<(), String>;
}

/// Knows the columns of all tables of a face.
pub trait ColumnChecks: Send + Sync + fmt::Debug {
    /// Returns the check of a table; `None` if what the face keeps with it cannot be read.
    fn of_table(&self, schema: &TableSchema) -> Option<Arc<dyn ColumnCheck>>;
}

/// Checks items for one table.
pub trait ItemCheck: Send + Sync + fmt::Debug {
    /// Checks what a write makes of an item. What the write leaves as it was is not looked at.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the item, in the face's words.
    fn check(&self, before: Option<&Item>, after: &Item) -> std::result::Result<(), String>;
}

/// Knows what the tables of items of a face take.
pub trait ItemChecks: Send + Sync + fmt::Debug {
    /// Returns the check of a table; `None` if it takes whatever the engine does.
    fn of_table(&self, schema: &TableSchema) -> Option<Arc<dyn ItemCheck>>;
}
