//! Proves writes whose change is copied into other rows: the copies are found and changed.
//!
//! Invariant: no failure is returned only when every row that holds a copy is read before it is
//! changed, and no row is gone through that holds none.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::canon::canonical;
use super::paths::all_key_paths;
use super::unique::{available, tells_only_its_own};
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Stored, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Write};

/// Returns true if a read under a name may find only a sparse family's own rows: when it changes
/// nothing but copies in that very family, and no change takes rows into the family or out of it.
pub(super) fn only_for_copies(model: &Model, write: &Write, family: &Family) -> bool {
    // Whether a path leads through a reference to what the effect changes there.
    let behind = |path: &ColumnPath, effect: &Effect| {
        (1..path.len()).any(|at| {
            let through = path.get(..=at).map(|head| model.path_owner(family.source, head));
            let sets = |column: &usize| effect.set.iter().any(|(set, _)| set == column);
            through == Some(effect.relation)
                && (effect.kind != EffectKind::Update || path.get(at).is_some_and(sets))
        })
    };
    !family.when.is_empty()
        && write.effects.iter().all(|effect| {
            effect.relation != family.source
                && effect.each.is_none()
                && !family.when.iter().any(|guard| behind(&guard.path, effect))
        })
}

impl Prover<'_> {
    /// Returns true if every step under a read's name changes rows of the family that is read.
    pub(super) fn named_for(&self, id: FamilyId, family: &Family, alias: Option<&String>) -> bool {
        only_for_copies(self.model, self.write, family)
            && alias.is_some()
            && self.plan.steps.iter().all(|step| match &step.kind {
                WriteStepKind::Put { each }
                | WriteStepKind::Delete { each }
                | WriteStepKind::Patch { each } => each.as_ref() != alias || step.families == [id],
                WriteStepKind::Read { alias: other, .. } => {
                    other.as_ref() != alias || step.families == [id]
                }
            })
    }

    /// Returns the copied attributes that are known because the changed tuple itself was read
    /// before.
    fn told_by_itself(
        &self,
        effect: &Effect,
        family: &Family,
        via: usize,
        at: usize,
    ) -> BTreeSet<ColumnPath> {
        let reads = self.reads_before(effect, at).filter(|own| own.when.is_empty());
        reads
            .flat_map(|own| available(self.model, own))
            .map(|path| {
                let whole: ColumnPath = std::iter::once(via).chain(path.iter().copied()).collect();
                canonical(self.model, family.source, &whole)
            })
            .collect()
    }

    /// Returns the family of a loop's rows, when every read of its name before step `at` finds rows that
    /// refer to what the write changes, and one of them those that refer to it through `via`.
    fn read_of_copies(
        &self,
        family: &Family,
        via: usize,
        term: &Term,
        (alias, at): (Option<&String>, usize),
    ) -> Option<&Family> {
        let reads = self.plan.steps.iter().take(at).filter_map(|read| match &read.kind {
            WriteStepKind::Read { bindings, alias: Some(name) } if Some(name) == alias => {
                Some((read, bindings))
            }
            _ => None,
        });
        let mut found = None;
        for (read, bindings) in reads {
            // Rows that refer to what changes otherwise may be under the name too, and no others.
            let (Some(other), [(path, bound)]) = (self.only_family(read), bindings.as_slice())
            else {
                return None;
            };
            let refers = |column: &usize| {
                let columns = &self.model.relation(family.source).columns;
                columns.get(*column).and_then(|column| column.refers)
            };
            let changes = |target: usize| {
                self.write.effects.iter().any(|effect| {
                    effect.kind == EffectKind::Update
                        && effect.relation == target
                        && effect.key.iter().any(|(_, term)| term == bound)
                })
            };
            let legal = other.source == family.source
                && matches!(path.as_slice(), [column] if refers(column).is_some_and(changes));
            if !legal {
                return None;
            }
            if path.as_slice() == [via] && bound == term {
                found = found.or(Some(other));
            }
        }
        found
    }

    /// Returns the family that a step reads, when it is one.
    fn only_family(&self, step: &WriteStep) -> Option<&Family> {
        let [id] = step.families[..] else { return None };
        self.schema.families.get(id)
    }

    /// Proves that copies are changed in every row that refers to the changed tuple.
    pub(super) fn copies(
        &self,
        effect: &Effect,
        family: &Family,
        via: usize,
        at: usize,
        put: bool,
        analysis: &mut Analysis,
    ) {
        let step = self.plan.steps.get(at);
        let alias = step.and_then(|step| step.kind.each());
        let key = self.model.relation(effect.relation).key();
        let term =
            effect.key.iter().find(|(column, _)| key == [*column]).map(|(_, term)| term.clone());
        let Some(term) =
            term.filter(|_| effect.kind == EffectKind::Update && effect.each.is_none())
        else {
            analysis.fail(
                4,
                "W5",
                "only an update of one tuple by its key is followed to its copies",
            );
            return;
        };
        let beside = effect.key.iter().any(|(column, _)| !key.contains(column));
        if beside && self.reads_before(effect, at).next().is_none() {
            let why = format!("copies in {} change whatever else is selected by", family.name.text);
            analysis.fail(4, "A4", why);
        }
        let found = self.read_of_copies(family, via, &term, (alias, at));
        let Some(other) = found else {
            analysis.fail(
                4,
                "W5",
                format!("the copies in {} are not found and changed", family.name.text),
            );
            return;
        };
        let mut known = available(self.model, other).clone();
        known.extend(self.told_by_itself(effect, family, via, at));
        let mut wanted = all_key_paths(self.model, family);
        if put && family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_))) {
            let name = &family.name.text;
            let why = format!("{name} keeps lists or counts that a new key would lose");
            analysis.fail(4, "W5", why);
        }
        if put {
            known.extend(
                effect
                    .set
                    .iter()
                    .map(|(column, _)| canonical(self.model, family.source, &[via, *column])),
            );
            wanted.extend(available(self.model, family).iter().cloned());
            wanted.extend(
                family.when.iter().map(|one| canonical(self.model, family.source, &one.path)),
            );
        }
        if tells_only_its_own(self.model, family) && !std::ptr::eq(family, other) {
            let guards = family.when.iter();
            wanted.extend(guards.map(|one| canonical(self.model, family.source, &one.path)));
        }
        if let Some(path) = wanted.iter().find(|path| !known.contains(*path)) {
            let name = self.model.path_text(family.source, path);
            analysis.fail_call(
                "W1",
                format!(
                    "{} needs {name}, which {} does not hold",
                    family.name.text, other.name.text
                ),
            );
        }
    }
}
