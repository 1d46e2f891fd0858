//! Numbers of attribute values: text of at most 38 significant digits.
//!
//! The one module that knows the key layer, whose number reader checks lengths before it computes.

use shelfmark_keycode::number::{DYNAMO_NUMBER, parse};
use shelfmark_keycode::{Decimal, KeyErrorKind};

use crate::errors::{Error, texts};

/// Parses a number.
pub(super) fn read(text: &str) -> Result<Decimal, Error> {
    let exponent = exponent_of(text);
    if exponent.is_some_and(|exponent| i32::try_from(exponent).is_err()) {
        return Err(Error::validation(texts::no_number(text)));
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

/// Returns the exponent that a number is written with; one of more than 64 bits is the largest.
fn exponent_of(text: &str) -> Option<i64> {
    let (_, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.trim_start_matches(['+', '-']);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| exponent.trim_start_matches('+').parse().unwrap_or(i64::MAX))
}

/// Formats a number without an exponent.
pub(crate) fn plain(number: &Decimal) -> String {
    number.to_string()
}
