//! Proves that a write which is not defined changes nothing: what finds that out comes first.
//!
//! A request whose condition fails ends the plan. So where the changes of a plan are not one transaction,
//! the first of them must be the one whose condition fails when an inserted tuple is there, or a changed
//! one is not; what a read has looked up before need not be found out again.
//!
//! What it is not: it does not ask whether there is such a condition; requests carry it wherever they can. Of
//! several tuples that one write changes, each is found out about by its own request: where a later one is not as it
//! should be, the changes of the earlier ones stay, which lint W2 says.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::claims::unique_values;
use super::exact::same_bindings;
use super::must_be::{MustBe, shows_all, takes};
use super::needs::{Need, needs};
use super::paths::all_key_paths;
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term};
use shelfmark_design_language::syntax::tree::Existing;

impl Prover<'_> {
    /// Proves that no change comes before the one that shows whether the write is defined.
    pub(super) fn found_out_first(&self, analysis: &mut Analysis) {
        let requests = self.changing();
        if requests.len() < 2 {
            return;
        }
        let first = requests.first().and_then(|request| request.first());
        let first_step = first.map_or(0, |(at, _)| *at);
        for effect in &self.write.effects {
            self.values_are_free(effect, &requests, analysis);
            let looked = effect.kind != EffectKind::Insert
                && self.reads_before(effect, first_step).next().is_some();
            if effect.each.is_some() || effect.existing != Existing::Fresh || looked {
                continue;
            }
            let tells = |request: &Vec<(usize, FamilyId)>, strictly: bool| {
                request.iter().any(|(_, id)| self.tells(*id, effect, strictly))
            };
            let at = requests
                .iter()
                .position(|request| tells(request, true))
                .or_else(|| requests.iter().position(|request| tells(request, false)));
            let Some(at) = at else { continue };
            // The rows of the write's other tuples are found out about by their own requests.
            let blind = requests.iter().take(at).find(|request| !self.finds_out(request));
            let Some(blind) = blind else { continue };
            let relation = &self.model.relation(effect.relation).name.text;
            let trouble = match effect.kind {
                EffectKind::Insert => "is there already",
                _ => "is not there",
            };
            analysis.fail_request(format!(
                "{} has changed when {} shows that the {relation} {trouble}: change {} first, or \
                 all in one transaction",
                self.name_of(blind),
                requests.get(at).map_or("", |request| self.name_of(request)),
                requests.get(at).map_or("", |request| self.name_of(request)),
            ));
        }
    }

    /// Proves that an insert changes nothing before it is known that its unique values are nobody's: rows
    /// under them are put in the first request, or were looked for.
    fn values_are_free(
        &self,
        effect: &Effect,
        requests: &[Vec<(usize, FamilyId)>],
        analysis: &mut Analysis,
    ) {
        let inserts = effect.kind == EffectKind::Insert && effect.each.is_none();
        if !inserts || effect.existing == Existing::Replace {
            return;
        }
        let granted = takes(self.write, effect, MustBe::New);
        let first = requests.first().and_then(|request| request.first());
        let before = first.map_or(0, |(at, _)| *at);
        for (id, family) in self.schema.concerned(effect.relation) {
            let values = unique_values(self.model, family, effect);
            let late = requests.iter().skip(1).any(|request| self.puts(request, id));
            let looked = granted && self.looked_for(effect, &values, before);
            if values.is_empty() || !late || looked {
                continue;
            }
            let name = &family.name.text;
            analysis.fail_request(format!(
                "{} has changed when {name} shows that another has the unique value: read {name} \
                 first, or all in one transaction",
                requests.first().map_or("", |request| self.name_of(request)),
            ));
        }
    }

    /// Returns true if each unique key among some attributes is looked for before a step.
    fn looked_for(&self, effect: &Effect, values: &BTreeSet<usize>, before: usize) -> bool {
        let keys = self.model.relation(effect.relation).keys.iter().skip(1);
        let mut keys = keys.filter(|key| key.iter().all(|column| values.contains(column)));
        keys.all(|key| {
            let asked: Vec<(ColumnPath, Term)> = effect
                .key
                .iter()
                .filter(|(column, _)| key.contains(column))
                .map(|(column, term)| (vec![*column], term.clone()))
                .collect();
            self.plan.steps.iter().take(before).any(|step| match &step.kind {
                WriteStepKind::Read { bindings, .. } => {
                    let mut read =
                        step.families.iter().filter_map(|id| self.schema.families.get(*id));
                    asked.len() == key.len()
                        && same_bindings(self.model, effect.relation, bindings, &asked)
                        && read
                            .any(|one| one.source == effect.relation && shows_all(self.model, one))
                }
                _ => false,
            })
        })
    }

    /// Returns the name of the first row family that a request changes.
    pub(super) fn name_of(&self, request: &[(usize, FamilyId)]) -> &str {
        let id = request.first().map_or(0, |(_, id)| *id);
        self.schema.families.get(id).map_or("", |family| family.name.text.as_str())
    }

    /// Returns true if all that a request changes is found out about by the request itself.
    fn finds_out(&self, request: &[(usize, FamilyId)]) -> bool {
        let own = |id: FamilyId| {
            self.write
                .effects
                .iter()
                .any(|effect| effect.each.is_none() && self.tells(id, effect, true))
        };
        request.iter().all(|(_, id)| own(*id))
    }

    /// Returns the requests that change rows, in their order: each a transaction, or one row family with
    /// the step that names it.
    pub(super) fn changing(&self) -> Vec<Vec<(usize, FamilyId)>> {
        let mut requests: Vec<Vec<(usize, FamilyId)>> = Vec::new();
        let mut open = None;
        let changing = |step: &&(usize, &WriteStep)| !step.1.kind.is_read();
        for (at, step) in self.plan.steps.iter().enumerate().filter(|step| changing(&step)) {
            let own: Vec<(usize, FamilyId)> =
                step.families.iter().filter(|id| self.concerns(**id)).map(|id| (at, *id)).collect();
            if step.transaction.is_some() && step.transaction == open {
                requests.last_mut().into_iter().for_each(|request| request.extend(&own));
            } else if step.transaction.is_some() {
                requests.push(own);
            } else {
                requests.extend(own.into_iter().map(|one| vec![one]));
            }
            open = step.transaction;
        }
        requests.retain(|request| !request.is_empty());
        requests
    }

    /// Returns true if some effect asks for a change of the family.
    fn concerns(&self, id: FamilyId) -> bool {
        let asks = |effect: &Effect| !needs(self.model, self.schema, id, effect).is_empty();
        self.write.effects.iter().any(asks)
    }

    /// Returns true if the request that changes a family finds out whether an effect's tuple is there:
    /// `strictly` by the tuple's own key, and otherwise by any row that the tuple has.
    fn tells(&self, id: FamilyId, effect: &Effect, strictly: bool) -> bool {
        let Some(family) = self.schema.families.get(id) else { return false };
        let whole = family.base.is_none() && family.when.is_empty();
        family.source == effect.relation
            && if strictly { is_own_row(self.model, family) } else { whole }
            && needs(self.model, self.schema, id, effect)
                .iter()
                .any(|need| matches!(need, Need::Put | Need::Patch | Need::Delete | Need::Rekey))
    }
}

/// Returns true if every tuple has one row of a family, under nothing but the tuple's own key.
pub(super) fn is_own_row(model: &Model, family: &Family) -> bool {
    let key = model.relation(family.source).key();
    let own = |path: &ColumnPath| matches!(path.as_slice(), [only] if key.contains(only));
    family.base.is_none() && family.when.is_empty() && all_key_paths(model, family).iter().all(own)
}
