//! UUIDs as text: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
//!
//! What it is not: their order, which has three forms in [`crate::put_uuid`] and its neighbours.
//!
//! Invariant: what is formatted is parsed to the same bytes.

/// Offsets of the dashes in the text.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// Returns a UUID as 36 lower-case characters.
#[must_use]
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }));
        }
    }
    text
}

/// Parses a UUID of 36 characters, in either case; `None` if the text is none.
#[must_use]
pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 || !DASHES.iter().all(|at| bytes.get(*at) == Some(&b'-')) {
        return None;
    }
    let mut digits = bytes.iter().enumerate().filter(|(at, _)| !DASHES.contains(at));
    let mut uuid = [0; 16];
    for byte in &mut uuid {
        for _ in 0..2 {
            let (_, digit) = digits.next()?;
            let value = char::from(*digit).to_digit(16)?;
            *byte = *byte << 4 | u8::try_from(value).ok()?;
        }
    }
    Some(uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_come_back() {
        let text = "123e4567-e89b-12d3-a456-426614174000";
        let uuid = parse_uuid(text).unwrap();
        assert_eq!((uuid[0], uuid[15]), (0x12, 0));
        assert_eq!(uuid_text(&uuid), text);
        assert_eq!(parse_uuid(&text.to_uppercase()), Some(uuid));
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        for text in [
            "",
            "123e4567e89b12d3a456426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567-e89b-12d3-a456-42661417400g",
            "123e4567+e89b-12d3-a456-426614174000",
            "123e4567-e89b-12d3-a456--26614174000",
            "123e4567-e89b-12d3-a456-4266141740ä",
        ] {
            assert_eq!(parse_uuid(text), None, "{text}");
        }
    }
}
