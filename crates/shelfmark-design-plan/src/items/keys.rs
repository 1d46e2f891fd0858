//! Keys of candidate rows, and which reads a key serves.
//!
//! A key has a partition, whose attributes a reader knows, and a sort part: what else readers
//! know, then an order, then what makes the key unique. A tag keeps row types of one collection
//! apart; shards spread a partition that would be too hot.
//!
//! What it is not: no text and no place; `pack` decides what a key is written as.
//!
//! Invariant: [`Key::serves`] is true only if the rows that a read asks for are one contiguous
//! range of each shard, in its order.

use std::collections::BTreeSet;

use crate::families::completion;
use crate::families::draft::{Ask, Component, Draft, Fits};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId};
use shelfmark_design_prove::closure::determines_path;

/// Most keys that are tried for one relation.
///
/// Ours: more than the reads of one entity in any published model, twice over.
const KEYS_MAX: usize = 48;

/// Most tuples that may lie in one partition together.
///
/// Ours: a list of everything of this length is a few megabytes.
const SMALL_COUNT: f64 = 100_000.0;

/// The shape of keys: they are read from either end as a whole.
pub(crate) const FITS: Fits = Fits { ascending_only: true, ordered: false };

/// The place of a row type in a collection of several.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// The read that the collection is for.
    pub(crate) read: usize,
    /// The text that sorts the type among the others.
    pub(crate) text: String,
}

/// The key of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) partition: Vec<ColumnPath>,
    pub(crate) tag: Option<Tag>,
    pub(crate) sort: Vec<ColumnPath>,
    /// Number of parts of each partition; 1 is whole.
    pub(crate) shards: u32,
}

impl Key {
    /// Returns all attributes of the key.
    pub(crate) fn paths(&self) -> BTreeSet<ColumnPath> {
        self.partition.iter().chain(&self.sort).cloned().collect()
    }

    /// Returns true if the rows that are asked for are one range, in their order.
    pub(crate) fn serves(&self, model: &Model, ask: &Ask) -> bool {
        let mut open: BTreeSet<&ColumnPath> = ask.equal.iter().collect();
        if !self.partition.iter().all(|path| open.remove(path)) {
            return false;
        }
        // One place for everything is no place for single rows, where they are many.
        if self.partition.is_empty() && !ask.equal.is_empty() && !is_small(model, ask.relation) {
            return false;
        }
        let mut sort = self.sort.iter();
        while !open.is_empty() {
            match sort.next() {
                Some(path) if open.remove(path) => {}
                _ => return false,
            }
        }
        let mut known: BTreeSet<ColumnPath> = ask.equal.iter().cloned().collect();
        for (wanted, _) in &ask.tail {
            loop {
                match sort.next() {
                    Some(path) if path == wanted => break,
                    // What has one value by now does not disturb the order.
                    Some(path) if determines_path(model, ask.relation, &known, path) => {}
                    _ => return false,
                }
            }
            known.insert(wanted.clone());
        }
        true
    }

    /// Returns true if a reader who knows these attributes knows the whole key.
    pub(crate) fn is_known(&self, equal: &[ColumnPath]) -> bool {
        self.partition.iter().chain(&self.sort).all(|path| equal.contains(path))
    }
}

/// Returns true if a relation is declared to have so few tuples that one partition may hold them.
pub(crate) fn is_small(model: &Model, relation: RelationId) -> bool {
    model.relation(relation).facts.get("count").is_some_and(|count| *count <= SMALL_COUNT)
}

/// Returns the keys that serve some of the asks, each alone and together with others.
pub(crate) fn keys(model: &Model, asks: &[&Ask]) -> Vec<Key> {
    let mut found: Vec<Key> = Vec::new();
    let mut add = |draft: &Draft| {
        let key = of_draft(draft);
        if found.len() < KEYS_MAX && !found.contains(&key) {
            found.push(key);
        }
    };
    for (at, ask) in asks.iter().enumerate() {
        let alone = Draft::new(ask, FITS);
        add(&alone);
        let mut all = alone.clone();
        for (other, beside) in asks.iter().enumerate() {
            if at == other {
                continue;
            }
            if let Some((blocks, _)) = alone.refine(model, beside, FITS) {
                let mut two = alone.clone();
                merge(&mut two, blocks, beside);
                add(&two);
            }
            if let Some((blocks, _)) = all.refine(model, beside, FITS) {
                merge(&mut all, blocks, beside);
            }
        }
        add(&all);
    }
    found
}

fn merge(draft: &mut Draft, blocks: Vec<Vec<Component>>, ask: &Ask) {
    draft.blocks = blocks;
    draft.least = draft.least.min(ask.equal.len());
}

fn of_draft(draft: &Draft) -> Key {
    let paths: Vec<ColumnPath> = draft.components().map(|one| one.path.clone()).collect();
    let (partition, sort) = paths.split_at(draft.least.min(paths.len()));
    let mut partition = partition.to_vec();
    // Inside a partition the order is free: one key has one form.
    partition.sort();
    Key { partition, tag: None, sort: sort.to_vec(), shards: 1 }
}

/// Returns the key with what makes it unique.
pub(crate) fn completed(model: &Model, relation: RelationId, key: &Key) -> Key {
    let mut whole = key.clone();
    whole.sort.extend(completion(model, relation, &key.paths()));
    if whole.partition.is_empty() && whole.tag.is_none() && key.sort.is_empty() {
        // A list of everything keeps its one place.
        return whole;
    }
    whole
}
