//! Deserializes the engine's values to serde types.

use std::vec;

use num_bigint::BigInt;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use shelfmark_keycode::number::to_plain;
use shelfmark_model::{Value, ValueKind};

use crate::error::{Error, Result};

impl de::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::mismatch(format!("what is stored does not fit the type: {message}"))
    }
}

/// Longest text of a decimal that is passed to a type. Ours: twice what DynamoDB's numbers need.
const NUMBER_CHARS_MAX: usize = 320;

/// Deserializes one value; the value's own depth bounds the recursion.
pub(super) struct ValueDeserializer {
    value: Value,
}

impl ValueDeserializer {
    pub(super) fn new(value: Value) -> Self {
        Self { value }
    }
}

impl IntoDeserializer<'_, Error> for ValueDeserializer {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn visit_big<'de, V: Visitor<'de>>(n: &BigInt, visitor: V) -> Result<V::Value> {
    if let Ok(n) = i64::try_from(n) {
        return visitor.visit_i64(n);
    }
    if let Ok(n) = u64::try_from(n) {
        return visitor.visit_u64(n);
    }
    if let Ok(n) = i128::try_from(n) {
        return visitor.visit_i128(n);
    }
    match u128::try_from(n) {
        Ok(n) => visitor.visit_u128(n),
        // No integer of the language holds it: a big number type reads its text.
        Err(_) => visitor.visit_string(n.to_string()),
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(bool) => visitor.visit_bool(bool),
            Value::Int(n) | Value::Timestamp(n) | Value::Time(n) => visitor.visit_i64(n),
            Value::Date(days) => visitor.visit_i32(days),
            Value::BigInt(n) => visit_big(&n, visitor),
            Value::Number(number) if number.scale() == 0 => visit_big(number.unscaled(), visitor),
            Value::Number(number) => match to_plain(&number, NUMBER_CHARS_MAX) {
                Ok(text) => visitor.visit_string(text),
                Err(error) => Err(de::Error::custom(error)),
            },
            Value::Float32(n) => visitor.visit_f32(n),
            Value::Float(n) => visitor.visit_f64(n),
            Value::Text(text) => visitor.visit_string(text.into()),
            Value::Bytes(bytes) => visitor.visit_byte_buf(bytes.into()),
            Value::Uuid(bytes) => visitor.visit_bytes(&bytes),
            Value::Inet(address) => visitor.visit_string(address.to_string()),
            Value::Duration { .. } => Err(de::Error::invalid_type(
                Unexpected::Other("a duration of months and days"),
                &visitor,
            )),
            Value::List(values) | Value::Set(values) => visit_list(values.into_iter(), visitor),
            Value::Tuple(fields) => {
                let fields = fields.into_iter().map(|field| field.unwrap_or(Value::Null));
                visit_list(fields.collect::<Vec<_>>().into_iter(), visitor)
            }
            Value::Map(map) => visit_map(
                map.into_iter().map(|(name, value)| (Value::text(name), value)).collect(),
                visitor,
            ),
            Value::Pairs(pairs) => visit_map(pairs, visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let (name, inner) = match self.value {
            Value::Text(name) => (name.into(), None),
            Value::Map(map) if map.len() == 1 => match map.into_iter().next() {
                Some((name, inner)) => (name, Some(inner)),
                None => return Err(not_a_variant(ValueKind::Map)),
            },
            other => return Err(not_a_variant(other.kind())),
        };
        visitor.visit_enum(Variant { name, inner })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn not_a_variant(kind: ValueKind) -> Error {
    de::Error::custom(format!("an enum's variant is a text or a map of one name, not {kind:?}"))
}

/// Passes a list to the visitor, and refuses elements that the type leaves unread.
fn visit_list<'de, V: Visitor<'de>>(values: vec::IntoIter<Value>, visitor: V) -> Result<V::Value> {
    let mut list = List { values };
    let read = visitor.visit_seq(&mut list)?;
    match list.values.len() {
        0 => Ok(read),
        left => Err(de::Error::custom(format!("a list has {left} more values than the type"))),
    }
}

fn visit_map<'de, V: Visitor<'de>>(pairs: Vec<(Value, Value)>, visitor: V) -> Result<V::Value> {
    visitor.visit_map(Pairs { pairs: pairs.into_iter(), value: None })
}

struct List {
    values: vec::IntoIter<Value>,
}

impl<'de> SeqAccess<'de> for List {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.values.next().map(|value| seed.deserialize(ValueDeserializer::new(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.values.len())
    }
}

struct Pairs {
    pairs: vec::IntoIter<(Value, Value)>,
    value: Option<Value>,
}

impl<'de> MapAccess<'de> for Pairs {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((key, value)) = self.pairs.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(ValueDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let value =
            self.value.take().ok_or_else(|| Error::invalid("a map's value was read twice"))?;
        seed.deserialize(ValueDeserializer::new(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

struct Variant {
    name: String,
    inner: Option<Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = VariantValue;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, VariantValue)> {
        let name = seed.deserialize(ValueDeserializer::new(Value::text(self.name)))?;
        Ok((name, VariantValue(self.inner)))
    }
}

struct VariantValue(Option<Value>);

impl VariantValue {
    fn deserializer(self) -> Result<ValueDeserializer> {
        self.0
            .map(ValueDeserializer::new)
            .ok_or_else(|| de::Error::custom("a variant with fields was stored without them"))
    }
}

impl<'de> VariantAccess<'de> for VariantValue {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.0 {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(de::Error::custom("a variant without fields was stored with some")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.deserializer()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserializer()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserializer()?.deserialize_any(visitor)
    }
}
