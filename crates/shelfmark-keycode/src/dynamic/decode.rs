//! Decodes bytes to values, strictly.

use super::encode::check_ascending;
use super::{KeyType, KeyValue, check_depth, check_kinded, check_record};
use crate::component as c;
use crate::component::Kind;
use crate::direction::Direction;
use crate::error::{KeyError, KeyErrorKind, Result};

/// Decodes one component from the front of `input` and moves `input` behind it.
///
/// Encoding the value again gives the same bytes. On an error `input` is as before.
///
/// # Errors
///
/// * [`KeyErrorKind::Truncated`], [`KeyErrorKind::NonCanonical`]: no encoder wrote this. Treat the
///   key as damaged.
/// * [`KeyErrorKind::TooLong`], [`KeyErrorKind::Underflow`]: a decimal that
///   [`Decimal`](crate::Decimal) cannot hold. As above.
/// * [`KeyErrorKind::TooDeep`], [`KeyErrorKind::WrongType`]: the type itself is at fault, see
///   [`KeyType::check`]. Fix the type.
pub fn decode(key_type: &KeyType, direction: Direction, input: &mut &[u8]) -> Result<KeyValue> {
    let mut cursor = *input;
    match decode_at(key_type, direction, &mut cursor, 0) {
        Ok(value) => {
            *input = cursor;
            Ok(value)
        }
        // The cursor stands where the part at fault begins.
        Err(error) => Err(error.moved(input.len() - cursor.len())),
    }
}

fn decode_at(
    key_type: &KeyType,
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<KeyValue> {
    check_depth(depth)?;
    Ok(match key_type {
        KeyType::Text => KeyValue::Text(c::take_text(input, direction)?.into_owned()),
        KeyType::Bytes => KeyValue::Bytes(c::take_bytes(input, direction)?.into_owned()),
        KeyType::Bool => KeyValue::Bool(c::take_bool(input, direction)?),
        KeyType::I8 => KeyValue::I8(c::take_i8(input, direction)?),
        KeyType::I16 => KeyValue::I16(c::take_i16(input, direction)?),
        KeyType::I32 => KeyValue::I32(c::take_i32(input, direction)?),
        KeyType::I64 => KeyValue::I64(c::take_i64(input, direction)?),
        KeyType::I128 => KeyValue::I128(c::take_i128(input, direction)?),
        KeyType::U8 => KeyValue::U8(c::take_u8(input, direction)?),
        KeyType::U16 => KeyValue::U16(c::take_u16(input, direction)?),
        KeyType::U32 => KeyValue::U32(c::take_u32(input, direction)?),
        KeyType::U64 => KeyValue::U64(c::take_u64(input, direction)?),
        KeyType::U128 => KeyValue::U128(c::take_u128(input, direction)?),
        KeyType::Integer => KeyValue::Integer(c::take_integer(input, direction)?),
        KeyType::Decimal => KeyValue::Decimal(c::take_decimal(input, direction)?),
        KeyType::F32 => KeyValue::F32(c::take_f32(input, direction)?),
        KeyType::F64 => KeyValue::F64(c::take_f64(input, direction)?),
        KeyType::Date => KeyValue::Date(c::take_date(input, direction)?),
        KeyType::Time => KeyValue::Time(c::take_time(input, direction)?),
        KeyType::Timestamp => KeyValue::Timestamp(c::take_timestamp(input, direction)?),
        KeyType::Inet => KeyValue::Inet(c::take_inet(input, direction)?),
        KeyType::Uuid => KeyValue::Uuid(c::take_uuid(input, direction)?),
        KeyType::CqlUuid => KeyValue::Uuid(c::take_cql_uuid(input, direction)?),
        KeyType::CqlTimeUuid => KeyValue::Uuid(c::take_cql_timeuuid(input, direction)?),
        KeyType::Tuple(fields) => {
            let mut values = Vec::with_capacity(fields.len());
            for field in fields {
                values.push(decode_at(field, direction, input, depth + 1)?);
            }
            KeyValue::Tuple(values)
        }
        KeyType::Record(fields) => decode_record(fields, direction, input, depth)?,
        KeyType::List(element) => {
            let mut values = Vec::new();
            while c::take_more(input, direction)? {
                values.push(decode_at(element, direction, input, depth + 1)?);
            }
            KeyValue::List(values)
        }
        KeyType::Set(element) => decode_set(element, direction, input, depth)?,
        KeyType::Map(key, value) => decode_map(key, value, direction, input, depth)?,
        KeyType::Kinded(inner) => decode_kinded(inner, direction, input, depth)?,
    })
}

/// Decodes a record; fields that were left out are null.
fn decode_record(
    fields: &[KeyType],
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<KeyValue> {
    check_record(fields)?;
    let mut values = Vec::with_capacity(fields.len());
    let mut last = *input;
    while values.len() < fields.len() {
        let start = *input;
        if !c::take_more(input, direction)? {
            break;
        }
        let Some(field) = fields.get(values.len()) else { break };
        values.push(decode_at(field, direction, input, depth + 1)?);
        last = start;
    }
    if matches!(values.last(), Some(KeyValue::Null)) {
        *input = last;
        let message = "a record ends with a null that was to be left out";
        return Err(KeyError::new(KeyErrorKind::NonCanonical, message));
    }
    if values.len() == fields.len() {
        take_record_end(input, direction)?;
    }
    values.resize(fields.len(), KeyValue::Null);
    Ok(KeyValue::Tuple(values))
}

/// Decodes the end of a record that has all its fields.
pub(super) fn take_record_end(input: &mut &[u8], direction: Direction) -> Result<()> {
    let start = *input;
    if c::take_more(input, direction)? {
        *input = start;
        let message = "a record has more fields than its type";
        return Err(KeyError::new(KeyErrorKind::NonCanonical, message));
    }
    Ok(())
}

fn decode_set(
    element: &KeyType,
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<KeyValue> {
    let mut values = Vec::new();
    let mut previous = None;
    while c::take_more(input, direction)? {
        values.push(decode_ascending(element, direction, input, depth, &mut previous)?);
    }
    Ok(KeyValue::Set(values))
}

fn decode_map(
    key_type: &KeyType,
    value_type: &KeyType,
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<KeyValue> {
    let mut entries = Vec::new();
    let mut previous = None;
    while c::take_more(input, direction)? {
        let key = decode_ascending(key_type, direction, input, depth, &mut previous)?;
        let value = decode_at(value_type, direction, input, depth + 1)?;
        entries.push((key, value));
    }
    Ok(KeyValue::Map(entries))
}

/// Decodes an element that must follow the `previous` one in order, and puts its bytes there.
fn decode_ascending<'a>(
    key_type: &KeyType,
    direction: Direction,
    input: &mut &'a [u8],
    depth: usize,
    previous: &mut Option<&'a [u8]>,
) -> Result<KeyValue> {
    let start = *input;
    let value = decode_at(key_type, direction, input, depth + 1)?;
    let length = start.len() - input.len();
    let bytes = start.split_at_checked(length).map_or(start, |(bytes, _)| bytes);
    if let Some(previous) = previous {
        check_ascending(direction, previous, bytes).inspect_err(|_| *input = start)?;
    }
    *previous = Some(bytes);
    Ok(value)
}

fn decode_kinded(
    inner: &KeyType,
    direction: Direction,
    input: &mut &[u8],
    depth: usize,
) -> Result<KeyValue> {
    check_kinded(inner)?;
    let start = *input;
    match c::take_kind(input, direction)? {
        Kind::Null => Ok(KeyValue::Null),
        Kind::Empty if inner.has_zero_length_value() => {
            *input = start;
            let message = "text and bytes have no empty kind";
            Err(KeyError::new(KeyErrorKind::NonCanonical, message))
        }
        Kind::Empty => Ok(KeyValue::Empty),
        Kind::Value => decode_at(inner, direction, input, depth),
    }
}
