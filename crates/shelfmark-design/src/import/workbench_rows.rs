//! Sample rows of a Workbench model: what lints look at for odd keys and mixed formats.

use serde_json::Value as Json;

use super::ImportError;
use super::sheet::sample_text;
use super::workbench::{At, Key, Kind};

/// Most sample rows that are taken over from one table.
///
/// Ours: the published models have 442 in 44 files.
const ROWS_MAX: usize = 200;

/// The sample rows of a table, as lines of a `sample` block.
pub(super) fn samples(
    table: &At<'_>,
    key: &Key,
    families: &[(String, &Kind)],
) -> Result<String, ImportError> {
    let mut found: Vec<(String, At<'_>)> = Vec::new();
    let facets = match table.member("TableFacets") {
        Some(facets) => facets.items()?,
        None => Vec::new(),
    };
    // Rows stand in the table, or only in its facets.
    for (facet, (family, _)) in facets.iter().zip(families) {
        if let Some(rows) = facet.member("TableData") {
            found.extend(rows.items()?.into_iter().map(|row| (family.clone(), row)));
        }
    }
    let only = match families {
        [(only, _)] => Some(only),
        _ => None,
    };
    if let (true, Some(family), Some(rows)) = (found.is_empty(), only, table.member("TableData")) {
        found.extend(rows.items()?.into_iter().map(|row| (family.clone(), row)));
    }
    let mut out = String::new();
    for (family, row) in found.into_iter().take(ROWS_MAX) {
        let mut keys = Vec::new();
        for part in std::iter::once(&key.partition).chain(&key.sort) {
            keys.extend(row.json.get(&part.name).and_then(cell).and_then(sample_text));
        }
        let wanted = 1 + usize::from(key.sort.is_some());
        if keys.len() == wanted {
            out.push_str(&format!("    row {family} {}\n", keys.join(" ")));
        }
    }
    Ok(out)
}

/// The text of a cell in DynamoDB's JSON: `{"S": "…"}`.
fn cell(json: &Json) -> Option<&str> {
    let letter = json.get("S").or_else(|| json.get("N"));
    letter.and_then(Json::as_str)
}
