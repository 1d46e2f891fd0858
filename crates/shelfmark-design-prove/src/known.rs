//! Computes what a write knows of a tuple before a step of its plan.
//!
//! What it is not: the tuple itself. Known is an attribute that an input, a row that was read, or
//! what the same write makes tells, whatever the state is.
//!
//! Invariant: nothing is known by a step that comes later.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::exact::same_bindings;
use super::own_key::{keys_of, own_bindings, selecting_key, settled_key};
use super::together::has_prior;
use super::unique::available;
use super::write::{Prover, loops_over_itself, made_paths};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term};
use shelfmark_design_language::syntax::tree::CondOp;

impl Prover<'_> {
    /// Returns the known attributes of the effect's own tuple before step `at`.
    pub(super) fn known(&self, effect: &Effect, at: usize) -> BTreeSet<ColumnPath> {
        let mut known: BTreeSet<ColumnPath> = BTreeSet::new();
        for (column, term) in &effect.key {
            if self.term_known(effect, term, at) {
                known.insert(vec![*column]);
            }
        }
        if effect.kind == EffectKind::Insert {
            for (column, found) in self.model.relation(effect.relation).columns.iter().enumerate() {
                if found.optional && !effect.key.iter().any(|(other, _)| *other == column) {
                    known.insert(vec![column]);
                }
            }
        }
        self.made_here(effect, &effect.key, &mut known);
        if loops_over_itself(self.model, effect) {
            known.extend(self.loop_shows(effect, at).unwrap_or_default());
        }
        for step in self.plan.steps.iter().take(at) {
            let WriteStepKind::Read { bindings, .. } = &step.kind else { continue };
            for family in step.families.iter().filter_map(|id| self.schema.families.get(*id)) {
                if family.source == effect.relation
                    && effect.each.is_none()
                    && self.reads_this(effect, family, bindings)
                {
                    // An insert's own values are the new ones; what is read is old.
                    if effect.kind != EffectKind::Insert {
                        known.extend(available(self.model, family).iter().cloned());
                    }
                }
                let key = settled_key(self.model, effect);
                self.referred(effect, &key, family, bindings, &mut known);
                self.referred(
                    effect,
                    &own_priors(self.model, effect),
                    family,
                    bindings,
                    &mut known,
                );
            }
        }
        known
    }

    /// Adds the attributes of referenced tuples that the same write inserts.
    pub(super) fn made_here(
        &self,
        effect: &Effect,
        terms: &[(usize, Term)],
        known: &mut BTreeSet<ColumnPath>,
    ) {
        let made = made_paths(self.model, self.write, effect.relation, terms);
        known.extend(made.iter().map(|path| canonical(self.model, effect.relation, path)));
    }

    /// Removes the attributes behind a reference that an update changes: those of its new target
    /// have to be read.
    pub(super) fn moved(&self, effect: &Effect, at: usize, known: &mut BTreeSet<ColumnPath>) {
        known.retain(|path| {
            path.len() == 1 || !effect.set.iter().any(|(column, _)| path.first() == Some(column))
        });
        self.made_here(effect, &effect.set, known);
        for step in self.plan.steps.iter().take(at) {
            let WriteStepKind::Read { bindings, .. } = &step.kind else { continue };
            for family in step.families.iter().filter_map(|id| self.schema.families.get(*id)) {
                self.referred(effect, &effect.set, family, bindings, known);
            }
        }
    }

    /// Returns true if a read finds exactly the effect's tuple, and distinguishes it from another
    /// that has one of its keys.
    pub(super) fn reads_this(
        &self,
        effect: &Effect,
        family: &Family,
        bindings: &[(ColumnPath, Term)],
    ) -> bool {
        let given = |column: &usize| {
            effect.key.iter().find(|(other, _)| other == column).map(|(_, term)| term)
        };
        let own = own_bindings(self.model, effect);
        let asked = if bindings.is_empty() { own.as_slice() } else { bindings };
        let shown = available(self.model, family);
        let told = |(column, term): &(usize, Term)| {
            let bound = asked.iter().any(|(path, by)| path.as_slice() == [*column] && by == term);
            bound || shown.contains(&vec![*column])
        };
        if effect.kind != EffectKind::Insert && !effect.key.iter().all(told) {
            return false;
        }
        if bindings.is_empty() {
            return selecting_key(self.model, effect).is_some();
        }
        let named = |key: &Vec<usize>| {
            key.iter().all(|column| {
                bindings
                    .iter()
                    .any(|(path, term)| path.as_slice() == [*column] && given(column) == Some(term))
            })
        };
        keys_of(self.model, effect).iter().any(named)
    }

    /// Adds the attributes of an entity that an attribute refers to, when it was read.
    pub(super) fn referred(
        &self,
        effect: &Effect,
        terms: &[(usize, Term)],
        family: &Family,
        bindings: &[(ColumnPath, Term)],
        known: &mut BTreeSet<ColumnPath>,
    ) {
        for (column, term) in terms {
            let reference = self.model.relation(effect.relation).columns.get(*column);
            if reference.and_then(|column| column.refers) != Some(family.source) {
                continue;
            }
            let key = self.model.relation(family.source).key();
            let same =
                matches!(bindings, [(path, bound)] if path.as_slice() == key && bound == term);
            if same {
                for path in available(self.model, family) {
                    let whole: ColumnPath =
                        std::iter::once(*column).chain(path.iter().copied()).collect();
                    known.insert(canonical(self.model, effect.relation, &whole));
                }
            }
        }
    }

    pub(super) fn term_known(&self, effect: &Effect, term: &Term, at: usize) -> bool {
        match term {
            Term::Param(_) | Term::Const(_) => true,
            Term::Call(_, args) => args.iter().all(|arg| self.term_known(effect, arg, at)),
            Term::Prior(path) => {
                let Some(each) = &effect.each else { return false };
                let path = canonical(self.model, each.relation, path);
                self.loop_shows(effect, at).is_some_and(|shown| shown.contains(&path))
            }
            Term::Column(_) | Term::Each => false,
        }
    }

    /// Returns the attributes that the loop's rows show, when they are exactly the tuples of the
    /// effect's loop.
    pub(super) fn loop_shows(&self, effect: &Effect, at: usize) -> Option<BTreeSet<ColumnPath>> {
        let each = effect.each.as_ref()?;
        let step = self.plan.steps.get(at)?;
        let alias = step.kind.each()?;
        // Rows of a second read under this name would be gone through too.
        let named = |step: &&WriteStep| {
            matches!(&step.kind,
            WriteStepKind::Read { alias: Some(name), .. } if name == alias)
        };
        let mut reads = self.plan.steps.iter().take(at).filter(named);
        if let (Some(read), None) = (reads.next(), reads.next()) {
            let WriteStepKind::Read { bindings, .. } = &read.kind else { return None };
            let [id] = read.families[..] else { return None };
            let family = self.schema.families.get(id)?;
            // What names nothing looks for the tuples of the effects, and finds no other.
            let looks = |other: &Effect| {
                let own = own_bindings(self.model, other);
                other.relation == family.source && own.iter().any(|(_, term)| !has_prior(term))
            };
            if bindings.is_empty() && self.write.effects.iter().any(looks) {
                return None;
            }
            let wanted: Option<Vec<(ColumnPath, Term)>> = each
                .predicates
                .iter()
                .map(|one| {
                    let path = canonical(self.model, each.relation, &one.path);
                    (one.op == CondOp::Eq)
                        .then(|| one.values.first().map(|value| (path, value.clone())))?
                })
                .collect();
            let wanted = wanted?;
            if family.source == each.relation
                && same_bindings(self.model, family.source, bindings, &wanted)
            {
                return Some(available(self.model, family).clone());
            }
            let key = self.model.relation(family.source).key().to_vec();
            for stored in &family.stored {
                if let Stored::Collect { relation, via, path, .. } = stored
                    && *relation == each.relation
                    && let ([(bound, term)], [(asked, value)]) =
                        (bindings.as_slice(), wanted.as_slice())
                    && *bound == key
                    && *asked == vec![*via]
                    && term == value
                {
                    return Some(BTreeSet::from([
                        canonical(self.model, *relation, path),
                        vec![*via],
                    ]));
                }
            }
        }
        None
    }

    /// Returns true if a term is an attribute of the write's own tuple that was read before a step.
    pub(super) fn told_of_row(&self, term: &Term, at: usize) -> bool {
        let ([effect], Term::Prior(path)) = (self.write.effects.as_slice(), term) else {
            return false;
        };
        let path = canonical(self.model, effect.relation, path);
        effect.kind != EffectKind::Insert
            && effect.each.is_none()
            && self
                .reads_before(effect, at)
                .any(|own| own.when.is_empty() && available(self.model, own).contains(&path))
    }
}

/// Returns the attributes of a write's own tuple, as reads after its own read name them.
fn own_priors(model: &Model, effect: &Effect) -> Vec<(usize, Term)> {
    if effect.kind == EffectKind::Insert || effect.each.is_some() {
        return Vec::new();
    }
    let columns = 0..model.relation(effect.relation).columns.len();
    columns.map(|column| (column, Term::Prior(vec![column]))).collect()
}
