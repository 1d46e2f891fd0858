//! Derives the look-ups that writes need beyond the reads.
//!
//! A write computes the keys of all rows it concerns from what its caller knows. What is missing
//! is looked up: in a row of the same tuple by its key, in a row of what it refers to, in the rows
//! that hold copies of what changes.

use std::collections::BTreeSet;

use super::Planner;
use super::draft::{Ask, Draft};
use crate::word::is_met;
use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Write};
use shelfmark_design_language::model::{ColumnPath, Predicate, RelationId, Term};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};
use shelfmark_design_prove::write::made_paths;

/// One table's rows of a relation: the attributes of their key, and all that they show.
struct Rows {
    keys: BTreeSet<ColumnPath>,
    shown: BTreeSet<ColumnPath>,
    /// True if it has a row of every tuple.
    whole: bool,
}

impl Planner<'_> {
    /// Adds look-ups until none is missing. Each round adds a family or a stored attribute, of
    /// which there are finitely many.
    pub(super) fn look_ups(&mut self) {
        let writes: Vec<&Write> = self.model.writes.iter().collect();
        loop {
            let before = self.extent();
            self.guards();
            for write in &writes {
                for effect in &write.effects {
                    self.effect(write, effect);
                }
            }
            if self.extent() == before {
                return;
            }
        }
    }

    /// Adds a row for every declared key that some write fills, so that its second writer meets the
    /// first.
    fn guards(&mut self) {
        let relations: Vec<RelationId> = self.of_relation.keys().copied().collect();
        relations.into_iter().for_each(|relation| self.guards_of(relation));
    }

    /// Adds those rows for one relation.
    pub(super) fn guards_of(&mut self, relation: RelationId) {
        let keys: Vec<Vec<usize>> =
            self.model.relation(relation).keys.iter().skip(1).cloned().collect();
        for key in keys {
            let mut effects = self.model.writes.iter().flat_map(|write| &write.effects);
            let filled = effects.any(|effect| {
                effect.relation == relation
                    && (effect.kind == EffectKind::Insert
                        || effect.set.iter().any(|(column, _)| key.contains(column)))
            });
            let paths: Vec<ColumnPath> = key.iter().map(|column| vec![*column]).collect();
            let wanted: BTreeSet<ColumnPath> = paths.iter().cloned().collect();
            let there = self.rows_of(relation).iter().any(|one| one.keys == wanted && one.whole);
            if filled && !there {
                let ask = Ask::new(self.model, relation, paths, Vec::new());
                let mut draft = Draft::new(&ask, self.fits());
                (draft.locked, draft.guard) = (true, true);
                let own = self.model.relation(relation).key().iter();
                draft.shown = own.map(|column| vec![*column]).collect();
                self.add(draft);
            }
        }
    }

    fn extent(&self) -> (usize, usize) {
        let rows = self.mixed.iter().flat_map(|mixed| &mixed.rows).map(|row| row.shown.len());
        let drafts = self.drafts.iter().map(|draft| draft.shown.len());
        (self.drafts.len(), drafts.chain(rows).sum())
    }

    /// Returns the tables that hold rows of a relation; an index follows its row.
    fn rows_of(&self, relation: RelationId) -> Vec<Rows> {
        let drafts = self.of_relation.get(&relation).into_iter().flatten();
        let mut found: Vec<Rows> = drafts
            .filter_map(|at| self.drafts.get(*at))
            .filter(|draft| !self.is_index(draft))
            .map(|draft| {
                let keys: BTreeSet<ColumnPath> =
                    self.key(draft).into_iter().map(|component| component.path).collect();
                let guards =
                    draft.when.iter().map(|one| canonical(self.model, relation, &one.path));
                let shown = keys.iter().cloned().chain(draft.shown.clone()).chain(guards).collect();
                Rows { keys, shown, whole: draft.when.is_empty() }
            })
            .collect();
        for mixed in &self.mixed {
            found.extend(mixed.rows.iter().filter(|row| row.relation == relation).map(|row| {
                let keys: BTreeSet<ColumnPath> = row.keys.iter().cloned().collect();
                let guards = row.when.iter().map(|one| canonical(self.model, relation, &one.path));
                let shown = keys.iter().cloned().chain(row.shown.clone()).chain(guards).collect();
                Rows { keys, shown, whole: row.when.is_empty() }
            }));
        }
        found
    }

    fn effect(&mut self, write: &Write, effect: &Effect) {
        let rows = self.rows_of(effect.relation);
        let all: BTreeSet<ColumnPath> = rows.iter().flat_map(|one| one.shown.clone()).collect();
        let keys: BTreeSet<ColumnPath> = rows.iter().flat_map(|one| one.keys.clone()).collect();
        if !rows.is_empty() {
            self.loop_rows(effect, &keys);
        }
        let given: BTreeSet<ColumnPath> =
            effect.key.iter().map(|(column, _)| vec![*column]).collect();
        match effect.kind {
            EffectKind::Insert => {
                self.referred(write, effect, &all);
                if effect.existing != Existing::Fresh && !rows.is_empty() {
                    self.own(effect, keys);
                } else if is_met(self.model, effect.relation) && !rows.is_empty() {
                    self.own(effect, BTreeSet::new());
                }
            }
            EffectKind::Delete => {
                if !keys.is_subset(&given) {
                    self.own(effect, keys);
                }
            }
            EffectKind::Update | EffectKind::Increment => {
                for one in &rows {
                    // A changed reference brings other attributes: the row is put anew.
                    let moves = one.shown.iter().any(|path| {
                        path.len() > 1 && effect.set.iter().any(|(at, _)| path.first() == Some(at))
                    });
                    if moves || hits(effect, &one.keys) {
                        self.own(effect, one.shown.clone());
                    } else if hits(effect, &one.shown) && !one.keys.is_subset(&given) {
                        self.own(effect, one.keys.clone());
                    }
                }
                // A reference that changes brings the attributes of what it then refers to.
                let moved: BTreeSet<ColumnPath> = all
                    .into_iter()
                    .filter(|path| {
                        effect.set.iter().any(|(column, _)| path.first() == Some(column))
                    })
                    .collect();
                self.referred(write, effect, &moved);
                self.copies(effect);
            }
        }
    }

    /// Adds a row of the effect's own tuple, by its key.
    fn own(&mut self, effect: &Effect, shown: BTreeSet<ColumnPath>) {
        let key = self.model.relation(effect.relation).key();
        let key: Vec<ColumnPath> = key.iter().map(|column| vec![*column]).collect();
        let mut ask = Ask::new(self.model, effect.relation, key, Vec::new());
        let collected = || self.row_by_own_key(effect.relation).filter(|_| !self.is_served(&ask));
        match (self.found_by(&ask), collected()) {
            (Some(at), _) => self.show(at, &shown),
            (None, Some(row)) => self.show_mixed(row, &shown),
            (None, None) => {
                ask.shown = shown;
                self.ask(&ask);
            }
        }
    }

    /// Returns true if a family serves the requirements as it is, or where its key is settled so.
    fn is_served(&self, ask: &Ask) -> bool {
        let drafts = self.of_relation.get(&ask.relation).into_iter().flatten();
        let mut drafts = drafts.filter_map(|at| self.drafts.get(*at));
        drafts.any(|draft| draft.refine(self.model, ask, self.fits()).is_some())
    }

    /// Returns the table that has a tuple's own key as its key in another order, or beside constants
    /// and parts that are computed from it: who knows the key finds the row. `None` where a family
    /// of its own order serves, or no table does.
    fn found_by(&self, ask: &Ask) -> Option<usize> {
        let drafts = self.of_relation.get(&ask.relation)?;
        let known = drafts.iter().filter_map(|at| Some((*at, self.drafts.get(*at)?)));
        if self.is_served(ask) {
            return None;
        }
        let wanted: BTreeSet<ColumnPath> = ask.equal.iter().cloned().collect();
        let whole = |draft: &Draft| {
            let held = self.key(draft).into_iter().map(|component| component.path);
            let table = !self.is_index(draft) && !draft.guard && draft.when.is_empty();
            table && held.collect::<BTreeSet<ColumnPath>>() == wanted
        };
        known.clone().find(|(_, draft)| whole(draft)).map(|(at, _)| at)
    }

    /// Adds the rows that a loop goes through.
    fn loop_rows(&mut self, effect: &Effect, keys: &BTreeSet<ColumnPath>) {
        let Some(each) = &effect.each else { return };
        let whole = |one: &Predicate| one.op == CondOp::Eq;
        if !each.predicates.iter().all(whole) {
            return;
        }
        let equal = each
            .predicates
            .iter()
            .map(|one| canonical(self.model, each.relation, &one.path))
            .collect();
        let mut shown = BTreeSet::new();
        for (_, term) in effect.key.iter().chain(&effect.set) {
            priors(term, &mut |path| {
                shown.insert(canonical(self.model, each.relation, path));
            });
        }
        if each.relation == effect.relation {
            // The loop's rows are the very tuples, and tell the rest of their keys.
            shown.extend(keys.iter().cloned());
        }
        let mut ask = Ask::new(self.model, each.relation, equal, Vec::new());
        ask.shown = shown;
        self.ask(&ask);
    }

    /// Adds rows of the tuples that a write makes a tuple refer to, for the attributes that are
    /// copied from there.
    fn referred(&mut self, write: &Write, effect: &Effect, wanted: &BTreeSet<ColumnPath>) {
        let terms: Vec<(usize, Term)> = effect.set.iter().chain(&effect.key).cloned().collect();
        let made = made_paths(self.model, write, effect.relation, &terms);
        for path in wanted.iter().filter(|path| path.len() > 1) {
            let (Some(via), Some(inner)) = (path.first(), path.get(1..)) else { continue };
            let columns = &self.model.relation(effect.relation).columns;
            let Some(target) = columns.get(*via).and_then(|column| column.refers) else { continue };
            let term = terms.iter().find(|(column, _)| column == via);
            let key = self.model.relation(target).key();
            if term.is_none() || made.contains(path) {
                continue;
            }
            let equal = key.iter().map(|column| vec![*column]).collect();
            let mut ask = Ask::new(self.model, target, equal, Vec::new());
            ask.shown = BTreeSet::from([canonical(self.model, target, inner)]);
            self.ask(&ask);
        }
    }

    /// Adds the rows that hold copies of what an update changes, by the attribute that refers to
    /// it.
    fn copies(&mut self, effect: &Effect) {
        let refers = |relation: &usize| {
            let columns = &self.model.relation(*relation).columns;
            columns.iter().any(|column| column.refers == Some(effect.relation))
        };
        let referring: Vec<RelationId> = (0..self.model.relations.len()).filter(refers).collect();
        for relation in referring {
            for one in self.rows_of(relation) {
                let through: BTreeSet<usize> = one
                    .shown
                    .iter()
                    .filter_map(|path| match path.as_slice() {
                        [via, column] => {
                            let columns = &self.model.relation(relation).columns;
                            let refers = columns.get(*via)?.refers == Some(effect.relation);
                            let set = effect.set.iter().any(|(changed, _)| changed == column);
                            (refers && set).then_some(*via)
                        }
                        _ => None,
                    })
                    .collect();
                for via in through {
                    let mut ask = Ask::new(self.model, relation, vec![vec![via]], Vec::new());
                    // What lies behind the reference stands in the row that changes.
                    let own = |path: &&ColumnPath| path.len() == 1 || path.first() != Some(&via);
                    ask.shown = one.shown.iter().filter(own).cloned().collect();
                    self.ask(&ask);
                }
            }
        }
    }
}

/// Returns true if the effect changes one of the attributes.
fn hits(effect: &Effect, paths: &BTreeSet<ColumnPath>) -> bool {
    paths.iter().any(|path| {
        path.first().is_some_and(|first| effect.set.iter().any(|(column, _)| column == first))
    })
}

/// Calls `see` for every attribute of a loop's row.
fn priors(term: &Term, see: &mut impl FnMut(&ColumnPath)) {
    match term {
        Term::Prior(path) => see(path),
        Term::Call(_, args) => {
            for arg in args {
                priors(arg, see);
            }
        }
        _ => {}
    }
}
