//! Produces certificates of writes: the plan named or derived, its proof, and a witness when it
//! fails.
//!
//! What it is not: it proves nothing itself; `write` does, and `write_witness` searches.
//!
//! Invariant: what is refused has a witness, even one that says that nothing was found.

use serde_json::{Value as Json, json};

use super::analysis::Analysis;
use super::concurrency::concurrency;
use super::write::prove_write;
use super::write_case::WriteCase;
use super::write_plan::{Grouping, derive, moves_claims};
use super::write_witness::find;
use super::{decisive, obligations};
use shelfmark_design_language::certificate::{Certificate, Range, Status, text};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Schema, WritePlan};
use shelfmark_design_language::model::{Model, Term, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Returns the plan that a schema names for a write, or one that is derived.
pub fn plan(case: WriteCase<'_>) -> WritePlan {
    let named = case.schema.writes.iter().find(|plan| plan.write == case.index);
    named.cloned().unwrap_or_else(|| {
        let grouped = grouped(case);
        let derived = grouped.unwrap_or_else(|| derive(case, Grouping::Single));
        unread(case, &derived).unwrap_or(derived)
    })
}

/// Returns the derived plan of several tuples' changes, or of a changed unique value, with all of them in
/// one transaction behind the reads, where the target has such a transaction and that is right.
fn grouped(case: WriteCase<'_>) -> Option<WritePlan> {
    let target = case.target;
    let several = case.write.effects.len() > 1 || moves_claims(case);
    if !target.transactions || target.reading_transactions || !several {
        return None;
    }
    let plan = derive(case, Grouping::Changes);
    decisive(&prove_write(case, &plan)).is_none().then_some(plan)
}

/// Returns the derived plan of an insert that may meet its tuple, without reads, where that is right:
/// a put that replaces what is there, or is refused where something is, needs no look before.
fn unread(case: WriteCase<'_>, derived: &WritePlan) -> Option<WritePlan> {
    let [effect] = case.write.effects.as_slice() else { return None };
    let reads = derived.steps.iter().any(|step| step.kind.is_read());
    let meets = effect.kind == EffectKind::Insert && effect.existing != Existing::Fresh;
    if !reads || !meets || effect.each.is_some() {
        return None;
    }
    let mut plan = derived.clone();
    plan.steps.retain(|step| !step.kind.is_read());
    let together = plan.steps.len() > 1 && case.target.transactions;
    for step in &mut plan.steps {
        step.transaction = together.then_some(1);
    }
    decisive(&prove_write(case, &plan)).is_none().then_some(plan)
}

/// Proves the plan of a write and returns its certificate.
pub fn certificate(case: WriteCase<'_>, hash: &str) -> (Certificate, Analysis, WritePlan) {
    let WriteCase { model, schema, write, .. } = case;
    let plan = plan(case);
    let analysis = prove_write(case, &plan);
    let failure = decisive(&analysis);
    let status = if failure.is_none() { Status::Certified } else { Status::Refused };
    let witness = failure.map(|failure| {
        if failure.call {
            return call(write, &failure.reason);
        }
        if !model.may_search(schema, write.effects.iter().map(|effect| effect.relation)) {
            return super::unseen(0);
        }
        find(case, &plan).unwrap_or_else(|| super::unseen(model.witness_tries()))
    });
    let certificate = Certificate {
        schema: schema.name.text.clone(),
        pattern: write.name.text.clone(),
        write: true,
        status,
        obligation: failure.map(|failure| format!("O{}", failure.obligation)),
        ground: None,
        obligations: obligations(&analysis),
        ranges: ranges(model, schema, &analysis),
        steps: text::write_steps(schema, &plan),
        rows_max: analysis.rows_max.clone(),
        concurrency: concurrency(case, &plan).filter(|_| failure.is_none()),
        reason: failure.map(|failure| failure.reason.clone()).unwrap_or_default(),
        witness,
        plan: serde_json::to_value(&plan.steps).unwrap_or(Json::Null),
        model: hash.to_owned(),
        seal: String::new(),
    }
    .sealed();
    (certificate, analysis, plan)
}

fn call(write: &Write, missing: &str) -> Json {
    let names: Vec<&str> = write.params.iter().map(|param| param.name.as_str()).collect();
    let call = format!("{}({})", write.name.text, names.join(", "));
    json!({ "kind": "call", "call": call, "missing": missing })
}

/// Returns the keys that the write touches.
fn ranges(model: &Model, schema: &Schema, analysis: &Analysis) -> Vec<Range> {
    analysis
        .families
        .iter()
        .filter_map(|id| {
            let family = schema.families.get(*id)?;
            let table = schema.tables.get(family.table)?;
            let hole = |term: &Term| super::order::term_text(model, family.source, term);
            let texts: Vec<String> =
                family.key.iter().map(|column| text::parts(&column.parts, &hole)).collect();
            let (partition, sort) = texts.split_at(table.partition.min(texts.len()));
            Some(Range {
                table: table.name.text.clone(),
                partition: partition.to_vec(),
                from: sort.to_vec(),
                to: sort.to_vec(),
                prefix: false,
                descending: false,
                limit: None,
                equal: sort.to_vec(),
                ends: Vec::new(),
            })
        })
        .collect()
}
