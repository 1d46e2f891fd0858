//! The typed functions: exact bytes, borrowing, growth, and agreement between twins.

use std::borrow::Cow;

use num_bigint::BigInt;
use proptest::prelude::*;
use shelfmark_keycode::{
    Direction, ORDERED_VARINT_BYTES_MAX, put_bytes, put_date, put_date_days, put_integer,
    put_integer_be_bytes, put_kind, put_ordered_varint, put_text, take_bytes, take_bytes_into,
    take_date, take_date_days, take_kind, take_ordered_varint, take_text,
};
use shelfmark_keycode::{KeyErrorKind, Kind};

use crate::values;

const UP: Direction = Direction::Ascending;
const DOWN: Direction = Direction::Descending;

#[test]
fn direction_reverses() {
    assert_eq!(UP.reversed(), DOWN);
    assert_eq!(DOWN.reversed(), UP);
    assert_eq!(Direction::default(), UP);
}

#[test]
fn text_is_borrowed_when_it_can_be() {
    let read = |direction, text: &str| {
        let mut key = Vec::new();
        put_text(&mut key, direction, text);
        let mut rest = &key[..];
        let value = take_text(&mut rest, direction).expect("own bytes");
        assert_eq!(value, text);
        assert!(rest.is_empty());
        matches!(value, Cow::Borrowed(_))
    };
    assert!(read(UP, "plain"));
    assert!(read(UP, ""));
    assert!(!read(UP, "nul\0"));
    assert!(!read(DOWN, "plain"));
}

#[test]
fn bytes_are_appended_to_the_buffer_of_the_caller() {
    let mut key = Vec::new();
    put_bytes(&mut key, DOWN, &[0, 1, 2]);
    put_bytes(&mut key, UP, &[3]);
    let mut buffer = Vec::new();
    let mut rest = &key[..];
    take_bytes_into(&mut rest, DOWN, &mut buffer).expect("own bytes");
    take_bytes_into(&mut rest, UP, &mut buffer).expect("own bytes");
    assert_eq!(buffer, [0, 1, 2, 3]);
    assert!(take_bytes_into(&mut rest, UP, &mut buffer).is_err());
    assert_eq!(buffer, [0, 1, 2, 3]);
}

/// The longest DynamoDB key, all zeros, must fit into the roughly 7 KiB of TiKV.
#[test]
fn escape_grows_at_most_to_twice_and_two() {
    let mut key = Vec::new();
    put_bytes(&mut key, UP, &[0; 2_048]);
    put_bytes(&mut key, DOWN, &[0; 1_024]);
    assert_eq!(key.len(), 2 * (2_048 + 1_024) + 4);
    assert!(key.len() < 7 * 1_024);
    let mut rest = &key[..];
    assert_eq!(take_bytes(&mut rest, UP).expect("own bytes").as_ref(), [0; 2_048]);
    assert_eq!(take_bytes(&mut rest, DOWN).expect("own bytes").as_ref(), [0; 1_024]);
    let mut plain = Vec::new();
    put_bytes(&mut plain, UP, &[0xFF; 1_000]);
    assert_eq!(plain.len(), 1_002);
}

#[test]
fn dates_have_two_spellings_of_the_same_bytes() {
    for (days, since_epoch) in
        [(0, i32::MIN), ((1 << 31) - 1, -1), (1 << 31, 0), ((1 << 31) + 1, 1), (u32::MAX, i32::MAX)]
    {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        put_date(&mut a, UP, days);
        put_date_days(&mut b, UP, since_epoch);
        assert_eq!(a, b);
        assert_eq!(take_date(&mut &b[..], UP), Ok(days));
        assert_eq!(take_date_days(&mut &a[..], UP), Ok(since_epoch));
    }
}

#[test]
fn kinds_order_and_come_back() {
    let kinds = [Kind::Null, Kind::Empty, Kind::Value];
    for direction in [UP, DOWN] {
        let mut keys = Vec::new();
        for kind in kinds {
            let mut key = Vec::new();
            put_kind(&mut key, direction, kind);
            assert_eq!(take_kind(&mut &key[..], direction), Ok(kind));
            keys.push(key);
        }
        assert_eq!(keys.is_sorted(), direction == UP);
        assert!(keys.is_sorted() || keys.iter().rev().is_sorted());
    }
}

#[test]
fn ordered_varints_at_the_edges_of_their_forms() {
    let form = |value| {
        let mut bytes = Vec::new();
        put_ordered_varint(&mut bytes, value);
        let mut rest = &bytes[..];
        assert_eq!(take_ordered_varint(&mut rest), Ok(value));
        assert!(rest.is_empty());
        bytes
    };
    assert_eq!(form(0), [0x00]);
    assert_eq!(form(127), [0x7F]);
    assert_eq!(form(128), [0x80, 0x80]);
    assert_eq!(form(16_383), [0xBF, 0xFF]);
    assert_eq!(form(16_384), [0xC0, 0x40, 0x00]);
    assert_eq!(form(u64::MAX), [0xFF; ORDERED_VARINT_BYTES_MAX]);
    let mut edges: Vec<u64> = (0..64)
        .flat_map(|bit| {
            let edge = 1_u64 << bit;
            [edge - 1, edge, edge + 1]
        })
        .chain([u64::MAX - 1, u64::MAX])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    for pair in edges.windows(2) {
        let (low, high) = (form(pair[0]), form(pair[1]));
        assert!(low < high, "{pair:?}");
        assert!(low.len() <= high.len(), "{pair:?}");
        assert!(!high.starts_with(&low), "{pair:?}");
    }
    for length in 1..=8_u32 {
        let last = (1_u64 << (7 * length)) - 1;
        assert_eq!(form(last).len(), length as usize);
        assert_eq!(form(last + 1).len(), length as usize + 1);
    }
}

#[test]
fn ordered_varints_have_one_form() {
    let check = |bytes: &[u8], kind| {
        let mut rest = bytes;
        let error = take_ordered_varint(&mut rest).expect_err("not the shortest form");
        assert_eq!(error.kind(), kind, "{bytes:02x?}");
        assert_eq!(rest, bytes);
    };
    check(&[], KeyErrorKind::Truncated);
    check(&[0x80], KeyErrorKind::Truncated);
    check(&[0xFF; 8], KeyErrorKind::Truncated);
    check(&[0x80, 0x7F], KeyErrorKind::NonCanonical);
    check(&[0xC0, 0x3F, 0xFF], KeyErrorKind::NonCanonical);
    check(&[0xFF, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], KeyErrorKind::NonCanonical);
}

proptest! {

    #![proptest_config(values::many_cases())]

    #[test]
    fn integers_from_twos_complement_have_the_same_bytes(
        value in values::integer(), padding in 0..3_usize, direction in values::direction(),
    ) {
        let mut expected = Vec::new();
        put_integer(&mut expected, direction, &value);
        let sign = if value < BigInt::ZERO { 0xFF } else { 0x00 };
        let mut wire = vec![sign; padding];
        wire.extend(value.to_signed_bytes_be());
        let mut actual = Vec::new();
        put_integer_be_bytes(&mut actual, direction, &wire).expect("not empty");
        prop_assert_eq!(actual, expected);
    }

    #[test]
    fn ordered_varints_order(left in any::<u64>(), right in any::<u64>(), shift in 0..64_u32) {
        let (left, right) = (left >> shift, right >> shift);
        let form = |value| {
            let mut bytes = Vec::new();
            put_ordered_varint(&mut bytes, value);
            bytes
        };
        prop_assert_eq!(form(left).cmp(&form(right)), left.cmp(&right));
    }
}
