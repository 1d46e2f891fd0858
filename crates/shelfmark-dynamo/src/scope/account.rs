//! The account that an access key belongs to.
//!
//! Keys of AWS contain their account's number, so all keys of one account, short-lived ones too, have one
//! set of tables. A key of twelve digits is an account's number. Any other key is an account of its own.

use std::borrow::Cow;

/// Characters of an account's number.
const NUMBER_CHARS: usize = 12;

/// Characters of a key's id as AWS makes it, and of the letters that tell its kind.
const KEY_ID_CHARS: usize = 20;
const KIND_CHARS: usize = 4;

/// The account in ARNs of those whose key tells of none, as local servers have it.
const NO_NUMBER: &str = "000000000000";

/// Returns the account of a key: its number, or the key's id.
pub(super) fn account_of(key_id: &str) -> Cow<'_, str> {
    number_in(key_id).map_or(Cow::Borrowed(key_id), Cow::Owned)
}

/// Returns the number of an account as ARNs show it.
pub(super) fn number_of(account: &str) -> &str {
    if is_number(account) { account } else { NO_NUMBER }
}

fn is_number(text: &str) -> bool {
    text.len() == NUMBER_CHARS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the account's number out of the id of an access key of AWS: after the kind come base-32 digits,
/// whose first 48 bits hold the number between the first and the last seven.
///
/// Source: published analyses of the ids of access keys, read 2026-11; the service documents `sts
/// get-access-key-info` for it and not the form.
fn number_in(key_id: &str) -> Option<String> {
    let is_key =
        key_id.len() == KEY_ID_CHARS && (key_id.starts_with("AKIA") || key_id.starts_with("ASIA"));
    if !is_key {
        return None;
    }
    let mut bits: u64 = 0;
    // Ten digits are 50 bits.
    for byte in key_id.bytes().skip(KIND_CHARS) {
        base32(byte)?;
    }
    for byte in key_id.bytes().skip(KIND_CHARS).take(10) {
        bits = bits << 5 | base32(byte)?;
    }
    let number = (bits >> 2 & 0x7FFF_FFFF_FF80) >> 7;
    Some(format!("{number:012}")).filter(|text| is_number(text))
}

fn base32(byte: u8) -> Option<u64> {
    match byte {
        b'A'..=b'Z' => Some(u64::from(byte - b'A')),
        b'2'..=b'7' => Some(u64::from(byte - b'2') + 26),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_their_accounts() {
        // An example of the analyses.
        assert_eq!(account_of("ASIAQNZGKIQY56JQ7WML"), "029608264753");
        assert_eq!(account_of("AKIAQNZGKIQY56JQ7WML"), "029608264753");
        for own in ["test", "123456789012", "AKIA", "AKIAQNZGKIQY56JQ7WM1", "AIDAQNZGKIQY56JQ7WML"]
        {
            assert_eq!(account_of(own), own);
        }
        assert_eq!(number_of("123456789012"), "123456789012");
        assert_eq!(number_of("12345678901x"), NO_NUMBER);
    }
}
