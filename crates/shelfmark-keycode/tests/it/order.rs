//! The promise of the crate: bytes order as values do, for every type and both directions.

use std::cmp::Ordering;

use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;
use shelfmark_keycode::{
    Decimal, Direction, KEY_DEPTH_MAX, KeyType, KeyValue, compare, decode, encode, skip,
};

use crate::values::{self, encoded};

const DIRECTIONS: [Direction; 2] = [Direction::Ascending, Direction::Descending];

/// Order, round trip and stepping over, of one pair in both directions.
fn check_pair(ty: &KeyType, left: &KeyValue, right: &KeyValue) {
    let order = compare(ty, left, right);
    for direction in DIRECTIONS {
        let (a, b) = (encoded(ty, direction, left), encoded(ty, direction, right));
        let expected = match direction {
            Direction::Ascending => order,
            Direction::Descending => order.reverse(),
        };
        assert_eq!(a.cmp(&b), expected, "{ty:?} {direction:?} {left:?} {right:?}");
        assert!(order.is_eq() || !b.starts_with(&a), "{ty:?} {left:?} begins {right:?}");
        check_round_trip(ty, direction, left, &a);
    }
    let (up, down) = (encoded(ty, DIRECTIONS[0], left), encoded(ty, DIRECTIONS[1], left));
    let complement: Vec<u8> = up.iter().map(|byte| !byte).collect();
    assert_eq!(down, complement, "{ty:?} {left:?}");
}

fn check_round_trip(ty: &KeyType, direction: Direction, value: &KeyValue, bytes: &[u8]) {
    // What lies behind a component must not matter.
    for tail in [&[][..], &[0x00, 0x01], &[0xFF; 9]] {
        let key = [bytes, tail].concat();
        let mut rest = &key[..];
        let back = decode(ty, direction, &mut rest).expect("own bytes");
        assert_eq!(rest, tail, "{ty:?} {value:?}");
        assert_eq!(compare(ty, &back, value), Ordering::Equal, "{ty:?} {value:?} {back:?}");
        assert_eq!(encoded(ty, direction, &back), bytes, "{ty:?} {value:?}");
        let mut rest = &key[..];
        skip(ty, direction, &mut rest).expect("own bytes");
        assert_eq!(rest, tail, "{ty:?} {value:?}");
    }
}

macro_rules! scalar_orders {
    ($($name:ident: $ty:expr;)*) => {$(
        proptest! {
            #![proptest_config(values::many_cases())]

            #[test]
            fn $name((left, right) in values::pair(&$ty)) {
                check_pair(&$ty, &left, &right);
            }
        }
    )*};
}

scalar_orders! {
    text: KeyType::Text;
    bytes: KeyType::Bytes;
    bool: KeyType::Bool;
    i8: KeyType::I8;
    i16: KeyType::I16;
    i32: KeyType::I32;
    i64: KeyType::I64;
    i128: KeyType::I128;
    u8: KeyType::U8;
    u16: KeyType::U16;
    u32: KeyType::U32;
    u64: KeyType::U64;
    u128: KeyType::U128;
    integer: KeyType::Integer;
    decimal: KeyType::Decimal;
    f32: KeyType::F32;
    f64: KeyType::F64;
    date: KeyType::Date;
    time: KeyType::Time;
    timestamp: KeyType::Timestamp;
    inet: KeyType::Inet;
    uuid: KeyType::Uuid;
    cql_uuid: KeyType::CqlUuid;
    cql_timeuuid: KeyType::CqlTimeUuid;
    kinded_text: KeyType::Kinded(Box::new(KeyType::Text));
    kinded_int: KeyType::Kinded(Box::new(KeyType::I32));
    list_of_text: KeyType::List(Box::new(KeyType::Text));
    list_of_bytes_lists: KeyType::List(Box::new(KeyType::List(Box::new(KeyType::Bytes))));
    set_of_bytes: KeyType::Set(Box::new(KeyType::Bytes));
    map_of_u8_to_text: KeyType::Map(Box::new(KeyType::U8), Box::new(KeyType::Text));
    tuple: KeyType::Tuple(vec![KeyType::Text, KeyType::Decimal, KeyType::Bytes]);
    record: record_of(&[KeyType::I8, KeyType::Text, KeyType::Bytes]);
}

fn record_of(fields: &[KeyType]) -> KeyType {
    KeyType::Record(fields.iter().map(|ty| KeyType::Kinded(Box::new(ty.clone()))).collect())
}

/// A record gets a field: keys that are there keep their bytes, and lie among the new ones where
/// their value, with a null at the end, belongs.
#[test]
fn a_record_gets_a_field() {
    let (old, new) = (
        record_of(&[KeyType::U8, KeyType::Text]),
        record_of(&[KeyType::U8, KeyType::Text, KeyType::U8]),
    );
    let fields = |all: &[Option<u8>], text: Option<&str>| {
        let text = text.map_or(KeyValue::Null, |own| KeyValue::Text(own.to_owned()));
        let mut values: Vec<KeyValue> =
            all.iter().map(|own| own.map_or(KeyValue::Null, KeyValue::U8)).collect();
        values.insert(1, text);
        KeyValue::Tuple(values)
    };
    for direction in [Direction::Ascending, Direction::Descending] {
        let mut keys = Vec::new();
        for first in [None, Some(1), Some(2)] {
            for text in [None, Some(""), Some("a"), Some("a\0")] {
                let before = encoded(&old, direction, &fields(&[first], text));
                let after = encoded(&new, direction, &fields(&[first, None], text));
                assert_eq!(before, after);
                assert_eq!(
                    decode(&new, direction, &mut &before[..]),
                    Ok(fields(&[first, None], text))
                );
                keys.push((fields(&[first, None], text), after));
                for last in [0, 7] {
                    let value = fields(&[first, Some(last)], text);
                    let key = encoded(&new, direction, &value);
                    assert!(decode(&old, direction, &mut &key[..]).is_err(), "a field is lost");
                    assert!(skip(&old, direction, &mut &key[..]).is_err(), "a field is lost");
                    keys.push((value, key));
                }
            }
        }
        for (left, left_key) in &keys {
            for (right, right_key) in &keys {
                let order = match direction {
                    Direction::Ascending => left_key.cmp(right_key),
                    Direction::Descending => right_key.cmp(left_key),
                };
                assert_eq!(compare(&new, left, right), order, "{left:?} {right:?}");
            }
        }
    }
}

/// A type and a pair of its values.
fn typed_pair() -> impl Strategy<Value = (KeyType, KeyValue, KeyValue)> {
    values::key_type()
        .prop_flat_map(|ty| (Just(ty.clone()), values::pair(&ty)))
        .prop_map(|(ty, (left, right))| (ty, left, right))
}

/// Columns, each with its direction, and two rows.
fn columns() -> impl Strategy<Value = Vec<(KeyType, Direction, (KeyValue, KeyValue))>> {
    let column = (values::key_type(), values::direction()).prop_flat_map(|(ty, direction)| {
        let pair = values::pair(&ty);
        (Just(ty), Just(direction), pair)
    });
    vec(column, 1..5)
}

proptest! {

    #![proptest_config(values::many_cases())]

    #[test]
    fn nested_types((ty, left, right) in typed_pair()) {
        check_pair(&ty, &left, &right);
    }

    #[test]
    fn concatenated_components_compare_like_the_tuple(columns in columns()) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut expected = Ordering::Equal;
        for (ty, direction, (left, right)) in &columns {
            encode(ty, *direction, left, &mut a).expect("of the type");
            encode(ty, *direction, right, &mut b).expect("of the type");
            let order = compare(ty, left, right);
            let order = match direction {
                Direction::Ascending => order,
                Direction::Descending => order.reverse(),
            };
            expected = expected.then(order);
        }
        prop_assert_eq!(a.cmp(&b), expected);
        // And each column can be read back from the middle of the key.
        let mut rest = &a[..];
        for (ty, direction, (left, _)) in &columns {
            let value = decode(ty, *direction, &mut rest).expect("own bytes");
            prop_assert_eq!(compare(ty, &value, left), Ordering::Equal);
        }
        prop_assert!(rest.is_empty());
    }

    /// The order of decimals against integers brought to one scale: no code in common.
    #[test]
    fn decimals_order_as_integers_of_one_scale(
        a in any::<i64>(), b in any::<i64>(), a_scale in -60..60_i32, b_scale in -60..60_i32,
    ) {
        let scaled = |value: i64, scale: i32| {
            BigInt::from(value) * BigInt::from(10).pow(60_u32.saturating_add_signed(-scale))
        };
        let expected = scaled(a, a_scale).cmp(&scaled(b, b_scale));
        let key = |value: i64, scale: i32| {
            let decimal = Decimal::new(BigInt::from(value), scale).expect("short");
            encoded(&KeyType::Decimal, Direction::Ascending, &KeyValue::Decimal(decimal))
        };
        prop_assert_eq!(key(a, a_scale).cmp(&key(b, b_scale)), expected);
        let decimal = |value: i64, scale: i32| Decimal::new(BigInt::from(value), scale);
        prop_assert_eq!(decimal(a, a_scale)?.cmp(&decimal(b, b_scale)?), expected);
    }
}

/// Values of another type have no key; `compare` still orders them somehow, and always the same.
#[test]
fn values_of_another_type_come_last() {
    let (own, other, third) = (KeyValue::U8(255), KeyValue::Bool(false), KeyValue::Null);
    let order = |a, b| compare(&KeyType::U8, a, b);
    assert_eq!(order(&own, &other), Ordering::Less);
    assert_eq!(order(&other, &own), Ordering::Greater);
    assert_eq!(order(&other, &third), Ordering::Equal);
    // Beyond the depth limit everything is equal.
    let deep = |ty, depth| (0..depth).fold(ty, |inner, _| KeyType::List(Box::new(inner)));
    let value = |n, depth| (0..depth).fold(KeyValue::U8(n), |v, _| KeyValue::List(vec![v]));
    let order = |depth| compare(&deep(KeyType::U8, depth), &value(1, depth), &value(2, depth));
    assert_eq!(order(KEY_DEPTH_MAX - 1), Ordering::Less);
    assert_eq!(order(KEY_DEPTH_MAX), Ordering::Equal);
}

/// Every pair of these is one step apart, across all the forms of the header.
#[test]
fn integers_ascend_over_the_edges_of_their_forms() {
    let mut ladder: Vec<BigInt> = Vec::new();
    for power in [0_u32, 7, 8, 15, 16, 63, 64, 128, 951, 952, 960, 2_039, 2_040, 2_048, 524_288] {
        let edge = BigInt::from(2).pow(power);
        ladder.extend([&edge - 1, edge.clone(), edge + 1]);
    }
    ladder.extend(ladder.clone().into_iter().map(|value| -value));
    ladder.sort();
    ladder.dedup();
    for pair in ladder.windows(2) {
        let value = |at: usize| KeyValue::Integer(pair[at].clone());
        check_pair(&KeyType::Integer, &value(0), &value(1));
    }
}

#[test]
fn decimals_ascend_over_the_edges_of_their_forms() {
    let parse = |text: &str| -> Decimal {
        shelfmark_keycode::number::parse(text, &shelfmark_keycode::number::ANY_NUMBER)
            .expect("a number")
    };
    let positive = [
        "1E-2147440000",
        "1E-16777258",
        "1E-65578",
        "9E-65578",
        "1E-298",
        "1E-297",
        "1E-130",
        "1E-42",
        "1E-41",
        "1E-40",
        "0.00001",
        "0.0001",
        "0.1",
        "0.10000000001",
        "0.101",
        "0.11",
        "0.5",
        "0.55",
        "0.6",
        "1",
        "1.000000000000000000000000000000000000000000001",
        "1.1",
        "9",
        "9.99",
        "10",
        "10.5",
        "99",
        "100",
        "1E+62",
        "9.9E+62",
        "1E+63",
        "1E+125",
        "1E+318",
        "1E+319",
        "1E+65599",
        "1E+65600",
        "1E+16777279",
        "1E+16777280",
        "1E+2147440000",
    ];
    let negative = positive.iter().rev().map(|text| format!("-{text}"));
    let ladder: Vec<Decimal> = negative
        .chain(["0".to_owned()])
        .chain(positive.iter().map(|text| (*text).to_owned()))
        .map(|text| parse(&text))
        .collect();
    for pair in ladder.windows(2) {
        let (left, right) = (pair[0].clone(), pair[1].clone());
        assert!(left < right, "{left} {right}");
        check_pair(&KeyType::Decimal, &KeyValue::Decimal(left), &KeyValue::Decimal(right));
    }
}

/// Java's signed bytes, as Cassandra orders `timeuuid`.
#[test]
fn timeuuids_order_by_time_then_by_signed_bytes() {
    let uuid = |text: &str| {
        let digits: String = text.chars().filter(|letter| *letter != '-').collect();
        KeyValue::Uuid(u128::from_str_radix(&digits, 16).expect("hex").to_be_bytes())
    };
    let ascending = [
        "00000000-0000-1000-8080-808080808080", // CQL's minTimeuuid(…): all bytes -128
        "00000000-0000-1000-ff00-000000000000",
        "00000000-0000-1000-0080-000000000000", // signed in every byte, not the first alone
        "00000000-0000-1000-00ff-000000000000",
        "00000000-0000-1000-0000-000000000080",
        "00000000-0000-1000-0000-00000000007f",
        "00000000-0000-1000-007f-000000000000",
        "00000000-0000-1000-7f7f-7f7f7f7f7f7f", // and maxTimeuuid(…): all bytes 127
        "ffffffff-0000-1000-8080-808080808080",
        "00000000-0001-1000-8080-808080808080",
        "00000000-0000-1001-8080-808080808080",
    ];
    for pair in ascending.windows(2) {
        check_pair(&KeyType::CqlTimeUuid, &uuid(pair[0]), &uuid(pair[1]));
        let key = |text| encoded(&KeyType::CqlTimeUuid, Direction::Ascending, &uuid(text));
        assert!(key(pair[0]) < key(pair[1]), "{pair:?}");
    }
}

/// Cassandra's `uuid`: the version decides first, and the low half is unsigned.
#[test]
fn cql_uuids_order_by_version_then_time_then_bytes() {
    let uuid = |text: &str| {
        let digits: String = text.chars().filter(|letter| *letter != '-').collect();
        KeyValue::Uuid(u128::from_str_radix(&digits, 16).expect("hex").to_be_bytes())
    };
    let ascending = [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-1000-8000-000000000000", // version 1, an early time
        "00000000-0000-1001-0000-000000000000", // version 1, a later one
        "00000000-0000-1001-7fff-000000000000",
        "00000000-0000-1001-8000-000000000000", // unsigned: 80 behind 7f
        "00000000-0000-4fff-8000-000000000000", // version 4: bytes decide
        "00000000-0001-4000-8000-000000000000",
        "ffffffff-ffff-4000-0000-000000000000",
        "00000000-0000-7000-8000-000000000000",
    ];
    for pair in ascending.windows(2) {
        let key = |text| encoded(&KeyType::CqlUuid, Direction::Ascending, &uuid(text));
        assert!(key(pair[0]) < key(pair[1]), "{pair:?}");
        check_pair(&KeyType::CqlUuid, &uuid(pair[0]), &uuid(pair[1]));
    }
}

/// Parts nested too deep are equal on every way down, or a comparison could end the process.
#[test]
fn what_is_nested_too_deep_is_equal_on_every_way() {
    type Nest = (fn(KeyType) -> KeyType, fn(KeyValue) -> KeyValue);
    let ways: [Nest; 5] = [
        (|ty| KeyType::Tuple(vec![ty]), |value| KeyValue::Tuple(vec![value])),
        (|ty| KeyType::List(Box::new(ty)), |value| KeyValue::List(vec![value])),
        (|ty| KeyType::Set(Box::new(ty)), |value| KeyValue::Set(vec![value])),
        (
            |ty| KeyType::Map(Box::new(ty), Box::new(KeyType::U8)),
            |value| KeyValue::Map(vec![(value, KeyValue::U8(0))]),
        ),
        (
            |ty| KeyType::Map(Box::new(KeyType::U8), Box::new(ty)),
            |value| KeyValue::Map(vec![(KeyValue::U8(0), value)]),
        ),
    ];
    for (ty_of, value_of) in ways {
        let order = |depth: usize| {
            let ty = (0..depth).fold(KeyType::U8, |ty, _| ty_of(ty));
            let value = |own| (0..depth).fold(KeyValue::U8(own), |value, _| value_of(value));
            compare(&ty, &value(1), &value(2))
        };
        assert_eq!(order(KEY_DEPTH_MAX - 1), Ordering::Less);
        assert_eq!(order(KEY_DEPTH_MAX), Ordering::Equal);
    }
    // A kinded type in a kinded one has no keys, and its values no order.
    let twice = KeyType::Kinded(Box::new(KeyType::Kinded(Box::new(KeyType::U8))));
    assert_eq!(compare(&twice, &KeyValue::U8(1), &KeyValue::U8(2)), Ordering::Equal);
}
