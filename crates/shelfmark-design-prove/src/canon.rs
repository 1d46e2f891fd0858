//! Brings paths that end in a key, and predicates, to one form.

use super::range::Met;
pub(crate) use shelfmark_design_language::model::canonical;
use shelfmark_design_language::model::{Model, Predicate, RelationId, Term};
use shelfmark_design_language::syntax::tree::CondOp;

pub(crate) fn canonical_term(model: &Model, relation: RelationId, term: &Term) -> Term {
    let leaf = |leaf: &Term| {
        Some(match leaf {
            Term::Column(path) => Term::Column(canonical(model, relation, path)),
            other => other.clone(),
        })
    };
    term.replace(&leaf).unwrap_or_else(|| term.clone())
}

pub(crate) fn canonical_met(model: &Model, relation: RelationId, met: &Met) -> Met {
    Met { row: canonical_term(model, relation, &met.row), op: met.op, plan: met.plan.clone() }
}

/// Returns predicates as single comparisons; `None` for those that no range of keys can mean.
pub(crate) fn comparisons(
    model: &Model,
    relation: RelationId,
    predicates: &[Predicate],
) -> Option<Vec<Met>> {
    let mut found = Vec::new();
    for predicate in predicates {
        let row = Term::Column(canonical(model, relation, &predicate.path));
        let value = |at: usize| predicate.values.get(at).cloned();
        let mut push = |op, plan| found.push(Met { row: row.clone(), op, plan });
        match predicate.op {
            CondOp::Between => {
                push(CondOp::Ge, value(0)?);
                push(CondOp::Le, value(1)?);
            }
            CondOp::Eq
            | CondOp::Lt
            | CondOp::Le
            | CondOp::Gt
            | CondOp::Ge
            | CondOp::Begins
            | CondOp::In => {
                push(predicate.op, value(0)?);
            }
            CondOp::Present | CondOp::Absent => {
                push(predicate.op, Term::Const(shelfmark_design_language::model::Value::Null));
            }
            CondOp::Contains | CondOp::Ends | CondOp::Matches | CondOp::Near => return None,
        }
    }
    Some(found)
}

/// Adds the equality that both ends of a range imply when they are one value.
pub(crate) fn with_equal(mut met: Vec<Met>) -> Vec<Met> {
    let equal: Vec<Met> = met
        .iter()
        .filter(|one| one.op == CondOp::Ge)
        .map(|one| Met { op: CondOp::Eq, ..one.clone() })
        .filter(|one| implied(one, &met) && !met.contains(one))
        .collect();
    met.extend(equal);
    met
}

/// Returns true if `facts` together imply `wanted`.
pub(crate) fn implied(wanted: &Met, facts: &[Met]) -> bool {
    if facts.contains(wanted) {
        return true;
    }
    if matches!(wanted.op, CondOp::Ge | CondOp::Le | CondOp::Begins) {
        let equal = Met { op: CondOp::Eq, ..wanted.clone() };
        if facts.contains(&equal) {
            return true;
        }
    }
    if wanted.op == CondOp::Eq
        && facts.contains(&Met { op: CondOp::Ge, ..wanted.clone() })
        && facts.contains(&Met { op: CondOp::Le, ..wanted.clone() })
    {
        return true;
    }
    if wanted.op == CondOp::Present {
        // What lies behind a reference is there only where the reference is.
        return facts.iter().any(|fact| {
            fact.op != CondOp::Absent
                && match (&fact.row, &wanted.row) {
                    (Term::Column(found), Term::Column(head)) => found.starts_with(head),
                    (found, wanted) => found == wanted,
                }
        });
    }
    // A computed part of what is fixed is fixed, and one that never decreases keeps `>=`, `<=`.
    if let Term::Call(function, _) = &wanted.row {
        let ops: &[CondOp] = match wanted.op {
            CondOp::Eq => &[CondOp::Eq],
            CondOp::Ge if function.is_monotone() => &[CondOp::Eq, CondOp::Ge, CondOp::Gt],
            CondOp::Le if function.is_monotone() => &[CondOp::Eq, CondOp::Le, CondOp::Lt],
            _ => return false,
        };
        let leaf = |leaf: &Term| match leaf {
            Term::Column(_) => facts
                .iter()
                .find(|fact| fact.row == *leaf && ops.contains(&fact.op))
                .map(|fact| fact.plan.clone()),
            other => Some(other.clone()),
        };
        return wanted.row.replace(&leaf).as_ref() == Some(&wanted.plan);
    }
    false
}
