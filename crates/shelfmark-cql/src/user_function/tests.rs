//! Functions that are stored, read back, and called.

use std::sync::Arc;

use shelfmark_cql_types::function::FunctionContext;
use shelfmark_cql_types::{CqlType, UserType};

use super::{UserAggregate, UserFunction, convert};
use crate::schema::{Keyspace, decode_keyspace, encode_keyspace};

/// The record of a keyspace that a build wrote which knew no functions.
const OLD: &str = r#"{"version":1,"durable_writes":true,"replication":[["class","x"]],"types":[{"name":"pt","fields":[["x","org.apache.cassandra.db.marshal.Int32Type"]]}]}"#;

struct Still;

impl FunctionContext for Still {
    fn now_micros(&self) -> u64 {
        0
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn keyspace() -> Keyspace {
    let mut keyspace = decode_keyspace("ks", OLD.as_bytes()).unwrap();
    let definition = Arc::clone(keyspace.types.get("pt").unwrap());
    let user = CqlType::User { definition, frozen: false };
    let function = |name: &str, arguments: Vec<(&str, CqlType)>, body: &str| {
        let arguments = arguments.into_iter().map(|(name, ty)| (Arc::from(name), ty)).collect();
        Arc::new(UserFunction::new(("ks", name), arguments, CqlType::Int, false, "java", body))
    };
    let two = vec![("a", CqlType::Int), ("b", CqlType::Int)];
    keyspace.functions = vec![
        function("of", vec![("p", user)], "return p.getInt(\"x\");"),
        function("plus", two, "return a + b;"),
    ];
    keyspace.aggregates = vec![Arc::new(UserAggregate {
        keyspace: "ks".into(),
        name: "total".into(),
        arguments: vec![CqlType::Int],
        state_function: "plus".into(),
        state_type: CqlType::Int,
        final_function: None,
        initial: Some(vec![0, 0, 0, 5]),
        returns: CqlType::Int,
    })];
    keyspace
}

#[test]
fn functions_are_read_back_and_old_records_have_none() {
    let old = decode_keyspace("ks", OLD.as_bytes()).unwrap();
    assert!(old.functions.is_empty() && old.aggregates.is_empty());
    assert_eq!(encode_keyspace(&old), OLD.as_bytes());
    let own = keyspace();
    let read = decode_keyspace("ks", &encode_keyspace(&own)).unwrap();
    assert_eq!(read.functions, own.functions);
    assert_eq!(read.aggregates, own.aggregates);
}

/// A function whose type is not there is kept as it is stored, and is not called.
#[test]
fn functions_of_lost_types_are_kept() {
    let bytes = encode_keyspace(&keyspace());
    let text = String::from_utf8(bytes).unwrap();
    let lost = text.replace("\"name\":\"pt\"", "\"name\":\"qq\"");
    let read = decode_keyspace("ks", lost.as_bytes()).unwrap();
    assert_eq!(read.functions.len(), 1);
    assert_eq!(encode_keyspace(&read).len(), lost.len());
}

#[test]
fn aggregates_skip_rows_with_nulls_where_their_function_is_strict() {
    let keyspace = keyspace();
    let aggregate = keyspace.aggregates[0].aggregate(&keyspace).unwrap();
    let mut state = aggregate.start();
    for value in [Some(1_i32), None, Some(2)] {
        let bytes = value.map(i32::to_be_bytes);
        state.add(&Still, &[bytes.as_ref().map(<[u8; 4]>::as_slice)]).unwrap();
    }
    assert_eq!(state.finish(&Still).unwrap(), Some(8_i32.to_be_bytes().to_vec()));
}

/// Values of each type come back as they were.
#[test]
fn values_are_the_same_there_and_back() {
    let point = UserType {
        keyspace: "ks".into(),
        name: "pt".into(),
        fields: vec![("x".into(), CqlType::Int), ("y".into(), CqlType::Text)],
    };
    let user = CqlType::User { definition: Arc::new(point), frozen: true };
    let check = |ty: &CqlType, bytes: &[u8]| {
        let value = convert::to_java(ty, Some(bytes));
        assert_eq!(convert::from_java(ty, &value).unwrap().as_deref(), Some(bytes), "{ty}");
    };
    check(&CqlType::Int, &[0, 0, 0, 7]);
    check(&CqlType::Text, "a\u{1F600}z".as_bytes());
    check(&CqlType::Decimal, &[0, 0, 0, 2, 0x7B]);
    check(&CqlType::Varint, &[0xFF, 0x00]);
    check(&CqlType::Date, &[0x80, 0, 0, 1]);
    check(&CqlType::Duration, &[2, 4, 6]);
    check(&CqlType::Inet, &[127, 0, 0, 1]);
    check(&CqlType::Timeuuid, &[7; 16]);
    check(&CqlType::list(CqlType::Int), &[0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9]);
    check(&CqlType::vector(CqlType::Float, 2), &[0x3F, 0x80, 0, 0, 0x40, 0, 0, 0]);
    check(&user, &[0, 0, 0, 4, 0, 0, 0, 9, 0xFF, 0xFF, 0xFF, 0xFF]);
}
