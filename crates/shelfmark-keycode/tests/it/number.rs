//! Numbers as text: what is read, what is refused, what is written.

use std::collections::HashSet;

use num_bigint::BigInt;
use proptest::prelude::*;
use shelfmark_keycode::number::{
    ANY_NUMBER, DYNAMO_NUMBER, NumberLimits, check_dynamo_number, parse, put_number, to_plain,
};
use shelfmark_keycode::{Decimal, Direction, KeyErrorKind, put_decimal};

use crate::values;

const PLAIN_MAX: usize = 200;

fn check(text: &str, plain: &str) {
    let number = parse(text, &DYNAMO_NUMBER).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(to_plain(&number, PLAIN_MAX).as_deref(), Ok(plain), "{text}");
    assert_eq!(check_dynamo_number(&number), Ok(()), "{text}");
    assert_eq!(parse(plain, &DYNAMO_NUMBER), Ok(number), "{text}");
}

fn refused(text: &str, kind: KeyErrorKind) {
    let error = parse(text, &DYNAMO_NUMBER).expect_err(text);
    assert_eq!(error.kind(), kind, "{text}: {error}");
    let mut out = vec![1, 2];
    let error = put_number(&mut out, Direction::Ascending, text, &DYNAMO_NUMBER).expect_err(text);
    assert_eq!((error.kind(), out), (kind, vec![1, 2]), "{text}");
}

#[test]
fn one_number_has_one_plain_form() {
    for (text, plain) in [
        ("0", "0"),
        ("-0", "0"),
        ("0.000", "0"),
        ("0E999999999999999999999", "0"),
        ("1", "1"),
        ("1.0", "1"),
        ("01", "1"),
        ("1e0", "1"),
        ("+1", "1"),
        ("100e-2", "1"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-12.50", "-12.5"),
        ("1E2", "100"),
        ("1.25e+1", "12.5"),
        ("120e-3", "0.12"),
        ("0.00012", "0.00012"),
        ("1e-7", "0.0000001"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ] {
        check(text, plain);
    }
    check("1E+125", &format!("1{}", "0".repeat(125)));
    check("-1E-130", &format!("-0.{}1", "0".repeat(129)));
    check(&format!("{}9{}", "0".repeat(500), "0".repeat(100)), &format!("9{}", "0".repeat(100)));
}

#[test]
fn the_edges_of_a_dynamo_number() {
    use KeyErrorKind::{OutOfRange, TooLong, Underflow};
    let nines = "9".repeat(38);
    let ok = |text: &str| assert!(parse(text, &DYNAMO_NUMBER).is_ok(), "{text}");
    ok(&format!("{nines}E+88"));
    ok(&format!("-{nines}E-130"));
    ok(&format!("{nines}000"));
    ok("1E-130");
    refused(&format!("{nines}E+89"), OutOfRange);
    refused("1E+126", OutOfRange);
    refused("-10E+125", OutOfRange);
    refused("1E+999999999", OutOfRange);
    refused("1E+99999999999999999999999999", OutOfRange);
    refused("9.9E-131", Underflow);
    refused("1E-999999999", Underflow);
    refused("-1E-99999999999999999999999999", Underflow);
    refused(&format!("{nines}1"), TooLong);
    refused(&format!("1.{}1", "0".repeat(37)), TooLong);
    refused(&"1".repeat(100_000), TooLong);
    refused(&"0".repeat(1_025), TooLong);
}

#[test]
fn the_widest_limits_hold_whatever_the_caller_says() {
    use KeyErrorKind::{OutOfRange, TooLong, Underflow};
    let wild = NumberLimits {
        text_bytes_max: usize::MAX,
        digits_max: usize::MAX,
        exponent_min: i64::MIN,
        exponent_max: i64::MAX,
    };
    let check = |text: &str, expected: Option<KeyErrorKind>| {
        let parsed = parse(text, &wild);
        let put = put_number(&mut Vec::new(), Direction::Descending, text, &wild);
        assert_eq!(parsed.err().map(|error| error.kind()), expected);
        assert_eq!(put.err().map(|error| error.kind()), expected);
    };
    let longest = "1".repeat(39_456);
    check(&longest, None);
    check(&format!("{longest}E+2147400544"), None);
    check(&format!("{longest}E-2147479455"), None);
    check(&format!("{longest}1"), Some(TooLong));
    check(&"0".repeat(65_536), None);
    check(&"0".repeat(65_537), Some(TooLong));
    check("1E+2147440000", None);
    check("1E+2147440001", Some(OutOfRange));
    check("1E-2147440000", None);
    check("1E-2147440001", Some(Underflow));
    check("1E+9223372036854775807", Some(OutOfRange));
    check("1E-9223372036854775807", Some(Underflow));
}

#[test]
fn what_is_no_number() {
    for text in [
        "", " ", " 1", "1 ", "+", "-", ".", "e5", "1e", "1e+", "1e5.0", "1.2.3", "--1", "+-1",
        "NaN", "Infinity", "-inf", "0x10", "1_000", "1,5", "١", "½", "1\0", "1f", "1e5e5",
    ] {
        refused(text, KeyErrorKind::WrongType);
    }
    let position = |text| parse(text, &DYNAMO_NUMBER).expect_err(text).position();
    assert_eq!(position(""), Some(0));
    assert_eq!(position("12x"), Some(2));
    assert_eq!(position("1e+"), Some(3));
}

#[test]
fn results_of_arithmetic_are_checked_alike() {
    let decimal =
        |unscaled: i64, scale| Decimal::new(BigInt::from(unscaled), scale).expect("short");
    let kind = |number: &Decimal| check_dynamo_number(number).map_err(|error| error.kind());
    assert_eq!(kind(&decimal(0, i32::MAX)), Ok(()));
    assert_eq!(kind(&decimal(1, -125)), Ok(()));
    assert_eq!(kind(&decimal(10, -125)), Err(KeyErrorKind::OutOfRange));
    assert_eq!(kind(&decimal(100, -124)), Err(KeyErrorKind::OutOfRange));
    assert_eq!(kind(&decimal(10, 131)), Ok(()));
    assert_eq!(kind(&decimal(1, 131)), Err(KeyErrorKind::Underflow));
    let long = BigInt::from(10).pow(38) + 1;
    let long = Decimal::new(long, 0).expect("short");
    assert_eq!(kind(&long), Err(KeyErrorKind::TooLong));
    let zeros = Decimal::new(BigInt::from(10).pow(100), 0).expect("short");
    assert_eq!(kind(&zeros), Ok(()));
}

#[test]
fn long_plain_forms_are_refused_and_displayed_with_an_exponent() {
    let decimal =
        |unscaled: i64, scale| Decimal::new(BigInt::from(unscaled), scale).expect("short");
    let huge = decimal(-125, -1_000_000_000);
    assert_eq!(to_plain(&huge, 1_000).map_err(|error| error.kind()), Err(KeyErrorKind::TooLong));
    assert_eq!(huge.to_string(), "-1.25E+1000000002");
    assert_eq!(decimal(5, i32::MAX).to_string(), "5E-2147483647");
    assert_eq!(decimal(1_250, 3).to_string(), "1.25");
    assert_eq!(decimal(7, -3).to_string(), "7000");
    assert_eq!(Decimal::zero().to_string(), "0");
    // Exactly as long as allowed, and one more.
    let number = decimal(-12_345, 2);
    assert_eq!(to_plain(&number, 7).as_deref(), Ok("-123.45"));
    assert!(to_plain(&number, 6).is_err());
    assert_eq!(to_plain(&decimal(5, 1), 3).as_deref(), Ok("0.5"));
    assert!(to_plain(&decimal(5, 1), 2).is_err());
    assert_eq!(to_plain(&decimal(5, -2), 3).as_deref(), Ok("500"));
    assert_eq!(to_plain(&decimal(-50, 3), 9).as_deref(), Ok("-0.05"));
    assert_eq!(to_plain(&decimal(100, 2), 9).as_deref(), Ok("1"));
    assert_eq!(to_plain(&decimal(0, 2), 9).as_deref(), Ok("0"));
    let least = decimal(i64::MIN, 19);
    assert_eq!(to_plain(&least, 40).as_deref(), Ok("-0.9223372036854775808"));
    assert!(to_plain(&decimal(5, -2), 2).is_err());
}

/// Numbers of 64 bits have a short way of their own to text and magnitude: it must lead where digits do.
#[test]
fn small_numbers_are_written_and_measured_as_their_digits_say() {
    let units = [0, 1, 5, 9, 10, 99, 100, 101, 4_200, 1_000_000, i64::MAX - 7, i64::MAX, i64::MIN];
    for unscaled in units.into_iter().flat_map(|own| [own, own.wrapping_neg()]) {
        for scale in -25..=25 {
            let number = Decimal::new(BigInt::from(unscaled), scale).unwrap();
            let digits = BigInt::from(unscaled).magnitude().to_string();
            let kept = digits.trim_end_matches('0');
            let magnitude = number.magnitude();
            assert_eq!(magnitude.digits, kept.len(), "{unscaled} {scale}");
            let exponent =
                if unscaled == 0 { 0 } else { digits.len() as i64 - 1 - i64::from(scale) };
            assert_eq!(magnitude.exponent, exponent, "{unscaled} {scale}");
            let text = plain_of(&digits, scale, unscaled < 0);
            assert_eq!(to_plain(&number, PLAIN_MAX).as_deref(), Ok(text.as_str()));
            assert_eq!(number.to_string(), text);
            assert_eq!(format!("{number:>60}"), format!("{text:>60}"));
        }
    }
}

/// Returns the plain text of a number by moving the point in its digits.
fn plain_of(digits: &str, scale: i32, is_negative: bool) -> String {
    let zeros = "0".repeat(30);
    let (whole, fraction) = match usize::try_from(scale) {
        Ok(scale) => {
            let padded = format!("{zeros}{digits}");
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            (whole.to_owned(), fraction.to_owned())
        }
        Err(_) => {
            let behind = "0".repeat(scale.unsigned_abs() as usize);
            (format!("{digits}{behind}"), String::new())
        }
    };
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if is_negative && (whole, fraction) != ("0", "") { "-" } else { "" };
    match fraction {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

#[test]
fn magnitude_and_normal_form() {
    let decimal =
        |unscaled: i64, scale| Decimal::new(BigInt::from(unscaled), scale).expect("short");
    let of = |number: Decimal| {
        let magnitude = number.magnitude();
        (magnitude.digits, magnitude.exponent)
    };
    assert_eq!(of(decimal(0, 5)), (0, 0));
    assert_eq!(of(decimal(12_300, 0)), (3, 4));
    assert_eq!(of(decimal(-120, 5)), (2, -3));
    assert_eq!(of(decimal(1, 0)), (1, 0));
    let normal = decimal(12_300, 1).normalized();
    assert_eq!(normal.into_parts(), (BigInt::from(123), -1));
    assert_eq!(decimal(0, 7).normalized().scale(), 0);
    // Where the smallest scale is below the range of scales, it is the end of the range.
    let edge = decimal(100, i32::MIN).normalized();
    assert_eq!((edge.unscaled(), edge.scale()), (&BigInt::from(100), i32::MIN));
    assert!(decimal(0, 3).is_zero() && !decimal(1, 3).is_zero());
    assert_eq!(Decimal::from(-7), decimal(-70, 1));
}

#[test]
fn numbers_are_equal_whatever_their_scale_and_only_then() {
    let decimal =
        |unscaled: i64, scale| Decimal::new(BigInt::from(unscaled), scale).expect("short");
    assert!(decimal(10, 1) == decimal(1, 0));
    for (left, right) in [((1, 0), (2, 0)), ((1, 0), (1, 1)), ((1, 0), (-1, 0)), ((0, 0), (1, 5))] {
        assert!(decimal(left.0, left.1) != decimal(right.0, right.1), "{left:?} {right:?}");
    }
}

#[test]
fn equal_numbers_hash_alike() {
    let decimal =
        |unscaled: i64, scale| Decimal::new(BigInt::from(unscaled), scale).expect("short");
    let mut set = HashSet::new();
    assert!(set.insert(decimal(1, 0)));
    assert!(!set.insert(decimal(10, 1)));
    assert!(set.insert(decimal(-1, 0)));
    assert!(set.insert(decimal(1, 1)));
    assert!(set.insert(decimal(0, 0)));
    assert!(!set.insert(decimal(0, -9)));
}

proptest! {

    #![proptest_config(values::many_cases())]

    #[test]
    fn text_and_decimal_have_the_same_key(text in number_text(), direction in values::direction()) {
        let mut direct = Vec::new();
        match (parse(&text, &ANY_NUMBER), put_number(&mut direct, direction, &text, &ANY_NUMBER)) {
            (Ok(number), Ok(())) => {
                let mut key = Vec::new();
                put_decimal(&mut key, direction, &number);
                prop_assert_eq!(direct, key);
            }
            (Err(error), Err(other)) => prop_assert_eq!(error.kind(), other.kind()),
            (parsed, put) => prop_assert!(false, "{:?} {:?}", parsed, put),
        }
    }

    /// The digits against those of the integer itself, over the edges of 64 and 128 bits.
    #[test]
    fn whole_numbers_are_written_as_integers(
        power in 0..45_u32, step in -1_i32..=1, other in values::integer(),
    ) {
        for value in [BigInt::from(10).pow(power) + step, other] {
            let number = Decimal::new(value.clone(), 0).expect("short");
            let plain = value.to_string();
            prop_assert_eq!(&to_plain(&number, 400)?, &plain);
            prop_assert_eq!(parse(&plain, &ANY_NUMBER)?.normalized(), number);
        }
    }

    #[test]
    fn display_is_read_back(number in values::decimal()) {
        if let Ok(back) = parse(&number.to_string(), &ANY_NUMBER) {
            prop_assert_eq!(back, number);
        } else {
            let exponent = number.magnitude().exponent;
            prop_assert!(exponent.abs() > 2_147_440_000);
        }
    }

    /// Any text comes back, and what is read is what a plain reading of the text says.
    #[test]
    fn any_text(text in "[0-9+.eE-]{0,8}|\\PC{0,4}") {
        if let Ok(number) = parse(&text, &DYNAMO_NUMBER) {
            let float: f64 = text.parse().expect("also a float");
            let back: f64 = number.to_string().parse().expect("also a float");
            prop_assert_eq!(back, float + 0.0);
        }
    }
}

fn number_text() -> impl Strategy<Value = String> {
    "[+-]?[0-9]{0,50}(\\.[0-9]{0,50})?([eE][+-]?[0-9]{1,11})?"
}
