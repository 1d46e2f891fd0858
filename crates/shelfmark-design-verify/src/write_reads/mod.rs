//! Verifies that the reads of a write's plan return what a step needs before it changes anything.
//!
//! What it is not: whether keys can be computed is asked in `write_steps`.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::BTreeSet;

use super::follows::{follows, selected};
use super::rules::{formable, in_key};
use super::shelf::{short, shown};
use super::write_copies::told;
use super::write_families::{key_paths, left_out_by, reaches, touches};
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value, Write};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// Checks that nothing is read after it was changed, when it no longer shows how it was.
pub(super) fn early(
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    at: usize,
) -> Result<(), String> {
    let is_read = |step: &WriteStep| step.kind.is_read();
    let Some(step) = steps.get(at).filter(|step| is_read(step)) else { return Ok(()) };
    // Nothing hangs on the last reads, nor on what one write of one tuple has read at first.
    let last = steps.iter().skip(at).all(is_read);
    let first = steps.iter().take_while(|step| is_read(step));
    let known = first.filter(|first| {
        let unnamed = |step: &WriteStep| match &step.kind {
            WriteStepKind::Read { bindings, alias: None } => Some(bindings.clone()),
            _ => None,
        };
        unnamed(first).is_some()
            && unnamed(first) == unnamed(step)
            && first.families == step.families
    });
    let one = matches!(write.effects.as_slice(), [only]
        if only.each.is_none() && only.kind != EffectKind::Insert);
    if last || one && known.count() > 0 {
        return Ok(());
    }
    for id in &step.families {
        let rows = schema.families.get(*id).and_then(|family| family.base).unwrap_or(*id);
        let mut before = steps.iter().take(at).filter(|step| !is_read(step));
        if before.any(|step| step.families.contains(&rows)) {
            return Err("O4: what is changed is read afterwards".to_owned());
        }
    }
    Ok(())
}

/// Checks that a read can be formed: by values that are known before it, and as many as its key
/// needs.
pub(super) fn asked(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let WriteStepKind::Read { bindings, .. } = &step.kind else { return Ok(()) };
    // An attribute of the write's own tuple is there once a row that shows it was read.
    let of_row = |term: &Term| {
        let ([effect], Term::Prior(path)) = (write.effects.as_slice(), term) else { return false };
        let families = steps.iter().take(at).flat_map(|step| match step.kind {
            WriteStepKind::Read { .. } => step.families.as_slice(),
            _ => &[],
        });
        let mut own = families.filter_map(|id| schema.families.get(*id));
        effect.each.is_none()
            && effect.kind != EffectKind::Insert
            && own.any(|other| {
                let path = short(model, effect.relation, path);
                other.source == effect.relation && shown(model, other).contains(&path)
            })
    };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        let mut wanted: Vec<Vec<(ColumnPath, Term)>> = Vec::new();
        if bindings.is_empty() {
            let own = write.effects.iter().filter(|effect| effect.relation == family.source);
            wanted.extend(own.map(|effect| {
                let named = own_key(model, effect);
                let given = effect.key.iter().filter(|(column, _)| named.contains(column));
                given.map(|(column, term)| (vec![*column], term.clone())).collect()
            }));
        } else {
            wanted.push(bindings.clone());
        }
        for wanted in wanted {
            let there = |term: &Term| {
                let value =
                    |leaf: &Term| matches!(leaf, Term::Param(_)).then_some(Value::Bool(true));
                *term != Term::Const(Value::Null) && term.compute(&value).is_some()
            };
            let name = &family.name.text;
            if !wanted.iter().all(|(_, term)| there(term) || of_row(term)) {
                return Err(format!("O1: {name} is read by what is not there before"));
            }
            // What all rows of a sparse family have is known of them.
            let guards = family.when.iter().filter(|one| one.op == CondOp::Eq);
            let fixed: BTreeSet<ColumnPath> = wanted
                .iter()
                .map(|(path, _)| path)
                .chain(guards.map(|one| &one.path))
                .map(|path| short(model, family.source, path))
                .collect();
            if !formable(model, schema, family, &fixed) {
                return Err(format!("O1: the partition of {name} is not known to its read"));
            }
        }
    }
    Ok(())
}

/// Checks that a row is found by its key alone: all that a write selects by must stand in that key,
/// or in what was read of the tuple before, or a row that does not fit is changed too.
pub(super) fn found_by_key(
    model: &Model,
    schema: &Schema,
    write: &Write,
    (steps, at): (&[WriteStep], usize),
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    // Whether a read before shows, or is asked by, all that an effect selects by.
    let looked_up = |effect: &Effect| {
        steps.iter().take(at).any(|read| {
            let WriteStepKind::Read { bindings, .. } = &read.kind else { return false };
            let mut families = read.families.iter().filter_map(|id| schema.families.get(*id));
            families.any(|other| {
                let there = shown(model, other);
                let asked = |path: &ColumnPath| bindings.iter().any(|(by, _)| by == path);
                let own = own_key(model, effect);
                // A sparse family holds the tuple only if what selects it says so.
                let holds = holds_those(model, other, &selected(model, effect));
                holds
                    && other.source == effect.relation
                    && effect.key.iter().all(|(column, _)| {
                        let path = vec![*column];
                        let named = bindings.is_empty() && own.contains(column);
                        named || asked(&path) || there.contains(&path)
                    })
            })
        })
    };
    let changes = matches!(step.kind, WriteStepKind::Patch { .. } | WriteStepKind::Delete { .. });
    let families = step.families.iter().filter_map(|id| schema.families.get(*id));
    for family in families.filter(|_| changes) {
        let in_key = in_key(model, family);
        let of_family = |effect: &&Effect| {
            let paths = shown(model, family);
            let own = effect.relation == family.source
                && (effect.kind == EffectKind::Delete || touches(model, schema, family, effect));
            let copies = effect.kind == EffectKind::Update
                && paths.iter().any(|path| reaches(model, family, path, effect));
            effect.kind != EffectKind::Insert && (own || copies)
        };
        for effect in write.effects.iter().filter(of_family) {
            // Copies are changed by what the key alone names.
            let copied = effect.relation != family.source;
            if copied && effect.key.len() > 1 && !looked_up(effect) {
                let name = &family.name.text;
                return Err(format!("O4: copies in {name} change whatever else selects"));
            }
            if copied {
                continue;
            }
            let told = |(column, term): &(usize, Term)| {
                in_key.contains(&vec![*column])
                    || known_in_loop(model, schema, effect, (*column, term), (steps, at))
            };
            if !effect.key.iter().all(told) && !looked_up(effect) {
                let name = &family.name.text;
                return Err(format!("O4: {name} is changed whatever else the write selects by"));
            }
        }
    }
    Ok(())
}

/// Returns true if the tuples that a loop goes through are those of an effect, and a value that
/// selects one of them is its own, the one that the loop asks for, or shown by the loop's rows.
fn known_in_loop(
    model: &Model,
    schema: &Schema,
    effect: &Effect,
    (column, term): (usize, &Term),
    (steps, at): (&[WriteStep], usize),
) -> bool {
    let Some(each) = effect.each.as_ref().filter(|each| each.relation == effect.relation) else {
        return false;
    };
    let mut asked = each
        .predicates
        .iter()
        .filter(|one| one.op == CondOp::Eq && short(model, each.relation, &one.path) == [column]);
    let alias = steps.get(at).and_then(|step| step.kind.each()).map(|alias| alias.as_str());
    let mut rows = steps.iter().take(at).filter(|step| match &step.kind {
        WriteStepKind::Read { alias: Some(name), .. } => Some(name.as_str()) == alias,
        _ => false,
    });
    *term == Term::Prior(vec![column])
        || asked.any(|one| one.values.first() == Some(term))
        || rows.any(|read| {
            let mut families = read.families.iter().filter_map(|id| schema.families.get(*id));
            families.any(|family| shown(model, family).contains(&vec![column]))
        })
}

/// Checks that a row that may exist, or may not, is read before it is put or counted.
pub(super) fn looked_up(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    at: usize,
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        for effect in &write.effects {
            let asked = selected(model, effect);
            let read = steps.iter().take(at).any(|step| {
                let mut others = step.families.iter().filter_map(|id| schema.families.get(*id));
                step.kind.is_read()
                    && others.any(|other| {
                        other.source == effect.relation && holds_those(model, other, &asked)
                    })
            });
            let keeps = family.stored.iter().any(|stored| match stored {
                Stored::Collect { relation, .. } | Stored::Tally { relation, .. } => {
                    *relation == effect.relation
                }
                Stored::Path(_) => false,
            });
            let name = &family.name.text;
            match (&step.kind, effect.kind) {
                (WriteStepKind::Put { .. }, EffectKind::Insert)
                    if family.source == effect.relation && effect.existing != Existing::Fresh =>
                {
                    let of = model.relation(family.source);
                    let mut key: Vec<ColumnPath> = of.key().iter().map(|at| vec![*at]).collect();
                    if effect.existing == Existing::Replace {
                        // What never changes is the same in what is replaced.
                        let lasting = of.columns.iter().enumerate();
                        let lasting = lasting.filter(|(_, column)| column.lasts());
                        key.extend(lasting.map(|(at, _)| vec![at]));
                    }
                    let own = schema
                        .families
                        .iter()
                        .filter(|other| other.base.is_none() && other.source == family.source)
                        .filter(|other| !left_out_by(model, effect, other));
                    // A put on a condition sees for itself.
                    let guards = family.when.iter().map(|one| &one.path);
                    // What lies behind the key is told with it.
                    let told = |path: &ColumnPath| {
                        let head = path.get(..1).unwrap_or(&[]).to_vec();
                        key.contains(&short(model, family.source, path)) || key.contains(&head)
                    };
                    let alone = key_paths(family).iter().chain(guards).all(told)
                        && (effect.existing == Existing::Replace || own.count() == 1);
                    let looked =
                        steps.iter().take(at).any(|step| finds(model, schema, effect, step));
                    if !alone && !looked && !left_out_by(model, effect, family) {
                        return Err(format!("O4: {name} is put without looking what is there"));
                    }
                }
                (WriteStepKind::Patch { .. }, EffectKind::Insert)
                    if keeps
                        && effect.existing != Existing::Fresh
                        && !(read && effect.existing == Existing::Unless) =>
                {
                    return Err(format!("O4: {name} counts what may have been there already"));
                }
                (WriteStepKind::Patch { .. }, EffectKind::Delete) if keeps && !read => {
                    return Err(format!("O4: {name} takes away what may not be there"));
                }
                (WriteStepKind::Patch { .. }, kind) if kind != EffectKind::Insert => {
                    followed_by(model, schema, (steps, at), (family, effect), read)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Checks that what rows of a family count, or add up, of a tuple that goes or changes was read before.
fn followed_by(
    model: &Model,
    schema: &Schema,
    (steps, at): (&[WriteStep], usize),
    (family, effect): (&Family, &Effect),
    read: bool,
) -> Result<(), String> {
    let name = &family.name.text;
    let told = told_of(family, effect, effect.kind != EffectKind::Delete);
    if !read && !told.is_empty() {
        return Err(format!("O4: {name} follows what may not be there"));
    }
    let seen = |at_column: &&usize| {
        effect.each.is_some()
            || effect.key.iter().any(|(column, _)| column == *at_column)
            || effect.conditions.iter().any(|one| one.path == [**at_column])
            || shows_before(model, schema, (steps, at), effect, **at_column)
    };
    match told.iter().find(|column| !seen(column)) {
        Some(column) => {
            let what = model.relation(effect.relation).column_name(*column);
            Err(format!("O4: {name} counts by {what}, which nothing shows"))
        }
        None => Ok(()),
    }
}

/// Returns the attributes by which rows of a family count an effect's tuple, or add it up: of a change
/// those of the numbers that it concerns.
fn told_of(family: &Family, effect: &Effect, only_set: bool) -> Vec<usize> {
    let mut found = Vec::new();
    for stored in &family.stored {
        let Stored::Tally { relation, when, fold, via, .. } = stored else { continue };
        let columns: Vec<usize> =
            when.iter().filter_map(|one| one.path.first().copied()).chain(fold.column()).collect();
        let set = |at: &usize| effect.set.iter().any(|(column, _)| column == at);
        // What moves was counted where it referred to.
        let moved = set(via) && *relation == effect.relation;
        let columns: Vec<usize> = columns.into_iter().chain(moved.then_some(*via)).collect();
        let apart =
            told(when, effect, false) == Some(false) && told(when, effect, true) == Some(false);
        if !apart && *relation == effect.relation && (!only_set || columns.iter().any(set)) {
            found.extend(columns);
        }
    }
    found
}

/// Returns true if a row that is read before a step shows an attribute of an effect's tuple.
fn shows_before(
    model: &Model,
    schema: &Schema,
    (steps, at): (&[WriteStep], usize),
    effect: &Effect,
    column: usize,
) -> bool {
    let reads = steps.iter().take(at).filter(|step| step.kind.is_read());
    let mut families =
        reads.flat_map(|step| &step.families).filter_map(|id| schema.families.get(*id));
    families.any(|family| {
        family.source == effect.relation && shown(model, family).contains(&vec![column])
    })
}

/// Returns true if a read finds the tuple that has the key of what is put, if there is one: it asks
/// by the key or a part of it, and by nothing that may be otherwise in that tuple.
fn finds(model: &Model, schema: &Schema, effect: &Effect, read: &WriteStep) -> bool {
    let WriteStepKind::Read { bindings, .. } = &read.kind else { return false };
    let relation = model.relation(effect.relation);
    let same = |path: &ColumnPath, term: &Term| {
        let path = short(model, effect.relation, path);
        let [column] = path.as_slice() else { return false };
        let lasts = relation.columns.get(*column).is_some_and(|column| column.lasts());
        (relation.key().contains(column) || lasts && effect.existing == Existing::Replace)
            && effect.key.iter().any(|(at, value)| at == column && value == term)
    };
    let mut families = read.families.iter().filter_map(|id| schema.families.get(*id));
    families.any(|other| other.source == effect.relation && holds_all(model, other))
        && (effect.each.is_some() || bindings.iter().all(|(path, term)| same(path, term)))
}

/// Returns true if a family has a row of each tuple: it asks for nothing, and no optional attribute
/// stands in its key.
pub(super) fn holds_all(model: &Model, family: &Family) -> bool {
    let optional = |path: &ColumnPath| {
        let columns = &model.relation(family.source).columns;
        let first = path.first().and_then(|column| columns.get(*column));
        first.is_some_and(|column| column.optional)
    };
    family.when.is_empty() && !key_paths(family).iter().any(optional)
}

/// Returns true if a family has no condition that a tuple of which something is asked may fail.
fn holds_those(model: &Model, family: &Family, asked: &[Predicate]) -> bool {
    family.when.iter().all(|one| follows(model, family.source, one, asked))
}

/// Returns the key that an effect gives whole: a read that names nothing asks by it.
fn own_key(model: &Model, effect: &Effect) -> Vec<usize> {
    let given = |column: &usize| effect.key.iter().any(|(at, _)| at == column);
    let mut keys = model.relation(effect.relation).keys.iter();
    keys.find(|key| key.iter().all(given)).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests;
