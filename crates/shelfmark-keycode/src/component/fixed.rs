//! Encodes key components of fixed width: integers from `i8` to `u128`, floats, bool.
//!
//! Unsigned integers are big-endian. Signed integers have their sign bit flipped, so that negative
//! ones come first. Floats follow IEEE 754's total order: a negative float is complemented, a
//! positive one gets its sign bit set, so `-NaN < -∞ < -0.0 < 0.0 < ∞ < NaN`, as
//! [`f64::total_cmp`] has it. Bool is `00` or `01`.
//!
//! What it is not: it does not fold NaNs or zeros into one. A face whose language has one NaN
//! (Java, thus CQL) passes that one.

use super::cursor::{take_array, truncated};
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

macro_rules! integer {
    ($($ty:ty, $flip:expr, $put:ident, $take:ident;)*) => {$(
        #[doc = concat!("Appends a `", stringify!($ty), "` in numeric order.")]
        #[inline]
        pub fn $put(out: &mut Vec<u8>, direction: Direction, value: $ty) {
            let ordered = value ^ $flip;
            let ordered = match direction {
                Direction::Ascending => ordered,
                Direction::Descending => !ordered,
            };
            out.extend_from_slice(&ordered.to_be_bytes());
        }

        #[doc = concat!("Reads the `", stringify!($ty), "` that [`", stringify!($put), "`] wrote.")]
        ///
        /// # Errors
        ///
        /// * [`KeyErrorKind::Truncated`]: fewer bytes than the type has. Treat the key as damaged.
        #[inline]
        pub fn $take(input: &mut &[u8], direction: Direction) -> Result<$ty> {
            let ordered = <$ty>::from_be_bytes(take_array(input)?);
            let ordered = match direction {
                Direction::Ascending => ordered,
                Direction::Descending => !ordered,
            };
            Ok(ordered ^ $flip)
        }
    )*};
}

integer! {
    u8, 0, put_u8, take_u8;
    u16, 0, put_u16, take_u16;
    u32, 0, put_u32, take_u32;
    u64, 0, put_u64, take_u64;
    u128, 0, put_u128, take_u128;
    i8, i8::MIN, put_i8, take_i8;
    i16, i16::MIN, put_i16, take_i16;
    i32, i32::MIN, put_i32, take_i32;
    i64, i64::MIN, put_i64, take_i64;
    i128, i128::MIN, put_i128, take_i128;
}

macro_rules! float {
    ($($ty:ty, $bits:ty, $put_bits:ident, $take_bits:ident, $put:ident, $take:ident;)*) => {$(
        #[doc = concat!("Appends a `", stringify!($ty), "` in the order of `total_cmp`.")]
        ///
        /// Every bit pattern has its own bytes, NaNs and `-0.0` too.
        #[inline]
        pub fn $put(out: &mut Vec<u8>, direction: Direction, value: $ty) {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let bits = value.to_bits();
            let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
            $put_bits(out, direction, ordered);
        }

        #[doc = concat!("Reads the `", stringify!($ty), "` that [`", stringify!($put), "`] wrote.")]
        ///
        /// # Errors
        ///
        /// * [`KeyErrorKind::Truncated`]: fewer bytes than the type has. Treat the key as damaged.
        #[inline]
        pub fn $take(input: &mut &[u8], direction: Direction) -> Result<$ty> {
            const SIGN: $bits = 1 << (<$bits>::BITS - 1);
            let ordered = $take_bits(input, direction)?;
            let bits = if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN };
            Ok(<$ty>::from_bits(bits))
        }
    )*};
}

float! {
    f32, u32, put_u32, take_u32, put_f32, take_f32;
    f64, u64, put_u64, take_u64, put_f64, take_f64;
}

/// Appends a bool; `false` comes before `true`.
#[inline]
pub fn put_bool(out: &mut Vec<u8>, direction: Direction, value: bool) {
    out.push(u8::from(value) ^ direction.mask());
}

/// Decodes the output of [`put_bool`].
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`]: no byte left. Treat the key as damaged.
/// * [`KeyErrorKind::NonCanonical`]: neither of the two bytes. Treat the key as damaged.
#[inline]
pub fn take_bool(input: &mut &[u8], direction: Direction) -> Result<bool> {
    let Some((byte, rest)) = input.split_first() else { return Err(truncated(0)) };
    let value = match byte ^ direction.mask() {
        0 => false,
        1 => true,
        _ => return Err(KeyError::at(KeyErrorKind::NonCanonical, 0, "a bool is 00 or 01")),
    };
    *input = rest;
    Ok(value)
}

/// Skips `width` bytes.
pub(crate) fn skip_fixed(input: &mut &[u8], width: usize) -> Result<()> {
    match input.split_at_checked(width) {
        Some((_, rest)) => {
            *input = rest;
            Ok(())
        }
        None => Err(truncated(input.len())),
    }
}
