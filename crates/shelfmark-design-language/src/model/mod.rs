//! The resolved model: names, types and dependencies settled.
//!
//! What it is not: no text and no proofs; a model that is here is well formed, not right.
//!
//! Invariant: indices (`RelationId` and columns) point into the model they came from, types of
//! compared values are comparable.

mod begins;
mod canon;
pub mod pattern;
pub mod quantity;
pub mod relation;
pub mod resolve;
pub mod schema;
pub mod term;
pub mod types;
pub mod value;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

pub use canon::canonical;
pub use pattern::{Consistency, OrderKey, Predicate, Read, Write};
pub use relation::{Relation, RelationId};
pub use schema::Schema;
pub use term::{ColumnPath, Function, Term};
pub use types::Type;
pub use value::Value;

use crate::syntax::span::Span;
use crate::syntax::tree::Allow;

/// A counter of the effort spent on searches; it is no part of the model's meaning.
#[derive(Debug, Default)]
pub struct Effort(std::sync::atomic::AtomicUsize);

impl Clone for Effort {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A model whose names are resolved.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The effort spent on searches for witnesses.
    pub effort: Effort,
    /// Entities and links.
    pub relations: Vec<Relation>,
    /// The reads, in the order of the text.
    pub reads: Vec<Read>,
    /// The writes, in the order of the text.
    pub writes: Vec<Write>,
    /// The schemas, in the order of the text.
    pub schemas: Vec<Schema>,
    /// The findings that the model allows, with reasons.
    pub allows: Vec<Allow>,
    /// Types that are declared and that nothing names.
    pub unused_types: Vec<Named>,
    /// Settings per target: what the model overrides of the profile.
    pub settings: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Model {
    /// Returns true if it has more patterns than are searched without counting.
    pub fn is_large(&self) -> bool {
        self.reads.len() + self.writes.len() > crate::limits::SEARCHED_PATTERNS_MAX
    }

    /// Returns how many states the search for one witness may try.
    pub fn witness_tries(&self) -> usize {
        if self.is_large() {
            crate::limits::SEARCHED_TRIES_MAX
        } else {
            crate::limits::WITNESS_TRIES_MAX
        }
    }

    /// Resets the effort spent on searches.
    pub fn rested(&self) {
        self.effort.0.store(0, Relaxed);
    }

    /// Returns true if one more witness may be searched for, in states of these relations, and
    /// counts its effort: their tuples' attributes, times the row families in which they are
    /// written.
    pub fn may_search(&self, schema: &Schema, relations: impl Iterator<Item = RelationId>) -> bool {
        if !self.is_large() {
            return true;
        }
        let weight: usize = relations
            .map(|id| self.relation(id).columns.len() + 4 * schema.concerned(id).count())
            .sum();
        let spent = self.effort.0.load(Relaxed) + weight;
        if spent > crate::limits::SEARCHED_CELLS_MAX {
            return false;
        }
        self.effort.0.store(spent, Relaxed);
        true
    }

    /// Returns an entity or link; an empty one for an id of another model.
    pub fn relation(&self, id: RelationId) -> &Relation {
        static NONE: std::sync::LazyLock<Relation> = std::sync::LazyLock::new(Relation::default);
        self.relations.get(id).unwrap_or(&NONE)
    }

    /// Returns the type at the end of a path, which is optional if a reference on it is.
    pub fn path_type(&self, relation: RelationId, path: &[usize]) -> Type {
        let mut relation = relation;
        let mut ty = Type::Bool;
        for column in path {
            let Some(found) = self.relation(relation).columns.get(*column) else { return ty };
            ty = found.ty.clone();
            relation = found.refers.unwrap_or(relation);
        }
        ty
    }

    /// Returns the path as written: `author.name`.
    pub fn path_text(&self, relation: RelationId, path: &[usize]) -> String {
        let mut relation = relation;
        let mut parts = Vec::new();
        for column in path {
            let Some(found) = self.relation(relation).columns.get(*column) else { break };
            parts.push(found.name.clone());
            relation = found.refers.unwrap_or(relation);
        }
        parts.join(".")
    }

    /// Returns true if a name means this attribute: `author` and `author.id` are one where authors
    /// are keyed by `id` alone.
    pub fn is_named(&self, relation: RelationId, path: &[usize], name: &str) -> bool {
        let mut path = path.to_vec();
        for _ in 0..=self.relations.len() {
            if self.path_text(relation, &path) == name {
                return true;
            }
            let owner = self.relation(self.path_owner(relation, &path));
            let target = path.last().and_then(|last| owner.columns.get(*last)?.refers);
            let Some([only]) = target.map(|target| self.relation(target).key()) else { break };
            path.push(*only);
        }
        false
    }

    /// Returns the relation that owns the last attribute of the path.
    pub fn path_owner(&self, relation: RelationId, path: &[usize]) -> RelationId {
        let mut relation = relation;
        let last = path.len().saturating_sub(1);
        for column in path.iter().take(last) {
            let column = self.relation(relation).columns.get(*column);
            relation = column.and_then(|column| column.refers).unwrap_or(relation);
        }
        relation
    }
}

/// A name with its place, for messages about resolved things.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub text: String,
    /// The place in the text.
    pub span: Span,
}
