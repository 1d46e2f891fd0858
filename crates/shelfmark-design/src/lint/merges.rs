//! Warns of redundant tables (W7), whose readers another table of the schema could serve.
//!
//! Such a table has rows that another table has in the same partitions, in an order that its
//! readers need no more of; or its readers could read a few ranges of the other instead.

use std::collections::BTreeMap;

use super::{Context, Found};
use shelfmark_design_language::model::schema::{
    Family, FamilyId, Part, Schema, Stored, TableId, WriteStepKind,
};
use shelfmark_design_language::model::{Model, Type};
use shelfmark_design_prove::Proof;
use shelfmark_design_prove::order::term_text;
use shelfmark_design_prove::unique::{available, key_paths};

/// Most tables of one partition key that are compared with each other.
///
/// Ours: models that people write have a handful; of more, pairs would take seconds.
const KIN_MAX: usize = 100;

/// Most values of a column for which one range each is suggested.
///
/// Ours: beyond that many ranges a copy is the better plan in nearly all cases.
const RANGES_MAX: usize = 8;

/// The part of a table's key that its readers rely on: the columns that they name or order by.
#[derive(Default)]
struct Use {
    columns: usize,
    read: bool,
    /// True if a point read or a write looks rows up by their whole key.
    whole: bool,
}

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Found>) {
    for (number, schema) in context.model.schemas.iter().enumerate() {
        let uses = uses(context.model, schema, number, context.proofs);
        let mut groups: BTreeMap<String, Vec<FamilyId>> = BTreeMap::new();
        for (id, family) in schema.families.iter().enumerate() {
            let alone = schema.of_table(family.table).count() == 1;
            if let Some(table) = schema.tables.get(family.table).filter(|_| alone) {
                let partition: Vec<_> =
                    family.key.iter().take(table.partition).map(|column| &column.parts).collect();
                let key = format!("{} {partition:?} {}", family.source, table.partition);
                groups.entry(key).or_default().push(id);
            }
        }
        for group in groups.values().filter(|group| (2..=KIN_MAX).contains(&group.len())) {
            for id in group {
                let heir = group.iter().find(|other| {
                    other != &id && inherits(context.model, schema, *id, **other, &uses)
                });
                let Some(one) = schema.families.get(*id) else { continue };
                let message = match heir.and_then(|heir| schema.families.get(*heir)) {
                    Some(heir) => format!(
                        "{} holds the rows of {} in the same partitions, and no reader needs the \
                         other order",
                        heir.name.text, one.name.text
                    ),
                    None => match group
                        .iter()
                        .find_map(|other| split(context.model, schema, *id, *other, &uses))
                    {
                        Some(message) => message,
                        None => continue,
                    },
                };
                found.push(Found::new("W7", number, &one.name.text, one.name.span, message));
            }
        }
    }
}

/// Reports that the other family is this one divided by a column of few values, if it is: a range
/// of this one is as many ranges of the other as there are values, merged.
fn split<'a>(
    model: &Model,
    schema: &'a Schema,
    id: FamilyId,
    other: FamilyId,
    uses: &BTreeMap<TableId, Use>,
) -> Option<String> {
    let (one, heir) = (schema.families.get(id)?, schema.families.get(other)?);
    uses.get(&one.table).filter(|used| used.read && !used.whole)?;
    if heir.key.len() != one.key.len() + 1 || !holds_all(model, schema, id, other) {
        return None;
    }
    let column = |family: &'a Family, at: usize| {
        let table = schema.tables.get(family.table)?;
        Some((&family.key.get(at)?.parts, table.desc.get(at)?))
    };
    let common = |at: &usize| column(one, *at) == column(heir, *at);
    let at = (0..one.key.len()).take_while(common).count();
    if !(at..one.key.len()).all(|at| column(one, at) == column(heir, at + 1)) {
        return None;
    }
    let ([Part::Hole { term, ty, .. }] | [Part::Hole { term, ty, .. }, Part::End]) =
        heir.key.get(at)?.parts.as_slice()
    else {
        return None;
    };
    let values = match ty {
        Type::Bool => 2,
        Type::Enum(variants) => variants.len(),
        _ => return None,
    };
    (values <= RANGES_MAX).then(|| {
        format!(
            "a range of {} is {values} ranges of {}, one for each {}: a copy less to write, \
             where its readers can merge them",
            one.name.text,
            heir.name.text,
            term_text(model, heir.source, term)
        )
    })
}

fn uses(model: &Model, schema: &Schema, number: usize, proofs: &[Proof]) -> BTreeMap<TableId, Use> {
    let mut uses: BTreeMap<TableId, Use> = BTreeMap::new();
    for proof in proofs.iter().filter(|proof| proof.schema == number) {
        for step in proof.serve.iter().flat_map(|serve| &serve.steps) {
            let (Some(step), Some(read)) = (step.read(), model.reads.get(proof.pattern)) else {
                continue;
            };
            let used = uses.entry(step.table).or_default();
            used.read = true;
            let ends = usize::from(!step.bounds.is_empty());
            let order = if read.order.is_empty() { 0 } else { read.order.len().max(ends) };
            used.columns = used.columns.max(step.bound.len() + ends.max(order));
        }
        for step in proof.plan.iter().flat_map(|plan| &plan.steps) {
            if !matches!(step.kind, WriteStepKind::Read { .. }) {
                continue;
            }
            for family in step.families.iter().filter_map(|id| schema.families.get(*id)) {
                uses.entry(family.table).or_default().whole = true;
            }
        }
    }
    uses
}

/// Returns true if the other family answers all that is asked of one family.
fn inherits(
    model: &Model,
    schema: &Schema,
    id: FamilyId,
    other: FamilyId,
    uses: &BTreeMap<TableId, Use>,
) -> bool {
    let (Some(one), Some(heir)) = (schema.families.get(id), schema.families.get(other)) else {
        return false;
    };
    let Some(used) = uses.get(&one.table).filter(|used| used.read && !used.whole) else {
        return false;
    };
    let directions = |family: &Family| {
        schema.tables.get(family.table).map(|table| table.desc.clone()).unwrap_or_default()
    };
    let (left, right) = (directions(one), directions(heir));
    let common = one
        .key
        .iter()
        .zip(&heir.key)
        .zip(left.iter().zip(&right))
        .take_while(|((a, b), (left, right))| a.parts == b.parts && left == right)
        .count();
    // Of two that do for one another the first stays.
    let longer = heir.key.len() > one.key.len() || (heir.key.len() == one.key.len() && other < id);
    longer && used.columns <= common && holds_all(model, schema, id, other)
}

/// Returns true if the other family holds a row for each row of this one, with all of its
/// attributes, and this one keeps nothing of its own.
fn holds_all(model: &Model, schema: &Schema, id: FamilyId, other: FamilyId) -> bool {
    let (Some(one), Some(heir)) = (schema.families.get(id), schema.families.get(other)) else {
        return false;
    };
    let guards = |family: &Family| -> Vec<_> {
        family.when.iter().map(|one| (one.path.clone(), one.op, one.values.clone())).collect()
    };
    let kept = one.stored.iter().any(|stored| !matches!(stored, Stored::Path(_)));
    guards(one) == guards(heir)
        && one.base.is_none() == heir.base.is_none()
        && schema.entries(id).next().is_none()
        && !kept
        && available(model, one).is_subset(available(model, heir))
        && key_paths(model, one).is_subset(&key_paths(model, heir))
}
