//! Takes the stored keys of a table or index apart: partition, and the text of the columns.

use bytes::Bytes;
use shelfmark_cql as cql;
use shelfmark_cql_types::{partition_parts, to_literal};
use shelfmark_engine::Table;
use shelfmark_model::{IndexSchema, RowKind, Value};
use shelfmark_records::cells::CellKeys;
use shelfmark_records::keys::{KeySpec, Tree, tree_key, without_chunk};
use shelfmark_store::KeyRange;

use crate::rows::value_text;

/// The keys of one key line.
pub(crate) enum LineKeys {
    /// Of a table of items, or of one of its indexes.
    Items(KeySpec),
    /// Of a table of cells, with the types of its columns where the CQL face knows them.
    Cells(CellKeys, Option<std::sync::Arc<cql::Table>>),
    /// Of something whose keys are not taken apart: the bytes that all of them begin with.
    Other(Bytes),
}

impl LineKeys {
    /// Returns the keys of a table's rows. `columns` is the table as CQL knows it.
    pub(crate) fn of_table(table: &Table, columns: Option<std::sync::Arc<cql::Table>>) -> Self {
        if table.schema.rows == RowKind::Cells {
            let prefix = Bytes::from(tree_key(Tree::Rows, table.id));
            return Self::Cells(CellKeys::new(prefix, table.schema.sort.clone()), columns);
        }
        Self::Items(KeySpec::of_table(table.id, &table.schema))
    }

    /// Returns the keys of an index of items.
    pub(crate) fn of_index(table: &Table, id: u64, index: &IndexSchema) -> Self {
        Self::Items(KeySpec::of_index(id, &table.schema, index))
    }

    /// Returns the bytes that all keys begin with.
    fn prefix(&self) -> &Bytes {
        match self {
            Self::Items(spec) => &spec.prefix,
            Self::Cells(keys, _) => &keys.prefix,
            Self::Other(prefix) => prefix,
        }
    }

    /// Returns the range of all keys.
    pub(crate) fn whole(&self) -> KeyRange {
        KeyRange::prefix(self.prefix().clone())
    }

    /// Returns the bytes of a key that name its partition; `None` where there are none.
    pub(crate) fn partition<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let length = match self {
            Self::Items(spec) => {
                let own = key.strip_prefix(spec.prefix.as_ref())?;
                spec.prefix.len() + spec.split_partition(own).ok()?.0.len()
            }
            Self::Cells(keys, _) => keys.partition_length(key).ok()?,
            Self::Other(_) => return None,
        };
        key.get(..length)
    }

    /// Returns true if a stored key is that of a row, and not of a further chunk or of statics.
    pub(crate) fn is_row(&self, key: &[u8]) -> bool {
        let Ok(row) = without_chunk(key) else { return false };
        match self {
            Self::Cells(keys, _) => {
                let length = keys.partition_length(row).unwrap_or(row.len());
                row.get(length) == Some(&1)
            }
            Self::Items(_) | Self::Other(_) => true,
        }
    }

    /// Writes the columns of a key for reading: `user-7 / 2026-11-23`.
    pub(crate) fn text(&self, key: &[u8]) -> String {
        let row = without_chunk(key).unwrap_or(key);
        let shown = match self {
            Self::Items(spec) => spec.decode(row).ok().map(|found| {
                let values: Vec<String> =
                    found.columns.iter().map(|(_, value)| value_text(value)).collect();
                values.join(" / ")
            }),
            Self::Cells(keys, columns) => cells_text(keys, columns.as_deref(), row),
            Self::Other(prefix) => row.strip_prefix(prefix.as_ref()).map(hex::encode),
        };
        shorten(shown.unwrap_or_else(|| hex::encode(row)))
    }

    /// Writes the partition of a key for reading.
    pub(crate) fn partition_text(&self, key: &[u8]) -> String {
        let row = without_chunk(key).unwrap_or(key);
        let shown = match self {
            Self::Items(spec) => spec.decode(row).ok().map(|found| {
                let own = found.columns.iter().take(spec.partition.len());
                own.map(|(_, value)| value_text(value)).collect::<Vec<String>>().join(" / ")
            }),
            Self::Cells(keys, columns) => keys
                .parse(row)
                .ok()
                .map(|place| parts_text(&place.partition, columns.as_deref()).join(" / ")),
            Self::Other(_) => None,
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
