//! Proves that reads of writes find exactly the tuples that satisfy their bindings.

use super::canon::canonical;
use super::derive;
use super::read::analyse;
use shelfmark_design_language::model::pattern::{Predicate, Source};
use shelfmark_design_language::model::schema::{FamilyId, Schema, Serve, Step};
use shelfmark_design_language::model::{ColumnPath, Model, Read, RelationId, Term, Write};
use shelfmark_design_language::syntax::tree::CondOp;
use shelfmark_design_language::target::Target;

pub(super) fn same_bindings(
    model: &Model,
    relation: RelationId,
    left: &[(ColumnPath, Term)],
    right: &[(ColumnPath, Term)],
) -> bool {
    let canon = |list: &[(ColumnPath, Term)]| {
        let mut list: Vec<(ColumnPath, Term)> = list
            .iter()
            .map(|(path, term)| (canonical(model, relation, path), term.clone()))
            .collect();
        list.sort();
        list
    };
    canon(left) == canon(right)
}

/// The tuples that a read of a family by equalities must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wanted {
    /// All that satisfy the equalities.
    All,
    /// Those of them that the family, a sparse one, has rows of.
    OfFamily,
}

/// Proves that a read of one family by equalities finds exactly the wanted tuples.
pub(crate) fn exact_read(
    model: &Model,
    schema: &Schema,
    target: &Target,
    write: &Write,
    (id, wanted): (FamilyId, Wanted),
    bindings: &[(ColumnPath, Term)],
) -> Result<(), String> {
    let family = schema.families.get(id).ok_or("no such family")?;
    if family.follows.is_some() {
        return Err("its rows may be behind what they stem from".to_owned());
    }
    let guards = family.when.iter().filter(|_| wanted == Wanted::OfFamily).cloned();
    let predicates = bindings
        .iter()
        .map(|(path, term)| Predicate {
            path: path.clone(),
            op: CondOp::Eq,
            values: vec![term.clone()],
            max: None,
            span: write.span,
        })
        .chain(guards)
        .collect();
    let read = Read {
        name: write.name.clone(),
        params: write.params.clone(),
        sources: vec![Source {
            relation: family.source,
            predicates,
            outputs: Vec::new(),
            limit: None,
        }],
        outputs: Vec::new(),
        distinct: false,
        aggregate: None,
        order: Vec::new(),
        limit: None,
        page: false,
        offset: false,
        unique: false,
        consistency: shelfmark_design_language::model::Consistency::Any,
        admin: false,
        facts: std::collections::BTreeMap::new(),
        span: write.span,
    };
    let step =
        derive::family_step(model, schema, family, &read).ok_or("its key cannot be formed")?;
    let serve = Serve { read: 0, steps: vec![Step::Read(step)], span: write.span, derived: true };
    let analysis = analyse(model, schema, target, &read, &serve);
    match analysis.failures.first() {
        Some(failure) => Err(failure.reason.clone()),
        None if analysis.families.contains(&id) => Ok(()),
        None => Err("another row family lies there".to_owned()),
    }
}
