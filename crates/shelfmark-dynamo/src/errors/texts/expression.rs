//! Expressions, and the names and values in them.

pub(crate) fn invalid_expression(kind: &str, problem: &str) -> String {
    format!("Invalid {kind}: {problem}")
}

pub(crate) const EXPRESSION_IS_EMPTY: &str = "The expression can not be empty;";
pub(crate) const REDUNDANT_PARENTHESES: &str = "The expression has redundant parentheses;";
/// The text for an expression nested too deeply. *Ours*: the service's own limit is not published.
pub(crate) const EXPRESSION_TOO_DEEP: &str = "The expression is nested too deeply;";

/// Words an expression that is too long; of an update the service does not say how long.
pub(crate) fn expression_size(size: Option<usize>) -> String {
    let shown = size.map(|size| format!(" expression size: {size}")).unwrap_or_default();
    format!("Expression size has exceeded the maximum allowed size;{shown}")
}

pub(crate) fn expression_operators(count: usize) -> String {
    format!("The expression contains too many operators; operator count: {count}")
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

/// Words a function that is not allowed; `which` is the kind of expression, with its article.
pub(crate) fn function_not_allowed(which: &str, name: &str) -> String {
    format!("The function is not allowed in {which} expression; function: {name}")
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

pub(crate) fn in_operand_count(count: usize) -> String {
    format!("The IN operator is provided with too many operands; number of operands: {count}")
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
         {data_type}, typeSet: ALLOWED_FOR_{section}_OPERAND"
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

pub(crate) const NAMES_WITHOUT_EXPRESSION: &str =
    "ExpressionAttributeNames can only be specified when using expressions";

pub(crate) fn values_without_expression(expressions: &[&str]) -> String {
    let base = "ExpressionAttributeValues can only be specified when using expressions";
    let null = match expressions {
        [] => return base.to_owned(),
        [_] => "is null",
        _ => "are null",
    };
    format!("{base}: {} {null}", expressions.join(" and "))
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

/// Words a document path that leads deeper than an item can be nested.
pub(crate) fn path_too_deep(levels: usize) -> String {
    format!("The document path has too many nesting levels; nesting levels: {levels}")
}

/// The beginning of the text for entries of ExpressionAttributeNames that nothing uses.
pub(crate) const NAMES_UNUSED: &str = "Value provided in ExpressionAttributeNames unused";
