//! `CAST(x AS type)`.
//!
//! Source: Cassandra 5.0, `CastFcts`, read 2026-11: numbers to numbers and text; timeuuids to
//! timestamp, date and text; timestamps to date and text; dates to timestamp and text; everything
//! else that has a text form to text.

use shelfmark_cql_protocol::CqlError;

use super::numeric::{Number, is_numeric};
use super::scalar::Scalar;
use super::time::{date_of, moment};
use crate::value::{CqlType, Native, decimal_parts, decimal_to_scientific, parse_decimal, to_text};

/// A function from the bytes of a value to those of the value of another type.
type Conversion = Box<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// Finds the cast from one type to another.
pub fn cast(from: &CqlType, to: &CqlType) -> Option<Scalar> {
    let name = format!("cast_as_{to}");
    let arguments = vec![from.clone()];
    let own = from.clone();
    let make = |body: Conversion| {
        Some(Scalar::strict(&name, arguments.clone(), to.clone(), move |values| {
            Ok(values.first().and_then(|value| body(value)))
        }))
    };
    if from.is_string() && *to == CqlType::Ascii && from != to {
        return None;
    }
    if from == to || (from.is_string() && *to == CqlType::Text) {
        return make(Box::new(|value| Some(value.to_vec())));
    }
    let CqlType::Native(native) = from else { return None };
    if to.is_string() {
        let has_text = !matches!(native, Native::Blob | Native::Empty | Native::Duration);
        return if *native == Native::Decimal {
            make(Box::new(|value| Some(decimal_to_scientific(&decimal_parts(value)?).into_bytes())))
        } else if has_text {
            make(Box::new(move |value| Some(to_text(&own, value).into_bytes())))
        } else {
            None
        };
    }
    if *from == CqlType::Float && *to == CqlType::Decimal {
        // By the digits of the float; those of the double that it is are more.
        return make(Box::new(move |value| {
            let (unscaled, scale) = parse_decimal(&to_text(&own, value)).ok()?.into_parts();
            Number::Decimal(unscaled, scale).write(&CqlType::Decimal)
        }));
    }
    if is_numeric(from) && is_numeric(to) && *to != CqlType::Counter {
        let target = to.clone();
        return make(Box::new(move |value| narrow(Number::read(&own, value)?, &target)));
    }
    // A timestamp may be taken as a varint, and a varint as a bigint.
    if *from == CqlType::Timestamp && matches!(to, CqlType::Native(Native::Bigint | Native::Varint))
    {
        let target = to.clone();
        return make(Box::new(move |value| {
            Number::Integer(i64::from_be_bytes(value.try_into().ok()?).into()).write(&target)
        }));
    }
    let temporal = matches!(native, Native::Timeuuid | Native::Timestamp | Native::Date);
    match to {
        CqlType::Native(Native::Date) if temporal => {
            make(Box::new(move |value| moment(&own, value).map(date_of)))
        }
        CqlType::Native(Native::Timestamp) if temporal => make(Box::new(move |value| {
            moment(&own, value).map(|millis| millis.to_be_bytes().to_vec())
        })),
        _ => None,
    }
}

/// The types that anything is cast from.
const CASTABLE: [Native; 18] = [
    Native::Ascii,
    Native::Bigint,
    Native::Boolean,
    Native::Counter,
    Native::Date,
    Native::Decimal,
    Native::Double,
    Native::Float,
    Native::Inet,
    Native::Int,
    Native::Smallint,
    Native::Text,
    Native::Time,
    Native::Timestamp,
    Native::Timeuuid,
    Native::Tinyint,
    Native::Uuid,
    Native::Varint,
];

/// Returns the casts to a type, as they are shown.
fn signatures(to: &CqlType) -> Vec<String> {
    CASTABLE
        .iter()
        .map(|native| CqlType::Native(*native))
        // A timestamp stands for a number there, and has no cast of its own.
        .filter(|from| *from != CqlType::Timestamp || !is_numeric(to))
        .filter(|from| from != to && cast(from, to).is_some())
        .map(|from| super::scalar::full_signature(&format!("system.cast_as_{to}"), &[from], to))
        .collect()
}

/// Returns the error for a marker that leaves open which cast to a type is meant.
pub fn ambiguous_cast(to: &CqlType) -> CqlError {
    let known = signatures(to);
    CqlError::invalid(format!(
        "Ambiguous call to function system.cast_as_{to} (can be matched by following signatures: {}): use type casts to disambiguate",
        known.join(", ")
    ))
}

/// Returns the error for an argument that no cast to a type takes.
pub fn no_cast(shown: &str, to: &CqlType) -> CqlError {
    let known = signatures(to);
    if known.is_empty() {
        return CqlError::invalid(format!("{shown} cannot be cast to {to}"));
    }
    CqlError::invalid(format!(
        "Invalid call to function system.cast_as_{to}, none of its type signatures match (known type signatures: {})",
        known.join(", ")
    ))
}

/// Narrows a number as Java does: of floats towards zero and saturating (small integers by way of
/// `int`), of integers the low bits.
pub(super) fn narrow(number: Number, target: &CqlType) -> Option<Vec<u8>> {
    if let Number::Float(value) = number {
        let clamped = |least: f64, most: f64| {
            Number::Float(if value.is_nan() { 0.0 } else { value.clamp(least, most) })
        };
        let int = (f64::from(i32::MIN), f64::from(i32::MAX));
        return match target {
            CqlType::Native(Native::Tinyint | Native::Smallint | Native::Int) => {
                clamped(int.0, int.1).write(target)
            }
            // The doubles next to the ends of 64 bits; the upper one is one too large.
            CqlType::Native(Native::Bigint | Native::Counter)
                if value >= 9_223_372_036_854_775_807.0 =>
            {
                Some(i64::MAX.to_be_bytes().to_vec())
            }
            CqlType::Native(Native::Varint) => {
                let whole = narrow(Number::Float(value), &CqlType::Bigint)?;
                Number::Integer(i64::from_be_bytes(whole.try_into().ok()?).into()).write(target)
            }
            CqlType::Native(Native::Bigint | Native::Counter) => {
                clamped(-9_223_372_036_854_775_808.0, value.max(0.0)).write(target)
            }
            _ => number.write(target),
        };
    }
    number.write(target)
}
