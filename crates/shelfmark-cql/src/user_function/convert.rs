//! Values of CQL as values of Java, and back.
//!
//! What it is not: a check of the types of a body; what is not of the type that is declared, which
//! collections without types allow, is refused here.
//!
//! Invariant: a value that is turned into one of Java and back is the same.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use shelfmark_cql_types::{
    CqlType, DATE_EPOCH, Duration, Native, compare, decimal_from_parts, elements, entries, fields,
    put_collection, put_tuple, take_duration, unsigned_vint, varint_from_bytes, varint_to_bytes,
    vector_elements,
};
use shelfmark_java_subset::{DataType, Fields, Value};

/// Returns the type that bodies see.
pub(super) fn data_type(ty: &CqlType) -> DataType {
    let fields_of = |name: &str, all: Vec<(String, DataType)>| {
        Arc::new(Fields { name: name.to_owned(), fields: all })
    };
    match ty {
        CqlType::Native(native) => of_native(*native),
        CqlType::List { element, .. } | CqlType::Vector { element, .. } => {
            DataType::List(Box::new(data_type(element)))
        }
        CqlType::Set { element, .. } => DataType::Set(Box::new(data_type(element))),
        CqlType::Map { key, value, .. } => {
            DataType::Map(Box::new(data_type(key)), Box::new(data_type(value)))
        }
        CqlType::Tuple(types) => {
            let all = types.iter().map(|ty| (String::new(), data_type(ty)));
            DataType::Tuple(fields_of("", all.collect()))
        }
        CqlType::User { definition, .. } => {
            let all = definition.fields.iter().map(|(name, ty)| (name.to_string(), data_type(ty)));
            DataType::User(fields_of(&definition.name, all.collect()))
        }
        CqlType::Custom(_) => DataType::Blob,
    }
}

fn of_native(native: Native) -> DataType {
    match native {
        Native::Ascii | Native::Text => DataType::Text,
        Native::Bigint | Native::Counter => DataType::Bigint,
        Native::Boolean => DataType::Boolean,
        Native::Date => DataType::Date,
        Native::Decimal => DataType::Decimal,
        Native::Double => DataType::Double,
        Native::Duration => DataType::Duration,
        Native::Float => DataType::Float,
        Native::Inet => DataType::Inet,
        Native::Int => DataType::Int,
        Native::Smallint => DataType::Smallint,
        Native::Time => DataType::Time,
        Native::Timestamp => DataType::Timestamp,
        Native::Timeuuid | Native::Uuid => DataType::Uuid,
        Native::Tinyint => DataType::Tinyint,
        Native::Varint => DataType::Varint,
        Native::Blob | Native::Empty => DataType::Blob,
    }
}

/// Returns a value as Java has it; what is no value of its type is null.
pub(super) fn to_java(ty: &CqlType, bytes: Option<&[u8]>) -> Value {
    bytes.and_then(|bytes| some_to_java(ty, bytes)).unwrap_or(Value::Null)
}

fn some_to_java(ty: &CqlType, bytes: &[u8]) -> Option<Value> {
    Some(match ty {
        CqlType::Native(native) => native_to_java(*native, bytes)?,
        CqlType::Custom(_) => Value::bytes(bytes.to_vec()),
        CqlType::List { element, .. } => {
            let items = elements(bytes).ok()?.flatten();
            Value::list(items.map(|own| to_java(element, own)).collect())
        }
        CqlType::Vector { element, dimension } => {
            let items = vector_elements(element, *dimension, bytes).ok()?;
            Value::list(items.into_iter().map(|own| to_java(element, Some(own))).collect())
        }
        CqlType::Set { element, .. } => {
            let items = elements(bytes).ok()?.flatten();
            Value::set(items.map(|own| to_java(element, own)).collect())
        }
        CqlType::Map { key, value, .. } => {
            let items = entries(bytes).ok()?.flatten();
            Value::map(items.map(|(k, v)| (to_java(key, k), to_java(value, v))).collect())
        }
        CqlType::Tuple(types) => of_fields(ty, types.iter(), bytes),
        CqlType::User { definition, .. } => {
            of_fields(ty, definition.fields.iter().map(|(_, ty)| ty), bytes)
        }
    })
}

fn of_fields<'t>(ty: &CqlType, types: impl Iterator<Item = &'t CqlType>, bytes: &[u8]) -> Value {
    let mut parts = fields(bytes);
    let mut next = || parts.next().and_then(std::result::Result::ok).flatten();
    let values = types.map(|ty| to_java(ty, next())).collect();
    match data_type(ty) {
        DataType::User(shape) => Value::fields(&shape, true, values),
        DataType::Tuple(shape) => Value::fields(&shape, false, values),
        _ => Value::Null,
    }
}

fn native_to_java(native: Native, bytes: &[u8]) -> Option<Value> {
    Some(match native {
        Native::Ascii | Native::Text => Value::text(std::str::from_utf8(bytes).ok()?),
        Native::Bigint | Native::Counter | Native::Time => {
            Value::Long(i64::from_be_bytes(bytes.try_into().ok()?))
        }
        Native::Boolean => Value::Boolean(*bytes.first()? != 0),
        Native::Date => {
            let days = i64::from(u32::from_be_bytes(bytes.try_into().ok()?));
            Value::Date(i32::try_from(days - i64::from(DATE_EPOCH)).ok()?)
        }
        Native::Decimal => {
            let (scale, number) = bytes.split_first_chunk::<4>()?;
            Value::BigDecimal(varint_from_bytes(number).into(), i32::from_be_bytes(*scale))
        }
        Native::Double => Value::Double(f64::from_be_bytes(bytes.try_into().ok()?)),
        Native::Duration => {
            let own = take_duration(bytes).ok()?;
            Value::Duration(own.months, own.days, own.nanos)
        }
        Native::Float => Value::Float(f32::from_be_bytes(bytes.try_into().ok()?)),
        Native::Inet => Value::Inet(match bytes.len() {
            4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)),
            _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        }),
        Native::Int => Value::Int(i32::from_be_bytes(bytes.try_into().ok()?)),
        Native::Smallint => Value::Short(i16::from_be_bytes(bytes.try_into().ok()?)),
        Native::Timestamp => Value::timestamp(i64::from_be_bytes(bytes.try_into().ok()?)),
        Native::Timeuuid | Native::Uuid => Value::Uuid(u128::from_be_bytes(bytes.try_into().ok()?)),
        Native::Tinyint => Value::Byte(i8::from_be_bytes(bytes.try_into().ok()?)),
        Native::Varint => Value::BigInteger(varint_from_bytes(bytes).into()),
        Native::Blob | Native::Empty => Value::bytes(bytes.to_vec()),
    })
}

/// Returns a value of Java as bytes of a type; the text of the failure if it is none of it.
pub(super) fn from_java(ty: &CqlType, own: &Value) -> Result<Option<Vec<u8>>, String> {
    if matches!(own, Value::Null) {
        return Ok(None);
    }
    let wrong = || format!("java.lang.ClassCastException: the value is not of type {ty}");
    some_from_java(ty, own).map(Some).ok_or_else(wrong)
}

fn some_from_java(ty: &CqlType, own: &Value) -> Option<Vec<u8>> {
    let inner = |ty: &CqlType, own: &Value| some_from_java(ty, own);
    Some(match (ty, own) {
        (CqlType::Native(native), own) => native_from_java(*native, own)?,
        (CqlType::Custom(_), Value::Buffer(own)) => own.borrow().remaining().to_vec(),
        (CqlType::List { element, .. }, Value::List(list)) => {
            let list = list.borrow();
            let parts: Option<Vec<Vec<u8>>> =
                list.items.iter().map(|own| inner(element, own)).collect();
            let parts = parts?;
            put_collection(parts.len(), parts.iter().map(Vec::as_slice))
        }
        (CqlType::Vector { element, dimension }, Value::List(list)) => {
            let list = list.borrow();
            if u32::try_from(list.items.len()) != Ok(*dimension) {
                return None;
            }
            let mut out = Vec::new();
            for own in &list.items {
                let part = inner(element, own)?;
                if element.fixed_size().is_none() {
                    unsigned_vint(part.len() as u64, &mut out);
                }
                out.extend(part);
            }
            out
        }
        (CqlType::Set { element, .. }, Value::Set(all)) => {
            let pairs = all.borrow().pairs();
            let parts: Option<Vec<Vec<u8>>> =
                pairs.iter().map(|(own, _)| inner(element, own)).collect();
            let mut parts = parts?;
            parts.sort_by(|one, other| compare(element, one, other));
            parts.dedup();
            put_collection(parts.len(), parts.iter().map(Vec::as_slice))
        }
        (CqlType::Map { key, value, .. }, Value::Map(all)) => {
            let pairs = all.borrow().pairs();
            let parts: Option<Vec<(Vec<u8>, Vec<u8>)>> =
                pairs.iter().map(|(k, v)| Some((inner(key, k)?, inner(value, v)?))).collect();
            let mut parts = parts?;
            parts.sort_by(|(one, _), (other, _)| compare(key, one, other));
            let flat = parts.iter().flat_map(|(k, v)| [k.as_slice(), v.as_slice()]);
            put_collection(parts.len(), flat)
        }
        (CqlType::Tuple(types), Value::Fields(own)) if !own.is_user => {
            put_fields(types.iter(), &own.values.borrow())?
        }
        (CqlType::User { definition, .. }, Value::Fields(own)) if own.is_user => {
            put_fields(definition.fields.iter().map(|(_, ty)| ty), &own.values.borrow())?
        }
        _ => return None,
    })
}

fn put_fields<'t>(types: impl Iterator<Item = &'t CqlType>, values: &[Value]) -> Option<Vec<u8>> {
    let part = |(at, ty): (usize, &CqlType)| match values.get(at) {
        Some(Value::Null) | None => Some(None),
        Some(own) => some_from_java(ty, own).map(Some),
    };
    let parts: Option<Vec<Option<Vec<u8>>>> = types.enumerate().map(part).collect();
    Some(put_tuple(parts?.iter().map(Option::as_deref)))
}

fn native_from_java(native: Native, own: &Value) -> Option<Vec<u8>> {
    Some(match (native, own) {
        (Native::Ascii | Native::Text, Value::Text(own)) => {
            let text = String::from_utf16_lossy(own);
            if native == Native::Ascii && !text.is_ascii() {
                return None;
            }
            text.into_bytes()
        }
        (Native::Bigint | Native::Counter | Native::Time, Value::Long(own)) => {
            own.to_be_bytes().to_vec()
        }
        (Native::Boolean, Value::Boolean(own)) => vec![u8::from(*own)],
        (Native::Date, Value::Date(own)) => {
            let days = u32::try_from(i64::from(*own) + i64::from(DATE_EPOCH)).ok()?;
            days.to_be_bytes().to_vec()
        }
        (Native::Decimal, Value::BigDecimal(own, scale)) => decimal_from_parts(own, *scale),
        (Native::Double, Value::Double(own)) => own.to_be_bytes().to_vec(),
        (Native::Duration, Value::Duration(months, days, nanos)) => {
            Duration { months: *months, days: *days, nanos: *nanos }.to_bytes()
        }
        (Native::Float, Value::Float(own)) => own.to_be_bytes().to_vec(),
        (Native::Inet, Value::Inet(IpAddr::V4(own))) => own.octets().to_vec(),
        (Native::Inet, Value::Inet(IpAddr::V6(own))) => own.octets().to_vec(),
        (Native::Int, Value::Int(own)) => own.to_be_bytes().to_vec(),
        (Native::Smallint, Value::Short(own)) => own.to_be_bytes().to_vec(),
        (Native::Timestamp, Value::Timestamp(own)) => own.borrow().to_be_bytes().to_vec(),
        (Native::Timeuuid | Native::Uuid, Value::Uuid(own)) => own.to_be_bytes().to_vec(),
        (Native::Tinyint, Value::Byte(own)) => own.to_be_bytes().to_vec(),
        (Native::Varint, Value::BigInteger(own)) => varint_to_bytes(own),
        (Native::Blob | Native::Empty, Value::Buffer(own)) => own.borrow().remaining().to_vec(),
        _ => return None,
    })
}
