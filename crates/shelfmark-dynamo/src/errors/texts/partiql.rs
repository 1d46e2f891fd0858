//! PartiQL. Texts without the service's words known say so.

use std::fmt::Display;

pub(crate) fn malformed_statement(detail: &str) -> String {
    format!("Statement wasn't well formed, can't be processed: {detail}")
}

pub(crate) const UNEXPECTED_KEYWORD: &str = "Unexpected keyword";
pub(crate) const RIGHT_HAND_SIDE_MISSING: &str =
    "Missing right-hand side expression of infix operator";
/// The detail of a statement that nests too deep. *Ours*.
pub(crate) const STATEMENT_TOO_DEEP: &str = "The statement is nested too deeply";

/// Words a token that is missing. *Ours*.
pub(crate) fn expected_token(token: &str) -> String {
    format!("Expected {token}")
}

pub(crate) fn unsupported_operation(name: &str) -> String {
    format!("Unsupported operation: {name}")
}

pub(crate) fn unsupported_clause(clause: &str) -> String {
    format!("Unsupported clause: {clause}")
}

pub(crate) const ALIAS: &str = "Aliasing is not supported";
pub(crate) const UNEXPECTED_SOURCE: &str = "Unexpected from source";
pub(crate) const SOURCE_TOO_LONG: &str =
    "A path may contain at most 2 components in the FROM clause";
pub(crate) const EMPTY_PATH_COMPONENT: &str = "Path component cannot be an empty string";
pub(crate) const ONE_TABLE_ONLY: &str = "Only select from a single table or index is supported.";
pub(crate) const STATEMENT_INDEX_NOT_FOUND: &str = "The table does not have the specified index";
pub(crate) const WRITE_TO_INDEX: &str = "This operation is not supported on an index";
pub(crate) const MULTI_ATTRIBUTE_INDEX: &str = "PartiQL statements cannot be executed on tables \
     with multi-attribute HASH keys or multi-attribute RANGE keys.";
pub(crate) const CONSISTENT_STATEMENT: &str =
    "Strongly consistent read is not supported on Global Secondary Indexes";

pub(crate) const PARAMETER_COUNT: &str =
    "Number of parameters in request and statement don't match.";
pub(crate) const STATEMENT_KEY_TYPE: &str =
    "Key attribute's data type should match its data type in table's schema.";
pub(crate) const WHERE_WITHOUT_KEY: &str =
    "Where clause does not contain a mandatory equality on all key attributes";
pub(crate) const OVERLAPPING_RANGES: &str =
    "Overlapping conditions with range keys are not supported in where clause";
pub(crate) const ORDER_BY_WITHOUT_HASH: &str = "Must have at least one non-optional hash key \
     condition in WHERE clause when using ORDER BY clause.";
/// The text for ORDER BY of something that is no attribute. *Ours*.
pub(crate) const ORDER_BY: &str = "ORDER BY clause must name attributes of the primary key";

pub(crate) fn order_by_other(name: &str) -> String {
    format!("Variable reference {name} in ORDER BY clause must be part of the primary key")
}

/// The text for a WHERE that is no condition. *Ours*.
pub(crate) const NO_CONDITION: &str = "Where clause is not a condition";
/// The text for IS with a type that attributes do not have. *Ours*.
pub(crate) const UNSUPPORTED_TYPE: &str = "Unsupported type in IS";

pub(crate) fn unexpected_component(place: &impl Display) -> String {
    format!("Unexpected path component at {place}")
}

pub(crate) fn unrecognized_function(name: &str, place: &impl Display) -> String {
    format!("Unrecognized function: {name} at {place}")
}

pub(crate) fn duplicate_column(name: &str) -> String {
    format!("Duplicate identifiers in select clause: {name}")
}

/// Words a value that breaks a rule of numbers, at a place inside of it.
pub(crate) fn value_under(problem: &str, path: &str) -> String {
    format!("{problem} under {path}")
}

pub(crate) fn unsupported_value(name: &str, path: &str, place: &impl Display) -> String {
    format!("Unsupported data type: {name} under key {path} at {place}")
}

/// The text for a VALUE that is no struct. *Ours*.
pub(crate) const INSERT_VALUE: &str = "The value of an INSERT must be a tuple";
/// The text for a member of a struct whose name is no text. *Ours*.
pub(crate) const MEMBER_NAME: &str = "The name of an attribute must be a string literal";

/// Words a member that a struct has twice. *Ours*.
pub(crate) fn member_twice(name: &str) -> String {
    format!("Duplicate attribute in tuple: {name}")
}

pub(crate) const EMPTY_BAG: &str = "Empty bags are not supported";
pub(crate) const BAG_MEMBER: &str = "Unsupported data type in Bag";
pub(crate) const BAG_OF_TWO_TYPES: &str =
    "DynamoDB only supports either numbers or strings in bags";

pub(crate) fn set_operands(name: &str, place: &impl Display) -> String {
    format!("{name} must have exactly two arguments at {place}")
}

pub(crate) fn set_target(name: &str, place: &impl Display) -> String {
    format!("The first argument to {name} must equal the assignment value at {place}")
}

pub(crate) fn set_type(name: &str, place: &impl Display) -> String {
    format!("The second argument to {name} must be a value with type SET at {place}")
}

pub(crate) fn returning_of_delete(words: &str) -> String {
    format!(
        "Invalid returning clause: RETURNING {words} *. Only RETURNING ALL OLD * is allowed in \
         DELETE statements."
    )
}

/// The text for RETURNING of something else than `*`. *Ours*.
pub(crate) const RETURNING_COLUMNS: &str =
    "Invalid returning clause: only * is allowed in RETURNING.";
pub(crate) const RETURNING_IN_TRANSACTION: &str =
    "RETURNING clause is not supported in ExecuteTransaction.";

pub(crate) const DUPLICATE_ITEM: &str = "Duplicate primary key exists in table";
pub(crate) const EXISTS_ALONE: &str =
    "EXISTS() must contain a single item read with additional condition";
/// The text for EXISTS outside of a transaction. *Ours*.
pub(crate) const EXISTS_OUTSIDE: &str = "EXISTS() is supported within ExecuteTransaction only";
pub(crate) const INDEX_IN_TRANSACTION: &str =
    "Reads on indices are not supported within transactions.";
pub(crate) const NEXT_TOKEN_INVALID: &str = "Invalid NextToken";
pub(crate) const NEXT_TOKEN_OF_ANOTHER: &str = "NextToken does not match request";

/// Words a SELECT of several statements that names no single item.
pub(crate) fn select_without_key(operation: &str) -> String {
    format!(
        "Select statements within {operation} must specify the primary key in the where clause."
    )
}

/// Words several statements of which some read and some write.
pub(crate) fn reads_and_writes(operation: &str) -> String {
    format!("{operation} API does not support both read and write operations in the same request.")
}

/// Prefixes the fault of one statement of a transaction.
pub(crate) fn in_statement(position: usize) -> String {
    format!("Validation failed in TransactStatements[{position}]: ")
}
/// The text for an order by the sort key over several partitions. *Ours*.
pub(crate) const ORDER_BY_SEVERAL: &str =
    "ORDER BY of the sort key over several partitions is not supported";
