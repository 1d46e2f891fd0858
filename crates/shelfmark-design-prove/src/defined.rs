//! Proves that a write which is not defined changes nothing: what finds that out comes first.
//!
//! A request whose condition fails ends the plan. So the first request that changes anything must be the
//! one whose condition fails when an inserted tuple is there, or a changed one is not; what a read has
//! looked up before need not be found out again. Of a write of several tuples this holds for each: one
//! that the first request does not ask for is looked up before.
//!
//! What it is not: it does not ask whether there is such a condition; requests carry it wherever they can. The
//! tuples of a loop are found out about by their own requests, which lint W2 says.

use std::collections::BTreeSet;

use super::analysis::Analysis;
use super::claims::unique_values;
use super::exact::same_bindings;
use super::must_be::{MustBe, new_of, shows_all, takes};
use super::needs::{Need, needs};
use super::own_key::own_bindings;
use super::paths::all_key_paths;
use super::write::Prover;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Schema, Stored, WriteStep, WriteStepKind,
};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Write};
use shelfmark_design_language::syntax::tree::Existing;

impl Prover<'_> {
    /// Proves that no change comes before the one that shows whether the write is defined.
    pub(super) fn found_out_first(&self, analysis: &mut Analysis) {
        self.keeps_lasting(analysis);
        let requests = self.changing();
        let several = self.write.effects.len() > 1;
        let Some(first) = requests.first() else { return };
        if requests.len() < 2 && !several {
            return;
        }
        let first_step = first.first().map_or(0, |(at, _)| *at);
        for effect in &self.write.effects {
            self.values_are_free(effect, &requests, analysis);
            if effect.each.is_some() || effect.existing != Existing::Fresh {
                continue;
            }
            if several {
                self.each_found_out(effect, first, first_step, analysis);
                continue;
            }
            let looked = effect.kind != EffectKind::Insert
                && self.reads_before(effect, first_step).next().is_some();
            let shows = |request: &Vec<(usize, FamilyId)>, strictly: bool| {
                request.iter().any(|(_, id)| self.shows(*id, effect, strictly))
            };
            let at = requests
                .iter()
                .position(|request| shows(request, true))
                .or_else(|| requests.iter().position(|request| shows(request, false)));
            if let Some(at) = at.filter(|at| *at > 0 && !looked) {
                let shown = requests.get(at).map_or("", |request| self.name_of(request));
                analysis.fail_request(format!(
                    "{} has changed when {shown} shows that the {} {}: change {shown} first, or all \
                     in one transaction",
                    self.name_of(first),
                    self.model.relation(effect.relation).name.text,
                    trouble(effect),
                ));
            }
        }
    }

    /// Proves of one of several effects that the first request that changes anything asks whether its
    /// tuple is as it must be, or that this was looked up.
    fn each_found_out(
        &self,
        effect: &Effect,
        first: &[(usize, FamilyId)],
        first_step: usize,
        analysis: &mut Analysis,
    ) {
        let (model, schema) = (self.model, self.schema);
        let nothing = schema
            .concerned(effect.relation)
            .all(|(id, _)| needs(model, schema, id, effect).is_empty());
        let asked = first.iter().any(|(at, id)| {
            let step = self.plan.steps.get(*at);
            let together = step.is_some_and(|step| step.transaction.is_some());
            let puts = step.is_some_and(|step| step.kind.is_put());
            let alone = puts && tells_first(model, schema, self.write, *id, effect);
            alone || together && tells(model, schema, *id, effect)
        });
        // That a key is new which no table has is the caller's word.
        let is_own = |one: &Family| is_own_row(model, one) && !is_counter(schema, one);
        let by_word = effect.kind == EffectKind::Insert
            && !schema.of_source(effect.relation).any(|(_, one)| is_own(one));
        let looked = self.was_looked_up(effect, first_step);
        if nothing || asked || by_word || looked || is_below(model, self.write, effect) {
            return;
        }
        let relation = &model.relation(effect.relation).name.text;
        analysis.fail_request(format!(
            "{} changes, and nothing before or together with it shows that the {relation} {}: read \
             it first, or change all in one transaction",
            self.name_of(first),
            trouble(effect),
        ));
    }

    /// Returns true if a read that ends the plan has shown whether an effect's tuple is there.
    pub(super) fn was_looked_up(&self, effect: &Effect, before: usize) -> bool {
        let what = match effect.kind {
            EffectKind::Insert => new_of(self.model, effect),
            _ => MustBe::There,
        };
        let own = own_bindings(self.model, effect);
        let inserts = effect.kind == EffectKind::Insert;
        takes(self.write, effect, what)
            && self.plan.steps.iter().take(before).any(|step| match &step.kind {
                WriteStepKind::Read { bindings, .. } => step.families.iter().any(|id| {
                    let Some(family) = self.schema.families.get(*id) else { return false };
                    let same = bindings.is_empty()
                        || same_bindings(self.model, effect.relation, bindings, &own);
                    family.source == effect.relation
                        && shows_all(self.model, family)
                        && (same && inserts
                            || !inserts && self.reads_this(effect, family, bindings))
                }),
                _ => false,
            })
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
    pub(super) fn looked_for(
        &self,
        effect: &Effect,
        values: &BTreeSet<usize>,
        before: usize,
    ) -> bool {
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
    fn shows(&self, id: FamilyId, effect: &Effect, strictly: bool) -> bool {
        let Some(family) = self.schema.families.get(id) else { return false };
        let whole = family.base.is_none() && family.when.is_empty();
        family.source == effect.relation
            && !is_counter(self.schema, family)
            && if strictly { is_own_row(self.model, family) } else { whole }
            && needs(self.model, self.schema, id, effect)
                .iter()
                .any(|need| matches!(need, Need::Put | Need::Patch | Need::Delete | Need::Rekey))
    }
}

/// Returns the state of an effect's tuple in which its write is not defined.
fn trouble(effect: &Effect) -> &'static str {
    match effect.kind {
        EffectKind::Insert => "is there already",
        _ => "is not there",
    }
}

/// Returns true if the change of a family's row asks, whatever was read before, whether an effect's tuple
/// is as it must be: the effect tells the key, every tuple has such a row, and it stays where it is.
pub(super) fn tells(model: &Model, schema: &Schema, id: FamilyId, effect: &Effect) -> bool {
    let Some(family) = schema.families.get(id) else { return false };
    let paths = all_key_paths(model, family);
    let given = |path: &ColumnPath| matches!(path.as_slice(), [only] if effect.key.iter().any(|(column, _)| column == only));
    let inserts = effect.kind == EffectKind::Insert;
    // What else selects is compared with a row that was read, and not by the change.
    let whole = inserts || effect.key.iter().all(|(column, _)| paths.contains(&vec![*column]));
    let is_own = |one: &Family| is_own_row(model, one) && !is_counter(schema, one);
    let own = schema.of_source(effect.relation).any(|(_, one)| is_own(one));
    family.source == effect.relation
        && family.base.is_none()
        && shows_all(model, family)
        && !is_counter(schema, family)
        && whole
        && paths.iter().all(given)
        && (!inserts || !own || is_own(family))
        && needs(model, schema, id, effect)
            .iter()
            .any(|need| matches!(need, Need::Put | Need::Patch | Need::Delete))
}

/// Returns true if a put by itself asks about an effect's tuple before any other is put. By itself a change of
/// what is not there is passed over, and ends nothing.
pub(super) fn tells_first(
    model: &Model,
    schema: &Schema,
    write: &Write,
    id: FamilyId,
    effect: &Effect,
) -> bool {
    let mut before = write.effects.iter().take_while(|other| !std::ptr::eq(*other, effect));
    before.all(|other| needs(model, schema, id, other).is_empty())
        && tells(model, schema, id, effect)
}

/// Returns true if what an effect inserts refers by its key to what the same write inserts: where that is not
/// there yet, neither is what would refer to it.
pub(super) fn is_below(model: &Model, write: &Write, effect: &Effect) -> bool {
    let relation = model.relation(effect.relation);
    let made = |(column, term): &(usize, Term)| {
        let target = relation.columns.get(*column).and_then(|one| one.refers);
        let own = |other: &Effect| {
            let key = model.relation(other.relation).key();
            let mut terms = other.key.iter();
            terms.any(|(at, of)| key == [*at] && of == term)
        };
        relation.key().contains(column)
            && write.effects.iter().any(|other| {
                Some(other.relation) == target
                    && other.kind == EffectKind::Insert
                    && other.existing == Existing::Fresh
                    && other.each.is_none()
                    && own(other)
            })
    };
    effect.kind == EffectKind::Insert && effect.key.iter().any(made)
}

/// Returns true if a row is one of counters of CQL, which takes no condition and is there once something
/// was added: it does not tell whether its tuple is there.
pub(crate) fn is_counter(schema: &Schema, family: &Family) -> bool {
    let counts =
        |stored: &Stored| matches!(stored, Stored::Tally { fold, .. } if !fold.is_extreme());
    let kept = !family.stored.is_empty() && family.stored.iter().all(counts);
    schema.target == "cql" && (kept || family.adds_only)
}

/// Returns true if every tuple has one row of a family, under nothing but the tuple's own key.
pub(super) fn is_own_row(model: &Model, family: &Family) -> bool {
    let key = model.relation(family.source).key();
    let own = |path: &ColumnPath| matches!(path.as_slice(), [only] if key.contains(only));
    family.base.is_none() && family.when.is_empty() && all_key_paths(model, family).iter().all(own)
}
