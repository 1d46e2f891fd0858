//! Checks keys as clients spell them: types, sizes, empty values, missing attributes.
//!
//! The engine checks keys too, in its own words; here they are checked first, in the service's.

use shelfmark_engine::Table;
use shelfmark_model::{
    IndexSchema, Item, Key, KeyType, Operand, Patch, PatchOperation, PatchValue, TableSchema, Value,
};

use crate::errors::{Error, Result, texts, type_name};
use crate::limits::{
    ATTRIBUTE_NAME_BYTES_MAX, HASH_KEY_SIZE_BYTES_MAX, KEY_NAME_BYTES_MAX, RANGE_KEY_SIZE_BYTES_MAX,
};

/// Returns the letter of a key attribute's type.
pub(crate) fn key_letter(key_type: &KeyType) -> &'static str {
    if *key_type == KeyType::Decimal {
        "N"
    } else if *key_type == KeyType::Bytes {
        "B"
    } else {
        "S"
    }
}

/// Returns the type that a letter stands for.
pub(crate) fn key_type_of(letter: &str) -> Option<KeyType> {
    match letter {
        "S" => Some(KeyType::Text),
        "N" => Some(KeyType::Decimal),
        "B" => Some(KeyType::Bytes),
        _ => None,
    }
}

/// Takes the primary key out of a request's attributes, which must be its key attributes and
/// nothing else.
pub(crate) fn read_key(table: &Table, mut attributes: Item) -> Result<Key> {
    let schema = &table.schema;
    let mismatch = || Error::validation(texts::KEY_DOES_NOT_MATCH);
    if attributes.len() != schema.partition.len() + schema.sort.len() {
        return Err(mismatch());
    }
    let mut take = |name: &str, key_type: &KeyType, size_max: usize| {
        let value = attributes.remove(name).ok_or_else(mismatch)?;
        if type_name(&value) != key_letter(key_type) {
            return Err(mismatch());
        }
        check_value(name, &value, size_max)?;
        Ok(value)
    };
    let partition = schema
        .partition
        .iter()
        .map(|column| take(&column.name, &column.key_type, HASH_KEY_SIZE_BYTES_MAX))
        .collect::<Result<_>>()?;
    let sort = schema
        .sort
        .iter()
        .map(|column| take(&column.name, &column.key_type, RANGE_KEY_SIZE_BYTES_MAX))
        .collect::<Result<_>>()?;
    Ok(Key { partition, sort })
}

/// Checks the keys of an item that is to be put: those of the table, then those of its indexes.
pub(crate) fn check_item(table: &Table, item: &Item) -> Result<()> {
    let schema = &table.schema;
    for (name, key_type, size_max) in key_columns(schema) {
        let Some(value) = item.get(name) else {
            return Err(Error::validation(texts::key_missing(name)));
        };
        let (expected, actual) = (key_letter(key_type), type_name(value));
        if expected != actual {
            return Err(Error::validation(texts::key_type(name, expected, actual)));
        }
        check_value(name, value, size_max)?;
    }
    check_index_keys(schema, item)?;
    super::vector_values::check_item(table, item)
}

/// Checks that an item of BatchWriteItem has a key of the table's types; the messages differ from
/// PutItem's.
pub(crate) fn check_put_key(table: &Table, item: &Item) -> Result<()> {
    let fits = key_columns(&table.schema).all(|(name, key_type, _)| {
        item.get(name).is_some_and(|value| type_name(value) == key_letter(key_type))
    });
    if fits { Ok(()) } else { Err(Error::validation(texts::KEY_DOES_NOT_MATCH)) }
}

fn key_columns(schema: &TableSchema) -> impl Iterator<Item = (&str, &KeyType, usize)> {
    let partition = schema
        .partition
        .iter()
        .map(|column| (column.name.as_str(), &column.key_type, HASH_KEY_SIZE_BYTES_MAX));
    let sort = schema
        .sort
        .iter()
        .map(|column| (column.name.as_str(), &column.key_type, RANGE_KEY_SIZE_BYTES_MAX));
    partition.chain(sort)
}

/// Checks the attributes of an item that are keys of indexes; absent ones are allowed. The service
/// looks at the indexes by name, local and global ones alike.
fn check_index_keys(schema: &TableSchema, item: &Item) -> Result<()> {
    let mut indexes: Vec<&IndexSchema> = schema.indexes.iter().collect();
    indexes.sort_unstable_by_key(|index| &index.name);
    for index in indexes {
        let partition = index
            .partition
            .iter()
            .map(|column| (&column.name, &column.key_type, HASH_KEY_SIZE_BYTES_MAX));
        let sort = index
            .sort
            .iter()
            .map(|column| (&column.name, &column.key_type, RANGE_KEY_SIZE_BYTES_MAX));
        for (name, key_type, size_max) in partition.chain(sort) {
            let Some(value) = item.get(name).filter(|_| !schema.is_key(name)) else { continue };
            let (expected, actual) = (key_letter(key_type), type_name(value));
            if expected != actual {
                let text = texts::index_key_type(name, expected, actual, &index.name);
                return Err(Error::validation(text));
            }
            if is_empty(value) {
                let text = texts::index_key_is_empty(name, actual, &index.name);
                return Err(Error::whole(text));
            }
            check_size(value, size_max)?;
        }
    }
    Ok(())
}

/// Returns the first index by name that has the attribute in its key.
pub(crate) fn first_index_of<'t>(schema: &'t TableSchema, attribute: &str) -> Option<&'t str> {
    let indexes = schema.indexes.iter().filter(|index| is_key_of(index, attribute));
    indexes.map(|index| index.name.as_str()).min()
}

fn is_key_of(index: &IndexSchema, attribute: &str) -> bool {
    index.partition.iter().any(|column| column.name == attribute)
        || index.sort.iter().any(|column| column.name == attribute)
}

/// Checks that the values that an update gives to keys of indexes are neither empty nor too long,
/// and that vectors fit. The types of keys are looked at when the item is known.
pub(crate) fn check_updated_values(table: &Table, patch: &Patch) -> Result<()> {
    super::vector_values::check_patch(table, patch)?;
    let schema = &table.schema;
    for operation in &patch.operations {
        let PatchOperation::Set(path, PatchValue::Operand(Operand::Value(value))) = operation
        else {
            continue;
        };
        if !path.steps.is_empty() {
            continue;
        }
        if is_empty(value) && schema.indexes.iter().any(|index| is_key_of(index, &path.attribute)) {
            return Err(Error::whole(texts::updated_index_key_is_empty(type_name(value))));
        }
        for index in &schema.indexes {
            let is_hash = index.partition.iter().any(|column| column.name == path.attribute);
            let is_range = index.sort.iter().any(|column| column.name == path.attribute);
            if is_hash {
                check_size(value, HASH_KEY_SIZE_BYTES_MAX)?;
            }
            if is_range {
                check_size(value, RANGE_KEY_SIZE_BYTES_MAX)?;
            }
        }
    }
    Ok(())
}

/// Refuses a value of a key attribute that is empty, or longer than a key may be.
pub(crate) fn check_value(name: &str, value: &Value, size_max: usize) -> Result<()> {
    check_not_empty(name, value)?;
    check_size(value, size_max)
}

/// Refuses an empty text or binary as the value of a key attribute.
pub(crate) fn check_not_empty(name: &str, value: &Value) -> Result<()> {
    if is_empty(value) {
        return Err(Error::whole(texts::key_is_empty(name, type_name(value))));
    }
    Ok(())
}

fn check_size(value: &Value, size_max: usize) -> Result<()> {
    // A number is never longer than 21 bytes, and nothing else is a key.
    let bytes = if let Value::Bytes(bytes) = value { bytes.len() } else { 0 };
    let size = value.as_text().map_or(bytes, str::len);
    if size <= size_max {
        return Ok(());
    }
    Err(Error::validation(if size_max == HASH_KEY_SIZE_BYTES_MAX {
        texts::HASH_KEY_TOO_LARGE
    } else {
        texts::RANGE_KEY_TOO_LARGE
    }))
}

/// Returns true for an empty text and an empty binary.
pub(crate) fn is_empty(value: &Value) -> bool {
    value.as_text().is_some_and(str::is_empty)
        || matches!(value, Value::Bytes(bytes) if bytes.is_empty())
}

/// Checks the names of an item's attributes.
pub(crate) fn check_attribute_names(item: &Item) -> Result<()> {
    item.iter().try_for_each(|(name, _)| check_attribute_name(name))
}

/// Checks the name of an attribute.
pub(crate) fn check_attribute_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::validation(texts::EMPTY_ATTRIBUTE_NAME));
    }
    if name.len() > ATTRIBUTE_NAME_BYTES_MAX {
        return Err(Error::enveloped(texts::ATTRIBUTE_NAME_TOO_LONG));
    }
    Ok(())
}

/// Checks the name of an attribute that becomes part of a key or is projected.
pub(crate) fn check_key_name(name: &str) -> Result<()> {
    if name.len() > KEY_NAME_BYTES_MAX {
        return Err(Error::validation(texts::KEY_NAME_TOO_LONG));
    }
    Ok(())
}
