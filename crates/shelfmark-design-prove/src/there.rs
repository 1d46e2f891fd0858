//! Proves that a write handles an existing tuple when it puts one: it is looked up, or replaced
//! under its old key.
//!
//! Invariant: no failure is returned only when whatever was there is kept, replaced or deleted as
//! the write says.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::canon::canonical;
use super::needs::stays_out;
use super::paths::all_key_paths;
use super::unique::{available, key_paths, tells_only_its_own};
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Stored, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Term};
use shelfmark_design_language::syntax::tree::Existing;

impl Prover<'_> {
    /// Proves that a replaced row is deleted under the key of the old tuple, which only a read of
    /// it shows.
    pub(super) fn replaced(
        &self,
        effect: &Effect,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) {
        let own = self.model.relation(effect.relation).key();
        let mut known: BTreeSet<ColumnPath> = own.iter().map(|column| vec![*column]).collect();
        for other in self.reads_before(effect, at) {
            known.extend(available(self.model, other).iter().cloned());
        }
        let kept: Vec<(usize, Term)> =
            effect.key.iter().filter(|(column, _)| own.contains(column)).cloned().collect();
        for step in self.plan.steps.iter().take(at) {
            let WriteStepKind::Read { bindings, .. } = &step.kind else { continue };
            for family in step.families.iter().filter_map(|id| self.schema.families.get(*id)) {
                self.referred(effect, &kept, family, bindings, &mut known);
            }
        }
        let mut paths = all_key_paths(self.model, family);
        if tells_only_its_own(self.model, family) {
            let guards = family.when.iter();
            paths.extend(guards.map(|one| canonical(self.model, family.source, &one.path)));
        }
        let missing: Vec<String> = paths
            .iter()
            .filter(|path| !known.contains(*path))
            .map(|path| self.model.path_text(family.source, path))
            .collect();
        if !missing.is_empty() || effect.each.is_some() {
            analysis.fail_call(
                "W1",
                format!(
                    "the old key of {} needs {}, which is not read before it is replaced",
                    family.name.text,
                    missing.join(", ")
                ),
            );
        }
    }

    /// Proves that `unless exists` and `or replace` know whether the tuple exists.
    pub(super) fn existing(
        &self,
        effect: &Effect,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) {
        let keeps = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
        let looked = match effect.existing {
            Existing::Fresh | Existing::Insert => true,
            // A put under the tuple's own key puts in its place whatever is there; where the key
            // is another one, `replaced` has seen that it is read. Lists and counts would be lost.
            Existing::Replace => !keeps,
            Existing::Unless => {
                let read = self.reads_before(effect, at).any(|other| other.when.is_empty());
                read && effect.each.is_none() || !keeps && self.by_condition(effect, family)
            }
        };
        if !looked {
            analysis.fail(
                4,
                "W2",
                format!(
                    "whether the key is taken is not looked up before {} is put",
                    family.name.text
                ),
            );
        }
    }

    /// Returns true if a put of the only row of a tuple, under the tuple's key, checks by itself
    /// whether it exists.
    fn by_condition(&self, effect: &Effect, family: &Family) -> bool {
        let own_key: BTreeSet<ColumnPath> =
            self.model.relation(effect.relation).key().iter().map(|column| vec![*column]).collect();
        let families = self
            .schema
            .of_source(effect.relation)
            .filter(|(_, other)| other.base.is_none() && !stays_out(self.model, other, effect))
            .count();
        key_paths(self.model, family).is_subset(&own_key)
            && all_key_paths(self.model, family).is_subset(&own_key)
            && families == 1
            && family.when.is_empty()
    }

    /// Returns true if nothing depends on a read: no change comes after it, or it ran before
    /// anything was changed.
    fn tells_nothing(&self, step: &WriteStep, at: usize) -> bool {
        let reads = |step: &WriteStep| matches!(step.kind, WriteStepKind::Read { .. });
        if self.plan.steps.iter().skip(at).all(reads) {
            return true;
        }
        // What an insert would find there is what it has made itself.
        let changes = |effect: &Effect| effect.kind != EffectKind::Insert && effect.each.is_none();
        let same = |other: &WriteStep| match (&step.kind, &other.kind) {
            (
                WriteStepKind::Read { bindings, alias: None },
                WriteStepKind::Read { bindings: asked, alias: None },
            ) => bindings == asked && step.families == other.families,
            _ => false,
        };
        matches!(self.write.effects.as_slice(), [only] if changes(only))
            && self.plan.steps.iter().take(at).take_while(|step| reads(step)).any(same)
    }

    /// Proves that a read comes before the change of what it reads.
    pub(super) fn read_is_early(&self, step: &WriteStep, at: usize, analysis: &mut Analysis) {
        if !matches!(step.kind, WriteStepKind::Read { .. }) || self.tells_nothing(step, at) {
            return;
        }
        let base = |id: &FamilyId| self.schema.families.get(*id).and_then(|one| one.base);
        let rows: Vec<FamilyId> = step.families.iter().map(|id| base(id).unwrap_or(*id)).collect();
        let changed = self.plan.steps.iter().take(at).any(|before| {
            !matches!(before.kind, WriteStepKind::Read { .. })
                && before.families.iter().any(|id| rows.contains(id))
        });
        if changed {
            let name = rows.first().and_then(|id| self.schema.families.get(*id));
            let name = name.map_or("", |family| family.name.text.as_str());
            analysis.fail(4, "W5", format!("{name} is read after the plan has changed it"));
        }
    }
}
