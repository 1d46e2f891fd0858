//! Values of attributes: CanDB's variants over the engine's values.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use shelfmark_model::Value;

/// The value of an attribute.
///
/// CanDB's text, int, bool, float, blob, tuple, arrays and tree. Arrays of one type and mixed ones
/// are one variant, tuples and trees may be nested, and what another face wrote and none of these
/// holds comes back as [`Attribute::Other`].
///
/// # Examples
///
/// ```
/// use shelfmark_typed::Attribute;
///
/// let members = Attribute::array(["alice", "bob"]);
/// assert_eq!(members.as_array().map(<[Attribute]>::len), Some(2));
/// assert!(Attribute::from(0.1 + 0.2).roughly_equals(&Attribute::from(0.3)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// Text.
    Text(String),
    /// An integer of any size.
    Int(BigInt),
    /// True or false.
    Bool(bool),
    /// A 64-bit float.
    Float(f64),
    /// Bytes.
    Blob(Vec<u8>),
    /// A fixed number of values of any variants.
    Tuple(Vec<Attribute>),
    /// Values in order.
    Array(Vec<Attribute>),
    /// Values by name.
    Tree(BTreeMap<String, Attribute>),
    /// A value of another kind.
    Other(Value),
}

impl Attribute {
    /// Returns the text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer, if it is one that fits.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => n.try_into().ok(),
            _ => None,
        }
    }

    /// Returns the boolean, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// Returns the float, if it is one.
    #[must_use]
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }

    /// Returns the bytes, if it is a blob.
    #[must_use]
    pub fn as_blob(&self) -> Option<&[u8]> {
        match self {
            Self::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the members, if it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members, if it is a tree.
    #[must_use]
    pub fn as_tree(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Tree(members) => Some(members),
            _ => None,
        }
    }

    /// Makes an array of members of one type.
    #[must_use]
    pub fn array<T: Into<Self>>(members: impl IntoIterator<Item = T>) -> Self {
        Self::Array(members.into_iter().map(Into::into).collect())
    }

    /// Returns true if both are equal; floats also when they differ by less than 1e-10, as CanDB
    /// compares them.
    #[must_use]
    pub fn roughly_equals(&self, other: &Self) -> bool {
        let all = |a: &[Self], b: &[Self]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.roughly_equals(b))
        };
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => (a - b).abs() < 1e-10 || a == b,
            (Self::Tuple(a), Self::Tuple(b)) | (Self::Array(a), Self::Array(b)) => all(a, b),
            (Self::Tree(a), Self::Tree(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((an, a), (bn, b))| an == bn && a.roughly_equals(b))
            }
            _ => self == other,
        }
    }
}

impl From<Attribute> for Value {
    fn from(attribute: Attribute) -> Self {
        match attribute {
            Attribute::Text(text) => Self::Text(text.into()),
            Attribute::Int(n) => i64::try_from(&n).map_or(Self::BigInt(n), Self::Int),
            Attribute::Bool(bool) => Self::Bool(bool),
            Attribute::Float(float) => Self::Float(float),
            Attribute::Blob(bytes) => Self::Bytes(bytes.into()),
            Attribute::Tuple(members) => {
                Self::Tuple(members.into_iter().map(|member| Some(member.into())).collect())
            }
            Attribute::Array(members) => Self::List(members.into_iter().map(Into::into).collect()),
            Attribute::Tree(members) => {
                Self::Map(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
            Attribute::Other(value) => value,
        }
    }
}

impl From<Value> for Attribute {
    fn from(value: Value) -> Self {
        match value {
            Value::Text(text) => Self::Text(text.into()),
            Value::Int(n) => Self::Int(n.into()),
            Value::BigInt(n) => Self::Int(n),
            Value::Bool(bool) => Self::Bool(bool),
            Value::Float(float) => Self::Float(float),
            Value::Bytes(bytes) => Self::Blob(bytes.into()),
            // An absent field has no variant of its own.
            Value::Tuple(fields) if fields.iter().all(Option::is_some) => {
                Self::Tuple(fields.into_iter().flatten().map(Into::into).collect())
            }
            Value::List(members) => Self::Array(members.into_iter().map(Into::into).collect()),
            Value::Map(members) => {
                Self::Tree(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
            other => Self::Other(other),
        }
    }
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Attribute {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

impl From<f64> for Attribute {
    fn from(float: f64) -> Self {
        Self::Float(float)
    }
}

impl From<Vec<u8>> for Attribute {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl From<$type> for Attribute {
            fn from(n: $type) -> Self {
                Self::Int(n.into())
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, i128, u16, u32, u64, u128, BigInt);
