//! Accepts harmless steps that the proof would not plan: a put where a patch would do, a change of
//! rows that hold nothing of what changes.
//!
//! Invariant: a step is let pass only when the rows are the same with it as with the step named.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::canon::canonical;
use super::needs::{needs, stays_out};
use super::unique::tells_only_its_own;
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, WriteStep, WriteStepKind};
use shelfmark_design_language::syntax::tree::Existing;

impl Prover<'_> {
    /// Accepts a put of a row that was read whole in place of a patch.
    pub(super) fn patched_by_put(
        &self,
        effect: &Effect,
        id: FamilyId,
        family: &Family,
        used: &mut BTreeSet<usize>,
        analysis: &mut Analysis,
    ) -> bool {
        let concerned = |effect: &&Effect| {
            effect.relation == family.source
                || !needs(self.model, self.schema, id, effect).is_empty()
        };
        // Beside another effect's change the put would bring back what was read before it.
        if self.write.effects.iter().filter(concerned).count() > 1 {
            return false;
        }
        let loops = effect.each.is_some();
        let find = |wanted: fn(&WriteStepKind) -> bool, used: &mut BTreeSet<usize>| {
            self.find_step(id, used, loops, wanted)
        };
        let Some(put) = find(|kind| matches!(kind, WriteStepKind::Put { .. }), used) else {
            return false;
        };
        let delete = find(|kind| matches!(kind, WriteStepKind::Delete { .. }), used);
        if delete.is_some_and(|delete| delete > put) {
            return false;
        }
        if self.was_read(effect, family, put, analysis) {
            if let Some(delete) = delete {
                self.keyed(effect, family, delete, analysis);
            }
            self.put(effect, family, put, analysis);
        }
        true
    }

    /// Accepts a patch of a row that holds nothing of what changes, and a put of what a sparse
    /// family does not hold.
    pub(super) fn changes_nothing(
        &self,
        step: &WriteStep,
        at: usize,
        analysis: &mut Analysis,
    ) -> bool {
        step.families.iter().all(|id| {
            let Some(family) = self.schema.families.get(*id) else { return false };
            if analysis.families.contains(id) {
                return false;
            }
            let looped = match &step.kind {
                WriteStepKind::Patch { each } => each.is_some(),
                WriteStepKind::Put { each: None } | WriteStepKind::Delete { each: None } => {
                    return self.puts_nothing(step, family, at, analysis)
                        || self.puts_again(*id, family, analysis);
                }
                _ => return false,
            };
            let effects = self.write.effects.iter().filter(|effect| {
                effect.relation == family.source
                    && matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
                    && effect.each.is_some() == looped
            });
            for effect in effects {
                self.keyed(effect, family, at, analysis);
            }
            true
        })
    }

    /// Accepts a put of rows that were read whole and hold nothing of what changes.
    fn puts_again(&self, id: FamilyId, family: &Family, analysis: &mut Analysis) -> bool {
        let [effect] = self.write.effects.as_slice() else { return false };
        let changes = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
        changes
            && effect.relation == family.source
            && effect.each.is_none()
            && self.patched_by_put(effect, id, family, &mut BTreeSet::new(), analysis)
    }

    /// Accepts a put into a sparse family that does not hold the tuple.
    fn puts_nothing(
        &self,
        step: &WriteStep,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) -> bool {
        let [effect] = self.write.effects.as_slice() else { return false };
        let nothing = matches!(step.kind, WriteStepKind::Put { .. })
            && effect.each.is_none()
            && effect.existing != Existing::Replace
            && stays_out(self.model, family, effect);
        if nothing {
            self.keyed(effect, family, at, analysis);
            self.guarded(effect, family, at, analysis);
        }
        nothing
    }

    /// Proves that no row of another tuple is hit, where a sparse family's key is not enough to
    /// distinguish tuples.
    pub(super) fn only_own(
        &self,
        effect: &Effect,
        family: &Family,
        at: usize,
        analysis: &mut Analysis,
    ) {
        if tells_only_its_own(self.model, family) {
            self.guards_known(effect, family, (at, false), analysis);
        }
    }

    /// Returns true if the condition of a sparse family can be evaluated.
    fn guarded(&self, effect: &Effect, family: &Family, at: usize, analysis: &mut Analysis) {
        self.guards_known(effect, family, (at, true), analysis);
    }

    fn guards_known(
        &self,
        effect: &Effect,
        family: &Family,
        (at, put): (usize, bool),
        analysis: &mut Analysis,
    ) {
        let known = self.known(effect, at);
        for guard in &family.when {
            let path = canonical(self.model, family.source, &guard.path);
            if !known.contains(&path) && !self.is_absent(effect, &path, put) {
                let why = format!("whether {} has the row is not known", family.name.text);
                analysis.fail_call("W1", why);
            }
        }
    }
}
