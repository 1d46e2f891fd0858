//! Writes, checked by what they must change: on drawn states the rows before and after are compared
//! row family by row family, and the plan must have a step for each change, with keys that it can
//! know, and no step for what the write does not concern.
//!
//! What it is not: it runs no plan of a write. That is done on the engine, by the confirmation.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::meaning::{after, one_by_one};
use super::rules::{formable, in_key, keyed_alone};
use super::shelf::{Cell, Line, Rows, row, rows, short, shown};
use super::world::{Dice, World, draw_inputs, words};
use super::{RUNS, plan, uses_of};
use crate::certificate::{Certificate, Status, text};
use crate::model::pattern::{Effect, EffectKind};
use crate::model::schema::{Family, Part, Schema, Stored, WritePlan, WriteStep, WriteStepKind};
use crate::model::{ColumnPath, Model, Term, Type, Value, Write};
use crate::syntax::tree::{CondOp, Existing};
use crate::target::profile;

pub(super) fn check(
    model: &Model,
    schema: &Schema,
    index: usize,
    write: &Write,
    certificate: &Certificate,
) -> Result<String, String> {
    let named = schema.writes.iter().find(|plan| plan.write == index);
    let named = named.map(|plan| serde_json::to_value(&plan.steps).unwrap_or_default());
    if named.as_ref().is_some_and(|named| *named != certificate.plan) {
        return Err("its plan is not the one that the schema names".to_owned());
    }
    let steps: Vec<WriteStep> = plan(certificate)?;
    if steps.iter().flat_map(|step| &step.families).any(|id| *id >= schema.families.len()) {
        return Err("its plan writes no rows of the schema".to_owned());
    }
    let whole = WritePlan { write: index, steps, span: write.span, derived: named.is_none() };
    if text::write_steps(schema, &whole) != certificate.steps {
        return Err("its words are not those of its plan".to_owned());
    }
    let tables = certificate.ranges.iter().map(|range| range.table.as_str());
    for table in tables {
        let touched = schema.families.iter().any(|family| {
            let name = schema.tables.get(family.table).map(|table| table.name.text.as_str());
            name == Some(table) && family.base.is_none()
        });
        if !touched {
            return Err(format!("it speaks of keys in {table}, where no rows are"));
        }
    }
    match certificate.status {
        Status::Certified => certified(model, schema, write, &whole.steps, certificate),
        Status::Refused => refused(model, schema, write, certificate),
        _ => Err("a write is certified or refused".to_owned()),
    }
}

fn certified(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    certificate: &Certificate,
) -> Result<String, String> {
    for (at, step) in steps.iter().enumerate() {
        early(schema, write, steps, at)?;
        asked(model, schema, write, (steps, at))?;
        concerns(model, schema, write, step)?;
        found_by_key(model, schema, write, (steps, at))?;
        looked_up(model, schema, write, steps, at)?;
        computable(model, schema, write, steps, at)?;
    }
    once_each(model, schema, write, steps)?;
    let mut dice = Dice::new(&certificate.model, &certificate.schema, &certificate.pattern);
    let words = words(schema);
    let uses = uses_of(write);
    let uses: Vec<_> = uses.iter().map(|(of, predicates)| (*of, predicates)).collect();
    let mut defined = 0;
    for attempt in 0..RUNS {
        let world = World::draw(model, &words, &mut dice, 1 + attempt % 4);
        let inputs = draw_inputs(&world, &write.params, &uses, None, &words, &mut dice);
        let Some(stages) = one_by_one(&world, write, &inputs) else { continue };
        let Some(changed) = stages.last() else { continue };
        defined += 1;
        in_order(schema, steps, &stages).map_err(|why| format!("O4: state {attempt}: {why}"))?;
        let delta = Delta::of(&rows(&world, schema), &rows(changed, schema));
        let loses = lost(changed, schema, &delta);
        if let Some(family) = loses {
            let name = schema.families.get(family).map_or("", |one| one.name.text.as_str());
            return Err(format!("O4: state {attempt} has two sources for one row of {name}"));
        }
        covered(schema, write, steps, &delta)
            .map_err(|why| format!("O4: state {attempt}: {why}"))?;
        let most: Option<usize> = certificate.rows_max.parse().ok();
        if most.is_some_and(|most| delta.rows(schema) > most) {
            return Err(format!("O9: state {attempt} changes more rows than stated"));
        }
    }
    if certificate.rows_max != "unbounded" && certificate.rows_max.parse::<usize>().is_err() {
        return Err("O9: the number of rows is none".to_owned());
    }
    Ok(format!("steps and {defined} changes of {RUNS} states"))
}

/// Where a transaction takes one operation for an item, no item is put and patched in one.
fn once_each(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if !profile(&schema.target).is_some_and(|target| target.one_operation_per_item) {
        return Ok(());
    }
    let mut changed: BTreeMap<(usize, usize), Vec<&WriteStepKind>> = BTreeMap::new();
    for step in steps.iter().filter(|step| !matches!(step.kind, WriteStepKind::Read { .. })) {
        let Some(transaction) = step.transaction else { continue };
        for id in &step.families {
            changed.entry((transaction, *id)).or_default().push(&step.kind);
        }
    }
    let fine = changed.iter().all(|((_, id), kinds)| {
        let source = schema.families.get(*id).map(|family| family.source);
        // Two puts of what is new never meet.
        let mut own = write.effects.iter().filter(|effect| Some(effect.relation) == source);
        let new = own
            .all(|effect| effect.kind == EffectKind::Insert && effect.existing == Existing::Fresh);
        new && kinds.iter().all(|kind| matches!(kind, WriteStepKind::Put { .. }))
            || schema.families.get(*id).is_some_and(|family| one_each(model, family, write))
            || matches!(
                kinds.as_slice(),
                [_] | [WriteStepKind::Delete { .. }, WriteStepKind::Put { .. }]
            )
    });
    if fine { Ok(()) } else { Err("O1: one transaction changes one item twice".to_owned()) }
}

/// Whether every effect of a write that can concern a family's rows names another of them by a
/// constant, and moves none.
fn one_each(model: &Model, family: &Family, write: &Write) -> bool {
    let own: Vec<&Effect> = write.effects.iter().collect();
    let keys = key_paths(family);
    let plain = |effect: &&Effect| {
        effect.relation == family.source
            && effect.each.is_none()
            && effect.existing != Existing::Replace
            && !effect.set.iter().any(|(at, _)| {
                keys.iter()
                    .chain(family.when.iter().map(|one| &one.path))
                    .any(|path| path.first() == Some(at))
            })
    };
    let constant = |effect: &Effect, column: usize| {
        effect.key.iter().find_map(|(at, term)| match term {
            Term::Const(value) if *at == column => Some(value.clone()),
            _ => None,
        })
    };
    let named = model.relation(family.source).key().iter();
    let named: Vec<usize> = named.copied().filter(|at| keys.contains(&vec![*at])).collect();
    let told = |a: &Effect, b: &Effect| {
        named.iter().any(|at| {
            let values = (constant(a, *at), constant(b, *at));
            matches!(values, (Some(a), Some(b)) if a != b)
        })
    };
    let pairs = own.iter().enumerate();
    own.iter().all(plain)
        && pairs.clone().all(|(at, a)| own.iter().skip(at + 1).all(|b| told(a, b)))
}

/// What is read after it was changed does not tell how it was.
fn early(schema: &Schema, write: &Write, steps: &[WriteStep], at: usize) -> Result<(), String> {
    let is_read = |step: &WriteStep| matches!(step.kind, WriteStepKind::Read { .. });
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

/// Whether a write makes a tuple that surely has no row in a family, because it leaves out what the
/// key holds or the family asks for.
fn left_out(model: &Model, write: &Write, family: &Family) -> bool {
    let [effect] = write.effects.as_slice() else { return false };
    let given = |column: &usize| effect.key.iter().any(|(at, _)| at == column);
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

/// Whether a read can be asked: by values that are there before it, and as many as its key needs.
fn asked(
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
                let given = effect.key.iter();
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
            let fixed: BTreeSet<ColumnPath> =
                wanted.iter().map(|(path, _)| short(model, family.source, path)).collect();
            if !formable(model, schema, family, &fixed) {
                return Err(format!("O1: the partition of {name} is not known to its read"));
            }
        }
    }
    Ok(())
}

/// Rows that a write adds, removes and changes, by row family.
#[derive(Default)]
struct Delta {
    added: BTreeMap<usize, usize>,
    removed: BTreeMap<usize, usize>,
    changed: BTreeMap<usize, usize>,
}

impl Delta {
    fn of(before: &Rows, after: &Rows) -> Self {
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
            }
        }
        delta
    }

    /// Rows of tables; entries of indexes are the engine's.
    fn rows(&self, schema: &Schema) -> usize {
        let own = |(id, _): &(&usize, &usize)| {
            schema.families.get(**id).is_some_and(|family| family.base.is_none())
        };
        let all = self.added.iter().chain(&self.removed).chain(&self.changed);
        all.filter(own).map(|(_, count)| count).sum()
    }
}

/// A family that changes and has fewer rows than sources.
fn lost(world: &World<'_>, schema: &Schema, delta: &Delta) -> Option<usize> {
    let rows = rows(world, schema);
    delta.added.keys().chain(delta.changed.keys()).copied().find(|id| {
        let Some(family) = schema.families.get(*id).filter(|one| one.base.is_none()) else {
            return false;
        };
        let sources = world.of(family.source).iter();
        let wanted = sources.filter(|tuple| row(world, *id, family, tuple).is_some()).count();
        rows.values().filter(|line: &&Line| line.family == *id).count() < wanted
    })
}

/// Every change has its step; a row moves by a delete and then a put.
fn covered(
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    delta: &Delta,
) -> Result<(), String> {
    // What only comes and goes does not move; where it meets in one row is looked at elsewhere.
    let moves = write.effects.iter().any(|effect| {
        matches!(effect.kind, EffectKind::Update | EffectKind::Increment)
            || effect.existing != Existing::Fresh
    });
    let find = |id: &usize, wanted: fn(&WriteStepKind) -> bool| {
        steps.iter().position(|step| step.families.contains(id) && wanted(&step.kind))
    };
    let put = |kind: &WriteStepKind| matches!(kind, WriteStepKind::Put { .. });
    let delete = |kind: &WriteStepKind| matches!(kind, WriteStepKind::Delete { .. });
    let change = |kind: &WriteStepKind| {
        matches!(kind, WriteStepKind::Patch { .. } | WriteStepKind::Put { .. })
    };
    let own = |id: &&usize| schema.families.get(**id).is_some_and(|family| family.base.is_none());
    let name = |id: &usize| schema.families.get(*id).map_or("", |one| one.name.text.as_str());
    for id in delta.added.keys().filter(own) {
        let put =
            find(id, put).ok_or_else(|| format!("no step puts the new rows of {}", name(id)))?;
        let late = find(id, delete).is_some_and(|delete| delete > put);
        if moves && late && delta.removed.contains_key(id) {
            return Err(format!("{} is put before it is deleted", name(id)));
        }
    }
    for id in delta.removed.keys().filter(own) {
        find(id, delete).ok_or_else(|| format!("no step deletes the old rows of {}", name(id)))?;
    }
    for id in delta.changed.keys().filter(own) {
        find(id, change).ok_or_else(|| format!("no step changes the rows of {}", name(id)))?;
    }
    Ok(())
}

/// What one effect does to a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Added,
    Removed,
    Changed,
}

/// Where two effects come to one row, the steps do what the effects do, in their order.
fn in_order(schema: &Schema, steps: &[WriteStep], stages: &[World<'_>]) -> Result<(), String> {
    if stages.len() < 3 {
        return Ok(());
    }
    let mut fates: BTreeMap<_, Vec<Fate>> = BTreeMap::new();
    let images: Vec<Rows> = stages.iter().map(|world| rows(world, schema)).collect();
    for pair in images.windows(2) {
        let [before, after] = pair else { continue };
        let new = after.iter().filter(|(key, _)| !before.contains_key(*key));
        for (key, line) in before.iter().chain(new) {
            let fate = match (before.get(key), after.get(key)) {
                (None, _) => Fate::Added,
                (_, None) => Fate::Removed,
                (Some(old), Some(new)) if old != new => Fate::Changed,
                _ => continue,
            };
            if schema.families.get(line.family).is_some_and(|family| family.base.is_none()) {
                fates.entry((line.family, key.clone())).or_default().push(fate);
            }
        }
    }
    for ((id, _), fates) in fates.iter().filter(|(_, fates)| fates.len() > 1) {
        let Some(family) = schema.families.get(*id) else { continue };
        let place = |wanted: fn(&WriteStepKind) -> bool| {
            steps.iter().position(|step| step.families.contains(id) && wanted(&step.kind))
        };
        let put = place(|kind| matches!(kind, WriteStepKind::Put { .. }));
        let delete = place(|kind| matches!(kind, WriteStepKind::Delete { .. }));
        let patch = place(|kind| matches!(kind, WriteStepKind::Patch { .. }));
        let unread = |until: Option<usize>| {
            !steps.iter().take(until.unwrap_or(0)).any(|step| {
                let mut read = step.families.iter().filter_map(|id| schema.families.get(*id));
                matches!(step.kind, WriteStepKind::Read { .. })
                    && read.any(|other| other.source == family.source)
            })
        };
        let follows = |first: Option<usize>, then: Option<usize>| first.is_some() && first < then;
        let right = match fates.as_slice() {
            [Fate::Removed, Fate::Added] => follows(delete, put),
            [Fate::Added, Fate::Removed] => follows(put, delete) && unread(delete),
            [Fate::Added, Fate::Changed] => follows(put, patch) && unread(patch),
            [Fate::Changed, Fate::Removed] => delete.is_some(),
            all => patch.is_some() && all.iter().all(|fate| *fate == Fate::Changed),
        };
        if !right {
            let name = &family.name.text;
            return Err(format!("two effects come to one row of {name}, the steps do not"));
        }
    }
    Ok(())
}

/// A step changes only rows that some effect can concern. (A patch of others finds nothing to do.)
fn concerns(model: &Model, schema: &Schema, write: &Write, step: &WriteStep) -> Result<(), String> {
    if matches!(step.kind, WriteStepKind::Read { .. } | WriteStepKind::Patch { .. }) {
        return Ok(());
    }
    let mut families = step.families.iter().filter_map(|id| schema.families.get(*id));
    match families.find(|family| !concerned(model, write, family)) {
        Some(family) => Err(format!("the plan changes {}, the write does not", family.name.text)),
        None => Ok(()),
    }
}

/// Whether some effect of a write can concern a family's rows.
fn concerned(model: &Model, write: &Write, family: &Family) -> bool {
    write.effects.iter().any(|effect| {
        let kept = family.stored.iter().any(|stored| match stored {
            Stored::Collect { relation, .. } | Stored::Count { relation, .. } => {
                *relation == effect.relation
            }
            Stored::Path(path) => reaches(model, family, path, effect),
        });
        let in_key = key_paths(family);
        family.source == effect.relation
            || kept
            || in_key.iter().any(|path| reaches(model, family, path, effect))
            || family.when.iter().any(|one| reaches(model, family, &one.path, effect))
    })
}

/// A row is found by its key alone: all that a write selects by must stand in that key, or in what
/// was read of the tuple before, or a row that does not fit is changed too.
fn found_by_key(
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
                let given = |column: &usize| effect.key.iter().any(|(at, _)| at == column);
                let mut keys = model.relation(effect.relation).keys.iter();
                let own = keys.find(|key| key.iter().all(given)).cloned().unwrap_or_default();
                other.source == effect.relation
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
            let own = effect.relation == family.source;
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
            // The tuples that a loop goes through are there.
            let looped = effect.each.as_ref().is_some_and(|each| each.relation == family.source);
            let mut selected = effect.key.iter().map(|(column, _)| vec![*column]);
            let told = selected.all(|path| in_key.contains(&path));
            if !told && !looped && !looked_up(effect) {
                let name = &family.name.text;
                return Err(format!("O4: {name} is changed whatever else the write selects by"));
            }
        }
    }
    Ok(())
}

/// What may be there already, or may not be there, is looked up before it is put or counted.
fn looked_up(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    at: usize,
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
        for effect in &write.effects {
            let read = steps.iter().take(at).any(|step| {
                matches!(step.kind, WriteStepKind::Read { .. })
                    && step
                        .families
                        .iter()
                        .filter_map(|id| schema.families.get(*id))
                        .any(|other| other.source == effect.relation && other.when.is_empty())
            });
            let keeps = family.stored.iter().any(|stored| match stored {
                Stored::Collect { relation, .. } | Stored::Count { relation, .. } => {
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
                        .filter(|other| !left_out(model, write, other));
                    // A put on a condition sees for itself.
                    let alone = key_paths(family).iter().all(|path| key.contains(path))
                        && family.when.is_empty()
                        && (effect.existing == Existing::Replace || own.count() == 1);
                    if !alone && !read && !left_out(model, write, family) {
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
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether a path goes through what an effect changes.
fn reaches(model: &Model, family: &Family, path: &[usize], effect: &Effect) -> bool {
    (2..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or(&[]);
        model.path_owner(family.source, head) == effect.relation
    })
}

fn key_paths(family: &Family) -> Vec<ColumnPath> {
    let mut paths = Vec::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| paths.push(path.clone()));
        }
    }
    paths
}

/// Whether the keys of a step can be computed from inputs and from what was read before.
fn computable(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
    at: usize,
) -> Result<(), String> {
    let Some(step) = steps.get(at) else { return Ok(()) };
    let (puts, looped) = match &step.kind {
        WriteStepKind::Read { .. } => return Ok(()),
        WriteStepKind::Put { each } => (true, each),
        WriteStepKind::Delete { each } | WriteStepKind::Patch { each } => (false, each),
    };
    if let Some(alias) = looped {
        let read = |step: &WriteStep| matches!(&step.kind, WriteStepKind::Read { alias: Some(name), .. } if name == alias);
        if !steps.iter().take(at).any(read) {
            return Err(format!("O1: nothing is read as {alias} before the loop over it"));
        }
    }
    let families = step.families.iter().filter_map(|id| schema.families.get(*id));
    for family in
        families.filter(|family| concerned(model, write, family) && !left_out(model, write, family))
    {
        let mut known = BTreeSet::new();
        for effect in &write.effects {
            known.extend(given(model, family, effect, write));
        }
        for read in steps.iter().take(at) {
            let WriteStepKind::Read { .. } = &read.kind else { continue };
            for other in read.families.iter().filter_map(|id| schema.families.get(*id)) {
                known.extend(seen(model, family, other));
            }
        }
        let mut wanted: Vec<ColumnPath> =
            key_paths(family).iter().map(|path| short(model, family.source, path)).collect();
        if puts {
            wanted.extend(shown(model, family));
        } else if !family.when.is_empty() && !keyed_alone(model, family) {
            // Another's row may lie under the key of a tuple that the family does not hold.
            let guards = family.when.iter();
            wanted.extend(guards.map(|one| short(model, family.source, &one.path)));
        }
        // A list or count of the parent is found by what the child refers to.
        let parents = family.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
        if let Some(path) = wanted.iter().find(|path| !known.contains(*path) && !parents) {
            let name = model.path_text(family.source, path);
            return Err(format!("O1: {name} of {} is not known", family.name.text));
        }
    }
    Ok(())
}

/// What an effect gives of a family's attributes.
fn given(model: &Model, family: &Family, effect: &Effect, write: &Write) -> Vec<ColumnPath> {
    let mut known = Vec::new();
    let columns = &model.relation(family.source).columns;
    if effect.relation == family.source {
        known.extend(effect.key.iter().map(|(column, _)| vec![*column]));
        // A sum is known only where what was there is.
        if effect.kind != EffectKind::Increment {
            known.extend(effect.set.iter().map(|(column, _)| vec![*column]));
        }
        if effect.kind == EffectKind::Insert {
            let optional = columns.iter().enumerate().filter(|(_, column)| column.optional);
            known.extend(optional.map(|(at, _)| vec![at]));
        }
        // Behind a reference that is left out or taken away everything is absent.
        let terms = || effect.key.iter().chain(&effect.set);
        for (at, column) in columns.iter().enumerate() {
            let mut given = terms().filter(|(column, _)| *column == at).peekable();
            let left_out = effect.kind == EffectKind::Insert && given.peek().is_none();
            let taken = given.any(|(_, term)| *term == Term::Const(Value::Null));
            if let (true, Some(target)) = (left_out || taken, column.refers) {
                let inner = 0..model.relation(target).columns.len();
                known.extend(inner.map(|inner| short(model, family.source, &[at, inner])));
            }
        }
        for (column, term) in &effect.key {
            let target = columns.get(*column).and_then(|column| column.refers);
            let made = write.effects.iter().filter(|other| {
                other.kind == EffectKind::Insert
                    && Some(other.relation) == target
                    && other.key.iter().any(|(_, value)| value == term)
            });
            for other in made {
                let inner = 0..model.relation(other.relation).columns.len();
                known.extend(inner.map(|at| short(model, family.source, &[*column, at])));
            }
        }
    }
    // What is set on the far side of a reference.
    for (via, column) in columns.iter().enumerate() {
        if column.refers == Some(effect.relation) {
            known.extend(effect.set.iter().map(|(at, _)| short(model, family.source, &[via, *at])));
        }
    }
    known
}

/// What a row that was read tells of a family's attributes.
fn seen(model: &Model, family: &Family, other: &Family) -> Vec<ColumnPath> {
    let paths = shown(model, other);
    let mut known = Vec::new();
    if other.source == family.source {
        known.extend(paths.iter().cloned());
    }
    for (via, column) in model.relation(family.source).columns.iter().enumerate() {
        if column.refers == Some(other.source) {
            let whole = paths.iter().map(|path| {
                let path: ColumnPath = std::iter::once(via).chain(path.iter().copied()).collect();
                short(model, family.source, &path)
            });
            known.extend(whole);
        }
    }
    known
}

/// The witness of a refusal, when it is a state: the rows of the changed state are worked out again,
/// and what the plan left must be something else.
fn refused(
    model: &Model,
    schema: &Schema,
    write: &Write,
    certificate: &Certificate,
) -> Result<String, String> {
    let witness = certificate.witness.as_ref().ok_or("a refusal without a witness")?;
    let kind = witness.get("kind").and_then(Json::as_str).unwrap_or("");
    let Some(state) = witness.get("state") else {
        if kind == "state" && witness.get("found") == Some(&Json::Bool(false)) {
            return Ok("refused, and no state was found that shows why".to_owned());
        }
        let missing = witness.get("missing").and_then(Json::as_str);
        if kind == "call" && missing == Some(certificate.reason.as_str()) {
            return Ok("its call cannot be formed".to_owned());
        }
        return Err("its witness shows nothing".to_owned());
    };
    let world = World::of_json(model, state)?;
    let call = witness.get("call").unwrap_or(&Json::Null);
    let inputs = super::witness::inputs(&write.params, call)?;
    let changed = after(&world, write, &inputs).ok_or("the witness's call is not defined")?;
    let right = rows(&changed, schema);
    let list = json(model, schema, &right);
    if witness.get("right") != Some(&list) {
        return Err("the changed state has other rows than the witness says".to_owned());
    }
    // A row of two sources is lost whether this change made it or an earlier one.
    let delta = Delta::of(&Rows::new(), &right);
    let collapses = lost(&changed, schema, &delta).is_some();
    let fails = witness.get("error").is_some();
    let differs = witness.get("plan").is_some_and(|plan| *plan != list);
    if kind == "state" && (fails || collapses || differs) {
        return Ok("its witness is a state with a defined change".to_owned());
    }
    Err("its witness shows nothing".to_owned())
}

/// Rows as witnesses write them.
fn json(model: &Model, schema: &Schema, rows: &Rows) -> Json {
    let mut list = Vec::new();
    for ((table, key), line) in rows {
        let Some(table) = schema.tables.get(*table).filter(|table| !table.is_index) else {
            continue;
        };
        let key = key.iter().map(|cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Typed(value) => value.text(&Type::Int(None)),
        });
        let source = schema.families.get(line.family).map_or(0, |family| family.source);
        let shown = line.shown.iter().map(|(path, value)| (model.path_text(source, path), value));
        let kept = line.kept.iter().map(|(name, value)| (name.clone(), value));
        list.push(text::row(&table.name.text, key, shown.chain(kept)));
    }
    Json::Array(list)
}
