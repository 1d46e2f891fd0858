//! Decides whether a condition of sparse rows follows from what is asked of their tuples.
//!
//! The constants of all comparisons of one attribute part its values into a few stretches, and within
//! one of these every comparison is the same. So each stretch is tried once.
//!
//! What it is not: inputs are not compared; what is compared with one may be any value.
//!
//! Invariant: says by itself what follows; nothing of the prover is asked.

use super::shelf::short;
use shelfmark_design_language::model::pattern::{Effect, EffectKind, Predicate};
use shelfmark_design_language::model::types::{DATE_RANGE, TIMESTAMP_RANGE};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Type, Value};
use shelfmark_design_language::syntax::span::Span;
use shelfmark_design_language::syntax::tree::CondOp;

/// Returns true if every tuple that satisfies what is asked satisfies a condition of its own relation.
pub(super) fn follows(
    model: &Model,
    relation: RelationId,
    condition: &Predicate,
    asked: &[Predicate],
) -> bool {
    let path = short(model, relation, &condition.path);
    let of_path = |one: &&Predicate| short(model, relation, &one.path) == path;
    let own: Vec<&Predicate> = asked.iter().filter(of_path).collect();
    let same = |one: &&Predicate| one.op == condition.op && one.values == condition.values;
    if own.iter().any(same) {
        return true;
    }
    let all = own.iter().flat_map(|one| &one.values).chain(&condition.values);
    let mut ends: Vec<&Value> = all.filter_map(constant).collect();
    ends.sort_unstable();
    ends.dedup();
    let ty = model.path_type(relation, &condition.path);
    let lacks = lacks(model, relation, &path, asked);
    let there = (0..=2 * ends.len()).filter(|at| is_there(*at, &ends, &ty)).map(Some);
    let there = there.filter(|_| lacks != Some(true));
    let mut places = there.chain((lacks != Some(false)).then_some(None));
    places.all(|place| {
        let meant = own.iter().all(|one| holds(one, place, &ends) != Some(false));
        !meant || holds(condition, place, &ends) == Some(true)
    })
}

/// Returns what a write asks of the tuples that an effect finds: what selects them, what its loop goes
/// through where it goes through these tuples, and what must hold.
pub(super) fn selected(model: &Model, effect: &Effect) -> Vec<Predicate> {
    let relation = model.relation(effect.relation);
    // All but its key an insert gives to its own tuple, not to the one that may be there.
    let finds = |(column, _): &&(usize, Term)| {
        effect.kind != EffectKind::Insert || relation.key().contains(column)
    };
    let equal = |(column, term): &(usize, Term)| Predicate {
        path: vec![*column],
        op: CondOp::Eq,
        values: vec![term.clone()],
        max: None,
        span: Span::default(),
    };
    let mut found: Vec<Predicate> = effect.key.iter().filter(finds).map(equal).collect();
    found.extend(effect.conditions.iter().cloned());
    let itself = |column: &usize| {
        let own = effect.key.iter().find(|(given, _)| given == column);
        own.is_some_and(|(_, term)| *term == Term::Prior(vec![*column]))
    };
    if let Some(each) = &effect.each
        && each.relation == effect.relation
        && relation.key().iter().all(itself)
    {
        found.extend(each.predicates.iter().cloned());
    }
    found
}

fn constant(term: &Term) -> Option<&Value> {
    match term {
        Term::Const(value) => Some(value),
        _ => None,
    }
}

/// Returns true if values of a type lie in a stretch: odd ones are a constant, even ones what lies
/// between two.
fn is_there(at: usize, ends: &[&Value], ty: &Type) -> bool {
    let (least, most) = match ty {
        Type::Int(range) => range.unwrap_or((i64::MIN, i64::MAX)),
        Type::Timestamp => TIMESTAMP_RANGE,
        Type::Date => DATE_RANGE,
        _ => return true,
    };
    let number = |at: usize| match ends.get(at) {
        Some(Value::Int(number)) => Some(*number),
        _ => None,
    };
    let (low, high) = if at % 2 == 1 {
        (number(at / 2), number(at / 2))
    } else {
        let before = (at / 2).checked_sub(1).and_then(number);
        (before.map(|end| end.saturating_add(1)), number(at / 2).map(|end| end.saturating_sub(1)))
    };
    low.unwrap_or(least).max(least) <= high.unwrap_or(most).min(most)
}

/// Returns whether tuples that satisfy what is asked lack the attribute at the end of a path, where that
/// is told.
fn lacks(
    model: &Model,
    relation: RelationId,
    path: &ColumnPath,
    asked: &[Predicate],
) -> Option<bool> {
    let mut heads = (1..=path.len()).filter_map(|length| path.get(..length));
    let optional = heads.any(|head| {
        let columns = &model.relation(model.path_owner(relation, head)).columns;
        head.last().and_then(|last| columns.get(*last)).is_some_and(|column| column.optional)
    });
    // What comes together is there, or not, with each of the others.
    let (last, head) = path.split_last()?;
    let group = model.relation(model.path_owner(relation, path)).mates(*last);
    let mates: Vec<ColumnPath> =
        group.map(|mate| head.iter().copied().chain([mate]).collect()).collect();
    let told = |one: &Predicate| {
        let found = short(model, relation, &one.path);
        match one.op {
            CondOp::Absent => (found == *path || mates.contains(&found)).then_some(true),
            _ => {
                let behind = mates.iter().any(|mate| found.starts_with(mate));
                (behind || found.starts_with(path)).then_some(false)
            }
        }
    };
    if optional { asked.iter().find_map(told) } else { Some(false) }
}

/// Returns whether a comparison holds of the values of a stretch, or of what is absent, where constants
/// tell.
fn holds(one: &Predicate, place: Option<usize>, ends: &[&Value]) -> Option<bool> {
    let Some(at) = place else { return Some(one.op == CondOp::Absent) };
    let end = |number: usize| {
        let value = constant(one.values.get(number)?)?;
        ends.binary_search(&value).ok().map(|found| 2 * found + 1)
    };
    match one.op {
        CondOp::Present => Some(true),
        CondOp::Absent => Some(false),
        CondOp::Eq => Some(at == end(0)?),
        CondOp::Lt => Some(at < end(0)?),
        CondOp::Le => Some(at <= end(0)?),
        CondOp::Gt => Some(at > end(0)?),
        CondOp::Ge => Some(at >= end(0)?),
        CondOp::Between => Some(end(0)? <= at && at <= end(1)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
