//! UUIDs as text.

use shelfmark_cql_protocol::hex::{parse_hex, to_hex};

/// Reads a UUID in its usual form.
#[must_use]
pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let mut groups = text.split('-');
    let mut digits = String::with_capacity(32);
    for length in [8, 4, 4, 4, 12] {
        let group = groups.next().filter(|group| group.len() == length)?;
        digits.push_str(group);
    }
    if groups.next().is_some() {
        return None;
    }
    parse_hex(&digits)?.try_into().ok()
}

/// Writes a UUID in its usual form.
#[must_use]
pub fn format_uuid(bytes: &[u8]) -> String {
    let digits = to_hex(bytes);
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}
