//! Row families under construction: the requirements of patterns, and how one key serves several of
//! them.
//!
//! A draft's key is a list of blocks. Inside a block the order of components is still open,
//! because nobody has asked for one; a pattern that needs an order cuts a block in two.
//!
//! Invariant: merging a pattern into a draft never takes anything from those merged before: blocks
//! are only cut or appended, and a direction that was set stays.

use std::collections::{BTreeSet, VecDeque};

use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId};
use shelfmark_design_prove::closure::{determines_path, determines_tuple};

/// The requirements of a pattern, or of a write's look-up, on one row family.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) relation: RelationId,
    /// Attributes whose values the reader knows: they lead the key.
    pub(crate) equal: Vec<ColumnPath>,
    /// The attributes after them: first one with a range, then the order, with its directions.
    pub(crate) tail: Vec<(ColumnPath, Option<bool>)>,
    /// Presence or absence of attributes: rows that do not satisfy it are not in the family.
    pub(crate) when: Vec<Predicate>,
    /// The attributes that the rows must show.
    pub(crate) shown: BTreeSet<ColumnPath>,
    /// True if the rows are sorted once they are read.
    pub(crate) sorted: bool,
    /// True if a materialized view is tried for it.
    pub(crate) viewed: bool,
}

impl Ask {
    /// Creates requirements, without orders that have a single value among rows that are equal so
    /// far.
    pub(crate) fn new(
        model: &Model,
        relation: RelationId,
        equal: Vec<ColumnPath>,
        tail: Vec<(ColumnPath, Option<bool>)>,
    ) -> Self {
        let mut known: BTreeSet<ColumnPath> = equal.iter().cloned().collect();
        let mut kept = Vec::new();
        for (path, desc) in tail {
            let given = known.contains(&path) || determines_path(model, relation, &known, &path);
            if !given && !determines_tuple(model, relation, &known) {
                known.insert(path.clone());
                kept.push((path, desc));
            }
        }
        let (when, shown) = Default::default();
        Self { relation, equal, tail: kept, when, shown, sorted: false, viewed: false }
    }

    /// Returns how many directions the order has.
    pub(crate) fn directions(&self) -> usize {
        self.tail.iter().filter_map(|(_, desc)| *desc).collect::<BTreeSet<bool>>().len()
    }
}

/// A component of a key. Its direction is open until an order sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) path: ColumnPath,
    pub(crate) desc: Option<bool>,
}

#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) relation: RelationId,
    pub(crate) blocks: Vec<Vec<Component>>,
    pub(crate) when: Vec<Predicate>,
    pub(crate) shown: BTreeSet<ColumnPath>,
    /// The counts and sums that the row keeps, as schemas write them.
    pub(crate) counts: Vec<String>,
    /// Number of leading components that every reader knows: the partition key.
    pub(crate) least: usize,
    /// True if the key is settled; it may be cut into partition and sort key, and no more.
    pub(crate) locked: bool,
    /// True if it exists so that a second writer of a unique value meets the first: a table of its
    /// own, also where others are indexes.
    pub(crate) guard: bool,
    /// True if it is the table whose indexes the relation's other families are, though its key is not
    /// the relation's.
    pub(crate) leads: bool,
    /// True if it holds numbers and nothing else, where a target adds to such rows only.
    pub(crate) counter: bool,
    /// True if a pattern reads it or writes by it.
    pub(crate) asked: bool,
    /// True if a materialized view is tried for it.
    pub(crate) viewed: bool,
}

impl Draft {
    pub(crate) fn new(ask: &Ask, fits: Fits) -> Self {
        let mut draft = Self {
            relation: ask.relation,
            blocks: Vec::new(),
            when: ask.when.clone(),
            shown: BTreeSet::new(),
            counts: Vec::new(),
            least: ask.equal.len(),
            locked: false,
            guard: false,
            leads: false,
            counter: false,
            asked: false,
            viewed: false,
        };
        if !ask.equal.is_empty() {
            draft.blocks.push(ask.equal.iter().map(|path| component(path)).collect());
        }
        for (path, desc) in &ask.tail {
            // A text key cannot descend; it is read from its end.
            let desc = if fits.ascending_only { desc.map(|_| false) } else { *desc };
            draft.blocks.push(vec![Component { path: path.clone(), desc }]);
        }
        draft
    }

    /// Returns true for the table that indexes belong to.
    pub(crate) fn is_base(&self) -> bool {
        (self.locked && !self.guard && !self.counter) || self.leads
    }

    /// Returns the key's components in their order.
    pub(crate) fn components(&self) -> impl Iterator<Item = &Component> {
        self.blocks.iter().flatten()
    }

    pub(crate) fn paths(&self) -> BTreeSet<ColumnPath> {
        self.components().map(|component| component.path.clone()).collect()
    }

    /// Returns the blocks with which the draft would serve the ask too, and whether it is then read from
    /// its end; `None` when no key does both.
    pub(crate) fn refine(
        &self,
        model: &Model,
        ask: &Ask,
        fits: Fits,
    ) -> Option<(Vec<Vec<Component>>, bool)> {
        let same_rows = self.when.len() == ask.when.len()
            && self.when.iter().zip(&ask.when).all(|(a, b)| a == b);
        // A list of everything lies in one partition, which nobody else is made to share.
        let one_place = fits.ordered || (self.least == 0) == ask.equal.is_empty();
        if !same_rows || !one_place {
            return None;
        }
        // Looked at first, before anything is copied: thousands of keys of one entity are compared.
        if !ask.equal.is_empty() && !self.blocks.first().is_none_or(|block| leads(block, ask)) {
            return None;
        }
        let mut refining = Refining {
            done: Vec::new(),
            rest: self.blocks.iter().cloned().collect(),
            locked: self.locked,
        };
        refining.equalities(&ask.equal)?;
        let flip = refining.order(model, ask, fits)?;
        refining.done.extend(refining.rest);
        Some((refining.done, flip))
    }
}

/// Returns true if the known attributes are all of a key's first block, or some of it and no others.
fn leads(block: &[Component], ask: &Ask) -> bool {
    let inside = block.iter().filter(|component| ask.equal.contains(&component.path)).count();
    inside > 0 && (inside == block.len() || inside == ask.equal.len())
}

/// The key shapes of the target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fits {
    /// Texts only: no component descends by itself.
    pub(crate) ascending_only: bool,
    /// Partitions lie in key order and need not be named.
    pub(crate) ordered: bool,
}

pub(crate) fn component(path: &[usize]) -> Component {
    Component { path: path.to_vec(), desc: None }
}

struct Refining {
    done: Vec<Vec<Component>>,
    rest: VecDeque<Vec<Component>>,
    locked: bool,
}

impl Refining {
    /// Places the known attributes first, in blocks of their own.
    fn equalities(&mut self, equal: &[ColumnPath]) -> Option<()> {
        let mut open: BTreeSet<&ColumnPath> = equal.iter().collect();
        while !open.is_empty() {
            let Some(block) = self.rest.pop_front() else {
                if self.locked {
                    return None;
                }
                self.done.push(open.iter().map(|path| component(path)).collect());
                return Some(());
            };
            let (inside, outside): (Vec<Component>, Vec<Component>) =
                block.into_iter().partition(|component| open.contains(&component.path));
            if inside.is_empty() || (!outside.is_empty() && inside.len() < open.len()) {
                return None;
            }
            for component in &inside {
                open.remove(&component.path);
            }
            self.done.push(inside);
            if !outside.is_empty() {
                self.rest.push_front(outside);
            }
        }
        Some(())
    }

    /// Places the order next, and returns true if it is read from its end.
    fn order(&mut self, model: &Model, ask: &Ask, fits: Fits) -> Option<bool> {
        let mut known: BTreeSet<ColumnPath> = ask.equal.iter().cloned().collect();
        let mut flip: Option<bool> = None;
        for (path, desc) in &ask.tail {
            let mut found = self.next(model, ask.relation, &known, path)?;
            if let Some(desc) = desc {
                if fits.ascending_only {
                    found.desc = Some(false);
                }
                match (found.desc, flip) {
                    (None, flip) => found.desc = Some(*desc != flip.unwrap_or(false)),
                    (Some(kept), None) => flip = Some(kept != *desc),
                    (Some(kept), Some(flip)) if (kept != *desc) == flip => {}
                    _ => return None,
                }
                flip = flip.or(Some(false));
            }
            known.insert(found.path.clone());
            self.done.push(vec![found]);
        }
        Some(flip.unwrap_or(false))
    }

    /// Takes the component out of the next block, or appends it where the key ends.
    fn next(
        &mut self,
        model: &Model,
        relation: RelationId,
        known: &BTreeSet<ColumnPath>,
        path: &ColumnPath,
    ) -> Option<Component> {
        while let Some(mut block) = self.rest.pop_front() {
            if let Some(at) = block.iter().position(|component| component.path == *path) {
                let found = block.remove(at);
                if !block.is_empty() {
                    self.rest.push_front(block);
                }
                return Some(found);
            }
            // What has one value by now does not disturb the order.
            let constant =
                |component: &Component| determines_path(model, relation, known, &component.path);
            if !block.iter().all(constant) {
                return None;
            }
            self.done.push(block);
        }
        (!self.locked).then(|| component(path))
    }
}
