//! The one spelling of numbers that items have, where their keys and values are used as cells.

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::{Decimal, KeyType, Value};

use crate::error::Result;

/// Largest power of ten that a number's scale may have to be taken for a whole one.
const SCALE_MAX: u32 = 400;

/// Returns the plain serialisation of a key in the one spelling that items have: numbers have no zeros
/// at their end.
///
/// # Errors
///
/// * `Invalid`: the bytes are no value of the type.
pub fn plainly_spelled(key_type: &KeyType, raw: &[u8]) -> Result<Bytes> {
    let Value::Number(number) = deserialise(key_type, raw)? else {
        return Ok(Bytes::copy_from_slice(raw));
    };
    let mut plain = Vec::with_capacity(raw.len());
    serialise(key_type, &Value::Number(number.normalized()), &mut plain)?;
    Ok(plain.into())
}

/// Returns a value with its number written out: `100`, and not one with two powers of ten.
#[must_use]
pub fn with_whole_digits(value: Value) -> Value {
    match value {
        Value::Number(number) if number.scale() < 0 => match whole(&number) {
            Some(whole) => Decimal::new(whole, 0).map_or(Value::Number(number), Value::Number),
            None => Value::Number(number),
        },
        value => value,
    }
}

/// Returns a number as a whole one, if it is.
#[must_use]
pub fn whole(number: &Decimal) -> Option<BigInt> {
    let number = number.normalized();
    let power = Some(number.scale().unsigned_abs()).filter(|power| *power <= SCALE_MAX)?;
    match number.scale() {
        0 => Some(number.unscaled().clone()),
        1.. => None,
        _ => Some(number.unscaled() * BigInt::from(10).pow(power)),
    }
}
