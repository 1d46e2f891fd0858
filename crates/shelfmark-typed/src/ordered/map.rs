//! Methods named as those of `BTreeMap`.
//!
//! Reads and writes of one key under the names `get`, `insert`, `remove` and the like, by keys that
//! need not be owned. What it is not: another meaning. Each is one of the table's own operations.

use shelfmark_engine::{Get, Write};
use shelfmark_model::Key;

use super::{OrderedTable, Range, engine_keys};
use crate::error::Result;
use crate::key::{KeyRef, OrderedKey};
use crate::reach::{Reach, WriteReach};
use crate::record::Record;

fn key_of<K>(key: &impl KeyRef<K>) -> Key {
    Key { partition: engine_keys::partition(), sort: key.to_key_values() }
}

impl<K: OrderedKey, V: Record, R: Reach> OrderedTable<K, V, R> {
    /// Returns the value of a key, or `None`.
    ///
    /// Cost: one point read.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the stored value does not fit `V`.
    ///
    /// # Examples
    ///
    /// ```
    /// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
    /// use shelfmark_typed::OrderedTable;
    ///
    /// # let database = registry.environment("default")?.database("default")?;
    /// let ages: OrderedTable<String, u8> = OrderedTable::named(&database, "ages")?;
    /// assert_eq!(ages.insert("ann", &31)?, None);
    /// assert_eq!(ages.insert("ann", &32)?, Some(31));
    /// assert_eq!((ages.get("ann")?, ages.get("bob")?), (Some(32), None));
    /// assert_eq!(ages.first()?, Some(("ann".to_owned(), 32)));
    /// assert_eq!(ages.remove("ann")?, Some(32));
    /// # Ok::<(), shelfmark_typed::Error>(())
    /// ```
    pub fn get(&self, key: impl KeyRef<K>) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let item = self.reach.get(&table, &Get::new(key_of(&key)))?;
        item.map(|item| self.value_of(&table, item)).transpose()
    }

    /// Returns true if a key exists.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn contains_key(&self, key: impl KeyRef<K>) -> Result<bool> {
        let table = self.handle.table()?;
        Ok(self.reach.get(&table, &Get::new(key_of(&key)))?.is_some())
    }

    /// Returns all entries, in table order.
    pub fn iter(&self) -> Range<K, V, R> {
        self.to_stream()
    }

    /// Returns the first entry in table order.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::get`].
    pub fn first(&self) -> Result<Option<(K, V)>> {
        self.min()
    }

    /// Returns the last entry in table order.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::get`].
    pub fn last(&self) -> Result<Option<(K, V)>> {
        self.max()
    }
}

impl<K: OrderedKey, V: Record, R: WriteReach> OrderedTable<K, V, R> {
    /// Puts a value at a key and returns the old one.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::LimitExceeded`]: the key or value is too large.
    /// * [`crate::ErrorKind::AlreadyExists`]: a unique constraint of the table forbids it.
    /// * [`crate::ErrorKind::Mismatch`]: the old value did not fit `V`; the new one was written.
    /// * [`crate::ErrorKind::Undetermined`]: read to learn whether it was written.
    pub fn insert(&self, key: impl KeyRef<K>, value: &V) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let write = self.put_values(&table, key.to_key_values(), value, None)?;
        let written = self.reach.write(write.returning_old())?;
        written.old.map(|item| self.value_of(&table, item)).transpose()
    }

    /// Deletes a key and returns its value.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the old value did not fit `V`; it was deleted.
    /// * [`crate::ErrorKind::Undetermined`]: read to learn whether it was deleted.
    pub fn remove(&self, key: impl KeyRef<K>) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let write = Write::delete(&table, key_of(&key)).returning_old();
        let written = self.reach.write(write)?;
        written.old.map(|item| self.value_of(&table, item)).transpose()
    }

    /// Deletes the first entry in table order and returns it.
    ///
    /// Of several callers each gets another entry.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::remove`].
    pub fn pop_first(&self) -> Result<Option<(K, V)>> {
        self.pop(false)
    }

    /// Deletes the last entry in table order and returns it.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::remove`].
    pub fn pop_last(&self) -> Result<Option<(K, V)>> {
        self.pop(true)
    }

    fn pop(&self, descending: bool) -> Result<Option<(K, V)>> {
        let table = self.handle.table()?;
        self.reach.atomically(|inside| {
            let mut range = self.to_stream().limit(1);
            range.descending = descending;
            let query = range.query(shelfmark_model::SortCondition::all(), 1);
            let page = inside.transaction.query(&table, &query)?;
            let Some(item) = page.items.into_iter().next() else { return Ok(None) };
            let entry = self.entry_of(&table, item)?;
            inside.write(&Write::delete(&table, self.engine_key(&entry.0)))?;
            Ok(Some(entry))
        })
    }
}
