//! Serializes serde types to the engine's values.

use num_bigint::BigInt;
use serde::Serialize;
use serde::ser::{self, Serializer};
use shelfmark_model::Value;
use shelfmark_model::limits::VALUE_DEPTH_MAX;

use super::{Map, newtype};
use crate::error::{Error, ErrorKind, Result};

impl ser::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::invalid(format!("a record cannot be written: {message}"))
    }
}

/// Serializes one value, and tracks its depth.
#[derive(Clone, Copy)]
pub(super) struct ValueSerializer {
    levels_left: usize,
}

impl ValueSerializer {
    pub(super) fn new() -> Self {
        Self { levels_left: VALUE_DEPTH_MAX }
    }

    fn below(self) -> Result<Self> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Self { levels_left }),
            None => Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("a record is nested deeper than {VALUE_DEPTH_MAX} levels"),
            )),
        }
    }
}

/// Serializes a sequence; for an enum's variant, wrapped in a map of its name.
pub(super) struct ListSerializer {
    inner: ValueSerializer,
    variant: Option<&'static str>,
    values: Vec<Value>,
}

/// Serializes a map; for an enum's variant, wrapped in a map of its name.
pub(super) struct MapSerializer {
    inner: ValueSerializer,
    variant: Option<&'static str>,
    pairs: Vec<(Value, Value)>,
    key: Option<Value>,
}

fn named(name: &str, value: Value) -> Value {
    Value::Map(Map::from([(name.to_owned(), value)]))
}

fn integer(n: impl Into<BigInt>) -> Value {
    let n = n.into();
    i64::try_from(&n).map_or(Value::BigInt(n), Value::Int)
}

impl Serializer for ValueSerializer {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = ListSerializer;
    type SerializeTuple = ListSerializer;
    type SerializeTupleStruct = ListSerializer;
    type SerializeTupleVariant = ListSerializer;
    type SerializeMap = MapSerializer;
    type SerializeStruct = MapSerializer;
    type SerializeStructVariant = MapSerializer;

    fn serialize_bool(self, v: bool) -> Result<Value> {
        Ok(Value::Bool(v))
    }

    fn serialize_i8(self, v: i8) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_i16(self, v: i16) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_i32(self, v: i32) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_i64(self, v: i64) -> Result<Value> {
        Ok(Value::Int(v))
    }

    fn serialize_i128(self, v: i128) -> Result<Value> {
        Ok(integer(v))
    }

    fn serialize_u8(self, v: u8) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_u16(self, v: u16) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_u32(self, v: u32) -> Result<Value> {
        Ok(Value::Int(v.into()))
    }

    fn serialize_u64(self, v: u64) -> Result<Value> {
        Ok(integer(v))
    }

    fn serialize_u128(self, v: u128) -> Result<Value> {
        Ok(integer(v))
    }

    fn serialize_f32(self, v: f32) -> Result<Value> {
        Ok(Value::Float32(v))
    }

    fn serialize_f64(self, v: f64) -> Result<Value> {
        Ok(Value::Float(v))
    }

    fn serialize_char(self, v: char) -> Result<Value> {
        Ok(Value::Text(v.into()))
    }

    fn serialize_str(self, v: &str) -> Result<Value> {
        Ok(Value::text(v))
    }

    fn serialize_bytes(self, v: &[u8]) -> Result<Value> {
        Ok(Value::Bytes(v.to_vec().into()))
    }

    fn serialize_none(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value> {
        Ok(Value::text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value> {
        Ok(newtype::kind_of(name, value.serialize(self)?))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value> {
        Ok(named(variant, value.serialize(self.below()?)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<ListSerializer> {
        // The length is a hint from outside: it only saves growing.
        let values = Vec::with_capacity(length.unwrap_or(0).min(1024));
        Ok(ListSerializer { inner: self.below()?, variant: None, values })
    }

    fn serialize_tuple(self, length: usize) -> Result<ListSerializer> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<ListSerializer> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<ListSerializer> {
        let list = self.below()?.serialize_seq(Some(length))?;
        Ok(ListSerializer { variant: Some(variant), ..list })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<MapSerializer> {
        Ok(MapSerializer { inner: self.below()?, variant: None, pairs: Vec::new(), key: None })
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<MapSerializer> {
        self.serialize_map(Some(length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<MapSerializer> {
        let map = self.below()?.serialize_map(Some(length))?;
        Ok(MapSerializer { variant: Some(variant), ..map })
    }
}

impl ListSerializer {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.values.push(value.serialize(self.inner)?);
        Ok(())
    }

    fn finish(self) -> Value {
        let list = Value::List(self.values);
        match self.variant {
            Some(variant) => named(variant, list),
            None => list,
        }
    }
}

impl MapSerializer {
    fn push<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.pairs.push((Value::text(name), value.serialize(self.inner)?));
        Ok(())
    }

    /// Returns a map if all keys are text, otherwise the pairs in the order of their keys.
    fn finish(mut self) -> Value {
        let map = if self.pairs.iter().all(|(key, _)| key.as_text().is_some()) {
            let text = |(key, value)| match key {
                Value::Text(name) => Some((name.into(), value)),
                _ => None,
            };
            Value::Map(self.pairs.into_iter().filter_map(text).collect())
        } else {
            self.pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Value::Pairs(self.pairs)
        };
        match self.variant {
            Some(variant) => named(variant, map),
            None => map,
        }
    }
}

macro_rules! sequences {
    ($($implemented:ident $method:ident),*) => {$(
        impl ser::$implemented for ListSerializer {
            type Ok = Value;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.push(value)
            }

            fn end(self) -> Result<Value> {
                Ok(self.finish())
            }
        }
    )*};
}

sequences! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

macro_rules! structs {
    ($($implemented:ident),*) => {$(
        impl ser::$implemented for MapSerializer {
            type Ok = Value;
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<()> {
                self.push(name, value)
            }

            fn end(self) -> Result<Value> {
                Ok(self.finish())
            }
        }
    )*};
}

structs! { SerializeStruct, SerializeStructVariant }

impl ser::SerializeMap for MapSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = Some(key.serialize(self.inner)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = self.key.take().ok_or_else(|| Error::invalid("a map's value has no key"))?;
        self.pairs.push((key, value.serialize(self.inner)?));
        Ok(())
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}
