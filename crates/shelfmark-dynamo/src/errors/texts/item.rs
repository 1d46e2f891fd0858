//! Values, keys and items, and what is done to one item.

pub(crate) const VALUE_IS_EMPTY: &str =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
pub(crate) const VALUE_HAS_SEVERAL_TYPES: &str = "Supplied AttributeValue has more than one \
     datatypes set, must contain exactly one of the supported datatypes";
pub(crate) const NESTED_TOO_DEEP: &str = "Nesting Levels have exceeded supported limits: \
     Attributes in the item have nested levels beyond supported limit";
pub(crate) const NULL_MUST_BE_TRUE: &str = "One or more parameter values were invalid: Null \
     attribute value types must have the value of true";
pub(crate) const STRING_SET_IS_EMPTY: &str =
    "One or more parameter values were invalid: An string set  may not be empty";
pub(crate) const NUMBER_SET_IS_EMPTY: &str =
    "One or more parameter values were invalid: An number set  may not be empty";
pub(crate) const BINARY_SET_IS_EMPTY: &str =
    "One or more parameter values were invalid: Binary sets should not be empty";
pub(crate) const NUMBER_SET_HAS_DUPLICATES: &str =
    "One or more parameter values were invalid: Input collection contains duplicates.";
pub(crate) const OLDER_NUMBER_SET_HAS_DUPLICATES: &str = "Input collection contains duplicates";
pub(crate) const NUMBER_TOO_LONG: &str =
    "Attempting to store more than 38 significant digits in a Number";
pub(crate) const NUMBER_OVERFLOW: &str =
    "Number overflow. Attempting to store a number with magnitude larger than supported range";
pub(crate) const NUMBER_UNDERFLOW: &str =
    "Number underflow. Attempting to store a number with magnitude smaller than supported range";

pub(crate) fn string_set_has_duplicates(members: &str) -> String {
    format!(
        "One or more parameter values were invalid: Input collection [{members}] contains \
         duplicates."
    )
}

pub(crate) fn binary_set_has_duplicates(members: &str) -> String {
    format!(
        "One or more parameter values were invalid: Input collection [{members}]of type BS \
         contains duplicates."
    )
}

/// Words a text that is no number, as the service's older layer does: nothing follows where nothing is shown.
pub(crate) fn older_no_number(text: &str) -> String {
    match text.is_empty() {
        true => "The parameter cannot be converted to a numeric value".to_owned(),
        false => no_number(text),
    }
}

pub(crate) fn no_number(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 64;
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("The parameter cannot be converted to a numeric value: {shown}")
}

pub(crate) const KEY_DOES_NOT_MATCH: &str = "The provided key element does not match the schema";
pub(crate) const ITEM_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
pub(crate) const UPDATED_ITEM_TOO_LARGE: &str =
    "Item size to update has exceeded the maximum allowed size";
pub(crate) const HASH_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Size of \
     hashkey has exceeded the maximum size limit of2048 bytes";
pub(crate) const RANGE_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: \
     Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
pub(crate) const EMPTY_ATTRIBUTE_NAME: &str =
    "One or more parameter values were invalid: Empty attribute name";
/// The whole text for an empty name among the attributes of an item of a transaction.
pub(crate) const EMPTY_ATTRIBUTE_NAME_ALONE: &str = "Empty attribute name";
pub(crate) const ATTRIBUTE_NAME_TOO_LONG: &str =
    "Attribute name is too large, must be less than 65536 bytes";
pub(crate) const KEYS_HAVE_DUPLICATES: &str = "Provided list of item keys contains duplicates";

pub(crate) fn key_missing(name: &str) -> String {
    format!("One or more parameter values were invalid: Missing the key {name} in the item")
}

pub(crate) fn key_type(name: &str, expected: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Type mismatch for key {name} expected: \
         {expected} actual: {actual}"
    )
}

pub(crate) fn key_is_empty(name: &str, data_type: &str) -> String {
    let what = if data_type == "B" { "binary" } else { "string" };
    format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty {what} value. Key: {name}"
    )
}

pub(crate) fn index_key_type(name: &str, expected: &str, actual: &str, index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Type mismatch for Index Key {name} Expected: \
         {expected} Actual: {actual} IndexName: {index}"
    )
}

/// Words several attributes that are one part of an index's key and together too large for it.
pub(crate) fn index_key_too_large(
    part: &str,
    names: &str,
    index: &str,
    bytes: usize,
    bytes_max: usize,
) -> String {
    format!(
        "One or more parameter values were invalid: Aggregate size for {part} key attributes {names} of \
         index {index} has exceeded limit {bytes_max} bytes, with actual size {bytes} bytes"
    )
}

pub(crate) fn index_key_is_empty(name: &str, data_type: &str, index: &str) -> String {
    let what = if data_type == "B" { "binary" } else { "string" };
    format!(
        "One or more parameter values are not valid. A value specified for a secondary index key \
         is not supported. The AttributeValue for a key attribute cannot contain an empty {what} \
         value. IndexName: {index}, IndexKey: {name}"
    )
}

/// Words an empty index key in an update; unlike for a put, it names no index.
pub(crate) fn updated_index_key_is_empty(data_type: &str) -> String {
    let what = if data_type == "B" { "binary" } else { "string" };
    format!(
        "One or more parameter values are not valid. The update expression attempted to update a \
         secondary index key to a value that is not supported. The AttributeValue for a key \
         attribute cannot contain an empty {what} value."
    )
}

pub(crate) fn update_of_key(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Cannot update attribute {name}. This \
         attribute is part of the key"
    )
}

/// Words a path into a key; `kind` is `Key` or `IndexKey`.
pub(crate) fn path_into_key(kind: &str, name: &str) -> String {
    format!(
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
         allowed: {kind}: {name}"
    )
}

pub(crate) const CONDITION_FAILED: &str = "The conditional request failed";
pub(crate) const UPDATE_MISSES_ATTRIBUTE: &str =
    "The provided expression refers to an attribute that does not exist in the item";
pub(crate) const UPDATE_PATH_INVALID: &str =
    "The document path provided in the update expression is invalid for update";
/// The text of a type mismatch in an update by `AttributeUpdates`.
pub(crate) const UPDATE_TYPE_MISMATCH: &str = "Type mismatch for attribute to update";
pub(crate) const UPDATE_OPERAND_TYPE: &str =
    "An operand in the update expression has an incorrect data type";
