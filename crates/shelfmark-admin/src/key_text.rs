//! Writes stored keys for reading, by the types that the schema declares.
//!
//! What it is not: a face's text of values. A key that its types do not explain is shown as hexadecimal
//! digits.

use shelfmark_engine::Table;
use shelfmark_model::Value;
use shelfmark_model::serial::{deserialise, deserialise_partition};
use shelfmark_records::keys::without_chunk;

use crate::key_line::StoredKeys;
use crate::values::Plain;

/// Characters of a key that are told; the whole key is in the range beside it. Source: ours; a line.
const CHARS_MAX: usize = 80;

/// Writes the columns of a key: `user-7 / 2026-11-23`.
pub(crate) fn columns_text(table: &Table, keys: &StoredKeys, key: &[u8]) -> String {
    text(key, columns(table, keys, key))
}

/// Writes the partition of a key: `user-7`.
pub(crate) fn partition_text(table: &Table, keys: &StoredKeys, key: &[u8]) -> String {
    let own = columns(table, keys, key).map(|mut columns| {
        columns.truncate(table.schema.partition.len());
        columns
    });
    text(key, own)
}

fn text(key: &[u8], columns: Option<Vec<String>>) -> String {
    let text = columns.map_or_else(|| hex::encode(key), |columns| columns.join(" / "));
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Returns the columns of a key as text; `None` for keys that are not taken apart.
fn columns(table: &Table, keys: &StoredKeys, key: &[u8]) -> Option<Vec<String>> {
    let row = without_chunk(key).unwrap_or(key);
    match keys {
        StoredKeys::Items(spec) => {
            let found = spec.decode(row).ok()?;
            Some(found.columns.iter().map(|(_, value)| value_text(value)).collect())
        }
        StoredKeys::Cells(cells) => {
            let place = cells.parse(row).ok()?;
            let types = table.schema.partition.iter().map(|column| &column.key_type);
            let partition = deserialise_partition(types, &place.partition).ok()?;
            let mut columns: Vec<String> = partition.iter().map(value_text).collect();
            for (column, bytes) in cells.sort.iter().zip(place.clustering.unwrap_or_default()) {
                let Some(bytes) = bytes else {
                    columns.push("null".to_owned());
                    continue;
                };
                let value = deserialise(&column.key_type, &bytes);
                columns.push(value.map_or_else(|_| hex::encode(&bytes), |own| value_text(&own)));
            }
            Some(columns)
        }
        StoredKeys::Other(_) => None,
    }
}

/// Writes a value of a key: a text as it is, others as in JSON.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        other => match serde_json::to_value(Plain(other)) {
            Ok(serde_json::Value::String(text)) => text,
            Ok(json) => json.to_string(),
            Err(error) => error.to_string(),
        },
    }
}
