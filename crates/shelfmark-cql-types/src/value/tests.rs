//! Values to bytes, text, JSON, keys and back.

use super::*;

fn round(ty: &CqlType, text: &str) -> String {
    let bytes = from_text(ty, text).unwrap();
    validate(ty, &bytes).unwrap();
    to_text(ty, &bytes)
}

#[test]
fn vints_are_the_protocols() {
    let mut out = Vec::new();
    for (value, bytes) in [
        (0, vec![0]),
        (127, vec![127]),
        (128, vec![0x80, 0x80]),
        (16_383, vec![0xBF, 0xFF]),
        (16_384, vec![0xC0, 0x40, 0]),
        (u64::MAX, vec![0xFF; 9]),
    ] {
        out.clear();
        unsigned_vint(value, &mut out);
        assert_eq!(out, bytes, "{value}");
    }
    for value in [0, -1, 1, i64::MAX, i64::MIN, 1 << 40] {
        out.clear();
        unsigned_vint((value << 1 ^ value >> 63).cast_unsigned(), &mut out);
        assert_eq!(take_vint(&mut out.as_slice()), Some(value));
    }
}

#[test]
fn text_forms() {
    for (ty, text, shown) in [
        (CqlType::Int, "-5", "-5"),
        (CqlType::Double, "1e10", "1.0E10"),
        (CqlType::Double, "0.001", "0.001"),
        (CqlType::Double, "1234567.5", "1234567.5"),
        (CqlType::Double, "12345678", "1.2345678E7"),
        (CqlType::Double, "NaN", "NaN"),
        (CqlType::Float, "-Infinity", "-Infinity"),
        (CqlType::Decimal, "1.50", "1.50"),
        (CqlType::Decimal, "1e3", "1000"),
        (CqlType::Decimal, "-0.00012", "-0.00012"),
        (CqlType::Varint, "-123456789012345678901234567890", "-123456789012345678901234567890"),
        (CqlType::Date, "2015-05-21", "2015-05-21"),
        (CqlType::Date, "2147483648", "1970-01-01"),
        (CqlType::Time, "08:12:54.1", "08:12:54.100000000"),
        (CqlType::Timestamp, "2011-02-03 04:05+0000", "2011-02-03T04:05:00.000Z"),
        (CqlType::Timestamp, "2011-02-03T04:05:06.789+01:00", "2011-02-03T03:05:06.789Z"),
        (CqlType::Timestamp, "2011-02-03", "2011-02-03T00:00:00.000Z"),
        (CqlType::Timestamp, "0", "1970-01-01T00:00:00.000Z"),
        (CqlType::Duration, "1y2mo3w4d5h6m7s8ms9us10ns", "1y2mo25d5h6m7s8ms9us10ns"),
        (CqlType::Duration, "-P1Y2M3DT4H5M6S", "-1y2mo3d4h5m6s"),
        (CqlType::Duration, "P0001-02-03T04:05:06", "1y2mo3d4h5m6s"),
        (CqlType::Inet, "127.0.0.1", "127.0.0.1"),
        (CqlType::Boolean, "TRUE", "true"),
        (
            CqlType::Uuid,
            "550e8400-e29b-41d4-a716-446655440000",
            "550e8400-e29b-41d4-a716-446655440000",
        ),
    ] {
        assert_eq!(round(&ty, text), shown, "{ty} {text}");
    }
    for (ty, text, message) in [
        (CqlType::Int, "3000000000", "Unable to make int from '3000000000'"),
        (CqlType::Timestamp, "soon", "Unable to parse a date/time from 'soon'"),
        (CqlType::Date, "2015-02-30", "Unable to coerce '2015-02-30' to a formatted date (long)"),
        (CqlType::Duration, "1d1y", "Invalid duration. The days should be after years"),
    ] {
        assert_eq!(from_text(&ty, text).unwrap_err().0, message);
    }
}

fn nested() -> CqlType {
    let fields =
        vec![("a".into(), CqlType::Int), ("B".into(), CqlType::set(CqlType::Text).freeze())];
    let definition = UserType { keyspace: "ks".into(), name: "Pair".into(), fields };
    CqlType::map(
        CqlType::Text,
        CqlType::tuple(vec![
            CqlType::User { definition: definition.into(), frozen: true },
            CqlType::vector(CqlType::Float, 3),
        ]),
    )
}

#[test]
fn names_go_both_ways() {
    let ty = nested();
    assert_eq!(ty.to_string(), "map<text, frozen<tuple<frozen<\"Pair\">, vector<float, 3>>>>");
    assert_eq!(ty.freeze().to_string(), format!("frozen<{ty}>"));
    for ty in [ty.clone(), ty.freeze(), CqlType::Int, CqlType::list(CqlType::Duration)] {
        assert_eq!(parse_class_name(&class_name(&ty)).unwrap(), (ty, false));
    }
    assert_eq!(parse_class_name("ReversedType(LongType)").unwrap(), (CqlType::Bigint, true));
    assert!(parse_class_name("NoType").is_err());
    for native in Native::all() {
        assert_eq!(native_by_name(native.name()), Some(native));
    }
    for (name, quoted) in [
        ("abc", "abc"),
        ("Abc", "\"Abc\""),
        ("select", "\"select\""),
        ("a\"b", "\"a\"\"b\""),
        ("key", "key"),
    ] {
        assert_eq!(maybe_quote(name), quoted);
    }
}

#[test]
fn json_goes_both_ways() {
    let ty = nested();
    let text = r#"{"k": [{"a": 1, "\"B\"": ["x", "y"]}, [1.0, -2.5, 1.0E10]], "n": [{"a": null, "\"B\"": null}, null]}"#;
    let bytes = from_json(&ty, &parse_json(text).unwrap()).unwrap().unwrap();
    validate(&ty, &bytes).unwrap();
    assert_eq!(to_json(&ty, Some(&bytes)), text);
    let error = |ty: &CqlType, text: &str| from_json(ty, &parse_json(text).unwrap()).unwrap_err().0;
    assert_eq!(error(&CqlType::Int, "true"), "Expected an int value, but got a Boolean: true");
    assert_eq!(error(&CqlType::Text, "1"), "Expected a UTF-8 string, but got a Integer: 1");
    assert_eq!(error(&CqlType::list(CqlType::Int), "[null]"), "Invalid null element in list");
    assert!(parse_json(&"[".repeat(100_000)).is_err());
    assert_eq!(
        parse_json(r#""\ud83d\ude00\u0041""#).unwrap(),
        Json::String("\u{1F600}A".to_owned())
    );
}

#[test]
fn values_have_an_order() {
    let values = |ty: &CqlType, texts: &[&str]| -> Vec<Vec<u8>> {
        texts.iter().map(|text| from_text(ty, text).unwrap()).collect()
    };
    for (ty, mut all) in [
        (CqlType::Int, values(&CqlType::Int, &["", "-5", "0", "7"])),
        (CqlType::Text, values(&CqlType::Text, &["", "a", "ab", "b"])),
        (CqlType::Varint, values(&CqlType::Varint, &["-1000", "-1", "0", "129"])),
        (CqlType::Decimal, values(&CqlType::Decimal, &["-2", "0.5", "7", "1e3"])),
        (CqlType::Double, values(&CqlType::Double, &["-Infinity", "-0.0", "0.0", "1", "NaN"])),
        (CqlType::Boolean, values(&CqlType::Boolean, &["", "false", "true"])),
        (CqlType::Inet, values(&CqlType::Inet, &["1.2.3.4", "127.0.0.1"])),
        (CqlType::Timestamp, values(&CqlType::Timestamp, &["-1", "0", "5"])),
        (CqlType::Date, values(&CqlType::Date, &["1969-12-31", "1970-01-01"])),
    ] {
        let sorted = all.clone();
        all.reverse();
        all.sort_by(|a, b| compare(&ty, a, b));
        assert_eq!(all, sorted, "{ty}");
    }
}

#[test]
fn what_is_no_value_is_refused_in_cassandras_words() {
    let refused = |ty: &CqlType, bytes: &[u8]| validate(ty, bytes).unwrap_err().0;
    assert_eq!(refused(&CqlType::Int, &[1, 2]), "Expected 4 or 0 byte int (2)");
    assert_eq!(refused(&CqlType::Text, &[0xFF]), "String didn't validate.");
    assert_eq!(refused(&CqlType::Date, &[]), "Expected 4 byte long for date (0)");
    assert_eq!(
        refused(&CqlType::list(CqlType::Int), &[0, 0, 0, 1]),
        "Not enough bytes to read a list"
    );
    let list = put_collection(1, [1_i32.to_be_bytes().as_slice()].into_iter());
    validate(&CqlType::list(CqlType::Int), &list).unwrap();
    let long = [list.as_slice(), &[0]].concat();
    assert_eq!(
        refused(&CqlType::list(CqlType::Int), &long),
        "Unexpected extraneous bytes after list value"
    );
}

#[test]
fn texts_of_numbers_are_as_long_as_the_limit_and_no_longer() {
    use super::number::NUMBER_TEXT_BYTES_MAX;
    let digits = |count: usize| "1".repeat(count);
    assert!(parse_varint(&digits(NUMBER_TEXT_BYTES_MAX)).is_ok());
    assert!(parse_varint(&digits(NUMBER_TEXT_BYTES_MAX + 1)).is_err());
    let zeros = |count: usize| format!("{}1", "0".repeat(count - 1));
    assert!(parse_decimal(&zeros(NUMBER_TEXT_BYTES_MAX)).is_ok());
    assert!(parse_decimal(&zeros(NUMBER_TEXT_BYTES_MAX + 1)).is_err());
    for text in ["1e-9223372036854775808", "1e9223372036854775807", "1e-9223372036854775809"] {
        assert!(parse_decimal(text).is_err(), "{text}");
    }
    assert!(parse_decimal("1e2147483647").is_ok() && parse_decimal("1e2147483649").is_err());
}
