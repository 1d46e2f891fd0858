//! Numbers of any of CQL's types: what operators, sums and averages work on.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{NumOps, One, Pow, Signed, ToPrimitive, Zero};
use shelfmark_keycode::Decimal;

use crate::value::{
    CqlType, Native, decimal_from_parts, decimal_parts, varint_from_bytes, varint_to_bytes,
};

/// A number; integers of all sizes are one variant, because their type is known beside them.
#[derive(Debug, Clone)]
pub(super) enum Number {
    Integer(BigInt),
    Float(f64),
    Decimal(BigInt, i32),
}

/// Places behind the point that a quotient has at least, and at most. Source: Cassandra 5.0,
/// `DecimalType`.
const QUOTIENT_DIGITS_MIN: i64 = 32;

/// Fewest decimal places of a quotient, before zeros at its end are left out. Source: as above.
const QUOTIENT_SCALE_MIN: i64 = 32;
const QUOTIENT_SCALE_MAX: i64 = 1_000;

/// Most digits of a sum, a difference or a product. Source: as above.
const RESULT_DIGITS_MAX: i64 = 10_000;

/// The largest power of ten that two scales may be apart. Ours, for the work it takes.
const SCALE_STEP_MAX: u32 = 20_000;

impl Number {
    /// Reads a value of a numeric type.
    pub(super) fn read(ty: &CqlType, bytes: &[u8]) -> Option<Self> {
        let CqlType::Native(native) = ty else { return None };
        Some(match native {
            Native::Tinyint => Self::Integer(i8::from_be_bytes(bytes.try_into().ok()?).into()),
            Native::Smallint => Self::Integer(i16::from_be_bytes(bytes.try_into().ok()?).into()),
            Native::Int => Self::Integer(i32::from_be_bytes(bytes.try_into().ok()?).into()),
            Native::Bigint | Native::Counter => {
                Self::Integer(i64::from_be_bytes(bytes.try_into().ok()?).into())
            }
            Native::Varint => Self::Integer(varint_from_bytes(bytes)),
            Native::Float => Self::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
            Native::Double => Self::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
            Native::Decimal => {
                let (unscaled, scale) = decimal_parts(bytes)?.into_parts();
                Self::Decimal(unscaled, scale)
            }
            _ => return None,
        })
    }

    /// Writes it as a value of a numeric type; fixed integers wrap around as Java's do.
    pub(super) fn write(&self, ty: &CqlType) -> Option<Vec<u8>> {
        let CqlType::Native(native) = ty else { return None };
        Some(match native {
            Native::Tinyint => wrap(&self.to_integer()?).to_be_bytes().get(7..)?.to_vec(),
            Native::Smallint => wrap(&self.to_integer()?).to_be_bytes().get(6..)?.to_vec(),
            Native::Int => wrap(&self.to_integer()?).to_be_bytes().get(4..)?.to_vec(),
            Native::Bigint | Native::Counter => wrap(&self.to_integer()?).to_be_bytes().to_vec(),
            Native::Varint => varint_to_bytes(&self.to_integer()?),
            Native::Float => to_f32(self.to_f64()).to_be_bytes().to_vec(),
            Native::Double => self.to_f64().to_be_bytes().to_vec(),
            Native::Decimal => {
                let (unscaled, scale) = self.to_decimal()?;
                // A number that no decimal of ours can hold is no value.
                Decimal::new(unscaled.clone(), scale).ok()?;
                decimal_from_parts(&unscaled, scale)
            }
            _ => return None,
        })
    }

    /// Returns the integer towards zero; a float that is none becomes 0 and saturates, as Java's
    /// casts do.
    pub(super) fn to_integer(&self) -> Option<BigInt> {
        Some(match self {
            Self::Integer(n) => n.clone(),
            Self::Float(n) if n.is_nan() => BigInt::ZERO,
            Self::Float(n) => {
                let bounded = n.clamp(-1e300, 1e300).trunc();
                num_traits::FromPrimitive::from_f64(bounded)?
            }
            Self::Decimal(unscaled, scale) => match u32::try_from(*scale) {
                Ok(places) => unscaled / power(places)?,
                Err(_) => unscaled * power(scale.unsigned_abs())?,
            },
        })
    }

    /// Returns the nearest double.
    pub(super) fn to_f64(&self) -> f64 {
        match self {
            Self::Integer(n) => n.to_f64().unwrap_or(f64::NAN),
            Self::Float(n) => *n,
            Self::Decimal(unscaled, scale) => {
                format!("{unscaled}e{}", -i64::from(*scale)).parse().unwrap_or(f64::NAN)
            }
        }
    }

    /// Returns unscaled integer and scale; `None` for NaN and the infinities.
    pub(super) fn to_decimal(&self) -> Option<(BigInt, i32)> {
        match self {
            Self::Integer(n) => Some((n.clone(), 0)),
            Self::Decimal(unscaled, scale) => Some((unscaled.clone(), *scale)),
            Self::Float(n) => {
                // As `BigDecimal.valueOf`: the shortest text of the double.
                let text = crate::value::to_text(&CqlType::Double, &n.to_be_bytes());
                crate::value::parse_decimal(&text).ok().map(Decimal::into_parts)
            }
        }
    }
}

/// Returns the nearest float. Source of the allowance: that is what a conversion is for.
#[expect(clippy::cast_possible_truncation, reason = "rounding to the nearest float is asked for")]
pub(super) const fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Returns the low 64 bits of an integer of any size.
fn wrap(value: &BigInt) -> i64 {
    let bytes = value.to_signed_bytes_be();
    let start = if value.is_negative() { -1 } else { 0 };
    let tail = bytes.get(bytes.len().saturating_sub(8)..).unwrap_or_default();
    tail.iter().fold(start, |out, byte| out << 8 | i64::from(*byte))
}

fn power(exponent: u32) -> Option<BigInt> {
    (exponent <= SCALE_STEP_MAX).then(|| BigInt::from(10).pow(exponent))
}

/// Returns the type of what an operator makes of two numeric types: the wider, floating if either
/// is.
pub(super) fn common_type(left: &CqlType, right: &CqlType) -> Option<CqlType> {
    let (floats_left, size_left) = rank(left)?;
    let (floats_right, size_right) = rank(right)?;
    Some(match (floats_left || floats_right, size_left.max(size_right)) {
        (false, 1) => CqlType::Tinyint,
        (false, 2) => CqlType::Smallint,
        (false, 4) => CqlType::Int,
        (false, 8) => CqlType::Bigint,
        (false, _) => CqlType::Varint,
        (true, 1..=4) => CqlType::Float,
        (true, 8) => CqlType::Double,
        (true, _) => CqlType::Decimal,
    })
}

fn rank(ty: &CqlType) -> Option<(bool, u8)> {
    let CqlType::Native(native) = ty else { return None };
    Some(match native {
        Native::Tinyint => (false, 1),
        Native::Smallint => (false, 2),
        Native::Int => (false, 4),
        Native::Bigint | Native::Counter => (false, 8),
        Native::Varint => (false, 16),
        Native::Float => (true, 4),
        Native::Double => (true, 8),
        Native::Decimal => (true, 16),
        _ => return None,
    })
}

/// Returns true if the type is a number's.
pub(super) fn is_numeric(ty: &CqlType) -> bool {
    rank(ty).is_some()
}

/// Brings two decimals to one scale.
fn align(left: (BigInt, i32), right: (BigInt, i32)) -> Option<(BigInt, BigInt, i32)> {
    let scale = left.1.max(right.1);
    let lift = |(unscaled, own): (BigInt, i32)| {
        let step = u32::try_from(i64::from(scale) - i64::from(own)).ok()?;
        Some(unscaled * power(step)?)
    };
    Some((lift(left)?, lift(right)?, scale))
}

/// Computes in the type of the result. The error is what Java's exception says.
pub(super) fn compute(
    symbol: char,
    left: &Number,
    right: &Number,
    result: &CqlType,
) -> Result<Number, &'static str> {
    const BEYOND: &str = "the result is out of range";
    match result {
        // In floats from the start: an integer is rounded before anything is done with it.
        CqlType::Native(Native::Float) => {
            let (a, b) = (to_f32(left.to_f64()), to_f32(right.to_f64()));
            return Ok(Number::Float(f64::from(computed(symbol, a, b))));
        }
        CqlType::Native(Native::Double) => {
            return Ok(Number::Float(computed(symbol, left.to_f64(), right.to_f64())));
        }
        _ => {}
    }
    if *result == CqlType::Decimal {
        let (a, b) = (operand(left)?, operand(right)?);
        return match symbol {
            '+' => align(a, b).and_then(|(a, b, scale)| rounded(a + b, scale)).ok_or(BEYOND),
            '-' => align(a, b).and_then(|(a, b, scale)| rounded(a - b, scale)).ok_or(BEYOND),
            '*' => {
                let scale = a.1.checked_add(b.1).ok_or(BEYOND)?;
                rounded(a.0 * b.0, scale).ok_or(BEYOND)
            }
            '/' => divide_decimals(a, b),
            _ if b.0.is_zero() && a.0.is_zero() => Err("Division undefined"),
            _ if b.0.is_zero() => Err("Division by zero"),
            _ => remainder(a, b).ok_or(BEYOND),
        };
    }
    let a = left.to_integer().ok_or(BEYOND)?;
    let b = right.to_integer().ok_or(BEYOND)?;
    if matches!(symbol, '/' | '%') && b.is_zero() {
        let is_varint = *result == CqlType::Varint;
        return Err(if is_varint { "BigInteger divide by zero" } else { "/ by zero" });
    }
    Ok(Number::Integer(match symbol {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        '/' => a / b,
        _ => a % b,
    }))
}

fn computed<F: NumOps>(symbol: char, a: F, b: F) -> F {
    match symbol {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        '/' => a / b,
        _ => a % b,
    }
}

/// Returns a number as a decimal. The error is what Java's exception says.
fn operand(number: &Number) -> Result<(BigInt, i32), &'static str> {
    number.to_decimal().ok_or(match number {
        Number::Float(value) if value.is_nan() => "A NaN cannot be converted into a decimal",
        _ => "An infinite number cannot be converted into a decimal",
    })
}

/// Returns the remainder with the scale that Java's `BigDecimal.remainder` gives it: that of the
/// dividend less the divisor times a quotient which keeps no more zeros than it must.
fn remainder(a: (BigInt, i32), b: (BigInt, i32)) -> Option<Number> {
    let (left_scale, right_scale) = (i64::from(a.1), i64::from(b.1));
    let (left, right, common) = align(a, b)?;
    let (quotient, rest) = (&left / &right, &left % &right);
    let preferred = left_scale - right_scale;
    let scale = if quotient.is_zero() || preferred >= 0 {
        left_scale
    } else {
        let digits = quotient.magnitude().to_string();
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let kept = preferred.max(-i64::try_from(zeros).ok()?);
        left_scale.max(kept + right_scale)
    };
    // What is cut off are zeros.
    let step = u32::try_from(i64::from(common) - scale).ok()?;
    Some(Number::Decimal(rest / power(step)?, i32::try_from(scale).ok()?))
}

/// Rounds a decimal half up to as many digits as a result has at most.
fn rounded(unscaled: BigInt, scale: i32) -> Option<Number> {
    // So many bits are fewer digits, and counting digits takes a text.
    if unscaled.bits() <= RESULT_DIGITS_MAX.unsigned_abs() * 3 {
        return Some(Number::Decimal(unscaled, scale));
    }
    let dropped = digits(&unscaled) - RESULT_DIGITS_MAX;
    if dropped <= 0 {
        return Some(Number::Decimal(unscaled, scale));
    }
    let unit = BigInt::from(10).pow(u32::try_from(dropped).ok()?);
    let (quotient, rest) = (&unscaled / &unit, &unscaled % &unit);
    let step = if unscaled.is_negative() { -BigInt::one() } else { BigInt::one() };
    let is_up = rest.magnitude() * 2_u32 >= *unit.magnitude();
    let scale = scale.checked_sub(i32::try_from(dropped).ok()?)?;
    if is_up { rounded(quotient + step, scale) } else { Some(Number::Decimal(quotient, scale)) }
}

fn digits(value: &BigInt) -> i64 {
    i64::try_from(value.magnitude().to_string().len()).unwrap_or(i64::MAX)
}

/// Divides to at least 32 significant digits and 32 decimal places, rounded half up, without zeros
/// at the end.
pub(super) fn divide_decimals(a: (BigInt, i32), b: (BigInt, i32)) -> Result<Number, &'static str> {
    const BEYOND: &str = "the result is out of range";
    if b.0.is_zero() {
        return Err("BigInteger divide by zero");
    }
    let first = (digits(&a.0) - i64::from(a.1)) - (digits(&b.0) - i64::from(b.1));
    let scale = (QUOTIENT_DIGITS_MIN - first)
        .max(i64::from(a.1))
        .max(i64::from(b.1))
        .clamp(QUOTIENT_SCALE_MIN, QUOTIENT_SCALE_MAX);
    // a / 10^sa divided by b / 10^sb at the wanted scale: a · 10^(scale − sa + sb) / b.
    let shift = scale - i64::from(a.1) + i64::from(b.1);
    let steps = u32::try_from(shift.unsigned_abs()).map_err(|_| BEYOND)?;
    let factor = power(steps).ok_or(BEYOND)?;
    let (numerator, denominator) =
        if shift >= 0 { (a.0 * factor, b.0) } else { (a.0, b.0 * factor) };
    let mut quotient = &numerator / &denominator;
    let rest = &numerator % &denominator;
    if rest.magnitude() * 2_u32 >= *denominator.magnitude() {
        let negative = numerator.is_negative() != denominator.is_negative();
        quotient += if negative { -BigInt::one() } else { BigInt::one() };
    }
    let scale = i32::try_from(scale).map_err(|_| BEYOND)?;
    let plain = Decimal::new(quotient, scale).map_err(|_| BEYOND)?.normalized();
    let (unscaled, scale) = plain.into_parts();
    Ok(Number::Decimal(unscaled, scale))
}

/// Divides and rounds to the nearest, of two equally near to the even one.
pub(super) fn divide_half_even(number: &BigInt, by: &BigInt) -> BigInt {
    let (quotient, rest) = (number / by, number % by);
    let twice: BigInt = rest.abs() * 2_i32;
    let step = BigInt::from(if number.is_negative() { -1 } else { 1 });
    let odd = (&quotient % 2_i32) != BigInt::ZERO;
    match twice.cmp(by) {
        Ordering::Greater => quotient + step,
        Ordering::Equal if odd => quotient + step,
        _ => quotient,
    }
}
