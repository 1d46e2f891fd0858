//! Registers the functions of numbers by name: `abs`, `exp`, `log`, `log10`, `round`.

use num_bigint::BigInt;
use num_traits::Signed;
use shelfmark_cql_protocol::CqlError;

use super::numeric::Number;
use super::real;
use super::scalar::{NUMERIC, Scalar};
use crate::value::CqlType;

/// Returns the functions of this module by name: one for each numeric type.
pub(super) fn candidates(name: &str) -> Option<Vec<Scalar>> {
    let change: fn(Number) -> Number = match name {
        "abs" => |number| match number {
            Number::Integer(n) => Number::Integer(n.abs()),
            Number::Float(n) => Number::Float(n.abs()),
            Number::Decimal(n, scale) => Number::Decimal(n.abs(), scale),
        },
        "exp" => |number| of_real(number, f64::exp, real::exp),
        "log" => |number| of_real(number, f64::ln, real::ln),
        "log10" => |number| of_real(number, f64::log10, real::log10),
        "round" => |number| match number {
            Number::Integer(n) => Number::Integer(n),
            // As Java's `Math.round`: half up, also below zero; to the next whole number that there is.
            Number::Float(n) => Number::Float(half_up(n)),
            Number::Decimal(n, scale) => round_decimal(n, scale),
        },
        _ => return None,
    };
    let make = |ty: &CqlType| {
        let own = ty.clone();
        let shown = name.to_owned();
        let is_unbounded = own == CqlType::Varint && !matches!(name, "abs" | "round");
        Scalar::strict(name, vec![ty.clone()], ty.clone(), move |values| {
            let Some(number) = values.first().and_then(|value| Number::read(&own, value)) else {
                return Ok(None);
            };
            let number = match number {
                // Of as many digits as it takes, and cut off behind.
                Number::Integer(n) if is_unbounded => Number::Decimal(n, 0),
                number => number,
            };
            check_logarithm(&shown, &number)?;
            let changed = change(number);
            let changed = if shown == "round" { in_range(changed, &own) } else { changed };
            Ok(super::cast::narrow(changed, &own))
        })
    };
    Some(NUMERIC.iter().map(make).collect())
}

/// Returns the nearest whole number, of two equally near the greater.
fn half_up(number: f64) -> f64 {
    let below = number.floor();
    if number - below >= 0.5 { below + 1.0 } else { below }
}

/// Returns a rounded floating number as the integer that it is rounded to: the nearest that 32 bits
/// hold of a `float`, 64 bits of a `double`, and zero of what is no number.
fn in_range(number: Number, ty: &CqlType) -> Number {
    let Number::Float(value) = number else { return number };
    let (least, most) = if *ty == CqlType::Float {
        (f64::from(i32::MIN), f64::from(i32::MAX))
    } else {
        // 2⁶³: the nearest double to the largest integer.
        (-9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0)
    };
    Number::Float(if value.is_nan() { 0.0 } else { value.clamp(least, most) })
}

/// Decimals exactly, all others by way of doubles; and decimals too large for it.
fn of_real(
    number: Number,
    function: fn(f64) -> f64,
    exact: fn((BigInt, i32)) -> Option<Number>,
) -> Number {
    let nearest = function(number.to_f64());
    match number {
        Number::Decimal(unscaled, scale) => exact((unscaled, scale)),
        _ => None,
    }
    .unwrap_or(Number::Float(nearest))
}

/// Refuses logarithms of decimals that have none; of doubles they are infinite, or no numbers.
fn check_logarithm(name: &str, number: &Number) -> Result<(), CqlError> {
    let what = match name {
        "log" => "Natural log",
        "log10" => "Log10",
        _ => return Ok(()),
    };
    match number {
        Number::Decimal(unscaled, _) if !unscaled.is_positive() => {
            Err(CqlError::invalid(format!("{what} of number zero or less")))
        }
        _ => Ok(()),
    }
}

fn round_decimal(unscaled: BigInt, scale: i32) -> Number {
    if scale <= 0 {
        return Number::Decimal(unscaled, scale);
    }
    let negative = unscaled.is_negative();
    let whole = Number::Decimal(unscaled.clone(), scale).to_integer();
    let tenths = Number::Decimal(unscaled, scale.saturating_sub(1)).to_integer();
    match (whole, tenths) {
        (Some(whole), Some(tenths)) => {
            let up: BigInt = (tenths - &whole * 10_i32).abs();
            let step = if up >= BigInt::from(5) { 1 } else { 0 };
            Number::Decimal(if negative { whole - step } else { whole + step }, 0)
        }
        _ => Number::Integer(BigInt::ZERO),
    }
}
