//! CQL's types.
//!
//! What it is not: the wire form of a type's name, which is `message`'s.

use std::sync::Arc;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "CQL's own names")]
pub enum CqlType {
    Ascii,
    Bigint,
    Blob,
    Boolean,
    Counter,
    Date,
    Decimal,
    Double,
    Duration,
    Float,
    Inet,
    Int,
    Smallint,
    Text,
    Time,
    Timestamp,
    Timeuuid,
    Tinyint,
    Uuid,
    Varint,
    /// `list<element>`.
    List {
        element: Arc<CqlType>,
        frozen: bool,
    },
    /// `set<element>`.
    Set {
        element: Arc<CqlType>,
        frozen: bool,
    },
    /// `map<key, value>`.
    Map {
        key: Arc<CqlType>,
        value: Arc<CqlType>,
        frozen: bool,
    },
    /// `tuple<…>`; always frozen.
    Tuple(Arc<[CqlType]>),
    /// A user type.
    User {
        definition: Arc<UserType>,
        frozen: bool,
    },
    /// `vector<element, dimension>`; always frozen.
    Vector {
        element: Arc<CqlType>,
        dimension: u32,
    },
    /// A class that we only carry, such as one of another server's.
    Custom(Arc<str>),
}

/// The definition of a user type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserType {
    /// Its keyspace.
    pub keyspace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its fields in order.
    pub fields: Vec<(Arc<str>, CqlType)>,
}
