//! Decoders accept exactly what encoders write, and bad bytes never panic.

use proptest::collection::vec;
use proptest::prelude::*;
use shelfmark_keycode::{
    Direction, KeyType, decode, lexint, put_ordered_varint, skip, take_bytes, take_bytes_into,
    take_decimal, take_inet, take_integer, take_kind, take_more, take_ordered_varint, take_text,
};

use crate::values::{self, encoded};

/// What every decoder owes on any bytes.
fn check_bytes(ty: &KeyType, direction: Direction, bytes: &[u8]) {
    let mut rest = bytes;
    let mut skipped = bytes;
    let skip_result = skip(ty, direction, &mut skipped);
    match decode(ty, direction, &mut rest) {
        Ok(value) => {
            let read = &bytes[..bytes.len() - rest.len()];
            assert_eq!(encoded(ty, direction, &value), read, "{ty:?} {value:?}");
            assert!(skip_result.is_ok(), "{ty:?} {bytes:02x?}");
            assert_eq!(skipped, rest, "{ty:?} {bytes:02x?}");
        }
        Err(error) => {
            assert_eq!(rest, bytes, "the cursor moved: {ty:?} {bytes:02x?}");
            let position = error.position();
            assert!(position.is_some_and(|at| at <= bytes.len()), "{ty:?} {error}");
        }
    }
    if skip_result.is_err() {
        assert_eq!(skipped, bytes, "the cursor moved: {ty:?} {bytes:02x?}");
    }
}

/// All the typed decoders on any bytes: they must come back, and leave the cursor on an error.
fn check_typed(direction: Direction, bytes: &[u8]) {
    fn moved<'a, T, E>(
        bytes: &'a [u8],
        take: impl FnOnce(&mut &'a [u8]) -> Result<T, E>,
    ) -> Option<T> {
        let mut rest = bytes;
        let result = take(&mut rest);
        match result {
            Ok(value) => {
                assert!(rest.len() < bytes.len());
                Some(value)
            }
            Err(_) => {
                assert_eq!(rest, bytes);
                None
            }
        }
    }
    let owned = moved(bytes, |rest| take_bytes(rest, direction));
    let mut buffer = vec![0xAB];
    let into = moved(bytes, |rest| take_bytes_into(rest, direction, &mut buffer));
    assert_eq!(owned.is_some(), into.is_some());
    assert_eq!(buffer[0], 0xAB);
    assert_eq!(owned.as_deref().unwrap_or_default(), &buffer[1..]);
    if let Some(text) = moved(bytes, |rest| take_text(rest, direction)) {
        assert_eq!(Some(text.as_bytes()), owned.as_deref());
    }
    moved(bytes, |rest| take_integer(rest, direction));
    moved(bytes, |rest| take_decimal(rest, direction));
    moved(bytes, |rest| take_inet(rest, direction));
    moved(bytes, |rest| take_kind(rest, direction));
    moved(bytes, |rest| take_more(rest, direction));
    if let Some(value) = moved(bytes, take_ordered_varint) {
        let mut again = Vec::new();
        put_ordered_varint(&mut again, value);
        assert!(bytes.starts_with(&again));
    }
    if let Some(value) = moved(bytes, lexint::take) {
        let mut again = Vec::new();
        lexint::put(&mut again, value);
        assert!(bytes.starts_with(&again));
    }
}

/// Bytes that are almost the key of a value: one byte changed, dropped, added, or cut off.
fn damaged() -> impl Strategy<Value = (KeyType, Direction, Vec<u8>)> {
    (values::key_type(), values::direction())
        .prop_flat_map(|(ty, direction)| {
            let value = values::value(&ty);
            (Just(ty), Just(direction), value, any::<prop::sample::Index>(), 0..5_u8, any::<u8>())
        })
        .prop_map(|(ty, direction, value, at, how, byte)| {
            let mut bytes = encoded(&ty, direction, &value);
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => bytes[at] ^= 1,
                    2 => drop(bytes.remove(at)),
                    3 => bytes.insert(at, byte),
                    _ => bytes.truncate(at),
                }
            }
            (ty, direction, bytes)
        })
}

/// Bytes made of those that mean something to some decoder.
fn telling_bytes() -> impl Strategy<Value = Vec<u8>> {
    let telling = vec![
        0x00_u8, 0x01, 0x02, 0x03, 0x0B, 0x33, 0x64, 0x65, 0x7E, 0x7F, 0x80, 0x81, 0x88, 0x89,
        0x8A, 0xB2, 0xC0, 0xF0, 0xF1, 0xF4, 0xF5, 0xF7, 0xF8, 0xFB, 0xFC, 0xFE, 0xFF,
    ];
    let byte = prop_oneof![3 => prop::sample::select(telling), 1 => any::<u8>()];
    vec(byte, 0..24)
}

proptest! {

    #![proptest_config(values::many_cases())]

    #[test]
    fn damaged_keys((ty, direction, bytes) in damaged()) {
        check_bytes(&ty, direction, &bytes);
    }

    #[test]
    fn any_bytes(ty in values::key_type(), direction in values::direction(), bytes in telling_bytes()) {
        check_bytes(&ty, direction, &bytes);
    }

    #[test]
    fn any_bytes_typed(direction in values::direction(), bytes in telling_bytes()) {
        check_typed(direction, &bytes);
    }
}

/// The types whose bytes are not all values.
fn choosy_types() -> [KeyType; 10] {
    let kinded = |ty| KeyType::Kinded(Box::new(ty));
    let map = KeyType::Map(Box::new(KeyType::Bool), Box::new(KeyType::Bool));
    [
        KeyType::Text,
        KeyType::Bytes,
        KeyType::Bool,
        KeyType::Integer,
        KeyType::Decimal,
        kinded(KeyType::Bytes),
        kinded(KeyType::Bool),
        KeyType::List(Box::new(KeyType::Bool)),
        KeyType::Set(Box::new(KeyType::Bool)),
        map,
    ]
}

/// Every string of one and two bytes.
#[test]
fn pairs_of_bytes_one_by_one() {
    for ty in &choosy_types() {
        for first in 0..=u8::MAX {
            check_bytes(ty, Direction::Ascending, &[first]);
            for second in 0..=u8::MAX {
                check_bytes(ty, Direction::Ascending, &[first, second]);
                check_bytes(ty, Direction::Descending, &[!first, !second]);
            }
        }
    }
}

/// Every string of up to four bytes out of those where a form begins or ends.
#[test]
fn short_byte_strings_one_by_one() {
    const TELLING: [u8; 14] =
        [0x00, 0x01, 0x02, 0x0A, 0x0B, 0x64, 0x65, 0x7F, 0x80, 0x81, 0x8A, 0xF0, 0xFB, 0xFF];
    let mut strings: Vec<Vec<u8>> = vec![Vec::new()];
    for length in 0..4 {
        let longer: Vec<Vec<u8>> = strings
            .iter()
            .filter(|string| string.len() == length)
            .flat_map(|string| TELLING.map(|byte| [&string[..], &[byte]].concat()))
            .collect();
        strings.extend(longer);
    }
    assert_eq!(strings.len(), 1 + 14 + 196 + 2_744 + 38_416);
    for string in &strings {
        for ty in &choosy_types() {
            check_bytes(ty, Direction::Ascending, string);
        }
        check_typed(Direction::Ascending, string);
    }
}
