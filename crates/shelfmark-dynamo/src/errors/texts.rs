//! Every text that a client can read, by situation, and nowhere else.
//!
//! Applications match on these texts, so each is worded as the service words it, oddities included.
//! In the middle of 2026 the service's validation changed its wording in most regions: member names
//! are in PascalCase, values are no longer echoed, and more situations carry the prefix of
//! [`envelope`]. This table follows the newer wording; the part that applications match on is the
//! same in both. Where no text of the service is known, the text is ours and says so.
//!
//! Sources: the texts collected in the project's DynamoDB reference, and those that open-source
//! emulators assert against the service, read 2026-11.

use std::fmt::Display;

// The body.

pub(crate) const NO_JSON: &str = "The request body is not valid JSON";
pub(crate) const JSON_TOO_DEEP: &str = "The request body is nested too deeply";
pub(crate) const STRUCTURE_EXPECTED: &str = "Unexpected value type in payload";
pub(crate) const UNEXPECTED_STRUCTURE: &str = "Start of structure or map found where not expected.";
pub(crate) const UNEXPECTED_LIST: &str = "Start of list found where not expected";
pub(crate) const UNEXPECTED_FIELD: &str = "Unexpected field type";
pub(crate) const UNEXPECTED_TOKEN: &str = "Unexpected token received from parser";
pub(crate) const BLOB_LAST_CHARACTER: &str = "Invalid last non-pad Base64 character dectected";
pub(crate) const REQUEST_TOO_LARGE: &str = "Request size limit exceeded";

pub(crate) fn unrecognized_collection(wanted: &str) -> String {
    format!("Unrecognized collection type class java.lang.{wanted}")
}

pub(crate) fn cannot_be_converted(found: &str, wanted: &str) -> String {
    format!("{found} cannot be converted to {wanted}")
}

pub(crate) fn no_blob(problem: &str) -> String {
    format!("The value can not be converted to a Blob: {problem}")
}

pub(crate) fn blob_length(length: usize) -> String {
    format!("Base64 encoded length is expected a multiple of 4 bytes but found: {length}")
}

pub(crate) fn blob_character(letter: char) -> String {
    format!("Invalid Base64 character: '{letter}'")
}

// The shape of a request.

/// The prefix of the validation framework for one problem.
pub(crate) fn envelope(message: &str) -> String {
    envelope_all(&[message])
}

/// The prefix of the validation framework, for problems that are reported together.
pub(crate) fn envelope_all<T: AsRef<str>>(messages: &[T]) -> String {
    let joined = messages.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("; ");
    let plural = if messages.len() == 1 { "" } else { "s" };
    format!("{} validation error{plural} detected: {joined}", messages.len())
}

/// A member that does not satisfy a constraint of the service model.
pub(crate) fn constraint(path: &str, constraint: &str) -> String {
    format!("Value at '{path}' failed to satisfy constraint: Member must {constraint}")
}

pub(crate) const NOT_NULL: &str = "not be null";

pub(crate) fn length_at_least(least: usize) -> String {
    format!("have length greater than or equal to {least}")
}

pub(crate) fn length_at_most(most: usize) -> String {
    format!("have length less than or equal to {most}")
}

pub(crate) fn value_at_least(least: i64) -> String {
    format!("have value greater than or equal to {least}")
}

pub(crate) fn value_at_most(most: i64) -> String {
    format!("have value less than or equal to {most}")
}

pub(crate) fn one_of(values: &[&str]) -> String {
    format!("satisfy enum value set: [{}]", values.join(", "))
}

pub(crate) const NAME_PATTERN: &str = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

// Attribute values.

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
pub(crate) const NUMBER_SET_HAS_DUPLICATES: &str = "Input collection contains duplicates";
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

pub(crate) fn no_number(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 64;
    if text.is_empty() {
        return "The parameter cannot be converted to a numeric value".to_owned();
    }
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("The parameter cannot be converted to a numeric value: {shown}")
}

// Keys and items.

pub(crate) const KEY_DOES_NOT_MATCH: &str = "The provided key element does not match the schema";
pub(crate) const ITEM_TOO_LARGE: &str = "Item size has exceeded the maximum allowed size";
pub(crate) const UPDATED_ITEM_TOO_LARGE: &str =
    "Item size to update has exceeded the maximum allowed size";
pub(crate) const HASH_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: Size of \
     hashkey has exceeded the maximum size limit of2048 bytes";
pub(crate) const RANGE_KEY_TOO_LARGE: &str = "One or more parameter values were invalid: \
     Aggregated size of all range keys has exceeded the size limit of 1024 bytes";
pub(crate) const EMPTY_ATTRIBUTE_NAME: &str =
    "One or more parameter values were invalid: Attribute names must not be empty";
pub(crate) const ATTRIBUTE_NAME_TOO_LONG: &str = "One or more parameter values were invalid: \
     Attribute name is too large, must be less than 65536 bytes";
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

pub(crate) fn index_key_is_empty(name: &str, data_type: &str, index: &str) -> String {
    let what = if data_type == "B" { "binary" } else { "string" };
    format!(
        "One or more parameter values are not valid. A value specified for a secondary index key \
         is not supported. The AttributeValue for a key attribute cannot contain an empty {what} \
         value. IndexName: {index}, IndexKey: {name}"
    )
}

pub(crate) fn update_of_key(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Cannot update attribute {name}. This \
         attribute is part of the key"
    )
}

// Conditions and updates on an item.

pub(crate) const CONDITION_FAILED: &str = "The conditional request failed";
pub(crate) const UPDATE_MISSES_ATTRIBUTE: &str =
    "The provided expression refers to an attribute that does not exist in the item";
pub(crate) const UPDATE_PATH_INVALID: &str =
    "The document path provided in the update expression is invalid for update";
pub(crate) const UPDATE_OPERAND_TYPE: &str =
    "An operand in the update expression has an incorrect data type";

// Tables.

pub(crate) const TABLE_NOT_FOUND: &str = "Requested resource not found";
pub(crate) const DELETION_PROTECTED: &str = "Resource cannot be deleted as it is currently \
     protected against deletion. Disable deletion protection first.";
pub(crate) const UNITS_FORBIDDEN: &str = "One or more parameter values were invalid: Neither \
     ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
pub(crate) const UNITS_REQUIRED: &str = "One or more parameter values were invalid: \
     ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is \
     PROVISIONED";
pub(crate) const KEY_NAMES_EQUAL: &str =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";
pub(crate) const FIRST_KEY_IS_NO_HASH: &str =
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
pub(crate) const SECOND_KEY_IS_NO_RANGE: &str =
    "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type";
pub(crate) const KEY_COLUMNS_OUT_OF_ORDER: &str = "One or more parameter values were invalid: \
     Index KeySchema must list its HASH keys before its RANGE keys, at most 4 of each";
pub(crate) const LOCAL_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of LocalSecondaryIndexes is empty";
pub(crate) const GLOBAL_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty";
pub(crate) const LOCAL_INDEX_NEEDS_RANGE: &str = "One or more parameter values were invalid: \
     Table KeySchema does not have a range key, which is required when specifying a \
     LocalSecondaryIndex";
pub(crate) const LOCAL_INDEXES_TOO_MANY: &str = "One or more parameter values were invalid: \
     Number of LocalSecondaryIndexes exceeds per-table limit of 5";
pub(crate) const GLOBAL_INDEXES_TOO_MANY: &str = "One or more parameter values were invalid: \
     GlobalSecondaryIndex count exceeds the per-table limit of 20";
pub(crate) const PROJECTED_TOO_MANY: &str = "One or more parameter values were invalid: The \
     number of projected attributes of all indexes exceeds the per-table limit of 100";
pub(crate) const UNKNOWN_PROJECTION: &str =
    "One or more parameter values were invalid: Unknown ProjectionType: null";
pub(crate) const NON_KEY_ATTRIBUTES_MISSING: &str = "One or more parameter values were invalid: \
     ProjectionType is INCLUDE, but NonKeyAttributes is not specified";
pub(crate) const KEY_NAME_TOO_LONG: &str = "One or more parameter values were invalid: Size of \
     key attribute name has exceeded the maximum size limit of 255 bytes";
pub(crate) const NOTHING_TO_UPDATE: &str = "At least one of ProvisionedThroughput, BillingMode, \
     UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is \
     required";
pub(crate) const ONE_INDEX_CHANGE: &str = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
pub(crate) const ONE_INDEX_ACTION: &str = "One or more parameter values were invalid: One of \
     GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
     GlobalSecondaryIndexUpdate.Delete must not be null";

pub(crate) fn table_not_found(name: &str) -> String {
    format!("Requested resource not found: Table: {name} not found")
}

pub(crate) fn backup_table_not_found(name: &str) -> String {
    format!("Table not found: {name}")
}

pub(crate) fn resource_not_found(arn: &str) -> String {
    format!("Requested resource not found: ResourcArn: {arn} not found")
}

pub(crate) fn table_exists(name: &str) -> String {
    format!("Table already exists: {name}")
}

pub(crate) fn index_not_found(name: &str) -> String {
    format!("The table does not have the specified index: {name}")
}

pub(crate) fn index_missing_in_table(name: &str) -> String {
    format!("Requested resource not found: Index: {name} not found")
}

pub(crate) fn index_is_building(name: &str) -> String {
    format!("Cannot read from backfilling global secondary index: {name}")
}

pub(crate) fn units_out_of_bounds(value: i64, which: &str) -> String {
    format!("Given value {value} for {which} is out of bounds")
}

pub(crate) fn keys_undefined(keys: &[&str], definitions: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Some index key attributes are not defined in \
         AttributeDefinitions. Keys: [{}], AttributeDefinitions: [{}]",
        keys.join(", "),
        definitions.join(", ")
    )
}

pub(crate) fn definitions_unused(keys: &[&str], definitions: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Some AttributeDefinitions are not used. \
         AttributeDefinitions: [{}], keys used: [{}]",
        definitions.join(", "),
        keys.join(", ")
    )
}

pub(crate) const DEFINITIONS_DO_NOT_MATCH: &str = "One or more parameter values were invalid: \
     Number of attributes in KeySchema does not exactly match number of attributes defined in \
     AttributeDefinitions";

pub(crate) fn definition_twice(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Duplicate AttributeName in \
         AttributeDefinitions: {name}"
    )
}

pub(crate) fn local_index_without_range(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Index KeySchema does not have a range key for \
         index: {index}"
    )
}

pub(crate) fn local_index_hash(index: &str, own: &str, table: &str) -> String {
    format!(
        "One or more parameter values were invalid: Index KeySchema does not have the same \
         leading hash key as table KeySchema for index: {index}. index hash key: {own}, table \
         hash key: {table}"
    )
}

pub(crate) fn index_name_twice(name: &str) -> String {
    format!("One or more parameter values were invalid: Duplicate index name: {name}")
}

pub(crate) fn index_exists(name: &str) -> String {
    format!("Attempting to create an index which already exists: {name}")
}

pub(crate) fn non_key_attributes(projection: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProjectionType is {projection}, but \
         NonKeyAttributes is specified"
    )
}

pub(crate) fn index_units_forbidden(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProvisionedThroughput should not be specified \
         for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

pub(crate) fn index_units_required(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProvisionedThroughput must be specified for \
         index: {index}"
    )
}

// What this server does not do.

/// Ours. Tools look for the words "is not supported".
pub(crate) fn not_supported(what: impl Display) -> String {
    format!("{what} is not supported by this server")
}

// Expressions.

pub(crate) fn invalid_expression(kind: &str, problem: &str) -> String {
    format!("Invalid {kind}: {problem}")
}

pub(crate) const EXPRESSION_IS_EMPTY: &str = "The expression can not be empty;";
pub(crate) const REDUNDANT_PARENTHESES: &str = "The expression has redundant parentheses;";
/// Ours: the service's own depth limit is not published.
pub(crate) const EXPRESSION_TOO_DEEP: &str = "The expression is nested too deeply;";

pub(crate) fn expression_size(size: usize) -> String {
    format!("Expression size has exceeded the maximum allowed size; expression size: {size}")
}

pub(crate) fn expression_operators(count: usize) -> String {
    format!("The expression contains more operators than are allowed; number of operators: {count}")
}

pub(crate) fn syntax_error(token: &str, near: &str) -> String {
    format!("Syntax error; token: \"{token}\", near: \"{near}\"")
}

pub(crate) fn reserved_word(word: &str) -> String {
    format!("Attribute name is a reserved keyword; reserved keyword: {word}")
}

pub(crate) fn name_undefined(name: &str) -> String {
    format!(
        "An expression attribute name used in the document path is not defined; attribute name: \
         {name}"
    )
}

pub(crate) fn value_undefined(name: &str) -> String {
    format!(
        "An expression attribute value used in expression is not defined; attribute value: {name}"
    )
}

pub(crate) fn unknown_function(name: &str) -> String {
    format!("Invalid function name; function: {name}")
}

pub(crate) fn misused_function(name: &str) -> String {
    format!("The function is not allowed to be used this way in an expression; function: {name}")
}

pub(crate) fn operand_count(operator: &str, count: usize) -> String {
    format!(
        "Incorrect number of operands for operator or function; operator or function: {operator}, \
         number of operands: {count}"
    )
}

pub(crate) fn operand_type(operator: &str, data_type: &str) -> String {
    format!(
        "Incorrect operand type for operator or function; operator or function: {operator}, \
         operand type: {data_type}"
    )
}

pub(crate) fn section_operand_type(section: &str, data_type: &str) -> String {
    format!(
        "Incorrect operand type for operator or function; operator: {section}, operand type: \
         {data_type}"
    )
}

pub(crate) fn path_required(operator: &str) -> String {
    format!("Operator or function requires a document path; operator or function: {operator}")
}

pub(crate) fn operands_equal(operator: &str, path: &str) -> String {
    format!(
        "The first operand must be distinct from the remaining operands for this operator or \
         function; operator: {operator}, first operand: {path}"
    )
}

pub(crate) fn unknown_type(name: &str) -> String {
    format!(
        "Invalid attribute type name found; type: {name}, valid types: \
         {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}"
    )
}

pub(crate) fn bounds_out_of_order(lower: &str, upper: &str) -> String {
    format!(
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; \
         lower bound operand: AttributeValue: {{{lower}}}, upper bound operand: AttributeValue: \
         {{{upper}}}"
    )
}

pub(crate) fn bounds_of_two_types(lower: &str, upper: &str) -> String {
    format!(
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound \
         operand: AttributeValue: {{{lower}}}, upper bound operand: AttributeValue: {{{upper}}}"
    )
}

pub(crate) fn list_index(index: &str) -> String {
    format!("List index is not within the allowable range; index: [{index}]")
}

pub(crate) fn section_twice(section: &str) -> String {
    format!("The \"{section}\" section can only be used once in an update expression;")
}

pub(crate) fn paths_overlap(one: &str, two: &str) -> String {
    format!(
        "Two document paths overlap with each other; must remove or rewrite one of these paths; \
         path one: {one}, path two: {two}"
    )
}

pub(crate) fn paths_conflict(one: &str, two: &str) -> String {
    format!(
        "Two document paths conflict with each other; must remove or rewrite one of these paths; \
         path one: {one}, path two: {two}"
    )
}

// The maps of names and values.

pub(crate) const NAMES_WITHOUT_EXPRESSION: &str =
    "ExpressionAttributeNames can only be specified when using expressions";

pub(crate) fn values_without_expression(expressions: &[&str]) -> String {
    let verb = if expressions.len() == 1 { "is" } else { "are" };
    format!(
        "ExpressionAttributeValues can only be specified when using expressions: {} {verb} null",
        expressions.join(" and ")
    )
}

pub(crate) fn map_is_empty(map: &str) -> String {
    format!("{map} must not be empty")
}

pub(crate) fn map_key_invalid(map: &str, key: &str) -> String {
    format!("{map} contains invalid key: Syntax error; key: \"{key}\"")
}

pub(crate) fn map_key_too_long(map: &str) -> String {
    format!(
        "{map} contains invalid key: The expression attribute map contains a key that is too long"
    )
}

pub(crate) fn map_value_invalid(map: &str, key: &str, problem: &str) -> String {
    format!("{map} contains invalid value: {problem} for key {key}")
}

pub(crate) fn map_too_large(map: &str) -> String {
    format!("{map} exceeds max size")
}

pub(crate) fn map_unused(map: &str, keys: &[&str]) -> String {
    format!("Value provided in {map} unused in expressions: keys: {{{}}}", keys.join(", "))
}

pub(crate) fn mixed_parameters(legacy: &[&str], expressions: &[&str]) -> String {
    format!(
        "Can not use both expression and non-expression parameters in the same request: \
         Non-expression parameters: {{{}}} Expression parameters: {{{}}}",
        legacy.join(", "),
        expressions.join(", ")
    )
}

// Query and Scan.

pub(crate) const NO_KEY_CONDITION: &str = "Either the KeyConditions or KeyConditionExpression \
     parameter must be specified in the request.";
pub(crate) const KEY_CONDITION_NOT_SUPPORTED: &str = "Query key condition not supported";
pub(crate) const KEY_CONDITION_TYPE: &str = "One or more parameter values were invalid: Condition \
     parameter type does not match schema type";
pub(crate) const ONE_CONDITION_PER_KEY: &str =
    "KeyConditionExpressions must only contain one condition per key";
pub(crate) const KEY_CONDITION_NESTED: &str =
    "KeyConditionExpressions cannot have conditions on nested attributes";
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
pub(crate) const SEGMENT_WITHOUT_TOTAL: &str = "The TotalSegments parameter is required but was \
     not present in the request when Segment parameter is present";
pub(crate) const TOTAL_WITHOUT_SEGMENT: &str = "The Segment parameter is required but was not \
     present in the request when parameter TotalSegments is present";

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

pub(crate) fn filter_on_key(name: &str) -> String {
    format!(
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: \
         {name}"
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

// Parameters from before there were expressions.

pub(crate) const LIST_OF_TWO_TYPES: &str = "One or more parameter values were invalid: \
     AttributeValues inside AttributeValueList must be of same type";
pub(crate) const LEGACY_BOUNDS: &str = "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound";
pub(crate) const NOT_INDEXABLE: &str =
    "Attempted conditional constraint is not an indexable operation";

pub(crate) fn attribute_twice(name: &str) -> String {
    format!("One or more parameter values were invalid: Duplicate value in attribute name: {name}")
}

pub(crate) fn argument_count(operator: &str) -> String {
    format!(
        "One or more parameter values were invalid: Invalid number of argument(s) for the \
         {operator} ComparisonOperator"
    )
}

pub(crate) fn operator_type(operator: &str, data_type: &str) -> String {
    format!(
        "One or more parameter values were invalid: ComparisonOperator {operator} is not valid \
         for {data_type} AttributeValue type"
    )
}

pub(crate) fn exists_with_operator(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Exists and ComparisonOperator cannot be used \
         together for Attribute: {name}"
    )
}

pub(crate) fn value_with_list(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Value and AttributeValueList cannot be used \
         together for Attribute: {name}"
    )
}

pub(crate) fn list_without_operator(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: AttributeValueList can only be used with a \
         ComparisonOperator for Attribute: {name}"
    )
}

pub(crate) fn value_without_existence(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Value cannot be used when Exists is false for \
         Attribute: {name}"
    )
}

pub(crate) fn value_required(exists: &str, name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Value must be provided when Exists is \
         {exists} for Attribute: {name}"
    )
}

pub(crate) fn update_without_value(action: &str, name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Only DELETE action is allowed when no \
         attribute value is specified; action: {action}, attribute: {name}"
    )
}

pub(crate) fn update_type(action: &str, data_type: &str) -> String {
    format!(
        "One or more parameter values were invalid: {action} action is not supported for the type \
         {data_type}"
    )
}

// Batches and transactions.

pub(crate) const BATCH_GET_TOO_MANY: &str = "Too many items requested for the BatchGetItem call";
pub(crate) const BATCH_WRITE_TOO_MANY: &str =
    "Too many items requested for the BatchWriteItem call";
pub(crate) const ONE_ACTION: &str =
    "TransactItems can only contain one of Check, Put, Update or Delete";
pub(crate) const ITEM_TWICE: &str =
    "Transaction request cannot include multiple operations on one item";
pub(crate) const TRANSACTION_TOO_LARGE: &str = "Collection size of items exceeded, which can \
     also be caused by the aggregate size of the items in the transaction exceeding the 4MB limit";
pub(crate) const TRANSACTION_CONFLICT: &str = "Transaction is ongoing for the item";
pub(crate) const TOKEN_MISMATCH: &str =
    "The provided client request token was used with different parameters";

pub(crate) fn batch_list_empty(table: &str) -> String {
    format!("The batch write request list for a table cannot be null or empty: {table}")
}

pub(crate) fn transaction_cancelled(codes: &[&str]) -> String {
    format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    )
}

pub(crate) const RETURN_VALUES_OLD_ONLY: &str = "ReturnValues can only be ALL_OLD or NONE";

// Tags and expiry.

pub(crate) const TAGS_TOO_MANY: &str =
    "One or more parameter values were invalid: Too many tags; a resource has at most 50";
pub(crate) const TTL_ENABLED: &str = "TimeToLive is already enabled";
pub(crate) const TTL_DISABLED: &str = "TimeToLive is already disabled";

pub(crate) fn invalid_arn(arn: &str) -> String {
    format!("Invalid TableArn: Invalid ResourceArn provided as input {arn}")
}

pub(crate) fn tag_twice(key: &str) -> String {
    format!("One or more parameter values were invalid: Duplicate tag key: {key}")
}

pub(crate) fn ttl_attribute(name: &str) -> String {
    format!("TimeToLive is active on a different AttributeName: current AttributeName is {name}")
}

// The service itself.

pub(crate) const INTERNAL: &str = "The request processing has failed because of an unknown error";
pub(crate) const UNAVAILABLE: &str = "The service cannot take this request at the moment";
pub(crate) const BUSY: &str = "The level of configured provisioned throughput for the table was \
     exceeded. Consider increasing your provisioning level with the UpdateTable API.";
