//! The body of a request, and its shape.

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

/// Prefixes one problem as the validation framework does.
pub(crate) fn envelope(message: &str) -> String {
    envelope_all(&[message])
}

/// Prefixes problems that are reported together as the validation framework does.
pub(crate) fn envelope_all<T: AsRef<str>>(messages: &[T]) -> String {
    let joined = messages.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("; ");
    let plural = if messages.len() == 1 { "" } else { "s" };
    format!("{} validation error{plural} detected: {joined}", messages.len())
}

/// Words a member that does not satisfy a constraint of the service model.
pub(crate) fn constraint(path: &str, constraint: &str) -> String {
    format!("Value at '{path}' failed to satisfy constraint: Member must {constraint}")
}

pub(crate) const RETURN_VALUES_UNKNOWN: &str = "Failed to satisfy constraint: Member must satisfy \
     enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]";

pub(crate) const CONDITIONAL_OPERATOR_UNKNOWN: &str =
    "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]";

/// Words a value that does not satisfy a constraint, as the service has it for all constraints but
/// the least length or value of 1: the value is shown and the members have small first letters.
pub(crate) fn constraint_of_value(path: &str, value: &str, constraint: &str) -> String {
    let path = camel(path);
    format!("Value '{value}' at '{path}' failed to satisfy constraint: Member must {constraint}")
}

/// Words a member that is not there.
pub(crate) fn constraint_of_nothing(path: &str) -> String {
    let path = camel(path);
    format!("Value null at '{path}' failed to satisfy constraint: Member must not be null")
}

/// Returns a path whose members have small first letters; keys of maps stay as they are.
fn camel(path: &str) -> String {
    let mut before = "";
    let member = |member: &str, is_key: bool| {
        let mut letters = member.chars();
        match letters.next() {
            Some(first) if !is_key => first.to_lowercase().chain(letters).collect(),
            _ => member.to_owned(),
        }
    };
    let members = path.split('.').map(|own| {
        let is_key = matches!(before, "RequestItems" | "Expected" | "AttributeUpdates");
        before = own;
        member(own, is_key)
    });
    members.collect::<Vec<String>>().join(".")
}

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

/// Words keys of a map that are no names of tables.
pub(crate) fn map_keys(path: &str, shown: &str) -> String {
    let path = camel(path);
    format!(
        "Value '{shown}' at '{path}' failed to satisfy constraint: Map keys must satisfy constraint: \
         [Member must have length less than or equal to 255, Member must have length greater than or \
         equal to 3, Member must {NAME_PATTERN}]"
    )
}

/// Words values of a map that are lists of no element or of too many.
pub(crate) fn map_values(path: &str, shown: &str, most: usize) -> String {
    let path = camel(path);
    format!(
        "Value '{shown}' at '{path}' failed to satisfy constraint: Map value must satisfy constraint: \
         [Member must have length less than or equal to {most}, Member must have length greater than or \
         equal to 1]"
    )
}

pub(crate) const NAME_PATTERN: &str = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+";

/// Words a member of another type, as a strict parser has it.
pub(crate) fn unexpected_type(found: &str, expected: &str) -> String {
    format!("invalid type: {found}, expected {expected}")
}

pub(crate) fn unexpected_fraction(text: &str, expected: &str) -> String {
    unexpected_type(&format!("floating point `{text}`"), expected)
}

/// Words an integer that its member cannot hold.
pub(crate) fn unexpected_integer(text: &str, expected: &str) -> String {
    format!("invalid value: integer `{text}`, expected {expected}")
}

pub(crate) fn missing_field(name: &str) -> String {
    format!("missing field `{name}`")
}

/// Adds the line and the column at which a strict parser stopped.
pub(crate) fn at_place(text: &str, (line, column): (usize, usize)) -> String {
    format!("{text} at line {line} column {column}")
}
