//! Classifies attributes by what is known of them: fixed by a range, part of a key, perhaps absent.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::range::Met;
use shelfmark_design_language::model::schema::{Family, Part};
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
