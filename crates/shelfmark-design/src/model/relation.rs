//! Entities and links as relations: columns, keys, dependencies, fan-outs.

use std::collections::BTreeMap;

use super::Named;
use super::types::Type;
use crate::syntax::span::Span;

pub(crate) type RelationId = usize;

#[derive(Debug, Clone, Default)]
pub(crate) struct Relation {
    pub(crate) name: Named,
    pub(crate) is_link: bool,
    pub(crate) columns: Vec<Column>,
    /// Candidate keys, the declared key first. The others may hold optional attributes: then no
    /// two of those that have all of them are equal in them.
    pub(crate) keys: Vec<Vec<usize>>,
    /// Declared dependencies beyond the keys.
    pub(crate) dependencies: Vec<(Vec<usize>, Vec<usize>)>,
    pub(crate) fanouts: Vec<Fanout>,
    /// `count`, `growth`, `retention`.
    pub(crate) facts: BTreeMap<String, f64>,
}

impl Relation {
    pub(crate) fn key(&self) -> &[usize] {
        self.keys.first().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    pub(crate) fn column_name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| column.name.as_str())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) ty: Type,
    /// The entity whose key this holds.
    pub(crate) refers: Option<RelationId>,
    pub(crate) optional: bool,
    pub(crate) immutable: bool,
    /// `avg`, `max`, `distinct`, `zipf`, `changes`, `sparse`; flags are 1.
    pub(crate) facts: BTreeMap<String, f64>,
}

impl Column {
    /// Whether the model says that the value never changes while the tuple is there.
    pub(crate) fn lasts(&self) -> bool {
        self.facts.contains_key("immutable")
    }
}

/// How many tuples share the values of `from`.
#[derive(Debug, Clone)]
pub(crate) struct Fanout {
    pub(crate) from: Vec<usize>,
    pub(crate) facts: BTreeMap<String, f64>,
}

impl Fanout {
    pub(crate) fn max(&self) -> Option<f64> {
        self.facts.get("max").copied()
    }
}
