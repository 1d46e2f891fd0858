//! The fields of a query: decoded, and encoded for links.
//!
//! Invariant: what [`encode`] writes is read back as it was.

use std::fmt::Write as _;

use crate::fault::{Fault, Result};
use crate::limits::FIELDS_MAX;

/// Names and values in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=1&b=2`.
    pub(crate) fn parse(query: &str) -> Result<Self> {
        let mut fields = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            if fields.len() == FIELDS_MAX {
                return Err(Fault::bad(format!("a query has at most {FIELDS_MAX} fields")));
            }
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            fields.push((decode(name, true)?, decode(value, true)?));
        }
        Ok(Self(fields))
    }

    /// Returns the first value of this name, or an empty text.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str())
    }

    /// Returns the same fields with another value of one; an empty one is left out.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut fields: Vec<(String, String)> =
            self.0.iter().filter(|(own, _)| own != name).cloned().collect();
        if !value.is_empty() {
            fields.push((name.to_owned(), value.to_owned()));
        }
        Self(fields)
    }

    /// Writes the fields that are not empty as a query for a link.
    pub(crate) fn query(&self) -> String {
        let parts = self.0.iter().filter(|(_, value)| !value.is_empty());
        let parts: Vec<String> =
            parts.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
        parts.join("&")
    }
}

/// Decodes `%20`, and `+` where it means a space.
pub(crate) fn decode(text: &str, plus: bool) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    let wrong = || Fault::bad("an escape such as %20 is cut off or no hexadecimal number");
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().ok_or_else(wrong)?, rest.next().ok_or_else(wrong)?];
                let mut value = [0];
                hex::decode_to_slice(digits, &mut value).map_err(|_| wrong())?;
                bytes.extend_from_slice(&value);
            }
            b'+' if plus => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).map_err(|_| Fault::bad("an address is no UTF-8"))
}

/// Encodes a text for a path or a query.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["", "a b&c=d/é%+?#\"><", "\u{1F4D6}\n\t"] {
            assert_eq!(decode(&encode(text), true).unwrap(), text);
            let fields = Fields::default().with("key", text);
            assert_eq!(Fields::parse(&fields.query()).unwrap().get("key"), text);
        }
    }

    #[test]
    fn what_is_no_escape_is_refused() {
        for text in ["%", "%2", "%zz", "%ff"] {
            assert!(decode(text, true).is_err(), "{text}");
        }
        assert!(Fields::parse(&"a&".repeat(FIELDS_MAX + 1)).is_err());
    }
}
