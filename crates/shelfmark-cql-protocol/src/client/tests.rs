use super::*;
use crate::types::{CqlType, put_type_option, take_type_option};

#[test]
fn another_version_is_refused_in_words() {
    // What a server that speaks no version 5 answers: in its own version, with its own list.
    let mut client = ClientConnection::new(ProtocolVersion::V5);
    let body = b"\0\0\0\x0a\0\x02no";
    let mut answer = vec![0x84, 0, 0, 0, 0, 0, 0, 0, u8::try_from(body.len()).unwrap()];
    answer.extend_from_slice(body);
    let Some(Response::Error(refusal)) = client.receive(&answer).unwrap() else { panic!() };
    assert_eq!((refusal.number, &*refusal.message), (10, "no"));
}

#[test]
fn bytes_that_are_no_answer_are_told() {
    let garbled = |bytes: &[u8]| {
        ClientConnection::new(ProtocolVersion::V4).receive(bytes).unwrap_err().to_string()
    };
    assert!(garbled(b"HTTP/1.1 400 Bad Request\r\n").contains("cannot be read"));
    assert!(garbled(&[0x84, 0, 0, 0, 0x7F, 0, 0, 0, 0]).contains("unknown opcode 127"));
    assert!(garbled(&[0x84, 0, 0, 0, 7, 0, 0, 0, 0]).contains("answers nothing"));
    assert!(garbled(&[0x04, 0, 0, 0, 2, 0, 0, 0, 0]).contains("direction"));
    // A result that says it has two thousand million rows and columns, and holds none.
    let body = [0, 0, 0, 2, 0, 0, 0, 4, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF];
    let mut rows = vec![0x84, 0, 0, 0, 8, 0, 0, 0, 16];
    rows.extend_from_slice(&body);
    assert!(garbled(&rows).contains("ends too early"));
    let deep: Vec<u8> = [0, 0x20].repeat(10_000);
    assert!(take_type_option(&mut &deep[..]).is_err());
}

#[test]
fn every_type_is_read_as_it_was_written() {
    let mut all: Vec<CqlType> =
        ["ascii", "bigint", "blob", "boolean", "counter", "date", "decimal"]
            .iter()
            .chain(&["double", "duration", "float", "inet", "int", "smallint", "text", "time"])
            .chain(&["timestamp", "timeuuid", "tinyint", "uuid", "varint"])
            .map(|name| CqlType::Native(crate::types::native_by_name(name).unwrap()))
            .collect();
    all.push(CqlType::tuple(all.clone()));
    all.push(CqlType::map(CqlType::Int, CqlType::set(CqlType::list(CqlType::Uuid))));
    all.push(CqlType::Custom("com.example.Other".into()));
    for kind in all {
        for version in [3, 4, 5] {
            let mut out = Vec::new();
            put_type_option(&kind, version, &mut out);
            out.push(7);
            let mut rest = &out[..];
            assert_eq!(take_type_option(&mut rest).unwrap(), kind, "{version}");
            assert_eq!(rest, [7]);
        }
    }
}
