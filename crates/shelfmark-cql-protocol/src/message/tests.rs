use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};

use super::*;
use crate::error::{CqlError, ErrorCode};
use crate::frame::{Envelope, Opcode, Version};
use crate::{BoundValue, ColumnSpec, Consistency, Values};

fn envelope(version: Version, opcode: Opcode, body: &[u8]) -> Envelope {
    let body = Bytes::copy_from_slice(body);
    Envelope { version, flags: 0, stream: 1, opcode: opcode.number(), body }
}

/// A QUERY with everything that its version can say.
fn full_query(version: Version) -> BytesMut {
    let mut out = BytesMut::new();
    out.bytes(Some(b"SELECT"));
    out.put_u16(6);
    match version {
        Version::V5 => out.put_u32(0x1BF),
        Version::V3 | Version::V4 => out.put_u8(0x3F),
    }
    out.put_u16(3);
    out.bytes(Some(b"v"));
    out.put_i32(-1);
    out.put_i32(-2);
    out.put_i32(100);
    out.bytes(Some(b"state"));
    out.put_u16(9);
    out.put_i64(12);
    if version == Version::V5 {
        out.string("ks");
        out.put_i32(77);
    }
    out
}

#[test]
fn a_query_with_everything() {
    for version in [Version::V3, Version::V4, Version::V5] {
        let body = full_query(version);
        let request = Request::read(&envelope(version, Opcode::Query, &body)).unwrap();
        let Request::Query(query) = request else { panic!("{request:?}") };
        let v5 = version == Version::V5;
        // Version 3 has nulls alone.
        let not_set = if version == Version::V3 { BoundValue::Null } else { BoundValue::Unset };
        assert_eq!(
            query,
            Query {
                text: "SELECT".to_owned(),
                options: QueryParameters {
                    consistency: Consistency::LocalQuorum,
                    values: Values::Positional(vec![
                        BoundValue::Bytes(Bytes::from_static(b"v")),
                        BoundValue::Null,
                        not_set,
                    ]),
                    skip_metadata: true,
                    page_size: Some(100),
                    paging_state: Some(Bytes::from_static(b"state")),
                    serial_consistency: Some(Consistency::LocalSerial),
                    timestamp: Some(12),
                    keyspace: v5.then(|| "ks".to_owned()),
                    now_in_seconds: v5.then_some(77),
                },
            }
        );
        // Cut anywhere, it is refused and nothing worse happens.
        for length in 0..body.len() {
            let cut = envelope(version, Opcode::Query, &body[..length]);
            assert!(Request::read(&cut).is_err(), "{length} bytes");
        }
    }
}

#[test]
fn a_batch_of_both_kinds_of_statements() {
    let mut body = BytesMut::from(&[1, 0, 2, 0][..]);
    body.bytes(Some(b"INSERT"));
    body.put_u16(0);
    body.put_u8(1);
    body.short_bytes(b"id");
    body.put_u16(1);
    body.bytes(Some(b""));
    body.put_slice(&[0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 5]);
    let request = Request::read(&envelope(Version::V4, Opcode::Batch, &body)).unwrap();
    let Request::Batch(batch) = request else { panic!("{request:?}") };
    assert_eq!((batch.kind, batch.options.timestamp), (BatchKind::Unlogged, Some(5)));
    let empty = BoundValue::Bytes(Bytes::new());
    assert_eq!(
        batch.items,
        [
            (BatchItem::Text("INSERT".to_owned()), vec![]),
            (BatchItem::Prepared(Bytes::from_static(b"id")), vec![empty]),
        ]
    );
}

#[test]
fn a_payload_is_skipped() {
    let mut body = BytesMut::new();
    body.put_u16(1);
    body.string("key");
    body.bytes(Some(b"value"));
    body.bytes(Some(b"Q"));
    let with = Envelope { flags: 4, ..envelope(Version::V4, Opcode::Prepare, &body) };
    let prepare = Prepare { text: "Q".to_owned(), keyspace: None };
    assert_eq!(Request::read(&with), Ok(Request::Prepare(prepare)));
}

fn column(table: &str, name: &str, kind: crate::types::CqlType) -> ColumnSpec {
    ColumnSpec { keyspace: Arc::from("ks"), table: Arc::from(table), name: Arc::from(name), kind }
}

#[test]
fn rows_name_their_table_once_if_there_is_one() {
    let text = || crate::types::CqlType::Text;
    let encode = |tables: [&str; 2], head| {
        let columns = tables.map(|table| column(table, "c", text()));
        let paging_state = Some(&b"S"[..]);
        let head = ResultHead::Rows { columns: &columns, head, paging_state, rows: 1 };
        let mut out = BytesMut::new();
        result_head(head, Version::V4, &mut out);
        out.to_vec()
    };
    assert_eq!(
        encode(["t", "t"], RowsMetadata::Full),
        b"\0\0\0\x02\0\0\0\x03\0\0\0\x02\0\0\0\x01S\0\x02ks\0\x01t\0\x01c\0\x0d\0\x01c\0\x0d\
          \0\0\0\x01"
    );
    assert_eq!(
        encode(["t", "u"], RowsMetadata::Full),
        b"\0\0\0\x02\0\0\0\x02\0\0\0\x02\0\0\0\x01S\0\x02ks\0\x01t\0\x01c\0\x0d\0\x02ks\0\x01u\
          \0\x01c\0\x0d\0\0\0\x01"
    );
    assert_eq!(
        encode(["t", "t"], RowsMetadata::Skipped),
        b"\0\0\0\x02\0\0\0\x06\0\0\0\x02\0\0\0\x01S\0\0\0\x01"
    );
}

#[test]
fn every_error_is_written_in_every_version() {
    for code in ErrorCode::ALL {
        for version in [Version::V3, Version::V4, Version::V5] {
            let mut out = BytesMut::new();
            error(&CqlError::new(code, "text"), version, &mut out);
            assert_eq!(&out[4..10], b"\0\x04text", "{code:?}");
        }
    }
}
