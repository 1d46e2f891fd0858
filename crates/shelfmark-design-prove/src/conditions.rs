//! Finds the row whose change checks the conditions of a write.
//!
//! A condition is right where the very request that changes the tuple's row compares, and all other
//! changes happen together with it or not at all. On CQL, which has no transaction, that request is the
//! first, and where its condition fails the plan is at its end: rows that show the tuple otherwise follow.
//!
//! Invariant: a row family is returned only if each tuple has one row of it, which shows all
//! attributes that are compared.

use super::analysis::Analysis;
use super::needs::{Need, needs};
use super::paths::{all_key_paths, is_optional};
use super::unique::available;
use super::write_case::WriteCase;
use shelfmark_design_language::model::pattern::Effect;
use shelfmark_design_language::model::schema::{FamilyId, Schema, WritePlan, WriteStep};
use shelfmark_design_language::model::{ColumnPath, Model, Write};

/// Proves that the conditions of a write are checked.
pub(crate) fn conditions(case: WriteCase<'_>, plan: &WritePlan, analysis: &mut Analysis) {
    let WriteCase { model, schema, target, write, .. } = case;
    // Where no row is changed there is nothing that a condition keeps back.
    let changes = plan.steps.iter().any(|step| !step.kind.is_read());
    let asking = write.effects.iter().filter(|effect| changes && !effect.conditions.is_empty());
    for effect in asking {
        let relation = &model.relation(effect.relation).name.text;
        let checked = checked_by(model, schema, write, plan, effect);
        let Some(family) = checked.and_then(|id| schema.families.get(id)) else {
            let why = format!(
                "nothing checks what must hold of a {relation} together with the change: a row \
                 under its key that shows what is compared, changed in place, with all other \
                 changes {}",
                if ends_alone(schema) { "behind it" } else { "in one transaction" }
            );
            analysis.fail(4, "W2", why);
            continue;
        };
        match target.rules.get("condition") {
            Some(rule) if !target.has_requests => {
                analysis.fail_request(format!("{} compares: {}", write.name.text, rule.says));
            }
            _ => {
                let name = &family.name.text;
                let what =
                    format!("what must hold of a {relation} is checked where {name} changes");
                analysis.note(4, what);
            }
        }
    }
}

/// Returns the row family by whose change an effect's conditions are checked.
pub(crate) fn checked_by(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    effect: &Effect,
) -> Option<FamilyId> {
    if effect.conditions.is_empty() {
        return None;
    }
    let together = together(write, plan);
    let mut changing = plan.steps.iter().filter(|step| !step.kind.is_read());
    let first = changing.next().filter(|first| {
        let alone = first.families.len() == 1 && write.effects.len() == 1;
        ends_alone(schema) && alone && first.transaction.is_none()
    });
    let changes = |step: &&WriteStep| {
        let meant = together || first.is_some_and(|first| std::ptr::eq(first, *step));
        let own = step.kind.is_patch() || step.kind.is_delete();
        meant && own && step.kind.each().is_none()
    };
    let families = plan.steps.iter().filter(changes).flat_map(|step| &step.families);
    families.copied().find(|id| may_check(model, schema, *id, effect))
}

/// Returns true if a change that compares by itself ends the plan where its condition fails.
fn ends_alone(schema: &Schema) -> bool {
    schema.target == "cql"
}

/// Returns true if the change of a family's row can check an effect's conditions.
pub(super) fn may_check(model: &Model, schema: &Schema, id: FamilyId, effect: &Effect) -> bool {
    let Some(family) = schema.families.get(id) else { return false };
    let shown = available(model, family);
    let key: Vec<ColumnPath> = all_key_paths(model, family).into_iter().collect();
    let own = |one: &Need| matches!(one, Need::Patch | Need::Delete);
    family.source == effect.relation
        && family.base.is_none()
        && family.when.is_empty()
        && key.iter().all(|path| !is_optional(model, family.source, path))
        && key.iter().all(
            |path| matches!(path.as_slice(), [only] if effect.key.iter().any(|(at, _)| at == only)),
        )
        && effect.conditions.iter().all(|one| shown.contains(&one.path))
        && effect
            .key
            .iter()
            .all(|(column, _)| key.contains(&vec![*column]) || shown.contains(&vec![*column]))
        && needs(model, schema, id, effect).iter().any(own)
}

/// Returns true if all changes of a plan happen together, or there is one.
fn together(write: &Write, plan: &WritePlan) -> bool {
    let mut steps = plan.steps.iter().filter(|step| !step.kind.is_read());
    let Some(first) = steps.next() else { return true };
    let mut alone = first.families.len() == 1 && write.effects.len() == 1;
    let mut same = first.transaction.is_some();
    for step in steps {
        alone = false;
        same &= step.transaction == first.transaction;
    }
    alone || same
}
