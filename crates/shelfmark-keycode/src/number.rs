//! Numbers as text: parsed within limits, written without an exponent.
//!
//! What it is not: not CQL's literals (its parser knows those) and no arithmetic.
//!
//! Invariant: work and memory are bounded by the length of the text, which is checked first;
//! `1E+999999999` is a handful of bytes here, never a billion digits.

use std::fmt;

use num_traits::ToPrimitive as _;

use crate::component::put_parts;
use crate::decimal::{DIGITS_MAX, Decimal, Digits, Parts};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// Limits of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberLimits {
    /// The longest text, in bytes, with all its needless zeros.
    pub text_bytes_max: usize,
    /// The most significant digits; leading and trailing zeros do not count.
    pub digits_max: usize,
    /// The smallest power of ten of the first significant digit.
    pub exponent_min: i64,
    /// The largest power of ten of the first significant digit.
    pub exponent_max: i64,
}

/// The limits of a DynamoDB number: 38 digits, from 1E-130 to 9.99…E+125, either sign, or zero.
///
/// Source: DynamoDB Developer Guide, "Naming rules and data types", read 2026-11. The length of the
/// text is ours: any number that fits has a plain form of at most 171 characters.
pub const DYNAMO_NUMBER: NumberLimits =
    NumberLimits { text_bytes_max: 1_024, digits_max: 38, exponent_min: -130, exponent_max: 125 };

/// The widest limits, for text of at most 64 KiB: whatever they allow, a [`Decimal`] holds.
///
/// Limits of the caller that are wider count as these. The exponents are ours: those of 32 bits,
/// less the digits of the longest number.
pub const ANY_NUMBER: NumberLimits = NumberLimits {
    text_bytes_max: 65_536,
    digits_max: DIGITS_MAX - 1,
    exponent_min: -2_147_440_000,
    exponent_max: 2_147_440_000,
};

impl NumberLimits {
    /// Returns the narrower of both, limit by limit.
    fn within(&self, other: &Self) -> Self {
        Self {
            text_bytes_max: self.text_bytes_max.min(other.text_bytes_max),
            digits_max: self.digits_max.min(other.digits_max),
            exponent_min: self.exponent_min.max(other.exponent_min),
            exponent_max: self.exponent_max.min(other.exponent_max),
        }
    }
}

/// The longest plain form that [`Decimal`] writes by itself, in characters.
const DISPLAY_CHARS_MAX: usize = 400;

/// Parses a number such as `-12.50`, `.5`, `5.` or `1e-7`; the result has the smallest scale.
///
/// # Errors
///
/// * [`KeyErrorKind::WrongType`]: no number (empty, blanks, `NaN`, `0x10`, …). Refuse it.
/// * [`KeyErrorKind::TooLong`]: longer text, or more significant digits, than the limits allow.
/// * [`KeyErrorKind::OutOfRange`]: a larger magnitude than the limits allow.
/// * [`KeyErrorKind::Underflow`]: a smaller magnitude than the limits allow, and not zero.
pub fn parse(text: &str, limits: &NumberLimits) -> Result<Decimal> {
    parse_parts(text, limits)?.to_decimal()
}

/// Appends the key of a number given as text: [`parse`] and [`put_decimal`](crate::put_decimal)
/// in one step, without the number between them.
///
/// # Errors
///
/// As [`parse`]; `out` is as before.
pub fn put_number(
    out: &mut Vec<u8>,
    direction: Direction,
    text: &str,
    limits: &NumberLimits,
) -> Result<()> {
    put_parts(out, direction, &parse_parts(text, limits)?);
    Ok(())
}

/// Checks the limits of a number that was not parsed within [`DYNAMO_NUMBER`], such as the result
/// of a sum.
///
/// # Errors
///
/// * [`KeyErrorKind::TooLong`]: more than 38 significant digits. Refuse it.
/// * [`KeyErrorKind::OutOfRange`]: 1E+126 or more. Refuse it.
/// * [`KeyErrorKind::Underflow`]: nearer to zero than 1E-130, and not zero. Refuse it.
pub fn check_dynamo_number(number: &Decimal) -> Result<()> {
    let magnitude = number.magnitude();
    if magnitude.digits > DYNAMO_NUMBER.digits_max {
        return Err(too_many_digits(None));
    }
    check_exponent(magnitude.exponent, &DYNAMO_NUMBER)
}

/// Writes a number without an exponent and without needless zeros: `100`, `-0.5`, `12.34`.
///
/// # Errors
///
/// * [`KeyErrorKind::TooLong`]: it would have more than `chars_max` characters. Write it with an
///   exponent (its [`Display`](fmt::Display) does), or refuse it.
pub fn to_plain(number: &Decimal, chars_max: usize) -> Result<String> {
    if let Some(text) = SmallText::of(number)
        && text.as_str().len() <= chars_max
    {
        return Ok(text.as_str().to_owned());
    }
    let parts = Parts::of(number);
    let digits = parts.digits.as_slice();
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    // Zeros between the point and the digits, and between the digits and the point.
    let before = usize::try_from(parts.exponent.saturating_neg()).unwrap_or(0);
    let behind = usize::try_from(parts.exponent.saturating_sub(count)).unwrap_or(0);
    let chars = digits.len().saturating_add(before).saturating_add(behind).saturating_add(3);
    if chars > chars_max.saturating_add(3) {
        let message = "a number is too long without an exponent";
        return Err(KeyError::new(KeyErrorKind::TooLong, message));
    }
    let mut text = String::with_capacity(chars);
    if parts.negative {
        text.push('-');
    }
    let whole = usize::try_from(parts.exponent).unwrap_or(0).min(digits.len());
    let (whole, fraction) = digits.split_at_checked(whole).unwrap_or((digits, &[]));
    push_digits(&mut text, whole);
    text.extend(std::iter::repeat_n('0', behind));
    if whole.is_empty() {
        text.push('0');
    }
    if !fraction.is_empty() {
        text.push('.');
        text.extend(std::iter::repeat_n('0', before));
        push_digits(&mut text, fraction);
    }
    if text.len() > chars_max {
        let message = "a number is too long without an exponent";
        return Err(KeyError::new(KeyErrorKind::TooLong, message));
    }
    Ok(text)
}

/// The plain text of a number of 64 bits with few places, as most are; on the stack.
struct SmallText {
    /// The text stands at the end.
    bytes: [u8; Self::BYTES_MAX],
    begin: usize,
}

impl SmallText {
    /// Enough for a sign, a point, and 20 digits: those of 64 bits, or a zero and 19 places.
    const BYTES_MAX: usize = 24;

    /// Returns the text; `None` for other numbers.
    fn of(number: &Decimal) -> Option<Self> {
        let mut unscaled = number.unscaled().to_i64()?;
        let mut places = number.scale();
        while places > 0 && unscaled != 0 && unscaled % 10 == 0 {
            unscaled /= 10;
            places -= 1;
        }
        if unscaled == 0 || places < 0 {
            let zeros = if unscaled == 0 { 0 } else { places.unsigned_abs() };
            let unit = 10_i64.checked_pow(zeros)?;
            unscaled = unscaled.checked_mul(unit)?;
            places = 0;
        }
        let places = u32::try_from(places).ok()?;
        let unit = 10_u64.checked_pow(places)?;
        let (mut whole, mut fraction) =
            (unscaled.unsigned_abs() / unit, unscaled.unsigned_abs() % unit);
        let mut text = Self { bytes: [0; Self::BYTES_MAX], begin: Self::BYTES_MAX };
        for _ in 0..places {
            fraction = text.put_last_digit(fraction);
        }
        if places > 0 {
            text.put(b'.');
        }
        whole = text.put_last_digit(whole);
        while whole > 0 {
            whole = text.put_last_digit(whole);
        }
        if unscaled < 0 {
            text.put(b'-');
        }
        Some(text)
    }

    /// Puts the last digit in front of the text, and returns the digits before it.
    fn put_last_digit(&mut self, number: u64) -> u64 {
        let [.., digit] = (number % 10).to_be_bytes();
        self.put(b'0' + digit);
        number / 10
    }

    fn put(&mut self, byte: u8) {
        self.begin -= 1;
        if let Some(place) = self.bytes.get_mut(self.begin) {
            *place = byte;
        }
    }

    fn as_str(&self) -> &str {
        let bytes = self.bytes.get(self.begin..).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl fmt::Display for Decimal {
    /// Writes the number without needless zeros: plainly up to 400 characters, else as `1.2E+999`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = SmallText::of(self) {
            return f.pad(text.as_str());
        }
        if let Ok(plain) = to_plain(self, DISPLAY_CHARS_MAX) {
            return f.pad(&plain);
        }
        let parts = Parts::of(self);
        let mut text = String::new();
        if parts.negative {
            text.push('-');
        }
        let (first, others) = parts.digits.as_slice().split_at_checked(1).unwrap_or_default();
        push_digits(&mut text, first);
        if !others.is_empty() {
            text.push('.');
            push_digits(&mut text, others);
        }
        f.pad(&format!("{text}E{:+}", parts.exponent - 1))
    }
}

fn push_digits(text: &mut String, digits: &[u8]) {
    text.extend(digits.iter().map(|digit| char::from(b'0' + digit)));
}

fn parse_parts(text: &str, limits: &NumberLimits) -> Result<Parts> {
    let limits = &limits.within(&ANY_NUMBER);
    if text.len() > limits.text_bytes_max {
        let message = "the text of a number is too long";
        return Err(KeyError::at(KeyErrorKind::TooLong, limits.text_bytes_max, message));
    }
    let mut rest = text.as_bytes();
    let no_number = |rest: &[u8]| {
        let message = "the text is no number";
        Err(KeyError::at(KeyErrorKind::WrongType, text.len() - rest.len(), message))
    };
    let negative = take_sign(&mut rest);
    let mut mantissa = Mantissa::new();
    let whole = take_digits(&mut rest, |digit| mantissa.push(digit, true));
    let mut fraction = 0;
    if let Some((b'.', after)) = rest.split_first() {
        rest = after;
        fraction = take_digits(&mut rest, |digit| mantissa.push(digit, false));
    }
    if whole + fraction == 0 {
        return no_number(rest);
    }
    let mut exponent = 0_i64;
    if let Some((b'e' | b'E', after)) = rest.split_first() {
        rest = after;
        let below_zero = take_sign(&mut rest);
        // Saturates: whatever is beyond is out of every range.
        let count = take_digits(&mut rest, |digit| {
            exponent = exponent.saturating_mul(10).saturating_add(i64::from(digit));
        });
        if count == 0 {
            return no_number(rest);
        }
        if below_zero {
            exponent = -exponent;
        }
    }
    if !rest.is_empty() {
        return no_number(rest);
    }
    mantissa.finish(negative, exponent, limits)
}

fn take_sign(rest: &mut &[u8]) -> bool {
    match rest.split_first() {
        Some((sign @ (b'+' | b'-'), after)) => {
            *rest = after;
            *sign == b'-'
        }
        _ => false,
    }
}

/// Passes each leading digit to `digit` and returns how many there were.
fn take_digits(rest: &mut &[u8], mut digit: impl FnMut(u8)) -> usize {
    let before = rest.len();
    while let Some((character @ b'0'..=b'9', after)) = rest.split_first() {
        digit(character - b'0');
        *rest = after;
    }
    before - rest.len()
}

/// The digits of a number while they are read.
struct Mantissa {
    digits: Digits,
    /// Digits in front of the point from the first significant one on; negative: zeros behind it.
    exponent: i64,
    started: bool,
}

impl Mantissa {
    const fn new() -> Self {
        Self { digits: Digits::new(), exponent: 0, started: false }
    }

    fn push(&mut self, digit: u8, whole: bool) {
        self.started |= digit != 0;
        if self.started {
            self.digits.push(digit);
        }
        match (whole, self.started) {
            (true, true) => self.exponent += 1,
            (false, false) => self.exponent -= 1,
            _ => {}
        }
    }

    fn finish(mut self, negative: bool, exponent: i64, limits: &NumberLimits) -> Result<Parts> {
        self.digits.trim();
        let digits = self.digits;
        if digits.as_slice().is_empty() {
            return Ok(Parts::zero());
        }
        if digits.as_slice().len() > limits.digits_max {
            return Err(too_many_digits(Some(0)));
        }
        let exponent = self.exponent.saturating_add(exponent);
        check_exponent(exponent.saturating_sub(1), limits).map_err(|error| error.moved(0))?;
        Ok(Parts { negative, exponent, digits })
    }
}

fn check_exponent(exponent: i64, limits: &NumberLimits) -> Result<()> {
    if exponent > limits.exponent_max {
        return Err(KeyError::new(
            KeyErrorKind::OutOfRange,
            "the magnitude of a number is too large",
        ));
    }
    if exponent < limits.exponent_min {
        return Err(KeyError::new(
            KeyErrorKind::Underflow,
            "the magnitude of a number is too small",
        ));
    }
    Ok(())
}

const fn too_many_digits(position: Option<usize>) -> KeyError {
    let message = "a number has too many significant digits";
    match position {
        Some(position) => KeyError::at(KeyErrorKind::TooLong, position, message),
        None => KeyError::new(KeyErrorKind::TooLong, message),
    }
}
