//! References to keys, to look up without owning one: `&K`, and for texts and bytes their borrowed
//! forms.
//!
//! Invariant: the values are those of the key that it stands for.

use shelfmark_model::Value;

use super::{Blob, KeyPart, KeyPrefix, OrderedKey};

/// A reference to one key of type `K`.
///
/// That is `&K`; a part by itself; `&str` for a `String` and `&[u8]` for a [`Blob`]; and a tuple of
/// such for a tuple.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let visits: OrderedTable<(String, u16), u32> = OrderedTable::named(&database, "visits")?;
/// let name = String::from("alice");
/// visits.insert((&name, 2026), &1)?;
/// assert_eq!(visits.get(("alice", 2026))?, Some(1));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a key of type `{K}`",
    label = "not a key of this table",
    note = "a key is looked up by `&K`, by its parts, or by what borrows them (`&str` for `String`)"
)]
pub trait KeyRef<K> {
    /// Appends the values of the key's columns.
    fn put_key_values(&self, values: &mut Vec<Value>);

    /// Returns the values of the key's columns.
    fn to_key_values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        self.put_key_values(&mut values);
        values
    }
}

impl<K: OrderedKey> KeyRef<K> for &K {
    fn put_key_values(&self, values: &mut Vec<Value>) {
        (*self).put_values(values);
    }
}

impl<P: KeyPart> KeyRef<P> for P {
    fn put_key_values(&self, values: &mut Vec<Value>) {
        values.push(self.to_value());
    }
}

impl KeyRef<String> for &str {
    fn put_key_values(&self, values: &mut Vec<Value>) {
        values.push(Value::text(*self));
    }
}

impl KeyRef<Blob> for &[u8] {
    fn put_key_values(&self, values: &mut Vec<Value>) {
        values.push(Value::Bytes(bytes::Bytes::copy_from_slice(self)));
    }
}

impl<P: KeyPart> KeyPrefix<P> for P {
    fn to_prefix(&self) -> Vec<Value> {
        vec![self.to_value()]
    }
}

impl KeyPrefix<String> for &str {
    fn to_prefix(&self) -> Vec<Value> {
        vec![Value::text(*self)]
    }
}
