//! Derives loops of unnamed plans: over the values of a list, or over all buckets of a key.
//!
//! What it is not: no proof. A loop that is proposed here is proven like a written one.

use super::canon::canonical_term;
use super::range::Met;
use shelfmark_design_language::model::schema::{EachOf, Family, Part, Step, Table};
use shelfmark_design_language::model::{Function, Model, OrderKey, Read, Term, Type};
use shelfmark_design_language::syntax::tree::CondOp;

/// Most buckets that a derived loop goes through.
///
/// Ours: who has more than a hundred partitions to one read names the plan.
const BUCKETS_MAX: i64 = 100;

/// Returns the loop that a family needs, and what a call then knows; `None` where none is needed.
pub(super) fn of_family(
    model: &Model,
    family: &Family,
    table: &Table,
    wanted: &[Met],
) -> Option<(EachOf, Vec<Met>)> {
    let mut lists = wanted.iter().enumerate().filter(|(_, met)| met.op == CondOp::In);
    match (lists.next(), lists.next()) {
        (Some((at, list)), None) => {
            let Term::Param(index) = list.plan else { return None };
            let mut met = wanted.to_vec();
            let one = met.get_mut(at)?;
            (one.op, one.plan) = (CondOp::Eq, Term::Each);
            Some((EachOf::Param(index), met))
        }
        (None, _) => {
            let mut holes =
                family.key.iter().take(table.partition).flat_map(|column| &column.parts);
            let (row, low, high) = holes.find_map(|part| match part {
                Part::Hole {
                    term: term @ Term::Call(Function::Bucket, _),
                    ty: Type::Int(Some((low, high))),
                    ..
                } if high - low < BUCKETS_MAX => {
                    Some((canonical_term(model, family.source, term), *low, *high))
                }
                _ => None,
            })?;
            let mut met = wanted.to_vec();
            met.push(Met { row, op: CondOp::Eq, plan: Term::Each });
            Some((EachOf::Numbers(low, high), met))
        }
        _ => None,
    }
}

/// Returns the steps that combine several lists: sorted as asked, then cut.
pub(super) fn gathered(model: &Model, read: &Read) -> Vec<Step> {
    let Some(source) = read.sources.first() else { return Vec::new() };
    let orders: Vec<(String, bool)> = read
        .order
        .iter()
        .filter_map(|(key, desc)| match key {
            OrderKey::Columns(paths) => {
                Some((model.path_text(source.relation, paths.first()?.as_ref()?), *desc))
            }
            OrderKey::Kind => None,
        })
        .collect();
    let mut steps = Vec::new();
    if !orders.is_empty() {
        steps.push(Step::Sort(orders));
    }
    steps.extend(read.limit.clone().map(Step::Take));
    steps
}
