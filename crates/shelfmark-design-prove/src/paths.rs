//! Attributes by what is known of them: fixed by a range, part of a key, perhaps absent.

use std::collections::BTreeSet;

use super::canon::canonical;
use super::range::Met;
use shelfmark_design_language::model::schema::{Family, Part};
use shelfmark_design_language::model::{ColumnPath, Model, Term, Value};
use shelfmark_design_language::syntax::tree::CondOp;

/// Attributes with one value in each range; of a loop, the value that it is at is one of them.
pub fn fixed_paths(met: &[Met]) -> BTreeSet<ColumnPath> {
    paths_of(met.iter().filter(|met| met.op == CondOp::Eq))
}

/// Attributes with one value in all ranges of a plan: what a loop goes through is none of them.
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

/// Every attribute that a key is computed from.
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

/// Whether some step of the path may be absent.
pub fn is_optional(model: &Model, relation: usize, path: &[usize]) -> bool {
    (1..=path.len()).any(|length| {
        let head = path.get(..length).unwrap_or(&[]);
        let owner = model.path_owner(relation, head);
        head.last()
            .and_then(|column| model.relation(owner).columns.get(*column))
            .is_some_and(|column| column.optional)
    })
}
