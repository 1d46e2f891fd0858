//! Adds and subtracts decimals, within the digits that a number may have.
//!
//! Source of the limits: DynamoDB API, data type Number, 38 digits, read 2026-11; they are those of
//! the one face that does arithmetic on decimals in the store.

use num_bigint::BigInt;
use shelfmark_keycode::Decimal;
use shelfmark_keycode::number::check_dynamo_number;

/// Largest difference of scales of which a sum of 38 digits can be exact.
const SCALE_DISTANCE_MAX: u32 = 512;

/// Exact arithmetic; `None` when the result has too many digits or is out of range.
pub(crate) trait Arithmetic: Sized {
    fn plus(&self, other: &Self) -> Option<Self>;
    fn minus(&self, other: &Self) -> Option<Self>;
}

impl Arithmetic for Decimal {
    fn plus(&self, other: &Self) -> Option<Self> {
        combine(self, other, |a, b| a + b)
    }

    fn minus(&self, other: &Self) -> Option<Self> {
        combine(self, other, |a, b| a - b)
    }
}

fn combine(a: &Decimal, b: &Decimal, with: impl Fn(BigInt, BigInt) -> BigInt) -> Option<Decimal> {
    let (a, b) = (a.normalized(), b.normalized());
    let scale = match (a.is_zero(), b.is_zero()) {
        (true, _) => b.scale(),
        (_, true) => a.scale(),
        _ => a.scale().max(b.scale()),
    };
    let sum =
        Decimal::new(with(at_scale(&a, scale)?, at_scale(&b, scale)?), scale).ok()?.normalized();
    check_dynamo_number(&sum).ok()?;
    Some(sum)
}

fn at_scale(number: &Decimal, scale: i32) -> Option<BigInt> {
    if number.is_zero() {
        return Some(BigInt::ZERO);
    }
    let distance = u32::try_from(scale.checked_sub(number.scale())?).ok()?;
    (distance <= SCALE_DISTANCE_MAX).then(|| number.unscaled() * BigInt::from(10).pow(distance))
}
