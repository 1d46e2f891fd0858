//! Proves that a changed unique value is taken from nobody: its row is put only where it is not there.
//!
//! A row that lies under a unique value, and not under its tuple's own key, is met by whoever takes the
//! value next. The put that moves such a row carries the condition that nothing is there, so it must be
//! in the first request that changes anything: where it fails, the plan has changed nothing. Outside of
//! a transaction the row under the old value goes last.
//!
//! What it is not: inserts are looked at in `defined`; a value that only an index shows is guarded by none.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::needs::{Need, changes, needs, replaces};
use super::unique::key_paths;
use super::write::Prover;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, WriteStep, WriteStepKind};

/// Returns true if an effect gives a tuple another unique value, under which a family has its row.
pub(crate) fn claims(model: &Model, family: &Family, effect: &Effect) -> bool {
    let changes = changes(model, effect);
    let moves = replaces(effect) || effect.kind != EffectKind::Insert;
    moves && unique_values(model, family, effect).iter().any(|column| changes.contains(column))
}

/// Returns the attributes of unique values that a family's rows lie under, if they do not lie under
/// their tuples' own keys.
pub(super) fn unique_values(model: &Model, family: &Family, effect: &Effect) -> BTreeSet<usize> {
    let relation = model.relation(effect.relation);
    let paths = key_paths(model, family);
    let held = |key: &Vec<usize>| key.iter().all(|at| paths.contains(&vec![*at]));
    let own = family.source != effect.relation || family.base.is_some();
    let mut keys = relation.keys.iter();
    if own || keys.next().is_none_or(held) {
        return BTreeSet::new();
    }
    keys.filter(|key| held(key)).flatten().copied().collect()
}

impl Prover<'_> {
    /// Returns true if a plan moves such a row by requests of their own: first the put, last the delete.
    pub(super) fn is_put_first(
        &self,
        effect: &Effect,
        family: &Family,
        places: [usize; 2],
    ) -> bool {
        let [delete, put] = places;
        let step = |at: usize| self.plan.steps.get(at);
        let together = step(put).zip(step(delete)).is_some_and(|(put, delete)| {
            put.transaction.is_some() && put.transaction == delete.transaction
        });
        claims(self.model, family, effect) && !together && put < delete
    }

    /// Proves that a put which may meet another's unique value comes before all other changes.
    pub(super) fn claimed_first(&self, analysis: &mut Analysis) {
        let requests = self.changing();
        for effect in &self.write.effects {
            for (id, family) in self.schema.concerned(effect.relation) {
                let needs = needs(self.model, self.schema, id, effect);
                let name = &family.name.text;
                let lasting = replaces(effect)
                    && needs.contains(&Need::Put)
                    && !unique_values(self.model, family, effect).is_empty();
                if lasting {
                    let why = format!("{name} may be another's, which a put would replace");
                    analysis.fail_request(why);
                }
                if !needs.contains(&Need::Rekey) || !claims(self.model, family, effect) {
                    continue;
                }
                let at = requests.iter().position(|request| self.puts(request, id));
                if let Some(first) = requests.first().filter(|_| at.is_some_and(|at| at > 0)) {
                    analysis.fail_request(format!(
                        "{} has changed when {name} shows that another has the unique value: put \
                         {name} first, or all in one transaction",
                        self.name_of(first)
                    ));
                } else if effect.each.is_some() && !self.is_whole(at, &requests) {
                    let why = "some rows of the loop have changed when";
                    analysis.fail_request(format!("{why} {name} shows that another has the value"));
                }
            }
        }
    }

    /// Returns true if a request puts rows of a family.
    pub(super) fn puts(&self, request: &[(usize, FamilyId)], id: FamilyId) -> bool {
        let put = |step: &WriteStep| matches!(step.kind, WriteStepKind::Put { .. });
        let mut own = request.iter().filter(|(_, other)| *other == id);
        own.any(|(at, _)| self.plan.steps.get(*at).is_some_and(put))
    }

    /// Returns true if a request is a transaction: all rows of a loop change in it, or none.
    fn is_whole(&self, at: Option<usize>, requests: &[Vec<(usize, FamilyId)>]) -> bool {
        let first = at.and_then(|at| requests.get(at)).and_then(|request| request.first());
        let step = first.and_then(|(step, _)| self.plan.steps.get(*step));
        step.is_some_and(|step| step.transaction.is_some())
    }
}
