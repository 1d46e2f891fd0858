//! One value as bytes: a tag, then a payload that reaches to the end of the given slice.
//!
//! Containers hold a count and length-prefixed members, so a member can be stepped over without
//! being decoded.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_model::limits::VALUE_DEPTH_MAX;
use shelfmark_model::{Decimal, Item, Value};

use crate::error::{Error, Result};
use crate::varint::{Reader, put_varint, unzigzag, utf8, zigzag};

mod tag {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const FALSE: u8 = 1;
    pub(crate) const TRUE: u8 = 2;
    pub(crate) const INT: u8 = 3;
    pub(crate) const BIG_INT: u8 = 4;
    pub(crate) const NUMBER: u8 = 5;
    pub(crate) const FLOAT32: u8 = 6;
    pub(crate) const FLOAT: u8 = 7;
    pub(crate) const TEXT: u8 = 8;
    pub(super) const BYTES: u8 = 9;
    pub(super) const UUID: u8 = 10;
    pub(crate) const TIMESTAMP: u8 = 11;
    pub(crate) const DATE: u8 = 12;
    pub(crate) const TIME: u8 = 13;
    pub(crate) const INET: u8 = 14;
    pub(crate) const DURATION: u8 = 15;
    pub(crate) const LIST: u8 = 16;
    pub(crate) const SET: u8 = 17;
    pub(super) const MAP: u8 = 18;
    pub(crate) const PAIRS: u8 = 19;
    pub(crate) const TUPLE: u8 = 20;
}

/// Appends the bytes of `value`. Never empty.
pub(crate) fn encode_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(tag::NULL),
        Value::Bool(false) => out.push(tag::FALSE),
        Value::Bool(true) => out.push(tag::TRUE),
        Value::Int(n) => integer(out, tag::INT, *n),
        Value::BigInt(n) => leaf(out, tag::BIG_INT, &n.to_signed_bytes_be()),
        Value::Number(n) => {
            out.push(tag::NUMBER);
            put_varint(out, zigzag(i64::from(n.scale())));
            out.extend_from_slice(&n.unscaled().to_signed_bytes_be());
        }
        Value::Float32(n) => leaf(out, tag::FLOAT32, &n.to_be_bytes()),
        Value::Float(n) => leaf(out, tag::FLOAT, &n.to_be_bytes()),
        Value::Text(text) => leaf(out, tag::TEXT, text.as_bytes()),
        Value::Bytes(bytes) => leaf(out, tag::BYTES, bytes),
        Value::Uuid(uuid) => leaf(out, tag::UUID, uuid),
        Value::Timestamp(n) => integer(out, tag::TIMESTAMP, *n),
        Value::Date(n) => integer(out, tag::DATE, i64::from(*n)),
        Value::Time(n) => integer(out, tag::TIME, *n),
        Value::Inet(IpAddr::V4(address)) => leaf(out, tag::INET, &address.octets()),
        Value::Inet(IpAddr::V6(address)) => leaf(out, tag::INET, &address.octets()),
        Value::Duration { months, days, nanos } => {
            integer(out, tag::DURATION, i64::from(*months));
            put_varint(out, zigzag(i64::from(*days)));
            put_varint(out, zigzag(*nanos));
        }
        Value::List(values) => members(out, tag::LIST, values),
        Value::Set(values) => members(out, tag::SET, values),
        Value::Map(map) => {
            encode_map_head(map.len(), out);
            for (name, value) in map {
                encode_member(name, value, out);
            }
        }
        Value::Pairs(pairs) => {
            count(out, tag::PAIRS, pairs.len());
            for (key, value) in pairs {
                prefixed(out, |out| encode_value(key, out));
                prefixed(out, |out| encode_value(value, out));
            }
        }
        Value::Tuple(fields) => {
            count(out, tag::TUPLE, fields.len());
            for field in fields {
                // An absent field has length 0; a present one never has.
                prefixed(out, |out| {
                    if let Some(value) = field {
                        encode_value(value, out);
                    }
                });
            }
        }
    }
}

/// Begins a map of so many members; they follow in the order of their names.
pub(super) fn encode_map_head(members: usize, out: &mut Vec<u8>) {
    count(out, tag::MAP, members);
}

/// Appends a member of a map.
pub(super) fn encode_member(name: &str, value: &Value, out: &mut Vec<u8>) {
    encode_name(name, out);
    prefixed_value(out, value);
}

/// Appends a member of a map that is itself a map: the attributes of an item.
pub(super) fn encode_item_member(name: &str, item: &Item, out: &mut Vec<u8>) {
    encode_name(name, out);
    prefixed(out, |out| {
        encode_map_head(item.len(), out);
        for (name, value) in item.iter() {
            encode_member(name, value, out);
        }
    });
}

fn encode_name(name: &str, out: &mut Vec<u8>) {
    put_varint(out, name.len() as u64);
    out.extend_from_slice(name.as_bytes());
}

fn leaf(out: &mut Vec<u8>, tag: u8, payload: &[u8]) {
    out.push(tag);
    out.extend_from_slice(payload);
}

fn integer(out: &mut Vec<u8>, tag: u8, n: i64) {
    out.push(tag);
    put_varint(out, zigzag(n));
}

fn count(out: &mut Vec<u8>, tag: u8, count: usize) {
    out.push(tag);
    put_varint(out, count as u64);
}

fn members(out: &mut Vec<u8>, tag: u8, values: &[Value]) {
    count(out, tag, values.len());
    for value in values {
        prefixed(out, |out| encode_value(value, out));
    }
}

/// Appends a value with its length before it.
pub(crate) fn prefixed_value(out: &mut Vec<u8>, value: &Value) {
    // Most bytes are in texts and bytes, whose length is known before.
    let (tag, payload) = match value {
        Value::Text(text) => (tag::TEXT, text.as_bytes()),
        Value::Bytes(bytes) => (tag::BYTES, bytes.as_ref()),
        value => return prefixed(out, |out| encode_value(value, out)),
    };
    put_varint(out, payload.len() as u64 + 1);
    leaf(out, tag, payload);
}

/// Appends what `write` appends, with its length before it.
pub fn prefixed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    // Most members are shorter than 128 bytes: one byte is kept free for the length.
    out.push(0);
    write(out);
    let len = out.len() - start - 1;
    if let (Ok(byte @ 0..0x80), Some(place)) = (u8::try_from(len), out.get_mut(start)) {
        *place = byte;
        return;
    }
    let mut length = Vec::with_capacity(10);
    put_varint(&mut length, len as u64);
    out.splice(start..=start, length);
}

/// Reads a value that fills `bytes`.
///
/// # Errors
///
/// * `Corrupt`: an unknown tag, a wrong length, text that is not UTF-8, or too deep.
#[inline]
pub(crate) fn decode_value(bytes: &[u8]) -> Result<Value> {
    decode_at(bytes, VALUE_DEPTH_MAX)
}

/// Works as [`decode_value`], for a value of ours that holds values of a caller `levels` below.
pub(crate) fn decode_nesting(bytes: &[u8], levels: usize) -> Result<Value> {
    decode_at(bytes, VALUE_DEPTH_MAX + levels)
}

/// Reads the first member of a map that need not be there as a whole.
pub(super) fn take_first_member<'b>(reader: &mut Reader<'b>) -> Result<(&'b str, Value)> {
    if reader.byte()? != tag::MAP || reader.varint()? == 0 {
        return Err(Error::corrupt("a map without a first member"));
    }
    let mut prefixed = || {
        let len = usize::try_from(reader.varint()?)
            .map_err(|_| Error::corrupt("a length that is too large"))?;
        reader.bytes(len)
    };
    let (name, value) = (prefixed()?, prefixed()?);
    Ok((utf8(name)?, decode_value(value)?))
}

/// Reads a value of bytes without copying it out of the record it lies in; `None` for other kinds.
#[inline]
pub(crate) fn decode_shared_bytes(record: &Bytes, bytes: &[u8]) -> Option<Value> {
    match bytes.split_first() {
        Some((&tag::BYTES, payload)) => Some(Value::Bytes(record.slice_ref(payload))),
        _ => None,
    }
}

fn decode_at(bytes: &[u8], depth: usize) -> Result<Value> {
    let below = depth.checked_sub(1).ok_or_else(|| Error::corrupt("a value is nested too deep"))?;
    let mut reader = Reader::new(bytes);
    let tag = reader.byte()?;
    let value = match tag {
        tag::NULL => Value::Null,
        tag::FALSE => Value::Bool(false),
        tag::TRUE => Value::Bool(true),
        tag::INT => Value::Int(unzigzag(reader.varint()?)),
        tag::BIG_INT => return Ok(Value::BigInt(BigInt::from_signed_bytes_be(reader.rest()))),
        tag::NUMBER => {
            let scale = narrow(unzigzag(reader.varint()?))?;
            let unscaled = BigInt::from_signed_bytes_be(reader.rest());
            let number = Decimal::new(unscaled, scale)
                .map_err(|_| Error::corrupt("a number in a value is too long"))?;
            return Ok(Value::Number(number));
        }
        tag::FLOAT32 => Value::Float32(f32::from_be_bytes(reader.array()?)),
        tag::FLOAT => Value::Float(f64::from_be_bytes(reader.array()?)),
        tag::TEXT => return Ok(Value::Text(utf8(reader.rest())?.into())),
        tag::BYTES => return Ok(Value::Bytes(Bytes::copy_from_slice(reader.rest()))),
        tag::UUID => Value::Uuid(reader.array()?),
        tag::TIMESTAMP => Value::Timestamp(unzigzag(reader.varint()?)),
        tag::DATE => Value::Date(narrow(unzigzag(reader.varint()?))?),
        tag::TIME => Value::Time(unzigzag(reader.varint()?)),
        tag::INET if bytes.len() == 5 => Value::Inet(Ipv4Addr::from(reader.array::<4>()?).into()),
        tag::INET => Value::Inet(Ipv6Addr::from(reader.array::<16>()?).into()),
        tag::DURATION => Value::Duration {
            months: narrow(unzigzag(reader.varint()?))?,
            days: narrow(unzigzag(reader.varint()?))?,
            nanos: unzigzag(reader.varint()?),
        },
        tag::LIST => Value::List(decode_members(&mut reader, below)?),
        tag::SET => Value::Set(decode_members(&mut reader, below)?),
        tag::MAP => {
            let count = reader.len()?;
            let mut map = BTreeMap::new();
            for _ in 0..count {
                let name = reader.text()?.to_owned();
                map.insert(name, decode_at(reader.prefixed()?, below)?);
            }
            Value::Map(map)
        }
        tag::PAIRS => {
            let count = reader.len()?;
            let mut pairs = Vec::with_capacity(count);
            for _ in 0..count {
                let key = decode_at(reader.prefixed()?, below)?;
                pairs.push((key, decode_at(reader.prefixed()?, below)?));
            }
            Value::Pairs(pairs)
        }
        tag::TUPLE => {
            let count = reader.len()?;
            let mut fields = Vec::with_capacity(count);
            for _ in 0..count {
                let field = reader.prefixed()?;
                fields.push(if field.is_empty() { None } else { Some(decode_at(field, below)?) });
            }
            Value::Tuple(fields)
        }
        _ => return Err(Error::corrupt("a value has an unknown tag")),
    };
    if reader.is_empty() { Ok(value) } else { Err(Error::corrupt("a value has bytes left over")) }
}

fn decode_members(reader: &mut Reader<'_>, below: usize) -> Result<Vec<Value>> {
    let count = reader.len()?;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        values.push(decode_at(reader.prefixed()?, below)?);
    }
    Ok(values)
}

fn narrow(n: i64) -> Result<i32> {
    i32::try_from(n).map_err(|_| Error::corrupt("a number in a value is out of range"))
}
