//! Imports sample rows of a Workbench model, which lints examine for odd keys and mixed formats.

use serde_json::Value as Json;

use super::ImportError;
use super::sheet::{comment, sample_text};
use super::workbench::{At, Key, Shape};

/// Most sample rows that are imported from one table.
///
/// Ours: the published models have 442 in 44 files.
const ROWS_MAX: usize = 200;

/// The sample rows of a table, and counts of those that were not imported.
#[derive(Default)]
pub(super) struct Samples {
    /// Lines of a `sample` block.
    pub(super) lines: String,
    /// Rows without the table's key, and rows above the limit.
    keyless: usize,
    beyond: usize,
    /// Rows of a table with several facets that belong to none of them.
    of_no_facet: usize,
    /// Rows whose key attributes are written in another case.
    recased: usize,
    /// Attributes with a value that cannot be written.
    unwritten: Vec<String>,
}

impl Samples {
    /// Imports the rows of a table; each family comes with the shape of its rows.
    pub(super) fn table(
        &mut self,
        table: &At<'_>,
        key: &Key,
        families: &mut [(String, Shape<'_>)],
    ) -> Result<(), ImportError> {
        let facets = match table.member("TableFacets") {
            Some(facets) => facets.items()?,
            None => Vec::new(),
        };
        let mut rows = Vec::new();
        // Rows stand in the table, or only in its facets.
        for (at, facet) in facets.iter().enumerate().take(families.len()) {
            if let Some(found) = facet.member("TableData") {
                rows.extend(found.items()?.into_iter().map(|row| (at, row)));
            }
        }
        if let Some(found) = table.member("TableData") {
            let found = found.items()?;
            // Where facets have rows, the table repeats them.
            match (rows.is_empty(), &*families) {
                (true, [_]) => rows.extend(found.into_iter().map(|row| (0, row))),
                (true, _) => self.of_no_facet = found.len(),
                (false, _) => {}
            }
        }
        self.beyond = rows.len().saturating_sub(ROWS_MAX);
        for (at, row) in rows.into_iter().take(ROWS_MAX) {
            if let Some((family, shape)) = families.get_mut(at) {
                self.row(&row, key, family, shape);
            }
        }
        Ok(())
    }

    fn row(&mut self, row: &At<'_>, key: &Key, family: &str, shape: &mut Shape<'_>) {
        let mut keys = Vec::new();
        let mut recased = false;
        for part in std::iter::once(&key.partition).chain(&key.sort) {
            let exact = row.json.get(&part.name);
            recased |= exact.is_none();
            let found = exact.or_else(|| in_another_case(row.json, &part.name));
            keys.extend(found.and_then(cell).and_then(sample_text));
        }
        if keys.len() != 1 + usize::from(key.sort.is_some()) {
            self.keyless += 1;
            return;
        }
        self.recased += usize::from(recased);
        let mut values = Vec::new();
        for attribute in shape.others() {
            let Some(json) = row.json.get(&attribute.name) else { continue };
            // Nothing was entered there.
            if json.as_object().is_some_and(serde_json::Map::is_empty) {
                continue;
            }
            match value(json) {
                Some(text) => {
                    values.push(format!("{} = {text}", shape.columns.of(&attribute.name)));
                }
                None if !self.unwritten.contains(&attribute.name) => {
                    self.unwritten.push(attribute.name.clone());
                }
                None => {}
            }
        }
        let values =
            if values.is_empty() { String::new() } else { format!(" {{ {} }}", values.join(", ")) };
        self.lines.push_str(&format!("    row {family} {}{values}\n", keys.join(" ")));
    }

    /// Returns remarks on what was not imported, a sentence each.
    pub(super) fn remarks(&self, table: &str) -> Vec<String> {
        let table = comment(table);
        let mut found = Vec::new();
        if self.keyless > 0 {
            found.push(format!(
                "? Sample rows of {table} that were not taken, because they lack its key or have \
                 one that is no short text: {}.",
                self.keyless
            ));
        }
        if self.of_no_facet > 0 {
            found.push(format!(
                "? Sample rows of {table} that were not taken, because they stand in none of its \
                 facets: {}. Of which are they?",
                self.of_no_facet
            ));
        }
        if self.recased > 0 {
            found.push(format!(
                "? Sample rows of {table} that write its key in another case: {}. Which is right?",
                self.recased
            ));
        }
        if self.beyond > 0 {
            found.push(format!(
                "Sample rows of {table} beyond the first {ROWS_MAX}, not taken: {}.",
                self.beyond
            ));
        }
        if !self.unwritten.is_empty() {
            found.push(format!(
                "Values of sample rows of {table} that have no form here: {}.",
                comment(&self.unwritten.join(", "))
            ));
        }
        found
    }
}

/// Returns the texts of a key cell in the rows of a facet or a table.
pub(super) fn rows_of(at: &At<'_>, name: &str) -> Vec<String> {
    let rows = at.member("TableData").and_then(|rows| rows.items().ok()).unwrap_or_default();
    rows.iter()
        .filter_map(|row| row.json.get(name)?.get("S")?.as_str().map(str::to_owned))
        .collect()
}

/// Returns the common beginning of all texts, up to its last delimiter.
pub(super) fn common_head(texts: &[String]) -> Option<String> {
    let mut heads = texts.iter().map(|text| text.rfind('#').and_then(|at| text.get(..=at)));
    let first = heads.next()??;
    heads.all(|head| head == Some(first)).then(|| first.to_owned())
}

/// Returns the member of that name in other letters, when there is one such.
fn in_another_case<'a>(row: &'a Json, name: &str) -> Option<&'a Json> {
    let mut found = row.as_object()?.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
    match (found.next(), found.next()) {
        (Some((_, json)), None) => Some(json),
        _ => None,
    }
}

/// Returns the text of a cell in DynamoDB's JSON: `{"S": "…"}`.
fn cell(json: &Json) -> Option<&str> {
    let letter = json.get("S").or_else(|| json.get("N"));
    letter.and_then(Json::as_str)
}

/// Returns a value of a sample row: a short text, a whole number, or yes or no.
fn value(json: &Json) -> Option<String> {
    if let Some(text) = json.get("S").and_then(Json::as_str) {
        return sample_text(text);
    }
    if let Some(number) = json.get("N").and_then(Json::as_str) {
        return number.parse::<i64>().ok().map(|number| number.to_string());
    }
    json.get("BOOL").and_then(Json::as_bool).map(|bit| bit.to_string())
}
