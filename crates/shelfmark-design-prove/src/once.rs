//! Proves plans for targets whose transactions allow one operation for an item.
//!
//! Invariant: a plan passes only when no transaction of it may change one item by two steps, but for
//! a delete and a put of it, of which the delete is then left out.

use super::analysis::Analysis;
use super::needs::{Need, needs};
use super::paths::all_key_paths;
use super::together::apart_in;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Schema, WritePlan, WriteStep};
use shelfmark_design_language::model::{Model, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Proves that no transaction puts and patches one item, where it allows one operation for an item.
pub(super) fn once_each(
    model: &Model,
    schema: &Schema,
    write: &Write,
    plan: &WritePlan,
    analysis: &mut Analysis,
) {
    // Each effect has one item of its own.
    let apart = |id: &usize| {
        let Some(family) = schema.families.get(*id) else { return false };
        let asks = |effect: &&Effect| !needs(model, schema, *id, effect).is_empty();
        let effects: Vec<&Effect> = write.effects.iter().filter(asks).collect();
        let once = |effect: &&Effect| {
            effect.relation == family.source
                && effect.each.is_none()
                && matches!(
                    needs(model, schema, *id, effect).as_slice(),
                    [Need::Put | Need::Delete | Need::Patch]
                )
        };
        let paths = all_key_paths(model, family);
        let told = |a: &Effect, b: &Effect| {
            apart_in(model, write, (a, b), |column| paths.contains(&vec![column]))
        };
        let pairs = effects.iter().enumerate();
        effects.iter().all(once)
            && pairs.clone().all(|(at, a)| effects.iter().skip(at + 1).all(|b| told(a, b)))
    };
    // What is made anew is made once, or the write is not defined.
    let fresh = |id: &usize| {
        let source = schema.families.get(*id).map(|family| family.source);
        let mut inserts = write.effects.iter().filter(|effect| Some(effect.relation) == source);
        inserts
            .all(|effect| effect.kind == EffectKind::Insert && effect.existing == Existing::Fresh)
    };

    let steps: Vec<&WriteStep> = plan.steps.iter().filter(|step| !step.kind.is_read()).collect();
    for (at, first) in steps.iter().enumerate() {
        for second in steps.iter().skip(at + 1) {
            let together = first.transaction.is_some() && first.transaction == second.transaction;
            let both = first.families.iter().find(|id| second.families.contains(id));
            let (Some(id), true) = (both, together) else { continue };
            let name = schema.families.get(*id).map_or("", |family| family.name.text.as_str());
            if first.kind.is_put() && second.kind.is_put() && fresh(id) || apart(id) {
                continue;
            }
            if first.kind.is_delete() && second.kind.is_put() {
                let why = format!("{name} is deleted only where its key changes");
                analysis.note(1, format!("{why}: a transaction takes one operation for an item"));
            } else {
                let why = format!(
                    "one transaction may change one item of {name} twice, which {} refuses",
                    schema.target
                );
                analysis.fail_call("W2", why);
            }
        }
    }
}
