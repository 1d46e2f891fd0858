//! Warns of sample keys that repeat or do not fit their template (D1), or that mix forms (K8).
//!
//! What it is not: it does not judge values; a published key may name a user `a` though users have
//! UUIDs. Only the text around the values, and what repeats, is looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::Found;
use super::samples::forms;
use shelfmark_design_language::model::schema::{Codec, Family, Part, Sample, Schema};

/// Longest sample key that is aligned with its template, in bytes.
///
/// Ours: every target's longest sort key but one is shorter, and pieces times length is looked at.
const ALIGNED_BYTES_MAX: usize = 2_048;

/// Shortest tag that is searched for inside a value, in bytes.
const TAG_BYTES_MIN: usize = 3;

/// A hole of a template: family, column of its key, and the hole's number in the column.
type Hole = (usize, usize, usize);

pub(super) fn check(schema: &Schema, number: usize, found: &mut Vec<Found>) {
    let mut seen: BTreeSet<(usize, &[String])> = BTreeSet::new();
    let mut values: BTreeMap<Hole, Vec<(&Sample, &str)>> = BTreeMap::new();
    for sample in &schema.samples {
        let Some(family) = schema.families.get(sample.family) else { continue };
        let mut push = |message: String| {
            found.push(Found::new("D1", number, "sample", sample.span, message));
        };
        if sample.keys.len() == family.key.len() && !seen.insert((family.table, &sample.keys)) {
            push(format!("two sample rows have the key {}", sample.keys.join(" ; ")));
        }
        for (at, key) in sample.keys.iter().enumerate() {
            if key.contains(['<', '{']) || key.is_empty() || key.contains("##") {
                push(format!("the sample key {key:?} is empty or was not filled in"));
                continue;
            }
            let column = family.key.get(at);
            let Some(parts) = column.map(|column| column.parts.as_slice()) else { continue };
            let typed =
                parts.iter().any(|part| matches!(part, Part::Hole { codec: Codec::Native, .. }));
            if typed || key.len() > ALIGNED_BYTES_MAX {
                continue;
            }
            let Some(pieces) = align(parts, key) else {
                if !fits_another(schema, family, at, key) {
                    push(format!(
                        "the sample key {key:?} does not have the form of {}",
                        family.name.text
                    ));
                }
                continue;
            };
            let tag = match parts.first() {
                Some(Part::Literal(text)) if text.len() >= TAG_BYTES_MIN => Some(text.as_str()),
                _ => None,
            };
            if tag.is_some_and(|tag| pieces.iter().any(|piece| piece.contains(tag))) {
                push(format!("the sample key {key:?} repeats its own prefix"));
            }
            for (hole, piece) in pieces.into_iter().enumerate() {
                values.entry((sample.family, at, hole)).or_default().push((sample, piece));
            }
        }
    }
    for ((family, ..), texts) in values {
        let name = schema.families.get(family).map_or("", |family| family.name.text.as_str());
        forms(number, &format!("a part of {name}'s key"), texts.into_iter(), found);
    }
}

/// Returns true if a family of the same name, from another source, writes such keys.
fn fits_another(schema: &Schema, family: &Family, at: usize, key: &str) -> bool {
    schema
        .of_table(family.table)
        .filter(|(_, other)| other.name.text == family.name.text)
        .filter_map(|(_, other)| other.key.get(at))
        .any(|column| align(&column.parts, key).is_some())
}

/// Returns the texts of a template's holes, each as short as the rest allows; `None` where the text does
/// not fit.
fn align<'t>(parts: &[Part], text: &'t str) -> Option<Vec<&'t str>> {
    let parts: Vec<&Part> = parts.iter().filter(|part| **part != Part::End).collect();
    let ends = text.len();
    // From the last part on: where in the text what remains of the template fits.
    let mut fits: Vec<Vec<bool>> = vec![(0..=ends).map(|at| at == ends).collect()];
    for part in parts.iter().rev() {
        let next = fits.last()?;
        let here = match part {
            Part::Literal(literal) => (0..=ends)
                .map(|at| {
                    text.get(at..).is_some_and(|rest| rest.starts_with(literal.as_str()))
                        && next.get(at + literal.len()).copied().unwrap_or(false)
                })
                .collect(),
            _ => {
                let mut later = false;
                let mut here: Vec<bool> = Vec::with_capacity(ends + 1);
                for fit in next.iter().rev() {
                    later |= *fit;
                    here.push(later);
                }
                here.reverse();
                here
            }
        };
        fits.push(here);
    }
    fits.reverse();
    if !fits.first()?.first().copied()? {
        return None;
    }
    let mut at = 0;
    let mut pieces = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Literal(literal) => at += literal.len(),
            _ => {
                let next = fits.get(number + 1)?;
                let end = (at..=ends)
                    .find(|end| next.get(*end) == Some(&true) && text.is_char_boundary(*end))?;
                pieces.push(text.get(at..end)?);
                at = end;
            }
        }
    }
    Some(pieces)
}
