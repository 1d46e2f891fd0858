//! Integers and decimals of any size.
//!
//! What it is not: contexts of precision.
//!
//! Invariant: long numbers take steps by their length.

use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{Signed as _, Zero as _};

use super::super::number::{self, Decimal};
use super::super::{Machine, OBJECT_BYTES, Run, SLOT_BYTES};
use super::{big, constant_name, int, long, string};
use crate::value::{Object, Thrown, Value};

fn decimal_value((number, scale): Decimal) -> Value {
    Value::BigDecimal(Rc::new(number), scale)
}

fn decimal(arguments: &[Value], at: usize) -> Run<Decimal> {
    match arguments.get(at) {
        Some(Value::BigDecimal(own, scale)) => Ok(((**own).clone(), *scale)),
        _ => Err(Thrown::null("")),
    }
}

fn mode(arguments: &[Value]) -> Option<&'static str> {
    match arguments.last() {
        Some(Value::Object(own)) => match &**own {
            Object::Rounding(own) => Some(own),
            _ => None,
        },
        _ => None,
    }
}

/// Makes an integer.
pub(super) fn new_integer(arguments: &[Value]) -> Run<Value> {
    if let Some(name) = constant_name(arguments) {
        let own = match name.as_str() {
            "ZERO" => 0,
            "ONE" => 1,
            "TWO" => 2,
            _ => 10,
        };
        return Ok(Value::integer(BigInt::from(own)));
    }
    let text = string(arguments, 0)?;
    let radix = if arguments.len() > 1 { int(arguments, 1)? } else { 10 };
    let radix = u32::try_from(radix).ok().filter(|own| (2..=36).contains(own));
    let found = radix
        .filter(|_| text.len() <= 100_000 && !text.contains('_'))
        .and_then(|radix| BigInt::parse_bytes(text.as_bytes(), radix));
    found.map(Value::integer).ok_or_else(|| Thrown::number_format(&text))
}

/// Makes a decimal.
pub(super) fn new_decimal(arguments: &[Value]) -> Run<Value> {
    if let Some(name) = constant_name(arguments) {
        let own = match name.as_str() {
            "ZERO" => 0,
            "ONE" => 1,
            _ => 10,
        };
        return Ok(decimal_value((BigInt::from(own), 0)));
    }
    match arguments {
        [Value::Int(own)] => Ok(decimal_value((BigInt::from(*own), 0))),
        [Value::Long(own)] => Ok(decimal_value((BigInt::from(*own), 0))),
        [Value::Double(own)] => exact(*own).map(decimal_value),
        [Value::BigInteger(own)] => Ok(Value::BigDecimal(Rc::clone(own), 0)),
        [Value::BigInteger(own), Value::Int(scale)] => {
            Ok(Value::BigDecimal(Rc::clone(own), *scale))
        }
        _ => {
            let text = string(arguments, 0)?;
            let found = number::read_decimal(&text).map(decimal_value);
            found.ok_or_else(|| Thrown::known("java.lang.NumberFormatException", None))
        }
    }
}

/// Returns the decimal that a floating number is, to its last digit.
fn exact(own: f64) -> Run<Decimal> {
    if !own.is_finite() {
        let message = Some("Infinite or NaN".to_owned());
        return Err(Thrown::known("java.lang.NumberFormatException", message));
    }
    let text = format!("{own:.1074}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    number::read_decimal(text).ok_or_else(|| Thrown::number_format(text))
}

/// Calls a method of one of the classes.
pub(super) fn static_method(class: &str, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    if name != "valueOf" {
        return Ok(None);
    }
    Ok(Some(match (class, arguments) {
        ("BigInteger", [_]) => Value::integer(BigInt::from(long(arguments, 0)?)),
        (_, [Value::Double(own)]) => {
            let text = number::shown_double(*own);
            let found = number::read_decimal(&text).map(decimal_value);
            found.ok_or_else(|| Thrown::number_format(&text))?
        }
        (_, [_]) => decimal_value((BigInt::from(long(arguments, 0)?), 0)),
        _ => decimal_value((BigInt::from(long(arguments, 0)?), int(arguments, 1)?)),
    }))
}

impl Machine<'_> {
    /// Takes the steps of an operation of two long numbers.
    pub(in crate::run) fn spend_for(&mut self, one: u64, other: u64) -> Run<()> {
        let words = |bits: u64| bits / 64 + 1;
        self.spend(words(one).saturating_mul(words(other)) / 8)?;
        let bytes = usize::try_from((one + other) / 8).unwrap_or(usize::MAX);
        self.take(bytes.saturating_add(OBJECT_BYTES / 2))
    }

    /// Calls a method of an integer.
    pub(super) fn integer_method(
        &mut self,
        own: &Rc<BigInt>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let other_bits = match arguments.first() {
            Some(Value::BigInteger(other)) => other.bits(),
            _ => 64,
        };
        self.spend_for(own.bits(), other_bits)?;
        let made = match (name, arguments) {
            ("add", [_]) => &**own + &*big(arguments, 0)?,
            ("subtract", [_]) => &**own - &*big(arguments, 0)?,
            ("multiply", [_]) => &**own * &*big(arguments, 0)?,
            ("divide" | "remainder" | "mod", [_]) => divided(own, &*big(arguments, 0)?, name)?,
            ("pow", [_]) => {
                let exponent = int(arguments, 0)?;
                let bits = own.bits().saturating_mul(u64::from(exponent.unsigned_abs()));
                self.spend_for(
                    bits.min(crate::limits::INTEGER_BITS_MAX),
                    bits.min(crate::limits::INTEGER_BITS_MAX),
                )?;
                number::power(own, exponent)?
            }
            ("negate", []) => -&**own,
            ("abs", []) => own.abs(),
            ("max", [_]) => (**own).clone().max((*big(arguments, 0)?).clone()),
            ("min", [_]) => (**own).clone().min((*big(arguments, 0)?).clone()),
            // A division for each of about as many rounds as there are bits.
            ("gcd", [_]) if own.bits().max(other_bits) > 128 => {
                self.spend_for(own.bits().saturating_mul(8), other_bits.saturating_mul(8))?;
                greatest_divisor((**own).clone(), (*big(arguments, 0)?).clone())
            }
            ("gcd", [_]) => greatest_divisor((**own).clone(), (*big(arguments, 0)?).clone()),
            ("shiftLeft" | "shiftRight", [_]) => shifted(own, int(arguments, 0)?, name)?,
            _ => return self.integer_question(own, name, arguments),
        };
        Ok(Some(Value::integer(number::checked(made)?)))
    }

    fn integer_question(
        &mut self,
        own: &BigInt,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let low = number::low_bits(own);
        let least = |wanted| super::super::arithmetic::convert(wanted, &Value::Long(low));
        use crate::program::Primitive;
        Ok(Some(match (name, arguments) {
            ("signum", []) => Value::Int(signum(own)),
            ("bitLength", []) => {
                let length = if own.is_negative() { (-own - 1_i32).bits() } else { own.bits() };
                Value::Int(i32::try_from(length).unwrap_or(i32::MAX))
            }
            ("byteValue", []) => least(Primitive::Byte)?,
            ("shortValue", []) => least(Primitive::Short)?,
            ("intValue", []) => least(Primitive::Int)?,
            ("longValue", []) => Value::Long(low),
            ("doubleValue", []) => Value::Double(number::real(&(own.clone(), 0))),
            ("floatValue", []) => {
                let real = Value::Double(number::real(&(own.clone(), 0)));
                super::super::arithmetic::convert(Primitive::Float, &real)?
            }
            ("toString", [_]) => {
                let radix = u32::try_from(int(arguments, 0)?).unwrap_or(10).clamp(2, 36);
                self.spend_for(own.bits(), own.bits())?;
                self.text(own.to_str_radix(radix).encode_utf16().collect())?
            }
            ("toString", []) => {
                self.spend_for(own.bits(), own.bits())?;
                self.text(own.to_string().encode_utf16().collect())?
            }
            ("toByteArray", []) => {
                self.check_room(
                    super::super::size_bytes(&Value::integer(own.clone())) * SLOT_BYTES,
                )?;
                let bytes = own.to_signed_bytes_be();
                self.array(bytes.into_iter().map(|own| Value::Byte(own.cast_signed())).collect())?
            }
            _ => return Ok(None),
        }))
    }

    /// Calls a method of a decimal.
    pub(super) fn decimal_method(
        &mut self,
        own: &Decimal,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let other = match arguments.first() {
            Some(Value::BigDecimal(other, scale)) => {
                other.bits() + u64::from(scale.unsigned_abs()) * 4
            }
            Some(Value::Int(scale)) => u64::from(scale.unsigned_abs()).saturating_mul(4),
            _ => 64,
        };
        let most = crate::limits::INTEGER_BITS_MAX;
        let bits = own.0.bits() + u64::from(own.1.unsigned_abs()) * 4;
        self.spend_for(bits.min(most), other.min(most))?;
        let made = match (name, arguments) {
            ("add" | "subtract", [_]) => {
                let (one, other, scale) = number::aligned(own, &decimal(arguments, 0)?)?;
                (if name == "add" { one + other } else { one - other }, scale)
            }
            ("multiply", [_]) => number::multiply(own, &decimal(arguments, 0)?)?,
            ("divide", [_]) => number::divide_exactly(own, &decimal(arguments, 0)?)?,
            ("divide", [_, _]) => {
                let mode = mode(arguments).ok_or_else(|| Thrown::null(""))?;
                number::divide(own, &decimal(arguments, 0)?, own.1, mode)?
            }
            ("divide", [_, _, _]) => {
                let mode = mode(arguments).ok_or_else(|| Thrown::null(""))?;
                number::divide(own, &decimal(arguments, 0)?, int(arguments, 1)?, mode)?
            }
            ("setScale", [_]) => number::rescaled(own, int(arguments, 0)?, "UNNECESSARY")?,
            ("setScale", [_, _]) => {
                let mode = mode(arguments).ok_or_else(|| Thrown::null(""))?;
                number::rescaled(own, int(arguments, 0)?, mode)?
            }
            ("negate", []) => (-&own.0, own.1),
            ("abs", []) => (own.0.abs(), own.1),
            ("max" | "min", [other]) => {
                let mine = decimal_value(own.clone());
                let is_greater =
                    super::show::order(&mine, other).is_some_and(std::cmp::Ordering::is_ge);
                if is_greater == (name == "max") { own.clone() } else { decimal(arguments, 0)? }
            }
            ("pow", [_]) => {
                let exponent = int(arguments, 0)?;
                let scale =
                    own.1.checked_mul(exponent).ok_or_else(|| Thrown::arithmetic("Underflow"))?;
                (number::power(&own.0, exponent)?, scale)
            }
            ("stripTrailingZeros", []) => {
                if own.0.is_zero() {
                    (BigInt::ZERO, 0)
                } else {
                    number::stripped(own.clone(), i32::MIN)
                }
            }
            _ => return self.decimal_question(own, name, arguments),
        };
        Ok(Some(decimal_value((number::checked(made.0)?, made.1))))
    }

    fn decimal_question(
        &mut self,
        own: &Decimal,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("scale", []) => Value::Int(own.1),
            ("precision", []) => super::size(number::precision(&own.0)),
            ("signum", []) => Value::Int(signum(&own.0)),
            ("unscaledValue", []) => Value::integer(own.0.clone()),
            ("doubleValue", []) => Value::Double(number::real(own)),
            ("floatValue", []) => {
                let real = Value::Double(number::real(own));
                super::super::arithmetic::convert(crate::program::Primitive::Float, &real)?
            }
            ("toPlainString", []) => {
                let made = number::plain_decimal(own).ok_or_else(Thrown::no_memory)?;
                self.text(made.encode_utf16().collect())?
            }
            ("toBigInteger", []) => {
                Value::integer(number::whole(own).ok_or_else(Thrown::no_memory)?)
            }
            ("byteValue" | "shortValue" | "intValue" | "longValue", []) => {
                let whole = number::whole(own).ok_or_else(Thrown::no_memory)?;
                return self.integer_question(&whole, name, arguments);
            }
            _ => return Ok(None),
        }))
    }
}

fn signum(own: &BigInt) -> i32 {
    match own.sign() {
        num_bigint::Sign::Minus => -1,
        num_bigint::Sign::NoSign => 0,
        num_bigint::Sign::Plus => 1,
    }
}

fn divided(own: &BigInt, by: &BigInt, name: &str) -> Run<BigInt> {
    if by.is_zero() {
        return Err(Thrown::arithmetic("BigInteger divide by zero"));
    }
    if name == "mod" && by.is_negative() {
        return Err(Thrown::arithmetic("BigInteger: modulus not positive"));
    }
    Ok(match name {
        "divide" => own / by,
        "remainder" => own % by,
        _ => (own % by + by) % by,
    })
}

fn shifted(own: &BigInt, by: i32, name: &str) -> Run<BigInt> {
    let by = if name == "shiftLeft" { i64::from(by) } else { -i64::from(by) };
    let width = by.unsigned_abs();
    if by >= 0 {
        if own.bits().saturating_add(width) > crate::limits::INTEGER_BITS_MAX {
            return Err(Thrown::arithmetic("BigInteger would overflow supported range"));
        }
        return Ok(own << width);
    }
    Ok(own >> width)
}

fn greatest_divisor(one: BigInt, other: BigInt) -> BigInt {
    let (mut one, mut other) = (one.abs(), other.abs());
    while !other.is_zero() {
        let rest = &one % &other;
        one = std::mem::replace(&mut other, rest);
    }
    one
}
