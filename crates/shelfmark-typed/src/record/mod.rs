//! Records: Rust values converted to items and back.
//!
//! Every type that serde can write and read is a [`Record`]. What it writes with names (structs,
//! maps with text keys) becomes attributes of those names; anything else becomes one attribute
//! `value`. So a field may be added (with `#[serde(default)]`) or left out without touching what is
//! stored, and other faces see named attributes.
//!
//! Invariant: what was written is read back exactly, whatever the names; see [`names`].

pub mod as_text;
mod de;
mod fields;
pub(crate) mod names;
pub(crate) mod newtype;
mod ser;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shelfmark_engine::FieldKind;
use shelfmark_model::{Item, Value};

use crate::error::Result;

/// A value of a table: any type that serde can serialize and deserialize.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use shelfmark_typed::Record;
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Post {
///     title: String,
///     likes: u64,
/// }
///
/// let post = Post { title: "Hello".to_owned(), likes: 3 };
/// let item = post.to_item()?;
/// assert_eq!(item.get("title"), Some(&"Hello".into()));
/// assert_eq!(Post::from_item(item)?, post);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub trait Record: Sized {
    /// Converts the record to attributes.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the type refuses to be written. Fix its `Serialize`.
    /// * [`crate::ErrorKind::LimitExceeded`]: it is nested too deep.
    fn to_item(&self) -> Result<Item>;

    /// Converts attributes to the record.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the attributes do not fit the type.
    fn from_item(item: Item) -> Result<Self>;

    /// Returns the fields that the type declares, with their kinds: other faces show them as columns.
    /// None if it declares nothing.
    #[must_use]
    fn fields() -> Vec<(String, FieldKind)> {
        Vec::new()
    }
}

impl<T: Serialize + DeserializeOwned> Record for T {
    fn to_item(&self) -> Result<Item> {
        Ok(names::spread(to_value(self)?))
    }

    fn from_item(item: Item) -> Result<Self> {
        from_value(names::gather(item))
    }

    fn fields() -> Vec<(String, FieldKind)> {
        fields::fields_of::<T>()
    }
}

/// Serializes a value of any serde type to one value.
///
/// # Errors
///
/// * As [`Record::to_item`].
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value> {
    value.serialize(ser::ValueSerializer::new())
}

/// Deserializes any serde type from one value.
///
/// # Errors
///
/// * As [`Record::from_item`].
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    T::deserialize(de::ValueDeserializer::new(value))
}

/// A map of attributes by name.
type Map = BTreeMap<String, Value>;
