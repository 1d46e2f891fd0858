//! Methods that all values have: they are shown, compared, put in order, told from others.
//!
//! What it is not: a method of a class.
//!
//! Invariant: it goes at most [`VALUE_DEPTH_MAX`] values deep.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::number::{shown_decimal, shown_double, shown_float};
use super::{Machine, Run, VALUE_DEPTH_MAX};
use crate::data_type::DataType;
use crate::value::{Object, Thrown, Value};

/// Returns the values of an array.
pub(super) fn array(own: &Value) -> Option<&RefCell<Vec<Value>>> {
    match own {
        Value::Object(own) => match &**own {
            Object::Array(items) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of a value's class.
pub(super) fn class_of(own: &Value) -> String {
    let name = match own {
        Value::Null => "null",
        Value::Boolean(_) => "java.lang.Boolean",
        Value::Byte(_) => "java.lang.Byte",
        Value::Short(_) => "java.lang.Short",
        Value::Char(_) => "java.lang.Character",
        Value::Int(_) => "java.lang.Integer",
        Value::Long(_) => "java.lang.Long",
        Value::Float(_) => "java.lang.Float",
        Value::Double(_) => "java.lang.Double",
        Value::Text(_) => "java.lang.String",
        Value::BigInteger(_) => "java.math.BigInteger",
        Value::BigDecimal(..) => "java.math.BigDecimal",
        Value::Uuid(_) => "java.util.UUID",
        Value::Timestamp(_) => "java.util.Date",
        Value::Date(_) => "org.apache.cassandra.cql3.functions.types.LocalDate",
        Value::Duration(..) => "org.apache.cassandra.cql3.functions.types.Duration",
        Value::Inet(own) if own.is_ipv4() => "java.net.Inet4Address",
        Value::Inet(_) => "java.net.Inet6Address",
        Value::Buffer(_) => "java.nio.HeapByteBuffer",
        Value::List(_) => "java.util.ArrayList",
        Value::Set(own) if own.borrow().is_sorted => "java.util.TreeSet",
        Value::Set(_) => "java.util.LinkedHashSet",
        Value::Map(own) if own.borrow().is_sorted => "java.util.TreeMap",
        Value::Map(_) => "java.util.LinkedHashMap",
        Value::Fields(own) if own.is_user => "org.apache.cassandra.cql3.functions.types.UDTValue",
        Value::Fields(_) => "org.apache.cassandra.cql3.functions.types.TupleValue",
        Value::Object(own) => match &**own {
            Object::Builder(_) => "java.lang.StringBuilder",
            Object::Array(_) => "[Ljava.lang.Object;",
            Object::Iterator(_) => "java.util.Iterator",
            Object::Entry(_) => "java.util.Map.Entry",
            Object::Exception(own) => return own.class_name(),
            Object::Class(_) => "java.lang.Class",
            Object::Rounding(_) => "java.math.RoundingMode",
            Object::Context => "org.apache.cassandra.cql3.functions.UDFContext",
            Object::Plain => "java.lang.Object",
        },
    };
    name.to_owned()
}

/// Returns true if two references are the same object. Small numbers in boxes are.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    let is_kept = |own: i64| (-128..=127).contains(&own);
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Boolean(one), Value::Boolean(other)) => one == other,
        (Value::Byte(one), Value::Byte(other)) => one == other,
        (Value::Short(one), Value::Short(other)) => one == other && is_kept(i64::from(*one)),
        (Value::Char(one), Value::Char(other)) => one == other && *one < 128,
        (Value::Int(one), Value::Int(other)) => one == other && is_kept(i64::from(*one)),
        (Value::Long(one), Value::Long(other)) => one == other && is_kept(*one),
        (Value::Text(one), Value::Text(other)) => Rc::ptr_eq(one, other),
        (Value::BigInteger(one), Value::BigInteger(other)) => Rc::ptr_eq(one, other),
        (Value::Buffer(one), Value::Buffer(other)) => Rc::ptr_eq(one, other),
        (Value::List(one), Value::List(other)) => Rc::ptr_eq(one, other),
        (Value::Set(one), Value::Set(other)) | (Value::Map(one), Value::Map(other)) => {
            Rc::ptr_eq(one, other)
        }
        (Value::Timestamp(one), Value::Timestamp(other)) => Rc::ptr_eq(one, other),
        (Value::Fields(one), Value::Fields(other)) => Rc::ptr_eq(one, other),
        (Value::Object(one), Value::Object(other)) => match (&**one, &**other) {
            (Object::Class(one), Object::Class(other)) => one == other,
            (Object::Rounding(one), Object::Rounding(other)) => one == other,
            _ => Rc::ptr_eq(one, other),
        },
        _ => false,
    }
}

/// Compares the subject of a `switch` with a label.
pub(super) fn equal_labels(subject: &Value, label: &Value) -> bool {
    let number = |own: &Value| match own {
        Value::Byte(own) => Some(i32::from(*own)),
        Value::Short(own) => Some(i32::from(*own)),
        Value::Char(own) => Some(i32::from(*own)),
        Value::Int(own) => Some(*own),
        _ => None,
    };
    match (subject, label) {
        (Value::Text(one), Value::Text(other)) => one == other,
        (one, other) => number(one).is_some() && number(one) == number(other),
    }
}

/// Compares two values that have an order; `None` if they have none.
pub(super) fn order(left: &Value, right: &Value) -> Option<Ordering> {
    Some(match (left, right) {
        (Value::Boolean(one), Value::Boolean(other)) => one.cmp(other),
        (Value::Byte(one), Value::Byte(other)) => one.cmp(other),
        (Value::Short(one), Value::Short(other)) => one.cmp(other),
        (Value::Char(one), Value::Char(other)) => one.cmp(other),
        (Value::Int(one), Value::Int(other)) => one.cmp(other),
        (Value::Long(one), Value::Long(other)) => one.cmp(other),
        (Value::Float(one), Value::Float(other)) => one.total_cmp(other),
        (Value::Double(one), Value::Double(other)) => one.total_cmp(other),
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::BigInteger(one), Value::BigInteger(other)) => one.cmp(other),
        (Value::BigDecimal(one, scale), Value::BigDecimal(other, other_scale)) => {
            let pair = super::number::aligned(
                &((**one).clone(), *scale),
                &((**other).clone(), *other_scale),
            );
            let (one, other, _) = pair.ok()?;
            one.cmp(&other)
        }
        (Value::Timestamp(one), Value::Timestamp(other)) => one.borrow().cmp(&other.borrow()),
        (Value::Date(one), Value::Date(other)) => one.cmp(other),
        (Value::Uuid(one), Value::Uuid(other)) => {
            super::call::time::halves(*one).cmp(&super::call::time::halves(*other))
        }
        (Value::Buffer(one), Value::Buffer(other)) => {
            let signed = |own: &[u8]| own.iter().map(|byte| byte.cast_signed()).collect::<Vec<_>>();
            signed(one.borrow().remaining()).cmp(&signed(other.borrow().remaining()))
        }
        _ => return None,
    })
}

/// The most values that are looked at where two are compared.
const COMPARED_MAX: usize = 100_000;

/// Returns bytes that are equal exactly for values that are.
pub(super) fn key(own: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let mut left = Left { values: COMPARED_MAX, bytes: usize::MAX };
    put_key(own, 0, &mut left, &mut out);
    out
}

/// The part of a value that is still looked at.
struct Left {
    values: usize,
    bytes: usize,
}

fn put_key(own: &Value, depth: usize, left: &mut Left, out: &mut Vec<u8>) {
    // The same list may stand in another many times, on each level, and so may a long text.
    let Some(rest) = left.values.checked_sub(1) else { return };
    left.values = rest;
    left.bytes = left.bytes.saturating_sub(super::size_bytes(own));
    if left.bytes == 0 {
        return;
    }
    let mut put = |tag: u8, bytes: &[u8]| {
        out.push(tag);
        out.extend_from_slice(&bytes.len().to_be_bytes());
        out.extend_from_slice(bytes);
    };
    match own {
        Value::Null => put(0, &[]),
        Value::Boolean(own) => put(1, &[u8::from(*own)]),
        Value::Byte(own) => put(2, &own.to_be_bytes()),
        Value::Short(own) => put(3, &own.to_be_bytes()),
        Value::Char(own) => put(4, &own.to_be_bytes()),
        Value::Int(own) => put(5, &own.to_be_bytes()),
        Value::Long(own) => put(6, &own.to_be_bytes()),
        Value::Float(own) => put(7, &own.to_bits().to_be_bytes()),
        Value::Double(own) => put(8, &own.to_bits().to_be_bytes()),
        Value::Text(own) => {
            put(9, &own.iter().flat_map(|unit| unit.to_be_bytes()).collect::<Vec<_>>());
        }
        Value::BigInteger(own) => put(10, &own.to_signed_bytes_be()),
        Value::BigDecimal(own, scale) => {
            put(11, &own.to_signed_bytes_be());
            put(11, &scale.to_be_bytes());
        }
        Value::Uuid(own) => put(12, &own.to_be_bytes()),
        Value::Timestamp(own) => put(13, &own.borrow().to_be_bytes()),
        Value::Date(own) => put(14, &own.to_be_bytes()),
        Value::Duration(months, days, nanoseconds) => {
            put(15, &months.to_be_bytes());
            put(15, &days.to_be_bytes());
            put(15, &nanoseconds.to_be_bytes());
        }
        Value::Inet(own) => put(16, own.to_string().as_bytes()),
        Value::Buffer(own) => put(17, own.borrow().remaining()),
        Value::Object(own) => put_object_key(own, depth, left, out),
        Value::List(list) if depth < VALUE_DEPTH_MAX => {
            let items = list.borrow();
            put(18, &items.items.len().to_be_bytes());
            items.items.iter().for_each(|own| put_key(own, depth + 1, left, out));
        }
        Value::Set(all) | Value::Map(all) if depth < VALUE_DEPTH_MAX => {
            let all = all.borrow();
            put(if matches!(own, Value::Set(_)) { 19 } else { 20 }, &all.len().to_be_bytes());
            // They are equal whatever their order.
            let mut keys: Vec<Vec<u8>> = all
                .unordered()
                .map(|(key, value)| {
                    let mut out = Vec::new();
                    put_key(key, depth + 1, left, &mut out);
                    put_key(value, depth + 1, left, &mut out);
                    out
                })
                .collect();
            keys.sort();
            keys.iter().for_each(|own| out.extend_from_slice(own));
        }
        Value::Fields(own) if depth < VALUE_DEPTH_MAX => {
            put(21, own.shape.name.as_bytes());
            own.values.borrow().iter().for_each(|own| put_key(own, depth + 1, left, out));
        }
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Fields(_) => put(22, &[]),
    }
}

fn put_object_key(own: &Rc<Object>, depth: usize, left: &mut Left, out: &mut Vec<u8>) {
    match &**own {
        Object::Class(own) => {
            out.push(23);
            out.extend_from_slice(own.as_bytes());
        }
        Object::Rounding(own) => {
            out.push(24);
            out.extend_from_slice(own.as_bytes());
        }
        Object::Entry(pair) if depth < VALUE_DEPTH_MAX => {
            let (key, value) = pair.borrow().clone();
            out.push(25);
            put_key(&key, depth + 1, left, out);
            put_key(&value, depth + 1, left, out);
        }
        _ => {
            out.push(26);
            out.extend_from_slice(&(Rc::as_ptr(own) as usize).to_be_bytes());
        }
    }
}

impl Machine<'_> {
    /// Compares two values as `equals` does.
    pub(super) fn equal(&mut self, left: &Value, right: &Value) -> Run<bool> {
        if let (Value::Text(one), Value::Text(other)) = (left, right) {
            return Ok(one == other);
        }
        Ok(self.key(left)? == self.key(right)?)
    }

    /// Returns the key of a value.
    pub(super) fn key(&mut self, own: &Value) -> Run<Vec<u8>> {
        let mut key = Vec::new();
        let mut left = Left { values: COMPARED_MAX, bytes: self.memory_left };
        put_key(own, 0, &mut left, &mut key);
        self.spend(u64::try_from(key.len() / 4).unwrap_or(u64::MAX))?;
        if left.bytes == 0 {
            return Err(Thrown::no_memory());
        }
        Ok(key)
    }

    /// Returns the hash of a value.
    pub(super) fn hash(&mut self, own: &Value) -> Run<i32> {
        let key = self.key(own)?;
        Ok(match own {
            Value::List(list) => {
                let items = list.borrow().items.clone();
                let mut sum = 1_i32;
                for own in &items {
                    self.spend(1 + u64::try_from(super::size_bytes(own) / 16).unwrap_or(0))?;
                    sum = sum.wrapping_mul(31).wrapping_add(plain_hash(own, &[]));
                }
                sum
            }
            other => plain_hash(other, &key),
        })
    }

    /// Appends a value as Java shows it.
    pub(super) fn show(&mut self, own: &Value, out: &mut Vec<u16>) -> Run<()> {
        self.show_at(own, 0, out)
    }

    fn show_all(&mut self, items: &[Value], depth: usize, out: &mut Vec<u16>) -> Run<()> {
        for (at, own) in items.iter().enumerate() {
            if at > 0 {
                out.extend(", ".encode_utf16());
            }
            self.show_at(own, depth + 1, out)?;
        }
        Ok(())
    }

    fn show_at(&mut self, own: &Value, depth: usize, out: &mut Vec<u16>) -> Run<()> {
        if depth > VALUE_DEPTH_MAX {
            return Err(Thrown::known("java.lang.StackOverflowError", None));
        }
        self.take(16)?;
        let bracket = |sign: &str, out: &mut Vec<u16>| out.extend(sign.encode_utf16());
        match own {
            Value::Text(own) => {
                self.take(own.len() * 2)?;
                out.extend_from_slice(own);
            }
            Value::Char(own) => out.push(*own),
            Value::List(list) => {
                let items = list.borrow().items.clone();
                bracket("[", out);
                self.show_all(&items, depth, out)?;
                bracket("]", out);
            }
            Value::Set(all) => {
                let items: Vec<Value> = self.pairs(all)?.into_iter().map(|(own, _)| own).collect();
                bracket("[", out);
                self.show_all(&items, depth, out)?;
                bracket("]", out);
            }
            Value::Map(all) => {
                let pairs = self.pairs(all)?;
                bracket("{", out);
                for (at, (key, value)) in pairs.iter().enumerate() {
                    bracket(if at > 0 { ", " } else { "" }, out);
                    self.show_at(key, depth + 1, out)?;
                    bracket("=", out);
                    self.show_at(value, depth + 1, out)?;
                }
                bracket("}", out);
            }
            Value::Object(own) => self.show_object(own, depth, out)?,
            Value::Fields(own) => self.show_fields(own, depth, out)?,
            other => {
                if let Value::BigInteger(own) | Value::BigDecimal(own, _) = other {
                    self.spend_for(own.bits(), own.bits())?;
                }
                let text = shown_plain(other);
                self.take(text.len() * 2)?;
                out.extend(text.encode_utf16());
            }
        }
        Ok(())
    }

    fn show_object(&mut self, own: &Object, depth: usize, out: &mut Vec<u16>) -> Run<()> {
        match own {
            Object::Builder(own) => {
                self.take(own.borrow().len() * 2)?;
                out.extend_from_slice(&own.borrow());
            }
            Object::Entry(pair) => {
                let (key, value) = pair.borrow().clone();
                self.show_at(&key, depth + 1, out)?;
                out.extend("=".encode_utf16());
                self.show_at(&value, depth + 1, out)?;
            }
            Object::Exception(own) => {
                self.take(own.size_bytes() * 2)?;
                out.extend(own.shown().encode_utf16());
            }
            Object::Class(own) => out.extend(format!("class {own}").encode_utf16()),
            Object::Rounding(own) => out.extend(own.encode_utf16()),
            Object::Array(_) => out.extend("[Ljava.lang.Object;@0".encode_utf16()),
            Object::Iterator(_) | Object::Context | Object::Plain => {
                out.extend("java.lang.Object@0".encode_utf16());
            }
        }
        Ok(())
    }

    /// Shows a tuple or a value of a user type: as CQL writes it.
    fn show_fields(
        &mut self,
        own: &crate::value::FieldsValue,
        depth: usize,
        out: &mut Vec<u16>,
    ) -> Run<()> {
        let values = own.values.borrow().clone();
        out.extend(if own.is_user { "{" } else { "(" }.encode_utf16());
        for (at, ((name, ty), value)) in own.shape.fields.iter().zip(&values).enumerate() {
            if at > 0 {
                out.extend(",".encode_utf16());
            }
            if own.is_user {
                out.extend(format!("{name}:").encode_utf16());
            }
            match value {
                Value::Null => out.extend("NULL".encode_utf16()),
                Value::Text(text) if *ty == DataType::Text => {
                    self.take(text.len() * 2)?;
                    out.extend("'".encode_utf16());
                    out.extend_from_slice(text);
                    out.extend("'".encode_utf16());
                }
                other => self.show_at(other, depth + 1, out)?,
            }
        }
        out.extend(if own.is_user { "}" } else { ")" }.encode_utf16());
        Ok(())
    }
}

/// Returns the text of a value that holds no others.
fn shown_plain(own: &Value) -> String {
    match own {
        Value::Null => "null".to_owned(),
        Value::Boolean(own) => own.to_string(),
        Value::Byte(own) => own.to_string(),
        Value::Short(own) => own.to_string(),
        Value::Int(own) => own.to_string(),
        Value::Long(own) => own.to_string(),
        Value::Float(own) => shown_float(*own),
        Value::Double(own) => shown_double(*own),
        Value::BigInteger(own) => own.to_string(),
        Value::BigDecimal(own, scale) => shown_decimal(&((**own).clone(), *scale)),
        Value::Uuid(own) => super::call::time::shown_uuid(*own),
        Value::Timestamp(own) => super::call::time::shown_timestamp(*own.borrow()),
        Value::Date(own) => super::call::time::shown_date(*own),
        Value::Duration(months, days, nanoseconds) => {
            super::call::time::shown_duration(*months, *days, *nanoseconds)
        }
        Value::Inet(own) => format!("/{own}"),
        Value::Buffer(own) => {
            let own = own.borrow();
            let (position, limit, capacity) = (own.position, own.limit, own.bytes.len());
            format!("java.nio.HeapByteBuffer[pos={position} lim={limit} cap={capacity}]")
        }
        _ => String::new(),
    }
}

/// Returns the hash of a value, as Java computes it for numbers and texts; others have that of their
/// key.
fn plain_hash(own: &Value, key: &[u8]) -> i32 {
    let fold = |own: i64| {
        let folded = own.cast_unsigned() ^ own.cast_unsigned() >> 32;
        u32::try_from(folded & u64::from(u32::MAX)).unwrap_or(0).cast_signed()
    };
    match own {
        Value::Boolean(own) => {
            if *own {
                1231
            } else {
                1237
            }
        }
        Value::Byte(own) => i32::from(*own),
        Value::Short(own) => i32::from(*own),
        Value::Char(own) => i32::from(*own),
        Value::Int(own) => *own,
        Value::Long(own) => fold(*own),
        Value::Float(own) => own.to_bits().cast_signed(),
        Value::Double(own) => fold(own.to_bits().cast_signed()),
        Value::Timestamp(own) => fold(*own.borrow()),
        Value::Text(own) => own
            .iter()
            .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit))),
        _ => key
            .iter()
            .fold(1_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(*byte))),
    }
}
