//! Computes the changes of a write to rows, and the steps that they take.
//!
//! Invariant: rows are worked out from states alone; what a plan does to them is not looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::shelf::{Line, RowKey, Rows, row, rows, rows_after};
use super::world::World;
use super::write_claims::moves_alone;
use super::write_families::{concerned, key_paths};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Schema, Stored, WriteStep, WriteStepKind};
use shelfmark_design_language::model::{ColumnPath, Model, Write};
use shelfmark_design_language::syntax::tree::Existing;

/// Rows that a write adds, removes and changes, by row family.
#[derive(Default)]
pub(super) struct Delta {
    added: BTreeMap<usize, usize>,
    removed: BTreeMap<usize, usize>,
    changed: BTreeMap<usize, usize>,
    /// The keys of removed rows.
    gone: BTreeSet<RowKey>,
}

impl Delta {
    pub(super) fn of(before: &Rows, after: &Rows) -> Self {
        let mut delta = Self::default();
        for (key, line) in after {
            match before.get(key) {
                Some(old) if old.family == line.family => {
                    if old != line {
                        *delta.changed.entry(line.family).or_default() += 1;
                    }
                }
                _ => *delta.added.entry(line.family).or_default() += 1,
            }
        }
        for (key, line) in before {
            if after.get(key).is_none_or(|new| new.family != line.family) {
                *delta.removed.entry(line.family).or_default() += 1;
                delta.gone.insert(key.clone());
            }
        }
        delta
    }

    /// Returns the number of changed rows of tables; entries of indexes are the engine's.
    pub(super) fn rows(&self, schema: &Schema) -> usize {
        let own = |(id, _): &(&usize, &usize)| {
            schema.families.get(**id).is_some_and(|family| family.base.is_none())
        };
        let all = self.added.iter().chain(&self.removed).chain(&self.changed);
        all.filter(own).map(|(_, count)| count).sum()
    }
}

/// Returns a family that changes and has fewer rows than sources.
pub(super) fn lost(world: &World<'_>, schema: &Schema, delta: &Delta) -> Option<usize> {
    let rows = rows(world, schema);
    let mut touched = delta.added.keys().chain(delta.changed.keys()).copied();
    touched.find(|id| loses(world, schema, &rows, *id))
}

/// Returns a family of a table from which rows are removed, if it has fewer rows than sources before;
/// one that the write does not concern only if the source of a removed row is among its own.
pub(super) fn lost_before(
    world: &World<'_>,
    schema: &Schema,
    write: &Write,
    delta: &Delta,
) -> Option<usize> {
    let rows = rows(world, schema);
    let table = |id: usize| schema.families.get(id).map(|family| family.table);
    let touched: Vec<_> = delta.removed.keys().map(|id| table(*id)).collect();
    (0..schema.families.len()).filter(|id| touched.contains(&table(*id))).find(|id| {
        let Some(family) = schema.families.get(*id) else { return false };
        if concerned(world.model, write, family) {
            return loses(world, schema, &rows, *id);
        }
        let mut keys =
            world.of(family.source).iter().filter_map(|one| row(world, *id, family, one));
        family.base.is_none() && keys.any(|(key, _)| delta.gone.contains(&(family.table, key)))
    })
}

/// Returns true if a family has fewer rows than sources.
pub(super) fn loses(world: &World<'_>, schema: &Schema, rows: &Rows, id: usize) -> bool {
    let Some(family) = schema.families.get(id).filter(|one| one.base.is_none()) else {
        return false;
    };
    let sources = world.of(family.source).iter();
    let wanted = sources.filter(|tuple| row(world, id, family, tuple).is_some()).count();
    rows.values().filter(|line: &&Line| line.family == id).count() < wanted
}

/// Checks that every change has its step; a row moves by a delete and then a put.
pub(super) fn covered(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    delta: &Delta,
) -> Result<(), String> {
    // What only comes and goes does not move, nor does what changes beside its key; where it meets
    // in one row is looked at elsewhere.
    let moves = |id: &usize| {
        let Some(family) = schema.families.get(*id) else { return true };
        let guards = family.when.iter().map(|one| one.path.clone());
        let held: Vec<ColumnPath> = key_paths(family).into_iter().chain(guards).collect();
        let heads = |column: &usize| held.iter().any(|path| path.first() == Some(column));
        // Through a reference, or by what of a tuple another one has that takes its place.
        let behind = held.iter().any(|path| path.len() > 1);
        let own = model.relation(family.source).key();
        let free = |path: &ColumnPath| path.first().is_some_and(|first| !own.contains(first));
        write.effects.iter().any(|effect| match effect.kind {
            EffectKind::Update | EffectKind::Increment if effect.relation == family.source => {
                effect.set.iter().any(|(column, _)| heads(column))
            }
            EffectKind::Update | EffectKind::Increment => behind,
            _ if effect.existing != Existing::Replace => false,
            _ => behind || effect.relation == family.source && held.iter().any(free),
        })
    };
    let find = |id: &usize, wanted: fn(&WriteStepKind) -> bool| {
        steps.iter().position(|step| step.families.contains(id) && wanted(&step.kind))
    };
    let change = |kind: &WriteStepKind| kind.is_patch() || kind.is_put();
    let own = |id: &&usize| schema.families.get(**id).is_some_and(|family| family.base.is_none());
    let name = |id: &usize| schema.families.get(*id).map_or("", |one| one.name.text.as_str());
    // What begins to be is put by the addition to it.
    let begins = |id: &usize| {
        let source = schema.families.get(*id).map(|family| family.source);
        let mut own = write.effects.iter().filter(|effect| Some(effect.relation) == source);
        own.any(Effect::begins) && find(id, WriteStepKind::is_patch).is_some()
    };
    for id in delta.added.keys().filter(own).filter(|id| !begins(id)) {
        let put = find(id, WriteStepKind::is_put)
            .ok_or_else(|| format!("no step puts the new rows of {}", name(id)))?;
        let late = find(id, WriteStepKind::is_delete).is_some_and(|delete| {
            let alone = steps.get(put).zip(steps.get(delete)).zip(schema.families.get(*id));
            let alone = alone.is_some_and(|((put, delete), family)| {
                moves_alone(model, write, family, [put, delete])
            });
            delete > put && !alone
        });
        if moves(id) && late && delta.removed.contains_key(id) {
            return Err(format!("{} is put before it is deleted", name(id)));
        }
    }
    for id in delta.removed.keys().filter(own) {
        find(id, WriteStepKind::is_delete)
            .ok_or_else(|| format!("no step deletes the old rows of {}", name(id)))?;
    }
    for id in delta.changed.keys().filter(own) {
        find(id, change).ok_or_else(|| format!("no step changes the rows of {}", name(id)))?;
    }
    Ok(())
}

/// The effect's change of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Added,
    Removed,
    Changed,
}

/// Checks that a row that one effect alone changes has a step that goes through a loop exactly if the
/// effect does, or if copies change with what they refer to.
pub(super) fn gone_to(
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    stages: &[World<'_>],
) -> Result<(), String> {
    if !stages.iter().all(World::is_state) {
        return Ok(());
    }
    let Some(first) = stages.first() else { return Ok(()) };
    let images = stages.iter().map(|world| rows_after(first, world, schema));
    let images: Vec<Rows> = images.collect();
    let mut fates: BTreeMap<_, Vec<(usize, Fate)>> = BTreeMap::new();
    for (at, pair) in images.windows(2).enumerate() {
        let [before, after] = pair else { continue };
        for (key, line, fate) in changes(before, after) {
            fates.entry((line.family, key)).or_default().push((at, fate));
        }
    }
    for ((id, _), fates) in &fates {
        let (Some(family), [(at, fate)]) = (schema.families.get(*id), fates.as_slice()) else {
            continue;
        };
        let Some(effect) = write.effects.get(*at).filter(|_| family.base.is_none()) else {
            continue;
        };
        let fits = |kind: &WriteStepKind| match fate {
            Fate::Added if effect.begins() => kind.is_patch(),
            Fate::Added => kind.is_put(),
            Fate::Removed => kind.is_delete(),
            Fate::Changed => kind.is_put() || kind.is_patch(),
        };
        let loops = effect.each.is_some();
        let copies = effect.relation != family.source;
        let mut own = steps.iter().filter(|step| step.families.contains(id) && fits(&step.kind));
        if !own.any(|step| step.kind.each().is_some() == loops || copies) {
            let name = &family.name.text;
            let how = if loops { "goes through the loop" } else { "stands outside of loops" };
            return Err(format!("no step that {how} changes the rows of {name}"));
        }
    }
    Ok(())
}

/// Returns the rows that differ between two images, with what became of each.
fn changes<'r>(before: &'r Rows, after: &'r Rows) -> Vec<(RowKey, &'r Line, Fate)> {
    let new = after.iter().filter(|(key, _)| !before.contains_key(*key));
    let all = before.iter().chain(new).filter_map(|(key, line)| {
        let fate = match (before.get(key), after.get(key)) {
            (None, _) => Fate::Added,
            (_, None) => Fate::Removed,
            (Some(old), Some(new)) if old != new => Fate::Changed,
            _ => return None,
        };
        Some((key.clone(), line, fate))
    });
    all.collect()
}

/// Returns true if a row that is put is changed afterwards by additions to its numbers alone, whatever
/// was read before.
fn only_adds(write: &Write, family: &Family) -> bool {
    let plain = |stored: &Stored| match stored {
        Stored::Path(path) => path.len() == 1,
        Stored::Tally { .. } => true,
        Stored::Collect { .. } => false,
    };
    let mut own = write.effects.iter().filter(|effect| effect.relation == family.source);
    family.stored.iter().all(plain) && own.all(|effect| effect.kind == EffectKind::Insert)
}

/// Checks that the steps change a row in the order of the effects, where two effects concern it.
pub(super) fn in_order(
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    stages: &[World<'_>],
) -> Result<(), String> {
    // What refers to something that a later effect makes is looked at together with it.
    let states = stages.iter().filter(|world| world.is_state());
    let Some(first) = stages.first() else { return Ok(()) };
    let images: Vec<Rows> = states.map(|world| rows_after(first, world, schema)).collect();
    let mut fates: BTreeMap<_, Vec<Fate>> = BTreeMap::new();
    for pair in images.windows(2) {
        let [before, after] = pair else { continue };
        for (key, line, fate) in changes(before, after) {
            if schema.families.get(line.family).is_some_and(|family| family.base.is_none()) {
                fates.entry((line.family, key)).or_default().push(fate);
            }
        }
    }
    for ((id, _), fates) in fates.iter().filter(|(_, fates)| fates.len() > 1) {
        let Some(family) = schema.families.get(*id) else { continue };
        let place = |wanted: fn(&WriteStepKind) -> bool| {
            steps.iter().position(|step| step.families.contains(id) && wanted(&step.kind))
        };
        let put = place(WriteStepKind::is_put);
        let delete = place(WriteStepKind::is_delete);
        let patch = place(WriteStepKind::is_patch);
        let unread = |until: Option<usize>| {
            !steps.iter().take(until.unwrap_or(0)).any(|step| {
                let mut read = step.families.iter().filter_map(|id| schema.families.get(*id));
                step.kind.is_read() && read.any(|other| other.source == family.source)
            })
        };
        // What is put in the place of another changes its row by a put.
        let replaced = write
            .effects
            .iter()
            .any(|effect| effect.relation == family.source && effect.existing == Existing::Replace);
        let mut own = write.effects.iter().filter(|effect| effect.relation == family.source);
        let mut from_put = own.clone().skip_while(|effect| effect.kind != EffectKind::Insert);
        let replaced_last = from_put.all(|later| later.existing == Existing::Replace);
        let replaced_first = own.next().is_some_and(|first| first.existing == Existing::Replace)
            && own.all(|later| later.existing != Existing::Replace);
        let follows = |first: Option<usize>, then: Option<usize>| first.is_some() && first < then;
        let pairs = fates.windows(2).all(|pair| match pair {
            [Fate::Removed, Fate::Added] => follows(delete, put),
            [Fate::Added, Fate::Removed] => follows(put, delete) && unread(delete),
            [Fate::Added, Fate::Changed] if patch.is_none() => put.is_some() && replaced,
            [Fate::Added, Fate::Changed] if replaced_last => follows(patch, put),
            [Fate::Added, Fate::Changed] => {
                follows(put, patch) && (unread(patch) || only_adds(write, family))
            }
            [Fate::Changed, Fate::Removed] => delete.is_some(),
            [Fate::Changed, Fate::Changed] if patch.is_none() => put.is_some() && replaced,
            [Fate::Changed, Fate::Changed] if replaced_first => follows(put, patch),
            [Fate::Changed, Fate::Changed] => !replaced || follows(patch, put),
            _ => false,
        });
        // What changed a row before it went does not come to the one that is put in its place.
        let changed = fates.iter().position(|fate| *fate == Fate::Changed);
        let added = fates.iter().rposition(|fate| *fate == Fate::Added);
        let right = pairs && !(changed.is_some() && changed < added && !follows(patch, put));
        if !right {
            let name = &family.name.text;
            return Err(format!("two effects come to one row of {name}, the steps do not"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
