use super::value::{decode_value, encode_value};
use super::*;
use crate::varint::{Reader, put_varint};
use proptest::prelude::*;
use shelfmark_model::{Item, Value};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<i64>().prop_map(Value::number),
        any::<i128>().prop_map(|n| Value::BigInt(n.into())),
        ".{0,12}".prop_map(Value::from),
        proptest::collection::vec(any::<u8>(), 0..200).prop_map(|b| Value::Bytes(b.into())),
        any::<[u8; 16]>().prop_map(Value::Uuid),
        any::<i64>().prop_map(Value::Timestamp),
        any::<i32>().prop_map(Value::Date),
        any::<[u8; 4]>().prop_map(|a| Value::Inet(a.into())),
        any::<[u8; 16]>().prop_map(|a| Value::Inet(a.into())),
        any::<(i32, i32, i64)>().prop_map(|(months, days, nanos)| Value::Duration {
            months,
            days,
            nanos
        }),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::set),
            proptest::collection::btree_map(".{0,4}", inner.clone(), 0..4).prop_map(Value::Map),
            proptest::collection::vec((inner.clone(), inner.clone()), 0..3).prop_map(Value::Pairs),
            proptest::collection::vec(proptest::option::of(inner), 0..4).prop_map(Value::Tuple),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_value_comes_back(value in value()) {
        let mut bytes = Vec::new();
        encode_value(&value, &mut bytes);
        prop_assert_eq!(decode_value(&bytes).unwrap(), value);
    }

    #[test]
    fn a_varint_comes_back(shift in 0..64u32, n in any::<u64>(), behind in any::<[u8; 9]>()) {
        let n = n >> shift;
        let mut bytes = Vec::new();
        put_varint(&mut bytes, n);
        let short = bytes.clone();
        bytes.extend(behind);
        // Within a word and at the end of the record: they are read in different ways.
        for bytes in [&bytes, &short] {
            let mut reader = Reader::new(bytes);
            prop_assert_eq!(reader.varint().unwrap(), n);
            prop_assert_eq!(reader.rest(), bytes.get(short.len()..).unwrap());
        }
    }

    #[test]
    fn any_bytes_decode_or_fail_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = decode_value(&bytes);
        let _ = Record::decode(&bytes.into(), &[]);
    }

    #[test]
    fn a_record_comes_back(
        item in proptest::collection::btree_map(".{0,8}", value(), 0..6),
        expires_at in any::<Option<u64>>(),
    ) {
        let record = Record { item: item.into_iter().collect(), expires_at };
        let stored = record.encode();
        prop_assert_eq!(Record::decode(&stored.head, &stored.chunks).unwrap(), record);
    }
}

#[test]
fn a_large_record_is_cut_between_attributes() {
    let mut item = Item::new();
    for n in 0..10 {
        item.set(format!("a{n}"), Value::text("x".repeat(30_000)));
    }
    item.set("b", Value::text("y".repeat(200_000)));
    let record = Record { item, expires_at: Some(7) };
    let stored = record.encode();
    assert_eq!(stored.chunks.len(), 5 + 4, "two attributes a chunk, the largest alone in four");
    assert!(stored.head.len() < 100);
    assert!(stored.chunks.iter().all(|chunk| chunk.len() <= CHUNK_SIZE_BYTES + 1));
    assert_eq!(Record::decode(&stored.head, &stored.chunks).unwrap(), record);
    for lost in 0..stored.chunks.len() {
        let mut left = stored.chunks.clone();
        left.remove(lost);
        assert!(Record::decode(&stored.head, &left).is_err(), "without chunk {lost}");
    }
}

#[test]
fn a_single_attribute_is_cut_too_and_heads_stay_small_whatever_names_are_like() {
    let mut item = Item::new().with("a", Value::Bytes(vec![7; CHUNK_SIZE_BYTES].into()));
    let record = |item: &Item| Record { item: item.clone(), expires_at: None };
    let stored = record(&item).encode();
    assert_eq!(stored.chunks.len(), 2);
    assert_eq!(Record::decode(&stored.head, &stored.chunks).unwrap(), record(&item));
    for n in 0..40 {
        item.set(format!("{}{n}", "é".repeat(30_000)), Value::Int(n));
    }
    let stored = record(&item).encode();
    assert!(stored.head.len() < 5_000, "{}", stored.head.len());
    assert!(stored.chunks.iter().all(|chunk| chunk.len() <= CHUNK_SIZE_BYTES + 1));
    assert_eq!(Record::decode(&stored.head, &stored.chunks).unwrap(), record(&item));
}

#[test]
fn an_unknown_version_is_refused() {
    assert!(Record::decode(&bytes::Bytes::from_static(&[9, 0]), &[]).is_err());
    assert!(Record::decode(&bytes::Bytes::from_static(&[1, 0x80]), &[]).is_err());
    assert!(kind_of(&[]).is_err());
}
