//! Reads the sample rows of a table, which stand in it or in its facets.
//!
//! Invariant: every row that is handed on has the whole key of its table.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::ImportError;
use crate::json::At;
use crate::names::comment;
use crate::observed::{OBSERVED_ROWS_MAX, Row, Table};

/// Reads the rows into the table; returns remarks on those that are left out.
pub(super) fn rows(at: &At<'_>, table: &mut Table) -> Result<Vec<String>, ImportError> {
    let mut found = Vec::new();
    for (number, facet) in at.list("TableFacets")?.iter().enumerate() {
        for row in facet.list("TableData")? {
            found.push((Some(number), row));
        }
    }
    for row in at.list("TableData")? {
        found.push((None, row));
    }
    let (mut keyless, mut recased, mut beyond) = (0, 0, 0);
    let mut seen: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (facet, at) in found {
        if table.rows.len() >= OBSERVED_ROWS_MAX {
            beyond += 1;
            continue;
        }
        let (row, changed) = row(&at, table);
        let key: Vec<String> = table
            .key
            .iter()
            .filter_map(|part| row.text(&part.name))
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect();
        if key.len() != table.key.len() {
            keyless += 1;
            continue;
        }
        recased += usize::from(changed);
        let places = seen.entry(key).or_default();
        // Where facets have rows, the table repeats them, with what a facet does not show.
        if facet.is_none() && !places.is_empty() && !table.facets.is_empty() {
            for place in places.iter() {
                let same = table.rows.get_mut(*place).into_iter();
                same.for_each(|same| same.cells.extend(row.cells.clone()));
            }
            continue;
        }
        places.push(table.rows.len());
        table.rows.push(Row { facet, ..row });
    }
    let name = comment(&table.name);
    let mut remarks = Vec::new();
    if keyless > 0 {
        remarks.push(format!(
            "? Sample rows of {name} that were not taken, because they lack its key or have one \
             that is no text: {keyless}."
        ));
    }
    if recased > 0 {
        remarks.push(format!(
            "? Sample rows of {name} that write its key in another case: {recased}. Which is right?"
        ));
    }
    if beyond > 0 {
        remarks.push(format!(
            "Rows of {name} beyond the first {OBSERVED_ROWS_MAX}, not looked at: {beyond}."
        ));
    }
    Ok(remarks)
}

/// Returns a row with the names that the table's key has, and true if one was in another case.
fn row(at: &At<'_>, table: &Table) -> (Row, bool) {
    let mut cells: BTreeMap<String, Json> = BTreeMap::new();
    for (name, member) in at.members() {
        // Nothing was entered there.
        if member.json.as_object().is_some_and(|one| !one.is_empty()) {
            cells.insert(name.to_owned(), member.json.clone());
        }
    }
    let mut changed = false;
    for part in &table.key {
        if cells.contains_key(&part.name) {
            continue;
        }
        let mut alike = cells.keys().filter(|name| name.eq_ignore_ascii_case(&part.name));
        if let (Some(name), None) = (alike.next().cloned(), alike.next())
            && let Some(json) = cells.remove(&name)
        {
            changed = true;
            cells.insert(part.name.clone(), json);
        }
    }
    (Row { cells, facet: None }, changed)
}
