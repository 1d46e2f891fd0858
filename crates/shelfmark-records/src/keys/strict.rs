//! Checks the attributes of an index's key where a table is strict about them.
//!
//! What it is not: the refusal. A write that would leave such an attribute behind is refused; an item
//! that was there before the index is left out of it.

use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};
use shelfmark_model::{IndexSchema, Item, KeyType, TableSchema, Value};

use crate::error::Misfit;

/// Returns the first attribute of an item that cannot be a key of the index, and why.
///
/// Attributes of the table's own key have been checked as such.
pub fn misfit<'i>(
    table: &TableSchema,
    index: &'i IndexSchema,
    item: &'i Item,
) -> Option<(&'i str, &'i Value, Misfit)> {
    let partition = index
        .partition
        .iter()
        .map(|column| (&column.name, &column.key_type, STRICT_PARTITION_COLUMN_BYTES_MAX));
    let sort = index
        .sort
        .iter()
        .map(|column| (&column.name, &column.key_type, STRICT_SORT_COLUMN_BYTES_MAX));
    partition.chain(sort).filter(|(name, ..)| !table.is_key(name)).find_map(
        |(name, key_type, bytes_max)| {
            let value = item.get(name)?;
            Some((name.as_str(), value, of_value(key_type, value, bytes_max)?))
        },
    )
}

fn of_value(key_type: &KeyType, value: &Value, bytes_max: usize) -> Option<Misfit> {
    let bytes = match (key_type, value) {
        (KeyType::Text, Value::Text(text)) => text.len(),
        (KeyType::Bytes, Value::Bytes(bytes)) => bytes.len(),
        (KeyType::Decimal, Value::Number(_)) => return None,
        (KeyType::Text | KeyType::Bytes | KeyType::Decimal, _) => return Some(Misfit::OtherType),
        _ => return None,
    };
    match bytes {
        0 => Some(Misfit::Empty),
        bytes if bytes > bytes_max => Some(Misfit::TooLong { bytes_max }),
        _ => None,
    }
}
