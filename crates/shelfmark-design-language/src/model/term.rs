//! Terms: computations of keys, plans and patterns from attributes and inputs.
//!
//! Invariant: [`Function::apply`] is total on values of the right kinds, and a function that
//! [`Function::is_monotone`] names never decreases when its first argument grows.

use serde::{Deserialize, Serialize};
use shelfmark_keycode::calendar::civil_from_days;

use super::types::Type;
use super::value::Value;

/// A path from a relation along references: columns, each of the relation that the one before
/// refers to.
pub type ColumnPath = Vec<usize>;

/// A value that is known once a pattern is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Term {
    /// An attribute of the row's source, or one reached from it.
    Column(ColumnPath),
    /// An input.
    Param(usize),
    /// The value of `each x in …`.
    Each,
    /// An attribute of the row that an earlier step (or a loop) delivered.
    Prior(ColumnPath),
    /// A constant.
    Const(Value),
    /// A function of other terms.
    Call(Function, Vec<Term>),
}

/// The functions of computed key parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Function {
    /// The hour of a time.
    Hour,
    /// The day of a time.
    Day,
    /// The ISO week of a time.
    Week,
    /// The month of a time.
    Month,
    /// The year of a time.
    Year,
    /// The first characters of a text.
    First,
    /// Division that rounds down.
    Div,
    /// A hash of a value.
    Hash,
    /// Remainder of a hash.
    Bucket,
    /// A number with the other sign, which is taken away where numbers are added.
    Minus,
}

impl Function {
    /// Lists the functions with their names and numbers of arguments.
    pub const ALL: [(&'static str, Self, usize); 10] = [
        ("hour", Self::Hour, 1),
        ("day", Self::Day, 1),
        ("week", Self::Week, 1),
        ("month", Self::Month, 1),
        ("year", Self::Year, 1),
        ("first", Self::First, 2),
        ("div", Self::Div, 2),
        ("hash", Self::Hash, 1),
        ("bucket", Self::Bucket, 2),
        ("minus", Self::Minus, 1),
    ];

    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function, _)| *function == self).map_or("", |(name, ..)| name)
    }

    /// Returns true if the value never decreases when the first argument grows, the others fixed.
    pub fn is_monotone(self) -> bool {
        !matches!(self, Self::Hash | Self::Bucket | Self::Minus)
    }

    /// Computes the function; `Null` where an argument does not fit.
    pub fn apply(self, args: &[Value]) -> Value {
        let (Some(first), second) = (args.first(), args.get(1)) else { return Value::Null };
        match (self, first, second) {
            (Self::Hour, Value::Int(at), _) => Value::Int(at.div_euclid(3_600_000)),
            (Self::Day, Value::Int(at), _) => Value::Int(at.div_euclid(86_400_000)),
            // Weeks begin on Monday; the first day of 1970 was a Thursday.
            (Self::Week, Value::Int(at), _) => {
                Value::Int((at.div_euclid(86_400_000) + 3).div_euclid(7))
            }
            (Self::Month, Value::Int(at), _) => {
                let (year, month, _) = civil_from_days(at.div_euclid(86_400_000));
                Value::Int(year * 12 + month - 1)
            }
            (Self::Year, Value::Int(at), _) => {
                Value::Int(civil_from_days(at.div_euclid(86_400_000)).0)
            }
            // ULIDs carry their milliseconds in the upper 48 bits.
            (_, Value::Id(id), _) if self.is_time() => {
                let millis = i64::try_from(id >> 80).unwrap_or(i64::MAX);
                self.apply(&[Value::Int(millis)])
            }
            (Self::First, Value::Text(text), Some(Value::Int(n))) => {
                let count = usize::try_from(*n).unwrap_or(0);
                Value::Text(text.chars().take(count).collect())
            }
            (Self::Div, Value::Int(n), Some(Value::Int(by))) if *by > 0 => {
                Value::Int(n.div_euclid(*by))
            }
            // Of what is absent nothing is computed: its row is not there.
            (Self::Hash, Value::Null, _) => Value::Null,
            (Self::Hash, value, _) => Value::Int(hash(value)),
            (Self::Bucket, Value::Int(n), Some(Value::Int(count))) if *count > 0 => {
                Value::Int(n.rem_euclid(*count))
            }
            (Self::Minus, Value::Int(n), _) => Value::Int(n.saturating_neg()),
            _ => Value::Null,
        }
    }

    /// Returns true if it computes a period of a time.
    pub fn is_time(self) -> bool {
        matches!(self, Self::Hour | Self::Day | Self::Week | Self::Month | Self::Year)
    }

    /// Returns the type of the value, or an error in the arguments.
    ///
    /// # Errors
    ///
    /// Which argument does not fit, as a message. Mend the model.
    pub fn result(self, args: &[(Type, Option<Value>)]) -> Result<Type, String> {
        let wrong = |wanted: &str| Err(format!("`{}` takes {wanted}", self.name()));
        let (first, second) = (args.first(), args.get(1));
        match (self, first.map(|(ty, _)| ty), second.and_then(|(_, value)| value.as_ref())) {
            (Self::Hour | Self::Day | Self::Week | Self::Month | Self::Year, Some(ty), _) => {
                if !matches!(ty, Type::Timestamp | Type::Ulid) {
                    return wrong("a timestamp or a ulid");
                }
                // Up to the year 9999, in hours at most eight digits.
                Ok(Type::Int(Some((-20_000_000, 80_000_000))))
            }
            (Self::First, Some(Type::Text(domain)), Some(Value::Int(n))) if *n > 0 => {
                let mut domain = domain.clone();
                let count = u64::try_from(*n).unwrap_or(0);
                domain.max = Some(domain.max.map_or(count, |max| max.min(count)));
                domain.min = domain.min.min(count);
                Ok(Type::Text(domain))
            }
            (Self::First, ..) => wrong("a text and how many characters"),
            (Self::Div, Some(Type::Int(range)), Some(Value::Int(by))) if *by > 0 => {
                let range = range.map(|(low, high)| (low.div_euclid(*by), high.div_euclid(*by)));
                Ok(Type::Int(range))
            }
            (Self::Div, ..) => wrong("a whole number and a positive divisor"),
            (Self::Hash, Some(_), _) => Ok(Type::Int(Some((0, i64::from(u32::MAX))))),
            (Self::Bucket, Some(Type::Int(_)), Some(Value::Int(count))) if *count > 0 => {
                Ok(Type::Int(Some((0, count - 1))))
            }
            (Self::Bucket, ..) => wrong("a hash and how many buckets"),
            (Self::Minus, Some(ty @ (Type::Int(_) | Type::Decimal(_) | Type::Timestamp)), _) => {
                Ok(ty.clone())
            }
            (Self::Minus, ..) => wrong("a number"),
            _ => wrong("one argument"),
        }
    }
}

/// Computes a fixed hash (FNV-1a, folded to 32 bits), from which buckets are made.
fn hash(value: &Value) -> i64 {
    let bytes = match value {
        Value::Int(n) => n.to_be_bytes().to_vec(),
        Value::Id(id) => id.to_be_bytes().to_vec(),
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Bool(bit) => vec![u8::from(*bit)],
        Value::Null | Value::List(_) => Vec::new(),
    };
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        state ^= u64::from(byte);
        state = state.wrapping_mul(0x0100_0000_01b3);
    }
    i64::try_from((state >> 32) ^ (state & 0xFFFF_FFFF)).unwrap_or(0)
}

impl Term {
    /// Calls `see` for every column path in the term.
    pub fn columns<'a>(&'a self, see: &mut impl FnMut(&'a ColumnPath)) {
        match self {
            Self::Column(path) => see(path),
            Self::Call(_, args) => args.iter().for_each(|arg| arg.columns(see)),
            _ => {}
        }
    }

    /// Replaces leaves; `None` from `leaf` makes the whole `None`.
    pub fn replace(&self, leaf: &impl Fn(&Term) -> Option<Term>) -> Option<Term> {
        match self {
            Self::Call(function, args) => {
                let args: Option<Vec<Term>> = args.iter().map(|arg| arg.replace(leaf)).collect();
                Some(Self::Call(*function, args?))
            }
            other => leaf(other),
        }
    }

    /// Computes the term from the values of its leaves.
    pub fn compute(&self, leaf: &impl Fn(&Term) -> Option<Value>) -> Option<Value> {
        match self {
            Self::Const(value) => Some(value.clone()),
            Self::Call(function, args) => {
                let args: Option<Vec<Value>> = args.iter().map(|arg| arg.compute(leaf)).collect();
                Some(function.apply(&args?))
            }
            other => leaf(other),
        }
    }
}
