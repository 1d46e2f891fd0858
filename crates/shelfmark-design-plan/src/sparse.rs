//! Estimates how many tuples satisfy the conditions of sparse rows or of a sparse index.
//!
//! Where every insert says by constants whether they hold, and no update changes what they are on, the
//! rates of the inserts tell. Else declared numbers of values do, and shares of what is optional.
//!
//! What it is not: a proof of anything.
//!
//! Invariant: a share lies between 0 and 1.

use std::collections::BTreeSet;

use crate::load::{present, rate};
use crate::volume::distinct;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::{ColumnPath, Model, Predicate, RelationId, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_prove::eval::state::compare;

/// The share of tuples that satisfy a condition of which nothing is declared.
const USUAL_SHARE: f64 = 0.5;

/// Returns whether conditions hold by what is known of a tuple's attributes; `None` where that does not
/// tell.
pub(crate) fn told(when: &[Predicate], known: &dyn Fn(usize) -> Option<Value>) -> Option<bool> {
    let each = when.iter().map(|one| {
        let [column] = one.path.as_slice() else { return None };
        let values: Option<Vec<Value>> =
            one.values.iter().map(|term| term.compute(&|_| None)).collect();
        Some(compare(one.op, &known(*column)?, &values?))
    });
    let each: Vec<Option<bool>> = each.collect();
    match (each.contains(&Some(false)), each.contains(&None)) {
        (true, _) => Some(false),
        (false, true) => None,
        (false, false) => Some(true),
    }
}

/// Returns whether conditions hold of the tuple that an insert makes; `None` where its inputs tell.
#[must_use]
pub fn told_by_insert(when: &[Predicate], effect: &Effect) -> Option<bool> {
    let term =
        |column: usize| effect.key.iter().find(|(at, _)| *at == column).map(|(_, term)| term);
    // An input is something, whatever it is.
    let given = |one: &&Predicate| match (one.op, one.path.as_slice()) {
        (CondOp::Present | CondOp::Absent, [column]) => {
            term(*column).is_some_and(|term| !matches!(term, Term::Const(_)))
        }
        _ => false,
    };
    if when.iter().filter(given).any(|one| one.op == CondOp::Absent) {
        return Some(false);
    }
    let open: Vec<Predicate> = when.iter().filter(|one| !given(one)).cloned().collect();
    told(&open, &|column| match term(column) {
        Some(Term::Const(value)) => Some(value.clone()),
        Some(_) => None,
        None => Some(Value::Null),
    })
}

/// Returns the share of a relation's tuples that satisfy conditions.
pub(crate) fn share(model: &Model, relation: RelationId, when: &[Predicate]) -> f64 {
    by_inserts(model, relation, when).unwrap_or_else(|| {
        let there = |path: &ColumnPath| present(model, relation, path);
        let each = when.iter().map(|one| match one.op {
            CondOp::Absent => 1.0 - there(&one.path),
            CondOp::Present => there(&one.path),
            CondOp::Eq => {
                let values = distinct(model, relation, &BTreeSet::from([one.path.clone()]));
                there(&one.path) * values.map_or(USUAL_SHARE, |values| 1.0 / values.max(1.0))
            }
            _ => there(&one.path) * USUAL_SHARE,
        });
        each.product()
    })
}

/// Returns the share of a relation's tuples that satisfy conditions, where the model says it: by the rates
/// of inserts, by numbers of values, or by the shares of what is optional.
#[must_use]
pub fn declared_share(model: &Model, relation: RelationId, when: &[Predicate]) -> Option<f64> {
    let column = |one: &Predicate| {
        let owner = model.path_owner(relation, &one.path);
        one.path.last().and_then(|last| model.relation(owner).columns.get(*last))
    };
    let there = |one: &Predicate| match column(one)? {
        column if column.optional => column.facts.get("sparse").copied(),
        _ => Some(1.0),
    };
    let each = |one: &Predicate| match one.op {
        CondOp::Absent => Some(1.0 - there(one)?),
        CondOp::Present => there(one),
        CondOp::Eq => {
            let values = distinct(model, relation, &BTreeSet::from([one.path.clone()]))?;
            Some(there(one)? / values.max(1.0))
        }
        _ => None,
    };
    by_inserts(model, relation, when).or_else(|| {
        when.iter().map(each).collect::<Option<Vec<f64>>>().map(|all| all.iter().product())
    })
}

/// Returns the share by the rates of inserts, where they tell all.
fn by_inserts(model: &Model, relation: RelationId, when: &[Predicate]) -> Option<f64> {
    if when.is_empty() {
        return Some(1.0);
    }
    let (mut all, mut some) = (0.0, 0.0);
    for write in &model.writes {
        for effect in write.effects.iter().filter(|effect| effect.relation == relation) {
            let sets = |one: &Predicate| effect.set.iter().any(|(at, _)| one.path == [*at]);
            match effect.kind {
                EffectKind::Insert => {
                    let holds = told_by_insert(when, effect)?;
                    all += rate(&write.facts);
                    some += if holds { rate(&write.facts) } else { 0.0 };
                }
                EffectKind::Update | EffectKind::Increment if when.iter().any(sets) => return None,
                _ => {}
            }
        }
    }
    (all > 0.0).then(|| some / all)
}
