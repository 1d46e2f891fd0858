//! A decimal split into sign, exponent and digits.
//!
//! What it is not: not public; it is the form between a number and its key or its text.
//!
//! Invariant: the digits have neither leading nor trailing zeros, and zero has no digits, no sign
//! and exponent zero, so equal numbers have equal parts.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Pow, ToPrimitive};

use super::Decimal;
use crate::error::{KeyError, KeyErrorKind, Result};

/// The most digits that [`DECIMAL_BITS_MAX`](super::DECIMAL_BITS_MAX) bits can hold.
pub(crate) const DIGITS_MAX: usize = 39_457;
/// The digits of `u128::MAX`, and one more than a DynamoDB number has.
const INLINE: usize = 39;
/// The most digits whose numbers all fit into 64 bits.
const CHUNK_DIGITS: usize = 19;
/// The power of ten with that many zeros.
const CHUNK: u128 = 10_000_000_000_000_000_000;

/// The number 0.d₁d₂d₃… · 10^exponent.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) negative: bool,
    pub(crate) exponent: i64,
    pub(crate) digits: Digits,
}

/// Decimal digits, each 0 to 9, most significant first; on the stack while there are few.
#[derive(Debug, Clone)]
pub(crate) enum Digits {
    Inline { bytes: [u8; INLINE], length: u8 },
    Heap(Vec<u8>),
}

impl Digits {
    pub(crate) const fn new() -> Self {
        Self::Inline { bytes: [0; INLINE], length: 0 }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Inline { bytes, length } => bytes.get(..usize::from(*length)).unwrap_or(bytes),
            Self::Heap(digits) => digits,
        }
    }

    pub(crate) fn push(&mut self, digit: u8) {
        match self {
            Self::Heap(digits) => digits.push(digit),
            Self::Inline { bytes, length } => match bytes.get_mut(usize::from(*length)) {
                Some(place) => {
                    *place = digit;
                    *length += 1;
                }
                None => {
                    let mut digits = Vec::with_capacity(2 * INLINE);
                    digits.extend_from_slice(bytes);
                    digits.push(digit);
                    *self = Self::Heap(digits);
                }
            },
        }
    }

    /// Drops trailing zeros.
    pub(crate) fn trim(&mut self) {
        let kept = self.as_slice().iter().rposition(|digit| *digit != 0).map_or(0, |at| at + 1);
        match self {
            Self::Heap(digits) => digits.truncate(kept),
            Self::Inline { length, .. } => *length = u8::try_from(kept).unwrap_or(*length),
        }
    }

    /// Returns the digits of `value`, none for zero.
    fn of_u128(mut value: u128) -> Self {
        // Chunks of 64 bits, because dividing 128 bits by ten, digit by digit, is slow.
        let mut chunks = [0_u64; 3];
        for chunk in &mut chunks {
            *chunk = u64::try_from(value % CHUNK).unwrap_or(0);
            value /= CHUNK;
        }
        let mut digits = Self::new();
        for chunk in chunks.into_iter().rev() {
            let padded = if digits.as_slice().is_empty() { 0 } else { CHUNK_DIGITS };
            digits.push_u64(chunk, padded);
        }
        digits
    }

    /// Pushes a number below [`CHUNK`], with leading zeros up to `padded` digits.
    fn push_u64(&mut self, mut value: u64, padded: usize) {
        let mut reversed = [0_u8; CHUNK_DIGITS];
        let mut length = 0;
        for place in &mut reversed {
            if value == 0 && length >= padded {
                break;
            }
            *place = u8::try_from(value % 10).unwrap_or(0);
            value /= 10;
            length += 1;
        }
        for digit in reversed.iter().take(length).rev() {
            self.push(*digit);
        }
    }

    /// Returns the number of the digits, if it surely fits.
    fn to_u128(&self) -> Option<u128> {
        let digits = self.as_slice();
        if digits.len() >= INLINE {
            return None;
        }
        let (high, low) = digits.split_at_checked(digits.len().saturating_sub(CHUNK_DIGITS))?;
        let chunk = |digits: &[u8]| digits.iter().fold(0_u64, |sum, d| sum * 10 + u64::from(*d));
        Some(u128::from(chunk(high)) * CHUNK + u128::from(chunk(low)))
    }
}

impl Parts {
    pub(crate) const fn zero() -> Self {
        Self { negative: false, exponent: 0, digits: Digits::new() }
    }

    pub(crate) fn of(decimal: &Decimal) -> Self {
        let (sign, magnitude) = (decimal.unscaled.sign(), decimal.unscaled.magnitude());
        if sign == Sign::NoSign {
            return Self::zero();
        }
        let mut digits = match magnitude.to_u128() {
            Some(small) => Digits::of_u128(small),
            None => Digits::Heap(magnitude.to_radix_be(10)),
        };
        let exponent = length(&digits) - i64::from(decimal.scale);
        digits.trim();
        Self { negative: sign == Sign::Minus, exponent, digits }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.as_slice().is_empty()
    }

    /// Returns the number with the smallest scale that fits.
    ///
    /// # Errors
    ///
    /// [`KeyErrorKind::OutOfRange`] when no scale fits, [`KeyErrorKind::TooLong`] for more digits
    /// than a [`Decimal`] holds.
    pub(crate) fn to_decimal(&self) -> Result<Decimal> {
        let digits = self.digits.as_slice();
        let least = length(&self.digits) - self.exponent;
        let Ok(scale) = i32::try_from(least.max(i64::from(i32::MIN))) else {
            let message = "the exponent of a decimal is below its range";
            return Err(KeyError::new(KeyErrorKind::Underflow, message));
        };
        // Trailing zeros that the smallest scale of all cannot express.
        let zeros = usize::try_from(i64::from(scale) - least).unwrap_or(usize::MAX);
        if digits.len().saturating_add(zeros) > DIGITS_MAX {
            let message = "a decimal has too many digits or too large an exponent";
            return Err(KeyError::new(KeyErrorKind::TooLong, message));
        }
        let mut magnitude = match self.digits.to_u128() {
            Some(small) => BigUint::from(small),
            None => BigUint::from_radix_be(digits, 10).unwrap_or_default(),
        };
        if zeros > 0 {
            magnitude *= BigUint::from(10_u8).pow(zeros);
        }
        let sign = if self.negative { Sign::Minus } else { Sign::Plus };
        Decimal::new(BigInt::from_biguint(sign, magnitude), scale)
    }

    /// Returns the number without checking it: parts of an existing decimal are always valid.
    pub(crate) fn to_decimal_unchecked(&self) -> Decimal {
        self.to_decimal().unwrap_or_else(|_| Decimal::zero())
    }
}

impl Parts {
    /// Compares by numeric value.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        let sign = |parts: &Self| match (parts.is_zero(), parts.negative) {
            (true, _) => 0_i8,
            (false, true) => -1,
            (false, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign != Ordering::Equal {
            return by_sign;
        }
        let by_magnitude = self
            .exponent
            .cmp(&other.exponent)
            .then_with(|| self.digits.as_slice().cmp(other.digits.as_slice()));
        if self.negative { by_magnitude.reverse() } else { by_magnitude }
    }
}

fn length(digits: &Digits) -> i64 {
    i64::try_from(digits.as_slice().len()).unwrap_or(i64::MAX)
}
