//! Query and Scan.

pub(crate) const NO_KEY_CONDITION: &str = "Either the KeyConditions or KeyConditionExpression \
     parameter must be specified in the request.";
pub(crate) const KEY_CONDITION_NOT_SUPPORTED: &str = "Query key condition not supported";
pub(crate) const KEY_CONDITION_TYPE: &str = "One or more parameter values were invalid: Condition \
     parameter type does not match schema type";
pub(crate) const ONE_CONDITION_PER_KEY: &str = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key";
pub(crate) const KEY_CONDITION_NESTED: &str = "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes";
pub(crate) const KEY_CONDITION_OPERATIONS: &str =
    "KeyConditionExpressions cannot contain nested operations";
pub(crate) const KEY_CONDITION_TWO_NAMES: &str = "Invalid condition in KeyConditionExpression: \
     Multiple attribute names used in one condition";
pub(crate) const KEY_CONDITION_NO_NAME: &str =
    "Invalid condition in KeyConditionExpression: No key attribute specified";
pub(crate) const CONSISTENT_GLOBAL_INDEX: &str =
    "Consistent reads are not supported on global secondary indexes";
pub(crate) const SELECT_NEEDS_INDEX: &str =
    "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName";
pub(crate) const SELECT_NEEDS_PROJECTION: &str = "Must specify the AttributesToGet or \
     ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES";
pub(crate) const START_KEY_INVALID: &str = "The provided starting key is invalid";
pub(crate) const START_KEY_OUTSIDE: &str =
    "The provided starting key is outside query boundaries based on provided conditions";
pub(crate) const START_KEY_RANGE: &str =
    "The provided starting key does not match the range key predicate";
/// Refuses a position in another partition where the sort key has a condition, which it fulfils.
pub(crate) const START_KEY_ONE_ROW: &str =
    "The query can return at most one row and cannot be restarted";
pub(crate) const SEGMENT_WITHOUT_TOTAL: &str = "The TotalSegments parameter is required but was \
     not present in the request when Segment parameter is present";
pub(crate) const TOTAL_WITHOUT_SEGMENT: &str = "The Segment parameter is required but was not \
     present in the request when parameter TotalSegments is present";

pub(crate) fn too_many_key_conditions(count: usize, columns: usize) -> String {
    format!(
        "The number of query conditions ({count}) exceeds the number of key attributes defined in the \
         schema ({columns})"
    )
}

pub(crate) fn key_condition_operator(operator: &str) -> String {
    format!("Invalid operator used in KeyConditionExpression: {operator}")
}

pub(crate) fn key_condition_first(operator: &str) -> String {
    format!(
        "Invalid condition in KeyConditionExpression: {operator} operator must have the key \
         attribute as its first operand"
    )
}

pub(crate) fn key_condition_missing(name: &str) -> String {
    format!("Query condition missed key schema element: {name}")
}

/// Words a filter on a key attribute; `filter` is the service's name of the member with the filter.
pub(crate) fn filter_on_key(filter: &str, name: &str) -> String {
    format!(
        "{filter} can only contain non-primary key attributes: Primary key attribute: \
         {name}"
    )
}

pub(crate) fn filter_not_projected(index: &str, attributes: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Secondary index {index} does not project one \
         or more filter attributes: [{}]",
        attributes.join(", ")
    )
}

pub(crate) fn select_forbids_projection(parameter: &str, select: &str) -> String {
    let what = if select == "COUNT" { "only the Count" } else { select };
    format!("Cannot specify the {parameter} when choosing to get {what}")
}

pub(crate) fn select_all_attributes(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported \
         for global secondary index {index} because its projection type is not ALL"
    )
}

pub(crate) fn not_projected(index: &str, attributes: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Global secondary index {index} does not \
         project [{}]",
        attributes.join(", ")
    )
}

pub(crate) fn start_key_problem(problem: &str) -> String {
    format!("The provided starting key is invalid: {problem}")
}

pub(crate) fn start_key_segment(total: u32, segment: u32) -> String {
    format!(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use \
         ExclusiveStartKey with correct Segment. TotalSegments: {total} Segment: {segment}"
    )
}

pub(crate) fn segment_too_large(segment: i64, total: i64) -> String {
    format!(
        "The Segment parameter is zero-based and must be less than parameter TotalSegments: \
         Segment: {segment} is not less than TotalSegments: {total}"
    )
}

/// Words partition attributes of an index of several that have no equality; after what applications quote of the
/// service and [`key_condition_gap`].
pub(crate) fn key_condition_open(names: &str) -> String {
    format!("HASH key attributes {names} must have equality conditions specified in the query")
}

/// Words a condition on a sort attribute of an index behind one without an equality.
pub(crate) fn key_condition_gap(before: &str, behind: &str) -> String {
    format!(
        "RANGE key attributes {before} must have equality conditions specified in the query because a \
         condition is present on key attribute {behind}"
    )
}
