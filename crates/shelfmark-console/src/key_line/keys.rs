//! Writes the stored keys of a table or index for reading: partition, and the text of the columns.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_admin::key_line::StoredKeys;
use shelfmark_cql as cql;
use shelfmark_cql_types::{partition_parts, to_literal};
use shelfmark_engine::Table;
use shelfmark_model::{IndexSchema, Value};
use shelfmark_records::cells::CellKeys;
use shelfmark_records::keys::without_chunk;
use shelfmark_store::KeyRange;

use crate::rows::value_text;

/// The keys of one key line, and what their columns are called where a face knows it.
pub(crate) struct LineKeys {
    /// The keys as they are stored.
    pub(crate) stored: StoredKeys,
    /// The types of the columns of a table of cells, where the CQL face knows them.
    columns: Option<Arc<cql::Table>>,
}

impl LineKeys {
    /// Returns the keys of a table's rows. `columns` is the table as CQL knows it.
    pub(crate) fn of_table(table: &Table, columns: Option<Arc<cql::Table>>) -> Self {
        Self { stored: StoredKeys::of_table(table), columns }
    }

    /// Returns the keys of an index of items.
    pub(crate) fn of_index(table: &Table, id: u64, index: &IndexSchema) -> Self {
        Self { stored: StoredKeys::of_index(table, id, index), columns: None }
    }

    /// Returns keys that are not taken apart, all of which begin with these bytes.
    pub(crate) fn other(prefix: Bytes) -> Self {
        Self { stored: StoredKeys::Other(prefix), columns: None }
    }

    /// Returns the range of all keys.
    pub(crate) fn whole(&self) -> KeyRange {
        self.stored.whole()
    }

    /// Writes the columns of a key for reading: `user-7 / 2026-11-23`.
    pub(crate) fn text(&self, key: &[u8]) -> String {
        let row = without_chunk(key).unwrap_or(key);
        let shown = match &self.stored {
            StoredKeys::Items(spec) => spec.decode(row).ok().map(|found| {
                let values: Vec<String> =
                    found.columns.iter().map(|(_, value)| value_text(value)).collect();
                values.join(" / ")
            }),
            StoredKeys::Cells(keys) => cells_text(keys, self.columns.as_deref(), row),
            StoredKeys::Other(prefix) => row.strip_prefix(prefix.as_ref()).map(hex::encode),
        };
        shorten(shown.unwrap_or_else(|| hex::encode(row)))
    }

    /// Writes the partition of a key for reading.
    pub(crate) fn partition_text(&self, key: &[u8]) -> String {
        let row = without_chunk(key).unwrap_or(key);
        let shown = match &self.stored {
            StoredKeys::Items(spec) => spec.decode(row).ok().map(|found| {
                let own = found.columns.iter().take(spec.partition.len());
                own.map(|(_, value)| value_text(value)).collect::<Vec<String>>().join(" / ")
            }),
            StoredKeys::Cells(keys) => keys
                .parse(row)
                .ok()
                .map(|place| parts_text(&place.partition, self.columns.as_deref()).join(" / ")),
            StoredKeys::Other(_) => None,
        };
        shown.map_or_else(|| self.text(key), shorten)
    }
}

fn shorten(text: String) -> String {
    const CHARS_MAX: usize = 80;
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    let head: String = text.chars().take(CHARS_MAX).collect();
    format!("{head}…")
}

fn cells_text(keys: &CellKeys, columns: Option<&cql::Table>, row: &[u8]) -> Option<String> {
    let place = keys.parse(row).ok()?;
    let mut parts = parts_text(&place.partition, columns);
    for (at, value) in place.clustering.unwrap_or_default().iter().enumerate() {
        let column = columns.and_then(|table| table.clustering_columns().get(at));
        parts.push(match (column, value) {
            (Some(column), value) => to_literal(&column.kind, value.as_deref()),
            (None, Some(value)) => plain(value),
            (None, None) => "null".to_owned(),
        });
    }
    Some(parts.join(" / "))
}

fn parts_text(partition: &Bytes, columns: Option<&cql::Table>) -> Vec<String> {
    let Some(table) = columns else { return vec![plain(partition)] };
    let own = table.partition_columns();
    let types: Vec<_> = own.iter().map(|column| &column.kind).collect();
    let parts = partition_parts(partition, types.len());
    let shown = parts.iter().zip(types);
    shown.map(|(part, kind)| to_literal(kind, Some(part.as_ref()))).collect()
}

fn plain(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => value_text(&Value::Bytes(Bytes::copy_from_slice(bytes))),
    }
}
