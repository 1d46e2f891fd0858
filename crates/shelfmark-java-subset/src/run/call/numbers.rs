//! Numbers of fixed sizes in their boxes, and mathematics.
//!
//! What it is not: operators.
//!
//! Invariant: a conversion that Java does without looking is done so.

use super::super::{Machine, Run, arithmetic};
use super::{int, long, string};
use crate::program::Primitive;
use crate::value::{Thrown, Value};

fn primitive(class: &str) -> Primitive {
    match class {
        "Byte" => Primitive::Byte,
        "Short" => Primitive::Short,
        "Character" => Primitive::Char,
        "Integer" => Primitive::Int,
        "Long" => Primitive::Long,
        "Float" => Primitive::Float,
        "Double" => Primitive::Double,
        _ => Primitive::Boolean,
    }
}

/// Calls a method of a number in its box; `None` if it has none of the name.
pub(super) fn number_method(own: &Value, name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    let to = match (name, arguments) {
        ("byteValue", []) => Primitive::Byte,
        ("shortValue", []) => Primitive::Short,
        ("intValue", []) => Primitive::Int,
        ("longValue", []) => Primitive::Long,
        ("floatValue", []) => Primitive::Float,
        ("doubleValue", []) => Primitive::Double,
        ("booleanValue" | "charValue", []) => return Ok(Some(own.clone())),
        ("isNaN", []) => return Ok(real(own).map(|own| Value::Boolean(own.is_nan()))),
        ("isInfinite", []) => return Ok(real(own).map(|own| Value::Boolean(own.is_infinite()))),
        _ => return Ok(None),
    };
    arithmetic::convert(to, own).map(Some)
}

fn real(own: &Value) -> Option<f64> {
    match own {
        Value::Double(own) => Some(*own),
        Value::Float(own) => Some(f64::from(*own)),
        _ => None,
    }
}

fn parsed(class: &str, text: &str, radix: u32) -> Run<Value> {
    let wrong = || Thrown::number_format(text);
    if !(2..=36).contains(&radix) {
        return Err(Thrown::number_format(text));
    }
    let trimmed = text.trim();
    Ok(match class {
        "Byte" => Value::Byte(i8::from_str_radix(text, radix).map_err(|_| wrong())?),
        "Short" => Value::Short(i16::from_str_radix(text, radix).map_err(|_| wrong())?),
        "Integer" => Value::Int(i32::from_str_radix(text, radix).map_err(|_| wrong())?),
        "Long" => Value::Long(i64::from_str_radix(text, radix).map_err(|_| wrong())?),
        "Float" => Value::Float(trimmed.parse().map_err(|_| wrong())?),
        "Double" => Value::Double(trimmed.parse().map_err(|_| wrong())?),
        _ => Value::Boolean(text.eq_ignore_ascii_case("true")),
    })
}

impl Machine<'_> {
    /// Calls a method of a class that holds numbers.
    pub(super) fn box_static(
        &mut self,
        class: &str,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        if class == "Character"
            && let Some(found) = super::text::character_static(name, arguments)?
        {
            return Ok(Some(found));
        }
        Ok(Some(match (name, arguments) {
            ("valueOf" | "parseBoolean", [Value::Null]) if class == "Boolean" => {
                Value::Boolean(false)
            }
            ("valueOf", [Value::Null]) => {
                return Err(Thrown::known(
                    "java.lang.NumberFormatException",
                    Some("Cannot parse null string: null".to_owned()),
                ));
            }
            ("valueOf", [Value::Text(_)]) => parsed(class, &string(arguments, 0)?, 10)?,
            ("valueOf", [own]) => arithmetic::convert(primitive(class), own)?,
            ("toString", [own]) => {
                let mut units = Vec::new();
                self.show(own, &mut units)?;
                self.text(units)?
            }
            ("compare", [one, other]) => {
                Value::Int(super::show::order(one, other).map_or(0, |own| own as i32))
            }
            (own, [Value::Null, ..]) if own.starts_with("parse") => {
                return Err(Thrown::known(
                    "java.lang.NumberFormatException",
                    Some("Cannot parse null string: null".to_owned()),
                ));
            }
            (own, [_]) if own.starts_with("parse") => parsed(class, &string(arguments, 0)?, 10)?,
            (own, [_, _]) if own.starts_with("parse") => {
                let radix = u32::try_from(int(arguments, 1)?).unwrap_or(0);
                parsed(class, &string(arguments, 0)?, radix)?
            }
            ("toHexString" | "toBinaryString" | "toOctalString", [own]) => {
                let made = digits(name, own);
                self.text(made.encode_utf16().collect())?
            }
            _ => return bits(name, arguments),
        }))
    }
}

fn digits(name: &str, own: &Value) -> String {
    let bits = match own {
        Value::Int(own) => u64::from(own.cast_unsigned()),
        Value::Long(own) => own.cast_unsigned(),
        _ => 0,
    };
    match name {
        "toHexString" => format!("{bits:x}"),
        "toBinaryString" => format!("{bits:b}"),
        _ => format!("{bits:o}"),
    }
}

/// Calls the methods that look at bits, and those that mathematics has, too.
fn bits(name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    let ones = |count: u32| Value::Int(i32::try_from(count).unwrap_or(0));
    Ok(Some(match (name, arguments) {
        ("bitCount", [Value::Int(own)]) => ones(own.count_ones()),
        ("bitCount", [Value::Long(own)]) => ones(own.count_ones()),
        ("reverse", [Value::Int(own)]) => Value::Int(own.reverse_bits()),
        ("signum", [Value::Int(own)]) => Value::Int(own.signum()),
        ("signum", [Value::Long(own)]) => Value::Int(i32::try_from(own.signum()).unwrap_or(0)),
        ("sum", [one, other]) => {
            let kind = match one {
                Value::Int(_) => Primitive::Int,
                Value::Long(_) => Primitive::Long,
                _ => Primitive::Double,
            };
            arithmetic::compute("+", kind, one, other)?
        }
        ("isNaN", [own]) => Value::Boolean(real(own).is_some_and(f64::is_nan)),
        ("isInfinite", [own]) => Value::Boolean(real(own).is_some_and(f64::is_infinite)),
        ("floatToIntBits", [Value::Float(own)]) => Value::Int(own.to_bits().cast_signed()),
        ("intBitsToFloat", [Value::Int(own)]) => Value::Float(f32::from_bits(own.cast_unsigned())),
        ("doubleToLongBits", [Value::Double(own)]) => Value::Long(own.to_bits().cast_signed()),
        ("longBitsToDouble", [Value::Long(own)]) => {
            Value::Double(f64::from_bits(own.cast_unsigned()))
        }
        ("max" | "min", [one, other]) => extreme(name, one, other),
        _ => return Ok(None),
    }))
}

fn extreme(name: &str, one: &Value, other: &Value) -> Value {
    for own in [one, other] {
        if real(own).is_some_and(f64::is_nan) {
            return own.clone();
        }
    }
    let first_is_greater = super::show::order(one, other).is_some_and(std::cmp::Ordering::is_gt);
    if first_is_greater == (name == "max") { one.clone() } else { other.clone() }
}

/// Calls a method of `Math`.
pub(super) fn math(
    machine: &mut Machine<'_>,
    name: &str,
    arguments: &[Value],
) -> Run<Option<Value>> {
    if name == "random" {
        let bits = u32::try_from(machine.host.random() & u128::from(u32::MAX)).unwrap_or(0);
        return Ok(Some(Value::Double(f64::from(bits) / 4_294_967_296.0)));
    }
    let one = match arguments {
        [Value::Double(own)] => *own,
        [Value::Double(one), Value::Double(other)] => {
            let made = match name {
                "pow" => one.powf(*other),
                "atan2" => one.atan2(*other),
                "hypot" => one.hypot(*other),
                "copySign" => one.copysign(*other),
                _ => return whole_math(name, arguments),
            };
            return Ok(Some(Value::Double(made)));
        }
        _ => return whole_math(name, arguments),
    };
    let made = match name {
        "abs" => one.abs(),
        "sqrt" => one.sqrt(),
        "cbrt" => one.cbrt(),
        "sin" => one.sin(),
        "cos" => one.cos(),
        "tan" => one.tan(),
        "asin" => one.asin(),
        "acos" => one.acos(),
        "atan" => one.atan(),
        "sinh" => one.sinh(),
        "cosh" => one.cosh(),
        "tanh" => one.tanh(),
        "exp" => one.exp(),
        "expm1" => one.exp_m1(),
        "log1p" => one.ln_1p(),
        "log" => one.ln(),
        "log10" => one.log10(),
        "floor" => one.floor(),
        "ceil" => one.ceil(),
        "rint" => one.round_ties_even(),
        "signum" if one == 0.0 => one,
        "signum" => one.signum(),
        "toRadians" => one.to_radians(),
        "toDegrees" => one.to_degrees(),
        "round" => {
            return arithmetic::convert(Primitive::Long, &Value::Double((one + 0.5).floor()))
                .map(Some);
        }
        _ => return Ok(None),
    };
    Ok(Some(Value::Double(made)))
}

/// Calls the methods of `Math` for whole numbers and `float`.
fn whole_math(name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    Ok(Some(match (name, arguments) {
        ("abs", [Value::Int(own)]) => Value::Int(own.wrapping_abs()),
        ("abs", [Value::Long(own)]) => Value::Long(own.wrapping_abs()),
        ("abs", [Value::Float(own)]) => Value::Float(own.abs()),
        ("copySign", [Value::Float(one), Value::Float(other)]) => {
            Value::Float(one.copysign(*other))
        }
        ("signum", [Value::Float(own)]) if *own == 0.0 => Value::Float(*own),
        ("signum", [Value::Float(own)]) => Value::Float(own.signum()),
        ("round", [Value::Float(own)]) => {
            let rounded = Value::Double((f64::from(*own) + 0.5).floor());
            arithmetic::convert(Primitive::Int, &rounded)?
        }
        ("floorDiv", [_, Value::Int(0) | Value::Long(0)])
        | ("floorMod", [_, Value::Int(0) | Value::Long(0)]) => {
            return Err(Thrown::arithmetic("/ by zero"));
        }
        ("floorDiv", [Value::Int(one), Value::Int(other)]) => {
            let (one, other) = (i64::from(*one), i64::from(*other));
            arithmetic::convert(Primitive::Int, &Value::Long(floor_divided(one, other)))?
        }
        ("floorMod", [Value::Int(one), Value::Int(other)]) => {
            let (one, other) = (i64::from(*one), i64::from(*other));
            arithmetic::convert(
                Primitive::Int,
                &Value::Long(one - floor_divided(one, other) * other),
            )?
        }
        ("floorDiv", [_, _]) => {
            Value::Long(floor_divided(long(arguments, 0)?, long(arguments, 1)?))
        }
        ("floorMod", [_, _]) => {
            let (one, other) = (long(arguments, 0)?, long(arguments, 1)?);
            let product = floor_divided(one, other).wrapping_mul(other);
            Value::Long(one.wrapping_sub(product))
        }
        ("max" | "min", [one, other]) => extreme(name, one, other),
        _ => return exact_math(name, arguments),
    }))
}

/// Calls the methods of `Math` that fail where a whole number overflows.
fn exact_math(name: &str, arguments: &[Value]) -> Run<Option<Value>> {
    let overflow = |kind: &str| Thrown::arithmetic(&format!("{kind} overflow"));
    Ok(Some(match (name, arguments) {
        ("negateExact", [Value::Int(own)]) => {
            Value::Int(own.checked_neg().ok_or_else(|| overflow("integer"))?)
        }
        ("negateExact", [Value::Long(own)]) => {
            Value::Long(own.checked_neg().ok_or_else(|| overflow("long"))?)
        }
        ("incrementExact", [Value::Int(own)]) => {
            Value::Int(own.checked_add(1).ok_or_else(|| overflow("integer"))?)
        }
        ("incrementExact", [Value::Long(own)]) => {
            Value::Long(own.checked_add(1).ok_or_else(|| overflow("long"))?)
        }
        ("decrementExact", [Value::Int(own)]) => {
            Value::Int(own.checked_sub(1).ok_or_else(|| overflow("integer"))?)
        }
        ("decrementExact", [Value::Long(own)]) => {
            Value::Long(own.checked_sub(1).ok_or_else(|| overflow("long"))?)
        }
        ("addExact", [Value::Int(one), Value::Int(other)]) => {
            Value::Int(one.checked_add(*other).ok_or_else(|| overflow("integer"))?)
        }
        ("subtractExact", [Value::Int(one), Value::Int(other)]) => {
            Value::Int(one.checked_sub(*other).ok_or_else(|| overflow("integer"))?)
        }
        ("multiplyExact", [Value::Int(one), Value::Int(other)]) => {
            Value::Int(one.checked_mul(*other).ok_or_else(|| overflow("integer"))?)
        }
        ("addExact", [Value::Long(one), Value::Long(other)]) => {
            Value::Long(one.checked_add(*other).ok_or_else(|| overflow("long"))?)
        }
        ("subtractExact", [Value::Long(one), Value::Long(other)]) => {
            Value::Long(one.checked_sub(*other).ok_or_else(|| overflow("long"))?)
        }
        ("multiplyExact", [Value::Long(one), Value::Long(other)]) => {
            Value::Long(one.checked_mul(*other).ok_or_else(|| overflow("long"))?)
        }
        ("toIntExact", [Value::Long(own)]) => {
            Value::Int(i32::try_from(*own).map_err(|_| overflow("integer"))?)
        }
        _ => return Ok(None),
    }))
}

fn floor_divided(one: i64, other: i64) -> i64 {
    let quotient = one.wrapping_div(other);
    let rest = one.wrapping_rem(other);
    if rest != 0 && (rest < 0) != (other < 0) { quotient - 1 } else { quotient }
}
