//! Computes which row families a write can concern, and by what.
//!
//! What it is not: no step of a plan is looked at here.
//!
//! Invariant: says by itself what is concerned; nothing of the prover is asked.

use super::shelf::shown;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Part, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// Returns true if some effect of a write can concern a family's rows.
pub(super) fn concerned(model: &Model, write: &Write, family: &Family) -> bool {
    write.effects.iter().any(|effect| concerned_by(model, effect, family))
}

/// Refuses a change that no row keeps: neither rows of the tuple itself, nor what rows keep of several,
/// nor, of an update, copies.
pub(super) fn kept_somewhere(model: &Model, schema: &Schema, write: &Write) -> Result<(), String> {
    for effect in &write.effects {
        let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
        let kept = schema.families.iter().any(|family| {
            let gathers = family.stored.iter().any(|stored| {
                matches!(stored, Stored::Collect { relation, .. } | Stored::Tally { relation, .. }
                    if *relation == effect.relation)
            });
            let own = family.source == effect.relation || gathers;
            family.follows.is_none() && (own || updates && concerned_by(model, effect, family))
        });
        if !kept {
            let name = &model.relation(effect.relation).name.text;
            return Err(format!("O1: no row keeps {name}"));
        }
        let lost = effect.set.iter().find(|(at, _)| updates && !keeps(model, schema, effect, *at));
        if let Some((column, _)) = lost {
            let relation = model.relation(effect.relation);
            let (name, column) = (&relation.name.text, relation.column_name(*column));
            return Err(format!("O1: no row keeps {column} of {name}"));
        }
    }
    Ok(())
}

/// Returns true if some row shows, lies under, asks for, gathers or copies an attribute that an update
/// sets.
fn keeps(model: &Model, schema: &Schema, effect: &Effect, column: usize) -> bool {
    let alone = Effect {
        set: effect.set.iter().filter(|(at, _)| *at == column).cloned().collect(),
        kind: EffectKind::Update,
        ..effect.clone()
    };
    let gathers = |stored: &Stored| match stored {
        Stored::Collect { relation, via, path, .. } => {
            *relation == effect.relation && (*via == column || path.first() == Some(&column))
        }
        Stored::Tally { relation, via, when, fold, .. } => {
            let asks = when.iter().any(|one| one.path.first() == Some(&column));
            let counted = *via == column || fold.column() == Some(column) || asks;
            *relation == effect.relation && counted
        }
        Stored::Path(_) => false,
    };
    schema.families.iter().filter(|family| family.follows.is_none()).any(|family| {
        let own = family.source == effect.relation && touches(model, schema, family, &alone);
        let paths = key_paths(family).into_iter().chain(shown(model, family));
        let asked = family.when.iter().map(|one| one.path.clone());
        let copies = paths.chain(asked).any(|path| reaches(model, family, &path, &alone));
        let gathered = family.stored.iter().any(gathers);
        own || copies || gathered
    })
}

/// Returns true if one effect can concern a family's rows.
pub(super) fn concerned_by(model: &Model, effect: &Effect, family: &Family) -> bool {
    // What follows later is kept by something else.
    if family.follows.is_some() {
        return false;
    }
    let kept = family.stored.iter().any(|stored| match stored {
        Stored::Collect { relation, .. } | Stored::Tally { relation, .. } => {
            *relation == effect.relation
        }
        Stored::Path(path) => reaches(model, family, path, effect),
    });
    let in_key = key_paths(family);
    family.source == effect.relation
        || kept
        || in_key.iter().any(|path| reaches(model, family, path, effect))
        || family.when.iter().any(|one| reaches(model, family, &one.path, effect))
}

/// Returns true if an update sets something of the rows of a family, or of its entries in indexes.
pub(super) fn touches(model: &Model, schema: &Schema, family: &Family, effect: &Effect) -> bool {
    let holds = |family: &Family, column: usize| {
        let guards = family.when.iter().map(|one| &one.path);
        let mut paths = key_paths(family);
        paths.extend(guards.cloned());
        paths.extend(shown(model, family));
        paths.iter().any(|path| path.first() == Some(&column))
    };
    let entries = schema.families.iter().filter(|entry| {
        let base = entry.base.and_then(|base| schema.families.get(base));
        base.is_some_and(|base| std::ptr::eq(base, family))
    });
    let all: Vec<&Family> = entries.chain([family]).collect();
    effect.set.iter().any(|(column, _)| all.iter().any(|family| holds(family, *column)))
}

/// Returns true if a write inserts a tuple that surely has no row in a family, because it leaves
/// out what the key holds or the family asks for.
pub(super) fn left_out(model: &Model, write: &Write, family: &Family) -> bool {
    matches!(write.effects.as_slice(), [effect] if left_out_by(model, effect, family))
}

/// Returns true if one effect inserts a tuple that surely has no row in a family.
pub(super) fn left_out_by(model: &Model, effect: &Effect, family: &Family) -> bool {
    let absent = Term::Const(Value::Null);
    let given =
        |column: &usize| effect.key.iter().any(|(at, term)| at == column && *term != absent);
    let out = |path: &ColumnPath| {
        let columns = &model.relation(family.source).columns;
        path.first().is_some_and(|first| {
            !given(first) && columns.get(*first).is_some_and(|column| column.optional)
        })
    };
    effect.kind == EffectKind::Insert
        && effect.relation == family.source
        && effect.existing != Existing::Replace
        && (key_paths(family).iter().any(out)
            || family.when.iter().any(|one| one.op != CondOp::Absent && out(&one.path)))
}

/// Returns true if a path goes through what an effect changes.
pub(super) fn reaches(model: &Model, family: &Family, path: &[usize], effect: &Effect) -> bool {
    let sets = |column: &usize| {
        effect.kind != EffectKind::Update || effect.set.iter().any(|(set, _)| set == column)
    };
    (2..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or(&[]);
        head.last().is_some_and(sets) && model.path_owner(family.source, head) == effect.relation
    })
}

/// Returns every attribute that a family's key is computed from.
pub(super) fn key_paths(family: &Family) -> Vec<ColumnPath> {
    let mut paths = Vec::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| paths.push(path.clone()));
        }
    }
    paths
}

#[cfg(test)]
mod tests;
