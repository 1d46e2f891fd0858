//! Checks the attributes of an index's key where a table is strict about them.
//!
//! What it is not: the refusal. A write that would leave such an attribute behind is refused; an item
//! that was there before the index is left out of it.

use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};
use shelfmark_model::{IndexSchema, Item, KeyType, TableSchema, Value, value_size_bytes};

use crate::error::{KeyPart, Misfit};

/// Returns the first attribute of an item that cannot be a key of the index, and why.
///
/// Attributes of the table's own key have been checked as such; they count where several columns make a
/// part of the index's key, whose limit is that of all together.
pub fn misfit<'i>(
    table: &TableSchema,
    index: &'i IndexSchema,
    item: &'i Item,
) -> Option<(&'i str, &'i Value, Misfit)> {
    let partition = index.partition.iter().map(|column| (column.name.as_str(), &column.key_type));
    let sort = index.sort.iter().map(|column| (column.name.as_str(), &column.key_type));
    of_part(table, partition, item, KeyPart::Partition)
        .or_else(|| of_part(table, sort, item, KeyPart::Sort))
}

fn of_part<'i>(
    table: &TableSchema,
    columns: impl ExactSizeIterator<Item = (&'i str, &'i KeyType)> + Clone,
    item: &'i Item,
    part: KeyPart,
) -> Option<(&'i str, &'i Value, Misfit)> {
    let bytes_max = match part {
        KeyPart::Partition => STRICT_PARTITION_COLUMN_BYTES_MAX,
        KeyPart::Sort => STRICT_SORT_COLUMN_BYTES_MAX,
    };
    let several = columns.len() > 1;
    // Of several columns the sum decides, and is told.
    let own_max = if several { usize::MAX } else { bytes_max };
    let mut others = columns.clone().filter(|(name, _)| !table.is_key(name));
    let alone = others.clone().find_map(|(name, key_type)| {
        let value = item.get(name)?;
        Some((name, value, of_value(key_type, value, own_max)?))
    });
    if alone.is_some() || !several {
        return alone;
    }
    // An item that lacks one of them is not in the index, whatever it has of the others.
    let sizes = columns.map(|(name, _)| item.get(name).map(value_size_bytes));
    let bytes = sizes.sum::<Option<usize>>()?;
    let (name, _) = others.next()?;
    let misfit = Misfit::TooLongTogether { part, bytes, bytes_max };
    (bytes > bytes_max).then_some((name, item.get(name)?, misfit))
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
