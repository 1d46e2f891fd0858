//! Each kind of error, produced from outside, with its position.

use num_bigint::BigInt;
use shelfmark_keycode::{
    DECIMAL_BITS_MAX, Decimal, Direction, KEY_DEPTH_MAX, KeyError, KeyErrorKind, KeyType, KeyValue,
    canonicalize, decode, encode, number, put_integer_be_bytes, skip, take_decimal,
};

const UP: Direction = Direction::Ascending;

fn list(ty: KeyType) -> KeyType {
    KeyType::List(Box::new(ty))
}

fn set(ty: KeyType) -> KeyType {
    KeyType::Set(Box::new(ty))
}

fn kinded(ty: KeyType) -> KeyType {
    KeyType::Kinded(Box::new(ty))
}

/// Decodes and expects a kind and a position, in both directions, with the cursor left alone.
fn refused(ty: &KeyType, bytes: &[u8], kind: KeyErrorKind, position: usize) {
    let complement: Vec<u8> = bytes.iter().map(|byte| !byte).collect();
    for (direction, bytes) in [(UP, bytes), (Direction::Descending, &complement)] {
        let mut rest = bytes;
        let error = decode(ty, direction, &mut rest).expect_err("bad bytes");
        assert_eq!(error.kind(), kind, "{ty:?} {bytes:02x?}: {error}");
        assert_eq!(error.position(), Some(position), "{ty:?} {bytes:02x?}: {error}");
        assert_eq!(rest, bytes);
    }
}

/// Encodes and expects a kind, with the buffer left alone.
fn not_encoded(ty: &KeyType, value: &KeyValue, kind: KeyErrorKind) {
    let mut out = vec![0xAB, 0xCD];
    let error = encode(ty, UP, value, &mut out).expect_err("not of the type");
    assert_eq!(error.kind(), kind, "{ty:?} {value:?}: {error}");
    assert_eq!(out, [0xAB, 0xCD]);
}

#[test]
fn truncated() {
    use KeyErrorKind::Truncated;
    refused(&KeyType::Text, &[], Truncated, 0);
    refused(&KeyType::Text, &[0x61, 0x62], Truncated, 2);
    refused(&KeyType::Text, &[0x61, 0x00], Truncated, 2);
    refused(&KeyType::I32, &[0x80, 0x00, 0x00], Truncated, 3);
    refused(&KeyType::Bool, &[], Truncated, 0);
    refused(&KeyType::Integer, &[0x82, 0x01], Truncated, 2);
    refused(&KeyType::Integer, &[0xF9, 0x01], Truncated, 2);
    refused(&KeyType::Integer, &[0xFF; 9], Truncated, 9);
    refused(&KeyType::Decimal, &[0xB2, 0x33], Truncated, 2);
    refused(&KeyType::Decimal, &[0xF2, 0x01], Truncated, 2);
    refused(&KeyType::Inet, &[127, 0, 0], Truncated, 3);
    refused(&KeyType::Inet, &[127, 0, 0, 1], Truncated, 4);
    refused(&KeyType::Inet, &[127, 0, 0, 1, 1, 9], Truncated, 6);
    refused(&list(KeyType::U8), &[0x01, 0x07], Truncated, 2);
    refused(&kinded(KeyType::U16), &[0x02, 0x07], Truncated, 2);
    let pair = KeyType::Tuple(vec![KeyType::U8, KeyType::Text]);
    refused(&pair, &[0x07, 0x61, 0x61], Truncated, 3);
}

#[test]
fn non_canonical() {
    use KeyErrorKind::NonCanonical;
    refused(&KeyType::Bool, &[0x02], NonCanonical, 0);
    refused(&KeyType::Bytes, &[0x61, 0x00, 0x00], NonCanonical, 2);
    refused(&KeyType::Bytes, &[0x00, 0xFF, 0x61, 0x00, 0x02, 0x00, 0x01], NonCanonical, 4);
    refused(&KeyType::Text, &[0xC3, 0x00, 0x01], NonCanonical, 0);
    refused(&KeyType::Integer, &[0x7F], NonCanonical, 0);
    refused(&KeyType::Integer, &[0x82, 0x00, 0x01], NonCanonical, 1);
    refused(&KeyType::Integer, &[0xF8, 0x77], NonCanonical, 1);
    refused(&KeyType::Integer, &[0xF9, 0x00, 0xFF], NonCanonical, 1);
    // The place of leading zeros is behind the length, however long that is.
    let long = [&[0xF8, 0x78, 0x00][..], &[0x01; 119]].concat();
    refused(&KeyType::Integer, &long, NonCanonical, 2);
    refused(&KeyType::Decimal, &[0x7F, 0x00], NonCanonical, 0);
    refused(&KeyType::Decimal, &[0x84, 0x00], NonCanonical, 0);
    refused(&KeyType::Decimal, &[0xF5, 0x00], NonCanonical, 0);
    refused(&KeyType::Decimal, &[0xB2, 0x00], NonCanonical, 1);
    refused(&KeyType::Decimal, &[0xB2, 0x0A, 0x00], NonCanonical, 1); // 09: a leading zero
    refused(&KeyType::Decimal, &[0xB2, 0x33, 0x01, 0x00], NonCanonical, 1); // 50 00: trailing
    refused(&KeyType::Decimal, &[0xB2, 0x33, 0x65, 0x00], NonCanonical, 2);
    refused(&KeyType::Decimal, &[0xF2, 0x00, 0x01, 0x33, 0x00], NonCanonical, 1);
    refused(&KeyType::Inet, &[127, 0, 0, 1, 2], NonCanonical, 4);
    refused(&list(KeyType::U8), &[0x01, 0x07, 0x02], NonCanonical, 2);
    refused(&set(KeyType::U8), &[0x01, 0x07, 0x01, 0x07, 0x00], NonCanonical, 3);
    refused(&set(KeyType::U8), &[0x01, 0x07, 0x01, 0x06, 0x00], NonCanonical, 3);
    let map = KeyType::Map(Box::new(KeyType::U8), Box::new(KeyType::U8));
    refused(&map, &[0x01, 0x07, 0x01, 0x01, 0x07, 0x02, 0x00], NonCanonical, 4);
    refused(&kinded(KeyType::U8), &[0x03], NonCanonical, 0);
    refused(&kinded(KeyType::Text), &[0x01], NonCanonical, 0);

    let unsorted = KeyValue::Set(vec![KeyValue::U8(2), KeyValue::U8(1)]);
    not_encoded(&set(KeyType::U8), &unsorted, NonCanonical);
    let repeated = KeyValue::Set(vec![KeyValue::U8(2), KeyValue::U8(2)]);
    not_encoded(&set(KeyType::U8), &repeated, NonCanonical);
    let entry = || (KeyValue::U8(1), KeyValue::U8(2));
    not_encoded(&map, &KeyValue::Map(vec![entry(), entry()]), NonCanonical);
}

#[test]
fn wrong_type() {
    use KeyErrorKind::WrongType;
    not_encoded(&KeyType::Text, &KeyValue::Bytes(vec![0x61]), WrongType);
    not_encoded(&KeyType::I64, &KeyValue::Timestamp(1), WrongType);
    not_encoded(&KeyType::U8, &KeyValue::Null, WrongType);
    not_encoded(&kinded(KeyType::U8), &KeyValue::U16(1), WrongType);
    not_encoded(&kinded(KeyType::Text), &KeyValue::Empty, WrongType);
    not_encoded(&list(KeyType::U8), &KeyValue::Set(vec![]), WrongType);
    let pair = KeyType::Tuple(vec![KeyType::U8, KeyType::U8]);
    not_encoded(&pair, &KeyValue::Tuple(vec![KeyValue::U8(1)]), WrongType);
    // The first field was written before the second was refused.
    let mixed = KeyValue::Tuple(vec![KeyValue::U8(1), KeyValue::Bool(true)]);
    not_encoded(&pair, &mixed, WrongType);

    let twice = kinded(kinded(KeyType::U8));
    not_encoded(&twice, &KeyValue::Null, WrongType);
    let mut rest = &[0x02, 0x02, 0x07][..];
    let error = decode(&twice, UP, &mut rest).expect_err("two kinds");
    assert_eq!(error.kind(), WrongType);
    assert_eq!(twice.check().map_err(|error| error.kind()), Err(WrongType));

    let error = put_integer_be_bytes(&mut Vec::new(), UP, &[]).expect_err("no integer");
    assert_eq!(error.kind(), WrongType);
}

#[test]
fn too_deep() {
    let nested = |depth| (1..depth).fold(KeyType::U8, |inner, _| list(inner));
    let value = |depth| (1..depth).fold(KeyValue::U8(7), |inner, _| KeyValue::List(vec![inner]));
    let deepest = nested(KEY_DEPTH_MAX);
    assert_eq!(deepest.check(), Ok(()));
    let mut key = Vec::new();
    encode(&deepest, UP, &value(KEY_DEPTH_MAX), &mut key).expect("just fits");
    assert_eq!(decode(&deepest, UP, &mut &key[..]), Ok(value(KEY_DEPTH_MAX)));
    assert_eq!(skip(&deepest, UP, &mut &key[..]), Ok(()));

    // That its levels are kinded makes a type no deeper.
    let kinded = |inner| KeyType::Kinded(Box::new(inner));
    let of_kinded = |depth| (1..depth).fold(kinded(KeyType::U8), |inner, _| kinded(list(inner)));
    let deepest = of_kinded(KEY_DEPTH_MAX);
    assert_eq!(deepest.check(), Ok(()));
    key.clear();
    encode(&deepest, UP, &value(KEY_DEPTH_MAX), &mut key).expect("just fits");
    assert_eq!(decode(&deepest, UP, &mut &key[..]), Ok(value(KEY_DEPTH_MAX)));
    assert_eq!(skip(&deepest, UP, &mut &key[..]), Ok(()));
    not_encoded(&of_kinded(KEY_DEPTH_MAX + 1), &value(KEY_DEPTH_MAX + 1), KeyErrorKind::TooDeep);

    let too_deep = nested(KEY_DEPTH_MAX + 1);
    let mut too_deep_value = value(KEY_DEPTH_MAX + 1);
    not_encoded(&too_deep, &too_deep_value, KeyErrorKind::TooDeep);
    let kind = |result: Result<(), KeyError>| result.map_err(|error| error.kind());
    assert_eq!(kind(too_deep.check()), Err(KeyErrorKind::TooDeep));
    let bytes = [0x01; 100];
    assert_eq!(kind(skip(&too_deep, UP, &mut &bytes[..])), Err(KeyErrorKind::TooDeep));
    assert_eq!(kind(canonicalize(&too_deep, &mut too_deep_value)), Err(KeyErrorKind::TooDeep));
    refused(&too_deep, &bytes, KeyErrorKind::TooDeep, KEY_DEPTH_MAX);
}

/// A way to nest a type, with the value that goes around one of it.
type Nesting = (&'static str, fn(KeyType) -> KeyType, fn(KeyValue) -> KeyValue);

/// Every way to nest a type that makes it one level deeper.
const NESTINGS: [Nesting; 6] = [
    ("list", list, |inner| KeyValue::List(vec![inner])),
    ("set", set, |inner| KeyValue::Set(vec![inner])),
    ("tuple", |ty| KeyType::Tuple(vec![ty]), |inner| KeyValue::Tuple(vec![inner])),
    ("record", |ty| KeyType::Record(vec![kinded(ty)]), |inner| KeyValue::Tuple(vec![inner])),
    (
        "key of a map",
        |ty| KeyType::Map(Box::new(ty), Box::new(KeyType::U8)),
        |inner| KeyValue::Map(vec![(inner, KeyValue::U8(1))]),
    ),
    (
        "value of a map",
        |ty| KeyType::Map(Box::new(KeyType::U8), Box::new(ty)),
        |inner| KeyValue::Map(vec![(KeyValue::U8(1), inner)]),
    ),
];

#[test]
fn each_way_to_nest_is_one_level_and_no_more() {
    let kind = |result: Result<(), KeyError>| result.map_err(|error| error.kind());
    for (name, nest, wrap) in NESTINGS {
        let ty = |depth| (1..depth).fold(KeyType::U8, |inner, _| nest(inner));
        let value = |depth| (1..depth).fold(KeyValue::U8(7), |inner, _| wrap(inner));
        let (fits, mut full) = (ty(KEY_DEPTH_MAX), value(KEY_DEPTH_MAX));
        let mut key = Vec::new();
        assert_eq!(kind(fits.check()), Ok(()), "{name}");
        assert_eq!(kind(canonicalize(&fits, &mut full)), Ok(()), "{name}");
        encode(&fits, UP, &full, &mut key).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(decode(&fits, UP, &mut &key[..]).as_ref(), Ok(&full), "{name}");
        let mut rest = &key[..];
        assert_eq!(kind(skip(&fits, UP, &mut rest)), Ok(()), "{name}");
        assert!(rest.is_empty(), "{name}");

        let (deeper, mut beyond) = (ty(KEY_DEPTH_MAX + 1), value(KEY_DEPTH_MAX + 1));
        let too_deep = Err(KeyErrorKind::TooDeep);
        assert_eq!(kind(deeper.check()), too_deep, "{name}");
        assert_eq!(kind(canonicalize(&deeper, &mut beyond)), too_deep, "{name}");
        not_encoded(&deeper, &beyond, KeyErrorKind::TooDeep);
        // What one level more would be written as: the bytes of a number are those of no other part.
        let longer =
            replaced(&key, &encoded(&KeyType::U8, &KeyValue::U8(7)), &encoded(&ty(2), &value(2)));
        assert_eq!(kind(skip(&deeper, UP, &mut &longer[..])), too_deep, "{name}");
        assert_eq!(kind(decode(&deeper, UP, &mut &longer[..]).map(drop)), too_deep, "{name}");
    }
}

/// `bytes` with the one stretch that equals `part` replaced.
fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let mut places = bytes.windows(part.len()).enumerate().filter(|(_, own)| *own == part);
    let (at, _) = places.next().expect("the part");
    assert!(places.next().is_none(), "the part stands there once");
    [&bytes[..at], by, &bytes[at + part.len()..]].concat()
}

fn encoded(ty: &KeyType, value: &KeyValue) -> Vec<u8> {
    let mut out = Vec::new();
    encode(ty, UP, value, &mut out).expect("of the type");
    out
}

#[test]
fn records() {
    let field = |ty| KeyType::Kinded(Box::new(ty));
    let pair = KeyType::Record(vec![field(KeyType::U8), field(KeyType::U8)]);
    // A null that was to be left out; more fields than the type has; no end.
    refused(&pair, &[0x01, 0x02, 0x07, 0x01, 0x00, 0x00], KeyErrorKind::NonCanonical, 3);
    let three = [0x01, 0x02, 0x07, 0x01, 0x02, 0x08, 0x01, 0x02, 0x09, 0x00];
    refused(&pair, &three, KeyErrorKind::NonCanonical, 6);
    refused(&pair, &three[..6], KeyErrorKind::Truncated, 6);
    not_encoded(&pair, &KeyValue::Tuple(vec![KeyValue::U8(1)]), KeyErrorKind::WrongType);
    // A field that is left out must be one that can be null.
    let plain = KeyType::Record(vec![KeyType::U8]);
    let kind = |result: Result<(), KeyError>| result.map_err(|error| error.kind());
    assert_eq!(kind(plain.check()), Err(KeyErrorKind::WrongType));
    not_encoded(&plain, &KeyValue::Tuple(vec![KeyValue::U8(1)]), KeyErrorKind::WrongType);
    assert_eq!(kind(skip(&plain, UP, &mut &[0x01, 0x07, 0x00][..])), Err(KeyErrorKind::WrongType));
}

#[test]
fn too_long() {
    let largest: BigInt = (BigInt::from(1) << DECIMAL_BITS_MAX) - 1;
    assert!(Decimal::new(largest.clone(), 0).is_ok());
    let error = Decimal::new(largest + 1, 0).expect_err("one bit more");
    assert_eq!(error.kind(), KeyErrorKind::TooLong);

    // More digits than any decimal has, and far more zeros than its scale could stand for.
    let mut digits = vec![0xB2];
    digits.resize(20_000, 0x33);
    digits.push(0x00);
    let error = take_decimal(&mut &digits[..], UP).expect_err("40,000 digits");
    assert_eq!((error.kind(), error.position()), (KeyErrorKind::TooLong, Some(1)));
    let huge = [0xF4, 0xFF, 0xFF, 0xFF, 0xFF, 0x33, 0x00];
    let error = take_decimal(&mut &huge[..], UP).expect_err("5E+4294967358");
    assert_eq!((error.kind(), error.position()), (KeyErrorKind::TooLong, Some(0)));
}

#[test]
fn underflow() {
    let tiny = [0x85, 0x00, 0x00, 0x00, 0x00, 0x33, 0x00];
    let error = take_decimal(&mut &tiny[..], UP).expect_err("5E-4294967337");
    assert_eq!((error.kind(), error.position()), (KeyErrorKind::Underflow, Some(0)));
}

#[test]
fn messages_name_the_position() {
    let error = decode(&KeyType::Bool, UP, &mut &[0x02][..]).expect_err("no bool");
    assert_eq!(error.to_string(), "a bool is 00 or 01 (at byte 0)");
    let error = encode(&KeyType::Bool, UP, &KeyValue::Null, &mut Vec::new()).expect_err("no bool");
    assert_eq!(error.position(), None);
    assert_eq!(error.to_string(), "the value is not of the key's type");
    let source: &dyn std::error::Error = &error;
    assert!(source.source().is_none());
}

/// `OutOfRange` comes from lexicographic integers, ULIDs and number limits.
#[test]
fn every_kind_is_produced() {
    let of = |text| number::parse(text, &number::DYNAMO_NUMBER).map_err(|error| error.kind());
    assert_eq!(of("1E+126"), Err(KeyErrorKind::OutOfRange));
    assert_eq!(KeyErrorKind::ALL.len(), 7);
    for (at, kind) in KeyErrorKind::ALL.iter().enumerate() {
        assert!(!KeyErrorKind::ALL[..at].contains(kind));
    }
}

#[test]
fn canonical_values_are_sorted_unique_and_reduced() {
    let decimal = |unscaled: i64, scale| {
        KeyValue::Decimal(Decimal::new(BigInt::from(unscaled), scale).expect("short"))
    };
    let mut value = KeyValue::Set(vec![decimal(20, 1), decimal(1, 0), decimal(2, 0)]);
    let ty = set(KeyType::Decimal);
    canonicalize(&ty, &mut value).expect("not deep");
    assert_eq!(value, KeyValue::Set(vec![decimal(1, 0), decimal(2, 0)]));
    let KeyValue::Set(elements) = &value else { panic!("a set") };
    let KeyValue::Decimal(two) = &elements[1] else { panic!("a decimal") };
    assert_eq!((two.unscaled(), two.scale()), (&BigInt::from(2), 0));

    // Of repeated map keys the last stays.
    let entry = |key, value| (KeyValue::U8(key), KeyValue::U8(value));
    let mut value = KeyValue::Map(vec![entry(2, 1), entry(1, 1), entry(2, 2), entry(2, 3)]);
    let ty = KeyType::Map(Box::new(KeyType::U8), Box::new(KeyType::U8));
    canonicalize(&ty, &mut value).expect("not deep");
    assert_eq!(value, KeyValue::Map(vec![entry(1, 1), entry(2, 3)]));
    let mut key = Vec::new();
    encode(&ty, UP, &value, &mut key).expect("canonical");
}
