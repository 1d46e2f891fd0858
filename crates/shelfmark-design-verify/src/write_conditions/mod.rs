//! Verifies that the conditions of a write are checked by the request that changes the tuple.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::requests::{attribute, shows};
use super::shelf::shown;
use super::write_families::key_paths;
use super::write_reads::holds_all;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, WriteStep};
use shelfmark_design_language::model::{Model, Type, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// Checks the conditions of each effect.
pub(super) fn compared(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    for effect in write.effects.iter().filter(|effect| !effect.conditions.is_empty()) {
        let changes: Vec<&WriteStep> = steps.iter().filter(|step| !step.kind.is_read()).collect();
        if changes.is_empty() {
            continue;
        }
        let begins = |step: &&WriteStep| step.families.len() == 1 && write.effects.len() == 1;
        // Of CQL a first change whose comparison fails is the last one, too.
        let ends = schema.target == "cql" || changes.len() == 1;
        let one = ends
            && changes.first().filter(|step| step.transaction.is_none()).is_some_and(begins)
            || matches!(changes.as_slice(), [only] if begins(only));
        let first = changes.first().and_then(|step| step.transaction);
        let whole = first.is_some() && changes.iter().all(|step| step.transaction == first);
        if !one && !whole {
            return Err("O4: a condition keeps back only the change that it stands with".to_owned());
        }
        let asking = if whole { changes.len() } else { 1 };
        let checks = |step: &&&WriteStep| {
            let fits = match effect.kind {
                EffectKind::Delete => step.kind.is_delete(),
                _ => step.kind.is_patch(),
            };
            fits && step.kind.each().is_none()
        };
        let families = changes.iter().take(asking).filter(checks).flat_map(|step| &step.families);
        let mut families = families.filter_map(|id| schema.families.get(*id));
        let Some(family) = families.find(|family| fits(model, family, effect)) else {
            return Err("O4: no row that is changed shows what a condition compares".to_owned());
        };
        askable(model, schema, family, effect)?;
    }
    Ok(())
}

/// Returns true if the row of an effect's tuple lies under a key that the effect names and keeps, and
/// shows all that is compared.
fn fits(model: &Model, family: &Family, effect: &Effect) -> bool {
    let there = shown(model, family);
    let named = |path: &Vec<usize>| {
        let key = |column: &usize| effect.key.iter().any(|(at, _)| at == column);
        let set = |column: &usize| effect.set.iter().any(|(at, _)| at == column);
        matches!(path.as_slice(), [only] if key(only) && !set(only))
    };
    family.source == effect.relation
        && family.base.is_none()
        && holds_all(model, family)
        && key_paths(family).iter().all(named)
        && effect.conditions.iter().all(|one| there.contains(&one.path))
        && effect
            .key
            .iter()
            .all(|(at, _)| key_paths(family).contains(&vec![*at]) || there.contains(&vec![*at]))
}

/// Checks that the target has such conditions.
fn askable(model: &Model, schema: &Schema, family: &Family, effect: &Effect) -> Result<(), String> {
    match schema.target.as_str() {
        "candb" => Err("O10: a change takes no condition".to_owned()),
        "cql" => {
            let columns = family.key.iter();
            let alone: Vec<Vec<usize>> =
                columns.filter_map(|column| attribute(model, family, &column.parts)).collect();
            for one in &effect.conditions {
                let ordered = !matches!(one.op, CondOp::Eq | CondOp::Present | CondOp::Absent);
                let glued = key_paths(family).contains(&one.path)
                    && !one.path.first().is_some_and(|column| shows(model, family, *column));
                if alone.contains(&one.path) || glued {
                    return Err("O10: a column of the key takes no condition".to_owned());
                }
                if ordered && model.path_type(family.source, &one.path) == Type::Uuid {
                    return Err("O10: uuids are in another order in the target".to_owned());
                }
            }
            if effect.conditions.iter().all(|one| one.op == CondOp::Absent) {
                return Err("O10: what is absent of no row would make one".to_owned());
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
