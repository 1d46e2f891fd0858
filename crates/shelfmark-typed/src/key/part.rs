//! Implements key parts for types of the standard library and of the crates below.

use std::cmp::Reverse;
use std::net::IpAddr;

use num_bigint::BigInt;
use shelfmark_keycode::Ulid;
use shelfmark_model::{Decimal, Direction, KeyType, Value};

use super::{KeyPart, reversed};
use crate::error::{Error, Result};

/// Returns the error of a value whose type differs from the part's.
pub(super) fn wrong(wanted: &str, found: &Value) -> Error {
    Error::mismatch(format!("a key part should be {wanted} and is a {:?}", found.kind()))
}

impl KeyPart for String {
    fn key_type() -> KeyType {
        KeyType::Text
    }

    fn to_value(&self) -> Value {
        Value::text(self)
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Text(text) => Ok(text.into()),
            other => Err(wrong("text", &other)),
        }
    }
}

impl KeyPart for bool {
    fn key_type() -> KeyType {
        KeyType::Bool
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Bool(bool) => Ok(bool),
            other => Err(wrong("a boolean", &other)),
        }
    }
}

macro_rules! integers {
    ($($type:ty => $key_type:ident),* $(,)?) => {$(
        impl KeyPart for $type {
            fn key_type() -> KeyType {
                KeyType::$key_type
            }

            fn to_value(&self) -> Value {
                i64::try_from(*self).map_or_else(|_| Value::BigInt((*self).into()), Value::Int)
            }

            fn from_value(value: Value) -> Result<Self> {
                let part = match &value {
                    Value::Int(n) => <$type>::try_from(*n).ok(),
                    Value::BigInt(n) => <$type>::try_from(n).ok(),
                    _ => None,
                };
                part.ok_or_else(|| wrong(stringify!($type), &value))
            }
        }
    )*};
}

integers! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64, i128 => I128,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, u128 => U128,
}

impl KeyPart for BigInt {
    fn key_type() -> KeyType {
        KeyType::Integer
    }

    fn to_value(&self) -> Value {
        Value::BigInt(self.clone())
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Int(n) => Ok(n.into()),
            Value::BigInt(n) => Ok(n),
            other => Err(wrong("an integer", &other)),
        }
    }
}

impl KeyPart for Decimal {
    fn key_type() -> KeyType {
        KeyType::Decimal
    }

    fn to_value(&self) -> Value {
        Value::Number(self.clone())
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Number(number) => Ok(number),
            other => Err(wrong("a decimal", &other)),
        }
    }
}

impl KeyPart for IpAddr {
    fn key_type() -> KeyType {
        KeyType::Inet
    }

    fn to_value(&self) -> Value {
        Value::Inet(*self)
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Inet(address) => Ok(address),
            other => Err(wrong("an internet address", &other)),
        }
    }
}

/// Orders ULIDs by time, as sixteen bytes.
impl KeyPart for Ulid {
    fn key_type() -> KeyType {
        KeyType::Uuid
    }

    fn to_value(&self) -> Value {
        Value::Uuid(self.to_bytes())
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Uuid(bytes) => Ok(Self::from_bytes(bytes)),
            other => Err(wrong("a ULID", &other)),
        }
    }
}

/// Orders `None` before every value.
impl<P: KeyPart> KeyPart for Option<P> {
    const DIRECTION: Direction = P::DIRECTION;

    fn key_type() -> KeyType {
        KeyType::Kinded(Box::new(P::key_type()))
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, KeyPart::to_value)
    }

    fn from_value(value: Value) -> Result<Self> {
        match value {
            Value::Null => Ok(None),
            value => P::from_value(value).map(Some),
        }
    }
}

/// Orders the part in the opposite direction.
impl<P: KeyPart> KeyPart for Reverse<P> {
    const DIRECTION: Direction = reversed(P::DIRECTION);

    fn key_type() -> KeyType {
        P::key_type()
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn from_value(value: Value) -> Result<Self> {
        P::from_value(value).map(Self)
    }
}
