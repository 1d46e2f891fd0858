//! States what certificates take for granted of their targets: indexes that follow their tables, answers
//! that are asked for to their end, items that the store deletes by itself, counters that are deleted once,
//! and requests of CQL with and without a condition.
//!
//! What it is not: no refusal, and nothing that a request could find out.
//!
//! Invariant: each sentence is said beside the certificate, as an assumption.

use std::collections::BTreeSet;

use super::Proof;
use super::analysis::Analysis;
use super::calls::Call;
use super::defined::is_counter;
use super::unique::available;
use super::write::Prover;
use shelfmark_design_language::certificate::{ASSUMED, Status};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Family, Schema, Stored};
use shelfmark_design_language::model::{Model, Read, RelationId};
use shelfmark_design_language::target::Target;

/// Returns the attribute by which the store deletes tuples itself, if there is one.
fn expires(model: &Model, relation: RelationId) -> Option<usize> {
    model.relation(relation).columns.iter().position(|column| column.facts.contains_key("ttl"))
}

/// States that answers of more than a megabyte are asked for to their end.
pub(super) fn asked_to_the_end(target: &Target, calls: &[Call], analysis: &mut Analysis) {
    let goes_on = |call: &Call| call.beside.iter().any(|(name, _)| *name == "next");
    if target.name == "dynamodb" && calls.iter().any(goes_on) {
        let what = "the caller asks on (`next`) where an answer ends at 1 MB before its list does";
        analysis.note(10, format!("{ASSUMED}{what}"));
    }
}

/// States of a number that is read what it does not count: tuples that the store deletes by itself.
pub(super) fn counted_until_deleted(
    model: &Model,
    target: &Target,
    read: &Read,
    analysis: &mut Analysis,
) {
    let source = read.sources.first().filter(|_| read.aggregate.is_some());
    let Some(relation) = source.map(|source| source.relation) else { return };
    if let (Some(column), "dynamodb") = (expires(model, relation), target.name.as_str()) {
        let relation = model.relation(relation);
        let (name, column) = (&relation.name.text, relation.column_name(column));
        let what = format!(
            "no {name} is deleted by the store itself ({column}), which takes it out of no number"
        );
        analysis.note(10, format!("{ASSUMED}{what}"));
    }
}

/// States which writes of a CQL schema have requests without a condition beside conditional ones of others
/// on the same table.
pub(super) fn mixed_conditions(schema: &Schema, proofs: &mut [Proof]) {
    if schema.target != "cql" {
        return;
    }
    let conditions = |proof: &Proof| {
        let claimed = proof.certificate.concurrency.iter();
        claimed.flat_map(|one| one.conditions.clone()).collect::<BTreeSet<String>>()
    };
    let asked: BTreeSet<String> = proofs.iter().flat_map(conditions).collect();
    for proof in proofs.iter_mut() {
        let own = conditions(proof);
        let steps = proof.plan.iter().flat_map(|plan| &plan.steps);
        let changed = steps.filter(|step| !step.kind.is_read()).flat_map(|step| &step.families);
        let tables = changed.filter_map(|id| schema.tables.get(schema.families.get(*id)?.table));
        let plain = tables.map(|table| &table.name.text);
        let plain: BTreeSet<&String> =
            plain.filter(|name| asked.contains(*name) && !own.contains(*name)).collect();
        if proof.certificate.status != Status::Certified {
            continue;
        }
        for name in plain {
            let what = format!(
                "{ASSUMED}no conditional request on {name} (IF) is under way: CQL puts it in no order \
                 with a plain one of the same row"
            );
            proof.analysis.note(10, what.clone());
            let last = proof.certificate.obligations.iter_mut().find(|one| one.id == "O10");
            if let Some(last) = last {
                last.evidence = match last.evidence.as_str() {
                    "" => what,
                    before => format!("{before}; {what}"),
                };
            }
        }
    }
}

impl Prover<'_> {
    /// States what a certified plan takes for granted: of its caller, and of its target.
    pub(super) fn assumes(&self, analysis: &mut Analysis) {
        self.assumes_unreferred(analysis);
        let defined =
            "defined where the result is a state: a new key is new, what is referred to is there";
        analysis.note(4, defined);
        self.assumes_new(analysis);
        self.assumes_fresh_indexes(analysis);
        self.assumes_counters(analysis);
        self.assumes_no_expiry(analysis);
    }

    /// States that a global index of DynamoDB, which a write reads, shows all that was written before.
    fn assumes_fresh_indexes(&self, analysis: &mut Analysis) {
        if self.schema.target != "dynamodb" {
            return;
        }
        let reads = self.plan.steps.iter().filter(|step| step.kind.is_read());
        let families = reads.flat_map(|step| &step.families);
        let tables = families.filter_map(|id| {
            let family = self.schema.families.get(*id).filter(|family| family.base.is_some())?;
            self.schema.tables.get(family.table).filter(|table| !table.is_local)
        });
        let names: BTreeSet<&str> = tables.map(|table| table.name.text.as_str()).collect();
        for name in names {
            let what = format!(
                "{name} shows all that was written before: an index of DynamoDB follows its table, \
                 and what it does not show yet is taken for absent"
            );
            analysis.note(8, format!("{ASSUMED}{what}"));
        }
    }

    /// States that no counter of CQL is begun again once its row was deleted.
    fn assumes_counters(&self, analysis: &mut Analysis) {
        let deletes = self.plan.steps.iter().filter(|step| step.kind.is_delete());
        let families = deletes.flat_map(|step| &step.families);
        let counters = families.filter_map(|id| self.schema.families.get(*id));
        let counters = counters.filter(|family| is_counter(self.schema, family));
        let names: BTreeSet<&str> = counters.map(|family| family.name.text.as_str()).collect();
        for name in names {
            let what = format!(
                "a row of {name} that is deleted is not begun again: CQL deletes a counter once, and \
                 what is added to it later may be lost"
            );
            analysis.note(10, format!("{ASSUMED}{what}"));
        }
    }

    /// States that writers delete what expires before the store does, where other rows tell of it.
    fn assumes_no_expiry(&self, analysis: &mut Analysis) {
        let (model, schema) = (self.model, self.schema);
        let made = self.write.effects.iter().filter(|one| one.kind == EffectKind::Insert);
        let made: BTreeSet<RelationId> = made.map(|effect| effect.relation).collect();
        for id in made {
            let Some(column) = expires(model, id).filter(|_| schema.target == "dynamodb") else {
                continue;
            };
            let counts = |stored: &Stored| {
                matches!(stored, Stored::Tally { relation, .. } | Stored::Collect { relation, .. }
                    if *relation == id)
            };
            let stays = |family: &&Family| {
                let own = family.source == id && family.base.is_none();
                let keeps = family.stored.iter().any(counts);
                keeps || own && !available(model, family).contains(&vec![column])
            };
            let rows: Vec<&str> = schema
                .families
                .iter()
                .filter(stays)
                .map(|family| family.name.text.as_str())
                .collect();
            if rows.is_empty() {
                continue;
            }
            let relation = model.relation(id);
            let (name, column) = (&relation.name.text, relation.column_name(column));
            let what = format!(
                "no {name} is deleted by the store itself ({column}), which leaves {} as it was",
                rows.join(", ")
            );
            analysis.note(10, format!("{ASSUMED}{what}"));
        }
    }
}
