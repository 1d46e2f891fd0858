//! Verifies that transactions hold no more operations than their target takes.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeSet;

use super::rules::known;
use super::shelf::short;
use super::write_families::touches;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Schema, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Write};

/// Operations of one transaction of DynamoDB.
///
/// Source: DynamoDB API Reference, TransactWriteItems, read 2026-11.
const OPERATIONS_MAX: f64 = 100.0;

/// Checks that each transaction has surely no more operations than may be in it.
pub(super) fn has_room(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if schema.target != "dynamodb" {
        return Ok(());
    }
    let own = model.settings.get(&schema.target).and_then(|all| all.get("transaction.items"));
    let most = own.copied().unwrap_or(OPERATIONS_MAX);
    let transactions: BTreeSet<usize> = steps.iter().filter_map(|step| step.transaction).collect();
    for number in transactions {
        let mut sum = 0.0;
        let within = |step: &&WriteStep| step.transaction == Some(number) && !step.kind.is_read();
        for step in steps.iter().filter(within) {
            let rounds = match step.kind.each() {
                None => 1.0,
                Some(alias) => {
                    let reads = steps.iter().filter(|read| is_read_as(read, alias));
                    reads.map(|read| rows_of(model, schema, read)).sum()
                }
            };
            for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
                let own = |effect: &&Effect| {
                    let inserts = matches!(effect.kind, EffectKind::Insert | EffectKind::Delete);
                    effect.relation == family.source
                        && effect.each.is_some() == step.kind.each().is_some()
                        && (inserts || touches(model, schema, family, effect))
                };
                sum += rounds * write.effects.iter().filter(own).count().max(1) as f64;
            }
        }
        if sum > most {
            return Err(format!("O10: a transaction has up to {sum} operations"));
        }
    }
    Ok(())
}

fn is_read_as(step: &WriteStep, alias: &str) -> bool {
    matches!(&step.kind, WriteStepKind::Read { alias: Some(name), .. } if name == alias)
}

/// Returns the most rows of a read; without end where nothing declares it.
fn rows_of(model: &Model, schema: &Schema, read: &WriteStep) -> f64 {
    let WriteStepKind::Read { bindings, .. } = &read.kind else { return 0.0 };
    let families = read.families.iter().filter_map(|id| schema.families.get(*id));
    let of_source = |source: usize| {
        let asked: BTreeSet<ColumnPath> =
            bindings.iter().map(|(path, _)| short(model, source, path)).collect();
        let relation = model.relation(source);
        let told = known(model, source, &asked);
        if relation.keys.iter().any(|key| key.iter().all(|at| told.contains(at))) {
            return 1.0;
        }
        let fits = |from: &[usize]| from.iter().all(|at| asked.contains(&vec![*at]));
        let declared = relation.fanouts.iter().filter(|one| fits(&one.from));
        declared.filter_map(|one| one.max()).fold(f64::INFINITY, f64::min)
    };
    families.map(|family| of_source(family.source)).sum()
}

#[cfg(test)]
mod tests;
