//! Warns of partitions hot at declared rates (P2), and of reads that ask many partitions (P4).

use std::collections::BTreeSet;

use super::{Context, Found, setting, threshold};
use crate::size::volume;
use shelfmark_design_language::model::schema::{
    EachOf, Family, ReadStep, Schema, Serve, WriteStepKind,
};
use shelfmark_design_language::model::{Model, Read, Type};
use shelfmark_design_language::syntax::tree::{CondOp, Verb};
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::closure::determines_tuple;

/// Number of partitions in one call from which on a read is reported to scatter.
///
/// Ours: as many calls as one node answers within the time of a slow one.
const SCATTER_PARTITIONS: f64 = 100.0;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    let model = context.model;
    for proof in context.proofs {
        let Some(schema) = model.schemas.get(proof.schema) else { continue };
        if proof.certificate.write {
            written(model, schema, proof, found);
            continue;
        }
        let (Some(read), Some(serve)) = (model.reads.get(proof.pattern), &proof.serve) else {
            continue;
        };
        let rate = read.facts.get("peak").or(read.facts.get("rate")).copied();
        for step in &serve.steps {
            let Some(step) = step.read() else { continue };
            let family = schema.of_table(step.table).next().map(|(_, family)| family);
            if let (Some(rate), Some(family)) = (rate, family) {
                hot(model, schema, proof, &read.name.text, family, rate, found);
            }
            scatters(model, schema, proof, read, serve, step, found);
        }
    }
}

fn written(model: &Model, schema: &Schema, proof: &Proof, found: &mut Vec<Found>) {
    let (Some(write), Some(plan)) = (model.writes.get(proof.pattern), &proof.plan) else { return };
    let Some(rate) = write.facts.get("peak").or(write.facts.get("rate")).copied() else { return };
    let changes = plan.steps.iter().filter(|step| !matches!(step.kind, WriteStepKind::Read { .. }));
    let ids: BTreeSet<usize> = changes.flat_map(|step| step.families.iter().copied()).collect();
    for id in ids {
        if let Some(family) = schema.families.get(id) {
            hot(model, schema, proof, &write.name.text, family, rate, found);
        }
    }
}

/// Checks P2: the hottest partition's part of a declared rate against the limit of a partition.
fn hot(
    model: &Model,
    schema: &Schema,
    proof: &Proof,
    pattern: &str,
    family: &Family,
    rate: f64,
    found: &mut Vec<Found>,
) {
    let Some(table) = schema.tables.get(family.table).filter(|table| table.partition > 0) else {
        return;
    };
    let write = model.writes.get(proof.pattern).filter(|_| proof.certificate.write);
    let (known, divisor) = volume::called(model, schema, family, write);
    // That all rows lie in one place is told at the family, whatever the rate.
    if known.is_empty() {
        return;
    }
    let Some(share) = volume::share(model, family.source, &known) else { return };
    let (limit, what) = if proof.certificate.write {
        (setting(model, schema, "partition.writes", |one| one.partition_writes_max), "writes")
    } else {
        (setting(model, schema, "partition.reads", |one| one.partition_reads_max), "reads")
    };
    let per_second = rate * share / divisor;
    if per_second > limit {
        let message = format!(
            "{pattern}: the hottest partition of {} sees {per_second:.0} {what} a second, {} takes \
             {limit:.0}",
            table.name.text, schema.target
        );
        found.push(Found::new("P2", proof.schema, &family.name.text, family.name.span, message));
    }
}

/// Checks P4.
fn scatters(
    model: &Model,
    schema: &Schema,
    proof: &Proof,
    read: &Read,
    serve: &Serve,
    step: &ReadStep,
    found: &mut Vec<Found>,
) {
    let span = if serve.derived { read.name.span } else { serve.span };
    let mut push = |message: String| {
        found.push(Found::new("P4", proof.schema, &read.name.text, span, message));
    };
    let times = match &step.each {
        Some(EachOf::Numbers(low, high)) => Some((high - low + 1) as f64),
        Some(EachOf::Param(index)) => match read.params.get(*index).map(|param| &param.ty) {
            Some(Type::List(_, Some(max))) => Some(*max as f64),
            _ => None,
        },
        None => None,
    };
    let most = threshold(model, schema, "P4.partitions", SCATTER_PARTITIONS);
    if let Some(times) = times.filter(|times| *times >= most) {
        push(format!("{}: one call asks up to {times} partitions", read.name.text));
    }
    let several = read.sources.iter().any(|source| {
        let ranged = |op| !matches!(op, CondOp::Eq | CondOp::In | CondOp::Present | CondOp::Absent);
        source.predicates.iter().any(|one| ranged(one.op))
    });
    let table = schema.tables.get(step.table).filter(|table| table.partition > 0);
    let (Some(table), true, Verb::Scan | Verb::Range) = (table, several && !read.admin, step.verb)
    else {
        return;
    };
    // Looked at last: a table may hold thousands of row types.
    let alone = schema.of_table(step.table).any(|(_, family)| {
        let (known, divisor) = volume::partition(model, schema, family);
        !known.is_empty() && divisor <= 1.0 && determines_tuple(model, family.source, &known)
    });
    if alone {
        push(format!(
            "{}: every row of {} is a partition of its own, and a range of them is asked for",
            read.name.text, table.name.text
        ));
    }
}
