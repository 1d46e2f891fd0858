//! Tells what is claimed of a write that others are executed beside.
//!
//! One request, or one transaction that the target serializes, comes before or behind every other. Where
//! reads come before it, that holds only if the request's own conditions fail once another write has
//! changed what was read. Anything else is proven for the write executed alone.
//!
//! What it is not: it says nothing of the rows; a claim is made of a plan that was proven to be right.
//!
//! Invariant: a plan with several requests that change something is never atomic.

use std::collections::BTreeSet;

use super::calls::Calls;
use super::conditions::checked_by;
use super::defined::{is_counter, is_own_row};
use super::must_be::shows_all;
use super::needs::{Need, needs};
use super::paths::{all_key_paths, asked_by_index};
use super::selecting::{asked_again, beside_key};
use super::unique::{available, key_paths};
use super::write::kept_paths;
use super::write_case::WriteCase;
use shelfmark_design_language::certificate::{Claim, Concurrency};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, FamilyId, WritePlan, WriteStep};
use shelfmark_design_language::model::{ColumnPath, Term};
use shelfmark_design_language::syntax::tree::Existing;

/// Returns the claim of a write's plan; `None` where it changes nothing.
pub fn concurrency(case: WriteCase<'_>, plan: &WritePlan) -> Option<Concurrency> {
    let calls = Calls::new(case.model, case.schema);
    let conditions = calls.map(|calls| calls.conditional(case.index, plan)).unwrap_or_default();
    let steps = Steps::of(case, plan)?;
    let claim = if steps.is_transaction() {
        Claim::Transaction
    } else if steps.is_request() {
        Claim::Request
    } else if steps.is_compared() && !conditions.is_empty() {
        Claim::Compared
    } else {
        Claim::Alone
    };
    Some(Concurrency { claim, conditions })
}

/// The steps of a plan, by what they do.
struct Steps<'a> {
    case: WriteCase<'a>,
    plan: &'a WritePlan,
    all: &'a [WriteStep],
    reads: Vec<&'a WriteStep>,
    changes: Vec<&'a WriteStep>,
}

impl<'a> Steps<'a> {
    fn of(case: WriteCase<'a>, plan: &'a WritePlan) -> Option<Self> {
        let (reads, changes): (Vec<_>, Vec<_>) =
            plan.steps.iter().partition(|step| step.kind.is_read());
        (!changes.is_empty()).then_some(Self { case, plan, all: &plan.steps, reads, changes })
    }

    fn loops(&self) -> bool {
        self.all.iter().any(|step| step.kind.each().is_some())
            || self.case.write.effects.iter().any(|effect| effect.each.is_some())
    }

    /// Returns true if one transaction of the target has all steps.
    fn is_transaction(&self) -> bool {
        let target = self.case.target;
        let reading = self.reads.is_empty() || target.reading_transactions;
        let first = self.all.first().and_then(|step| step.transaction);
        let same = first.is_some() && self.all.iter().all(|step| step.transaction == first);
        target.transactions && reading && same && !self.loops()
    }

    /// Returns true if the only step is one change of one row.
    fn is_request(&self) -> bool {
        self.reads.is_empty() && self.changes_one_row()
    }

    /// Returns true if one row is changed, by one effect.
    fn changes_one_row(&self) -> bool {
        let ([only], false) = (self.changes.as_slice(), self.loops()) else { return false };
        let [id] = only.families.as_slice() else { return false };
        self.asking(*id).count() <= 1 && !self.counts_itself(*id)
    }

    /// Returns true if a change of a tuple also changes numbers that other tuples of its kind keep in the
    /// same family.
    fn counts_itself(&self, id: FamilyId) -> bool {
        let Some(family) = self.case.schema.families.get(id) else { return false };
        let own = |effect: &Effect| {
            effect.relation == family.source
                && !kept_paths(self.case.model, family, effect).is_empty()
        };
        self.asking(id).any(own)
    }

    /// Returns the effects that ask for a change of a family.
    fn asking(&self, id: FamilyId) -> impl Iterator<Item = &'a Effect> {
        let WriteCase { model, schema, write, .. } = self.case;
        write.effects.iter().filter(move |effect| !needs(model, schema, id, effect).is_empty())
    }

    /// Returns true if all that was read is compared by the one request that changes anything.
    fn is_compared(&self) -> bool {
        let first = self.changes.first().and_then(|step| step.transaction);
        let same = first.is_some() && self.changes.iter().all(|step| step.transaction == first);
        let one = same && self.case.target.transactions || self.changes_one_row();
        let before = self.all.iter().take_while(|step| step.kind.is_read()).count();
        let sends = self.case.target.has_requests;
        sends && one && before == self.reads.len() && !self.loops() && self.reads_are_compared()
    }

    fn reads_are_compared(&self) -> bool {
        let read = self.reads.iter().flat_map(|step| &step.families);
        read.filter_map(|id| self.case.schema.families.get(*id)).all(|family| {
            let mut own =
                self.case.write.effects.iter().filter(|one| one.relation == family.source);
            let (Some(effect), None) = (own.next(), own.next()) else { return false };
            if effect.kind == EffectKind::Insert {
                return self.is_found_anew(effect);
            }
            let compared = self.compared(effect);
            !compared.is_empty() && self.used(effect).is_subset(&compared)
        })
    }

    /// Returns true if the row of an inserted tuple is put only where there is none: whatever a read said
    /// of it before.
    fn is_found_anew(&self, effect: &Effect) -> bool {
        let own = |(step, family): (&WriteStep, &Family)| {
            step.kind.is_put()
                && family.source == effect.relation
                && is_own_row(self.case.model, family)
        };
        let alone = effect.existing == Existing::Fresh;
        alone && self.changed().any(|(step, _, family)| own((step, family)))
    }

    /// Returns the changes of single families.
    fn changed(&self) -> impl Iterator<Item = (&'a WriteStep, FamilyId, &'a Family)> {
        let families = &self.case.schema.families;
        self.changes.iter().flat_map(move |step| {
            step.families.iter().filter_map(move |id| Some((*step, *id, families.get(*id)?)))
        })
    }

    /// Returns the attributes that the request compares: those in the key of a changed row of which it
    /// asks that it is there, which lies under the tuple's own key and these, and those that it compares
    /// with attributes beside the key.
    fn compared(&self, effect: &Effect) -> BTreeSet<ColumnPath> {
        let WriteCase { model, schema, write, .. } = self.case;
        let own: BTreeSet<ColumnPath> =
            model.relation(effect.relation).key().iter().map(|at| vec![*at]).collect();
        let mut found = BTreeSet::new();
        let checked = checked_by(model, schema, write, self.plan, effect);
        for (step, id, family) in self.changed().filter(|(step, ..)| !step.kind.is_put()) {
            let moves = self.changed().any(|(put, other, _)| other == id && put.kind.is_put());
            let keys = key_paths(model, family);
            let asks = needs(model, schema, id, effect);
            let itself = asks.iter().any(|need| matches!(need, Need::Patch | Need::Delete));
            let there = family.source == effect.relation
                && family.base.is_none()
                && shows_all(model, family)
                && own.is_subset(&keys);
            if there
                && itself
                && !moves
                && !is_counter(schema, family)
                && step.kind.each().is_none()
            {
                let selecting = if checked == Some(id) {
                    beside_key(self.case, effect)
                } else {
                    asked_again(model, schema, id, effect)
                };
                found.extend(keys);
                found.extend(selecting.into_iter().map(|column| vec![column]));
            }
        }
        found
    }

    /// Returns the attributes of an effect's tuple that were read and that requests depend on.
    fn used(&self, effect: &Effect) -> BTreeSet<ColumnPath> {
        let WriteCase { model, schema, .. } = self.case;
        let named = |path: &ColumnPath, terms: &[(usize, Term)]| {
            terms.iter().any(|(column, _)| path.as_slice() == [*column])
        };
        let mut found = BTreeSet::new();
        for (step, id, family) in self.changed() {
            if needs(model, schema, id, effect).is_empty() {
                continue;
            }
            found.extend(kept_paths(model, family, effect));
            if family.source != effect.relation {
                continue;
            }
            let mut own = all_key_paths(model, family);
            own.extend(family.when.iter().map(|one| one.path.clone()));
            for (_, entry) in schema.entries(id) {
                let mut beside = all_key_paths(model, entry);
                beside.extend(asked_by_index(model, schema, entry));
                let touched = beside.iter().any(|path| named(path, &effect.set));
                own.extend(beside.into_iter().filter(|_| step.kind.is_put() || touched));
            }
            if step.kind.is_put() {
                own.extend(available(model, family).iter().cloned());
            }
            // What is set is new in what is put, and old in a key that goes.
            own.retain(|path| !(step.kind.is_put() && named(path, &effect.set)));
            found.extend(own);
        }
        found.retain(|path| !named(path, &effect.key));
        // What else selects was read, and decided whether anything is sent.
        found.extend(beside_key(self.case, effect).into_iter().map(|column| vec![column]));
        found
    }
}
