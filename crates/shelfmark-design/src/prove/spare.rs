//! Steps that are not what the proof would name, and do no harm: a put where a patch would do, a
//! change of rows that hold nothing of what changes.
//!
//! Invariant: a step is let pass only when the rows are the same with it as with the step named.

use std::collections::BTreeSet;

use super::needs::{needs, stays_out};
use super::read::Analysis;
use super::write::Prover;
use crate::model::pattern::{Effect, EffectKind};
use crate::model::schema::{Family, FamilyId, WriteStep, WriteStepKind};
use crate::syntax::tree::Existing;

impl Prover<'_> {
    /// A row that was read whole is changed by a put of it, too. (A delete before it does no harm.)
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
        if let Some(delete) = delete {
            self.keyed(effect, family, delete, analysis);
        }
        self.put(effect, family, put, analysis);
        self.was_read(effect, family, put, analysis);
        true
    }

    /// A patch of a row that holds nothing of what changes leaves it as it is, and a put of what a
    /// sparse family does not hold makes no row.
    pub(super) fn changes_nothing(
        &self,
        step: &WriteStep,
        at: usize,
        analysis: &mut Analysis,
    ) -> bool {
        if let WriteStepKind::Put { each: None } = step.kind {
            return self.puts_nothing(step, at, analysis);
        }
        let WriteStepKind::Patch { each: None } = step.kind else { return false };
        step.families.iter().all(|id| {
            let Some(family) = self.schema.families.get(*id) else { return false };
            let effects = self.write.effects.iter().filter(|effect| {
                effect.relation == family.source
                    && matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
                    && effect.each.is_none()
            });
            let mut found = false;
            for effect in effects {
                found = true;
                self.keyed(effect, family, at, analysis);
            }
            let others = self
                .write
                .effects
                .iter()
                .any(|effect| effect.relation == family.source && effect.each.is_some());
            found && !others && !analysis.families.contains(id)
        })
    }

    /// A put into a sparse family that does not hold what is made puts nothing.
    fn puts_nothing(&self, step: &WriteStep, at: usize, analysis: &mut Analysis) -> bool {
        step.families.iter().all(|id| {
            let Some(family) = self.schema.families.get(*id) else { return false };
            let [effect] = self.write.effects.as_slice() else { return false };
            let nothing = effect.each.is_none()
                && effect.existing != Existing::Replace
                && stays_out(self.model, family, effect);
            if nothing {
                self.put(effect, family, at, analysis);
            }
            nothing
        })
    }
}
