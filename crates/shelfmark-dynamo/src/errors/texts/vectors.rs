//! Vector indexes and searches.
//!
//! Source: Amazon DynamoDB Developer Guide, "Troubleshooting vector indexes", read 2026-11; what is
//! not quoted there is *ours*.

pub(crate) const SEARCH_NEEDS_HASH: &str =
    "SearchConditionExpression must be provided when SearchSchema has a HASH key";
pub(crate) const SEARCH_ATTRIBUTE_UNDEFINED: &str =
    "One element in SearchSchema is not defined in attribute definitions";
pub(crate) const SEARCH_COMPARATOR: &str = "Invalid comparator used in SearchConditionExpression";
pub(crate) const TOP_K_OUT_OF_RANGE: &str = "Provided TopK value is out of valid range";
/// The text for a table that provisions its throughput; *ours*.
pub(crate) const VECTORS_NEED_ON_DEMAND: &str = "One or more parameter values were invalid: Vector \
     indexes are supported only on tables with BillingMode PAY_PER_REQUEST";
/// The text for an empty list; *ours*.
pub(crate) const VECTOR_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of VectorIndexes is empty";
/// The text for two partition keys; *ours*.
pub(crate) const SEARCH_HASH_TWICE: &str = "One or more parameter values were invalid: \
     SearchSchema can have at most one HASH element";
/// The text for an attribute that stands twice; *ours*.
pub(crate) const SEARCH_ATTRIBUTE_TWICE: &str = "One or more parameter values were invalid: \
     SearchSchema names an attribute twice";
/// The text for vectors of two sizes under one attribute; *ours*.
pub(crate) const VECTOR_DIMENSIONS_DIFFER: &str = "One or more parameter values were invalid: \
     Vector indexes on the same attribute must have the same number of dimensions";
/// The text for several or no actions in one update; *ours*.
pub(crate) const ONE_VECTOR_ACTION: &str = "One or more parameter values were invalid: Exactly one \
     of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must be given";
/// The text for an answer that is too large; *ours*.
pub(crate) const SEARCH_ANSWER_TOO_LARGE: &str = "The results of the search exceed the maximum \
     size of 16 MB: ask for fewer, or for fewer of their attributes";

/// Words an index with too many dimensions; *ours*.
pub(crate) fn dimensions_out_of_range(given: i64, most: usize) -> String {
    format!(
        "One or more parameter values were invalid: Dimensions must be between 1 and {most}, but \
         is {given}"
    )
}

/// Words a number of vector indexes that is too large; *ours*.
pub(crate) fn vector_indexes_too_many(most: usize) -> String {
    format!(
        "One or more parameter values were invalid: Number of VectorIndexes exceeds per-table \
         limit of {most}"
    )
}

/// Words a search schema that is too long; *ours*.
pub(crate) fn search_schema_too_long(most: usize) -> String {
    format!(
        "One or more parameter values were invalid: Number of SearchSchema elements exceeds the \
         limit of {most}"
    )
}

/// Words a value that is no list; *ours* behind the first words.
pub(crate) fn vector_type(attribute: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Invalid type for parameter {attribute}: \
         expected a list of numbers, got {actual}"
    )
}

/// Words an element that is no number of 32 bits; *ours* behind the first words.
pub(crate) fn vector_element(attribute: &str, position: usize) -> String {
    format!(
        "One or more parameter values were invalid: Invalid type for parameter \
         {attribute}[{position}]: expected a number that a 32-bit float can hold"
    )
}

/// Words a vector of another length than its index has; *ours*.
pub(crate) fn vector_dimensions(attribute: &str, expected: usize, actual: usize) -> String {
    format!(
        "One or more parameter values were invalid: Vector attribute {attribute} must have \
         {expected} dimensions, but has {actual}"
    )
}

/// Words a vector of a search of another length than the index has; *ours*.
pub(crate) fn search_dimensions(expected: usize, actual: usize) -> String {
    format!(
        "One or more parameter values were invalid: SearchVector must have {expected} dimensions, \
         but has {actual}"
    )
}

/// Words a condition on an attribute that is not in the search schema; *ours*.
pub(crate) fn search_attribute_unknown(attribute: &str) -> String {
    format!("SearchConditionExpression names {attribute}, which is not in the SearchSchema")
}

/// Words a condition with a value of another type; *ours*.
pub(crate) fn search_attribute_type(attribute: &str, expected: &str, actual: &str) -> String {
    format!(
        "One or more parameter values were invalid: Condition parameter type does not match schema \
         type for {attribute}: expected {expected}, actual {actual}"
    )
}

/// Words attributes that a vector index does not hold; *ours*, after the words for global indexes.
pub(crate) fn search_not_projected(index: &str, missing: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Vector index {index} does not project [{}]",
        missing.join(", ")
    )
}
