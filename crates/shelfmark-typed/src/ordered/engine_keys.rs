//! Maps an ordered table's entries to the engine: one partition, the key's parts as sort key.

use shelfmark_engine::Table;
use shelfmark_model::{Item, Value};

use crate::error::{Error, Result};
use crate::key::OrderedKey;

/// The partition column: one byte, always zero.
pub(super) const SHELF: &str = "_shelf";

/// Returns the partition.
pub(crate) fn partition() -> Vec<Value> {
    vec![Value::Int(0)]
}

/// Decodes a key from an item's key columns.
pub(super) fn key_of<K: OrderedKey>(table: &Table, item: &Item) -> Result<K> {
    let values = table
        .schema
        .sort
        .iter()
        .map(|column| {
            item.get(&column.name)
                .cloned()
                .ok_or_else(|| Error::mismatch(format!("an entry has no key part {}", column.name)))
        })
        .collect::<Result<_>>()?;
    K::from_values(values)
}
