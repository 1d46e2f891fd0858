//! PartiQL. Source: a public suite that records the service's answers, and what DynamoDB Local
//! answers to the rest, read 2026-11; texts for which neither is known say so.

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

pub(crate) fn unsupported_clause_at(clause: &str, place: &impl Display) -> String {
    format!("Unsupported clause: {clause} at {place}")
}

pub(crate) fn unsupported_token(token: &str) -> String {
    format!("Unsupported token in expression: {token}")
}

pub(crate) fn unsupported_token_at(token: &str, place: &impl Display) -> String {
    format!("Unsupported token in expression: {token} at {place}")
}

pub(crate) const SELECT_VALUE: &str = "Select projection doesn't support value or pivot keywords";
pub(crate) const HIERARCHY: &str = "Changing item's hierarchy while reading isn't supported";
pub(crate) const SOURCE_INDEXED: &str = "Invalid list expression in source.";
pub(crate) const TABLE_NAME_IN_STATEMENT: &str = "Table name should be within the length [3, 255] \
     and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'.";
pub(crate) const INSERT_INTO_INDEX: &str =
    "FROM clause may only contain a single table name in data manipulation statements";
pub(crate) const RETURNING_IN_INSERT: &str = "RETURNING is not supported in INSERT";
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

pub(crate) fn statement_key_type(key: &str) -> String {
    format!("Key attribute's data type should match its data type in table's schema: Key {key}")
}

pub(crate) fn statement_key_missing(key: &str) -> String {
    format!("Key attribute should be present in the item: Key {key}")
}

pub(crate) fn key_conditions(key: &str) -> String {
    format!(
        "Multiple conditions on same key {key}. Only single item Update/Insert/Delete are supported"
    )
}

pub(crate) const WHERE_WITHOUT_KEY: &str =
    "Where clause does not contain a mandatory equality on all key attributes";
pub(crate) const OVERLAPPING_RANGES: &str =
    "Overlapping conditions with range keys are not supported in where clause";
pub(crate) const ORDER_BY_WITHOUT_HASH: &str = "Must have at least one non-optional hash key \
     condition in WHERE clause when using ORDER BY clause.";
pub(crate) const ORDER_BY_WITHOUT_WHERE: &str =
    "Must have WHERE clause in the statement when using ORDER BY clause.";

pub(crate) fn order_by_type(of: &str) -> String {
    format!("Argument to ORDER BY must be of type VariableReference. Type: {of}")
}

pub(crate) fn order_by_other(name: &str) -> String {
    format!("Variable reference {name} in ORDER BY clause must be part of the primary key")
}

pub(crate) const NO_CONDITION: &str =
    "WHERE clause must contain an expression that resolves to a boolean";
pub(crate) const NO_CONDITION_INSIDE: &str = "The arguments to AND/OR must be Expressions";
pub(crate) const COMPARED_TO_MISSING: &str = "MISSING must be compared using IS operator";
pub(crate) const IN_WITHOUT_LIST: &str = "IN operator must have a left hand argument of type \
     Variable Reference and right hand argument of type Seq with at least one member";

pub(crate) fn unsupported_operator(kind: &str, operator: &str) -> String {
    format!("Unsupported operator in {kind} Expression. Operator: {operator}")
}

pub(crate) fn unsupported_type(name: &str, place: &impl Display) -> String {
    format!(
        "Unsupported data type for IS operator: {name}. Supported data types are [MISSING, NULL, \
         BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at {place}"
    )
}

pub(crate) fn index_beyond(index: &str, place: &impl Display) -> String {
    format!("List index is not within the allowable range; index: [{index}] at {place}")
}

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

pub(crate) fn insert_value(place: &impl Display) -> String {
    format!(
        "Unsupported format in item expression. Please use struct format {{...}} to express item \
         values for insert statement. at {place}"
    )
}

pub(crate) fn member_name(of: &str, path: &str, place: &impl Display) -> String {
    format!("Tuple keys must be of type String. Actual type: {of} under {path} at {place}")
}

/// Words a member that a struct has twice.
pub(crate) fn member_twice(name: &str, path: &str, place: &impl Display) -> String {
    format!("Duplicate keys in tuple. Key: {name} under {path} at {place}")
}

pub(crate) fn negative_zero(path: &str, place: &impl Display) -> String {
    format!("Negative zero decimal is not supported under key {path} at {place}")
}

pub(crate) const EMPTY_BAG: &str = "Empty bags are not supported";
pub(crate) const BAG_OF_TWO_TYPES: &str =
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";

pub(crate) fn bag_member(place: &impl Display) -> String {
    format!("{BAG_OF_TWO_TYPES} at {place}")
}

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

pub(crate) const RETURNING_COLUMNS: &str =
    "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause";
pub(crate) const RETURNING_SEVERAL: &str =
    "Invalid syntax with multiple returning elements in RETURNING clause";
pub(crate) const RETURNING_IN_TRANSACTION: &str =
    "RETURNING clause is not supported in ExecuteTransaction.";

pub(crate) const DUPLICATE_ITEM: &str = "Duplicate primary key exists in table";
pub(crate) const EXISTS_ALONE: &str =
    "EXISTS() must contain a single item read with additional condition";
pub(crate) const EXISTS_OUTSIDE: &str =
    "EXISTS can only be used in ExecuteTransaction write requests.";
pub(crate) const INDEX_IN_TRANSACTION: &str =
    "Reads on indices are not supported within transactions.";
pub(crate) const EXISTS_ON_INDEX: &str = "Operations on indices are not supported in transactions";
pub(crate) const NEXT_TOKEN_INVALID: &str = "Invalid NextToken";
pub(crate) const NEXT_TOKEN_OF_ANOTHER: &str = "NextToken does not match request";

/// Words a SELECT of several statements that names no single item.
pub(crate) fn select_without_key(operation: &str) -> String {
    format!(
        "Select statements within {operation} must specify the primary key in the where clause."
    )
}

pub(crate) const READS_AND_WRITES_IN_BATCH: &str =
    "Read and write requests together in the same batch is not supported.";
pub(crate) const READS_AND_WRITES: &str =
    "ExecuteTransaction API does not support both read and write operations in the same request.";

/// Prefixes the fault of one statement of a transaction.
pub(crate) fn in_statement(position: usize) -> String {
    format!("Validation failed in TransactStatements[{position}]: ")
}
