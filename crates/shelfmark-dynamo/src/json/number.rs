//! Numbers of attribute values: text of at most 38 significant digits.
//!
//! The one module that knows the key layer, whose number reader checks lengths before it computes.

use shelfmark_keycode::number::{DYNAMO_NUMBER, parse};
use shelfmark_keycode::{Decimal, KeyErrorKind};

use crate::errors::{Error, texts};

/// Parses a number.
pub(super) fn read(text: &str) -> Result<Decimal, Error> {
    parse(text, &DYNAMO_NUMBER).map_err(|error| {
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
    })
}

/// Formats a number without an exponent.
pub(crate) fn plain(number: &Decimal) -> String {
    number.to_string()
}
