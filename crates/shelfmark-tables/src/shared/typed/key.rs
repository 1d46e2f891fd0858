//! Parts of typed keys as keys of other faces, and back.
//!
//! | part | DynamoDB's key | CQL's key |
//! | --- | --- | --- |
//! | text | S | `text` |
//! | bytes, UUID, ULID | B | `blob`: CQL's `uuid` has another order |
//! | signed integers of up to 64 bits | N | of the same width |
//! | unsigned ones of up to 32 bits | N | of the next width |
//! | larger integers | N | `varint` |
//! | decimal | N | `decimal` |
//! | date, time of day, timestamp | N: days, nanoseconds, milliseconds | `date`, `time`, `timestamp` |
//! | boolean, float, address | none | the same type |
//! | `Option` of a part | none | the type of the part, null for `None` |
//!
//! Invariant: two keys have the same order in every form.

use shelfmark_model::{KeyType, SortBound, SortCondition, Value};
use shelfmark_records::cells::{whole, with_whole_digits};

use super::super::value::{number_or_text, wide_number};
use crate::error::{Error, Result};

/// The kind of face that reads a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shared) enum Form {
    /// Items, with keys of text, numbers and bytes.
    Items,
    /// Rows of cells, with keys of CQL's types.
    Cells,
}

/// One part of a typed key, as it is stored and as it is shown.
#[derive(Debug, Clone)]
pub(in crate::shared) struct Part {
    /// The name of its column.
    pub(in crate::shared) stored: String,
    /// The name that other faces see.
    pub(in crate::shared) shown: String,
    stored_type: KeyType,
    pub(in crate::shared) shown_type: KeyType,
    form: Form,
}

impl Part {
    /// Returns the form of a part, or why it has none.
    pub(super) fn of(
        form: Form,
        stored: &str,
        shown: &str,
        key_type: &KeyType,
    ) -> std::result::Result<Self, &'static str> {
        let shown_type = match form {
            Form::Items => item_type(key_type)?,
            Form::Cells => cell_type(key_type)?,
        };
        Ok(Self {
            stored: stored.to_owned(),
            shown: shown.to_owned(),
            stored_type: key_type.clone(),
            shown_type,
            form,
        })
    }

    /// Returns a stored value as it is shown.
    pub(in crate::shared) fn show(&self, value: Value) -> Value {
        match (self.form, value) {
            (_, Value::Uuid(bytes)) => Value::Bytes(bytes.to_vec().into()),
            (Form::Items, Value::Int(n) | Value::Time(n) | Value::Timestamp(n)) => Value::number(n),
            (Form::Items, Value::Date(days)) => Value::number(i64::from(days)),
            (Form::Items, Value::BigInt(n)) => {
                shelfmark_model::Decimal::new(n, 0).map_or(Value::Null, number_or_text)
            }
            (Form::Items, Value::Number(n)) => number_or_text(n),
            (Form::Cells, value @ Value::Number(_)) => with_whole_digits(value),
            (_, value) => value,
        }
    }

    /// Returns a value that a face gives as it is stored.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: no key has it. The message names the part.
    pub(in crate::shared) fn store(&self, value: &Value) -> Result<Value> {
        let stored_type = match &self.stored_type {
            KeyType::Kinded(inner) => inner,
            own => own,
        };
        let small = |n: &Value| match n {
            Value::Int(n) => Some(*n),
            Value::BigInt(n) => i64::try_from(n).ok(),
            Value::Number(number) => whole(number).and_then(|n| i64::try_from(n).ok()),
            _ => None,
        };
        let large = |n: &Value| match n {
            Value::Int(n) => Some((*n).into()),
            Value::BigInt(n) => Some(n.clone()),
            Value::Number(number) => whole(number),
            // What items have no number for is shown as text.
            Value::Text(text) => wide_number(text).as_ref().and_then(whole),
            _ => None,
        };
        let found = match (stored_type, value) {
            (KeyType::Uuid, Value::Bytes(bytes)) => {
                <[u8; 16]>::try_from(bytes.as_ref()).ok().map(Value::Uuid)
            }
            (KeyType::Text, Value::Text(_))
            | (KeyType::Bytes, Value::Bytes(_))
            | (KeyType::Bool, Value::Bool(_))
            | (KeyType::Decimal, Value::Number(_))
            | (KeyType::F32, Value::Float32(_))
            | (KeyType::F64, Value::Float(_))
            | (KeyType::Inet, Value::Inet(_))
            | (KeyType::Date, Value::Date(_))
            | (KeyType::Time, Value::Time(_))
            | (KeyType::Timestamp, Value::Timestamp(_)) => Some(value.clone()),
            (KeyType::Decimal, Value::Text(text)) => wide_number(text).map(Value::Number),
            (KeyType::Date, own) => small(own).and_then(|n| i32::try_from(n).ok()).map(Value::Date),
            (KeyType::Time, own) => small(own).map(Value::Time),
            (KeyType::Timestamp, own) => small(own).map(Value::Timestamp),
            (KeyType::Integer, own) => large(own).map(Value::BigInt),
            (integer, own) => limits(integer).and_then(|(least, most)| {
                let fits = large(own).filter(|n| *n >= least.into() && *n <= most.into())?;
                Some(i64::try_from(&fits).map_or(Value::BigInt(fits), Value::Int))
            }),
        };
        found.ok_or_else(|| {
            Error::invalid(format!(
                "part {} of the key takes {:?}, which this value is not one of",
                self.shown, self.stored_type
            ))
        })
    }
}

/// Returns the least and the greatest number of an integer type.
fn limits(key_type: &KeyType) -> Option<(i128, u128)> {
    let signed = |bits: u32| (-(1_i128 << (bits - 1)), (1_u128 << (bits - 1)) - 1);
    let unsigned = |bits: u32| (0, u128::MAX >> (128 - bits));
    Some(match key_type {
        KeyType::I8 => signed(8),
        KeyType::I16 => signed(16),
        KeyType::I32 => signed(32),
        KeyType::I64 => signed(64),
        KeyType::I128 => (i128::MIN, (1 << 127) - 1),
        KeyType::U8 => unsigned(8),
        KeyType::U16 => unsigned(16),
        KeyType::U32 => unsigned(32),
        KeyType::U64 => unsigned(64),
        KeyType::U128 => unsigned(128),
        _ => return None,
    })
}

/// Returns the type of an item's key for a part, or why there is none.
fn item_type(key_type: &KeyType) -> std::result::Result<KeyType, &'static str> {
    match key_type {
        KeyType::Text => Ok(KeyType::Text),
        KeyType::Bytes | KeyType::Uuid => Ok(KeyType::Bytes),
        KeyType::Decimal
        | KeyType::Integer
        | KeyType::Date
        | KeyType::Time
        | KeyType::Timestamp => Ok(KeyType::Decimal),
        own if limits(own).is_some() => Ok(KeyType::Decimal),
        KeyType::Bool => Err("is a boolean, which is no key in DynamoDB"),
        KeyType::F32 | KeyType::F64 => {
            Err("is a float, whose NaN and infinities are no numbers in DynamoDB")
        }
        KeyType::Inet => Err("is an address, which DynamoDB does not order"),
        KeyType::Kinded(_) => Err("may be absent, and a key in DynamoDB may not"),
        _ => Err("has a type that is no key in DynamoDB"),
    }
}

/// Returns the type of a CQL key column for a part, or why there is none.
fn cell_type(key_type: &KeyType) -> std::result::Result<KeyType, &'static str> {
    Ok(match key_type {
        KeyType::U8 => KeyType::I16,
        KeyType::U16 => KeyType::I32,
        KeyType::U32 => KeyType::I64,
        KeyType::U64 | KeyType::U128 | KeyType::I128 | KeyType::Integer => KeyType::Integer,
        KeyType::Uuid => KeyType::Bytes,
        KeyType::Kinded(inner) if !matches!(**inner, KeyType::Kinded(_)) => {
            KeyType::Kinded(Box::new(cell_type(inner)?))
        }
        KeyType::Text
        | KeyType::Bytes
        | KeyType::Bool
        | KeyType::I8
        | KeyType::I16
        | KeyType::I32
        | KeyType::I64
        | KeyType::Decimal
        | KeyType::F32
        | KeyType::F64
        | KeyType::Inet
        | KeyType::Date
        | KeyType::Time
        | KeyType::Timestamp => key_type.clone(),
        _ => return Err("has a type that is no key in CQL"),
    })
}

/// Returns a condition on shown parts of a sort key as one on the stored ones.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: a value is none of its part, or there are more than parts.
pub(super) fn stored_condition(parts: &[Part], condition: &SortCondition) -> Result<SortCondition> {
    let all = |values: &[Value]| -> Result<Vec<Value>> {
        if values.len() > parts.len() {
            return Err(Error::invalid("more parts of the key were given than it has"));
        }
        parts.iter().zip(values).map(|(part, value)| part.store(value)).collect()
    };
    let bound = |equal: &[Value], bound: &SortBound| {
        let next = |value: &Value| match parts.get(equal.len()) {
            Some(part) => part.store(value),
            None => Err(Error::invalid("more parts of the key were given than it has")),
        };
        Ok::<_, Error>(match bound {
            SortBound::Unbounded => SortBound::Unbounded,
            SortBound::Included(value) => SortBound::Included(next(value)?),
            SortBound::Excluded(value) => SortBound::Excluded(next(value)?),
        })
    };
    let tuple = |bound: &Option<(Vec<Value>, bool)>| -> Result<_> {
        let stored = |(values, included): &(Vec<Value>, bool)| Ok((all(values)?, *included));
        bound.as_ref().map(stored).transpose()
    };
    Ok(match condition {
        SortCondition::Equal(values) => SortCondition::Equal(all(values)?),
        SortCondition::Range { equal, lower, upper } => SortCondition::Range {
            lower: bound(equal, lower)?,
            upper: bound(equal, upper)?,
            equal: all(equal)?,
        },
        SortCondition::BeginsWith { equal, prefix } => {
            SortCondition::BeginsWith { equal: all(equal)?, prefix: prefix.clone() }
        }
        SortCondition::TupleRange { lower, upper } => {
            SortCondition::TupleRange { lower: tuple(lower)?, upper: tuple(upper)? }
        }
    })
}
