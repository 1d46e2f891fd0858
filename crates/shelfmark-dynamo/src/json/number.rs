//! Numbers of attribute values: text of at most 38 significant digits.
//!
//! The one module that knows the key layer, whose number reader checks lengths before it computes.

use shelfmark_keycode::number::{DYNAMO_NUMBER, parse};
use shelfmark_keycode::{Decimal, KeyErrorKind};

use crate::errors::{Error, texts};

/// Parses a number.
pub(super) fn read(text: &str) -> Result<Decimal, Error> {
    let exponent = exponent_of(text)?;
    if let Some(far) = exponent.filter(|exponent| i32::try_from(*exponent).is_err()) {
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        parse(mantissa, &DYNAMO_NUMBER).map_err(|_| Error::validation(texts::no_number(text)))?;
        let rule = if far > 0 { texts::NUMBER_OVERFLOW } else { texts::NUMBER_UNDERFLOW };
        return Err(Error::validation(rule));
    }
    let number = parse(text, &DYNAMO_NUMBER).map_err(|error| {
        let text = match error.kind() {
            KeyErrorKind::TooLong => texts::NUMBER_TOO_LONG.to_owned(),
            KeyErrorKind::OutOfRange => texts::NUMBER_OVERFLOW.to_owned(),
            KeyErrorKind::Underflow => texts::NUMBER_UNDERFLOW.to_owned(),
            KeyErrorKind::Truncated
            | KeyErrorKind::NonCanonical
            | KeyErrorKind::WrongType
            | KeyErrorKind::TooDeep => texts::no_number(text),
        };
        Error::validation(text)
    })?;
    // A zero keeps no exponent, and must be in range all the same.
    match exponent.filter(|_| number.unscaled().bits() == 0) {
        Some(exponent) if exponent > DYNAMO_NUMBER.exponent_max => {
            Err(Error::validation(texts::NUMBER_OVERFLOW))
        }
        Some(exponent) if exponent < DYNAMO_NUMBER.exponent_min => {
            Err(Error::validation(texts::NUMBER_UNDERFLOW))
        }
        _ => Ok(number),
    }
}

/// The fault of a number in a parameter or a literal of PartiQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NumberFault {
    /// The text is no number.
    NoNumber(String),
    /// It breaks a rule of numbers.
    Rule(&'static str),
}

impl From<NumberFault> for Error {
    fn from(fault: NumberFault) -> Self {
        match fault {
            NumberFault::NoNumber(text) => Self::validation(text),
            NumberFault::Rule(text) => Self::validation(text),
        }
    }
}

/// Parses a number as the service does for PartiQL: as [`older`] does, and with a point at either end.
///
/// Source: a public suite that records the service's answers, read 2026-11.
pub(crate) fn parameter(text: &str) -> Result<Decimal, NumberFault> {
    in_32_bits(text, true)
}

/// Parses a number as the service's older layer does: in 32 bits, which an exponent and the difference of
/// digits and exponent can leave.
///
/// Source: as of [`parameter`].
pub(super) fn older(text: &str) -> Result<Decimal, NumberFault> {
    in_32_bits(text, false)
}

fn in_32_bits(text: &str, may_be_bare: bool) -> Result<Decimal, NumberFault> {
    let no_number = || NumberFault::NoNumber(texts::older_no_number(text));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, 0),
        Some((mantissa, exponent)) => {
            let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
            (mantissa, exponent.parse::<i32>().map_err(|_| no_number())?)
        }
    };
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i64::try_from(fraction).unwrap_or(i64::MAX).saturating_sub(i64::from(exponent));
    let scale = i32::try_from(scale).map_err(|_| no_number())?;
    // A number may begin or end with its point.
    let point = mantissa.find('.');
    let is_bare =
        may_be_bare && point.is_some() && mantissa.bytes().any(|byte| byte.is_ascii_digit());
    let whole = if is_bare { spelled_out(mantissa, exponent) } else { text.to_owned() };
    read(&whole).map_err(|error| {
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|byte| *byte == b'0');
        let precision = i32::try_from(digits.count().max(1)).unwrap_or(i32::MAX);
        let rules = [texts::NUMBER_TOO_LONG, texts::NUMBER_OVERFLOW, texts::NUMBER_UNDERFLOW];
        match rules.into_iter().find(|rule| **rule == error.message) {
            Some(texts::NUMBER_OVERFLOW) if precision.wrapping_sub(scale) < 0 => {
                NumberFault::Rule(texts::NUMBER_UNDERFLOW)
            }
            Some(rule) => NumberFault::Rule(rule),
            None => no_number(),
        }
    })
}

/// Writes a number that may begin or end with its point with digits on both sides of it.
fn spelled_out(mantissa: &str, exponent: i32) -> String {
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let zero = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    format!("{sign}{}.{}e{exponent}", zero(whole), zero(fraction))
}

/// Returns the exponent that a number is written with. One of more than 64 bits makes it no number.
fn exponent_of(text: &str) -> Result<Option<i64>, Error> {
    let Some((_, exponent)) = text.split_once(['e', 'E']) else { return Ok(None) };
    let digits = exponent.trim_start_matches(['+', '-']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    let exponent = exponent.trim_start_matches('+').parse();
    exponent.map(Some).map_err(|_| Error::validation(texts::no_number(text)))
}

/// Formats a number without an exponent.
pub(crate) fn plain(number: &Decimal) -> String {
    number.to_string()
}
