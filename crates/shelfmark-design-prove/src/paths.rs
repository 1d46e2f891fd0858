//! Classifies attributes by what is known of them: fixed by a range, part of a key, perhaps absent.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::range::Met;
use shelfmark_design_language::model::schema::{Family, Part, Schema};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// Returns the attributes with a single value in each range, the value of a loop among them.
pub fn fixed_paths(met: &[Met]) -> BTreeSet<ColumnPath> {
    paths_of(met.iter().filter(|met| met.op == CondOp::Eq))
}

/// Returns the attributes with a single value in all ranges of a plan, which excludes the value of
/// a loop.
pub(super) fn fixed_in_all(met: &[Met]) -> BTreeSet<ColumnPath> {
    paths_of(met.iter().filter(|met| {
        met.op == CondOp::Eq
            && met.plan.compute(&|leaf| (*leaf != Term::Each).then_some(Value::Null)).is_some()
    }))
}

fn paths_of<'a>(met: impl Iterator<Item = &'a Met>) -> BTreeSet<ColumnPath> {
    met.filter_map(|met| match &met.row {
        Term::Column(path) => Some(path.clone()),
        _ => None,
    })
    .collect()
}

/// Returns every attribute that a key is computed from.
pub fn all_key_paths(model: &Model, family: &Family) -> BTreeSet<ColumnPath> {
    let mut paths = BTreeSet::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term, .. } = part {
            term.columns(&mut |path| {
                paths.insert(canonical(model, family.source, path));
            });
        }
    }
    paths
}

/// Returns the attributes in the conditions that an index has beside those of its rows: the rows carry
/// them.
pub fn asked_by_index(model: &Model, schema: &Schema, entry: &Family) -> BTreeSet<ColumnPath> {
    let own = schema.own_conditions(entry).iter();
    own.map(|one| canonical(model, entry.source, &one.path)).collect()
}

/// Returns the attributes that are there exactly where the one at the end of a path is.
pub(super) fn mates(model: &Model, relation: usize, path: &[usize]) -> Vec<ColumnPath> {
    let Some((last, head)) = path.split_last() else { return Vec::new() };
    let owner = model.relation(model.path_owner(relation, path));
    let beside = |column: usize| head.iter().copied().chain([column]).collect();
    owner.mates(*last).map(beside).collect()
}

/// Returns what conditions say of attributes that come together with those that they are on: where
/// one is there, or absent, the others are.
pub(super) fn told_together(model: &Model, relation: usize, met: &[Met]) -> Vec<Met> {
    let mut found = Vec::new();
    for one in met {
        let Term::Column(path) = &one.row else { continue };
        // What lies behind a reference is there only where the reference is.
        let heads = (1..=path.len()).filter_map(|length| path.get(..length));
        let whole = path.as_slice();
        let told = heads.filter(|head| one.op != CondOp::Absent || *head == whole);
        let op = if one.op == CondOp::Absent { CondOp::Absent } else { CondOp::Present };
        for mate in told.flat_map(|head| mates(model, relation, head)) {
            let plan = Term::Const(Value::Null);
            found.push(Met { row: Term::Column(mate), op, plan });
        }
    }
    found
}

/// Returns true if some step of the path may be absent.
pub fn is_optional(model: &Model, relation: usize, path: &[usize]) -> bool {
    (1..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or(&[]);
        let owner = model.path_owner(relation, head);
        head.last()
            .and_then(|column| model.relation(owner).columns.get(*column))
            .is_some_and(|column| column.optional)
    })
}
