//! The examples in `docs/format.md`, section "Keys", are what the code writes.

use std::net::IpAddr;

use num_bigint::BigInt;
use shelfmark_keycode::{Decimal, Direction, KeyType, KeyValue, put_ordered_varint, token_bytes};

use crate::values::encoded;

const DOCUMENT: &str = include_str!("../../../../docs/format.md");

fn kinded(ty: KeyType) -> KeyType {
    KeyType::Kinded(Box::new(ty))
}

fn uuid(digits: &str) -> KeyValue {
    let digits: String = digits.chars().filter(|letter| *letter != '-').collect();
    KeyValue::Uuid(u128::from_str_radix(&digits, 16).expect("hex").to_be_bytes())
}

fn inet(text: &str) -> KeyValue {
    KeyValue::Inet(text.parse::<IpAddr>().expect("an address"))
}

fn decimal(unscaled: i64, scale: i32) -> KeyValue {
    KeyValue::Decimal(Decimal::new(BigInt::from(unscaled), scale).expect("short"))
}

fn integer(value: i64) -> KeyValue {
    KeyValue::Integer(BigInt::from(value))
}

/// The left column of the table, and the value it speaks of.
fn examples() -> Vec<(&'static str, KeyType, KeyValue)> {
    let text = |text: &str| KeyValue::Text(text.to_owned());
    let list = || KeyType::List(Box::new(KeyType::U8));
    let record = || KeyType::Record(vec![kinded(KeyType::I8), kinded(KeyType::I8)]);
    let map = KeyType::Map(Box::new(KeyType::U8), Box::new(KeyType::Bool));
    let entry = (KeyValue::U8(7), KeyValue::Bool(true));
    vec![
        ("text, empty", KeyType::Text, text("")),
        ("text `ab`", KeyType::Text, text("ab")),
        ("text `a`, NUL, `b`", KeyType::Text, text("a\0b")),
        ("bytes `ff 00`", KeyType::Bytes, KeyValue::Bytes(vec![0xFF, 0x00])),
        ("bool true", KeyType::Bool, KeyValue::Bool(true)),
        ("i8 −1", KeyType::I8, KeyValue::I8(-1)),
        ("i32 0", KeyType::I32, KeyValue::I32(0)),
        ("i64 −2", KeyType::I64, KeyValue::I64(-2)),
        ("u16 258", KeyType::U16, KeyValue::U16(258)),
        ("f32 1.0", KeyType::F32, KeyValue::F32(1.0)),
        ("f32 −1.0", KeyType::F32, KeyValue::F32(-1.0)),
        ("f64 −0.0", KeyType::F64, KeyValue::F64(-0.0)),
        ("integer 0", KeyType::Integer, integer(0)),
        ("integer 1", KeyType::Integer, integer(1)),
        ("integer 256", KeyType::Integer, integer(256)),
        ("integer −1", KeyType::Integer, integer(-1)),
        ("integer −256", KeyType::Integer, integer(-256)),
        ("decimal 0", KeyType::Decimal, decimal(0, 3)),
        ("decimal 1, 1.0, 1.00", KeyType::Decimal, decimal(100, 2)),
        ("decimal 12.345", KeyType::Decimal, decimal(12_345, 3)),
        ("decimal −12.345", KeyType::Decimal, decimal(-12_345, 3)),
        ("decimal 1E+125", KeyType::Decimal, decimal(1, -125)),
        ("decimal 1E−130", KeyType::Decimal, decimal(1, 130)),
        ("date 1970-01-01", KeyType::Date, KeyValue::Date(1 << 31)),
        ("time 1 ns", KeyType::Time, KeyValue::Time(1)),
        ("timestamp −1 ms", KeyType::Timestamp, KeyValue::Timestamp(-1)),
        ("inet 127.0.0.1", KeyType::Inet, inet("127.0.0.1")),
        ("inet ::1", KeyType::Inet, inet("::1")),
        ("uuid", KeyType::Uuid, uuid("550e8400-e29b-41d4-a716-446655440000")),
        ("cql_uuid, version 4", KeyType::CqlUuid, uuid("550e8400-e29b-41d4-a716-446655440000")),
        ("cql_uuid, version 1", KeyType::CqlUuid, uuid("11223344-5566-1788-99aa-bbccddeeff00")),
        ("cql_timeuuid", KeyType::CqlTimeUuid, uuid("11223344-5566-1788-99aa-bbccddeeff00")),
        ("kinded i8, null", kinded(KeyType::I8), KeyValue::Null),
        ("kinded i8, empty", kinded(KeyType::I8), KeyValue::Empty),
        ("kinded i8 0", kinded(KeyType::I8), KeyValue::I8(0)),
        ("list of u8, empty", list(), KeyValue::List(vec![])),
        ("list of u8 1, 2", list(), KeyValue::List(vec![KeyValue::U8(1), KeyValue::U8(2)])),
        ("map of u8 to bool, 7 → true", map, KeyValue::Map(vec![entry])),
        (
            "tuple of u8 and text, 1, `a`",
            KeyType::Tuple(vec![KeyType::U8, KeyType::Text]),
            KeyValue::Tuple(vec![KeyValue::U8(1), text("a")]),
        ),
        (
            "record of two i8, 0, null",
            record(),
            KeyValue::Tuple(vec![KeyValue::I8(0), KeyValue::Null]),
        ),
        (
            "record of two i8, null, 0",
            record(),
            KeyValue::Tuple(vec![KeyValue::Null, KeyValue::I8(0)]),
        ),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// The rows of the table whose head begins with `head`.
fn table(head: &str) -> Vec<&'static str> {
    let rows: Vec<&str> = DOCUMENT
        .lines()
        .skip_while(|line| !line.starts_with(head))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(!rows.is_empty(), "docs/format.md has no table {head}");
    rows
}

#[test]
fn examples_are_what_is_written() {
    let expected: Vec<String> = examples()
        .into_iter()
        .map(|(label, ty, value)| {
            let up = hex(&encoded(&ty, Direction::Ascending, &value));
            let down = hex(&encoded(&ty, Direction::Descending, &value));
            format!("| {label} | `{up}` | `{down}` |")
        })
        .collect();
    assert_eq!(table("| component | ascending"), expected);
}

#[test]
fn leading_parts_are_what_is_written() {
    let varint = |value| {
        let mut bytes = Vec::new();
        put_ordered_varint(&mut bytes, value);
        format!("| ordered varint {value} | `{}` |", hex(&bytes))
    };
    let token = |value: i64| {
        let sign = if value < 0 { "−" } else { "" };
        format!("| token {sign}{} | `{}` |", value.unsigned_abs(), hex(&token_bytes(value)))
    };
    let expected = [
        varint(0),
        varint(127),
        varint(128),
        varint(16_383),
        varint(16_384),
        varint(u64::MAX),
        token(-1),
        token(0),
        token(-4_069_959_284_402_364_209),
    ];
    assert_eq!(table("| leading part |"), expected);
}
