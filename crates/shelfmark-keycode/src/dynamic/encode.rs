//! Encodes values to bytes.

use super::{KeyType, KeyValue, check_depth, check_kinded, check_record};
use crate::component as c;
use crate::component::Kind;
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// Appends one component.
///
/// On an error `out` is as before.
///
/// # Errors
///
/// * [`KeyErrorKind::WrongType`]: the value is not of the type. Fix the call.
/// * [`KeyErrorKind::NonCanonical`]: a set or the keys of a map are not ascending and unique. Use
///   [`canonicalize`](crate::canonicalize) first.
/// * [`KeyErrorKind::TooDeep`]: see [`KEY_DEPTH_MAX`](crate::KEY_DEPTH_MAX). Flatten the type.
pub fn encode(
    key_type: &KeyType,
    direction: Direction,
    value: &KeyValue,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    let result = encode_at(key_type, direction, value, out, 0);
    if result.is_err() {
        out.truncate(start);
    }
    result
}

fn encode_at(
    key_type: &KeyType,
    direction: Direction,
    value: &KeyValue,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<()> {
    check_depth(depth)?;
    match (key_type, value) {
        (KeyType::Text, KeyValue::Text(v)) => c::put_text(out, direction, v),
        (KeyType::Bytes, KeyValue::Bytes(v)) => c::put_bytes(out, direction, v),
        (KeyType::Bool, KeyValue::Bool(v)) => c::put_bool(out, direction, *v),
        (KeyType::I8, KeyValue::I8(v)) => c::put_i8(out, direction, *v),
        (KeyType::I16, KeyValue::I16(v)) => c::put_i16(out, direction, *v),
        (KeyType::I32, KeyValue::I32(v)) => c::put_i32(out, direction, *v),
        (KeyType::I64, KeyValue::I64(v)) => c::put_i64(out, direction, *v),
        (KeyType::I128, KeyValue::I128(v)) => c::put_i128(out, direction, *v),
        (KeyType::U8, KeyValue::U8(v)) => c::put_u8(out, direction, *v),
        (KeyType::U16, KeyValue::U16(v)) => c::put_u16(out, direction, *v),
        (KeyType::U32, KeyValue::U32(v)) => c::put_u32(out, direction, *v),
        (KeyType::U64, KeyValue::U64(v)) => c::put_u64(out, direction, *v),
        (KeyType::U128, KeyValue::U128(v)) => c::put_u128(out, direction, *v),
        (KeyType::Integer, KeyValue::Integer(v)) => c::put_integer(out, direction, v),
        (KeyType::Decimal, KeyValue::Decimal(v)) => c::put_decimal(out, direction, v),
        (KeyType::F32, KeyValue::F32(v)) => c::put_f32(out, direction, *v),
        (KeyType::F64, KeyValue::F64(v)) => c::put_f64(out, direction, *v),
        (KeyType::Date, KeyValue::Date(v)) => c::put_date(out, direction, *v),
        (KeyType::Time, KeyValue::Time(v)) => c::put_time(out, direction, *v),
        (KeyType::Timestamp, KeyValue::Timestamp(v)) => c::put_timestamp(out, direction, *v),
        (KeyType::Inet, KeyValue::Inet(v)) => c::put_inet(out, direction, *v),
        (KeyType::Uuid, KeyValue::Uuid(v)) => c::put_uuid(out, direction, *v),
        (KeyType::CqlUuid, KeyValue::Uuid(v)) => c::put_cql_uuid(out, direction, *v),
        (KeyType::CqlTimeUuid, KeyValue::Uuid(v)) => c::put_cql_timeuuid(out, direction, *v),
        _ => return encode_nested(key_type, direction, value, out, depth),
    }
    Ok(())
}

fn encode_nested(
    key_type: &KeyType,
    direction: Direction,
    value: &KeyValue,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<()> {
    match (key_type, value) {
        (KeyType::Tuple(types), KeyValue::Tuple(values)) if types.len() == values.len() => types
            .iter()
            .zip(values)
            .try_for_each(|(ty, value)| encode_at(ty, direction, value, out, depth + 1)),
        (KeyType::Record(types), KeyValue::Tuple(values)) if types.len() == values.len() => {
            check_record(types)?;
            let written = values.iter().rposition(|value| *value != KeyValue::Null);
            for (ty, value) in types.iter().zip(values).take(written.map_or(0, |at| at + 1)) {
                c::put_more(out, direction);
                encode_at(ty, direction, value, out, depth + 1)?;
            }
            c::put_end(out, direction);
            Ok(())
        }
        (KeyType::List(element), KeyValue::List(values)) => {
            for value in values {
                c::put_more(out, direction);
                encode_at(element, direction, value, out, depth + 1)?;
            }
            c::put_end(out, direction);
            Ok(())
        }
        (KeyType::Set(element), KeyValue::Set(values)) => {
            let mut ascending = Ascending::new(direction);
            for value in values {
                c::put_more(out, direction);
                let start = out.len();
                encode_at(element, direction, value, out, depth + 1)?;
                ascending.check(out, start)?;
            }
            c::put_end(out, direction);
            Ok(())
        }
        (KeyType::Map(key_type, value_type), KeyValue::Map(entries)) => {
            let mut ascending = Ascending::new(direction);
            for (key, value) in entries {
                c::put_more(out, direction);
                let start = out.len();
                encode_at(key_type, direction, key, out, depth + 1)?;
                ascending.check(out, start)?;
                encode_at(value_type, direction, value, out, depth + 1)?;
            }
            c::put_end(out, direction);
            Ok(())
        }
        (KeyType::Kinded(inner), value) => encode_kinded(inner, direction, value, out, depth),
        _ => Err(KeyError::new(KeyErrorKind::WrongType, "the value is not of the key's type")),
    }
}

fn encode_kinded(
    inner: &KeyType,
    direction: Direction,
    value: &KeyValue,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<()> {
    check_kinded(inner)?;
    match value {
        KeyValue::Null => c::put_kind(out, direction, Kind::Null),
        KeyValue::Empty if inner.has_zero_length_value() => {
            let message = "the empty text or bytes are a value, not an empty component";
            return Err(KeyError::new(KeyErrorKind::WrongType, message));
        }
        KeyValue::Empty => c::put_kind(out, direction, Kind::Empty),
        value => {
            c::put_kind(out, direction, Kind::Value);
            encode_at(inner, direction, value, out, depth)?;
        }
    }
    Ok(())
}

/// Checks by their bytes that the elements of a set, or the keys of a map, ascend.
///
/// The bytes of descending components ascend the other way round.
struct Ascending {
    direction: Direction,
    previous: Option<(usize, usize)>,
}

impl Ascending {
    const fn new(direction: Direction) -> Self {
        Self { direction, previous: None }
    }

    /// Checks the element that begins at `start` and ends `out`.
    fn check(&mut self, out: &[u8], start: usize) -> Result<()> {
        let element = out.get(start..).unwrap_or_default();
        if let Some((from, to)) = self.previous {
            let previous = out.get(from..to).unwrap_or_default();
            check_ascending(self.direction, previous, element)?;
        }
        self.previous = Some((start, out.len()));
        Ok(())
    }
}

/// Refuses an element that does not follow the previous one in order.
pub(super) fn check_ascending(direction: Direction, previous: &[u8], element: &[u8]) -> Result<()> {
    let ascends = match direction {
        Direction::Ascending => previous < element,
        Direction::Descending => previous > element,
    };
    if ascends {
        return Ok(());
    }
    let message = "the elements of a set or keys of a map are not ascending and unique";
    Err(KeyError::new(KeyErrorKind::NonCanonical, message))
}
