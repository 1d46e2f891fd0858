//! Writes of ordered tables.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{Table, Write};
use shelfmark_model::Value;

use super::{OrderedTable, engine_keys};
use crate::error::{Error, Result};
use crate::key::OrderedKey;
use crate::reach::WriteReach;
use crate::record::Record;

impl<K: OrderedKey, V: Record, R: WriteReach> OrderedTable<K, V, R> {
    /// Puts a value at a key, replacing an old one.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::LimitExceeded`]: the key or value is too large.
    /// * [`crate::ErrorKind::Undetermined`]: read to learn whether it was written.
    pub fn write(&self, key: &K, value: &V) -> Result<()> {
        let table = self.handle.table()?;
        self.reach.write(self.put(&table, key, value, None)?)?;
        Ok(())
    }

    /// Works as [`OrderedTable::write`]; the entry expires after `time_to_live`.
    ///
    /// It is not answered from the second on in which it expires; the sweep removes it later.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`].
    pub fn write_with_ttl(&self, key: &K, value: &V, time_to_live: Duration) -> Result<()> {
        let table = self.handle.table()?;
        self.reach.atomically(|inside| {
            let second = inside.transaction.now().saturating_add(time_to_live.as_secs());
            inside.write(&self.put(&table, key, value, Some(second))?)?;
            Ok(())
        })?;
        Ok(())
    }

    /// Works as [`OrderedTable::write`]; returns the old value.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`], and [`crate::ErrorKind::Mismatch`]: the old value did not fit
    ///   `V`; the new one was written.
    pub fn replace(&self, key: &K, value: &V) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let written = self.reach.write(self.put(&table, key, value, None)?.returning_old())?;
        written.old.map(|item| self.value_of(&table, item)).transpose()
    }

    /// Puts several values, all or none; of a repeated key the last one counts.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::write`].
    pub fn write_many<'e>(&self, entries: impl IntoIterator<Item = (&'e K, &'e V)>) -> Result<()>
    where
        K: 'e,
        V: 'e,
    {
        let table = self.handle.table()?;
        let writes = entries
            .into_iter()
            .map(|(key, value)| self.put(&table, key, value, None))
            .collect::<Result<Vec<Write>>>()?;
        self.reach.write_all(writes)?;
        Ok(())
    }

    /// Deletes a key; succeeds if it is absent.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Undetermined`]: read to learn whether it was deleted.
    pub fn delete(&self, key: &K) -> Result<()> {
        let table = self.handle.table()?;
        self.reach.write(Write::delete(&table, self.engine_key(key)))?;
        Ok(())
    }

    /// Deletes keys in one commit; returns how many existed.
    pub(super) fn delete_many(&self, keys: &[K]) -> Result<u64> {
        let table = self.handle.table()?;
        let writes = keys.iter().map(|key| Write::delete(&table, self.engine_key(key))).collect();
        let written = self.reach.write_all(writes)?;
        Ok(written.iter().filter(|written| written.existed == Some(true)).count() as u64)
    }

    /// Returns the write that puts a value at a key.
    pub(super) fn put(
        &self,
        table: &Arc<Table>,
        key: &K,
        value: &V,
        expires_at: Option<u64>,
    ) -> Result<Write> {
        self.put_values(table, key.to_values(), value, expires_at)
    }

    /// Works as [`OrderedTable::put`], for a key given by its values.
    pub(super) fn put_values(
        &self,
        table: &Arc<Table>,
        values: Vec<Value>,
        value: &V,
        expires_at: Option<u64>,
    ) -> Result<Write> {
        if values.len() != table.schema.sort.len() {
            return Err(Error::invalid("a key has more or fewer parts than its type's columns"));
        }
        let columns = table.schema.sort.iter().map(|column| column.name.clone()).zip(values);
        let shelf = engine_keys::partition()
            .into_iter()
            .map(|own: Value| (engine_keys::SHELF.to_owned(), own));
        let item = self.handle.item(table, shelf.chain(columns), value.to_item()?, expires_at);
        let mut write = Write::put(table, item);
        write.expires_at = expires_at;
        Ok(write)
    }
}
