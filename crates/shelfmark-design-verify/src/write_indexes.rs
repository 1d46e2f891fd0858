//! Verifies that who changes a row knows whether an index with conditions of its own holds it.
//!
//! Such an index holds the items that have its first column (a local one: its last), which stands beside
//! the attributes. Who writes that column must know its value and whether the conditions hold.
//!
//! What it is not: reads of such an index are verified like those of any sparse rows.
//!
//! Invariant: a put or patch passes only when the column's value is told, or surely is none.

use std::collections::BTreeSet;

use super::requests::own_conditions;
use super::shelf::short;
use super::write_families::reaches;
use super::write_steps::known_by;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::schema::{Family, Part, Schema, WriteStep};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// Checks the puts and patches of a step against the sparse indexes of its rows.
pub(super) fn marked(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let earlier = steps.get(..at).unwrap_or_default();
    for id in &step.families {
        let Some(family) = schema.families.get(*id) else { continue };
        for entry in schema.families.iter().filter(|entry| entry.base == Some(*id)) {
            let conditions = own_conditions(schema, entry);
            if conditions.is_empty() {
                continue;
            }
            for effect in &write.effects {
                let wanted = wanted(model, schema, entry, (conditions, effect), step)?;
                let known = known_by(model, schema, write, (earlier, step), family, &[effect]);
                let told = |path: &&ColumnPath| !known.contains(*path);
                if let Some(path) = wanted.iter().find(told) {
                    let (name, path) = (&entry.name.text, model.path_text(family.source, path));
                    return Err(format!("O10: without {path} nobody knows whether {name} has it"));
                }
            }
        }
    }
    Ok(())
}

/// Returns the attributes that tell the column of an index after an effect, beside those that it sets.
fn wanted(
    model: &Model,
    schema: &Schema,
    entry: &Family,
    (conditions, effect): (&[Predicate], &Effect),
    step: &WriteStep,
) -> Result<BTreeSet<ColumnPath>, String> {
    let own =
        effect.relation == entry.source && effect.each.is_some() == step.kind.each().is_some();
    let lasts = |one: &&Predicate| own && stays(model, effect, one);
    let (_, open): (Vec<&Predicate>, Vec<&Predicate>) = conditions.iter().partition(lasts);
    let mut all = all_of(model, schema, entry);
    all.extend(open.into_iter().map(|one| short(model, entry.source, &one.path)));
    let sets = |path: &ColumnPath| effect.set.iter().any(|(column, _)| *path == [*column]);
    let behind = |path: &ColumnPath| reaches(model, entry, path, effect);
    let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
    let touched = match (step.kind.is_patch(), step.kind.is_put()) {
        (true, _) => updates && all.iter().any(|path| own && sets(path) || behind(path)),
        (_, true) => own && effect.kind != EffectKind::Delete,
        _ => false,
    };
    if !touched || own && conditions.iter().any(|one| fails(one, effect)) {
        return Ok(BTreeSet::new());
    }
    // Other targets keep their indexes themselves, and see the sum.
    if own && effect.kind == EffectKind::Increment {
        if schema.target != "dynamodb" {
            return Ok(BTreeSet::new());
        }
        return Err(format!("O10: whether {} has a row depends on a sum", entry.name.text));
    }
    Ok(all.into_iter().filter(|path| !sets(path) && !behind(path)).collect())
}

/// Returns true if adding to a number does not change whether a condition holds: it asks whether the number
/// is there, and it is there anyway.
fn stays(model: &Model, effect: &Effect, condition: &Predicate) -> bool {
    let asks = matches!(condition.op, CondOp::Present | CondOp::Absent);
    let columns = &model.relation(effect.relation).columns;
    let told = |column: &usize| {
        let given = effect.key.iter().any(|(at, _)| at == column);
        let compared =
            effect.conditions.iter().any(|one| one.path == [*column] && one.op != CondOp::Absent);
        given || compared || columns.get(*column).is_some_and(|column| !column.optional)
    };
    effect.kind == EffectKind::Increment && asks && condition.path.iter().all(told)
}

/// Returns the attributes of the column that tells an index's items from others.
fn all_of(model: &Model, schema: &Schema, entry: &Family) -> BTreeSet<ColumnPath> {
    let table = schema.tables.get(entry.table);
    let at = table.filter(|table| table.is_local).map_or(0, |table| table.partition);
    let mut found = BTreeSet::new();
    for part in entry.key.get(at).into_iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                found.insert(short(model, entry.source, path));
            });
        }
    }
    found
}

/// Returns true if a constant that an effect gives surely fails a condition.
fn fails(condition: &Predicate, effect: &Effect) -> bool {
    let given = match effect.kind {
        EffectKind::Insert => effect.key.as_slice(),
        EffectKind::Update => effect.set.as_slice(),
        EffectKind::Increment | EffectKind::Delete => &[],
    };
    let given = given.iter();
    let mut own = given.filter(|(column, _)| condition.path == [*column]);
    own.any(|(_, term)| match term {
        Term::Const(value) => !holds(condition, value),
        // An input is something, whatever it is.
        Term::Param(_) => condition.op == CondOp::Absent,
        _ => false,
    })
}

/// Returns true if a value may satisfy a condition: what is absent satisfies only that it is.
fn holds(condition: &Predicate, value: &Value) -> bool {
    if condition.op == CondOp::Absent || *value == Value::Null {
        return condition.op == CondOp::Absent && *value == Value::Null;
    }
    let mut wanted = condition.values.iter().map(|term| match term {
        Term::Const(wanted) => Some(wanted),
        _ => None,
    });
    match (condition.op, wanted.next().flatten(), wanted.next().flatten()) {
        (CondOp::Eq, Some(wanted), _) => value == wanted,
        (CondOp::Lt, Some(wanted), _) => value < wanted,
        (CondOp::Le, Some(wanted), _) => value <= wanted,
        (CondOp::Gt, Some(wanted), _) => value > wanted,
        (CondOp::Ge, Some(wanted), _) => value >= wanted,
        (CondOp::Between, Some(low), Some(high)) => low <= value && value <= high,
        _ => true,
    }
}
