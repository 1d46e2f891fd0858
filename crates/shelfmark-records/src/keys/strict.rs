//! Checks the attributes of an index's key where a table is strict about them.
//!
//! What it is not: the refusal. A write that would leave such an attribute behind is refused; an item
//! that was there before the index is left out of it.

use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};
use shelfmark_model::{IndexSchema, Item, KeyType, TableSchema, Value, value_size_bytes};

use crate::error::{KeyPart, Misfit};

/// Returns true if an attribute keeps an item out of the index: it is of another type than declared,
/// empty, or by itself too long for its part of the key.
///
/// The sum of several columns is not looked at, so that what a store has in an index stays known as such:
/// earlier builds refused no write by it.
pub fn is_left_out(table: &TableSchema, index: &IndexSchema, item: &Item) -> bool {
    let partition = index.partition.iter().map(|column| (&column.name, &column.key_type));
    let sort = index.sort.iter().map(|column| (&column.name, &column.key_type));
    let partition = partition.map(|column| (column, STRICT_PARTITION_COLUMN_BYTES_MAX));
    let sort = sort.map(|column| (column, STRICT_SORT_COLUMN_BYTES_MAX));
    partition.chain(sort).filter(|((name, _), _)| !table.is_key(name)).any(
        |((name, key_type), bytes_max)| {
            item.get(name).is_some_and(|value| of_value(key_type, value, bytes_max).is_some())
        },
    )
}

/// Returns the first attribute of an item that cannot be written as a key of the index, and why.
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

#[cfg(test)]
mod tests {
    use shelfmark_model::{IndexKind, IndexState, KeyColumn, Projected, TableName};

    use super::*;

    #[test]
    fn a_joint_length_refuses_a_write_and_leaves_nothing_out() {
        let columns =
            |names: [&str; 2]| names.map(|name| KeyColumn::new(name, KeyType::Text)).to_vec();
        let index = IndexSchema {
            name: "i".to_owned(),
            kind: IndexKind::Secondary,
            partition: columns(["a", "b"]),
            sort: Vec::new(),
            projected: Projected::All,
            state: IndexState::Public,
        };
        let table = TableSchema::new(TableName::new("n", "t"), KeyColumn::new("id", KeyType::Text));
        let of = |a: usize, b: usize| {
            let item =
                Item::new().with("id", "x").with("a", "x".repeat(a)).with("b", "x".repeat(b));
            let why = misfit(&table, &index, &item).map(|(_, _, why)| why);
            (why, is_left_out(&table, &index, &item))
        };
        let too_long = |bytes| {
            let bytes_max = STRICT_PARTITION_COLUMN_BYTES_MAX;
            Some(Misfit::TooLongTogether { part: KeyPart::Partition, bytes, bytes_max })
        };
        assert_eq!(of(1_024, 1_024), (None, false));
        assert_eq!(of(1_024, 1_025), (too_long(2_049), false));
        assert_eq!(of(1, 2_049), (too_long(2_050), true));
        assert_eq!(of(0, 1), (Some(Misfit::Empty), true));
    }
}
