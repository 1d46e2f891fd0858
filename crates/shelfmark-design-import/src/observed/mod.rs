//! Finds the row types of a table in its rows.
//!
//! Rows of one type have keys of one form, a constant attribute that names the type, or stand in
//! one facet. Of each type the tags and values of its keys are found, which values are attributes,
//! and what the keys of indexes are made of. What no row shows is asked.
//!
//! What it is not: it knows no file format. A data model of NoSQL Workbench and a live table are
//! given in the same way.
//!
//! Invariant: every row that has the table's key belongs to exactly one type.

mod domains;
mod groups;
mod keys;
mod reads;
mod words;
mod write;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use keys::Family;
pub(crate) use reads::{Query, SortCondition};
pub(crate) use write::write;

/// Most rows of one table that are looked at.
///
/// Ours: the published models have 442 in 44 files; a live table gives a sample of this size.
pub(crate) const OBSERVED_ROWS_MAX: usize = 2_000;

/// An attribute and its type letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) letter: String,
}

/// A global or local index.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    pub(crate) name: String,
    /// True if it lies beside its rows, in their partition.
    pub(crate) local: bool,
    /// Its key: one attribute and at most one more, or up to four and four.
    pub(crate) parts: Vec<Attribute>,
    /// Number of columns in the partition key.
    pub(crate) partition: usize,
    /// The projected attributes beside keys; `None` means all.
    pub(crate) shown: Option<Vec<String>>,
}

/// A named slice of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facet {
    pub(crate) name: String,
    /// The names of the key cells in it.
    pub(crate) aliases: Vec<Option<String>>,
    /// Attributes beside the key; `None` means all of the table's.
    pub(crate) others: Option<Vec<String>>,
}

/// A row: values in DynamoDB's JSON by attribute, and the facet in which it stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    pub(crate) cells: BTreeMap<String, Json>,
    pub(crate) facet: Option<usize>,
}

/// A row type that a schema beside the table declares, with templates of its attributes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    pub(crate) name: String,
    /// Attributes in order, with their type letters and the templates `…${name}…` of their values.
    pub(crate) attributes: Vec<(Attribute, Option<String>)>,
}

/// A table as it was seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// One or two attributes.
    pub(crate) key: Vec<Attribute>,
    pub(crate) others: Vec<Attribute>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) facets: Vec<Facet>,
    pub(crate) rows: Vec<Row>,
    pub(crate) declared: Vec<Declared>,
    /// The attribute that names the type of a row, where the schema beside it says so.
    pub(crate) type_attribute: Option<String>,
    pub(crate) queries: Vec<Query>,
}

impl Row {
    /// Returns a value as text: of a text or a number.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let cell = self.cells.get(name)?;
        cell.get("S").or_else(|| cell.get("N")).and_then(Json::as_str)
    }

    /// Returns the type letter of a value.
    pub(crate) fn letter(&self, name: &str) -> Option<&str> {
        let cell = self.cells.get(name)?.as_object()?;
        cell.keys().next().map(String::as_str)
    }
}

impl Table {
    /// Returns the type letter of an attribute: as declared, or as a row shows it.
    pub(crate) fn letter(&self, name: &str) -> &str {
        let parts = self.indexes.iter().flat_map(|index| &index.parts);
        let declared = self.key.iter().chain(&self.others).chain(parts);
        let declared = declared.into_iter().find(|one| one.name == name);
        declared
            .map(|one| one.letter.as_str())
            .or_else(|| self.rows.iter().find_map(|row| row.letter(name)))
            .unwrap_or("S")
    }

    /// Returns true if the names of the key say nothing, so that row types share the table.
    pub(crate) fn is_generic(&self) -> bool {
        self.key.iter().all(|one| words::is_generic(&one.name))
    }
}

/// Returns the row types of a table.
pub(crate) fn families(table: &Table) -> Vec<Family> {
    let columns = groups::columns(table);
    let groups = groups::groups(table, &columns);
    groups.into_iter().map(|group| keys::family(table, &columns, group)).collect()
}
