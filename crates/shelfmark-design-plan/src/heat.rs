//! Says which declared rates land in one row or partition beyond what the target's partition takes.
//!
//! What it is not: no limit on plans. Where a key can spread rows over shards, they are spread before.
//!
//! Invariant: what is not declared is not told.

use std::collections::BTreeSet;

use crate::Plan;
use crate::volume::{called, hottest_share};
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::model::schema::{Family, Part, Schema, Stored};
use shelfmark_design_language::model::{ColumnPath, Model, RelationId, Term, Type, Write};
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::closure::determines_tuple;
use shelfmark_design_prove::paths::all_key_paths;

/// Adds a note for each write that is hotter somewhere than a partition may be.
pub(crate) fn told(model: &Model, target: &Target, plan: &mut Plan) {
    let Some(schema) = model.schemas.first() else { return };
    for write in &model.writes {
        if let Some(note) = hottest(model, schema, target, write) {
            plan.schema.insert_str(0, &format!("# {note}\n"));
            plan.notes.push(note);
        }
    }
}

/// Returns the calls a second of a write at its peak, where they are declared.
fn peak(write: &Write) -> Option<f64> {
    write.facts.get("peak").or(write.facts.get("rate")).copied()
}

/// Returns the note of the place where a write is hottest, if that is too hot.
fn hottest(model: &Model, schema: &Schema, target: &Target, write: &Write) -> Option<String> {
    let rate = peak(write)?;
    let mut worst: Option<(f64, String)> = None;
    let mut meet = |share: Option<f64>, place: String| {
        let per_second = rate * share.unwrap_or(0.0);
        if worst.as_ref().is_none_or(|(most, _)| per_second > *most) {
            worst = Some((per_second, place));
        }
    };
    // A loop writes many rows by one call, whose number is its own matter.
    for effect in write.effects.iter().filter(|effect| effect.each.is_none()) {
        for family in schema.families.iter().filter(|family| touches(model, effect, family)) {
            let (known, parts) = place_of(model, schema, target, family, write);
            let share = hottest_share(model, family.source, &known).map(|share| share / parts);
            let one = determines_tuple(model, family.source, &known);
            let table = schema.tables.get(family.table).map_or("", |table| &table.name.text);
            let place = if one { "row" } else { "partition" };
            meet(share, format!("{place} of {table}"));
            if target.ordered && effect.kind == EffectKind::Insert && grows(family) {
                meet(Some(1.0), format!("place of {table}, whose new rows all come at the end"));
            }
        }
        for (via, family) in tallies(schema, effect) {
            let share = hottest_share(model, effect.relation, &BTreeSet::from([vec![via]]));
            meet(share, format!("row of {}, which keeps a number of it", family.name.text));
        }
    }
    let (per_second, place) = worst?;
    let limit = target.partition_writes_max;
    (per_second > limit).then(|| {
        format!(
            "{} may land {per_second:.0} times a second in one {place}: a partition of {} takes \
             about {limit:.0}",
            write.name.text, target.name
        )
    })
}

/// Returns true if the first column of a key grows with time.
fn grows(family: &Family) -> bool {
    let mut parts = family.key.first().into_iter().flat_map(|column| &column.parts);
    let first = parts.find(|part| !matches!(part, Part::Literal(_)));
    matches!(first, Some(Part::Hole { term: Term::Column(_), ty, .. })
        if ty.grows_with_time() || matches!(ty, Type::Date))
}

/// Returns the attributes whose values have one place together, and over how many parts it is spread.
fn place_of(
    model: &Model,
    schema: &Schema,
    target: &Target,
    family: &Family,
    write: &Write,
) -> (BTreeSet<ColumnPath>, f64) {
    // In one order no range is a unit that takes so much: a row is.
    if target.ordered {
        (all_key_paths(model, family), 1.0)
    } else {
        called(model, schema, family, Some(write))
    }
}

/// Returns true if an effect writes rows of a family.
fn touches(model: &Model, effect: &Effect, family: &Family) -> bool {
    let held = |column: usize| {
        let path = [column];
        let stored = |one: &Stored| matches!(one, Stored::Path(held) if **held == path);
        all_key_paths(model, family).contains(path.as_slice()) || family.stored.iter().any(stored)
    };
    effect.relation == family.source
        && match effect.kind {
            EffectKind::Insert | EffectKind::Delete => true,
            _ => effect.set.iter().any(|(column, _)| held(*column)),
        }
}

/// Returns the references by which rows keep numbers of what an effect brings or takes, with those rows.
fn tallies<'s>(schema: &'s Schema, effect: &Effect) -> Vec<(usize, &'s Family)> {
    if !matches!(effect.kind, EffectKind::Insert | EffectKind::Delete) {
        return Vec::new();
    }
    let of_family = |family: &'s Family| {
        let via = family.stored.iter().filter_map(|stored| match stored {
            Stored::Tally { relation, via, .. } if *relation == effect.relation => Some(*via),
            _ => None,
        });
        via.map(move |via| (via, family))
    };
    schema.families.iter().flat_map(of_family).collect()
}

/// Returns how often a second one row's number of what refers to it changes at most, by what is declared.
pub(crate) fn tallied(model: &Model, counted: RelationId, via: usize) -> f64 {
    let share = hottest_share(model, counted, &BTreeSet::from([vec![via]])).unwrap_or(0.0);
    let changes = model.writes.iter().map(|write| {
        let counts = |effect: &&Effect| {
            let made = matches!(effect.kind, EffectKind::Insert | EffectKind::Delete);
            made && effect.relation == counted && effect.each.is_none()
        };
        peak(write).unwrap_or(0.0) * write.effects.iter().filter(counts).count() as f64
    });
    changes.sum::<f64>() * share
}
