//! Key bytes from nowhere: whatever decodes must encode to the very same bytes.
//!
//! Input: a type, a direction, and bytes that are read as keys of that type. See [`run`].

use std::cmp::Ordering;

use num_bigint::BigInt;
use shelfmark_keycode as keycode;
use shelfmark_keycode::{Direction, KeyType};

use crate::input::Input;

/// Key types made of others are at most this wide.
const FIELDS_MAX: usize = 4;

/// Most types inside one type; the deepest chain is longer than what the codec allows.
const TYPES_MAX: usize = 48;

/// The types without others inside, in the order of their bytes in an input.
const PLAIN: [KeyType; 24] = KeyType::SCALARS;

/// Runs one input: a byte that says what is tried, then what that needs.
///
/// 0: a type, a direction byte, then two keys (the first with two bytes of length before it).
/// 1: a typed codec by number, a direction byte, bytes. 2: ranges of a prefix. 3: whole numbers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(4) {
        0 => dynamic(&mut input),
        1 => typed(&mut input),
        2 => prefixes(&mut input),
        _ => integers(&mut input),
    }
}

fn direction(input: &mut Input<'_>) -> Direction {
    if input.flag() { Direction::Descending } else { Direction::Ascending }
}

/// Reads a type: numbers below 24 are the plain ones, then tuple, list, set, map, kinded. A tuple whose
/// fields are all kinded is read as a record.
#[must_use]
pub fn key_type(input: &mut Input<'_>) -> KeyType {
    let mut left = TYPES_MAX;
    key_type_within(input, &mut left)
}

fn key_type_within(input: &mut Input<'_>, left: &mut usize) -> KeyType {
    let number = input.below(PLAIN.len() + 5);
    if let Some(plain) = PLAIN.get(number) {
        return plain.clone();
    }
    *left = left.saturating_sub(1);
    if *left == 0 {
        return KeyType::U8;
    }
    match number - PLAIN.len() {
        0 => {
            let count = input.below(FIELDS_MAX + 1);
            let fields: Vec<KeyType> = (0..count).map(|_| key_type_within(input, left)).collect();
            let is_record = fields.iter().all(|field| matches!(field, KeyType::Kinded(_)));
            if is_record { KeyType::Record(fields) } else { KeyType::Tuple(fields) }
        }
        1 => KeyType::List(key_type_within(input, left).into()),
        2 => KeyType::Set(key_type_within(input, left).into()),
        3 => {
            let key = key_type_within(input, left);
            KeyType::Map(key.into(), key_type_within(input, left).into())
        }
        _ => KeyType::Kinded(key_type_within(input, left).into()),
    }
}

fn dynamic(input: &mut Input<'_>) {
    let key_type = key_type(input);
    let direction = direction(input);
    let first = input.long_bytes();
    let second = input.rest();
    let left = round_trip(&key_type, direction, first);
    let right = round_trip(&key_type, direction, second);
    let (Some((left, left_bytes)), Some((right, right_bytes))) = (left, right) else { return };
    let by_bytes = match direction {
        Direction::Ascending => left_bytes.cmp(right_bytes),
        Direction::Descending => right_bytes.cmp(left_bytes),
    };
    assert_eq!(keycode::compare(&key_type, &left, &right), by_bytes, "{left:?} and {right:?}");
    if left_bytes != right_bytes {
        assert!(!left_bytes.starts_with(right_bytes), "{left:?} does not end itself");
        assert!(!right_bytes.starts_with(left_bytes), "{right:?} does not end itself");
    }
}

/// Decodes the front of `bytes`; returns the value and what it took.
fn round_trip<'a>(
    key_type: &KeyType,
    direction: Direction,
    bytes: &'a [u8],
) -> Option<(keycode::KeyValue, &'a [u8])> {
    let mut rest = bytes;
    let decoded = keycode::decode(key_type, direction, &mut rest);
    let mut skipped = bytes;
    let skip = keycode::skip(key_type, direction, &mut skipped);
    let value = match decoded {
        Ok(value) => value,
        Err(error) => {
            assert_eq!(rest, bytes, "an error moved the input");
            assert!(error.position().is_none_or(|at| at <= bytes.len()), "{error}");
            assert!(skip.is_ok() || skipped == bytes, "an error moved the input");
            return None;
        }
    };
    let consumed = bytes.strip_suffix(rest).expect("decoding moves forward only");
    skip.expect("what decodes can be stepped over");
    assert_eq!(skipped, rest, "skip and decode end in different places");
    let mut encoded = b"before".to_vec();
    keycode::encode(key_type, direction, &value, &mut encoded).expect("what decodes encodes");
    assert_eq!(encoded.strip_prefix(b"before"), Some(consumed), "{value:?}");
    let mut canonical = value.clone();
    keycode::canonicalize(key_type, &mut canonical).expect("what decodes is not too deep");
    let mut encoded = Vec::new();
    keycode::encode(key_type, direction, &canonical, &mut encoded).expect("it encoded before");
    assert_eq!(encoded, consumed, "what decodes is canonical: {value:?}");
    assert_eq!(keycode::compare(key_type, &value, &canonical), Ordering::Equal);
    Some((value, consumed))
}

/// Checks one pair of typed functions on `$bytes`.
macro_rules! pair {
    ($bytes:expr, $direction:expr, $take:ident, $put:ident) => {
        pair!($bytes, $direction, $take, $put, |value| value)
    };
    ($bytes:expr, $direction:expr, $take:ident, $put:ident, |$value:ident| $lent:expr) => {{
        let mut rest = $bytes;
        match keycode::$take(&mut rest, $direction) {
            Ok($value) => {
                let mut again = Vec::new();
                keycode::$put(&mut again, $direction, $lent);
                assert_eq!($bytes.strip_suffix(rest), Some(&again[..]), stringify!($take));
            }
            Err(error) => {
                assert_eq!(rest, $bytes, stringify!($take));
                assert!(error.position().is_none_or(|at| at <= $bytes.len()), "{error}");
            }
        }
    }};
}

fn typed(input: &mut Input<'_>) {
    let number = input.below(28);
    let way = direction(input);
    let bytes = input.rest();
    match number {
        0 => pair!(bytes, way, take_text, put_text, |value| &value),
        1 => pair!(bytes, way, take_bytes, put_bytes, |value| &value),
        2 => pair!(bytes, way, take_bool, put_bool),
        3 => pair!(bytes, way, take_i8, put_i8),
        4 => pair!(bytes, way, take_i16, put_i16),
        5 => pair!(bytes, way, take_i32, put_i32),
        6 => pair!(bytes, way, take_i64, put_i64),
        7 => pair!(bytes, way, take_i128, put_i128),
        8 => pair!(bytes, way, take_u8, put_u8),
        9 => pair!(bytes, way, take_u16, put_u16),
        10 => pair!(bytes, way, take_u32, put_u32),
        11 => pair!(bytes, way, take_u64, put_u64),
        12 => pair!(bytes, way, take_u128, put_u128),
        13 => pair!(bytes, way, take_f32, put_f32),
        14 => pair!(bytes, way, take_f64, put_f64),
        15 => pair!(bytes, way, take_date, put_date),
        16 => pair!(bytes, way, take_date_days, put_date_days),
        17 => pair!(bytes, way, take_time, put_time),
        18 => pair!(bytes, way, take_timestamp, put_timestamp),
        19 => pair!(bytes, way, take_inet, put_inet),
        20 => pair!(bytes, way, take_uuid, put_uuid),
        21 => pair!(bytes, way, take_cql_uuid, put_cql_uuid),
        22 => pair!(bytes, way, take_cql_timeuuid, put_cql_timeuuid),
        23 => pair!(bytes, way, take_integer, put_integer, |value| &value),
        24 => pair!(bytes, way, take_decimal, put_decimal, |value| &value),
        25 => pair!(bytes, way, take_kind, put_kind),
        26 => taken_into(bytes, way),
        _ => leading(bytes),
    }
}

/// Both ways of taking bytes agree.
fn taken_into(bytes: &[u8], direction: Direction) {
    let (mut first, mut second) = (bytes, bytes);
    let mut buffer = b"kept?".to_vec();
    let into = keycode::take_bytes_into(&mut second, direction, &mut buffer);
    match keycode::take_bytes(&mut first, direction) {
        Ok(value) => {
            assert!(into.is_ok());
            assert!(buffer.ends_with(&value));
        }
        Err(error) => assert_eq!(into, Err(error)),
    }
    assert_eq!(first, second);
}

/// What leads a key: varints and tokens.
fn leading(bytes: &[u8]) {
    let mut rest = bytes;
    if let Ok(number) = keycode::take_ordered_varint(&mut rest) {
        let mut again = Vec::new();
        keycode::put_ordered_varint(&mut again, number);
        assert_eq!(bytes.strip_suffix(rest), Some(&again[..]));
        assert!(again.len() <= keycode::ORDERED_VARINT_BYTES_MAX);
    } else {
        assert_eq!(rest, bytes, "an error moved the input");
    }
    let token = keycode::token(bytes);
    assert_ne!(token, i64::MIN, "no token");
    assert_eq!(keycode::token_from_bytes(keycode::token_bytes(token)), token);
}

/// A value has a prefix exactly when its key lies in the range of the prefix.
fn prefixes(input: &mut Input<'_>) {
    let direction = direction(input);
    let outer = input.bytes();
    let prefix = input.bytes();
    let value = input.rest();
    let (start, end) = keycode::bytes_prefix_range(direction, prefix);
    let within = |relative: &[u8]| [outer, relative].concat();
    let start = within(&start);
    let end = end.map_or_else(|| keycode::prefix_successor(outer), |end| Some(within(&end)));
    let mut key = outer.to_vec();
    keycode::put_bytes(&mut key, direction, value);
    let inside = key >= start && end.is_none_or(|end| key < end);
    assert_eq!(inside, value.starts_with(prefix), "{prefix:x?} and {value:x?}");
    if let Some(successor) = keycode::prefix_successor(value) {
        assert!(successor.as_slice() > value && !successor.starts_with(value));
    }
}

/// Integers from their wire form and from their value have one key; so have decimals of all scales.
fn integers(input: &mut Input<'_>) {
    let direction = direction(input);
    let scale = i32::from(input.u16()) - 0x8000;
    let bytes = input.rest();
    let value = BigInt::from_signed_bytes_be(bytes);
    let (mut from_value, mut from_bytes) = (Vec::new(), Vec::new());
    keycode::put_integer(&mut from_value, direction, &value);
    match keycode::put_integer_be_bytes(&mut from_bytes, direction, bytes) {
        Ok(()) => assert_eq!(from_bytes, from_value, "{value}"),
        Err(_) => assert!(bytes.is_empty(), "refused {bytes:x?}"),
    }
    assert_eq!(keycode::take_integer(&mut &from_value[..], direction), Ok(value.clone()));
    let Ok(decimal) = keycode::Decimal::new(value.clone(), scale) else {
        assert!(value.bits() > keycode::DECIMAL_BITS_MAX, "refused {value}");
        return;
    };
    let mut key = Vec::new();
    keycode::put_decimal(&mut key, direction, &decimal);
    let read = keycode::take_decimal(&mut &key[..], direction).expect("what was put is read");
    assert_eq!(read, decimal);
    let least = decimal.normalized();
    assert_eq!((read.scale(), read.unscaled()), (least.scale(), least.unscaled()));
}
