//! The types of arguments, results and fields, as the database has them.
//!
//! What it is not: bytes; whoever calls a function converts its values.
//!
//! Invariant: each type has one class of Java, whose values it takes and gives.

use std::sync::Arc;

use crate::library::Library;
use crate::ty::Ty;

/// A type of the database.
#[derive(Debug, Clone, PartialEq)]
pub enum DataType {
    /// `true` and `false`.
    Boolean,
    /// Eight bits.
    Tinyint,
    /// Sixteen bits.
    Smallint,
    /// Thirty-two bits.
    Int,
    /// Sixty-four bits.
    Bigint,
    /// Thirty-two bits, floating.
    Float,
    /// Sixty-four bits, floating.
    Double,
    /// An integer of any size.
    Varint,
    /// A decimal number of any size.
    Decimal,
    /// A text.
    Text,
    /// Bytes, and whatever has no class of its own.
    Blob,
    /// A UUID.
    Uuid,
    /// Milliseconds since 1970.
    Timestamp,
    /// A day.
    Date,
    /// Nanoseconds of a day.
    Time,
    /// Months, days and nanoseconds.
    Duration,
    /// An address.
    Inet,
    /// A list.
    List(Box<DataType>),
    /// A set.
    Set(Box<DataType>),
    /// A map.
    Map(Box<DataType>, Box<DataType>),
    /// A tuple.
    Tuple(Arc<Fields>),
    /// A user type.
    User(Arc<Fields>),
}

/// The fields of a tuple or user type.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields {
    /// The name of a user type; empty for a tuple.
    pub name: String,
    /// Names, empty for a tuple, and types.
    pub fields: Vec<(String, DataType)>,
}

impl DataType {
    /// Returns the type's name in CQL.
    #[must_use]
    pub fn name(&self) -> String {
        let plain = match self {
            Self::Boolean => "boolean",
            Self::Tinyint => "tinyint",
            Self::Smallint => "smallint",
            Self::Int => "int",
            Self::Bigint => "bigint",
            Self::Float => "float",
            Self::Double => "double",
            Self::Varint => "varint",
            Self::Decimal => "decimal",
            Self::Text => "text",
            Self::Blob => "blob",
            Self::Uuid => "uuid",
            Self::Timestamp => "timestamp",
            Self::Date => "date",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Inet => "inet",
            Self::List(of) => return format!("list<{}>", of.name()),
            Self::Set(of) => return format!("set<{}>", of.name()),
            Self::Map(key, value) => return format!("map<{}, {}>", key.name(), value.name()),
            Self::Tuple(own) => {
                let all: Vec<String> = own.fields.iter().map(|(_, ty)| ty.name()).collect();
                return format!("tuple<{}>", all.join(", "));
            }
            Self::User(own) => &own.name,
        };
        plain.to_owned()
    }

    /// Returns the class of its values.
    pub(crate) fn class(&self) -> Ty {
        let of = |name: &str, arguments: Vec<Ty>| match Library::get().find(name) {
            Some(id) => Ty::Class(id, arguments),
            None => Ty::Error,
        };
        match self {
            Self::Boolean => Ty::Boolean.boxed(),
            Self::Tinyint => Ty::Byte.boxed(),
            Self::Smallint => Ty::Short.boxed(),
            Self::Int => Ty::Int.boxed(),
            Self::Bigint | Self::Time => Ty::Long.boxed(),
            Self::Float => Ty::Float.boxed(),
            Self::Double => Ty::Double.boxed(),
            Self::Varint => Ty::class("BigInteger"),
            Self::Decimal => Ty::class("BigDecimal"),
            Self::Text => Ty::string(),
            Self::Blob => Ty::class("ByteBuffer"),
            Self::Uuid => Ty::class("UUID"),
            Self::Timestamp => Ty::class("Date"),
            Self::Date => Ty::class("LocalDate"),
            Self::Duration => Ty::class("Duration"),
            Self::Inet => Ty::class("InetAddress"),
            Self::List(element) => of("List", vec![element.class()]),
            Self::Set(element) => of("Set", vec![element.class()]),
            Self::Map(key, value) => of("Map", vec![key.class(), value.class()]),
            Self::Tuple(_) => Ty::class("TupleValue"),
            Self::User(_) => Ty::class("UDTValue"),
        }
    }

    /// Returns the type of a parameter: a primitive one where it is never null.
    pub(crate) fn parameter(&self, is_strict: bool) -> Ty {
        let class = self.class();
        if is_strict { class.unboxed().unwrap_or(class) } else { class }
    }
}
