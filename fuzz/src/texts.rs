//! Text from nowhere into the parsers of hand-made keys: lexicographic integers, ULIDs, numbers.
//!
//! Input: a byte that names the parser, then its text. What parses must print as it was, or, where
//! several texts mean one value, print as something that parses to the same.

use num_bigint::BigInt;
use shelfmark_keycode as keycode;
use shelfmark_keycode::number::{self, ANY_NUMBER, DYNAMO_NUMBER};
use shelfmark_keycode::{Decimal, Direction, Overflow, Ulid, UlidGenerator, lexint};

use crate::input::Input;

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.below(6) {
        0 => lexint_text(&text(&mut input)),
        1 => lexint_bytes(input.rest()),
        2 => lexint_numbers(input.u64(), input.u64()),
        3 => ulid_text(&text(&mut input)),
        4 => ulids(&mut input),
        _ => numbers(&text(&mut input)),
    }
}

fn text(input: &mut Input<'_>) -> String {
    String::from_utf8_lossy(input.rest()).into_owned()
}

fn lexint_text(text: &str) {
    match lexint::from_hex(text) {
        Ok(number) => assert_eq!(lexint::to_hex(number), text),
        Err(error) => assert!(error.position().is_none_or(|at| at <= text.len()), "{error}"),
    }
}

fn lexint_bytes(bytes: &[u8]) {
    let mut rest = bytes;
    match lexint::take(&mut rest) {
        Ok(number) => {
            let mut again = Vec::new();
            lexint::put(&mut again, number);
            assert_eq!(bytes.strip_suffix(rest), Some(&again[..]));
        }
        Err(error) => {
            assert_eq!(rest, bytes, "an error moved the input");
            assert!(error.position().is_none_or(|at| at <= bytes.len()), "{error}");
        }
    }
}

fn lexint_numbers(first: u64, second: u64) {
    let key = |number: u64| {
        let mut key = Vec::new();
        lexint::put(&mut key, number);
        assert_eq!(lexint::take(&mut &key[..]), Ok(number));
        key
    };
    assert_eq!(key(first).cmp(&key(second)), first.cmp(&second), "{first} and {second}");
}

fn ulid_text(text: &str) {
    match text.parse::<Ulid>() {
        Ok(ulid) => {
            assert_eq!(ulid.to_string(), text.to_ascii_uppercase());
            assert_eq!(Ulid::from_bytes(ulid.to_bytes()), ulid);
        }
        Err(error) => assert!(error.position().is_none_or(|at| at <= text.len()), "{error}"),
    }
}

/// A generator whose clock and randomness are the input's.
fn ulids(input: &mut Input<'_>) {
    let overflow = if input.flag() { Overflow::CarryIntoTime } else { Overflow::Refuse };
    let mut generator = UlidGenerator::new(overflow);
    let mut last: Option<Ulid> = None;
    while !input.is_empty() {
        let now = input.u64() >> input.below(64);
        let mut random = input.clone();
        let mut fill = |bytes: &mut [u8]| bytes.fill_with(|| random.byte());
        let Ok(next) = generator.next(now, &mut fill) else { continue };
        assert!(last.is_none_or(|last| next > last), "{last:?} before {next}");
        assert!(next.timestamp_ms() >= now || last.is_some());
        assert_eq!(next.to_string().parse(), Ok(next));
        last = Some(next);
    }
}

fn numbers(text: &str) {
    for limits in [&DYNAMO_NUMBER, &ANY_NUMBER] {
        let parsed = number::parse(text, limits);
        let mut key = b"before".to_vec();
        let put = number::put_number(&mut key, Direction::Ascending, text, limits);
        let value = match parsed {
            Ok(value) => value,
            Err(error) => {
                assert_eq!(put, Err(error), "both parse alike");
                assert_eq!(key, b"before", "an error changed the key");
                assert!(error.position().is_none_or(|at| at <= text.len()), "{error}");
                continue;
            }
        };
        assert_eq!(put, Ok(()));
        let mut expected = b"before".to_vec();
        keycode::put_decimal(&mut expected, Direction::Ascending, &value);
        assert_eq!(key, expected);
        if limits == &DYNAMO_NUMBER {
            assert_eq!(number::check_dynamo_number(&value), Ok(()));
            let plain = number::to_plain(&value, 256).expect("these are short");
            assert_eq!(number::parse(&plain, limits), Ok(value.clone()));
        }
        assert_eq!(number::parse(&value.to_string(), &ANY_NUMBER), Ok(value.clone()));
        if let Some(reference) = reference(text) {
            assert_eq!(value, reference, "{text}");
        }
    }
}

/// Reads a number the slow way; `None` where the exponent is too large for that.
fn reference(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let fraction = mantissa.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
    let unscaled: BigInt = digits.parse().ok()?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Decimal::new(unscaled, scale).ok()
}
