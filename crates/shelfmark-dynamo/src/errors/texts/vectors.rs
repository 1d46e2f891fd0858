//! Vector indexes and searches.
//!
//! Source: Amazon DynamoDB Developer Guide, "Troubleshooting vector indexes", and public suites that
//! record the service's answers, read 2026-11; what stands in neither is *ours*.

pub(crate) const SEARCH_NEEDS_HASH: &str =
    "SearchConditionExpression must be provided when SearchSchema has a HASH key";
pub(crate) const SEARCH_ATTRIBUTE_UNDEFINED: &str = "One or more parameter values were invalid: \
     One element in SearchSchema is not defined in attribute definitions";
pub(crate) const SEARCH_COMPARATOR: &str = "Invalid comparator used in SearchConditionExpression";
pub(crate) const SEARCH_NESTED: &str =
    "SearchConditionExpression cannot have conditions on nested attributes";
pub(crate) const SEARCH_TWICE: &str =
    "SearchConditionExpression must only contain one condition per attribute";
pub(crate) const SEARCH_VECTOR_INVALID: &str = "Search vector contains invalid values. All values \
     in the search vector must be a 32-bit floating-point number attribute";
pub(crate) const VECTORS_NEED_ON_DEMAND: &str = "One or more parameter values were invalid: Vector \
     indexes are only supported for PAY_PER_REQUEST tables";
/// The text for a Query; the one for a Scan has no full stop.
pub(crate) const QUERY_OF_VECTORS: &str = "Query operation not supported on this index type.";
pub(crate) const SCAN_OF_VECTORS: &str = "Scan operation not supported on this index type";
pub(crate) const VECTOR_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of VectorIndexes is empty";
pub(crate) const SEARCH_ATTRIBUTE_TWICE: &str = "One or more parameter values were invalid: \
     SearchSchema contains a duplicate AttributeName";
pub(crate) const ONE_VECTOR_ACTION: &str = "One or more parameter values were invalid: Only one \
     vector index action is allowed per VectorIndexUpdate object";
/// The text for an update without an action; *ours*, after the words for global indexes.
pub(crate) const NO_VECTOR_ACTION: &str = "One or more parameter values were invalid: One of \
     VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null";
/// The text for an answer that is too large; *ours*.
pub(crate) const SEARCH_ANSWER_TOO_LARGE: &str = "The results of the search exceed the maximum \
     size of 16 MB: ask for fewer, or for fewer of their attributes";

/// Words a number of results that is too large.
pub(crate) fn top_k_out_of_range(given: i64, most: usize) -> String {
    format!(
        "Provided TopK value '{given}' is out of valid range. The value must be between 1 and \
         {most} inclusive"
    )
}

/// Words an index with too many dimensions.
pub(crate) fn dimensions_out_of_range(most: usize) -> String {
    format!(
        "One or more parameter values were invalid: Number of dimensions must be between 1 and \
         {most} inclusive."
    )
}

/// Words too many vector indexes of a new table.
pub(crate) fn vector_indexes_too_many(most: usize) -> String {
    format!(
        "One or more parameter values were invalid: VectorIndex count exceeds the per-table limit \
         of {most}"
    )
}

/// Words one vector index too many of a table that is there.
pub(crate) fn one_vector_index_too_many(most: usize) -> String {
    format!(
        "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of \
         {most}"
    )
}

/// Words vectors of two sizes under one attribute.
pub(crate) fn vector_dimensions_differ(attribute: &str) -> String {
    format!(
        "One or more parameter values were invalid: Conflicting attribute definition for \
         '{attribute}'. All VectorIndexes on the same vector attribute must use the same dimensions."
    )
}

/// Words a vector's attribute that has a definition as attributes of keys have.
pub(crate) fn vector_attribute_defined(attribute: &str) -> String {
    format!(
        "One or more parameter values were invalid: Conflicting attribute definition for \
         '{attribute}'. An attribute cannot be defined in AttributeDefinitions when used as a \
         VectorAttribute."
    )
}

/// Words a search schema with too many elements of one type.
pub(crate) fn search_schema_count(count: usize, role: &str, most: usize) -> String {
    format!(
        "One or more parameter values were invalid: Value '{count}' at 'SearchSchema' failed to \
         satisfy constraint: Member must have {role} count less than or equal to {most}"
    )
}

/// Words a vector index that projects too many attributes; *ours*.
pub(crate) fn vector_projects_too_many(index: &str, most: usize) -> String {
    format!(
        "One or more parameter values were invalid: The number of projected attributes of vector \
         index {index}, its vector included, exceeds the limit of {most}"
    )
}

/// Shows a vector as the messages on attributes of another type do.
pub(crate) fn vector_element_of_schema(attribute: &str, dimensions: &str) -> String {
    format!("VectorIndexSchema:[VectorAttribute: key{{{attribute}:L:{dimensions}}}]")
}

/// Shows an attribute of a search schema in the same way; *ours*.
pub(crate) fn search_element_of_schema(attribute: &str, letter: &str, role: &str) -> String {
    format!("VectorIndexSchema:[SearchSchemaElement: key{{{attribute}:{letter}:{role}}}]")
}

/// Words a value that is no list. There is no full stop before the index.
pub(crate) fn vector_type(attribute: &str, index: &str) -> String {
    format!(
        "One or more parameter values were invalid. Invalid type for parameter {attribute}, \
         Expected: 32-bit floating point number list IndexName: {index}"
    )
}

/// Words an element that is no number.
pub(crate) fn vector_element(
    attribute: &str,
    position: usize,
    actual: &str,
    index: &str,
) -> String {
    format!(
        "One or more parameter values were invalid. Invalid type for parameter \
         {attribute}[{position}], Expected: 32-bit floating point number, Actual: {actual}. \
         IndexName: {index}"
    )
}

/// Words an element that no float of 32 bits can hold.
pub(crate) fn vector_element_range(
    attribute: &str,
    position: usize,
    value: &str,
    index: &str,
) -> String {
    format!(
        "One or more parameter values were invalid. Invalid value for parameter \
         {attribute}[{position}], Value: {value} is outside valid range \
         [-3.4028235E38, 3.4028235E38]. IndexName: {index}"
    )
}

/// Words a vector of another length than its index has. There is no full stop before the index.
pub(crate) fn vector_size(attribute: &str, expected: usize, actual: usize, index: &str) -> String {
    format!(
        "One or more parameter values were invalid. Invalid size for parameter {attribute}, \
         Expected: {expected}, Actual: {actual} IndexName: {index}"
    )
}

/// Words an attribute of a search schema that is written with another type.
pub(crate) fn searched_type(attribute: &str, expected: &str, actual: &str, index: &str) -> String {
    format!(
        "One or more parameter values were invalid. Attribute '{attribute}' type mismatch. \
         Expected: {expected}, Actual: {actual}. IndexName: {index}"
    )
}

/// Words a vector of a search of another length than the index has.
pub(crate) fn search_dimensions(expected: usize, actual: usize) -> String {
    format!(
        "Input search vector dimension {actual} does not match vector index dimension {expected}"
    )
}

/// Words a condition on an attribute that is not in the search schema.
pub(crate) fn search_attribute_unknown(attribute: &str) -> String {
    format!(
        "SearchConditionExpression must not contain any attributes that is not in SearchSchema. \
         Invalid attribute: {attribute}"
    )
}

/// Words a condition with a value of another type.
pub(crate) fn search_attribute_type(attribute: &str, expected: &str, actual: &str) -> String {
    format!(
        "Type of '{attribute}' attribute in SearchConditionExpression ({actual}) does not match \
         type in search schema ({expected})"
    )
}

/// Words a condition with an empty value for the partition key.
pub(crate) fn search_hash_is_empty(attribute: &str, data_type: &str) -> String {
    let what = if data_type == "B" { "binary" } else { "string" };
    format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot \
         contain an empty {what} value. Key: {attribute}"
    )
}
