//! Verifies plans of reads whose row types have limits of their own, and plans with several requests.
//!
//! A range that holds several row types ends behind the last row that is asked for only where all types
//! but the last are one row each, to which the rows of the last refer. Requests beside one another share
//! the row types out among them, each with the limit of what it reads.
//!
//! Invariant: passes a plan only when none of its ranges ends early or late for any row type.

use super::known;
use crate::shelf::short;
use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::schema::{Codec, Family, Part, ReadStep, Schema, Step};
use shelfmark_design_language::model::{Model, OrderKey, Read, Term, Value};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Verb};

/// Returns the first request of a plan and those beside it.
pub(in super::super) fn requests(steps: &[Step]) -> Vec<&ReadStep> {
    let also = steps.iter().skip(1).take_while(|step| matches!(step, Step::Also(_)));
    steps.iter().take(1).chain(also).filter_map(Step::read).collect()
}

/// Returns the row types that each request is for, by their places in the read.
pub(super) fn shares(
    model: &Model,
    schema: &Schema,
    read: &Read,
    requests: &[&ReadStep],
) -> Result<Vec<Vec<usize>>, String> {
    let mut shares = vec![Vec::new(); requests.len()];
    for (at, source) in read.sources.iter().enumerate() {
        let mut holds = requests.iter().enumerate().filter(|(_, step)| {
            let mut own = schema.families.iter().filter(|family| family.table == step.table);
            own.any(|family| family.source == source.relation && may_lie(step, family))
        });
        let name = &model.relation(source.relation).name.text;
        let share = match (holds.next(), holds.next()) {
            (Some((place, _)), None) => shares.get_mut(place),
            (None, _) => return Err(format!("O4: the plan reads no rows of {name}")),
            _ => return Err(format!("O4: two requests may read rows of {name}")),
        };
        share.ok_or("no such request")?.push(at);
    }
    if shares.iter().any(Vec::is_empty) {
        return Err("O3: a request reads no row type of the read".to_owned());
    }
    Ok(shares)
}

/// Returns false if no row of a family lies in a range, because a column begins otherwise.
fn may_lie(step: &ReadStep, family: &Family) -> bool {
    let begins = step.bounds.iter().filter(|(kind, _)| *kind == BoundKind::Begins);
    let asked = step.bound.iter().chain(begins.map(|(_, parts)| parts));
    let alike = asked.zip(&family.key).all(|(asked, column)| {
        let (whole, text) = beginning(asked);
        let (ends, own) = beginning(&column.parts);
        // What is read whole, and what a row has whole, goes on with nothing.
        match (whole, ends) {
            (true, true) => text == own,
            (true, false) => text.starts_with(&own),
            (false, true) => own.starts_with(&text),
            (false, false) => text.starts_with(&own) || own.starts_with(&text),
        }
    });
    let ranged = family.key.get(step.bound.len());
    alike
        && ranged.is_none_or(|column| {
            step.bounds.iter().all(|(kind, end)| !is_outside(*kind, end, &column.parts))
        })
}

/// Returns true if all texts of a column lie on the other side of an end: they differ from it in the texts
/// that both begin with.
fn is_outside(kind: BoundKind, end: &[Part], own: &[Part]) -> bool {
    let (Some(Part::Literal(end)), Some(Part::Literal(own))) = (end.first(), own.first()) else {
        return false;
    };
    let Some((end, own)) = end.bytes().zip(own.bytes()).find(|(end, own)| end != own) else {
        return false;
    };
    match kind {
        BoundKind::Begins => true,
        BoundKind::From | BoundKind::After => own < end,
        BoundKind::To | BoundKind::Before | BoundKind::Through => own > end,
    }
}

/// Returns the text that a column surely begins with, and whether that is all of it.
fn beginning(parts: &[Part]) -> (bool, String) {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(more) => text.push_str(more),
            Part::End => return (true, text),
            Part::Hole { term: Term::Const(value), ty, codec: Codec::Native | Codec::Plain } => {
                text.push_str(&value.text(ty));
                if matches!(parts, [Part::Hole { codec: Codec::Native, .. }]) {
                    return (true, text);
                }
            }
            Part::Hole { .. } => return (false, text),
        }
    }
    (false, text)
}

/// Checks O4 to O6 of several requests: their limits, and that they follow one another as asked.
pub(super) fn beside(
    model: &Model,
    read: &Read,
    steps: &[Step],
    (requests, shares): (&[&ReadStep], &[Vec<usize>]),
) -> Result<(), String> {
    if read.page || read.offset || read.aggregate.is_some() {
        return Err("O10: several requests are one list, and no page or number".to_owned());
    }
    let mut takes = steps.iter().filter_map(|step| match step {
        Step::Take(limit) => Some(limit),
        _ => None,
    });
    let taken = takes.next();
    if taken != read.limit.as_ref() || takes.any(|more| Some(more) != taken) {
        return Err("O6: what is taken of all requests is not the pattern's limit".to_owned());
    }
    for (step, share) in requests.iter().zip(shares) {
        let sources: Vec<&Source> = share.iter().filter_map(|at| read.sources.get(*at)).collect();
        let [only] = sources.as_slice() else {
            one_range(model, read, (step, &sources))?;
            continue;
        };
        let wanted = only.limit.as_ref().or(read.limit.as_ref());
        let one = step.verb == Verb::Get || asks_for_one(model, only);
        // What is an input may be 0, also where there is one row at most.
        let needless = one && only.limit.as_ref().is_none_or(|own| matches!(own, Term::Const(_)));
        let fits = step.limit.as_ref() == wanted || step.limit.is_none() && needless;
        if !fits || step.each.is_some() {
            let name = &model.relation(only.relation).name.text;
            return Err(format!("O6: the limit of {name} is not that of its request"));
        }
    }
    let sorted = steps.iter().any(|step| matches!(step, Step::Sort(_)));
    let Some((first, desc)) = read.order.first().filter(|_| !sorted) else { return Ok(()) };
    let follow = shares.windows(2).all(|pair| {
        let [a, b] = pair else { return true };
        let (before, behind) = if *desc { (b, a) } else { (a, b) };
        before.iter().max() < behind.iter().min()
    });
    if *first == OrderKey::Kind && follow {
        return Ok(());
    }
    Err("O5: requests follow one another in no order that is asked for".to_owned())
}

/// Checks O6 of one range with several row types, some of which have limits of their own.
pub(super) fn one_range(
    model: &Model,
    read: &Read,
    (step, sources): (&ReadStep, &[&Source]),
) -> Result<(), String> {
    let counted = |source: &&&Source| match &source.limit {
        Some(Term::Const(_)) => !asks_for_one(model, source),
        limit => limit.is_some(),
    };
    let limited: Vec<&&Source> = sources.iter().filter(counted).collect();
    let Some((own, more)) = limited.split_first() else {
        return match step.limit == read.limit {
            true => Ok(()),
            false => Err("O6: the plan's limit is not the pattern's".to_owned()),
        };
    };
    let last = match read.order.first() {
        Some((OrderKey::Kind, false)) => sources.last(),
        Some((OrderKey::Kind, true)) => sources.first(),
        _ => None,
    };
    let is_last = last.is_some_and(|last| last.relation == own.relation);
    if !more.is_empty() || !is_last || step.each.is_some() {
        return Err("O6: one range has the limit of its last row type alone".to_owned());
    }
    let others = || sources.iter().filter(|other| other.relation != own.relation);
    if !others().all(|other| asks_for_one(model, other) && refers(model, own, other)) {
        return Err("O6: the number of rows before the last row type is not known".to_owned());
    }
    let before = i64::try_from(others().count()).unwrap_or(i64::MAX);
    let wanted = match own.limit {
        Some(Term::Const(Value::Int(n))) => n.checked_add(before),
        _ => None,
    };
    match (&step.limit, wanted) {
        (Some(Term::Const(Value::Int(n))), Some(wanted)) if *n == wanted => Ok(()),
        _ => Err("O6: the range does not end behind the last row type's own limit".to_owned()),
    }
}

/// Returns true if the `=` conditions of a row type select one tuple.
pub(super) fn asks_for_one(model: &Model, source: &Source) -> bool {
    let equal = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
    let fixed = equal.map(|one| short(model, source.relation, &one.path)).collect();
    let columns = model.relation(source.relation).columns.len();
    known(model, source.relation, &fixed).len() == columns
}

/// Returns true if all tuples of one row type refer to the only one that another asks for, by its key and
/// by nothing else.
fn refers(model: &Model, own: &Source, other: &Source) -> bool {
    let ([asked], [key]) = (other.predicates.as_slice(), model.relation(other.relation).key())
    else {
        return false;
    };
    let by_key = asked.op == CondOp::Eq && short(model, other.relation, &asked.path) == [*key];
    let columns = &model.relation(own.relation).columns;
    by_key
        && own.predicates.iter().any(|one| {
            let path = short(model, own.relation, &one.path);
            let at = path.first().filter(|_| path.len() == 1);
            let target = at.and_then(|at| columns.get(*at)).and_then(|column| column.refers);
            one.op == CondOp::Eq && one.values == asked.values && target == Some(other.relation)
        })
}

#[cfg(test)]
mod tests;
