//! The fields that a type declares, found by deserializing it from nothing.
//!
//! A derived `Deserialize` says which fields it wants and of which kind. Here every wish is granted
//! with an empty value, and noted; what comes out is thrown away. What it is not: a schema. A type
//! that says nothing (a map, an enum, `#[serde(flatten)]`) has no fields here.
//!
//! Invariant: work is bounded: each field is asked for a few times, and no deeper than [`DEPTH_MAX`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use shelfmark_engine::FieldKind;

use super::names::WHOLE;
use super::newtype;
use crate::error::{Error, Result};

/// Deepest nesting of what is asked for.
const DEPTH_MAX: usize = 16;

/// Most fields that are noted of a type.
const FIELDS_MAX: usize = 256;

/// Returns the fields of a type with their kinds, as records of it are stored; none if it says nothing.
pub(crate) fn fields_of<T: DeserializeOwned>() -> Vec<(String, FieldKind)> {
    let mut found = Fields::default();
    // A field whose type refuses what is empty ends the round: the next one asks it last.
    while found.asked_last.len() < FIELDS_MAX {
        found.current = None;
        let round = catch_unwind(AssertUnwindSafe(|| T::deserialize(Whole(&mut found))));
        match (round, found.current.take()) {
            (Ok(Err(_)), Some(field)) if !found.asked_last.contains(&field) => {
                found.asked_last.push(field);
            }
            _ => break,
        }
    }
    found.kinds
}

/// Holds the fields that were found so far.
#[derive(Default)]
struct Fields {
    kinds: Vec<(String, FieldKind)>,
    /// Fields whose values could not be made.
    asked_last: Vec<&'static str>,
    /// The field whose value is being made.
    current: Option<&'static str>,
}

impl Fields {
    fn note(&mut self, name: &str, kind: FieldKind) {
        match self.kinds.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = kind,
            None => self.kinds.push((name.to_owned(), kind)),
        }
    }
}

/// Deserializes the whole type: a struct names its fields, anything else is one value.
struct Whole<'f>(&'f mut Fields);

/// Deserializes one value, and notes its kind.
struct One<'f> {
    kind: &'f mut Option<FieldKind>,
    depth: usize,
}

impl Whole<'_> {
    /// Notes the kind of a record that is one value, stored under its own name.
    fn one<'de, V: Visitor<'de>>(
        self,
        make: impl FnOnce(One<'_>, V) -> Result<V::Value>,
        visitor: V,
    ) -> Result<V::Value> {
        let mut kind = None;
        let made = make(One { kind: &mut kind, depth: 0 }, visitor);
        if let Some(kind) = kind.filter(|kind| *kind != FieldKind::Other) {
            self.0.note(WHOLE, kind);
        }
        made
    }
}

macro_rules! one_value {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.one(|one, visitor| one.$method(visitor), visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Whole<'_> {
    type Error = Error;

    one_value! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let is_last = |name: &&&str| self.0.asked_last.contains(*name);
        let (last, first): (Vec<&&str>, Vec<&&str>) =
            fields.iter().take(FIELDS_MAX).partition(is_last);
        let order: Vec<&'static str> = first.into_iter().chain(last).copied().collect();
        visitor.visit_map(Named { fields: self.0, order: order.into_iter(), value: None })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if newtype::kind_named(name).is_some() {
            return self.one(|one, visitor| one.deserialize_newtype_struct(name, visitor), visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.one(|one, visitor| one.deserialize_tuple(length, visitor), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.one(|one, visitor| one.deserialize_tuple(length, visitor), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value> {
        Err(nothing())
    }
}

/// Hands out the fields of a struct, one after the other.
struct Named<'f> {
    fields: &'f mut Fields,
    order: std::vec::IntoIter<&'static str>,
    value: Option<&'static str>,
}

impl<'de> MapAccess<'de> for Named<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.fields.current = None;
        self.value = self.order.next();
        let key = |name: &'static str| {
            let name: StrDeserializer<'_, Error> = name.into_deserializer();
            seed.deserialize(name)
        };
        self.value.map(key).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let Some(name) = self.value.take() else { return Err(nothing()) };
        self.fields.current = Some(name);
        let mut kind = None;
        let made = seed.deserialize(One { kind: &mut kind, depth: 0 });
        self.fields.note(name, kind.unwrap_or(FieldKind::Other));
        made
    }
}

impl<'f> One<'f> {
    /// Notes the kind unless an outer type has said it.
    fn is(&mut self, kind: FieldKind) {
        self.kind.get_or_insert(kind);
    }

    fn below(mut self, kind: FieldKind) -> Result<Self> {
        self.is(kind);
        match self.depth < DEPTH_MAX {
            true => Ok(Self { depth: self.depth + 1, ..self }),
            false => Err(nothing()),
        }
    }
}

macro_rules! scalars {
    ($($method:ident $kind:ident $visit:ident $value:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
            self.is(FieldKind::$kind);
            visitor.$visit($value)
        }
    )*};
}

impl<'de> Deserializer<'de> for One<'_> {
    type Error = Error;

    scalars! {
        deserialize_bool Bool visit_bool false;
        deserialize_i8 I8 visit_i8 0;
        deserialize_i16 I16 visit_i16 0;
        deserialize_i32 I32 visit_i32 0;
        deserialize_i64 I64 visit_i64 0;
        deserialize_i128 Integer visit_i128 0;
        deserialize_u8 I16 visit_u8 0;
        deserialize_u16 I32 visit_u16 0;
        deserialize_u32 I64 visit_u32 0;
        deserialize_u64 Integer visit_u64 0;
        deserialize_u128 Integer visit_u128 0;
        deserialize_f32 F32 visit_f32 0.0;
        deserialize_f64 F64 visit_f64 0.0;
        deserialize_char Text visit_char ' ';
        deserialize_str Text visit_str "";
        deserialize_string Text visit_str "";
        deserialize_bytes Bytes visit_bytes &[];
        deserialize_byte_buf Bytes visit_bytes &[];
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        // Types that hold themselves do so behind an option; only the first is looked behind.
        match self.depth {
            0 => visitor.visit_some(Self { depth: 1, ..self }),
            _ => visitor.visit_none(),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if let Some((kind, bytes)) = newtype::kind_named(name) {
            self.is(kind);
            if bytes > 0 {
                let empty = vec![0_u8; bytes];
                return visitor.visit_newtype_struct(serde::de::value::BytesDeserializer::new(
                    empty.as_slice(),
                ));
            }
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.is(FieldKind::Other);
        visitor.visit_seq(serde::de::value::SeqDeserializer::new(std::iter::empty::<()>()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        let Self { kind, depth } = self.below(FieldKind::Other)?;
        visitor.visit_seq(Repeated { left: length, kind, depth })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.is(FieldKind::Other);
        visitor.visit_map(serde::de::value::MapDeserializer::new(std::iter::empty::<((), ())>()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let Self { kind, depth } = self.below(FieldKind::Other)?;
        visitor.visit_map(Inner { fields: fields.iter(), kind, depth })
    }

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        self.is(FieldKind::Other);
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { unit unit_struct identifier ignored_any }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.is(FieldKind::Other);
        let first = variants.first().ok_or_else(nothing)?;
        let variant: StrDeserializer<'_, Error> = (*first).into_deserializer();
        visitor.visit_enum(variant)
    }
}

/// Hands out values of a tuple.
struct Repeated<'f> {
    left: usize,
    kind: &'f mut Option<FieldKind>,
    depth: usize,
}

impl<'de> serde::de::SeqAccess<'de> for Repeated<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(One { kind: self.kind, depth: self.depth }).map(Some)
    }
}

/// Hands out the fields of a struct within another one, whose kinds nobody notes.
struct Inner<'f> {
    fields: std::slice::Iter<'static, &'static str>,
    kind: &'f mut Option<FieldKind>,
    depth: usize,
}

impl<'de> MapAccess<'de> for Inner<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let key = |name: &&'static str| {
            let name: StrDeserializer<'_, Error> = (*name).into_deserializer();
            seed.deserialize(name)
        };
        self.fields.next().map(key).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(One { kind: self.kind, depth: self.depth })
    }
}

fn nothing() -> Error {
    Error::mismatch("a type wants what nothing can give")
}
