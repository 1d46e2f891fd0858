//! UUIDs as text.

pub use shelfmark_keycode::parse_uuid;

/// Formats a UUID as 36 lower-case characters.
#[must_use]
pub fn format_uuid(bytes: &[u8]) -> String {
    // A value of another length is damage; its digits are shown all the same.
    bytes.try_into().map_or_else(|_| hex::encode(bytes), shelfmark_keycode::uuid_text)
}
