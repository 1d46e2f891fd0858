//! Texts of numbers, and decimals of any size.
//!
//! What it is not: arithmetic of fixed sizes.
//!
//! Invariant: no number grows beyond [`INTEGER_BITS_MAX`].

use num_bigint::{BigInt, Sign};
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::Run;
use crate::limits::INTEGER_BITS_MAX;
use crate::value::Thrown;

/// Returns a floating number as Java shows it; `digits` is its shortest form in scientific notation.
fn shown_real(is_negative: bool, digits: &str) -> String {
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let plain: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let sign = if is_negative { "-" } else { "" };
    if !(-3..7).contains(&exponent) {
        let (first, rest) = plain.split_at(1.min(plain.len()));
        let rest = if rest.is_empty() { "0" } else { rest };
        return format!("{sign}{first}.{rest}E{exponent}");
    }
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("{sign}0.{}{plain}", "0".repeat(zeros));
    };
    if whole == 0 {
        return format!("{sign}0.{plain}");
    }
    let padded = format!("{plain:0<whole$}");
    let (before, behind) = padded.split_at(whole);
    let behind = if behind.is_empty() { "0" } else { behind };
    format!("{sign}{before}.{behind}")
}

/// Returns a `double` as Java shows it.
pub(super) fn shown_double(own: f64) -> String {
    if own.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if own.is_sign_negative() { "-" } else { "" };
    if own.is_infinite() {
        return format!("{sign}Infinity");
    }
    if own == 0.0 {
        return format!("{sign}0.0");
    }
    shown_real(own < 0.0, &format!("{:e}", own.abs()))
}

/// Returns a `float` as Java shows it.
pub(super) fn shown_float(own: f32) -> String {
    if own.is_nan() || own.is_infinite() || own == 0.0 {
        return shown_double(f64::from(own));
    }
    shown_real(own < 0.0, &format!("{:e}", own.abs()))
}

fn overflow() -> Box<Thrown> {
    Thrown::arithmetic("BigInteger would overflow supported range")
}

/// Refuses a number that has grown too long.
pub(super) fn checked(own: BigInt) -> Run<BigInt> {
    if own.bits() > INTEGER_BITS_MAX { Err(overflow()) } else { Ok(own) }
}

/// Returns a power.
pub(super) fn power(own: &BigInt, exponent: i32) -> Run<BigInt> {
    let exponent = u32::try_from(exponent).map_err(|_| Thrown::arithmetic("Negative exponent"))?;
    if own.bits().saturating_mul(u64::from(exponent)) > INTEGER_BITS_MAX {
        return Err(overflow());
    }
    checked(own.pow(exponent))
}

/// Returns a power of ten.
fn ten(exponent: i64) -> Run<BigInt> {
    match i32::try_from(exponent) {
        Ok(exponent) => power(&BigInt::from(10), exponent),
        Err(_) => Err(overflow()),
    }
}

/// A decimal: its unscaled number and its scale.
pub(super) type Decimal = (BigInt, i32);

fn scale(own: i64) -> Run<i32> {
    i32::try_from(own).map_err(|_| Thrown::arithmetic("Underflow"))
}

/// Brings two decimals to the same scale.
pub(super) fn aligned(left: &Decimal, right: &Decimal) -> Run<(BigInt, BigInt, i32)> {
    let wanted = left.1.max(right.1);
    let raise = |own: &Decimal| {
        let by = i64::from(wanted) - i64::from(own.1);
        Ok::<_, Box<Thrown>>(if by == 0 { own.0.clone() } else { checked(&own.0 * ten(by)?)? })
    };
    Ok((raise(left)?, raise(right)?, wanted))
}

/// Multiplies two decimals.
pub(super) fn multiply(left: &Decimal, right: &Decimal) -> Run<Decimal> {
    Ok((checked(&left.0 * &right.0)?, scale(i64::from(left.1) + i64::from(right.1))?))
}

/// Divides a number by another and rounds the quotient.
pub(super) fn rounded(number: &BigInt, by: &BigInt, mode: &str) -> Run<BigInt> {
    if by.is_zero() {
        return Err(Thrown::arithmetic("/ by zero"));
    }
    let (quotient, rest) = (number / by, number % by);
    if rest.is_zero() {
        return Ok(quotient);
    }
    let is_negative = (number.sign() == Sign::Minus) != (by.sign() == Sign::Minus);
    let twice: BigInt = rest.abs() * 2_i32;
    let half = twice.cmp(&by.abs());
    let odd = !(&quotient % 2_i32).is_zero();
    let away = match mode {
        "UP" => true,
        "DOWN" => false,
        "CEILING" => !is_negative,
        "FLOOR" => is_negative,
        "HALF_UP" => half.is_ge(),
        "HALF_DOWN" => half.is_gt(),
        "HALF_EVEN" => half.is_gt() || half.is_eq() && odd,
        _ => return Err(Thrown::arithmetic("Rounding necessary")),
    };
    let step = BigInt::from(if is_negative { -1 } else { 1 });
    Ok(if away { quotient + step } else { quotient })
}

/// Returns a decimal with another scale.
pub(super) fn rescaled(own: &Decimal, wanted: i32, mode: &str) -> Run<Decimal> {
    let by = i64::from(wanted) - i64::from(own.1);
    if by >= 0 {
        return Ok((checked(&own.0 * ten(by)?)?, wanted));
    }
    Ok((rounded(&own.0, &ten(-by)?, mode)?, wanted))
}

/// Divides two decimals to a scale.
pub(super) fn divide(left: &Decimal, right: &Decimal, wanted: i32, mode: &str) -> Run<Decimal> {
    let by = i64::from(wanted) + i64::from(right.1) - i64::from(left.1);
    let (number, divisor) = match by >= 0 {
        true => (checked(&left.0 * ten(by)?)?, right.0.clone()),
        false => (left.0.clone(), checked(&right.0 * ten(-by)?)?),
    };
    Ok((rounded(&number, &divisor, mode)?, wanted))
}

/// Divides two decimals whose quotient has an end.
pub(super) fn divide_exactly(left: &Decimal, right: &Decimal) -> Run<Decimal> {
    if right.0.is_zero() {
        let text = if left.0.is_zero() { "Division undefined" } else { "Division by zero" };
        return Err(Thrown::arithmetic(text));
    }
    let preferred = scale(i64::from(left.1) - i64::from(right.1))?;
    let digits = i64::try_from(precision(&left.0) + precision(&right.0) * 10 / 3 + 3);
    let most = scale(i64::from(preferred.max(0)) + digits.unwrap_or(i64::MAX))?;
    let Ok(found) = divide(left, right, most, "UNNECESSARY") else {
        let text = "Non-terminating decimal expansion; no exact representable decimal result.";
        return Err(Thrown::arithmetic(text));
    };
    Ok(stripped(found, preferred))
}

/// Takes zeros at the end away, down to a scale.
pub(super) fn stripped(own: Decimal, least: i32) -> Decimal {
    let (mut number, mut scale) = own;
    let ten = BigInt::from(10);
    while scale > least && (&number % &ten).is_zero() && !number.is_zero() {
        number /= &ten;
        scale -= 1;
    }
    if number.is_zero() && scale > least {
        scale = least;
    }
    (number, scale)
}

/// Returns the number of digits.
pub(super) fn precision(own: &BigInt) -> usize {
    own.magnitude().to_str_radix(10).len()
}

/// Returns a decimal as Java shows it.
pub(super) fn shown_decimal(own: &Decimal) -> String {
    let digits = own.0.magnitude().to_str_radix(10);
    let sign = if own.0.is_negative() { "-" } else { "" };
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - 1 - i64::from(own.1);
    if own.1 == 0 {
        return format!("{sign}{digits}");
    }
    if own.1 > 0 && exponent >= -6 {
        return plain_decimal(own).unwrap_or_default();
    }
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let point = if rest.is_empty() { "" } else { "." };
    let exponent = if exponent == 0 { String::new() } else { format!("E{exponent:+}") };
    format!("{sign}{first}{point}{rest}{exponent}")
}

/// Returns a decimal without an exponent; `None` if that were too long.
pub(super) fn plain_decimal(own: &Decimal) -> Option<String> {
    let digits = own.0.magnitude().to_str_radix(10);
    let sign = if own.0.is_negative() { "-" } else { "" };
    if own.1.unsigned_abs() > 100_000 {
        return None;
    }
    let Ok(behind) = usize::try_from(own.1) else {
        let zeros = usize::try_from(-i64::from(own.1)).ok()?;
        return Some(format!("{sign}{digits}{}", "0".repeat(zeros)));
    };
    if behind == 0 {
        return Some(format!("{sign}{digits}"));
    }
    let width = behind + 1;
    let padded = format!("{digits:0>width$}");
    let (before, rest) = padded.split_at(padded.len() - behind);
    Some(format!("{sign}{before}.{rest}"))
}

/// Reads a decimal.
pub(super) fn read_decimal(text: &str) -> Option<Decimal> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if text.len() > 10_000 || !behind.bytes().all(|own| own.is_ascii_digit()) {
        return None;
    }
    let number = format!("{before}{behind}").parse().ok()?;
    let scale = i64::try_from(behind.len()).ok()? - exponent;
    Some((number, i32::try_from(scale).ok()?))
}

/// Returns a decimal as a floating number.
pub(super) fn real(own: &Decimal) -> f64 {
    shown_decimal(own).parse().unwrap_or(f64::NAN)
}

/// Returns the whole part of a decimal; `None` if it were too long.
pub(super) fn whole(own: &Decimal) -> Option<BigInt> {
    rescaled(own, 0, "DOWN").ok().map(|(number, _)| number)
}

/// Returns the lowest 64 bits of a number.
pub(super) fn low_bits(own: &BigInt) -> i64 {
    let mask = BigInt::from(u64::MAX);
    (own & mask).to_u64().unwrap_or(0).cast_signed()
}
