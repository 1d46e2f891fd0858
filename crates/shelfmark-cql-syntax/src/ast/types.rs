//! Types as the text writes them.

use crate::ast::QualifiedName;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A native type.
    Native(NativeType),
    /// `list<t>`
    List(Box<Type>),
    /// `set<t>`
    Set(Box<Type>),
    /// `map<k, v>`
    Map(Box<Type>, Box<Type>),
    /// `tuple<a, b>`; at least one.
    Tuple(Vec<Type>),
    /// `vector<t, n>`
    Vector {
        /// The element's type.
        element: Box<Type>,
        /// The number of elements. The executor refuses what is below 1 or too large.
        dimension: i32,
    },
    /// A user-defined type.
    User(QualifiedName),
    /// `frozen<t>`
    Frozen(Box<Type>),
    /// `'a.class.Name'`
    Custom(Box<str>),
}

/// The native types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NativeType {
    /// US-ASCII text.
    Ascii,
    /// 64-bit integer.
    BigInt,
    /// Bytes.
    Blob,
    /// True or false.
    Boolean,
    /// A counter.
    Counter,
    /// Days since 1970 around 2^31.
    Date,
    /// Decimal number of any precision.
    Decimal,
    /// 64-bit floating point.
    Double,
    /// Months, days, nanoseconds.
    Duration,
    /// 32-bit floating point.
    Float,
    /// An IPv4 or IPv6 address.
    Inet,
    /// 32-bit integer.
    Int,
    /// 16-bit integer.
    SmallInt,
    /// UTF-8 text.
    Text,
    /// Nanoseconds since midnight.
    Time,
    /// Milliseconds since 1970.
    Timestamp,
    /// A UUID of version 1.
    TimeUuid,
    /// 8-bit integer.
    TinyInt,
    /// A UUID.
    Uuid,
    /// The same type as text, under its other name.
    Varchar,
    /// Integer of any size.
    Varint,
}

impl NativeType {
    /// All of them.
    pub const ALL: [NativeType; 21] = [
        NativeType::Ascii,
        NativeType::BigInt,
        NativeType::Blob,
        NativeType::Boolean,
        NativeType::Counter,
        NativeType::Date,
        NativeType::Decimal,
        NativeType::Double,
        NativeType::Duration,
        NativeType::Float,
        NativeType::Inet,
        NativeType::Int,
        NativeType::SmallInt,
        NativeType::Text,
        NativeType::Time,
        NativeType::Timestamp,
        NativeType::TimeUuid,
        NativeType::TinyInt,
        NativeType::Uuid,
        NativeType::Varchar,
        NativeType::Varint,
    ];

    /// Returns the type's name in CQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NativeType::Ascii => "ascii",
            NativeType::BigInt => "bigint",
            NativeType::Blob => "blob",
            NativeType::Boolean => "boolean",
            NativeType::Counter => "counter",
            NativeType::Date => "date",
            NativeType::Decimal => "decimal",
            NativeType::Double => "double",
            NativeType::Duration => "duration",
            NativeType::Float => "float",
            NativeType::Inet => "inet",
            NativeType::Int => "int",
            NativeType::SmallInt => "smallint",
            NativeType::Text => "text",
            NativeType::Time => "time",
            NativeType::Timestamp => "timestamp",
            NativeType::TimeUuid => "timeuuid",
            NativeType::TinyInt => "tinyint",
            NativeType::Uuid => "uuid",
            NativeType::Varchar => "varchar",
            NativeType::Varint => "varint",
        }
    }
}
