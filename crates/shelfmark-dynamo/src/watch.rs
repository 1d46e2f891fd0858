//! Tells whoever watches a server what a request was about: its table and, if it was refused, why.
//!
//! What it is not: a parser. It looks for names in bodies that the face has read or written, and finds
//! none rather than a wrong one.
//!
//! Invariant: nothing else of a body is told, above all no value.

/// The exception of a condition that did not hold: an answer that clients count on.
pub const CONDITION_FAILED: &str = "ConditionalCheckFailedException";

/// Bytes of a request's body that are searched for the table's name.
///
/// Source: ours; what is longer is a batch, or one large item.
const NAME_SEARCH_BYTES_MAX: usize = 64 * 1024;

/// Bytes of a refusal's body that are searched for the exception.
///
/// Source: ours; it stands at the beginning.
const EXCEPTION_SEARCH_BYTES_MAX: usize = 256;

/// Returns the name of the exception that the body of a refusal is: the part behind `#` of its `__type`.
#[must_use]
pub fn exception_of(body: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(body.get(..body.len().min(EXCEPTION_SEARCH_BYTES_MAX))?).ok()?;
    let (_, kind) = text.split_once("\"__type\":\"")?;
    let kind = kind.split('"').next()?;
    let name = kind.rsplit('#').next()?;
    name.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(name)
}

/// Returns the name of the first table that a request's body names, if it is one as clients write it.
#[must_use]
pub fn table_of(body: &[u8]) -> Option<&str> {
    const NAME: &[u8] = b"\"TableName\"";
    let body = body.get(..body.len().min(NAME_SEARCH_BYTES_MAX))?;
    let at = body.windows(NAME.len()).position(|own| own == NAME)?;
    let rest = body.get(at + NAME.len()..)?.trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    let name = std::str::from_utf8(rest.get(..end)?).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    name.bytes().all(is_name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_values_are_not() {
        let refused =
            br#"{"__type":"com.amazonaws.dynamodb.v20120810#ResourceInUseException","m":"v"}"#;
        assert_eq!(exception_of(refused), Some("ResourceInUseException"));
        for odd in [&b""[..], b"{}", br#"{"__type":"a b"}"#, b"\xff"] {
            assert_eq!(exception_of(odd), None);
        }
        assert_eq!(table_of(br#"{"Key":1,"TableName" : "My.Table-1"}"#), Some("My.Table-1"));
        for odd in
            [&b""[..], br#"{"TableName":7}"#, br#"{"TableName":"a\"b"}"#, br#"{"TableName":"#]
        {
            assert_eq!(table_of(odd), None);
        }
    }
}
