//! One key column's value as ordered bytes, and back.

use std::borrow::Cow;

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode as keycode;
use shelfmark_model::{Direction, KeyType, KeyValue, Value};

use crate::error::{Error, Result};

/// Appends the component; text, bytes and decimals without a detour, for they are most keys.
pub(crate) fn put_component(
    key_type: &KeyType,
    direction: Direction,
    value: &Value,
    out: &mut Vec<u8>,
) -> Result<()> {
    match (key_type, value) {
        (KeyType::Text, Value::Text(text)) => keycode::put_text(out, direction, text),
        (KeyType::Bytes, Value::Bytes(bytes)) => keycode::put_bytes(out, direction, bytes),
        (KeyType::Decimal, Value::Number(number)) => keycode::put_decimal(out, direction, number),
        (KeyType::I64, Value::Int(n)) => keycode::put_i64(out, direction, *n),
        _ => {
            let mut value = to_key_value(key_type, value)?;
            // Sets and maps have one form in keys, whatever order a client sent them in.
            keycode::canonicalize(key_type, &mut value)?;
            keycode::encode(key_type, direction, &value, out)?;
        }
    }
    Ok(())
}

/// Reads a component from the front of `rest`.
pub(crate) fn take_component(
    key_type: &KeyType,
    direction: Direction,
    rest: &mut &[u8],
) -> Result<Value> {
    match key_type {
        KeyType::Text => Ok(Value::Text(keycode::take_text(rest, direction)?.into())),
        KeyType::Bytes => Ok(Value::Bytes(match keycode::take_bytes(rest, direction)? {
            Cow::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Cow::Owned(bytes) => bytes.into(),
        })),
        KeyType::Decimal => Ok(Value::Number(keycode::take_decimal(rest, direction)?)),
        KeyType::I64 => Ok(Value::Int(keycode::take_i64(rest, direction)?)),
        _ => from_key_value(keycode::decode(key_type, direction, rest)?),
    }
}

/// Translates a value into the key layer's own type.
fn to_key_value(key_type: &KeyType, value: &Value) -> Result<KeyValue> {
    let wrong =
        || Error::invalid(format!("a key of type {key_type:?} cannot hold a {:?}", value.kind()));
    Ok(match (key_type, value) {
        (KeyType::Kinded(_), Value::Null) => KeyValue::Null,
        // CQL's value of zero bytes, of a type that has none itself.
        (KeyType::Kinded(inner), Value::Bytes(bytes))
            if bytes.is_empty() && !matches!(**inner, KeyType::Text | KeyType::Bytes) =>
        {
            KeyValue::Empty
        }
        (KeyType::Kinded(inner), value) => to_key_value(inner, value)?,
        (_, Value::Text(text)) => KeyValue::Text(text.to_string()),
        (_, Value::Bytes(bytes)) => KeyValue::Bytes(bytes.to_vec()),
        (_, Value::Bool(bool)) => KeyValue::Bool(*bool),
        (_, Value::Number(number)) => KeyValue::Decimal(number.clone()),
        (_, Value::Float32(n)) => KeyValue::F32(*n),
        (_, Value::Float(n)) => KeyValue::F64(*n),
        (_, Value::Uuid(uuid)) => KeyValue::Uuid(*uuid),
        (_, Value::Timestamp(n)) => KeyValue::Timestamp(*n),
        (_, Value::Date(days)) => KeyValue::Date(days.cast_unsigned() ^ (1 << 31)),
        (_, Value::Time(n)) => KeyValue::Time(*n),
        (_, Value::Inet(address)) => KeyValue::Inet(*address),
        (_, Value::Int(n)) => integer(key_type, &BigInt::from(*n)).ok_or_else(wrong)?,
        (_, Value::BigInt(n)) => integer(key_type, n).ok_or_else(wrong)?,
        (KeyType::Tuple(types) | KeyType::Record(types), Value::Tuple(fields))
            if types.len() == fields.len() =>
        {
            let fields = types.iter().zip(fields).map(|(inner, field)| match field {
                Some(value) => to_key_value(inner, value),
                None => to_key_value(inner, &Value::Null),
            });
            KeyValue::Tuple(fields.collect::<Result<_>>()?)
        }
        (KeyType::List(inner), Value::List(values)) => KeyValue::List(members(inner, values)?),
        (KeyType::Set(inner), Value::Set(values)) => KeyValue::Set(members(inner, values)?),
        (KeyType::Map(keys, values), Value::Pairs(pairs)) => KeyValue::Map(
            pairs
                .iter()
                .map(|(key, value)| Ok((to_key_value(keys, key)?, to_key_value(values, value)?)))
                .collect::<Result<_>>()?,
        ),
        _ => return Err(wrong()),
    })
}

fn members(inner: &KeyType, values: &[Value]) -> Result<Vec<KeyValue>> {
    values.iter().map(|value| to_key_value(inner, value)).collect()
}

fn integer(key_type: &KeyType, n: &BigInt) -> Option<KeyValue> {
    Some(match key_type {
        KeyType::I8 => KeyValue::I8(n.try_into().ok()?),
        KeyType::I16 => KeyValue::I16(n.try_into().ok()?),
        KeyType::I32 => KeyValue::I32(n.try_into().ok()?),
        KeyType::I64 => KeyValue::I64(n.try_into().ok()?),
        KeyType::I128 => KeyValue::I128(n.try_into().ok()?),
        KeyType::U8 => KeyValue::U8(n.try_into().ok()?),
        KeyType::U16 => KeyValue::U16(n.try_into().ok()?),
        KeyType::U32 => KeyValue::U32(n.try_into().ok()?),
        KeyType::U64 => KeyValue::U64(n.try_into().ok()?),
        KeyType::U128 => KeyValue::U128(n.try_into().ok()?),
        KeyType::Integer => KeyValue::Integer(n.clone()),
        _ => return None,
    })
}

/// Translates back. Integers that fit come back as [`Value::Int`].
fn from_key_value(value: KeyValue) -> Result<Value> {
    let integer = |n: BigInt| i64::try_from(&n).map_or(Value::BigInt(n), Value::Int);
    Ok(match value {
        KeyValue::Text(text) => Value::Text(text.into()),
        KeyValue::Bytes(bytes) => Value::Bytes(bytes.into()),
        KeyValue::Bool(bool) => Value::Bool(bool),
        KeyValue::I8(n) => Value::Int(n.into()),
        KeyValue::I16(n) => Value::Int(n.into()),
        KeyValue::I32(n) => Value::Int(n.into()),
        KeyValue::I64(n) => Value::Int(n),
        KeyValue::U8(n) => Value::Int(n.into()),
        KeyValue::U16(n) => Value::Int(n.into()),
        KeyValue::U32(n) => Value::Int(n.into()),
        KeyValue::I128(n) => integer(n.into()),
        KeyValue::U64(n) => integer(n.into()),
        KeyValue::U128(n) => integer(n.into()),
        KeyValue::Integer(n) => Value::BigInt(n),
        KeyValue::Decimal(number) => Value::Number(number),
        KeyValue::F32(n) => Value::Float32(n),
        KeyValue::F64(n) => Value::Float(n),
        KeyValue::Date(days) => Value::Date((days ^ (1 << 31)).cast_signed()),
        KeyValue::Time(n) => Value::Time(n),
        KeyValue::Timestamp(n) => Value::Timestamp(n),
        KeyValue::Inet(address) => Value::Inet(address),
        KeyValue::Uuid(uuid) => Value::Uuid(uuid),
        KeyValue::Null => Value::Null,
        KeyValue::Empty => Value::Bytes(Bytes::new()),
        KeyValue::Tuple(fields) => Value::Tuple(
            fields
                .into_iter()
                .map(|field| match field {
                    KeyValue::Null => Ok(None),
                    field => from_key_value(field).map(Some),
                })
                .collect::<Result<_>>()?,
        ),
        KeyValue::List(values) => Value::List(each(values)?),
        KeyValue::Set(values) => Value::Set(each(values)?),
        KeyValue::Map(pairs) => Value::Pairs(
            pairs
                .into_iter()
                .map(|(key, value)| Ok((from_key_value(key)?, from_key_value(value)?)))
                .collect::<Result<_>>()?,
        ),
    })
}

fn each(values: Vec<KeyValue>) -> Result<Vec<Value>> {
    values.into_iter().map(from_key_value).collect()
}
