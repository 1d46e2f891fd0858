//! Entities and links as relations: columns, keys, dependencies, fan-outs.

use std::collections::BTreeMap;

use super::Named;
use super::types::Type;
use super::value::Value;
use crate::syntax::span::Span;

/// The index of an entity or link in the model.
pub type RelationId = usize;

/// An entity or a link.
#[derive(Debug, Clone, Default)]
pub struct Relation {
    /// The name, with its place.
    pub name: Named,
    /// True for a link.
    pub is_link: bool,
    /// The attributes.
    pub columns: Vec<Column>,
    /// Candidate keys, the declared key first. The others may hold optional attributes: then no
    /// two of those that have all of them are equal in them.
    pub keys: Vec<Vec<usize>>,
    /// Optional attributes of which a tuple has all or none, by groups.
    pub together: Vec<Vec<usize>>,
    /// Declared dependencies beyond the keys.
    pub dependencies: Vec<(Vec<usize>, Vec<usize>)>,
    /// Declared numbers of tuples that share values.
    pub fanouts: Vec<Fanout>,
    /// `count`, `growth`, `retention`.
    pub facts: BTreeMap<String, f64>,
}

impl Relation {
    /// Returns the declared key.
    pub fn key(&self) -> &[usize] {
        self.keys.first().map_or(&[], Vec::as_slice)
    }

    /// Returns the attribute of a name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the attributes that are there exactly where one is.
    pub fn mates(&self, column: usize) -> impl Iterator<Item = usize> + '_ {
        let groups = self.together.iter().filter(move |group| group.contains(&column));
        groups.flatten().copied().filter(move |other| *other != column)
    }

    /// Returns true if a tuple has all or none of each group.
    pub fn is_whole(&self, tuple: &[Value]) -> bool {
        self.together.iter().all(|group| {
            let absent = group.iter().filter(|at| tuple.get(**at) == Some(&Value::Null)).count();
            absent == 0 || absent == group.len()
        })
    }

    /// Returns the name of an attribute.
    pub fn column_name(&self, column: usize) -> &str {
        self.columns.get(column).map_or("", |column| column.name.as_str())
    }
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The place in the text.
    pub span: Span,
    /// The type.
    pub ty: Type,
    /// The entity whose key this holds.
    pub refers: Option<RelationId>,
    /// True if it may be absent.
    pub optional: bool,
    /// True if it may not be changed.
    pub immutable: bool,
    /// `avg`, `max`, `distinct`, `zipf`, `changes`, `sparse`; flags are 1.
    pub facts: BTreeMap<String, f64>,
}

impl Column {
    /// Returns true if the model declares that the value never changes during the tuple's life.
    pub fn lasts(&self) -> bool {
        self.facts.contains_key("immutable")
    }
}

/// A declared number of tuples that share the values of `from`.
#[derive(Debug, Clone)]
pub struct Fanout {
    /// The attributes that are shared.
    pub from: Vec<usize>,
    /// Declared numbers, by their names.
    pub facts: BTreeMap<String, f64>,
}

impl Fanout {
    /// Returns the declared maximum.
    pub fn max(&self) -> Option<f64> {
        self.facts.get("max").copied()
    }
}
