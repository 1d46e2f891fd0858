//! Arithmetic: `+ - * / %` on numbers, dates plus or minus durations, texts joined, and `-x`.

use shelfmark_cql_protocol::{CqlError, ErrorCode};

use super::numeric::{Number, common_type, compute, is_numeric};
use super::scalar::{NUMERIC, Scalar};
use crate::value::CqlType;
use crate::value::{Native, take_duration};

/// Finds what an operator does to two types.
pub fn operate(symbol: char, left: &CqlType, right: &CqlType) -> Option<Scalar> {
    let name = operator_function(symbol);
    let arguments = vec![left.clone(), right.clone()];
    if *right == CqlType::Duration
        && matches!(symbol, '+' | '-')
        && let Some(ty) = moment_type(left)
    {
        return Some(Scalar::strict(name, arguments, ty.clone(), move |values| {
            let &[moment, duration] = values else { return Ok(None) };
            shift(&ty, moment, duration, symbol == '-').map(Some)
        }));
    }
    if symbol == '+' && left.is_string() && right.is_string() {
        let returns = if left == right { left.clone() } else { CqlType::Text };
        return Some(Scalar::strict(name, arguments, returns, |values| Ok(Some(values.concat()))));
    }
    let returns = common_type(left, right)?;
    let (left, right, result) = (left.clone(), right.clone(), returns.clone());
    Some(Scalar::strict(name, arguments, returns, move |values| {
        let &[a, b] = values else { return Ok(None) };
        let (Some(a), Some(b)) = (Number::read(&left, a), Number::read(&right, b)) else {
            return Ok(None);
        };
        let (a, b) = match result {
            CqlType::Native(Native::Decimal) => (as_decimal(a, &left), as_decimal(b, &right)),
            _ => (a, b),
        };
        let number = compute(symbol, &a, &b, &result).map_err(|cause| CqlError {
            code: ErrorCode::FunctionFailure,
            message: format!("the operation '{left} {symbol} {right}' failed: {cause}"),
            extra: shelfmark_cql_protocol::ErrorExtra::Function {
                keyspace: "system".to_owned(),
                name: operator_function(symbol).to_owned(),
                arguments: vec![left.to_string(), right.to_string()],
            },
        })?;
        Ok(number.write(&result))
    }))
}

/// Returns the type of moments that values of a type are, or may stand for: a whole number of
/// milliseconds is a timestamp, one of days is a date.
fn moment_type(ty: &CqlType) -> Option<CqlType> {
    match ty {
        CqlType::Native(Native::Timestamp | Native::Bigint) => Some(CqlType::Timestamp),
        CqlType::Native(Native::Date | Native::Int) => Some(CqlType::Date),
        _ => None,
    }
}

/// Integers of a fixed size become decimals by way of a double, and so have one decimal place: `2`
/// is `2.0`. Source: Cassandra 5.0, `DecimalType.toBigDecimal`.
fn as_decimal(number: Number, ty: &CqlType) -> Number {
    match number {
        Number::Integer(_) if *ty != CqlType::Varint => Number::Float(number.to_f64()),
        other => other,
    }
}

/// Returns the name of the function behind an operator, spelt as Cassandra spells it.
#[must_use]
pub const fn operator_function(symbol: char) -> &'static str {
    match symbol {
        '+' => "_add",
        '-' => "_substract",
        '*' => "_multiply",
        '/' => "_divide",
        _ => "_modulo",
    }
}

fn shift(ty: &CqlType, moment: &[u8], duration: &[u8], minus: bool) -> Result<Vec<u8>, CqlError> {
    let duration = take_duration(duration).map_err(|error| CqlError::invalid(error.0))?;
    let sign = if minus { -1 } else { 1 };
    let beyond = || CqlError::invalid("the result is out of range");
    let (precision, nanos) = match ty {
        CqlType::Native(Native::Date) => ("day", super::time::NANOS_PER_DAY),
        _ => ("millisecond", 1_000_000),
    };
    if duration.nanos % nanos != 0 {
        return Err(CqlError::new(
            shelfmark_cql_protocol::ErrorCode::FunctionFailure,
            format!(
                "the operation '{ty} {} duration' failed: The duration must have a {precision} precision. Was: {}",
                if minus { '-' } else { '+' },
                duration.to_text()
            ),
        ));
    }
    if let (CqlType::Native(Native::Date), Ok(bytes)) = (ty, moment.try_into()) {
        let days = i64::from(u32::from_be_bytes(bytes)) - i64::from(crate::value::DATE_EPOCH);
        let millis =
            super::time::add_duration(days * 86_400_000, duration, sign).ok_or_else(beyond)?;
        let days = millis.div_euclid(86_400_000) + i64::from(crate::value::DATE_EPOCH);
        return u32::try_from(days).map(|days| days.to_be_bytes().to_vec()).map_err(|_| beyond());
    }
    let Ok(bytes) = moment.try_into() else { return Err(beyond()) };
    let millis = super::time::add_duration(i64::from_be_bytes(bytes), duration, sign);
    millis.map(|millis| millis.to_be_bytes().to_vec()).ok_or_else(beyond)
}

/// Returns the refusal of `-` before a value that has no negative: the function behind it takes numbers.
#[must_use]
pub fn no_negative() -> CqlError {
    let mut names: Vec<String> = NUMERIC.iter().map(ToString::to_string).collect();
    names.sort();
    let known: Vec<String> =
        names.iter().map(|ty| format!("system.\"_negate\" : ({ty}) -> {ty}")).collect();
    CqlError::invalid(format!(
        "Invalid call to function system._negate, none of its type signatures match (known type signatures: {})",
        known.join(", ")
    ))
}

/// Finds what `-` before a value of this type does.
pub fn negate(ty: &CqlType) -> Option<Scalar> {
    if !is_numeric(ty) {
        return None;
    }
    let own = ty.clone();
    Some(Scalar::strict("_negate", vec![ty.clone()], ty.clone(), move |values| {
        let &[value] = values else { return Ok(None) };
        Ok(match Number::read(&own, value) {
            Some(Number::Integer(n)) => Number::Integer(-n).write(&own),
            Some(Number::Float(n)) => Number::Float(-n).write(&own),
            Some(Number::Decimal(n, scale)) => Number::Decimal(-n, scale).write(&own),
            None => None,
        })
    }))
}
