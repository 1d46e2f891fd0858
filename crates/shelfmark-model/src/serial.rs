//! Serialises key values plainly, as CQL sends them on the wire.
//!
//! A hashed table keeps its partition key in this form and hashes it, so that tokens are those of
//! Cassandra and so that decimals `1.0` and `1.00` are two partitions, as they are there. It has no
//! order; sort keys use `shelfmark-keycode`.
//!
//! Source: Cassandra's native protocol specification v5, section 6, and its composite type, read
//! 2026-11.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use num_bigint::BigInt;
use shelfmark_keycode::{Decimal, KeyType};

use crate::error::{Error, Result};
use crate::value::Value;

/// Serialises the columns of a partition key: one column by itself, several as a composite (each
/// with its length in 2 bytes before it and a zero after it).
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: a value is not of its column's type, or their numbers differ.
/// * [`crate::ErrorKind::LimitExceeded`]: a column of several is longer than 65,535 bytes.
pub fn serialise_partition<'a>(
    types: impl ExactSizeIterator<Item = &'a KeyType>,
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<()> {
    if types.len() != values.len() {
        return Err(Error::invalid(format!(
            "the partition key has {} columns, {} values were given",
            types.len(),
            values.len()
        )));
    }
    let several = types.len() > 1;
    for (key_type, value) in types.zip(values) {
        if !several {
            return serialise(key_type, value, out);
        }
        let start = out.len();
        out.extend_from_slice(&[0, 0]);
        serialise(key_type, value, out)?;
        let len = u16::try_from(out.len() - start - 2)
            .map_err(|_| Error::limit("a column of a partition key is longer than 65,535 bytes"))?;
        if let Some(place) = out.get_mut(start..start + 2) {
            place.copy_from_slice(&len.to_be_bytes());
        }
        out.push(0);
    }
    Ok(())
}

/// Decodes the output of [`serialise_partition`].
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the bytes are no partition key of these types.
pub fn deserialise_partition<'a>(
    types: impl ExactSizeIterator<Item = &'a KeyType>,
    bytes: &[u8],
) -> Result<Vec<Value>> {
    let several = types.len() > 1;
    let mut rest = bytes;
    let mut values = Vec::with_capacity(types.len());
    for key_type in types {
        if !several {
            return Ok(vec![deserialise(key_type, bytes)?]);
        }
        let (len, after) = rest.split_first_chunk::<2>().ok_or_else(damaged)?;
        let (column, after) =
            after.split_at_checked(usize::from(u16::from_be_bytes(*len))).ok_or_else(damaged)?;
        values.push(deserialise(key_type, column)?);
        let (end, after) = after.split_first().ok_or_else(damaged)?;
        if *end != 0 {
            return Err(damaged());
        }
        rest = after;
    }
    if rest.is_empty() { Ok(values) } else { Err(damaged()) }
}

fn damaged() -> Error {
    Error::invalid("the bytes are no partition key of this table")
}

/// Serialises one value.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the value is not of the type.
pub fn serialise(key_type: &KeyType, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    match (key_type, value) {
        (KeyType::Text, Value::Text(text)) => out.extend_from_slice(text.as_bytes()),
        (KeyType::Bytes, Value::Bytes(bytes)) => out.extend_from_slice(bytes),
        (KeyType::Bool, Value::Bool(bool)) => out.push(u8::from(*bool)),
        (KeyType::Decimal, Value::Number(number)) => {
            out.extend_from_slice(&number.scale().to_be_bytes());
            out.extend_from_slice(&number.unscaled().to_signed_bytes_be());
        }
        (KeyType::Integer, Value::BigInt(n)) => out.extend_from_slice(&n.to_signed_bytes_be()),
        (integer, Value::BigInt(n)) => return serialise_large(integer, n, out),
        (KeyType::F32, Value::Float32(n)) => out.extend_from_slice(&n.to_be_bytes()),
        (KeyType::F64, Value::Float(n)) => out.extend_from_slice(&n.to_be_bytes()),
        (KeyType::Date, Value::Date(days)) => {
            out.extend_from_slice(&(days.cast_unsigned() ^ (1 << 31)).to_be_bytes());
        }
        (KeyType::Timestamp, Value::Timestamp(n)) | (KeyType::Time, Value::Time(n)) => {
            out.extend_from_slice(&n.to_be_bytes());
        }
        (KeyType::Inet, Value::Inet(IpAddr::V4(address))) => {
            out.extend_from_slice(&address.octets());
        }
        (KeyType::Inet, Value::Inet(IpAddr::V6(address))) => {
            out.extend_from_slice(&address.octets());
        }
        (KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid, Value::Uuid(uuid)) => {
            out.extend_from_slice(uuid);
        }
        (integer, Value::Int(n)) => return serialise_integer(integer, *n, out),
        (KeyType::Tuple(types) | KeyType::Record(types), Value::Tuple(fields))
            if types.len() == fields.len() =>
        {
            for (key_type, field) in types.iter().zip(fields) {
                match field {
                    None => out.extend_from_slice(&(-1i32).to_be_bytes()),
                    Some(value) => element(key_type, value, out)?,
                }
            }
        }
        (KeyType::Kinded(inner), Value::Bytes(bytes))
            if bytes.is_empty() && **inner != KeyType::Bytes => {}
        (KeyType::Kinded(key_type), value) => return serialise(key_type, value, out),
        (KeyType::List(inner), Value::List(values)) | (KeyType::Set(inner), Value::Set(values)) => {
            count(values.len(), out)?;
            for value in values {
                element(inner, value, out)?;
            }
        }
        (KeyType::Map(keys, values), Value::Pairs(pairs)) => {
            count(pairs.len(), out)?;
            for (key, value) in pairs {
                element(keys, key, out)?;
                element(values, value, out)?;
            }
        }
        _ => return Err(wrong_type(key_type, value)),
    }
    Ok(())
}

pub(crate) fn wrong_type(key_type: &KeyType, value: &Value) -> Error {
    Error::invalid(format!(
        "a key of type {key_type:?} cannot hold a value of kind {:?}",
        value.kind()
    ))
}

fn serialise_integer(key_type: &KeyType, n: i64, out: &mut Vec<u8>) -> Result<()> {
    let range = || Error::invalid(format!("{n} is out of the range of {key_type:?}"));
    macro_rules! fixed {
        ($type:ty) => {
            out.extend_from_slice(&<$type>::try_from(n).map_err(|_| range())?.to_be_bytes())
        };
    }
    match key_type {
        KeyType::I8 => fixed!(i8),
        KeyType::I16 => fixed!(i16),
        KeyType::I32 => fixed!(i32),
        KeyType::I64 => fixed!(i64),
        KeyType::I128 => fixed!(i128),
        KeyType::U8 => fixed!(u8),
        KeyType::U16 => fixed!(u16),
        KeyType::U32 => fixed!(u32),
        KeyType::U64 => fixed!(u64),
        KeyType::U128 => fixed!(u128),
        KeyType::Integer => out.extend_from_slice(&BigInt::from(n).to_signed_bytes_be()),
        KeyType::Kinded(inner) => return serialise_integer(inner, n, out),
        _ => return Err(wrong_type(key_type, &Value::Int(n))),
    }
    Ok(())
}

/// Serialises an integer above `i64` in the types that hold it.
fn serialise_large(key_type: &KeyType, n: &BigInt, out: &mut Vec<u8>) -> Result<()> {
    let range = |_| Error::invalid(format!("{n} is out of the range of {key_type:?}"));
    match key_type {
        KeyType::I128 => out.extend_from_slice(&i128::try_from(n).map_err(range)?.to_be_bytes()),
        KeyType::U64 => out.extend_from_slice(&u64::try_from(n).map_err(range)?.to_be_bytes()),
        KeyType::U128 => out.extend_from_slice(&u128::try_from(n).map_err(range)?.to_be_bytes()),
        _ => return Err(wrong_type(key_type, &Value::BigInt(n.clone()))),
    }
    Ok(())
}

fn count(len: usize, out: &mut Vec<u8>) -> Result<()> {
    let len = i32::try_from(len).map_err(|_| Error::limit("a collection has too many members"))?;
    out.extend_from_slice(&len.to_be_bytes());
    Ok(())
}

fn element(key_type: &KeyType, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    serialise(key_type, value, out)?;
    let len = i32::try_from(out.len() - start - 4)
        .map_err(|_| Error::limit("a member of a collection is too long"))?;
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&len.to_be_bytes());
    }
    Ok(())
}

/// Decodes one value that fills `bytes`.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the bytes are no value of the type.
pub fn deserialise(key_type: &KeyType, bytes: &[u8]) -> Result<Value> {
    macro_rules! fixed {
        ($type:ty) => {
            <$type>::from_be_bytes(bytes.try_into().map_err(|_| damaged())?)
        };
    }
    macro_rules! int {
        ($type:ty) => {
            Value::Int(i64::from(fixed!($type)))
        };
    }
    Ok(match key_type {
        KeyType::Text => Value::Text(std::str::from_utf8(bytes).map_err(|_| damaged())?.into()),
        KeyType::Bytes => Value::Bytes(bytes::Bytes::copy_from_slice(bytes)),
        KeyType::Bool => Value::Bool(fixed!(u8) != 0),
        KeyType::I8 => int!(i8),
        KeyType::I16 => int!(i16),
        KeyType::I32 => int!(i32),
        KeyType::I64 => int!(i64),
        KeyType::I128 => large(fixed!(i128).into()),
        KeyType::U8 => int!(u8),
        KeyType::U16 => int!(u16),
        KeyType::U32 => int!(u32),
        KeyType::U64 => large(fixed!(u64).into()),
        KeyType::U128 => large(fixed!(u128).into()),
        KeyType::Integer => Value::BigInt(BigInt::from_signed_bytes_be(bytes)),
        KeyType::Decimal => {
            let (scale, unscaled) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
            let unscaled = BigInt::from_signed_bytes_be(unscaled);
            let number = Decimal::new(unscaled, i32::from_be_bytes(*scale));
            Value::Number(number.map_err(|_| damaged())?)
        }
        KeyType::F32 => Value::Float32(fixed!(f32)),
        KeyType::F64 => Value::Float(fixed!(f64)),
        KeyType::Date => Value::Date((fixed!(u32) ^ (1 << 31)).cast_signed()),
        KeyType::Time => Value::Time(fixed!(i64)),
        KeyType::Timestamp => Value::Timestamp(fixed!(i64)),
        KeyType::Inet if bytes.len() == 4 => Value::Inet(Ipv4Addr::from(fixed!(u32)).into()),
        KeyType::Inet => Value::Inet(Ipv6Addr::from(fixed!(u128)).into()),
        KeyType::Uuid | KeyType::CqlUuid | KeyType::CqlTimeUuid => {
            Value::Uuid(bytes.try_into().map_err(|_| damaged())?)
        }
        // CQL's empty value, of a type that has none itself.
        KeyType::Kinded(inner)
            if bytes.is_empty() && !matches!(**inner, KeyType::Text | KeyType::Bytes) =>
        {
            Value::Bytes(bytes::Bytes::new())
        }
        KeyType::Kinded(inner) => deserialise(inner, bytes)?,
        KeyType::Tuple(types) | KeyType::Record(types) => Value::Tuple(take_fields(types, bytes)?),
        KeyType::List(inner) => Value::List(take_members(inner, bytes)?),
        KeyType::Set(inner) => Value::Set(take_members(inner, bytes)?),
        KeyType::Map(keys, values) => {
            let (count, mut rest) = take_count(bytes)?;
            let mut pairs = Vec::with_capacity(count.min(rest.len()));
            for _ in 0..count {
                let key = take_field(keys, &mut rest)?.ok_or_else(damaged)?;
                pairs.push((key, take_field(values, &mut rest)?.ok_or_else(damaged)?));
            }
            Value::Pairs(pairs)
        }
    })
}

/// Decodes the fields of a tuple or record. Those that are missing at the end are null: the type
/// got them later.
fn take_fields(types: &[KeyType], bytes: &[u8]) -> Result<Vec<Option<Value>>> {
    let mut rest = bytes;
    let fields = types
        .iter()
        .map(|inner| if rest.is_empty() { Ok(None) } else { take_field(inner, &mut rest) })
        .collect::<Result<_>>()?;
    // Left out they would make two values one key.
    while !rest.is_empty() {
        if take_length(&mut rest)?.is_some() {
            return Err(Error::invalid("a value has more fields than the key's type"));
        }
    }
    Ok(fields)
}

/// Returns an integer that fits as [`Value::Int`], a larger one as [`Value::BigInt`].
fn large(n: BigInt) -> Value {
    i64::try_from(&n).map_or(Value::BigInt(n), Value::Int)
}

fn take_count(bytes: &[u8]) -> Result<(usize, &[u8])> {
    let (count, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    let count = usize::try_from(i32::from_be_bytes(*count)).map_err(|_| damaged())?;
    Ok((count, rest))
}

fn take_members(inner: &KeyType, bytes: &[u8]) -> Result<Vec<Value>> {
    let (count, mut rest) = take_count(bytes)?;
    let mut members = Vec::with_capacity(count.min(rest.len()));
    for _ in 0..count {
        members.push(take_field(inner, &mut rest)?.ok_or_else(damaged)?);
    }
    Ok(members)
}

fn take_field(key_type: &KeyType, rest: &mut &[u8]) -> Result<Option<Value>> {
    let Some(len) = take_length(rest)? else { return Ok(None) };
    let (field, after) = rest.split_at_checked(len).ok_or_else(damaged)?;
    *rest = after;
    deserialise(key_type, field).map(Some)
}

/// Decodes the length of a field; `None` is that of a null.
fn take_length(rest: &mut &[u8]) -> Result<Option<usize>> {
    let (len, after) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    *rest = after;
    Ok(usize::try_from(i32::from_be_bytes(*len)).ok())
}
