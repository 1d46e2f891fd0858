//! Sums of floats that carry what rounding loses, and averages that do not overflow.
//!
//! What it is not: sums of integers and decimals, which lose nothing.
//!
//! Source: Cassandra 5.0, answers recorded 2026-11 (`asked_sums.txt`): Kahan's summation.

use num_bigint::BigInt;
use num_traits::ToPrimitive as _;

use super::numeric::{Number, compute, divide_half_even};
use crate::value::CqlType;

/// Holds the sum of the floats so far.
#[derive(Debug, Clone, Default)]
pub(super) struct FloatSum {
    sum: f64,
    /// Holds what the last addition rounded away.
    compensation: f64,
    /// The sum without compensation, which keeps its infinities.
    plain: f64,
    /// The sum in decimals, from the addition on that would have overflowed.
    wide: Option<Number>,
}

impl FloatSum {
    /// Adds a number.
    pub(super) fn add(&mut self, value: f64) {
        let before = self.sum;
        self.plain += value;
        let own = value - self.compensation;
        self.sum = before + own;
        self.compensation = (self.sum - before) - own;
        let wide = match self.wide.take() {
            None if self.sum.is_infinite() && before.is_finite() => Number::Float(before),
            None => return,
            Some(wide) => wide,
        };
        // Nothing finite is left once an infinity or NaN comes.
        self.wide = compute('+', &wide, &Number::Float(value), &CqlType::Decimal).ok();
    }

    /// Returns the sum.
    pub(super) fn value(&self) -> f64 {
        let sum = self.sum + self.compensation;
        if sum.is_nan() && self.plain.is_infinite() { self.plain } else { sum }
    }

    /// Returns the average of as many numbers.
    pub(super) fn average(&self, count: i64) -> f64 {
        let wide = self.wide.as_ref().and_then(Number::to_decimal);
        match (wide, count.to_f64()) {
            (Some((sum, scale)), _) => {
                Number::Decimal(divide_half_even(&sum, &BigInt::from(count)), scale).to_f64()
            }
            (None, Some(count)) => self.value() / count,
            (None, None) => f64::NAN,
        }
    }
}
