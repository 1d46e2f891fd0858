//! Parameters from before there were expressions.

pub(crate) const LIST_OF_TWO_TYPES: &str = "One or more parameter values were invalid: \
     AttributeValues inside AttributeValueList must be of same type";
pub(crate) const LEGACY_BOUNDS: &str = "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound";
pub(crate) const OPERATOR_WITHOUT_CONDITIONS: &str =
    "ConditionalOperator cannot be used without Filter or Expected";
pub(crate) const OPERATOR_WITHOUT_NEED: &str =
    "ConditionalOperator can only be used when Filter or Expected has two or more elements";
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

pub(crate) fn operator_without_value(operator: &str, name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Value or AttributeValueList must be used with \
         ComparisonOperator: {operator} for Attribute: {name}"
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

/// Words that an action cannot have a value of this type. DELETE may stand without any.
pub(crate) fn update_type(action: &str, data_type: &str) -> String {
    let action = if action == "DELETE" { "DELETE action with value" } else { "ADD action" };
    format!(
        "One or more parameter values were invalid: {action} is not supported for the type \
         {data_type}"
    )
}
