//! Types as `[option]`s of the native protocol, in result and bind metadata.
//!
//! Source: native protocol specification v4 and v5, section "Rows"; what is a custom type in older
//! versions: Cassandra 5.0's `DataType`, read 2026-11.

use super::{CqlType, Native, class_name};

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
