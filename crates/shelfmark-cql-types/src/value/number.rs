//! Varints and decimals: bytes, text and back.

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::Decimal;

use super::{MarshalError, Result};

/// Most digits that a decimal is written with when its text shows every zero; above, the text is
/// scientific. Ours: Cassandra writes them all, which a scale of 2^31 turns into 2 GB.
const PLAIN_DIGITS_MAX: i64 = 20_000;

/// Longest text read as a number, in bytes: reading is quadratic. Ours.
pub(super) const NUMBER_TEXT_BYTES_MAX: usize = 40_000;

/// Reads a varint; no bytes are zero.
#[must_use]
pub fn varint_from_bytes(bytes: &[u8]) -> BigInt {
    BigInt::from_signed_bytes_be(bytes)
}

/// Writes a varint in the fewest bytes.
#[must_use]
pub fn varint_to_bytes(value: &BigInt) -> Vec<u8> {
    value.to_signed_bytes_be()
}

/// Reads a decimal; `None` when it is shorter than its scale or has more than 131,072 bits.
#[must_use]
pub fn decimal_parts(bytes: &[u8]) -> Option<Decimal> {
    let (scale, unscaled) = bytes.split_first_chunk::<4>()?;
    Decimal::new(varint_from_bytes(unscaled), i32::from_be_bytes(*scale)).ok()
}

/// Returns a decimal without zeros at its end, as keys of another face's tables are kept; one that
/// cannot be read stays as it is.
#[must_use]
pub fn plain_decimal(bytes: &Bytes) -> Bytes {
    let Some(number) = decimal_parts(bytes) else { return bytes.clone() };
    let (unscaled, scale) = number.normalized().into_parts();
    decimal_from_parts(&unscaled, scale).into()
}

/// Writes a decimal.
#[must_use]
pub fn decimal_from_parts(unscaled: &BigInt, scale: i32) -> Vec<u8> {
    let mut out = scale.to_be_bytes().to_vec();
    out.extend_from_slice(&varint_to_bytes(unscaled));
    out
}

/// Reads the text of a varint.
///
/// # Errors
///
/// It is none.
pub fn parse_varint(text: &str) -> Result<BigInt> {
    let fail = || MarshalError::new(format!("unable to make int from '{text}'"));
    if text.len() > NUMBER_TEXT_BYTES_MAX || text.contains('_') {
        return Err(fail());
    }
    text.parse().map_err(|_| fail())
}

/// Reads the text of a decimal: `-12`, `1.50`, `1e10`.
///
/// # Errors
///
/// It is none, or its exponent does not fit 32 bits.
pub fn parse_decimal(text: &str) -> Result<Decimal> {
    let fail = || MarshalError::new(format!("unable to make BigDecimal from '{text}'"));
    if text.len() > NUMBER_TEXT_BYTES_MAX || text.contains('_') {
        return Err(fail());
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| fail())?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if fraction.starts_with(['+', '-']) || digits.trim_start_matches(['+', '-']).is_empty() {
        return Err(fail());
    }
    let unscaled: BigInt = digits.parse().map_err(|_| fail())?;
    let places = i64::try_from(fraction.len()).map_err(|_| fail())?;
    let scale = places.checked_sub(exponent).and_then(|scale| i32::try_from(scale).ok());
    let scale = scale.ok_or_else(fail)?;
    Decimal::new(unscaled, scale).map_err(|_| fail())
}

/// Splits the digits of the unscaled integer from its sign.
fn sign_and_digits(value: &Decimal) -> (&'static str, String) {
    let text = value.unscaled().to_string();
    match text.strip_prefix('-') {
        Some(digits) => ("-", digits.to_owned()),
        None => ("", text),
    }
}

/// Writes a decimal with all its zeros, as Java's `toPlainString`.
pub(super) fn decimal_to_plain(value: &Decimal) -> String {
    let scale = i64::from(value.scale());
    if scale.abs() > PLAIN_DIGITS_MAX {
        return decimal_to_scientific(value);
    }
    let (sign, digits) = sign_and_digits(value);
    let Ok(places) = usize::try_from(scale) else {
        if digits == "0" {
            return digits;
        }
        let zeros = "0".repeat(usize::try_from(-scale).unwrap_or(0));
        return format!("{sign}{digits}{zeros}");
    };
    point(sign, &digits, places)
}

/// Puts the decimal point `places` digits from the right.
fn point(sign: &str, digits: &str, places: usize) -> String {
    if places == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// Writes a decimal as Java's `BigDecimal.toString` does: with an exponent when the scale is
/// negative or the number very small.
#[must_use]
pub fn decimal_to_scientific(value: &Decimal) -> String {
    let (sign, digits) = sign_and_digits(value);
    let scale = i64::from(value.scale());
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let adjusted = length - 1 - scale;
    if scale >= 0 && adjusted >= -6 {
        return point(sign, &digits, usize::try_from(scale).unwrap_or(0));
    }
    let (first, rest) = digits.split_at(1);
    let fraction = if rest.is_empty() { String::new() } else { format!(".{rest}") };
    let exponent = if adjusted == 0 { String::new() } else { format!("E{adjusted:+}") };
    format!("{sign}{first}{fraction}{exponent}")
}

/// Writes a double as Java does: `1.0`, `1.0E10`, `NaN`, `Infinity`.
pub(super) fn double_to_text(value: f64) -> String {
    let digits = java_digits(format!("{value:e}"), || format!("{value:.1e}"));
    java_float(&digits, value.is_nan(), value.is_infinite(), value.is_sign_negative())
}

/// Writes a float as Java does.
pub(super) fn float_to_text(value: f32) -> String {
    let digits = java_digits(format!("{value:e}"), || format!("{value:.1e}"));
    java_float(&digits, value.is_nan(), value.is_infinite(), value.is_sign_negative())
}

/// Returns the digits that Java writes: where one would do, the nearest two, as of `4.9E-324`.
fn java_digits(shortest: String, two: impl FnOnce() -> String) -> String {
    if shortest.contains('.') {
        return shortest;
    }
    let two = two();
    if two.contains(".0") { shortest } else { two }
}

/// Turns Rust's shortest scientific form into Java's: plain between 10^-3 and 10^7.
fn java_float(scientific: &str, nan: bool, infinite: bool, negative: bool) -> String {
    let sign = if negative { "-" } else { "" };
    if nan {
        return "NaN".to_owned();
    }
    if infinite {
        return format!("{sign}Infinity");
    }
    let unsigned = scientific.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if digits.trim_matches('0').is_empty() {
        return format!("{sign}0.0");
    }
    if (-3..7).contains(&exponent) {
        let text = match usize::try_from(exponent) {
            Ok(whole) => {
                let padded = format!("{digits:0<width$}", width = whole + 2);
                let (left, right) = padded.split_at(whole + 1);
                format!("{left}.{right}")
            }
            Err(_) => {
                let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
                format!("0.{zeros}{digits}")
            }
        };
        return format!("{sign}{text}");
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}E{exponent}")
}
