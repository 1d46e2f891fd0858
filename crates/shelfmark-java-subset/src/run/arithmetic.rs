//! Numbers of fixed sizes: Java's arithmetic, which wraps around, and its conversions.
//!
//! What it is not: integers and decimals of any size.
//!
//! Invariant: only a whole number that is divided by zero fails.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "Java's conversions are what `as` does"
)]

use super::Run;
use crate::program::{Constant, Primitive};
use crate::value::{Thrown, Value};

/// A number of one of the two families.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

fn number(own: &Value) -> Option<Number> {
    Some(match own {
        Value::Byte(own) => Number::Whole(i64::from(*own)),
        Value::Short(own) => Number::Whole(i64::from(*own)),
        Value::Char(own) => Number::Whole(i64::from(*own)),
        Value::Int(own) => Number::Whole(i64::from(*own)),
        Value::Long(own) => Number::Whole(*own),
        Value::Float(own) => Number::Real(f64::from(*own)),
        Value::Double(own) => Number::Real(*own),
        _ => return None,
    })
}

fn no_number(own: &Value) -> Box<Thrown> {
    Thrown::class_cast(&super::show::class_of(own), "java.lang.Number")
}

/// Converts a number to another type.
pub(super) fn convert(to: Primitive, own: &Value) -> Run<Value> {
    if let (Primitive::Boolean, Value::Boolean(own)) = (to, own) {
        return Ok(Value::Boolean(*own));
    }
    let found = number(own).ok_or_else(|| no_number(own))?;
    let whole = |found: Number| match found {
        Number::Whole(own) => own,
        Number::Real(own) => own as i64,
    };
    // Small types take a real number by way of `int`.
    let small = |found: Number| match found {
        Number::Whole(own) => own,
        Number::Real(own) => i64::from(own as i32),
    };
    Ok(match to {
        Primitive::Byte => Value::Byte(small(found) as i8),
        Primitive::Short => Value::Short(small(found) as i16),
        Primitive::Char => Value::Char(small(found) as u16),
        Primitive::Int => Value::Int(small(found) as i32),
        Primitive::Long => Value::Long(whole(found)),
        Primitive::Float => Value::Float(match found {
            Number::Whole(own) => own as f32,
            Number::Real(own) => own as f32,
        }),
        Primitive::Double => Value::Double(match found {
            Number::Whole(own) => own as f64,
            Number::Real(own) => own,
        }),
        Primitive::Boolean => return Err(no_number(own)),
    })
}

/// Converts a constant to another type.
pub(crate) fn convert_constant(to: Primitive, own: &Constant) -> Option<Constant> {
    Some(match convert(to, &Value::constant(own)).ok()? {
        Value::Boolean(own) => Constant::Boolean(own),
        Value::Byte(own) => Constant::Byte(own),
        Value::Short(own) => Constant::Short(own),
        Value::Char(own) => Constant::Char(own),
        Value::Int(own) => Constant::Int(own),
        Value::Long(own) => Constant::Long(own),
        Value::Float(own) => Constant::Float(own),
        Value::Double(own) => Constant::Double(own),
        _ => return None,
    })
}

/// Computes an operation of two numbers of the same type.
pub(super) fn compute(operator: &str, kind: Primitive, left: &Value, right: &Value) -> Run<Value> {
    match (kind, left, right) {
        (Primitive::Boolean, Value::Boolean(left), Value::Boolean(right)) => {
            Ok(Value::Boolean(match operator {
                "&" => left & right,
                "|" => left | right,
                _ => left ^ right,
            }))
        }
        (Primitive::Int, Value::Int(left), Value::Long(right)) => {
            Ok(Value::Int(shift_int(operator, *left, *right)))
        }
        (Primitive::Int, Value::Int(left), Value::Int(right)) => {
            int(operator, *left, *right).map(Value::Int)
        }
        (Primitive::Long, Value::Long(left), Value::Long(right)) => {
            long(operator, *left, *right).map(Value::Long)
        }
        (Primitive::Float, Value::Float(left), Value::Float(right)) => {
            Ok(Value::Float(real(operator, f64::from(*left), f64::from(*right)) as f32))
        }
        (Primitive::Double, Value::Double(left), Value::Double(right)) => {
            Ok(Value::Double(real(operator, *left, *right)))
        }
        _ => Err(no_number(if number(left).is_none() { left } else { right })),
    }
}

fn by_zero() -> Box<Thrown> {
    Thrown::arithmetic("/ by zero")
}

fn shift_int(operator: &str, left: i32, right: i64) -> i32 {
    let by = right as u32 & 31;
    match operator {
        "<<" => left.wrapping_shl(by),
        ">>" => left.wrapping_shr(by),
        _ => ((left as u32) >> by) as i32,
    }
}

fn int(operator: &str, left: i32, right: i32) -> Run<i32> {
    Ok(match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" if right == 0 => return Err(by_zero()),
        "/" => left.wrapping_div(right),
        "%" if right == 0 => return Err(by_zero()),
        "%" => left.wrapping_rem(right),
        "&" => left & right,
        "|" => left | right,
        _ => left ^ right,
    })
}

fn long(operator: &str, left: i64, right: i64) -> Run<i64> {
    let by = right as u32 & 63;
    Ok(match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" if right == 0 => return Err(by_zero()),
        "/" => left.wrapping_div(right),
        "%" if right == 0 => return Err(by_zero()),
        "%" => left.wrapping_rem(right),
        "&" => left & right,
        "|" => left | right,
        "<<" => left.wrapping_shl(by),
        ">>" => left.wrapping_shr(by),
        ">>>" => ((left as u64) >> by) as i64,
        _ => left ^ right,
    })
}

fn real(operator: &str, left: f64, right: f64) -> f64 {
    match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        _ => left % right,
    }
}

/// Compares two numbers of the same type.
pub(super) fn compare(operator: &str, kind: Primitive, left: &Value, right: &Value) -> Run<bool> {
    if let (Primitive::Boolean, Value::Boolean(left), Value::Boolean(right)) = (kind, left, right) {
        return Ok((left == right) == (operator == "=="));
    }
    let (Some(one), Some(other)) = (number(left), number(right)) else {
        return Err(no_number(if number(left).is_none() { left } else { right }));
    };
    let order = match (one, other) {
        (Number::Whole(one), Number::Whole(other)) => Some(one.cmp(&other)),
        (Number::Real(one), Number::Real(other)) => one.partial_cmp(&other),
        _ => None,
    };
    Ok(match operator {
        "==" => order.is_some_and(std::cmp::Ordering::is_eq),
        "!=" => !order.is_some_and(std::cmp::Ordering::is_eq),
        "<" => order.is_some_and(std::cmp::Ordering::is_lt),
        ">" => order.is_some_and(std::cmp::Ordering::is_gt),
        "<=" => order.is_some_and(std::cmp::Ordering::is_le),
        _ => order.is_some_and(std::cmp::Ordering::is_ge),
    })
}

/// Negates a number.
pub(super) fn negate(kind: Primitive, own: &Value) -> Run<Value> {
    Ok(match (kind, own) {
        (_, Value::Int(own)) => Value::Int(own.wrapping_neg()),
        (_, Value::Long(own)) => Value::Long(own.wrapping_neg()),
        (_, Value::Float(own)) => Value::Float(-own),
        (_, Value::Double(own)) => Value::Double(-own),
        _ => return Err(no_number(own)),
    })
}

/// Inverts the bits of a number.
pub(super) fn invert(_kind: Primitive, own: &Value) -> Run<Value> {
    Ok(match own {
        Value::Int(own) => Value::Int(!own),
        Value::Long(own) => Value::Long(!own),
        _ => return Err(no_number(own)),
    })
}
