//! Strategies for key types and their values, chosen so that pairs are often equal or neighbours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use shelfmark_keycode::{Decimal, Direction, KeyType, KeyValue, canonicalize, encode};

/// More cases than usual: a case is a few microseconds here.
pub(crate) fn many_cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.saturating_mul(4), ..usual }
}

/// The key of one value.
pub(crate) fn encoded(key_type: &KeyType, direction: Direction, value: &KeyValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(key_type, direction, value, &mut bytes).expect("the value is of the type");
    bytes
}

/// Every type without parameters.
pub(crate) const SCALARS: [KeyType; 24] = KeyType::SCALARS;

pub(crate) fn direction() -> impl Strategy<Value = Direction> {
    select(vec![Direction::Ascending, Direction::Descending])
}

/// Any type, nested a few levels.
pub(crate) fn key_type() -> BoxedStrategy<KeyType> {
    let scalar = select(SCALARS.to_vec());
    scalar
        .prop_recursive(3, 12, 3, |inner| {
            let plain = inner
                .clone()
                .prop_filter("a kind directly in a kind", |ty| !matches!(ty, KeyType::Kinded(_)));
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(KeyType::Tuple),
                vec(plain.clone(), 0..4).prop_map(|fields| {
                    KeyType::Record(
                        fields.into_iter().map(|ty| KeyType::Kinded(Box::new(ty))).collect(),
                    )
                }),
                inner.clone().prop_map(|ty| KeyType::List(Box::new(ty))),
                inner.clone().prop_map(|ty| KeyType::Set(Box::new(ty))),
                (inner.clone(), inner).prop_map(|(k, v)| KeyType::Map(Box::new(k), Box::new(v))),
                plain.prop_map(|ty| KeyType::Kinded(Box::new(ty))),
            ]
        })
        .boxed()
}

/// A value of the type, in canonical form but for the scale of decimals.
pub(crate) fn value(key_type: &KeyType) -> BoxedStrategy<KeyValue> {
    match key_type {
        KeyType::Text => text().prop_map(KeyValue::Text).boxed(),
        KeyType::Bytes => bytes().prop_map(KeyValue::Bytes).boxed(),
        KeyType::Bool => any::<bool>().prop_map(KeyValue::Bool).boxed(),
        KeyType::I8 => any::<i8>().prop_map(KeyValue::I8).boxed(),
        KeyType::I16 => {
            near(any::<i16>(), i16::MIN, -1, 0, 1, i16::MAX).prop_map(KeyValue::I16).boxed()
        }
        KeyType::I32 => {
            near(any::<i32>(), i32::MIN, -1, 0, 1, i32::MAX).prop_map(KeyValue::I32).boxed()
        }
        KeyType::I64 => int64().prop_map(KeyValue::I64).boxed(),
        KeyType::I128 => {
            near(any::<i128>(), i128::MIN, -1, 0, 1, i128::MAX).prop_map(KeyValue::I128).boxed()
        }
        KeyType::U8 => any::<u8>().prop_map(KeyValue::U8).boxed(),
        KeyType::U16 => {
            near(any::<u16>(), 0, 1, 255, 256, u16::MAX).prop_map(KeyValue::U16).boxed()
        }
        KeyType::U32 => uint32().prop_map(KeyValue::U32).boxed(),
        KeyType::U64 => {
            near(any::<u64>(), 0, 1, 255, 256, u64::MAX).prop_map(KeyValue::U64).boxed()
        }
        KeyType::U128 => {
            near(any::<u128>(), 0, 1, 255, 256, u128::MAX).prop_map(KeyValue::U128).boxed()
        }
        KeyType::Integer => integer().prop_map(KeyValue::Integer).boxed(),
        KeyType::Decimal => decimal().prop_map(KeyValue::Decimal).boxed(),
        KeyType::F32 => any::<u32>().prop_map(|bits| KeyValue::F32(f32::from_bits(bits))).boxed(),
        KeyType::F64 => float().prop_map(KeyValue::F64).boxed(),
        KeyType::Date => uint32().prop_map(KeyValue::Date).boxed(),
        KeyType::Time => int64().prop_map(KeyValue::Time).boxed(),
        KeyType::Timestamp => int64().prop_map(KeyValue::Timestamp).boxed(),
        KeyType::Inet => inet().prop_map(KeyValue::Inet).boxed(),
        KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid => {
            uuid().prop_map(KeyValue::Uuid).boxed()
        }
        _ => nested(key_type),
    }
}

fn nested(key_type: &KeyType) -> BoxedStrategy<KeyValue> {
    let whole = key_type.clone();
    let canonical = move |mut value: KeyValue| {
        canonicalize(&whole, &mut value).expect("the type is not deep");
        value
    };
    match key_type {
        KeyType::Tuple(fields) | KeyType::Record(fields) => {
            let fields: Vec<_> = fields.iter().map(value).collect();
            fields.prop_map(KeyValue::Tuple).boxed()
        }
        KeyType::List(element) => vec(value(element), 0..4).prop_map(KeyValue::List).boxed(),
        KeyType::Set(element) => {
            vec(value(element), 0..4).prop_map(KeyValue::Set).prop_map(canonical).boxed()
        }
        KeyType::Map(key, element) => vec((value(key), value(element)), 0..4)
            .prop_map(KeyValue::Map)
            .prop_map(canonical)
            .boxed(),
        KeyType::Kinded(inner) if matches!(**inner, KeyType::Text | KeyType::Bytes) => {
            prop_oneof![Just(KeyValue::Null), value(inner)].boxed()
        }
        KeyType::Kinded(inner) => {
            prop_oneof![Just(KeyValue::Null), Just(KeyValue::Empty), value(inner)].boxed()
        }
        scalar => unreachable!("{scalar:?} is no nested type"),
    }
}

/// A pair of values of one type: often equal, often alike.
pub(crate) fn pair(key_type: &KeyType) -> BoxedStrategy<(KeyValue, KeyValue)> {
    let one = value(key_type);
    prop_oneof![
        1 => one.clone().prop_map(|value| (value.clone(), value)),
        6 => (one.clone(), one),
    ]
    .boxed()
}

/// A few characters from all lengths of UTF-8, with NUL and its neighbour.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let letters = vec!['\0', '\u{1}', 'a', 'b', '~', '\u{7f}', 'é', 'ÿ', '€', '\u{10FFFF}'];
    vec(select(letters), 0..6).prop_map(|letters| letters.into_iter().collect())
}

pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(select(vec![0x00_u8, 0x01, 0x02, 0x61, 0xFE, 0xFF]), 0..6)
}

fn near<T: Clone + std::fmt::Debug>(
    any: impl Strategy<Value = T>,
    a: T,
    b: T,
    c: T,
    d: T,
    e: T,
) -> impl Strategy<Value = T> {
    prop_oneof![any, prop_oneof![Just(a), Just(b), Just(c), Just(d), Just(e)]]
}

fn int64() -> impl Strategy<Value = i64> {
    near(any::<i64>(), i64::MIN, -1, 0, 1, i64::MAX)
}

fn uint32() -> impl Strategy<Value = u32> {
    near(any::<u32>(), 0, 1, 1 << 31, 256, u32::MAX)
}

/// Integers of all lengths up to the long form, many of them powers of two and their neighbours.
pub(crate) fn integer() -> impl Strategy<Value = BigInt> {
    let power = (0_u32..1_100, -1_i32..=1, any::<bool>()).prop_map(|(power, step, negative)| {
        let value = BigInt::from(2).pow(power) + step;
        if negative { -value } else { value }
    });
    let bytes = vec(any::<u8>(), 0..20).prop_map(|bytes| BigInt::from_signed_bytes_be(&bytes));
    prop_oneof![(-300_i32..300).prop_map(BigInt::from), power, bytes]
}

/// Decimals with equal values of unequal scale, and with exponents near the edges of the headers.
pub(crate) fn decimal() -> impl Strategy<Value = Decimal> {
    let unscaled = prop_oneof![
        (-1_000_i64..1_000).prop_map(BigInt::from),
        any::<i128>().prop_map(BigInt::from),
        "-?[1-9][0-9]{38,60}".prop_map(|digits| digits.parse().expect("digits")),
    ];
    let scale = prop_oneof![
        4 => -3..4_i32,
        4 => -400..400_i32,
        1 => select(vec![i32::MIN, i32::MIN + 1, i32::MAX - 1, i32::MAX]),
        1 => any::<i32>(),
    ];
    (unscaled, scale).prop_map(|(unscaled, scale)| Decimal::new(unscaled, scale).expect("short"))
}

fn float() -> impl Strategy<Value = f64> {
    let edges = vec![
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        -f64::MIN_POSITIVE,
        1.0,
        -1.0,
    ];
    prop_oneof![any::<u64>().prop_map(f64::from_bits), select(edges)]
}

/// Addresses of both families that share their first bytes.
fn inet() -> impl Strategy<Value = IpAddr> {
    let byte = || select(vec![0x00_u8, 0x01, 0x7F, 0xFF]);
    let head = (byte(), byte()).prop_map(|(first, last)| [first, 0x20, 0x01, last]);
    prop_oneof![
        head.clone().prop_map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        (head, any::<u64>(), byte()).prop_map(|(head, middle, last)| {
            let mut octets = [last; 16];
            octets[..4].copy_from_slice(&head);
            octets[4..12].copy_from_slice(&middle.to_be_bytes());
            IpAddr::V6(Ipv6Addr::from(octets))
        }),
    ]
}

/// UUIDs of few versions, most bytes zero, so that each byte is often the first to differ.
fn uuid() -> impl Strategy<Value = [u8; 16]> {
    let byte = prop_oneof![
        8 => Just(0x00_u8),
        1 => select(vec![0x01_u8, 0x7F, 0x80, 0xFF]),
    ];
    let version = select(vec![0x00_u8, 0x10, 0x10, 0x40, 0xF0]);
    (vec(byte, 16), version).prop_map(|(bytes, version)| {
        let mut uuid: [u8; 16] = bytes.try_into().expect("sixteen bytes");
        uuid[6] = version | uuid[6] & 0x0F;
        uuid
    })
}
