//! Computes functional dependencies.

use std::collections::BTreeSet;

use shelfmark_design_language::model::relation::{Relation, RelationId};
use shelfmark_design_language::model::{ColumnPath, Model};

/// Returns every column of `relation` that the given ones determine, where those are present: a
/// unique attribute that is optional distinguishes the tuples that have it.
///
/// The usual fixpoint; cost: dependencies times columns.
pub fn closure(relation: &Relation, known: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut known = known.clone();
    let holds = |known: &BTreeSet<usize>, columns: &[usize]| {
        columns.iter().all(|column| known.contains(column))
    };
    if relation.keys.iter().any(|key| !key.is_empty() && holds(&known, key)) {
        return (0..relation.columns.len()).collect();
    }
    let given = known.clone();
    // What is only derived may be absent, and several tuples may lack a unique attribute.
    let there = |column: &usize| {
        given.contains(column)
            || relation.columns.get(*column).is_none_or(|column| !column.optional)
    };
    loop {
        let before = known.len();
        for (from, to) in &relation.dependencies {
            if holds(&known, from) {
                known.extend(to);
            }
        }
        let whole = |key: &Vec<usize>| holds(&known, key) && key.iter().all(there);
        if relation.keys.iter().any(|key| !key.is_empty() && whole(key)) {
            return (0..relation.columns.len()).collect();
        }
        if known.len() == before {
            return known;
        }
    }
}

/// Returns true if the paths determine the tuple of `relation` they belong to.
///
/// A path through a reference determines that reference when its end is a whole key of the
/// entity referred to.
pub fn determines_tuple(model: &Model, relation: RelationId, paths: &BTreeSet<ColumnPath>) -> bool {
    let known = columns_known(model, relation, paths);
    let found = model.relation(relation);
    closure(found, &known).len() == found.columns.len()
}

/// Returns true if the paths determine the value at `wanted`.
pub fn determines_path(
    model: &Model,
    relation: RelationId,
    paths: &BTreeSet<ColumnPath>,
    wanted: &[usize],
) -> bool {
    if (1..=wanted.len())
        .any(|length| wanted.get(..length).is_some_and(|head| paths.contains(head)))
    {
        return true;
    }
    let known = columns_known(model, relation, paths);
    let closed = closure(model.relation(relation), &known);
    wanted.first().is_some_and(|first| closed.contains(first))
}

/// Returns the columns of the relation itself that the paths give.
fn columns_known(
    model: &Model,
    relation: RelationId,
    paths: &BTreeSet<ColumnPath>,
) -> BTreeSet<usize> {
    let mut known: BTreeSet<usize> = paths
        .iter()
        .filter(|path| path.len() == 1)
        .filter_map(|path| path.first().copied())
        .collect();
    let heads: BTreeSet<usize> = paths
        .iter()
        .filter(|path| path.len() > 1)
        .filter_map(|path| path.first().copied())
        .collect();
    for head in heads {
        let column = model.relation(relation).columns.get(head);
        let Some(target) = column.and_then(|column| column.refers) else { continue };
        let inner: BTreeSet<ColumnPath> = paths
            .iter()
            .filter(|path| path.len() > 1 && path.first() == Some(&head))
            .filter_map(|path| path.get(1..).map(<[usize]>::to_vec))
            .collect();
        if determines_tuple(model, target, &inner) {
            known.insert(head);
        }
    }
    known
}
