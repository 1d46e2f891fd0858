//! Builds states and inputs that random ones seldom are: as many tuples as a limit lets through and one
//! more, and texts that run into one another in a key.
//!
//! What it is not: it judges nothing. Whoever asks for a witness runs the plan on them.

use std::collections::BTreeSet;

use super::focus::Focus;
use super::generate::{Pool, add, grow, inputs, state, write_inputs};
use super::random::Random;
use super::state::{State, Tuple};
use shelfmark_design_language::model::pattern::EffectKind;
use shelfmark_design_language::model::schema::{Family, Part, Schema, Serve, Step};
use shelfmark_design_language::model::types::TextDomain;
use shelfmark_design_language::model::{Model, Read, RelationId, Term, Type, Value, Write};
use shelfmark_design_language::syntax::tree::CondOp;

/// States that are built for each kind of harm; ours.
pub(crate) const BUILT_MAX: usize = 48;

/// Most tuples of a state that is built: above it a search takes seconds. Ours.
const CROWD_MAX: usize = 300;

/// States with many tuples; building one takes as long as many small ones. Ours.
const CROWDS_MAX: usize = 8;

/// Returns a state and inputs of a read that its plan may go wrong on, if there is one of this number.
pub(super) fn of_read(
    model: &Model,
    schema: &Schema,
    (read, serve): (&Read, &Serve),
    focus: &Focus,
    (number, random): (usize, &mut Random),
) -> Option<(State, Vec<Value>)> {
    let pool = Pool::about(schema, focus);
    if number % 2 == 0 {
        let count = crowd(read, serve).filter(|count| *count < 17 || number / 2 < CROWDS_MAX)?;
        let pool = Pool::of_many(schema, focus, count);
        let mut found = state(model, &Pool::about(schema, focus), random, 2);
        for source in &read.sources {
            let equal = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
            let same: BTreeSet<usize> = equal.filter_map(|one| one.path.first().copied()).collect();
            grow(model, &mut found, &pool, random, (source.relation, &same), count);
        }
        let drawn = inputs(model, &found, read, &pool, random);
        return Some((found, drawn));
    }
    let mut found = state(model, &pool, random, 2);
    let (relation, asked) = run_together(model, schema, focus, &mut found, random)?;
    let mut drawn = inputs(model, &found, read, &pool, random);
    for source in read.sources.iter().filter(|source| source.relation == relation) {
        for one in source.predicates.iter().filter(|one| one.op == CondOp::Eq) {
            if let ([column], Some(Term::Param(at))) = (one.path.as_slice(), one.values.first()) {
                give(&mut drawn, *at, &asked, *column);
            }
        }
    }
    Some((found, drawn))
}

/// Returns a state and inputs of a write that its plan may go wrong on.
pub(crate) fn of_write(
    model: &Model,
    schema: &Schema,
    write: &Write,
    focus: &Focus,
    random: &mut Random,
) -> Option<(State, Vec<Value>)> {
    let pool = Pool::about(schema, focus);
    let mut found = state(model, &pool, random, 2);
    let (relation, asked) = run_together(model, schema, focus, &mut found, random)?;
    let mut drawn = write_inputs(model, &found, write, &pool, random);
    let own = write.effects.iter().filter(|effect| effect.relation == relation);
    for effect in own.filter(|effect| effect.each.is_none()) {
        let key = effect.key.iter().filter(|(column, _)| {
            effect.kind == EffectKind::Insert || model.relation(relation).key().contains(column)
        });
        for (column, term) in key {
            if let Term::Param(at) = term {
                give(&mut drawn, *at, &asked, *column);
            }
        }
    }
    Some((found, drawn))
}

fn give(inputs: &mut [Value], at: usize, tuple: &Tuple, column: usize) {
    if let (Some(input), Some(value)) = (inputs.get_mut(at), tuple.get(column)) {
        input.clone_from(value);
    }
}

/// Returns a number of tuples of which a constant limit, of the read or of its plan, leaves one out.
fn crowd(read: &Read, serve: &Serve) -> Option<usize> {
    let steps = serve.steps.iter().filter_map(|step| match step {
        Step::Read(step) | Step::Also(step) => step.limit.as_ref(),
        Step::Take(term) => Some(term),
        Step::Filter(_) | Step::Sort(_) => None,
    });
    let own = read.sources.iter().filter_map(|source| source.limit.as_ref());
    let limits = steps.chain(&read.limit).chain(own).filter_map(|limit| match limit {
        Term::Const(Value::Int(count)) => usize::try_from(*count).ok(),
        _ => None,
    });
    limits.max().map(|count| count + 1).filter(|count| *count <= CROWD_MAX)
}

/// Puts a tuple into a state whose key, in some row family, is the text of another one; the other is in
/// the state at times, and returned.
fn run_together(
    model: &Model,
    schema: &Schema,
    focus: &Focus,
    state: &mut State,
    random: &mut Random,
) -> Option<(RelationId, Tuple)> {
    let families = schema.families.iter();
    let own: Vec<&Family> =
        families.filter(|family| focus.relations().contains(&family.source)).collect();
    let family = *random.pick(&own)?;
    let texts: Vec<(usize, &TextDomain, String, usize, &TextDomain)> =
        family.key.iter().flat_map(|column| neighbours(&column.parts)).collect();
    let (left, one, between, right, other) = random.pick(&texts)?.clone();
    let base = random.pick(state.tuples(family.source))?.clone();
    let [(a, b), (c, d)] = split_twice(one, &between, other)?;
    let with = |first: &str, second: &str| {
        let mut tuple = base.clone();
        for (at, text) in [(left, first), (right, second)] {
            if let Some(value) = tuple.get_mut(at) {
                *value = Value::Text(text.to_owned());
            }
        }
        tuple
    };
    let (first, second) = (with(&a, &b), with(&c, &d));
    if let Some(tuples) = state.relations.get_mut(family.source) {
        tuples.retain(|tuple| *tuple != base);
    }
    add(model, state, family.source, Some(first));
    if random.below(2) == 0 {
        add(model, state, family.source, Some(second.clone()));
    }
    Some((family.source, second))
}

/// Returns neighbouring text attributes of a key column, with the text between them.
fn neighbours(parts: &[Part]) -> Vec<(usize, &TextDomain, String, usize, &TextDomain)> {
    let mut found = Vec::new();
    let mut before: Option<(usize, &TextDomain, String)> = None;
    for part in parts {
        match part {
            Part::Literal(text) => {
                if let Some((.., between)) = &mut before {
                    between.push_str(text);
                }
            }
            Part::Hole { term: Term::Column(path), ty: Type::Text(domain), .. } => {
                let [column] = path.as_slice() else {
                    before = None;
                    continue;
                };
                if let Some((left, one, between)) = before.take() {
                    found.push((left, one, between, *column, domain));
                }
                before = Some((*column, domain, String::new()));
            }
            Part::Hole { .. } | Part::End => before = None,
        }
    }
    found
}

/// Returns two pairs of texts that are one text with the same text between each.
fn split_twice(
    one: &TextDomain,
    between: &str,
    other: &TextDomain,
) -> Option<[(String, String); 2]> {
    let letter = |domain: &TextDomain| "abx01".chars().find(|c| domain.allows(*c));
    let (a, b) = (letter(one)?, letter(other)?);
    let times = |c: char, least: u64| {
        c.to_string().repeat(usize::try_from(least.clamp(1, 64)).unwrap_or(1))
    };
    let (begin, end) = (times(a, one.min), times(b, other.min));
    // Where a letter is between them both must take it; else the text between stands alone.
    let middle = if one.allows(b) { b.to_string() } else { String::new() };
    let pairs = [
        (format!("{begin}{between}{middle}"), end.clone()),
        (begin, format!("{middle}{between}{end}")),
    ];
    let fits = pairs.iter().all(|(x, y)| one.holds(x) && other.holds(y));
    (fits && pairs.first() != pairs.last()).then_some(pairs)
}
