//! Brings paths that mean the same to one form.

use super::Model;
use super::relation::RelationId;
use super::term::ColumnPath;

/// Drops the key of the entity at the end of a path: `author.id` is `author`.
pub fn canonical(model: &Model, relation: RelationId, path: &[usize]) -> ColumnPath {
    let mut path = path.to_vec();
    while path.len() > 1 {
        let owner = model.path_owner(relation, &path);
        let key = model.relation(owner).key();
        match (key, path.last()) {
            ([only], Some(last)) if only == last => {
                path.pop();
            }
            _ => break,
        }
    }
    path
}
