//! Computes the changes that a write requires of each row family.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::paths::{all_key_paths, asked_by_index};
use super::tally::{Tally, Turn};
use super::unique::available;
use crate::eval::state::compare;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::relation::Column;
use shelfmark_design_language::model::schema::{Family, FamilyId, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value};
use shelfmark_design_language::syntax::tree::{CondOp, Existing};

/// A change that a write requires of one row family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    Put,
    Delete,
    /// Delete under the old key, put under the new one: for an update that moves the row, or a put
    /// that replaces a row under another key.
    Rekey,
    Patch,
    /// A list or count of the parent row.
    PatchParent {
        via: usize,
    },
    /// Copies in rows that refer to what changes, through this attribute.
    PatchCopies {
        via: usize,
    },
    RekeyCopies {
        via: usize,
    },
    /// A needed change that cannot be planned.
    Unplanned(String),
}

/// Returns the changes that an effect requires of a family.
pub(crate) fn needs(
    model: &Model,
    schema: &Schema,
    family_id: FamilyId,
    effect: &Effect,
) -> Vec<Need> {
    let kept = schema.families.get(family_id).filter(|family| family.follows.is_none());
    let Some(family) = kept else { return Vec::new() };
    let mut found = Vec::new();
    let keys = all_key_paths(model, family);
    let guards: BTreeSet<ColumnPath> =
        family.when.iter().map(|one| canonical(model, family.source, &one.path)).collect();
    let mut shown = available(model, family).clone();
    for (_, other) in schema.entries(family_id) {
        shown.extend(all_key_paths(model, other));
        shown.extend(asked_by_index(model, schema, other));
        shown.extend(available(model, other).iter().cloned());
    }
    let replaces = replaces(effect);
    let changes = changes(model, effect);
    let updates = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
    if family.source == effect.relation {
        let touched = |paths: &BTreeSet<ColumnPath>| {
            paths.iter().any(|path| path.first().is_some_and(|first| changes.contains(first)))
        };
        match effect.kind {
            // A new tuple that a sparse family does not hold asks nothing of it.
            EffectKind::Insert if !replaces && stays_out(model, family, effect) => {}
            EffectKind::Insert if replaces && (touched(&keys) || touched(&guards)) => {
                found.push(Need::Rekey);
            }
            EffectKind::Insert => found.push(Need::Put),
            EffectKind::Delete => found.push(Need::Delete),
            _ if effect.begins() => found.push(begins(model, family, effect, [&keys, &shown])),
            // Whatever else changes, the row is not there afterwards.
            _ if leaves(model, family, effect) => found.push(Need::Delete),
            _ if touched(&keys) || touched(&guards) => found.push(Need::Rekey),
            // A changed reference changes all that is copied through it: the row is put anew.
            _ if shown.iter().any(|path| {
                path.len() > 1 && path.first().is_some_and(|first| changes.contains(first))
            }) =>
            {
                found.push(Need::Rekey);
            }
            _ if touched(&shown) => found.push(Need::Patch),
            _ => {}
        }
    }
    if updates || replaces {
        found.extend(copies(model, family, effect, &changes, &keys, &guards, &shown));
    }
    found.extend(kept_changes(model, family, effect, (updates, replaces, &changes)));
    found
}

/// Returns the changes of lists, counts and sums that a family's rows keep of an effect's tuple.
fn kept_changes(
    model: &Model,
    family: &Family,
    effect: &Effect,
    (updates, replaces, changes): (bool, bool, &BTreeSet<usize>),
) -> Vec<Need> {
    let mut found = Vec::new();
    for stored in &family.stored {
        match stored {
            Stored::Collect { relation, .. } | Stored::Tally { relation, .. }
                if effect.begins() && *relation == effect.relation =>
            {
                let why = "rows keep something of what may begin to be".to_owned();
                found.push(Need::Unplanned(why));
            }
            Stored::Collect { relation, via, path, .. }
                if updates || (replaces && *relation != effect.relation) =>
            {
                let direct = *relation == effect.relation
                    && (changes.contains(via)
                        || path.first().is_some_and(|at| changes.contains(at)));
                let through =
                    path.len() > 1 && model.path_owner(*relation, path) == effect.relation;
                if direct || through {
                    found.push(Need::Unplanned(
                        "a collected list holds copies of what changes".to_owned(),
                    ));
                }
            }
            Stored::Tally { via, .. } => match Tally::of(stored).map(|one| one.turn(model, effect))
            {
                Some(Turn::Unplanned(why)) => found.push(Need::Unplanned(why.to_owned())),
                None | Some(Turn::Same) => {}
                Some(_) => found.push(Need::PatchParent { via: *via }),
            },
            Stored::Collect { relation, via, .. } if !updates && *relation == effect.relation => {
                found.push(Need::PatchParent { via: *via });
            }
            _ => {}
        }
    }
    found
}

/// Returns the change that an increment requires of a family's row, which may begin to be.
fn begins(
    model: &Model,
    family: &Family,
    effect: &Effect,
    [keys, shown]: [&BTreeSet<ColumnPath>; 2],
) -> Need {
    let own = |path: &ColumnPath| path.len() == 1;
    let adds = |path: &ColumnPath| effect.set.iter().any(|(at, _)| path.as_slice() == [*at]);
    let wrong = if !family.when.is_empty() {
        "not every tuple has a row, and one may begin to be"
    } else if keys.iter().any(adds) {
        "the key is made of what is added to, and the row may begin to be"
    } else if !keys.iter().chain(shown).all(own) {
        "the row may begin to be, and shows what lies behind a reference"
    } else if !available(model, family).iter().any(adds) {
        "the row may begin to be, and does not show what is added to"
    } else {
        return Need::Patch;
    };
    Need::Unplanned(wrong.to_owned())
}

/// Returns the attributes of an existing tuple that an effect may change.
pub(super) fn changes(model: &Model, effect: &Effect) -> BTreeSet<usize> {
    if !replaces(effect) {
        return effect.set.iter().map(|(column, _)| *column).collect();
    }
    let relation = model.relation(effect.relation);
    let lasts = |column: &usize| relation.columns.get(*column).is_some_and(Column::lasts);
    let columns = 0..relation.columns.len();
    columns.filter(|column| !relation.key().contains(column) && !lasts(column)).collect()
}

/// Returns true if a new tuple surely has no row in a family: an attribute of the key is absent, or
/// a condition of the family fails.
pub(crate) fn stays_out(model: &Model, family: &Family, effect: &Effect) -> bool {
    // What is known of an attribute: absent, a constant, or nothing.
    let told = |path: &[usize]| {
        let first = path.first()?;
        let column = model.relation(effect.relation).columns.get(*first)?;
        let value = match effect.key.iter().find(|(at, _)| at == first) {
            Some((_, Term::Const(value))) => value.clone(),
            Some(_) => return None,
            None if column.optional => Value::Null,
            None => return None,
        };
        (path.len() == 1 || value == Value::Null).then_some(value)
    };
    effect.kind == EffectKind::Insert
        && family.source == effect.relation
        && (all_key_paths(model, family).iter().any(|path| told(path) == Some(Value::Null))
            || family.when.iter().any(|guard| {
                let path = canonical(model, family.source, &guard.path);
                let values: Option<Vec<Value>> =
                    guard.values.iter().map(|value| value.compute(&|_| None)).collect();
                match (told(&path), values) {
                    (Some(value), Some(values)) => !compare(guard.op, &value, &values),
                    _ => false,
                }
            }))
}

/// Returns true if an effect may replace an existing tuple.
pub(crate) fn replaces(effect: &Effect) -> bool {
    effect.kind == EffectKind::Insert && effect.existing == Existing::Replace
}

/// Returns true if the values that an effect sets surely keep its tuple out of a sparse family.
fn leaves(model: &Model, family: &Family, effect: &Effect) -> bool {
    fails(model, family, &family.when, effect)
}

/// Returns true if the values that an update sets surely fail one of these conditions on a family's
/// rows.
pub(crate) fn fails(
    model: &Model,
    family: &Family,
    conditions: &[Predicate],
    effect: &Effect,
) -> bool {
    effect.kind == EffectKind::Update
        && conditions.iter().any(|guard| {
            let path = canonical(model, family.source, &guard.path);
            let set = effect.set.iter().find(|(column, _)| path.as_slice() == [*column]);
            let values: Option<Vec<Value>> =
                guard.values.iter().map(|value| value.compute(&|_| None)).collect();
            match (set, values) {
                (Some((_, Term::Const(value))), Some(values)) => !compare(guard.op, value, &values),
                _ => false,
            }
        })
}

/// Returns true if an update removes an attribute of a family's key, so that the tuple has no row
/// there.
pub(super) fn loses_key(model: &Model, family: &Family, effect: &Effect) -> bool {
    let taken = |path: &ColumnPath| {
        let set = effect.set.iter().find(|(column, _)| path.first() == Some(column));
        matches!(set, Some((_, Term::Const(Value::Null))))
    };
    effect.kind == EffectKind::Update && all_key_paths(model, family).iter().any(taken)
}

/// Adds copies of the changed relation's attributes, through each reference to it.
fn copies(
    model: &Model,
    family: &Family,
    effect: &Effect,
    changes: &BTreeSet<usize>,
    keys: &BTreeSet<ColumnPath>,
    guards: &BTreeSet<ColumnPath>,
    shown: &BTreeSet<ColumnPath>,
) -> Vec<Need> {
    let mut found = Vec::new();
    let hits = |path: &ColumnPath| {
        (1..path.len()).find(|at| {
            let head = path.get(..*at).unwrap_or(&[]);
            let owner = model.path_owner(family.source, head);
            let refers = head
                .last()
                .and_then(|last| model.relation(owner).columns.get(*last))
                .and_then(|c| c.refers);
            refers == Some(effect.relation)
                && path.get(*at).is_some_and(|column| changes.contains(column))
        })
    };
    for (paths, rekey) in [(keys, true), (guards, true), (shown, false)] {
        for path in paths {
            let need = match (hits(path), path.first()) {
                (None, _) | (_, None) => continue,
                (Some(at), _) if path.len() > at + 1 => {
                    Need::Unplanned("copies lie behind a reference that changes".to_owned())
                }
                (Some(1), Some(via)) if rekey => Need::RekeyCopies { via: *via },
                (Some(1), Some(via)) => Need::PatchCopies { via: *via },
                _ => Need::Unplanned("copies lie more than one reference away".to_owned()),
            };
            let covered = matches!(&need, Need::PatchCopies { via } if found.contains(&Need::RekeyCopies { via: *via }));
            if !covered && !found.contains(&need) {
                found.push(need);
            }
        }
    }
    found
}

/// Returns true if adding to a number does not change whether a condition holds: it asks whether the number
/// is there, and it is there anyway.
pub(crate) fn stays(model: &Model, effect: &Effect, condition: &Predicate) -> bool {
    let [column] = condition.path.as_slice() else { return false };
    let relation = model.relation(effect.relation);
    let compares = |one: &Predicate| one.path == [*column] && one.op != CondOp::Absent;
    let there = relation.columns.get(*column).is_some_and(|column| !column.optional)
        || effect.key.iter().any(|(at, _)| at == column)
        || effect.conditions.iter().any(compares);
    effect.kind == EffectKind::Increment
        && matches!(condition.op, CondOp::Present | CondOp::Absent)
        && there
}
