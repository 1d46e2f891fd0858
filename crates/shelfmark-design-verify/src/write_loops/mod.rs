//! Verifies the loops of a write's plan: the rows that a step goes through are those of the write's
//! own loop, and show every attribute that the write takes from them.
//!
//! What it is not: rows that hold copies of a changed tuple are gone through too; `write_copies`
//! looks at those.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::follows::follows;
use super::shelf::{short, shown};
use super::write_families::{concerned_by, key_paths};
use shelfmark_design_language::model::pattern::{Each, Effect};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// Checks the rows that a step goes through: they were selected as the write's loop selects, and
/// show what the write takes from them.
pub(super) fn gone_through(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let Some(alias) = step.kind.each() else { return Ok(()) };
    for effect in &write.effects {
        let Some(each) = &effect.each else { continue };
        let families = step.families.iter().filter_map(|id| schema.families.get(*id));
        for family in families.filter(|family| concerned_by(model, effect, family)) {
            for read in steps.iter().take(at) {
                let WriteStepKind::Read { bindings, alias: Some(name) } = &read.kind else {
                    continue;
                };
                if name != alias {
                    continue;
                }
                let others = read.families.iter().filter_map(|id| schema.families.get(*id));
                // Lists that a parent's row keeps are asked for by the parent.
                for other in others.filter(|other| other.source == each.relation) {
                    // A read that names nothing looks for the tuples of the effects on its relation.
                    let names = !bindings.is_empty()
                        || write.effects.iter().all(|effect| effect.relation != other.source);
                    if !names {
                        let name = &other.name.text;
                        return Err(format!("O4: {name} is not read for the loop of the write"));
                    }
                    asked_alike(model, each, other, bindings)?;
                    found_all(model, each, other)?;
                    loop_values_known(model, effect, each, family, other, bindings)?;
                }
            }
        }
    }
    Ok(())
}

/// Checks that a step goes through no rows that the write's loop does not select.
fn asked_alike(
    model: &Model,
    each: &Each,
    other: &Family,
    bindings: &[(ColumnPath, Term)],
) -> Result<(), String> {
    let meant = |path: &ColumnPath, term: &Term| {
        each.predicates.iter().any(|one| {
            one.op == CondOp::Eq
                && short(model, each.relation, &one.path) == short(model, each.relation, path)
                && one.values.first() == Some(term)
        })
    };
    if bindings.iter().all(|(path, term)| meant(path, term)) {
        return Ok(());
    }
    Err(format!("O4: rows of {} are read that the write does not go through", other.name.text))
}

/// Checks that a family has a row of each tuple that the write's loop goes through.
fn found_all(model: &Model, each: &Each, other: &Family) -> Result<(), String> {
    let meant = |path: &ColumnPath| {
        let path = short(model, each.relation, path);
        each.predicates
            .iter()
            .any(|one| one.op != CondOp::Absent && short(model, each.relation, &one.path) == path)
    };
    let relation = model.relation(each.relation);
    let absent = |path: &ColumnPath| {
        let first = path.first().copied().unwrap_or_default();
        // What comes together with an attribute that is asked for is there as well.
        let told = relation.mates(first).any(|mate| meant(&vec![mate]));
        relation.columns.get(first).is_some_and(|column| column.optional) && !meant(path) && !told
    };
    if !other.when.iter().all(|one| follows(model, each.relation, one, &each.predicates)) {
        let name = &other.name.text;
        return Err(format!("O4: {name} has only some of the rows that the loop goes through"));
    }
    match key_paths(other).iter().find(|path| absent(path)) {
        None => Ok(()),
        Some(path) => {
            let (name, what) = (&other.name.text, model.path_text(each.relation, path));
            Err(format!(
                "O4: {name} has no rows of those without {what}, which the loop goes through"
            ))
        }
    }
}

/// Checks that the row that was read shows every attribute that a changed row takes from the loop's
/// tuple.
fn loop_values_known(
    model: &Model,
    effect: &Effect,
    each: &Each,
    family: &Family,
    other: &Family,
    bindings: &[(ColumnPath, Term)],
) -> Result<(), String> {
    let guards = other.when.iter().filter(|one| one.op == CondOp::Eq).map(|one| &one.path);
    let asked = each.predicates.iter().filter(|one| one.op == CondOp::Eq).map(|one| &one.path);
    let fixed = bindings.iter().map(|(path, _)| path).chain(guards).chain(asked);
    let mut known = shown(model, other);
    known.extend(fixed.map(|path| short(model, each.relation, path)));
    let mut held = shown(model, family);
    held.extend(key_paths(family));
    held.extend(family.when.iter().map(|one| one.path.clone()));
    let kept = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
    let holds = |column: &usize| {
        effect.relation != family.source
            || kept
            || held.iter().any(|path| path.first() == Some(column))
    };
    let value = |leaf: &Term| match leaf {
        Term::Prior(path) if !known.contains(&short(model, each.relation, path)) => None,
        _ => Some(Value::Bool(true)),
    };
    let terms = effect.key.iter().chain(&effect.set).filter(|(column, _)| holds(column));
    for (column, term) in terms {
        if term.compute(&value).is_none() {
            let name = model.path_text(effect.relation, &[*column]);
            return Err(format!("O1: {} does not show what {name} is taken from", other.name.text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
