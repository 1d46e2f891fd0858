//! Conditional writes: if absent, and by compare and set.

use shelfmark_engine::{Get, Write};
use shelfmark_model::{Condition, Path};

use super::{OrderedTable, engine_keys};
use crate::error::Result;
use crate::key::OrderedKey;
use crate::reach::WriteReach;
use crate::record::Record;

impl<K: OrderedKey, V: Record, R: WriteReach> OrderedTable<K, V, R> {
    /// Puts a value at an absent key, and returns true if it did.
    ///
    /// Of any number of writers of one key exactly one is told `true`.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`].
    pub fn write_if_absent(&self, key: &K, value: &V) -> Result<bool> {
        let table = self.handle.table()?;
        let absent = Condition::NotExists(Path::attribute(engine_keys::SHELF));
        let write = self.put(&table, key, value, None)?.when(absent);
        self.reach.atomically(|inside| inside.write_if(&write)).inspect(|_| {})
    }

    /// Puts a value at a key that has the value `expected`, and returns true if it did.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`].
    pub fn write_if_equals(&self, key: &K, expected: &V, value: &V) -> Result<bool> {
        self.compare_and_set(key, Some(expected), Some(value))
    }

    /// Sets a key to `new` (absent for `None`) if it has the value `expected` (is absent for
    /// `None`), and returns true if it did.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`].
    pub fn compare_and_set(&self, key: &K, expected: Option<&V>, new: Option<&V>) -> Result<bool> {
        let table = self.handle.table()?;
        let expected = expected.map(Record::to_item).transpose()?;
        let write = match new {
            Some(value) => self.put(&table, key, value, None)?,
            None => Write::delete(&table, self.engine_key(key)),
        };
        let get = Get::new(self.engine_key(key));
        let done = self.reach.atomically(|inside| {
            let found = inside.get(&table, &get)?;
            if found.map(|item| self.handle.own(&table, item).0) != expected {
                return Ok(false);
            }
            inside.write(&write)?;
            Ok(true)
        })?;
        Ok(done)
    }

    /// Reads a key, changes its value by a function, and writes it, at one moment. `None` stands
    /// for absent on both sides. Returns what was there.
    ///
    /// The function may run several times, when others write the key meanwhile.
    ///
    /// # Errors
    ///
    /// * Whatever the function returned: nothing is written then.
    /// * As [`OrderedTable::write`].
    pub fn update(
        &self,
        key: &K,
        mut change: impl FnMut(Option<&V>) -> Result<Option<V>>,
    ) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let get = Get::new(self.engine_key(key));
        let old = self.reach.atomically(|inside| {
            let found = inside.get(&table, &get)?;
            let old = found.map(|item| self.value_of(&table, item)).transpose()?;
            let write = match change(old.as_ref())? {
                Some(value) => self.put(&table, key, &value, None)?,
                None => Write::delete(&table, self.engine_key(key)),
            };
            inside.write(&write)?;
            Ok(old)
        })?;
        Ok(old)
    }
}
