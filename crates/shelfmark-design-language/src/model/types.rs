//! Types, and the domains that proofs may assume.
//!
//! Invariant: [`Type::holds`] accepts exactly the values of the domain, so that what is generated
//! and what is assumed in a proof are the same.

use serde::{Deserialize, Serialize};

use super::value::Value;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// Holds no byte.
    pub const EMPTY: Self = Self([0; 4]);

    /// Returns the bytes from `low` to `high`.
    pub fn range(low: u8, high: u8) -> Self {
        (low..=high).collect()
    }

    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }

    /// Removes a byte.
    pub fn remove(&mut self, byte: u8) {
        if let Some(word) = self.0.get_mut(usize::from(byte >> 6)) {
            *word &= !(1 << (byte & 63));
        }
    }

    /// Returns true if the byte is in it.
    pub fn contains(self, byte: u8) -> bool {
        self.0.get(usize::from(byte >> 6)).is_some_and(|word| word >> (byte & 63) & 1 == 1)
    }

    /// Returns true if no byte is in it.
    pub fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }

    /// Returns the bytes in both.
    pub fn and(self, other: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Self([a & e, b & f, c & g, d & h])
    }

    /// Returns the bytes in either.
    pub fn or(self, other: Self) -> Self {
        let [a, b, c, d] = self.0;
        let [e, f, g, h] = other.0;
        Self([a | e, b | f, c | g, d | h])
    }

    /// Returns the smallest byte.
    pub fn min(self) -> Option<u8> {
        (0..=u8::MAX).find(|byte| self.contains(*byte))
    }

    /// Returns the largest byte.
    pub fn max(self) -> Option<u8> {
        (0..=u8::MAX).rev().find(|byte| self.contains(*byte))
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        let mut set = Self::EMPTY;
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }
}

/// The texts of a domain.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct TextDomain {
    /// Least number of characters.
    pub min: u64,
    /// Largest number of characters.
    pub max: Option<u64>,
    /// Characters that do not occur.
    pub without: String,
    /// The only characters that occur, as inclusive ranges, if they are restricted.
    pub only: Option<Vec<(char, char)>>,
}

impl TextDomain {
    /// Returns true if the character may occur.
    pub fn allows(&self, c: char) -> bool {
        let among = |ranges: &Vec<(char, char)>| ranges.iter().any(|(a, b)| *a <= c && c <= *b);
        !self.without.contains(c) && self.only.as_ref().is_none_or(among)
    }

    /// Returns the bytes that can occur: a superset that is exact for ASCII.
    pub fn bytes(&self) -> ByteSet {
        let mut set: ByteSet =
            (0..=0x7F_u8).filter(|byte| self.allows(char::from(*byte))).collect();
        let beyond = match &self.only {
            None => true,
            Some(ranges) => ranges.iter().any(|(_, high)| !high.is_ascii()),
        };
        if beyond {
            set = set.or(ByteSet::range(0x80, 0xF4));
        }
        set
    }

    /// Returns true if the text is in the domain.
    pub fn holds(&self, text: &str) -> bool {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        length >= self.min
            && self.max.is_none_or(|max| length <= max)
            && text.chars().all(|c| self.allows(c))
    }
}

/// The numbers of bytes that values of a binary type may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// Least number of bytes.
    pub min: u64,
    /// Largest number of bytes.
    pub max: Option<u64>,
}

impl Sizes {
    /// Returns true if a value of the type, as it is written, has such a number of bytes: two lower
    /// hexadecimal digits for each.
    pub fn holds(self, hex: &str) -> bool {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let count = u64::try_from(hex.len() / 2).unwrap_or(u64::MAX);
        hex.len().is_multiple_of(2)
            && hex.bytes().all(digit)
            && count >= self.min
            && self.max.is_none_or(|max| count <= max)
    }
}

/// The type of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// A UUID.
    Uuid,
    /// A ULID.
    Ulid,
    /// True or false.
    Bool,
    /// Inclusive bounds; without them the whole of 64 bits.
    Int(Option<(i64, i64)>),
    /// Numbers with a fraction, within inclusive bounds. States are drawn with whole ones, which no
    /// proof relies on: texts of such numbers are taken to sort in no order.
    Decimal(Option<(i64, i64)>),
    /// Milliseconds since 1970.
    Timestamp,
    /// Days since 1970.
    Date,
    /// Text of a domain.
    Text(TextDomain),
    /// One of a few words.
    Enum(Vec<String>),
    /// Binary values, which stand as hexadecimal digits and sort as bytes do.
    Bytes(Sizes),
    /// Lists and sets, with the declared most elements.
    List(Box<Type>, Option<u64>),
}

/// Timestamps of states: the years 1 to 9999, which ISO texts of four-digit years hold.
pub const TIMESTAMP_RANGE: (i64, i64) = (-62_135_596_800_000, 253_402_300_799_999);

/// Dates of states: the same years.
pub const DATE_RANGE: (i64, i64) = (-719_162, 2_932_896);

impl Type {
    /// Returns true if the value is of the type.
    pub fn holds(&self, value: &Value) -> bool {
        let within = |(low, high): (i64, i64), n: &i64| low <= *n && *n <= high;
        match (self, value) {
            (Self::Uuid | Self::Ulid, Value::Id(_)) | (Self::Bool, Value::Bool(_)) => true,
            (Self::Int(None) | Self::Decimal(None), Value::Int(_)) => true,
            (Self::Int(Some(range)) | Self::Decimal(Some(range)), Value::Int(n)) => {
                within(*range, n)
            }
            (Self::Timestamp, Value::Int(n)) => within(TIMESTAMP_RANGE, n),
            (Self::Date, Value::Int(n)) => within(DATE_RANGE, n),
            (Self::Text(domain), Value::Text(text)) => domain.holds(text),
            (Self::Enum(variants), Value::Text(text)) => variants.contains(text),
            (Self::Bytes(sizes), Value::Text(hex)) => sizes.holds(hex),
            (Self::List(element, max), Value::List(items)) => {
                max.is_none_or(|max| items.len() as u64 <= max)
                    && items.iter().all(|item| element.holds(item))
            }
            _ => false,
        }
    }

    /// Returns true if values of both types can be compared.
    pub fn comparable(&self, other: &Self) -> bool {
        use Type::{Bool, Bytes, Date, Decimal, Enum, Int, List, Text, Timestamp, Ulid, Uuid};
        match (self, other) {
            (Uuid, Uuid) | (Ulid, Ulid) | (Bool, Bool) | (Int(_), Int(_)) => true,
            (Decimal(_), Decimal(_) | Int(_)) | (Int(_), Decimal(_)) => true,
            (Timestamp, Timestamp) | (Date, Date) | (Bytes(_), Bytes(_)) => true,
            (Text(_) | Enum(_), Text(_) | Enum(_)) => true,
            (List(a, _), List(b, _)) => a.comparable(b),
            _ => false,
        }
    }

    /// Returns true if values are texts.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Enum(_))
    }

    /// Returns true if the type grows with time, so that new values come last.
    pub fn grows_with_time(&self) -> bool {
        matches!(self, Self::Ulid | Self::Timestamp | Self::Date)
    }

    /// Returns the name with its article.
    pub fn a_name(&self) -> String {
        let name = self.name();
        let vowel = matches!(self, Self::Int(_) | Self::Enum(_));
        format!("{} {name}", if vowel { "an" } else { "a" })
    }

    /// Returns the name with the elements' type, where two lists may differ in just that.
    pub fn whole_name(&self) -> String {
        match self {
            Self::List(element, _) => format!("list of {}", element.whole_name()),
            other => other.name().to_owned(),
        }
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uuid => "uuid",
            Self::Ulid => "ulid",
            Self::Bool => "bool",
            Self::Int(_) => "int",
            Self::Decimal(_) => "decimal",
            Self::Timestamp => "timestamp",
            Self::Date => "date",
            Self::Text(_) => "text",
            Self::Enum(_) => "enum",
            Self::Bytes(_) => "bytes",
            Self::List(..) => "list",
        }
    }
}
