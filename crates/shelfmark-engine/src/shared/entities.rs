//! A table of entities as a table of items of another face, which reads it and does not write.
//!
//! An entity is an item already: its partition key and its sort key are texts, its attributes lie
//! beside them. What it is not: other typed tables, whose keys are tuples and whose values know their
//! types only in the program.
//!
//! Invariant: nothing is written through such a table: the typed layer splits partitions behind its
//! writes.

use std::sync::Arc;

use shelfmark_model::{TableName, TableSchema};

use crate::catalogue::{Table, blank_table};
use crate::error::{Error, Result};

/// The word of the typed layer for tables of entities, and where it stands.
const ENTITIES: (&str, &str) = ("typed", "entities");

/// Tells whether a table holds entities that other faces may see; names that begin with `_` are the
/// typed layer's own.
pub(super) fn holds_entities(schema: &TableSchema) -> bool {
    let word = schema.options.face.get(ENTITIES.0).and_then(|own| own.as_text());
    word == Some(ENTITIES.1) && !schema.name.name.starts_with('_')
}

/// Returns the table of items that a table of entities is.
pub(crate) fn readable(base: &Arc<Table>) -> Table {
    let mut schema = base.schema.clone();
    let TableName { namespace, name } = &base.schema.name;
    schema.name = TableName::new(&**namespace, format!("{namespace}.{name}"));
    schema.indexes.clear();
    Table { readable: Some(Arc::clone(base)), ..blank_table(schema, base.id) }
}

impl Table {
    /// Refuses to write a table that is another face's to write.
    pub(crate) fn check_written(&self) -> Result<()> {
        match &self.readable {
            None => Ok(()),
            Some(base) => Err(Error::invalid(format!(
                "table {} holds entities of typed tables, which are read here and written there",
                base.schema.name
            ))),
        }
    }
}
