//! The shape of a plan, by rules of its own.

use crate::model::relation::Relation;
use crate::model::schema::{Family, Part, Schema, Serve, Step};
use crate::model::{Model, Read, Term};
use crate::prove::certificate::Status;
use crate::syntax::tree::Verb;

pub(super) fn check(
    model: &Model,
    schema: &Schema,
    read: &Read,
    serve: &Serve,
    status: Status,
) -> Result<(), String> {
    let Some(Step::Read(step)) = serve.steps.first() else {
        return Err("the plan does not begin with a read".to_owned());
    };
    if status == Status::Certified && !super::is_single(serve) {
        return Err("`certified` is one range, this plan has more steps".to_owned());
    }
    let table = schema.tables.get(step.table).ok_or("no such table")?;
    let whole = step.bound.is_empty() && step.bounds.is_empty() && step.verb == Verb::Scan;
    if step.bound.len() < table.partition && !whole {
        return Err("the partition key is not bound".to_owned());
    }
    if step.verb == Verb::Get && (step.bound.len() != table.kinds.len() || table.is_index) {
        return Err("a point read without the whole key".to_owned());
    }
    let takes = serve.steps.iter().any(|step| matches!(step, Step::Take(_)));
    let single_row = step.verb == Verb::Get;
    if read.limit.is_some() && step.limit.is_none() && !takes && !single_row && !read.unique {
        return Err("the limit is not in the plan".to_owned());
    }
    if read.aggregate.is_some() {
        return Ok(());
    }
    for source in &read.sources {
        let mut of_source = schema
            .families
            .iter()
            .filter(|family| family.table == step.table && family.source == source.relation);
        if !of_source.clone().any(|family| read.distinct || has_own_rows(model, schema, family)) {
            return Err(format!(
                "no row family of {} has a row for each {}",
                table.name.text,
                model.relation(source.relation).name.text
            ));
        }
        if of_source.next().is_none() {
            return Err("the table holds no such rows".to_owned());
        }
    }
    Ok(())
}

/// Whether the key (of the row itself, for an index entry) holds a whole key of its source.
fn has_own_rows(model: &Model, schema: &Schema, family: &Family) -> bool {
    let family = family.base.and_then(|base| schema.families.get(base)).unwrap_or(family);
    let mut known: Vec<usize> = Vec::new();
    let mut through: Vec<(usize, usize)> = Vec::new();
    for part in family.key.iter().flat_map(|column| &column.parts) {
        if let Part::Hole { term: Term::Column(path), .. } = part {
            match path.as_slice() {
                [column] => known.push(*column),
                [first, second] => through.push((*first, *second)),
                _ => {}
            }
        }
    }
    let relation = model.relation(family.source);
    // A whole key of the entity referred to stands for the reference.
    for (first, _) in through.clone() {
        let target = relation.columns.get(first).and_then(|column| column.refers);
        let Some(target) = target.map(|id| model.relation(id)) else { continue };
        let whole = target
            .keys
            .iter()
            .any(|key| key.iter().all(|column| through.contains(&(first, *column))));
        if whole {
            known.push(first);
        }
    }
    holds_key(relation, known)
}

/// The fixpoint of the dependencies, until a key is held or nothing more follows.
fn holds_key(relation: &Relation, mut known: Vec<usize>) -> bool {
    for _ in 0..=relation.dependencies.len() {
        if relation.keys.iter().any(|key| key.iter().all(|column| known.contains(column))) {
            return true;
        }
        for (from, to) in &relation.dependencies {
            if from.iter().all(|column| known.contains(column)) {
                known.extend(to);
            }
        }
    }
    false
}
