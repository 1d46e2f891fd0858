//! Keys as Rust types: they order a table.
//!
//! A key has one or more parts, each a column of the table's sort key with its own direction. The
//! order of keys is that of the first part, then the second, and so on: the *table order*. A
//! descending part lies from its largest value to its smallest, so "first" in a range means first
//! in the table.
//!
//! What it is not: no bytes. The engine encodes; here are only columns and values.

mod compare;
mod part;
mod reference;
mod scalar;
mod timestamp;
mod tuple;

use shelfmark_model::{Direction, KeyType, SortColumn, Value};

use crate::error::{Error, Result};

pub(crate) use compare::compare;
pub use reference::KeyRef;
pub use scalar::{Blob, Date, TimeOfDay, TotalF32, TotalF64, Uuid};
pub use timestamp::{Timestamp, TimestampMicros, TimestampMillis};

/// One part of a key.
///
/// Implemented for text, bytes ([`Blob`]), booleans, integers of every width, `BigInt`, `Decimal`,
/// [`Timestamp`], [`Date`], [`TimeOfDay`], [`Uuid`], `Ulid`, `IpAddr`, [`TotalF64`], `Option` of a
/// part (`None` first) and [`std::cmp::Reverse`] of a part (descending). `#[derive(KeyPart)]` makes
/// one of a struct with one field, or of an enum without fields.
///
/// Floats are no parts: `NaN` has no place in their order. Wrap them in [`TotalF64`].
///
/// # Examples
///
/// ```
/// use std::cmp::Reverse;
/// use shelfmark_typed::{KeyPart, OrderedKey};
/// use shelfmark_model::Direction;
///
/// // The author ascending, the time descending.
/// let columns = <(String, Reverse<u64>)>::columns();
/// assert_eq!(columns[1].direction, Direction::Descending);
/// assert_eq!(7_u64.to_value(), shelfmark_model::Value::Int(7));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "not a key part",
    note = "parts are text, bytes (`Blob`), integers, `bool`, `Timestamp`, `Ulid`, `Reverse<_>`, …",
    note = "floats have no total order: wrap them in `TotalF64`",
    note = "for a type of your own, `#[derive(KeyPart)]`"
)]
pub trait KeyPart: Sized {
    /// The direction in which the table orders the part.
    const DIRECTION: Direction = Direction::Ascending;

    /// Returns the type of the column.
    fn key_type() -> KeyType;

    /// Converts the part to a value of that type.
    fn to_value(&self) -> Value;

    /// Converts a value back to the part.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the value is of another type.
    fn from_value(value: Value) -> Result<Self>;
}

/// A key: the type that a table is ordered by.
///
/// Every [`KeyPart`] is one, every tuple of two to eight keys, and every struct of keys with
/// `#[derive(OrderedKey)]`. A key inside of a key is flat in its bytes: its parts lie where they
/// would lie if they stood there one by one.
///
/// # Examples
///
/// ```
/// use shelfmark_typed::OrderedKey;
///
/// let key = ("Alice".to_owned(), 7_u32);
/// assert_eq!(<(String, u32)>::from_values(key.to_values())?, key);
/// // The same values, in the same order, as a key of three parts.
/// let nested = (key, true);
/// assert_eq!(nested.to_values(), ("Alice".to_owned(), 7_u32, true).to_values());
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
///
/// Of anything else there is no table:
///
/// ```compile_fail,E0599
/// # use shelfmark_typed::{Database, OrderedTable, Result};
/// struct Plain(u32);
///
/// fn open(database: &Database) -> Result<OrderedTable<Plain, u32>> {
///     OrderedTable::<Plain, u32>::named(database, "t")
/// }
/// ```
///
/// ```compile_fail,E0599
/// # use shelfmark_typed::{Database, OrderedTable, Result};
/// fn open(database: &Database) -> Result<OrderedTable<(u32, f32), u32>> {
///     OrderedTable::<(u32, f32), u32>::named(database, "t")
/// }
/// ```
///
/// ```
/// # use shelfmark_typed::{Database, OrderedTable, Result, TotalF32};
/// fn open(database: &Database) -> Result<OrderedTable<(u32, TotalF32), u32>> {
///     OrderedTable::<(u32, TotalF32), u32>::named(database, "t")
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of an ordered table",
    label = "not a key",
    note = "keys are key parts, tuples of two to eight keys, and structs with \
            `#[derive(OrderedKey)]`"
)]
pub trait OrderedKey: Sized {
    /// Returns the columns, in order.
    fn columns() -> Vec<SortColumn>;

    /// Returns the columns of a key that is nested in another one under `name`.
    #[must_use]
    fn columns_within(name: &str) -> Vec<SortColumn> {
        let own = Self::columns().into_iter();
        own.map(|column| SortColumn { name: format!("{name}.{}", column.name), ..column }).collect()
    }

    /// Appends the values of the columns.
    fn put_values(&self, values: &mut Vec<Value>);

    /// Takes the values of the columns and builds a key of them.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: a value is missing, or of another type.
    fn take_values(parts: &mut Parts) -> Result<Self>;

    /// Returns the values of the columns.
    fn to_values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        self.put_values(&mut values);
        values
    }

    /// Builds a key of as many values as there are columns.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: a value is of another type, or their number differs.
    fn from_values(values: Vec<Value>) -> Result<Self> {
        let mut parts = Parts::new(values);
        let key = Self::take_values(&mut parts)?;
        parts.end()?;
        Ok(key)
    }
}

/// The first parts of a key of type `K`: every key that begins with them is meant.
///
/// For a tuple `(A, B, C)`: `A`, `(A,)`, `(A, B)` and the tuple itself, each part as itself or
/// borrowed ([`KeyRef`]). `#[derive(OrderedKey)]` gives a struct the same.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let visits: OrderedTable<(String, u16, u8), u32> = OrderedTable::named(&database, "visits")?;
/// for day in [("alice", 2026, 1), ("alice", 2027, 1), ("bob", 2026, 1)] {
///     visits.write(&(day.0.into(), day.1, day.2), &1)?;
/// }
/// assert_eq!(visits.prefix("alice")?.count()?, 2);
/// assert_eq!(visits.prefix(("alice".to_owned(), 2026))?.count()?, 1);
/// // Between two prefixes, both with all that begins with them.
/// assert_eq!(visits.range_prefix("alice"..="bob")?.count()?, 3);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
///
/// A later part alone is no prefix, and does not compile:
///
/// ```compile_fail,E0277
/// # use shelfmark_typed::{OrderedTable, Result};
/// fn of_2026(visits: &OrderedTable<(String, u16), u32>) -> Result<u64> {
///     visits.prefix(2026_u16)?.count()
/// }
/// ```
///
/// ```
/// # use shelfmark_typed::{OrderedTable, Result};
/// fn of_alice(visits: &OrderedTable<(String, u16), u32>) -> Result<u64> {
///     visits.prefix("alice")?.count()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prefix of the key `{K}`",
    label = "not the first parts of this key",
    note = "a prefix is the first part, or a tuple of the first parts, or the whole key"
)]
pub trait KeyPrefix<K> {
    /// Returns the values of the leading columns.
    fn to_prefix(&self) -> Vec<Value>;
}

/// Name of the column of a key of one part.
const SINGLE: &str = "key";

impl<P: KeyPart> OrderedKey for P {
    fn columns() -> Vec<SortColumn> {
        Self::columns_within(SINGLE)
    }

    fn columns_within(name: &str) -> Vec<SortColumn> {
        vec![SortColumn::new(name, P::key_type(), P::DIRECTION)]
    }

    fn put_values(&self, values: &mut Vec<Value>) {
        values.push(self.to_value());
    }

    fn take_values(parts: &mut Parts) -> Result<Self> {
        P::from_value(parts.next()?)
    }
}

/// Returns the columns of a key under `name`, each in the opposite direction. For implementations
/// of [`OrderedKey`].
#[must_use]
pub fn descending_columns<K: OrderedKey>(name: &str) -> Vec<SortColumn> {
    let own = K::columns_within(name).into_iter();
    own.map(|column| SortColumn { direction: reversed(column.direction), ..column }).collect()
}

/// Returns the opposite direction.
#[must_use]
pub const fn reversed(direction: Direction) -> Direction {
    match direction {
        Direction::Ascending => Direction::Descending,
        Direction::Descending => Direction::Ascending,
    }
}

/// Values of a key, taken part by part. For implementations of [`OrderedKey`].
///
/// # Examples
///
/// ```
/// use shelfmark_typed::{Parts, Value};
///
/// let mut parts = Parts::new(vec![Value::text("alice"), Value::Int(7)]);
/// let key: (String, u8) = (parts.take()?, parts.take()?);
/// parts.end()?;
/// assert_eq!(key, ("alice".to_owned(), 7));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Parts {
    rest: std::vec::IntoIter<Value>,
}

impl Parts {
    /// Starts at the first value.
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        Self { rest: values.into_iter() }
    }

    /// Takes the next part, or the next key of several parts.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: no value is left, or it is of another type.
    pub fn take<K: OrderedKey>(&mut self) -> Result<K> {
        K::take_values(self)
    }

    fn next(&mut self) -> Result<Value> {
        self.rest.next().ok_or_else(|| Error::mismatch("a key has too few parts"))
    }

    /// Checks that no value is left.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: a value is left.
    pub fn end(mut self) -> Result<()> {
        match self.rest.next() {
            None => Ok(()),
            Some(_) => Err(Error::mismatch("a key has too many parts")),
        }
    }
}
