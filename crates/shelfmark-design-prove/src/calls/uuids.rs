//! Tells whether a uuid decides the order of an answer, for targets that compare them by version first.
//!
//! What it is not: a look at keys; whether rows come in the order of a read is proven elsewhere.
//!
//! Invariant: false only if rows that are equal in the order's other attributes are one row, or have one
//! uuid there.

use std::collections::BTreeSet;

use shelfmark_design_language::model::pattern::Source;
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{ColumnPath, Model, OrderKey, Read, canonical};
use shelfmark_design_language::syntax::tree::CondOp;

/// Returns true if a uuid decides the order of some rows; what has one value by then decides nothing.
pub(super) fn is_by_uuid(model: &Model, read: &Read) -> bool {
    read.sources.iter().enumerate().any(|(place, source)| decides(model, read, place, source))
}

fn decides(model: &Model, read: &Read, place: usize, source: &Source) -> bool {
    let relation = source.relation;
    let fixed = source.predicates.iter().filter(|one| one.op == CondOp::Eq);
    let mut known: BTreeSet<ColumnPath> =
        fixed.map(|one| canonical(model, relation, &one.path)).collect();
    let found = model.relation(relation);
    let is_one = |known: &BTreeSet<ColumnPath>| {
        let given = |column: &usize| {
            let optional = found.columns.get(*column).is_none_or(|one| one.optional);
            !optional && known.contains(&vec![*column])
        };
        found.keys.iter().any(|key| key.iter().all(given))
    };
    for (key, _) in &read.order {
        let OrderKey::Columns(paths) = key else { continue };
        let Some(path) = paths.get(place).and_then(Option::as_ref) else { continue };
        let path = canonical(model, relation, path);
        // Rows of two types are two rows, whatever tells those of one type apart.
        let told = read.sources.len() == 1 && (known.contains(&path) || is_one(&known));
        if !told && model.path_type(relation, &path) == Type::Uuid {
            return true;
        }
        known.insert(path);
    }
    false
}
