//! What each step of a write's plan may do: by what it knows, in which order, and to which rows.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use std::collections::{BTreeMap, BTreeSet};

use super::rules::{formable, in_key, keyed_alone};
use super::shelf::{short, shown};
use crate::model::pattern::{Effect, EffectKind};
use crate::model::schema::{Family, Part, Schema, Stored, WriteStep, WriteStepKind};
use crate::model::{ColumnPath, Model, Term, Value, Write};
use crate::syntax::tree::{CondOp, Existing};
use crate::target::profile;

/// Where a transaction takes one operation for an item, no item is put and patched in one.
pub(super) fn once_each(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if !profile(&schema.target).is_some_and(|target| target.one_operation_per_item) {
        return Ok(());
    }
    let mut changed: BTreeMap<(usize, usize), Vec<&WriteStepKind>> = BTreeMap::new();
    for step in steps.iter().filter(|step| !step.kind.is_read()) {
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
        new && kinds.iter().all(|kind| kind.is_put())
            || schema.families.get(*id).is_some_and(|family| one_each(model, family, write))
            || matches!(
                kinds.as_slice(),
                [_] | [WriteStepKind::Delete { .. }, WriteStepKind::Put { .. }]
            )
    });
    if fine { Ok(()) } else { Err("O1: one transaction changes one item twice".to_owned()) }
}

/// The constant that an effect gives for an attribute.
fn constant(effect: &Effect, column: usize) -> Option<&Value> {
    effect.key.iter().find_map(|(at, term)| match term {
        Term::Const(value) if *at == column => Some(value),
        _ => None,
    })
}

/// No effect selects by what an earlier one changes of a tuple that may be the same: reads before both
/// tell how it was.
pub(super) fn selected_once(model: &Model, write: &Write) -> Result<(), String> {
    for (at, first) in write.effects.iter().enumerate() {
        let relation = model.relation(first.relation);
        let changes = |column: &usize| match (first.kind, first.existing) {
            (EffectKind::Insert, Existing::Replace) => !relation.key().contains(column),
            (EffectKind::Update | EffectKind::Increment, _) => {
                first.set.iter().any(|(set, _)| set == column)
            }
            _ => false,
        };
        for second in write.effects.iter().skip(at + 1) {
            let two = relation.key().iter().any(|column| {
                let values = (constant(first, *column), constant(second, *column));
                !changes(column) && matches!(values, (Some(a), Some(b)) if a != b)
            });
            let mut selected = second.key.iter().map(|(column, _)| column);
            if second.relation == first.relation
                && second.kind != EffectKind::Insert
                && !two
                && selected.any(changes)
            {
                let name = &relation.name.text;
                return Err(format!("O4: a {name} is selected by what was changed before"));
            }
        }
    }
    Ok(())
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

/// A step changes only rows that some effect can concern. (A patch of others finds nothing to do.)
pub(super) fn concerns(
    model: &Model,
    schema: &Schema,
    write: &Write,
    step: &WriteStep,
) -> Result<(), String> {
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
pub(super) fn concerned(model: &Model, write: &Write, family: &Family) -> bool {
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

/// Whether an update sets something of the rows of a family, or of its entries in indexes.
fn touches(model: &Model, schema: &Schema, family: &Family, effect: &Effect) -> bool {
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

/// What may be there already, or may not be there, is looked up before it is put or counted.
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
            let read = steps.iter().take(at).any(|step| {
                step.kind.is_read()
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
                    let guards = family.when.iter().map(|one| &one.path);
                    let told = |path: &ColumnPath| key.contains(&short(model, family.source, path));
                    let alone = key_paths(family).iter().chain(guards).all(told)
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

pub(super) fn key_paths(family: &Family) -> Vec<ColumnPath> {
    let mut paths = Vec::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| paths.push(path.clone()));
        }
    }
    paths
}

/// Whether the keys of a step can be computed from inputs and from what was read before.
pub(super) fn computable(
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
