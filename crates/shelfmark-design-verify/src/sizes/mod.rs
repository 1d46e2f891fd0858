//! Verifies that keys and items are no longer than DynamoDB takes, by what is declared of their texts.
//!
//! What it is not: a text without a maximum, or of letters that take several bytes, is taken to fit, as
//! certificates say.
//!
//! Invariant: says by itself what is wrong; nothing of the prover is asked.

use super::shelf::shown;
use super::write_families::concerned;
use shelfmark_design_language::model::schema::{Codec, Family, Part, Schema, Step, WriteStep};
use shelfmark_design_language::model::types::Type;
use shelfmark_design_language::model::{Model, Read, Term, Write};

/// Most bytes of a partition key.
///
/// Source: DynamoDB Developer Guide, Quotas, read 2026-11; so are the others.
const PARTITION_BYTES_MAX: u64 = 2_048;

/// Most bytes of a sort key.
const SORT_BYTES_MAX: u64 = 1_024;

/// Most bytes of an item.
const ITEM_BYTES_MAX: u64 = 409_600;

/// Checks the keys and items that a write changes.
pub(super) fn written(
    model: &Model,
    schema: &Schema,
    write: &Write,
    steps: &[WriteStep],
) -> Result<(), String> {
    if schema.target != "dynamodb" {
        return Ok(());
    }
    let changed = steps.iter().filter(|step| !step.kind.is_read()).flat_map(|step| &step.families);
    for id in changed {
        let Some(family) = schema.families.get(*id).filter(|one| concerned(model, write, one))
        else {
            continue;
        };
        let entries = schema.families.iter().filter(|entry| entry.base == Some(*id));
        for lain in entries.chain([family]) {
            key(schema, lain)?;
        }
        let types = shown(model, family);
        let types = types.iter().map(|path| model.path_type(family.source, path));
        let bytes: u64 = types.map(|ty| bytes_of(&ty)).fold(0, u64::saturating_add);
        if bytes > ITEM_BYTES_MAX {
            return Err(format!("O10: an item of {} may be too long", family.name.text));
        }
    }
    Ok(())
}

/// Checks the own columns of a key.
fn key(schema: &Schema, family: &Family) -> Result<(), String> {
    let Some(table) = schema.tables.get(family.table) else { return Ok(()) };
    let below = family.base.and_then(|base| schema.families.get(base));
    let own = family.key.len() - below.map_or(0, |base| base.key.len()).min(family.key.len());
    let parts = || family.key.iter().take(own).map(|column| column.parts.as_slice());
    let plain = |_: &Term, ty: &Type| bytes_of(ty);
    let (partition, sort) = (
        parts().take(table.partition).map(|one| text(one, &plain)).sum::<u64>(),
        parts().skip(table.partition).map(|one| text(one, &plain)).sum::<u64>(),
    );
    if partition > PARTITION_BYTES_MAX || sort > SORT_BYTES_MAX {
        return Err(format!("O10: a key of {} may be too long", table.name.text));
    }
    Ok(())
}

/// Checks the values by which a read asks.
pub(super) fn asked(schema: &Schema, read: &Read, steps: &[Step]) -> Result<(), String> {
    if schema.target != "dynamodb" {
        return Ok(());
    }
    let given = |term: &Term, ty: &Type| match term {
        Term::Param(at) => read.params.get(*at).map_or(0, |param| bytes_of(&param.ty)),
        _ => bytes_of(ty),
    };
    for step in steps.iter().filter_map(Step::read) {
        let Some(table) = schema.tables.get(step.table) else { continue };
        let sum = |from: usize, to: usize| -> u64 {
            let columns = step.bound.iter().take(to).skip(from);
            columns.map(|parts| text(parts, &given)).sum()
        };
        let partition = sum(0, table.partition);
        if partition > PARTITION_BYTES_MAX || sum(table.partition, usize::MAX) > SORT_BYTES_MAX {
            return Err(format!("O10: what is asked of {} may be too long", table.name.text));
        }
    }
    Ok(())
}

/// Returns the most bytes of a text of parts, of which those without a maximum count as nothing.
fn text(parts: &[Part], hole: &impl Fn(&Term, &Type) -> u64) -> u64 {
    let one = |part: &Part| match part {
        Part::Literal(text) => text.len() as u64,
        Part::End => 0,
        Part::Hole { codec: Codec::Pad(width), .. } => u64::from(*width),
        Part::Hole { term, ty, .. } => hole(term, ty),
    };
    parts.iter().map(one).fold(0, u64::saturating_add)
}

/// Returns the most bytes of a value that declares some, of plain letters.
fn bytes_of(ty: &Type) -> u64 {
    match ty {
        Type::Text(domain) => domain.max.unwrap_or(0),
        Type::Bytes(sizes) => sizes.max.unwrap_or(0),
        Type::List(of, max) => max.unwrap_or(0).saturating_mul(bytes_of(of)),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
