//! Decimal numbers of any precision: an unscaled integer and a scale.
//!
//! `1`, `1.0` and `1.00` are equal, hash alike and have one key, while each keeps the scale it was
//! made with; [`Decimal::normalized`] gives the one form that keys decode to.
//!
//! What it is not: no arithmetic; and no text (see [`number`](crate::number)).
//!
//! Invariant: the unscaled integer has at most [`DECIMAL_BITS_MAX`] bits, so that the conversion
//! between binary and decimal, which is quadratic, stays in the milliseconds.

mod parts;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use num_bigint::BigInt;
use num_traits::{ToPrimitive as _, Zero};

use crate::error::{KeyError, KeyErrorKind, Result};
pub(crate) use parts::{DIGITS_MAX, Digits, Parts};

/// The largest unscaled integer, in bits: 16 KiB, or 39,457 decimal digits.
///
/// Ours. Cassandra's own limit is the 65,535 bytes of a key; DynamoDB's numbers have 38 digits.
pub const DECIMAL_BITS_MAX: u64 = 131_072;

/// A decimal number: `unscaled` · 10^−`scale`.
#[derive(Debug, Clone)]
pub struct Decimal {
    unscaled: BigInt,
    scale: i32,
}

impl Decimal {
    /// Creates the number `unscaled` · 10^−`scale`, keeping both unchanged.
    ///
    /// # Errors
    ///
    /// * [`KeyErrorKind::TooLong`]: more than [`DECIMAL_BITS_MAX`] bits. Refuse the number.
    pub fn new(unscaled: BigInt, scale: i32) -> Result<Self> {
        if unscaled.bits() > DECIMAL_BITS_MAX {
            let message = "a decimal has more than 131,072 bits";
            return Err(KeyError::new(KeyErrorKind::TooLong, message));
        }
        Ok(Self { unscaled, scale })
    }

    /// Returns zero, with scale zero.
    #[must_use]
    pub fn zero() -> Self {
        Self { unscaled: BigInt::ZERO, scale: 0 }
    }

    /// Returns the integer before the scale is applied.
    #[must_use]
    pub const fn unscaled(&self) -> &BigInt {
        &self.unscaled
    }

    /// Returns how many of its decimal digits stand behind the point; negative for trailing zeros.
    #[must_use]
    pub const fn scale(&self) -> i32 {
        self.scale
    }

    /// Returns the unscaled integer and the scale.
    #[must_use]
    pub fn into_parts(self) -> (BigInt, i32) {
        (self.unscaled, self.scale)
    }

    /// Returns true if the number is zero, of whatever scale.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.unscaled.is_zero()
    }

    /// Returns the same number with the smallest scale: `1.50` becomes 15 · 10^−1, `100` becomes 1
    /// · 10^2, zero has scale zero.
    ///
    /// (Where the smallest scale would lie below [`i32::MIN`], the scale is `i32::MIN`.)
    #[must_use]
    pub fn normalized(&self) -> Self {
        Parts::of(self).to_decimal_unchecked()
    }

    /// Returns the number of significant decimal digits and the exponent of the first: 0 and 0 for
    /// zero, 3 and 4 for 12,300, 2 and −3 for 0.0012. Leading and trailing zeros do not count.
    #[must_use]
    pub fn magnitude(&self) -> Magnitude {
        if let Some(magnitude) = self.small_magnitude() {
            return magnitude;
        }
        let parts = Parts::of(self);
        let digits = parts.digits.as_slice().len();
        let exponent = if digits == 0 { 0 } else { parts.exponent - 1 };
        Magnitude { digits, exponent }
    }

    /// Returns the magnitude of a number of 64 bits, as most are, without its digits.
    fn small_magnitude(&self) -> Option<Magnitude> {
        let mut unscaled = self.unscaled.magnitude().to_u64()?;
        let Some(greatest) = unscaled.checked_ilog10() else {
            return Some(Magnitude { digits: 0, exponent: 0 });
        };
        let mut digits = greatest as usize + 1;
        while unscaled.is_multiple_of(10) {
            unscaled /= 10;
            digits -= 1;
        }
        Some(Magnitude { digits, exponent: i64::from(greatest) - i64::from(self.scale) })
    }
}

/// The length and size of a number, for limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Magnitude {
    /// Significant decimal digits, without leading and trailing zeros. Zero for zero.
    pub digits: usize,
    /// The power of ten of the first significant digit. Zero for zero.
    pub exponent: i64,
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self { unscaled: BigInt::from(value), scale: 0 }
    }
}

impl Ord for Decimal {
    /// Compares by numeric value, whatever the scales.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.unscaled.cmp(&other.unscaled);
        }
        Parts::of(self).cmp(&Parts::of(other))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = Parts::of(self);
        parts.negative.hash(state);
        parts.exponent.hash(state);
        parts.digits.as_slice().hash(state);
    }
}
