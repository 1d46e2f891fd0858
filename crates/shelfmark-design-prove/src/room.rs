//! Bounds the operations of one transaction by the declared fan-outs of the loops in it.
//!
//! What it is not: bytes are not counted; a lint warns of writes that touch many rows anyway.
//!
//! Invariant: a transaction fits only if its operations are surely no more than its target takes.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Analysis;
use super::canon::canonical;
use super::needs::needs;
use super::write_case::WriteCase;
use crate::closure::determines_tuple;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::{FamilyId, WritePlan, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, RelationId};

/// Proves that no transaction of a plan has more operations than its target takes.
pub(super) fn fits(case: WriteCase<'_>, plan: &WritePlan, analysis: &mut Analysis) {
    let Some(rule) = case.target.rules.get("transaction_items") else { return };
    let limit = limit(case);
    let mut sums: BTreeMap<usize, Option<f64>> = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| !step.kind.is_read()) {
        let Some(transaction) = step.transaction else { continue };
        let sum = sums.entry(transaction).or_insert(Some(0.0));
        *sum = sum.zip(operations(case, &plan.steps, step)).map(|(a, b)| a + b);
    }
    for sum in sums.into_values().filter(|sum| sum.is_none_or(|sum| sum > limit)) {
        let count = sum.map_or_else(|| "any number of".to_owned(), |sum| sum.to_string());
        analysis.fail_request(format!(
            "one transaction may hold {count} operations, {limit} are taken: {} ({})",
            rule.says, rule.source
        ));
    }
}

/// Returns the limit of the target, or the model's own.
fn limit(case: WriteCase<'_>) -> f64 {
    let own = case.model.settings.get(&case.schema.target);
    let own = own.and_then(|settings| settings.get("transaction.items"));
    own.copied().unwrap_or(case.target.transaction_items_max)
}

/// Returns the most operations of a step; `None` where no declared number bounds its loop.
fn operations(case: WriteCase<'_>, steps: &[WriteStep], step: &WriteStep) -> Option<f64> {
    let effects = case.write.effects.iter();
    let of = |id: &FamilyId| {
        let asks = |effect: &&Effect| {
            effect.each.is_some() == step.kind.each().is_some()
                && !needs(case.model, case.schema, *id, effect).is_empty()
        };
        effects.clone().filter(asks).count().max(1) as f64
    };
    let once: f64 = step.families.iter().map(of).sum();
    let Some(alias) = step.kind.each() else { return Some(once) };
    let mut rows = 0.0;
    for read in steps {
        let WriteStepKind::Read { bindings, alias: Some(name) } = &read.kind else { continue };
        for id in read.families.iter().filter(|_| name == alias) {
            let source = case.schema.families.get(*id)?.source;
            let told: BTreeSet<ColumnPath> =
                bindings.iter().map(|(path, _)| canonical(case.model, source, path)).collect();
            rows += rows_max(case, source, &told)?;
        }
    }
    Some(rows * once)
}

/// Returns the most tuples that share some attributes, by the declared fan-outs.
fn rows_max(case: WriteCase<'_>, source: RelationId, told: &BTreeSet<ColumnPath>) -> Option<f64> {
    if determines_tuple(case.model, source, told) {
        return Some(1.0);
    }
    let fanouts = case.model.relation(source).fanouts.iter();
    let fits = fanouts.filter(|one| one.from.iter().all(|at| told.contains(&vec![*at])));
    fits.filter_map(|one| one.max()).reduce(f64::min)
}
