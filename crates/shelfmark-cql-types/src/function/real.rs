//! `exp`, `log` and `log10` of decimals: as many digits as the argument has, at least 32.
//!
//! Worked out with integers that stand for fractions of a power of ten. What it is not: fast; the
//! digits are few.

use num_bigint::BigInt;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::numeric::Number;

/// Digits that a result has at least. Source: Cassandra 5.0, `DecimalType`.
const DIGITS_MIN: u32 = 32;

/// Digits that a result has at most. Ours, for the work it takes.
const DIGITS_MAX: u32 = 1_000;

/// Digits that are worked out beside those that are shown.
const GUARD: u32 = 20;

/// The number of times that an argument of the exponential series is halved before, and its value
/// squared behind.
const HALVINGS: usize = 10;

/// `unscaled / 10^scale`.
type Parts = (BigInt, i32);

/// Returns `e` to the power of a number; `None` where no decimal of ours is that large or small.
pub(super) fn exp((unscaled, scale): Parts) -> Option<Number> {
    if unscaled.is_zero() {
        return Some(Number::Integer(BigInt::one()));
    }
    let digits = digits_of(&unscaled);
    // Ten digits before the point: above, the power of ten does not fit a scale.
    let whole = i64::from(count(&unscaled)) - i64::from(scale);
    if whole > 10 {
        return None;
    }
    // Below, nothing is left of it but the one.
    let places = digits + GUARD + 12;
    let ten = ln_ten(places);
    let own = fixed(&unscaled, scale, places);
    let power = floor(&own, &ten);
    let value = exp_fixed(&(own - &power * &ten), places);
    let scale = i64::from(places) - power.to_i64()?;
    let scale = i32::try_from(scale).ok()?;
    Some(rounded((value, scale), digits))
}

/// Returns the natural logarithm; `None` of what has none.
pub(super) fn ln(own: Parts) -> Option<Number> {
    let digits = digits_of(&own.0);
    ln_to(own, digits).map(|(unscaled, scale)| Number::Decimal(unscaled, scale))
}

/// Returns the logarithm to base ten; `None` of what has none.
///
/// As in Cassandra's library a quotient of rounded logarithms: what comes out even has no zeros
/// behind it, what is only close to even has them all.
pub(super) fn log10(own: Parts) -> Option<Number> {
    let digits = digits_of(&own.0);
    let (unscaled, scale) = ln_to(own, digits + 2)?;
    let (ten, ten_scale) = ln_to((BigInt::from(10), 0), digits + 2)?;
    let preferred = scale - ten_scale;
    if unscaled.is_zero() {
        return Some(Number::Decimal(unscaled, preferred));
    }
    let places = digits + 2 + GUARD;
    let lifted = unscaled * power(places);
    let (quotient, rest) = (&lifted / &ten, &lifted % &ten);
    let places = i32::try_from(places).ok()?;
    if !rest.is_zero() {
        let Number::Decimal(unscaled, scale) = rounded((quotient, preferred + places), digits + 2)
        else {
            return None;
        };
        return Some(rounded((unscaled, scale), digits));
    }
    let (mut unscaled, mut scale) = (quotient, preferred + places);
    while scale > preferred && (&unscaled % 10_i32).is_zero() {
        unscaled /= 10_i32;
        scale -= 1;
    }
    Some(rounded((unscaled, scale), digits))
}

/// Returns how many digits a result has.
fn digits_of(unscaled: &BigInt) -> u32 {
    count(unscaled).clamp(DIGITS_MIN, DIGITS_MAX)
}

fn count(unscaled: &BigInt) -> u32 {
    u32::try_from(unscaled.magnitude().to_string().len()).unwrap_or(u32::MAX)
}

fn power(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// Returns a number as fractions of `10^places`, cut off.
fn fixed(unscaled: &BigInt, scale: i32, places: u32) -> BigInt {
    let step = i64::from(places) - i64::from(scale);
    let by = u32::try_from(step.unsigned_abs()).unwrap_or(u32::MAX);
    match step {
        0.. => unscaled * power(by),
        // Nothing of it is left.
        _ if by > count(unscaled) => BigInt::ZERO,
        _ => unscaled / power(by),
    }
}

/// Returns the quotient towards minus infinity.
fn floor(a: &BigInt, b: &BigInt) -> BigInt {
    let quotient = a / b;
    if (a % b).is_negative() { quotient - 1 } else { quotient }
}

/// Rounds to so many digits, half to even.
fn rounded((unscaled, scale): Parts, digits: u32) -> Number {
    let surplus = count(&unscaled).saturating_sub(digits);
    let Some(scale) = i32::try_from(surplus).ok().and_then(|surplus| scale.checked_sub(surplus))
    else {
        return Number::Decimal(unscaled, scale);
    };
    let step = power(surplus);
    let (mut quotient, rest) = (&unscaled / &step, &unscaled % &step);
    let twice: BigInt = rest.abs() * 2;
    let is_odd = !(&quotient % 2_i32).is_zero();
    if surplus > 0 && (twice > step || (twice == step && is_odd)) {
        quotient += unscaled.signum();
    }
    // 99…9 becomes 100…0, which has a digit more.
    if count(&quotient) > digits {
        return Number::Decimal(quotient / 10, scale.saturating_sub(1));
    }
    Number::Decimal(quotient, scale)
}

/// Returns `e^x` of an `x` from 0 up to ln 10.
fn exp_fixed(x: &BigInt, places: u32) -> BigInt {
    let one = power(places);
    let small = x >> HALVINGS;
    let (mut sum, mut term) = (one.clone(), one.clone());
    for n in 1_u32.. {
        term = term * &small / &one / n;
        if term.is_zero() {
            break;
        }
        sum += &term;
    }
    (0..HALVINGS).fold(sum, |sum, _| &sum * &sum / &one)
}

/// Returns `2 · artanh(numerator / denominator)`, for arguments up to a third.
fn ln_ratio(numerator: &BigInt, denominator: &BigInt, places: u32) -> BigInt {
    let one = power(places);
    let y = numerator * &one / denominator;
    let square = &y * &y / &one;
    let (mut sum, mut term) = (BigInt::ZERO, y);
    for n in (1_u32..).step_by(2) {
        if term.is_zero() {
            break;
        }
        sum += &term / n;
        term = term * &square / &one;
    }
    sum * 2
}

fn ln_two(places: u32) -> BigInt {
    ln_ratio(&BigInt::one(), &BigInt::from(3), places)
}

/// Computes the natural logarithm of 10 = 2³ · 5/4.
fn ln_ten(places: u32) -> BigInt {
    ln_two(places) * 3 + ln_ratio(&BigInt::one(), &BigInt::from(9), places)
}

/// Returns the natural logarithm to so many digits.
fn ln_to((unscaled, scale): Parts, digits: u32) -> Option<Parts> {
    if !unscaled.is_positive() {
        return None;
    }
    // Close to one as many leading digits of the logarithm are zero as the number has digits.
    let length = count(&unscaled).min(DIGITS_MAX);
    let places = digits + length + GUARD;
    // m · 10^exponent, with m from 1 up to 10.
    let exponent = i64::from(count(&unscaled)) - 1 - i64::from(scale);
    let mantissa_scale = i32::try_from(count(&unscaled).saturating_sub(1)).ok()?;
    let mut mantissa = fixed(&unscaled, mantissa_scale, places);
    let one = power(places);
    let mut twos = 0_u32;
    while &mantissa * 2 > &one * 3 {
        mantissa /= 2;
        twos += 1;
    }
    let mut sum = ln_ratio(&(&mantissa - &one), &(&mantissa + &one), places);
    if twos > 0 {
        sum += ln_two(places) * twos;
    }
    if exponent != 0 {
        sum += ln_ten(places) * exponent;
    }
    if sum.is_zero() {
        return Some((sum, 0));
    }
    match rounded((sum, i32::try_from(places).ok()?), digits) {
        Number::Decimal(unscaled, scale) => Some((unscaled, scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

    use super::*;

    fn shown(number: Option<Number>) -> String {
        match number.unwrap() {
            Number::Decimal(unscaled, scale) => format!("{unscaled}e{}", -scale),
            Number::Integer(n) => format!("{n}e0"),
            Number::Float(_) => panic!("no decimal"),
        }
    }

    fn of(text: &str) -> Parts {
        crate::value::parse_decimal(text).unwrap().into_parts()
    }

    /// Compares with answers of Apache Cassandra 5.0.9.
    #[test]
    fn digits_are_those_of_cassandra() {
        let cases = [
            ("2.5", "12182493960703473438070175951168e-30"),
            ("0.001", "10010005001667083416680557539931e-31"),
            ("0", "1e0"),
            ("-1.5", "22313016014842982893328047076401e-32"),
            ("100", "26881171418161354484126255515800e12"),
            ("1e-10", "10000000001000000000050000000002e-31"),
            ("20.5", "79990217747550540670459883728399e-23"),
            ("1", "27182818284590452353602874713527e-31"),
        ];
        cases.iter().for_each(|(x, wanted)| assert_eq!(shown(exp(of(x))), *wanted, "exp({x})"));
        let cases = [
            ("2.5", "91629073187415506518352721176801e-32"),
            ("0.001", "-69077552789821370520539743640531e-31"),
            ("1234567890.0123456789", "20933986859172063717211874802648e-30"),
            ("100", "46051701859880913680359829093687e-31"),
            ("1e-10", "-23025850929940456840179914546844e-30"),
            ("20.5", "30204248861443624944495312515792e-31"),
            ("1", "0e0"),
        ];
        cases.iter().for_each(|(x, wanted)| assert_eq!(shown(ln(of(x))), *wanted, "log({x})"));
        let cases = [
            ("2.5", "39794000867203760957252221055101e-32"),
            ("0.001", "-30000000000000000000000000000000e-31"),
            ("1234567890.0123456789", "90915149771736133923373444266120e-31"),
            ("100", "2e0"),
            ("1e-10", "-1e1"),
            ("20.5", "13117538610557542992956729552437e-31"),
            ("1", "0e33"),
        ];
        cases.iter().for_each(|(x, wanted)| assert_eq!(shown(log10(of(x))), *wanted, "log10({x})"));
        assert!(ln(of("0")).is_none() && log10(of("-1")).is_none());
        assert!(exp(of("1e20")).is_none(), "too large");
        assert!(exp(of("-1e9")).is_some());
    }
}
