//! Types as `[option]`s of the native protocol, in result and bind metadata: written, and read at a
//! client's end.
//!
//! Source: native protocol specification v4 and v5, section "Rows"; what is a custom type in older
//! versions: Cassandra 5.0's `DataType`, read 2026-11.

use std::sync::Arc;

use super::{
    CqlType, MarshalError, Native, Result, TYPE_DEPTH_MAX, UserType, class_name, parse_class_name,
};

/// The first version of the protocol that knows `duration`.
const VERSION_OF_DURATION: u8 = 5;
/// The first version that knows `date`, `time`, `smallint` and `tinyint`.
const VERSION_OF_SMALL_TYPES: u8 = 4;

/// Appends the option of a type for a connection of this protocol version.
pub fn put_type_option(ty: &CqlType, version: u8, out: &mut Vec<u8>) {
    match ty {
        CqlType::Native(native) => match native_code(*native, version) {
            Some(code) => out.extend_from_slice(&code.to_be_bytes()),
            None => put_custom(&class_name(ty), out),
        },
        CqlType::List { element, .. } => {
            out.extend_from_slice(&0x20_u16.to_be_bytes());
            put_type_option(element, version, out);
        }
        CqlType::Map { key, value, .. } => {
            out.extend_from_slice(&0x21_u16.to_be_bytes());
            put_type_option(key, version, out);
            put_type_option(value, version, out);
        }
        CqlType::Set { element, .. } => {
            out.extend_from_slice(&0x22_u16.to_be_bytes());
            put_type_option(element, version, out);
        }
        CqlType::User { definition: udt, .. } => {
            out.extend_from_slice(&0x30_u16.to_be_bytes());
            put_string(&udt.keyspace, out);
            put_string(&udt.name, out);
            put_count(udt.fields.len(), out);
            for (name, field) in &udt.fields {
                put_string(name, out);
                put_type_option(field, version, out);
            }
        }
        CqlType::Tuple(fields) => {
            out.extend_from_slice(&0x31_u16.to_be_bytes());
            put_count(fields.len(), out);
            for field in fields.iter() {
                put_type_option(field, version, out);
            }
        }
        CqlType::Vector { .. } => put_custom(&class_name(ty), out),
        CqlType::Custom(class) => put_custom(class, out),
    }
}

/// Takes the option of a type off the front of `bytes`.
///
/// Collections in it are taken for live ones: the protocol does not say which are frozen.
///
/// # Errors
///
/// * It is cut, of an unknown code or class, or nested more deeply than [`TYPE_DEPTH_MAX`]. The
///   bytes behind it cannot be read then.
pub fn take_type_option(bytes: &mut &[u8]) -> Result<CqlType> {
    take_option(bytes, 0)
}

fn take_option(bytes: &mut &[u8], depth: usize) -> Result<CqlType> {
    if depth >= TYPE_DEPTH_MAX {
        return Err(MarshalError::new("types are nested too deeply"));
    }
    let code = take_count(bytes)?;
    let inner = |bytes: &mut &[u8]| take_option(bytes, depth + 1);
    Ok(match code {
        0x00 => {
            let class = take_string(bytes)?;
            parse_class_name(&class).map_or_else(|_| CqlType::Custom(Arc::from(class)), |it| it.0)
        }
        0x20 => CqlType::list(inner(bytes)?),
        0x21 => CqlType::map(inner(bytes)?, inner(bytes)?),
        0x22 => CqlType::set(inner(bytes)?),
        0x30 => {
            let (keyspace, name) = (take_string(bytes)?.into(), take_string(bytes)?.into());
            let count = take_count(bytes)?;
            let field = |_| Ok((Arc::from(take_string(bytes)?), inner(bytes)?));
            let fields = (0..count).map(field).collect::<Result<_>>()?;
            let definition = Arc::new(UserType { keyspace, name, fields });
            CqlType::User { definition, frozen: false }
        }
        0x31 => {
            let count = take_count(bytes)?;
            CqlType::tuple((0..count).map(|_| inner(bytes)).collect::<Result<_>>()?)
        }
        code => {
            let known = NATIVES.iter().find(|native| native_code(**native, u8::MAX) == Some(code));
            CqlType::Native(*known.ok_or_else(|| {
                MarshalError::new(format!("there is no type of code 0x{code:04x}"))
            })?)
        }
    })
}

fn take_count(bytes: &mut &[u8]) -> Result<u16> {
    let (count, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    *bytes = rest;
    Ok(u16::from_be_bytes(*count))
}

fn take_string(bytes: &mut &[u8]) -> Result<String> {
    let length = usize::from(take_count(bytes)?);
    let (text, rest) = bytes.split_at_checked(length).ok_or_else(cut)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).map_err(|_| MarshalError::new("a name is not UTF-8"))
}

fn cut() -> MarshalError {
    MarshalError::new("a type is cut off")
}

/// The types that have a code of their own.
const NATIVES: [Native; 20] = [
    Native::Ascii,
    Native::Bigint,
    Native::Blob,
    Native::Boolean,
    Native::Counter,
    Native::Date,
    Native::Decimal,
    Native::Double,
    Native::Duration,
    Native::Float,
    Native::Inet,
    Native::Int,
    Native::Smallint,
    Native::Text,
    Native::Time,
    Native::Timestamp,
    Native::Timeuuid,
    Native::Tinyint,
    Native::Uuid,
    Native::Varint,
];

const fn native_code(native: Native, version: u8) -> Option<u16> {
    Some(match native {
        Native::Ascii => 0x01,
        Native::Bigint => 0x02,
        Native::Blob => 0x03,
        Native::Boolean => 0x04,
        Native::Counter => 0x05,
        Native::Decimal => 0x06,
        Native::Double => 0x07,
        Native::Float => 0x08,
        Native::Int => 0x09,
        Native::Timestamp => 0x0B,
        Native::Uuid => 0x0C,
        Native::Text => 0x0D,
        Native::Varint => 0x0E,
        Native::Timeuuid => 0x0F,
        Native::Inet => 0x10,
        Native::Date if version >= VERSION_OF_SMALL_TYPES => 0x11,
        Native::Time if version >= VERSION_OF_SMALL_TYPES => 0x12,
        Native::Smallint if version >= VERSION_OF_SMALL_TYPES => 0x13,
        Native::Tinyint if version >= VERSION_OF_SMALL_TYPES => 0x14,
        Native::Duration if version >= VERSION_OF_DURATION => 0x15,
        _ => return None,
    })
}

fn put_custom(class: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&0_u16.to_be_bytes());
    put_string(class, out);
}

fn put_count(count: usize, out: &mut Vec<u8>) {
    // Tuples and user types have at most 32,768 fields; see the schema's checks.
    out.extend_from_slice(&u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes());
}

fn put_string(text: &str, out: &mut Vec<u8>) {
    let mut end = text.len().min(usize::from(u16::MAX));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    put_count(end, out);
    out.extend_from_slice(text.get(..end).unwrap_or_default().as_bytes());
}
