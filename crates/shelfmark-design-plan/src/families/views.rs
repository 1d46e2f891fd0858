//! Decides which families are materialized views of a relation's own table, where that is tried.
//!
//! A view follows its table without any request: no write looks up, deletes or compares what it holds. Its
//! key has all columns of its table's key and at most one other, and it shows all rows; where a
//! partition has to be spread, its bucket would be one column more.
//!
//! What it is not: no judgement. Whether a view pays is found by deriving the schema and counting its
//! cost.
//!
//! Invariant: a family that a view cannot be stays a table of its own.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::{Moves, Planner};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::{ColumnPath, RelationId, Type};
use shelfmark_design_language::syntax::tree::Existing;

impl Planner<'_> {
    /// Returns true if some family of a relation is tried as a view of the relation's own table.
    pub(super) fn has_views(&self, relation: RelationId) -> bool {
        let of =
            |read: &usize| self.model.reads.get(*read)?.sources.first().map(|one| one.relation);
        self.moves.viewed.iter().filter_map(of).any(|one| one == relation)
    }

    /// Returns true if a family may be a view of its relation's own table.
    pub(super) fn is_view_shaped(&self, draft: &Draft) -> bool {
        let own = self.own_key(draft.relation);
        let paths = draft.paths();
        let one_other = paths.iter().filter(|path| !own.contains(*path)).count() <= 1;
        // An ordered uuid is a text in the key of a table, and no column that another table has.
        let plain = |path: &ColumnPath| {
            path.len() == 1 && self.model.path_type(draft.relation, path) != Type::Uuid
                || draft.components().all(|one| one.path != *path || one.desc.is_none())
        };
        let keyed =
            draft.least > 0 && paths.iter().all(plain) && paths.iter().all(|path| path.len() == 1);
        keyed && one_other && draft.when.is_empty() && !draft.guard && !draft.locked
    }

    /// Returns the columns of the table's key that a view's key has behind its own.
    pub(super) fn rest_of_view(&self, draft: &Draft) -> Vec<ColumnPath> {
        let paths = draft.paths();
        self.own_key(draft.relation).into_iter().filter(|path| !paths.contains(path)).collect()
    }

    /// Makes tables of views whose partitions, or those of their tables, have to be spread.
    pub(super) fn spread_views(&mut self) {
        let spread: Vec<bool> = self.drafts.iter().map(|one| self.shards(one).is_some()).collect();
        let is_spread = |at: usize| spread.get(at).is_some_and(|spread| *spread);
        let tables: BTreeSet<RelationId> = (0..self.drafts.len())
            .filter(|at| is_spread(*at))
            .filter_map(|at| self.drafts.get(at).filter(|one| one.is_base()))
            .map(|one| one.relation)
            .collect();
        for (at, draft) in self.drafts.iter_mut().enumerate() {
            draft.viewed &= !is_spread(at) && !tables.contains(&draft.relation);
        }
    }

    /// Returns the departures by which families are views: those of one relation together, then one by
    /// one.
    ///
    /// Where rows only come, a view costs what a second table costs: it is tried only where the `few`
    /// tables count by themselves.
    pub(super) fn views(&self, few: bool) -> Vec<Moves> {
        if !self.target.rules.contains_key("view_columns") {
            return Vec::new();
        }
        let mut groups: BTreeMap<RelationId, BTreeMap<usize, BTreeSet<usize>>> = BTreeMap::new();
        for served in &self.served {
            let draft = self.drafts.get(served.draft).filter(|one| self.is_view_shaped(one));
            let Some(draft) = draft.filter(|one| few || self.is_followed_dearly(one.relation))
            else {
                continue;
            };
            let of_relation = groups.entry(draft.relation).or_default();
            of_relation.entry(served.draft).or_default().insert(served.read);
        }
        let viewed = |reads: BTreeSet<usize>| Moves { viewed: reads, ..Moves::default() };
        let mut found = Vec::new();
        for group in groups.values() {
            found.push(viewed(group.values().flatten().copied().collect()));
        }
        for group in groups.into_values().filter(|group| group.len() > 1) {
            found.extend(group.into_values().map(viewed));
        }
        found
    }

    /// Returns true if some write does more to a relation than to bring rows that are new.
    fn is_followed_dearly(&self, relation: RelationId) -> bool {
        let effects = self.model.writes.iter().flat_map(|write| &write.effects);
        effects
            .filter(|effect| effect.relation == relation)
            .any(|effect| effect.kind != EffectKind::Insert || effect.existing != Existing::Fresh)
    }
}
