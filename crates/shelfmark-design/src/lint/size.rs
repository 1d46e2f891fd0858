//! Computes bytes and counts of rows from declarations, for the lints; it is no lint itself.

use shelfmark_design_language::model::schema::{Family, Part, Stored};
use shelfmark_design_language::model::types::TextDomain;
use shelfmark_design_language::model::{Model, Term, Type};
pub(crate) use shelfmark_design_plan::bytes::{elements, sparse_share, value_bytes};

/// Bytes of a row beside its values: head, lengths and the record of the store.
///
/// Source: `docs/format.md`, records.
pub(crate) const ROW_OVERHEAD_BYTES: f64 = 40.0;

/// Largest size of a character outside ASCII, in bytes.
const CHARACTER_BYTES: f64 = 4.0;

/// Returns the average bytes of a row: key, stored attributes, overhead; collections at their
/// average.
pub(crate) fn row_bytes(model: &Model, family: &Family) -> f64 {
    let mut bytes = ROW_OVERHEAD_BYTES;
    for part in family.key.iter().flat_map(|column| &column.parts) {
        bytes += match part {
            Part::Literal(text) => text.len() as f64,
            Part::End => 1.0,
            Part::Hole { term: Term::Column(path), .. } => value_bytes(model, family.source, path),
            Part::Hole { .. } => 8.0,
        };
    }
    for stored in &family.stored {
        bytes += match stored {
            Stored::Path(path) => value_bytes(model, family.source, path),
            Stored::Tally { .. } => 8.0,
            Stored::Collect { relation, via, path, .. } => {
                let each = value_bytes(model, *relation, path);
                each * elements(model, *relation, *via, "avg").unwrap_or(1.0)
            }
        };
    }
    bytes
}

/// Returns the bytes of the longest row that the declared maxima allow; what declares none counts
/// as its average. A character counts as `each` says.
pub(crate) fn row_bytes_max(model: &Model, family: &Family, each: fn(&TextDomain) -> f64) -> f64 {
    let paths = family.stored.iter().filter_map(|stored| match stored {
        Stored::Path(path) => Some(path),
        _ => None,
    });
    let keys = family.key.iter().flat_map(|column| &column.parts).filter_map(|part| match part {
        Part::Hole { term: Term::Column(path), .. } => Some(path),
        _ => None,
    });
    paths.chain(keys).map(|path| value_bytes_max(model, family.source, path, each)).sum::<f64>()
        + ROW_OVERHEAD_BYTES
}

/// Returns the most bytes of one character of a text.
pub(crate) fn character_bytes(domain: &TextDomain) -> f64 {
    if is_ascii(domain) { 1.0 } else { CHARACTER_BYTES }
}

/// Returns true if every character of a text is one byte.
pub(crate) fn is_ascii(domain: &TextDomain) -> bool {
    domain.bytes().max().is_none_or(|byte| byte < 0x80)
}

fn value_bytes_max(
    model: &Model,
    relation: usize,
    path: &[usize],
    character: fn(&TextDomain) -> f64,
) -> f64 {
    let owner = model.path_owner(relation, path);
    let column = path.last().and_then(|column| model.relation(owner).columns.get(*column));
    let declared = column.and_then(|column| match &column.ty {
        Type::Text(domain) => domain.max.map(|max| max as f64 * character(domain)),
        Type::Bytes(sizes) => column.facts.get("max").copied().or(sizes.max.map(|max| max as f64)),
        Type::List(element, max) => {
            let each = match element.as_ref() {
                Type::Text(domain) => domain.max.map_or(32.0, |max| max as f64 * character(domain)),
                _ => 16.0,
            };
            max.map(|max| max as f64 * each)
        }
        _ => None,
    });
    declared.unwrap_or_else(|| value_bytes(model, relation, path))
}
