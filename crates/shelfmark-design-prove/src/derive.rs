//! Derives plans where a schema names none: each row family of the read's source is tried.
//!
//! What it is not: no proof. What it finds is proven like a written plan.

use std::collections::BTreeSet;

use super::canon::{canonical, canonical_term, comparisons};
use super::loops;
use super::own_limits::of_range;
use super::range::Met;
use super::tally::{extreme, tallies};
use super::unique::{available, key_tells};
use crate::key::facts::is_delimited;
use shelfmark_design_language::model::schema::{
    ColumnKind, Family, Part, ReadStep, Schema, Serve, Step,
};
use shelfmark_design_language::model::{ColumnPath, Model, Read, Term, Type};
use shelfmark_design_language::syntax::tree::{BoundKind, CondOp, Verb};

/// Returns plans worth proving, the most promising first.
pub(crate) fn plans(model: &Model, schema: &Schema, index: usize, read: &Read) -> Vec<Serve> {
    let mut found = Vec::new();
    let Some(source) = read.sources.first() else { return found };
    let wanted = comparisons(model, source.relation, &source.predicates).unwrap_or_default();
    let known = read.known_paths(|path| canonical(model, source.relation, path));
    let mut own = schema.usable(source.relation, read.aggregate.is_some(), &known);
    if extreme(read).is_some() {
        let keepers = schema.usable(source.relation, true, &known).into_iter();
        own.extend(keepers.filter(|one| tallies(one).any(|kept| kept.answers(model, read))));
    }
    for (at, family) in own.iter().copied().enumerate() {
        let kept = tallies(family).find(|one| one.answers(model, read));
        // A row of the relation itself may keep values of others of it: it is tried both ways.
        let again = own.iter().skip(at + 1).any(|other| std::ptr::eq(*other, family));
        let kept = kept.filter(|_| !again);
        let counts = kept.is_some();
        if family.source != source.relation && !counts {
            continue;
        }
        let wanted = match kept.and_then(|one| one.asked(model, read)) {
            Some(asked) => counted(model, family, &asked),
            None => wanted.clone(),
        };
        let step_by = |met: &[Met]| step(model, schema, family, read, met);
        let mut forms: Vec<ReadStep> = step_by(&wanted).into_iter().collect();
        forms.extend(shorter(schema, read, &forms));
        let mut ways: Vec<(ReadStep, Vec<Step>)> =
            forms.into_iter().map(|step| (step, Vec::new())).collect();
        if let (Some(table), None) = (schema.tables.get(family.table), &read.aggregate)
            && let Some((each, met)) = loops::of_family(model, family, table, &wanted)
            && let Some(step) = step_by(&met)
        {
            let step = ReadStep { each: Some(each), ..step };
            ways.push((step, loops::gathered(model, read)));
        }
        if ways.is_empty() {
            continue;
        }
        let follow_ups = match counts {
            true => Vec::new(),
            false => follow_ups(model, schema, family, read, source.relation),
        };
        for (step, later) in ways {
            for desc in [false, true] {
                let step = ReadStep { desc, ..step.clone() };
                if desc && step.verb == Verb::Get {
                    continue;
                }
                let mut steps = vec![Step::Read(step)];
                steps.extend(follow_ups.iter().cloned());
                steps.extend(later.iter().cloned());
                found.push(Serve { read: index, steps, span: read.span, derived: true });
            }
        }
    }
    if found.is_empty() && read.aggregate.is_none() {
        found.extend(whole_table(model, schema, index, read));
    }
    found.sort_by_key(|serve| {
        let first = serve.steps.first();
        let bound = match first {
            Some(Step::Read(step)) => 2 * step.bound.len() + usize::from(!step.bounds.is_empty()),
            _ => 0,
        };
        (std::cmp::Reverse(bound), serve.steps.len())
    });
    if model.is_large() {
        found.truncate(shelfmark_design_language::limits::CANDIDATES_MAX);
    }
    found
}

/// Returns a scan of a whole table without partitions: a call that can always be formed, and shows
/// more of what is wrong than that there is none.
fn whole_table(model: &Model, schema: &Schema, index: usize, read: &Read) -> Option<Serve> {
    let source = read.sources.first()?;
    let (_, family) = schema.of_source(source.relation).find(|(_, family)| {
        schema.tables.get(family.table).is_some_and(|table| table.partition == 0)
    })?;
    let step = ReadStep {
        each: None,
        verb: Verb::Scan,
        table: family.table,
        bound: Vec::new(),
        bounds: Vec::new(),
        desc: false,
        limit: of_range(read),
    };
    let follow_ups = follow_ups(model, schema, family, read, source.relation);
    let steps = std::iter::once(Step::Read(step)).chain(follow_ups).collect();
    Some(Serve { read: index, steps, span: read.span, derived: true })
}

/// Returns steps without their last columns: rows of several types share only the first, and texts that the
/// next one begins with.
fn shorter(schema: &Schema, read: &Read, whole: &[ReadStep]) -> Vec<ReadStep> {
    let [step] = whole else { return Vec::new() };
    let least = schema.tables.get(step.table).map_or(0, |table| table.partition);
    if read.sources.len() < 2 {
        return Vec::new();
    }
    let shorter = (least..step.bound.len() + usize::from(!step.bounds.is_empty())).rev();
    shorter
        .filter_map(|length| Some((length, step.bound.get(..length)?.to_vec())))
        .map(|(length, bound)| ReadStep {
            verb: if length == 0 { Verb::Scan } else { Verb::Query },
            bound,
            bounds: Vec::new(),
            limit: of_range(read),
            ..step.clone()
        })
        .chain(between(schema, read, step))
        .collect()
}

/// Returns steps over the texts that the rows of all row types begin with, behind the partition that they
/// share: from the first of these texts on, up to the last, or both. Beside them lie other row types.
fn between(schema: &Schema, read: &Read, step: &ReadStep) -> Vec<ReadStep> {
    let Some(table) = schema.tables.get(step.table) else { return Vec::new() };
    let column = table.partition;
    let is_text = matches!(table.kinds.get(column), Some(ColumnKind::Text));
    let asked = schema.columns_asked(step.table);
    let Some(bound) = step.bound.get(..column) else { return Vec::new() };
    if read.sources.len() < 2 || !is_text || asked <= column {
        return Vec::new();
    }
    let own = |family: &Family| read.sources.iter().any(|one| one.relation == family.source);
    let families = schema.of_table(step.table).filter(|(_, family)| own(family));
    let begins = families.map(|(_, family)| match family.key.get(column)?.parts.first() {
        Some(Part::Literal(text)) => Some(text.as_str()),
        _ => None,
    });
    let Some(begins) = begins.collect::<Option<BTreeSet<&str>>>() else { return Vec::new() };
    let end = |kind, text: Option<&&str>| {
        text.map(|text| (kind, vec![Part::Literal((*text).to_owned())]))
    };
    let from = end(BoundKind::From, begins.first());
    let through = end(BoundKind::Through, begins.last());
    let ends = [vec![from.clone()], vec![through.clone()], vec![from, through]];
    let steps = ends.into_iter().map(|ends| ReadStep {
        verb: Verb::Query,
        bound: bound.to_vec(),
        bounds: ends.into_iter().flatten().collect(),
        limit: of_range(read),
        ..step.clone()
    });
    steps.collect()
}

/// Returns a count's predicate as a condition on the row that keeps the count.
fn counted(model: &Model, family: &Family, wanted: &[Met]) -> Vec<Met> {
    let key = model.relation(family.source).key().to_vec();
    wanted
        .iter()
        .map(|met| Met { row: Term::Column(key.clone()), op: met.op, plan: met.plan.clone() })
        .collect()
}

/// Returns the read of one family by the attributes that a pattern fixes.
pub(crate) fn family_step(
    model: &Model,
    schema: &Schema,
    family: &Family,
    read: &Read,
) -> Option<ReadStep> {
    let source = read.sources.first()?;
    let wanted = comparisons(model, source.relation, &source.predicates)?;
    step(model, schema, family, read, &wanted)
}

fn step(
    model: &Model,
    schema: &Schema,
    family: &Family,
    read: &Read,
    wanted: &[Met],
) -> Option<ReadStep> {
    let table = schema.tables.get(family.table)?;
    let mut bound: Vec<Vec<Part>> = Vec::new();
    let mut bounds: Vec<(BoundKind, Vec<Part>)> = Vec::new();
    let asked = schema.columns_asked(family.table);
    for (column, kind) in family.key.iter().zip(&table.kinds).take(asked) {
        let (parts, rest) = bind(model, (family, read), &column.parts, wanted);
        if rest.is_empty() {
            bound.push(parts);
            continue;
        }
        bounds = ranges(model, (family, read), (parts, &rest), wanted, *kind == ColumnKind::Text);
        break;
    }
    if bound.len() < table.partition {
        return None;
    }
    let whole = bound.len() == table.kinds.len() && !table.is_index;
    let verb = match (whole, bound.is_empty() && bounds.is_empty()) {
        (true, _) => Verb::Get,
        (_, true) => Verb::Scan,
        _ => Verb::Query,
    };
    let limit = if whole { None } else { of_range(read) };
    Some(ReadStep { each: None, verb, table: family.table, bound, bounds, desc: false, limit })
}

/// Returns the parts of a column whose values the pattern fixes, and the rest.
fn bind(
    model: &Model,
    (family, read): (&Family, &Read),
    column: &[Part],
    wanted: &[Met],
) -> (Vec<Part>, Vec<Part>) {
    let mut parts = Vec::new();
    for (index, part) in column.iter().enumerate() {
        let rest = || column.get(index..).unwrap_or(&[]).to_vec();
        match part {
            Part::Hole { term, ty, codec } => {
                let whole = canonical_term(model, family.source, term);
                if wanted.iter().any(|met| met.plan == Term::Each && met.row == whole) {
                    parts.push(Part::Hole { term: Term::Each, ty: ty.clone(), codec: *codec });
                    continue;
                }
                let leaf = |leaf: &Term| match leaf {
                    Term::Column(path) => {
                        let row = Term::Column(canonical(model, family.source, path));
                        wanted
                            .iter()
                            .find(|met| met.op == CondOp::Eq && met.row == row)
                            .map(|met| met.plan.clone())
                    }
                    other => Some(other.clone()),
                };
                match term.replace(&leaf) {
                    Some(term) => {
                        let ty = asked_type(read, &term, ty);
                        parts.push(Part::Hole { term, ty, codec: *codec });
                    }
                    None => return (parts, rest()),
                }
            }
            other => parts.push(other.clone()),
        }
    }
    (parts, Vec::new())
}

/// Returns the type of a plan's hole: an input is not bound to the domain of what it is compared
/// with.
fn asked_type(read: &Read, plan: &Term, of_row: &Type) -> Type {
    let given = match plan {
        Term::Param(index) => read.params.get(*index).map(|param| &param.ty),
        _ => None,
    };
    given.filter(|given| given.comparable(of_row)).unwrap_or(of_row).clone()
}

/// Returns the range on the first part that is not fixed.
fn ranges(
    model: &Model,
    (family, read): (&Family, &Read),
    (head, rest): (Vec<Part>, &[Part]),
    wanted: &[Met],
    text: bool,
) -> Vec<(BoundKind, Vec<Part>)> {
    let mut bounds = Vec::new();
    if let Some((part @ Part::Hole { term: Term::Column(path), ty, codec }, behind)) =
        rest.split_first()
    {
        let row = Term::Column(canonical(model, family.source, path));
        let with = |plan: &Term, end: bool| {
            let mut parts = head.clone();
            let ty = asked_type(read, plan, ty);
            parts.push(Part::Hole { term: plan.clone(), ty, codec: *codec });
            if text && end && is_delimited(part, &[Part::End]) {
                parts.push(Part::End);
            }
            parts
        };
        // Everything of one value is what begins with it and with what always follows it.
        let closed = |plan: &Term| match behind.first() {
            Some(follows @ Part::Literal(_)) if text => {
                let mut parts = with(plan, false);
                parts.push(follows.clone());
                parts
            }
            _ => with(plan, true),
        };
        for met in wanted.iter().filter(|met| met.row == row) {
            match met.op {
                CondOp::Begins => bounds.push((BoundKind::Begins, with(&met.plan, false))),
                CondOp::Ge => bounds.push((BoundKind::From, with(&met.plan, true))),
                CondOp::Gt => bounds.push((BoundKind::After, closed(&met.plan))),
                CondOp::Le => bounds.push((BoundKind::Through, closed(&met.plan))),
                CondOp::Lt => bounds.push((BoundKind::Before, with(&met.plan, true))),
                _ => {}
            }
        }
    }
    let open_low = !bounds
        .iter()
        .any(|(kind, _)| matches!(kind, BoundKind::Begins | BoundKind::From | BoundKind::After));
    let open_high = !bounds.iter().any(|(kind, _)| {
        matches!(kind, BoundKind::Begins | BoundKind::To | BoundKind::Before | BoundKind::Through)
    });
    if head.is_empty() {
        return bounds;
    }
    match (open_low, open_high) {
        (true, true) => bounds.push((BoundKind::Begins, head)),
        (true, false) => bounds.push((BoundKind::From, head)),
        (false, true) => bounds.push((BoundKind::Through, head)),
        (false, false) => {}
    }
    bounds
}

/// Returns point reads for attributes that the family does not hold.
fn follow_ups(
    model: &Model,
    schema: &Schema,
    family: &Family,
    read: &Read,
    relation: usize,
) -> Vec<Step> {
    if read.aggregate.is_some() {
        return Vec::new();
    }
    let mut shown = available(model, family).clone();
    // Rows of the other types in the range have attributes of their own.
    let own = || read.sources.iter().filter(|source| source.relation == relation);
    let asked = own().flat_map(|source| &source.predicates);
    let asked = asked.filter(|one| one.op == CondOp::Eq);
    shown.extend(asked.map(|one| canonical(model, relation, &one.path)));
    let missing: BTreeSet<ColumnPath> = own()
        .flat_map(|source| source.outputs.iter().flatten())
        .map(|path| canonical(model, relation, path))
        .filter(|path| !shown.contains(path))
        .collect();
    let mut steps = Vec::new();
    let mut done: BTreeSet<ColumnPath> = BTreeSet::new();
    for path in missing {
        let base: ColumnPath = path.get(..path.len().saturating_sub(1)).unwrap_or(&[]).to_vec();
        if !done.insert(base.clone()) {
            continue;
        }
        let owner = model.path_owner(relation, &path);
        steps.extend(point_read(model, schema, owner, &base, &shown, read));
    }
    steps
}

fn point_read(
    model: &Model,
    schema: &Schema,
    owner: usize,
    base: &[usize],
    shown: &BTreeSet<ColumnPath>,
    read: &Read,
) -> Option<Step> {
    schema.of_source(owner).find_map(|(_, other)| {
        let table = schema.tables.get(other.table)?;
        if table.is_index || !key_tells(model, other) {
            return None;
        }
        let leaf = |leaf: &Term| match leaf {
            Term::Column(path) => {
                let whole: ColumnPath = base.iter().chain(path).copied().collect();
                let source = read.sources.first().map_or(0, |source| source.relation);
                let whole = canonical(model, source, &whole);
                shown.contains(&whole).then_some(Term::Prior(whole))
            }
            other => Some(other.clone()),
        };
        let mut bound = Vec::new();
        for column in &other.key {
            let parts: Option<Vec<Part>> =
                column
                    .parts
                    .iter()
                    .map(|part| match part {
                        Part::Hole { term, ty, codec } => term
                            .replace(&leaf)
                            .map(|term| Part::Hole { term, ty: ty.clone(), codec: *codec }),
                        part => Some(part.clone()),
                    })
                    .collect();
            bound.push(parts?);
        }
        Some(Step::Read(ReadStep {
            each: None,
            verb: Verb::Get,
            table: other.table,
            bound,
            bounds: Vec::new(),
            desc: false,
            limit: None,
        }))
    })
}
