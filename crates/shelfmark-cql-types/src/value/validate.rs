//! Validation of serialised values, with Cassandra's words for those that are invalid.

use super::{CqlType, MarshalError, Native, Result, TYPE_DEPTH_MAX, take_duration};
use super::{elements, entries, fields, vector_elements};

/// Checks that `bytes` are a value of `ty`.
///
/// # Errors
///
/// They are not. The text says what was expected and what came.
pub fn validate(ty: &CqlType, bytes: &[u8]) -> Result<()> {
    validate_at(ty, bytes, 0)
}

fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(MarshalError::new(message))
}

fn validate_at(ty: &CqlType, bytes: &[u8], depth: usize) -> Result<()> {
    if depth >= TYPE_DEPTH_MAX {
        return fail("values are nested too deeply");
    }
    match ty {
        CqlType::Native(native) => validate_native(*native, bytes),
        CqlType::Custom(_) => Ok(()),
        CqlType::List { element, .. } => validate_elements(element, bytes, "list", depth),
        CqlType::Set { element, .. } => validate_elements(element, bytes, "set", depth),
        CqlType::Map { key, value, .. } => validate_map(key, value, bytes, depth),
        CqlType::Tuple(types) => {
            let mut all = fields(bytes);
            for (at, ty) in types.iter().enumerate() {
                match all.next() {
                    None => return Ok(()),
                    Some(Err(error)) => return fail(format!("{} {at}th component", error.0)),
                    Some(Ok(Some(value))) => validate_at(ty, value, depth + 1)?,
                    Some(Ok(None)) => {}
                }
            }
            if all.next().is_none() {
                return Ok(());
            }
            fail("Invalid remaining data after end of tuple value")
        }
        CqlType::User { definition: udt, .. } => {
            let mut all = fields(bytes);
            for (at, (name, ty)) in udt.fields.iter().enumerate() {
                match all.next() {
                    None => return Ok(()),
                    Some(Err(error)) => return fail(format!("{} {at}th field {name}", error.0)),
                    Some(Ok(Some(value))) => validate_at(ty, value, depth + 1)?,
                    Some(Ok(None)) => {}
                }
            }
            if all.next().is_none() {
                Ok(())
            } else {
                fail("Invalid remaining data after end of UDT value")
            }
        }
        CqlType::Vector { element, dimension } => {
            if bytes.is_empty() {
                return fail("Invalid empty vector value");
            }
            for value in vector_elements(element, *dimension, bytes)? {
                validate_at(element, value, depth + 1)?;
            }
            Ok(())
        }
    }
}

/// Said of a null where a collection has none.
const NULL_INSIDE: &str = "Null value read when not allowed";

fn validate_map(key: &CqlType, value: &CqlType, bytes: &[u8], depth: usize) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut all = entries(bytes)?;
    for entry in all.by_ref() {
        let (Some(k), Some(v)) = entry? else {
            return fail(NULL_INSIDE);
        };
        validate_at(key, k, depth + 1)?;
        validate_at(value, v, depth + 1)?;
    }
    if all.rest().is_empty() {
        return Ok(());
    }
    fail("Unexpected extraneous bytes after map value")
}

fn validate_elements(element: &CqlType, bytes: &[u8], what: &str, depth: usize) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let is_negative = bytes.first().is_some_and(|byte| *byte & 0x80 != 0);
    let short = || {
        MarshalError::new(if is_negative && bytes.len() >= 4 {
            format!("The data cannot be deserialized as a {what}")
        } else {
            format!("Not enough bytes to read a {what}")
        })
    };
    let mut all = elements(bytes).map_err(|_| short())?;
    let mut has_null = false;
    for value in all.by_ref() {
        match value.map_err(|_| short())? {
            Some(value) => validate_at(element, value, depth + 1)?,
            // Cassandra lets it into a list that is bound, and then fails to read that.
            None if what == "list" && depth == 0 => has_null = true,
            None => return fail(NULL_INSIDE),
        }
    }
    if has_null {
        return fail("null is not supported inside collections");
    }
    if all.rest().is_empty() {
        Ok(())
    } else {
        fail(format!("Unexpected extraneous bytes after {what} value"))
    }
}

fn validate_native(native: Native, bytes: &[u8]) -> Result<()> {
    let size = bytes.len();
    let sized = |ok: bool, text: &str| {
        if ok { Ok(()) } else { fail(format!("{text} ({size})")) }
    };
    match native {
        Native::Ascii => match bytes.iter().find(|byte| !byte.is_ascii()) {
            Some(byte) => fail(format!("Invalid byte for ascii: {}", byte.cast_signed())),
            None => Ok(()),
        },
        Native::Text => {
            if std::str::from_utf8(bytes).is_ok() {
                Ok(())
            } else {
                fail("String didn't validate.")
            }
        }
        Native::Blob | Native::Varint => Ok(()),
        Native::Boolean => sized(size <= 1, "Expected 1 or 0 byte value"),
        Native::Tinyint => sized(size == 1, "Expected 1 byte for a tinyint"),
        Native::Smallint => sized(size == 2, "Expected 2 bytes for a smallint"),
        Native::Int => sized(size == 0 || size == 4, "Expected 4 or 0 byte int"),
        Native::Bigint | Native::Counter => {
            sized(size == 0 || size == 8, "Expected 8 or 0 byte long")
        }
        Native::Timestamp => sized(size == 0 || size == 8, "Expected 8 or 0 byte long for date"),
        Native::Float => sized(size == 0 || size == 4, "Expected 4 or 0 byte value for a float"),
        Native::Double => sized(size == 0 || size == 8, "Expected 8 or 0 byte value for a double"),
        Native::Date => sized(size == 4, "Expected 4 byte long for date"),
        Native::Time => sized(size == 8, "Expected 8 byte long for time"),
        Native::Uuid => sized(size == 0 || size == 16, "UUID should be 16 or 0 bytes"),
        Native::Timeuuid => {
            sized(size == 0 || size == 16, "TimeUUID should be 16 or 0 bytes")?;
            match bytes.get(6) {
                Some(byte) if byte & 0xF0 != 0x10 => {
                    // Cassandra shows the first digit here, not the version.
                    let shown = bytes.first().map_or(0, |byte| byte >> 4);
                    fail(format!("Invalid version for TimeUUID type: 0x{shown}"))
                }
                _ => Ok(()),
            }
        }
        Native::Inet => {
            if matches!(size, 0 | 4 | 16) {
                return Ok(());
            }
            let shown = hex::encode(bytes);
            fail(format!("Expected 4 or 16 byte inetaddress; got {shown}"))
        }
        Native::Decimal => sized(size == 0 || size >= 4, "Expected 0 or at least 4 bytes"),
        Native::Duration => {
            sized(size >= 3, "Expected at least 3 bytes for a duration")?;
            take_duration(bytes).map(drop)
        }
        Native::Empty => {
            if bytes.is_empty() {
                Ok(())
            } else {
                fail("EmptyType only accept empty values")
            }
        }
    }
}
