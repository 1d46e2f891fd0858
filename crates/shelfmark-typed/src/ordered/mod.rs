//! Ordered tables: keys of one Rust type, in order, to values of another.
//!
//! Every table is one partition of the engine whose sort key is the key's parts, so a range over any
//! leading parts, and over the whole table, is one contiguous range (`docs/adr/0002-one-partition-per-ordered-table.md`). What it is
//! not: a place for large lists as values. Put their elements under keys of their own.

mod changes;
mod conditional;
mod engine_keys;
mod index;
mod map;
mod range;
mod ranges;
mod span;
mod stream;
mod write;

use std::marker::PhantomData;
use std::sync::Arc;

use shelfmark_engine::{Get, Table};
use shelfmark_model::{Item, Key, KeyColumn, KeyType};

use crate::database::Database;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::{Handle, Shape, TableSettings};
use crate::key::OrderedKey;
use crate::reach::{Direct, InTransaction, Moment, Reach};
use crate::record::Record;

pub use changes::EntryChange;
pub use index::{ByIndex, ByUnique, Index, UniqueIndex};
pub use range::{Page, Range};
pub use stream::{Chunks, Keys, Stream, Values};

/// The face that the catalogue names for such tables.
const FACE: &str = "ordered";

/// An ordered table. Cheap to clone.
///
/// `R` says how it is reached: [`Direct`] is a table as it is opened, [`InTransaction`] one that
/// [`crate::Tx::table`] gives, [`Moment`] one that [`OrderedTable::snapshot`] gives. All read alike;
/// the last has no writes.
///
/// Cost: a point read or write is one descent; a range is one descent and then what it reads.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let posts: OrderedTable<(String, u64), String> = OrderedTable::named(&database, "posts")?;
/// for (author, time, title) in [("Alice", 1, "Hello"), ("Bob", 2, "Hi"), ("Alice", 3, "Again")] {
///     posts.write(&(author.into(), time), &title.into())?;
/// }
/// // The newest of Alice: her keys from the end.
/// let newest = posts.prefix("Alice")?.descending().limit(1).values().next().transpose()?;
/// assert_eq!(newest.as_deref(), Some("Again"));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct OrderedTable<K, V, R = Direct> {
    handle: Arc<Handle>,
    reach: R,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K, V, R: Clone> Clone for OrderedTable<K, V, R> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle), reach: self.reach.clone(), types: PhantomData }
    }
}

impl<K: OrderedKey, V: Record> OrderedTable<K, V> {
    /// Opens the table of this name in a database, creating it if it is not there.
    ///
    /// Cost: a look into memory; creating it is one commit, a few milliseconds.
    /// Durability: a created table is there after a crash.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the environment has no right to the database.
    /// * [`ErrorKind::Mismatch`]: the table is there with another key. Use the key type that it was
    ///   created with, or another name.
    /// * [`ErrorKind::Invalid`]: not a name for a table.
    pub fn named(database: &Database, name: &str) -> Result<Self> {
        Self::with(database, name, &TableSettings::default())
    }

    /// Works as [`OrderedTable::named`], with settings for a table that does not exist yet.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::named`].
    pub fn with(database: &Database, name: &str, settings: &TableSettings) -> Result<Self> {
        let shelf = KeyColumn::new(engine_keys::SHELF, KeyType::U8);
        let shape = Shape { face: FACE, partition: shelf, sort: K::columns(), fields: V::fields() };
        let handle = Handle::open(database, name, shape, settings)?;
        Ok(Self::of(handle))
    }

    pub(crate) fn of(handle: Arc<Handle>) -> Self {
        let reach = Direct { engine: handle.engine.clone() };
        Self { handle, reach, types: PhantomData }
    }

    /// Returns the table as of now, for several reads of one moment. It is bounded in time and in
    /// bytes written meanwhile; past that its reads answer [`ErrorKind::TooOld`].
    ///
    /// # Errors
    ///
    /// * Those of the store.
    ///
    /// # Examples
    ///
    /// The past is read, not written; this does not compile:
    ///
    /// ```compile_fail,E0599
    /// # use shelfmark_typed::{OrderedTable, Result};
    /// fn write(table: &OrderedTable<u32, u32>) -> Result<()> {
    ///     table.snapshot()?.write(&1, &1)
    /// }
    /// ```
    ///
    /// ```
    /// # use shelfmark_typed::{OrderedTable, Result};
    /// fn read(table: &OrderedTable<u32, u32>) -> Result<u32> {
    ///     table.snapshot()?.read(&1)
    /// }
    /// ```
    pub fn snapshot(&self) -> Result<OrderedTable<K, V, Moment>> {
        self.handle.table()?;
        let view = Arc::new(self.reach.engine.snapshot()?);
        Ok(self.reached(Moment { view }))
    }

    /// Returns how many entries the table holds. Entries that expired and were not swept yet count.
    ///
    /// Cost: one point read, however large the table is.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(&self) -> Result<u64> {
        Ok(self.reach.outside()?.count(&*self.handle.table()?)?)
    }
}

impl<K: OrderedKey, V: Record, R> OrderedTable<K, V, R> {
    pub(crate) fn reached<Other>(&self, reach: Other) -> OrderedTable<K, V, Other> {
        OrderedTable { handle: Arc::clone(&self.handle), reach, types: PhantomData }
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.handle.name.name
    }

    pub(crate) fn engine_key(&self, key: &K) -> Key {
        Key { partition: engine_keys::partition(), sort: key.to_values() }
    }

    pub(crate) fn value_of(&self, table: &Table, item: Item) -> Result<V> {
        V::from_item(self.handle.own(table, item).0)
    }

    fn entry_of(&self, table: &Table, item: Item) -> Result<(K, V)> {
        let key = engine_keys::key_of(table, &item)?;
        Ok((key, self.value_of(table, item)?))
    }
}

impl<K: OrderedKey, V: Record, R: Reach> OrderedTable<K, V, R> {
    /// Returns the value of a key, or `None`.
    ///
    /// Cost: one point read.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Mismatch`]: the stored value does not fit `V`.
    pub fn try_read(&self, key: &K) -> Result<Option<V>> {
        let table = self.handle.table()?;
        let item = self.reach.get(&table, &Get::new(self.engine_key(key)))?;
        item.map(|item| self.value_of(&table, item)).transpose()
    }

    /// Returns the value of a key, which must exist.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: it is not there. In a transaction, returning this error aborts.
    /// * As [`OrderedTable::try_read`].
    pub fn read(&self, key: &K) -> Result<V> {
        self.try_read(key)?.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("{} has no such key", self.handle.name))
        })
    }

    /// Returns the values of several keys in the order of the keys. Outside a transaction they are
    /// of one moment.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Mismatch`]: a stored value does not fit `V`.
    pub fn get_many(&self, keys: &[K]) -> Result<Vec<Option<V>>> {
        let table = self.handle.table()?;
        let gets: Vec<(Arc<Table>, Get)> =
            keys.iter().map(|key| (Arc::clone(&table), Get::new(self.engine_key(key)))).collect();
        let found = self.reach.get_many(&gets)?.into_iter();
        found.map(|item| item.map(|item| self.value_of(&table, item)).transpose()).collect()
    }

    /// Returns true if a key exists.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn contains(&self, key: &K) -> Result<bool> {
        let table = self.handle.table()?;
        Ok(self.reach.get(&table, &Get::new(self.engine_key(key)))?.is_some())
    }

    /// Returns the first entry in table order.
    ///
    /// Cost: one descent.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::try_read`].
    pub fn min(&self) -> Result<Option<(K, V)>> {
        self.to_stream().limit(1).iter().next().transpose()
    }

    /// Returns the last entry in table order.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::try_read`].
    pub fn max(&self) -> Result<Option<(K, V)>> {
        self.to_stream().descending().limit(1).iter().next().transpose()
    }

    /// Returns the first key in table order.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn min_key(&self) -> Result<Option<K>> {
        self.to_stream().limit(1).keys().next().transpose()
    }

    /// Returns the last key in table order.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn max_key(&self) -> Result<Option<K>> {
        self.to_stream().descending().limit(1).keys().next().transpose()
    }

    /// Returns true if the table is empty.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.min_key()?.is_none())
    }
}

impl<K: OrderedKey, V: Record> OrderedTable<K, V, InTransaction<'_>> {
    /// Returns the number of entries of the table, this transaction's own included.
    ///
    /// Cost: reads every key; the count of [`OrderedTable::count`] is not of this moment.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(&self) -> Result<u64> {
        self.to_stream().count()
    }
}
