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
