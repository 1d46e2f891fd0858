//! Values at run time.
//!
//! What it is not: typed beyond what Java tells at run time; a number in a box is the number.
//!
//! Invariant: what can be changed is shared by those who hold it, as objects of Java are.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use num_bigint::BigInt;

use crate::data_type::Fields;
use crate::library::ClassId;
use crate::program::Constant;
use crate::run::entries::Entries;

/// A value.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the variants are Java's types")]
pub enum Value {
    Null,
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    /// A text, in units of UTF-16 as Java counts them.
    Text(Rc<[u16]>),
    BigInteger(Rc<BigInt>),
    /// An unscaled number and its scale.
    BigDecimal(Rc<BigInt>, i32),
    Uuid(u128),
    /// Milliseconds since 1970, which can be set.
    Timestamp(Rc<RefCell<i64>>),
    /// Days since 1970.
    Date(i32),
    /// Months, days, nanoseconds.
    Duration(i32, i32, i64),
    Inet(IpAddr),
    Buffer(Rc<RefCell<Buffer>>),
    List(Rc<RefCell<List>>),
    Set(Rc<RefCell<Entries>>),
    Map(Rc<RefCell<Entries>>),
    /// A tuple or a value of a user type.
    Fields(Rc<FieldsValue>),
    /// An object that only exists while a function runs.
    Object(Rc<Object>),
}

/// A list; one of a fixed size refuses to grow.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// The elements.
    pub items: Vec<Value>,
    pub(crate) is_fixed: bool,
}

/// Bytes with a position and a limit.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    pub(crate) bytes: Vec<u8>,
    pub(crate) position: usize,
    pub(crate) limit: usize,
}

impl Buffer {
    /// Creates a buffer that has these bytes left to be read.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Self { limit: bytes.len(), bytes, position: 0 }
    }

    /// Returns the bytes that are left to be read.
    #[must_use]
    pub fn remaining(&self) -> &[u8] {
        self.bytes.get(self.position..self.limit).unwrap_or_default()
    }
}

/// A value with fields.
#[derive(Debug)]
pub struct FieldsValue {
    /// Its type.
    pub shape: Arc<Fields>,
    /// True if it is of a user type.
    pub is_user: bool,
    /// The values, as many as fields.
    pub values: RefCell<Vec<Value>>,
}

/// An object that no type of the database has.
#[derive(Debug)]
pub enum Object {
    /// A text that is being built.
    Builder(RefCell<Vec<u16>>),
    /// An array.
    Array(RefCell<Vec<Value>>),
    /// The rest of a walk over a collection, backwards.
    Iterator(RefCell<Vec<Value>>),
    /// A key and its value.
    Entry(RefCell<(Value, Value)>),
    /// An exception.
    Exception(Thrown),
    /// A class.
    Class(String),
    /// A way of rounding.
    Rounding(&'static str),
    /// The maker of values of user types and tuples.
    Context,
    /// A plain object.
    Plain,
}

/// An exception on its way.
#[derive(Debug, Clone)]
pub struct Thrown {
    pub(crate) class: Class,
    pub(crate) message: Option<String>,
    pub(crate) cause: Option<Box<Thrown>>,
}

/// The class of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// One that bodies know.
    Known(ClassId),
    /// One that they cannot name, by its full name.
    Named(&'static str),
    /// The limit of steps or memory, which nothing catches.
    Steps,
    Memory,
}

impl Value {
    /// Returns a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.encode_utf16().collect())
    }

    /// Returns a list.
    #[must_use]
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(List { items, is_fixed: false })))
    }

    /// Returns a set that keeps the order of what is put in.
    #[must_use]
    pub fn set(items: Vec<Self>) -> Self {
        let mut all = Entries::default();
        for item in items {
            all.put(item, Self::Null);
        }
        Self::Set(Rc::new(RefCell::new(all)))
    }

    /// Returns a map that keeps the order of what is put in.
    #[must_use]
    pub fn map(items: Vec<(Self, Self)>) -> Self {
        let mut all = Entries::default();
        for (key, value) in items {
            all.put(key, value);
        }
        Self::Map(Rc::new(RefCell::new(all)))
    }

    /// Returns bytes.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::Buffer(Rc::new(RefCell::new(Buffer::of(bytes))))
    }

    /// Returns a value with fields.
    #[must_use]
    pub fn fields(shape: &Arc<Fields>, is_user: bool, mut values: Vec<Self>) -> Self {
        values.resize(shape.fields.len(), Self::Null);
        let shape = Arc::clone(shape);
        Self::Fields(Rc::new(FieldsValue { shape, is_user, values: RefCell::new(values) }))
    }

    /// Returns a moment.
    #[must_use]
    pub fn timestamp(milliseconds: i64) -> Self {
        Self::Timestamp(Rc::new(RefCell::new(milliseconds)))
    }

    pub(crate) fn object(own: Object) -> Self {
        Self::Object(Rc::new(own))
    }

    pub(crate) fn array(items: Vec<Self>) -> Self {
        Self::object(Object::Array(RefCell::new(items)))
    }

    pub(crate) fn units(units: Vec<u16>) -> Self {
        Self::Text(units.into())
    }

    pub(crate) fn integer(own: BigInt) -> Self {
        Self::BigInteger(Rc::new(own))
    }

    pub(crate) fn constant(own: &Constant) -> Self {
        match own {
            Constant::Null => Self::Null,
            Constant::Boolean(own) => Self::Boolean(*own),
            Constant::Byte(own) => Self::Byte(*own),
            Constant::Short(own) => Self::Short(*own),
            Constant::Char(own) => Self::Char(*own),
            Constant::Int(own) => Self::Int(*own),
            Constant::Long(own) => Self::Long(*own),
            Constant::Float(own) => Self::Float(*own),
            Constant::Double(own) => Self::Double(*own),
            Constant::Text(own) => Self::Text(own.iter().copied().collect()),
        }
    }
}
