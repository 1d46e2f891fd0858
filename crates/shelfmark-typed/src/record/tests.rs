use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use shelfmark_model::{Item, Value};

use super::{Record, names};
use crate::error::ErrorKind;
use crate::key::{Blob, Date, Timestamp, TimestampMillis, Uuid};

fn check<T: Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(record: T) {
    let item = record.to_item().unwrap();
    let key = |name: &str| name == "value" || name == "name";
    let stored = names::escape(item.clone(), key).with("name", "a key").with("value", 7);
    let (back, expires_at) = names::unescape(stored, key);
    assert_eq!(expires_at, None);
    assert_eq!(back, item, "names come back whatever the key columns are called");
    assert_eq!(T::from_item(back).unwrap(), record);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wide {
    name: String,
    _hidden: Option<i64>,
    unsigned: u64,
    huge: u128,
    negative: i128,
    real: f64,
    single: f32,
    letter: char,
    pair: (u8, String),
    list: Vec<Option<u32>>,
    tree: BTreeMap<String, Vec<bool>>,
    numbered: BTreeMap<i32, String>,
    blob: Blob,
    at: TimestampMillis,
    exactly: Timestamp,
    day: Date,
    id: Uuid,
    nothing: (),
}

fn wide() -> Wide {
    Wide {
        name: "ä".to_owned(),
        _hidden: None,
        unsigned: u64::MAX,
        huge: u128::MAX,
        negative: i128::MIN,
        real: -0.5,
        single: 1.5,
        letter: 'ß',
        pair: (255, String::new()),
        list: vec![None, Some(3)],
        tree: BTreeMap::from([("x".to_owned(), vec![true, false])]),
        numbered: BTreeMap::from([(-1, "a".to_owned()), (2, "b".to_owned())]),
        blob: Blob(vec![0, 255]),
        at: Timestamp(-5),
        exactly: Timestamp(-6),
        day: Date(20_000),
        id: Uuid([7; 16]),
        nothing: (),
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Box(u32, u32),
    Named { value: i64, name: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    One { value: i64 },
    Two,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct OnlyValue {
    value: i64,
}

#[test]
fn every_shape_of_type_comes_back() {
    check(wide());
    check(5_u64);
    check("text".to_owned());
    check(vec![1, 2, 3]);
    check(());
    check(Some(4));
    check(None::<i32>);
    check(HashMap::from([("value".to_owned(), 1)]));
    check(HashMap::from([("_value".to_owned(), 1), ("value".to_owned(), 2)]));
    check(BTreeMap::<String, u8>::new());
    check(OnlyValue { value: 3 });
    check(Shape::Point);
    check(Shape::Circle(2.5));
    check(Shape::Box(1, 2));
    check(Shape::Named { value: 1, name: "n".to_owned() });
    check(Tagged::One { value: 1 });
    check(Tagged::Two);
}

#[test]
fn kinds_are_kept_for_other_faces() {
    let item = wide().to_item().unwrap();
    assert_eq!(item.get("at"), Some(&Value::Timestamp(-5)));
    assert_eq!(item.get("exactly"), Some(&Value::Int(-6)));
    assert_eq!(item.get("day"), Some(&Value::Date(20_000)));
    assert_eq!(item.get("id"), Some(&Value::Uuid([7; 16])));
    assert_eq!(item.get("blob"), Some(&Value::Bytes(vec![0, 255].into())));
    assert_eq!(5_u64.to_item().unwrap(), Item::new().with("value", 5));
}

#[test]
fn fields_may_be_added_and_left_out() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Later {
        name: String,
        #[serde(default)]
        added: u32,
    }
    let item = Item::new().with("name", "x").with("dropped", 1);
    assert_eq!(Later::from_item(item).unwrap(), Later { name: "x".to_owned(), added: 0 });
}

#[test]
fn what_does_not_fit_is_a_mismatch_and_no_panic() {
    for item in [
        Item::new(),
        Item::new().with("value", "text"),
        Item::new().with("value", Value::BigInt(num_bigint::BigInt::from(1) << 200)),
        Item::new().with("value", Value::List(vec![])),
    ] {
        assert_eq!(u64::from_item(item).unwrap_err().kind(), ErrorKind::Mismatch);
    }
    let long = Item::new().with("value", Value::List(vec![Value::Int(1); 3]));
    assert_eq!(<(i64, i64)>::from_item(long).unwrap_err().kind(), ErrorKind::Mismatch);
    let other = Item::new().with("value", "Square");
    assert_eq!(Shape::from_item(other).unwrap_err().kind(), ErrorKind::Mismatch);
}

#[test]
fn nesting_has_a_limit() {
    #[derive(Serialize, Deserialize)]
    struct Deep(Vec<Deep>);
    let mut deep = Deep(vec![]);
    for _ in 0..100 {
        deep = Deep(vec![deep]);
    }
    assert_eq!(deep.to_item().unwrap_err().kind(), ErrorKind::LimitExceeded);
}

/// Returns the fields of a type as `name: word`, in the order of the names.
fn fields<T: Record>() -> Vec<String> {
    let mut all: Vec<String> =
        T::fields().into_iter().map(|(name, kind)| format!("{name}: {}", kind.word())).collect();
    all.sort();
    all
}

#[test]
fn a_type_says_which_fields_it_has_and_of_which_kind() {
    #[derive(Serialize, Deserialize)]
    struct Inner {
        own: Option<Box<Inner>>,
        times: [u8; 2],
    }

    #[derive(Serialize, Deserialize)]
    enum Choice {
        One(u8),
        Two,
    }

    /// Refuses what is empty.
    #[derive(Serialize, Deserialize)]
    struct Row {
        address: std::net::IpAddr,
        choice: Choice,
        narrow: std::num::NonZeroU16,
        flag: Option<bool>,
        small: i8,
        unsigned: u32,
        large: u64,
        float: f32,
        text: String,
        letter: char,
        raw: Blob,
        id: Uuid,
        day: Option<Date>,
        millis: TimestampMillis,
        nanos: Timestamp,
        inner: Inner,
        list: Vec<u8>,
        #[serde(rename = "given")]
        renamed: bool,
    }

    assert_eq!(
        fields::<Row>(),
        [
            "address: text",
            "choice: other",
            "day: date",
            "flag: bool",
            "float: f32",
            "given: bool",
            "id: uuid",
            "inner: other",
            "large: integer",
            "letter: text",
            "list: other",
            "millis: timestamp",
            "nanos: i64",
            "narrow: i32",
            "raw: bytes",
            "small: i8",
            "text: text",
            "unsigned: i64",
        ]
    );
}

#[test]
fn a_record_that_is_one_value_is_one_field_and_what_says_nothing_has_none() {
    #[derive(Serialize, Deserialize)]
    struct Name(String);

    #[derive(Serialize, Deserialize)]
    struct Only {
        value: bool,
    }

    #[derive(Serialize, Deserialize)]
    struct Open {
        known: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }

    assert_eq!(fields::<i64>(), ["value: i64"]);
    assert_eq!(fields::<Option<u8>>(), ["value: i16"]);
    assert_eq!(fields::<Name>(), ["value: text"]);
    assert_eq!(fields::<Uuid>(), ["value: uuid"]);
    assert_eq!(fields::<Only>(), ["value: bool"]);
    for none in [fields::<Vec<u8>>(), fields::<BTreeMap<String, u8>>(), fields::<Open>()] {
        assert!(none.is_empty(), "{none:?}");
    }
    // A type that holds itself ends, and one that panics is one that says nothing.
    #[derive(Serialize, Deserialize)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    #[derive(Serialize)]
    struct Panics;

    impl<'de> Deserialize<'de> for Panics {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            panic!("a type may do anything")
        }
    }

    assert_eq!(fields::<Chain>(), ["next: other"]);
    assert!(fields::<Panics>().is_empty());
}
