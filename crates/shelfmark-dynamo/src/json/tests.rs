use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use shelfmark_model::{Item, Value};

use super::*;
use crate::errors::{Exception, texts};
use crate::limits::{JSON_DEPTH_MAX, VALUE_DEPTH_MAX};

/// Reads a body whose only member that matters is `v`, an attribute value.
fn read(value: &str) -> Result<Value, crate::errors::Error> {
    let mut found = None;
    Reader::body(format!("{{\"v\":{value}}}").as_bytes(), |reader, name| {
        assert_eq!(name, "v");
        found = Some(reader.checked_value()?);
        Ok(())
    })?;
    found.unwrap().checked()
}

fn check_value(json: &str, expected: Value) {
    assert_eq!(read(json).unwrap(), expected, "{json}");
}

fn check_refused(json: &str, exception: Exception, text: &str) {
    let error = read(json).unwrap_err();
    assert_eq!((error.exception, error.message.as_str()), (exception, text), "{json}");
}

#[test]
fn attribute_values() {
    let map = |pairs: &[(&str, Value)]| {
        Value::Map(pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    };
    check_value(r#"{"S":"a\u00e4\ud83d\ude00\n"}"#, "aä😀\n".into());
    check_value(r#" { "N" : "-1.50" } "#, Value::Number(number::read("-1.5").unwrap()));
    check_value(r#"{"B":"AAH/"}"#, Value::Bytes(Bytes::from_static(&[0, 1, 255])));
    check_value(r#"{"BOOL":false}"#, Value::Bool(false));
    check_value(r#"{"NULL":true,"S":null,"X":[{"deep":[]}]}"#, Value::Null);
    check_value(
        r#"{"L":[{"S":"x"},{"L":[]}]}"#,
        Value::List(vec!["x".into(), Value::List(vec![])]),
    );
    check_value(
        r#"{"M":{"b":{"S":"1"},"a":{"M":{}}}}"#,
        map(&[("a", map(&[])), ("b", "1".into())]),
    );
    check_value(r#"{"SS":["b","a"]}"#, Value::set(vec!["a".into(), "b".into()]));
    check_value(r#"{"NS":["2","10"]}"#, Value::set(vec![Value::number(2), Value::number(10)]));
    check_value(r#"{"S":"first","S":"last"}"#, "last".into());
}

#[test]
fn the_first_fault_in_a_value_is_the_one_reported() {
    let validation = Exception::Validation;
    check_refused(r#"{"L":[{"N":"x"},{"S":"a","N":"1"}]}"#, validation, &texts::no_number("x"));
    check_refused("null", validation, texts::VALUE_IS_EMPTY);
    check_refused(r#"{"S":null}"#, validation, texts::VALUE_IS_EMPTY);
    check_refused(r#"{"L":[null]}"#, validation, texts::VALUE_IS_EMPTY);
    // A wrong JSON type counts more than a wrong value, wherever it stands.
    check_refused(
        r#"{"L":[{"N":"x"},{"N":1}]}"#,
        Exception::Serialization,
        "NUMBER_VALUE cannot be converted to String",
    );
    check_refused(
        r#"{"N":1.5}"#,
        Exception::Serialization,
        "DECIMAL_VALUE cannot be converted to String",
    );
}

fn nested(levels: usize) -> String {
    let around = levels - 1;
    [r#"{"L":["#.repeat(around), r#"{"S":"x"}"#.to_owned(), "]}".repeat(around)].concat()
}

#[test]
fn values_nest_as_deep_as_the_service_allows_and_bodies_only_so_deep() {
    assert!(read(&nested(VALUE_DEPTH_MAX)).is_ok());
    check_refused(&nested(VALUE_DEPTH_MAX + 1), Exception::Validation, texts::NESTED_TOO_DEEP);
    check_refused(&nested(5_000), Exception::Validation, texts::NESTED_TOO_DEEP);
    check_refused(&nested(200_000), Exception::Validation, texts::NESTED_TOO_DEEP);
    let brackets = "[".repeat(JSON_DEPTH_MAX + 1);
    check_refused(&brackets, Exception::Serialization, texts::UNEXPECTED_LIST);
    let unknown = format!(r#"{{"X":{}"#, "[".repeat(100_000));
    check_refused(&unknown, Exception::Serialization, texts::JSON_TOO_DEEP);
}

#[test]
fn integers_are_cut_off_and_saturate() {
    let integer = |json: &str| {
        let mut found = None;
        Reader::body(format!("{{\"n\":{json}}}").as_bytes(), |reader, _| {
            found = reader.integer()?;
            Ok(())
        })
        .map(|()| found)
    };
    for (json, expected) in [
        ("7", Some(7)),
        ("-0", Some(0)),
        ("1.99", Some(1)),
        ("-1.99", Some(-1)),
        ("12e2", Some(1_200)),
        ("99999999999999999999", Some(i64::MAX)),
        ("-1e400", Some(i64::MIN)),
        ("null", None),
    ] {
        assert_eq!(integer(json).unwrap(), expected, "{json}");
    }
    for json in ["\"7\"", "true", "[]", "{}", "07", "+7", ".5", "1.", "1e", "NaN"] {
        assert!(integer(json).is_err(), "{json}");
    }
}

/// Returns true if our reader takes the whole input for one JSON value.
fn accepts(input: &[u8]) -> bool {
    let wrapped = [b"{\"v\":", input, b"}"].concat();
    Reader::body(&wrapped, |reader, _| reader.skip()).is_ok()
}

/// Asks another parser the same; `None` when the two judge by different rules.
fn oracle(input: &[u8]) -> Option<bool> {
    match serde_json::from_slice::<serde_json::Value>(input) {
        Ok(_) => Some(true),
        Err(error) if error.to_string().contains("number out of range") => None,
        Err(_) => Some(false),
    }
}

#[test]
fn the_grammar_is_that_of_json() {
    for (input, expected) in [
        (r#"{"a":[1,2.5e-3,"x",null,true,false,{}]}"#, true),
        (" [ ] ", true),
        (r#""\ud800""#, false),
        (r#""\ud800\u0041""#, false),
        (r#""\udc00""#, false),
        ("\"\u{1}\"", false),
        (r#""\x""#, false),
        ("[1,]", false),
        ("[,]", false),
        (r#"{"a":1,}"#, false),
        (r#"{a:1}"#, false),
        ("01", false),
        ("-", false),
        ("tru", false),
        ("nullx", false),
        ("", false),
    ] {
        assert_eq!(accepts(input.as_bytes()), expected, "{input}");
        assert_eq!(oracle(input.as_bytes()), Some(expected), "{input}");
    }
    assert!(!accepts(b"\"\xff\""));
    assert!(!accepts(b"\"\xed\xa0\x80\""), "surrogates have no UTF-8");
}

/// Pieces that JSON is made of, so that random sequences of them are often nearly JSON.
fn json_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "\\ude00", "0", "1", "-", ".",
        "e", "E+", "true", "false", "null", "a", "\"a\"", "\"b\":", " ", "\n", "ä", "\u{1f}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Values of the ten types, at most four levels deep.
fn value() -> impl Strategy<Value = Value> {
    let decimal = ("-?[1-9][0-9]{0,30}", -60_i32..60).prop_map(|(digits, exponent)| {
        Value::Number(number::read(&format!("{digits}e{exponent}")).unwrap())
    });
    let bytes = prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes::from);
    let texts = prop::collection::vec(".{0,4}".prop_map(Value::from), 1..4).prop_map(Value::set);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        decimal.clone(),
        ".{0,12}".prop_map(Value::from),
        bytes.clone().prop_map(Value::Bytes),
        texts,
        prop::collection::vec(decimal, 1..4).prop_map(Value::set),
        prop::collection::vec(bytes.prop_map(Value::Bytes), 1..4).prop_map(Value::set),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(".{1,6}", inner, 0..4).prop_map(Value::Map),
        ]
    })
}

proptest! {
    #[test]
    fn reading_never_panics(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Reader::body(&body, |reader, _| reader.attributes().map(|_| ()));
        let _ = Reader::body(&body, |reader, _| reader.skip());
    }

    #[test]
    fn both_readers_accept_the_same(text in json_like()) {
        if let Some(expected) = oracle(text.as_bytes()) {
            prop_assert_eq!(accepts(text.as_bytes()), expected, "{}", text);
        }
    }

    #[test]
    fn attributes_of_anything_never_panic(text in json_like()) {
        let body = format!("{{\"Item\":{text}}}");
        let _ = Reader::body(body.as_bytes(), |reader, _| reader.attributes().map(|_| ()));
    }

    #[test]
    fn items_come_back_as_they_were(
        attributes in prop::collection::btree_map(".{0,6}", value(), 0..6)
    ) {
        let item: Item = attributes.into_iter().collect();
        let body = Writer::body(|out| {
            out.name("Item");
            put_item(out, &item);
        });
        serde_json::from_slice::<serde_json::Value>(&body).expect("what is written is JSON");
        let mut found = None;
        Reader::body(&body, |reader, _| {
            found = reader.attributes()?;
            Ok(())
        })
        .unwrap();
        let found = found.unwrap().checked().unwrap();
        prop_assert_eq!(found.len(), item.len());
        for (name, value) in &item {
            prop_assert!(found.get(name).is_some_and(|other| other.equals(value)), "{}", name);
        }
    }
}

/// Text is looked at eight bytes at a time; each place in these and behind them counts.
#[test]
fn whatever_has_to_be_escaped_is_escaped_at_every_place() {
    for length in 1..=18 {
        for place in 0..length {
            // Neighbours of what is escaped, and bytes with their highest bit.
            for around in ['!', '#', '[', ']', ' ', '\u{7f}', 'é'] {
                for odd in (0..0x30).map(char::from).chain(['"', '\\', '\u{80}', '\u{ff}']) {
                    let text: String =
                        (0..length).map(|at| if at == place { odd } else { around }).collect();
                    let body = Writer::body(|out| out.name(&text).text(&text));
                    let read: BTreeMap<String, String> = serde_json::from_slice(&body)
                        .unwrap_or_else(|error| panic!("{text:?}: {error}"));
                    assert_eq!(read.into_iter().next(), Some((text.clone(), text)));
                }
            }
        }
    }
}

#[test]
fn values_of_other_faces_come_out_as_something_readable() {
    let item = Item::new()
        .with("int", 7_i64)
        .with("uuid", Value::Uuid([1; 16]))
        .with("inet", Value::Inet("127.0.0.1".parse().unwrap()))
        .with("tuple", Value::Tuple(vec![Some("x".into()), None]))
        .with("pairs", Value::Pairs(vec![(Value::Int(1), "one".into())]))
        .with("bools", Value::set(vec![Value::Bool(true)]));
    let body = Writer::body(|out| {
        out.name("Item");
        put_item(out, &item);
    });
    let expected: BTreeMap<&str, &str> = BTreeMap::from([
        ("bools", r#"{"L":[{"BOOL":true}]}"#),
        ("inet", r#"{"S":"127.0.0.1"}"#),
        ("int", r#"{"N":"7"}"#),
        ("pairs", r#"{"L":[{"L":[{"N":"1"},{"S":"one"}]}]}"#),
        ("tuple", r#"{"L":[{"S":"x"},{"NULL":true}]}"#),
        ("uuid", r#"{"B":"AQEBAQEBAQEBAQEBAQEBAQ=="}"#),
    ]);
    let members: Vec<String> =
        expected.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let expected = format!("{{\"Item\":{{{}}}}}", members.join(","));
    assert_eq!(String::from_utf8(body).unwrap(), expected);
}

#[test]
fn texts_are_escaped_wherever_the_character_stands() {
    let others = ["\"", "\\", "\n", "\r", "\t", "\u{0}", "\u{1f}", "\u{7f}", "ä", "😀", " "];
    for length in 0..100 {
        for other in others {
            for twice in [false, true] {
                let text =
                    format!("{}{other}{}", "x".repeat(length), if twice { other } else { "end" });
                let body = super::writer::Writer::body(|out| out.name("t").text(&text));
                let read: serde_json::Value = serde_json::from_slice(&body).unwrap();
                assert_eq!(read["t"], text.as_str());
            }
        }
    }
}
