//! Lays items out as CSV: a line of names, then a line for each item.
//!
//! It is for looking at rows in a spreadsheet; `shelfmark export --format csv` writes files that are read
//! back with every type.
//!
//! Invariant: every attribute of every item has a column, so that no value is left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::table::csv_line;

/// Returns the lines of items: key columns first, then all other attributes by name.
pub(crate) fn csv_lines(keys: &[String], items: &[Box<RawValue>]) -> anyhow::Result<Vec<String>> {
    let items = items
        .iter()
        .map(|item| serde_json::from_str(item.get()))
        .collect::<serde_json::Result<Vec<BTreeMap<String, Box<RawValue>>>>>()?;
    let others: BTreeSet<&String> =
        items.iter().flat_map(|item| item.keys()).filter(|name| !keys.contains(name)).collect();
    let heads: Vec<&String> = keys.iter().chain(others).collect();
    let mut lines = vec![csv_line(&heads)];
    for item in &items {
        let fields =
            heads.iter().map(|name| item.get(*name).map_or(Ok(String::new()), |own| field(own)));
        lines.push(csv_line(&fields.collect::<serde_json::Result<Vec<String>>>()?));
    }
    Ok(lines)
}

/// Formats a value: texts as they are, null as nothing, numbers with all their digits, documents as JSON.
fn field(value: &RawValue) -> serde_json::Result<String> {
    match value.get() {
        "null" => Ok(String::new()),
        text if text.starts_with('"') => serde_json::from_str(text),
        other => Ok(other.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::csv_lines;

    #[test]
    fn every_attribute_has_a_column_and_numbers_keep_their_digits() {
        let items = [
            r#"{"a":1,"b":"x,y","id":"p"}"#,
            r#"{"id":"q","c":{"d":[1,2]},"a":-12345678901234567890.12345678901234567,"b":null}"#,
        ];
        let items: Vec<Box<RawValue>> =
            items.iter().map(|item| RawValue::from_string((*item).to_owned()).unwrap()).collect();
        let lines = csv_lines(&["id".to_owned()], &items).unwrap();
        assert_eq!(
            lines,
            [
                "id,a,b,c",
                "p,1,\"x,y\",",
                "q,-12345678901234567890.12345678901234567,,\"{\"\"d\"\":[1,2]}\"",
            ]
        );
    }
}
