//! Linear logs: values under consecutive numbers, added at the end.
//!
//! The next number is a cell of its own in the same partition (place -1), so a deleted entry leaves
//! a hole and its number is never used again.

use std::marker::PhantomData;
use std::sync::Arc;

use shelfmark_engine::{Get, Query, Write};
use shelfmark_model::{KeyType, SortBound, SortCondition, Value};

use super::{item_of, key_of, open, record_of};
use crate::database::Database;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::reach::{Direct, Inside, Reach, WriteReach};
use crate::record::Record;

/// The row that holds the size.
const SIZE: i64 = -1;

/// Most entries that [`LinearLog::entries`] returns at once.
const ENTRIES_MAX: usize = 10_000;

/// A log: an array that grows at its end. Cheap to clone.
///
/// Adding reads and writes the log's size, so writers of one log take turns.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::LinearLog;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let events: LinearLog<String> = LinearLog::named(&database, "events")?;
/// assert_eq!(events.add(&"opened".into())?, 0);
/// assert_eq!(events.add(&"closed".into())?, 1);
/// assert_eq!(events.at(0)?.as_deref(), Some("opened"));
/// assert_eq!(events.size()?, 2);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct LinearLog<T, R = Direct> {
    handle: Arc<Handle>,
    reach: R,
    name: Arc<str>,
    types: PhantomData<fn() -> T>,
}

impl<T, R: Clone> Clone for LinearLog<T, R> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
            reach: self.reach.clone(),
            name: Arc::clone(&self.name),
            types: PhantomData,
        }
    }
}

impl<T: Record> LinearLog<T> {
    /// Opens the log of this name in a database.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Restricted`]: the environment has no right to the database.
    pub fn named(database: &Database, name: &str) -> Result<Self> {
        let handle = open(database, "_logs", Some(("place", KeyType::I64)))?;
        let reach = Direct { engine: handle.engine.clone() };
        Ok(Self { handle, reach, name: name.into(), types: PhantomData })
    }
}

impl<T: Record, R> LinearLog<T, R> {
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn reached<Other>(&self, reach: Other) -> LinearLog<T, Other> {
        LinearLog {
            handle: Arc::clone(&self.handle),
            reach,
            name: Arc::clone(&self.name),
            types: PhantomData,
        }
    }
}

impl<T: Record, R: Reach> LinearLog<T, R> {
    /// Returns the entry of a number; `None` behind the end and for a deleted one.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: the stored value does not fit the type.
    pub fn at(&self, index: u64) -> Result<Option<T>> {
        let Ok(place) = i64::try_from(index) else { return Ok(None) };
        let table = self.handle.table()?;
        let item = self.reach.get(&table, &Get::new(key_of(&self.name, Some(place))))?;
        item.map(|item| record_of(&self.handle, &table, item)).transpose()
    }

    /// Returns how many entries were ever added: the number of the next one.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn size(&self) -> Result<u64> {
        let table = self.handle.table()?;
        let item = self.reach.get(&table, &Get::new(key_of(&self.name, Some(SIZE))))?;
        item.map_or(Ok(0), |item| record_of(&self.handle, &table, item))
    }

    /// Returns entries with their numbers, from `first` on, at most `limit` and at most 10,000, as
    /// of one moment. Deleted ones are left out.
    ///
    /// # Errors
    ///
    /// * As [`LinearLog::at`].
    pub fn entries(&self, first: u64, limit: usize) -> Result<Vec<(u64, T)>> {
        let Some(first) = i64::try_from(first).ok().filter(|_| limit > 0) else {
            return Ok(Vec::new());
        };
        let table = self.handle.table()?;
        let condition = SortCondition::Range {
            equal: Vec::new(),
            lower: SortBound::Included(Value::Int(first)),
            upper: SortBound::Unbounded,
        };
        let query = Query::partition(vec![Value::text(&*self.name)])
            .sort(condition)
            .limit(limit.min(ENTRIES_MAX));
        let page = self.reach.query(&table, &query)?;
        page.items
            .into_iter()
            .map(|item| {
                let place = match item.get("place") {
                    Some(Value::Int(place)) => u64::try_from(*place).ok(),
                    _ => None,
                };
                let place = place.ok_or_else(|| Error::mismatch("a log entry has no number"))?;
                Ok((place, record_of(&self.handle, &table, item)?))
            })
            .collect()
    }
}

impl<T: Record, R: WriteReach> LinearLog<T, R> {
    /// Adds an entry and returns its number.
    ///
    /// Durability: on disk once this returns; in a transaction, once that has committed.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::LimitExceeded`]: the entry is too large.
    pub fn add(&self, entry: &T) -> Result<u64> {
        let table = self.handle.table()?;
        let size_key = key_of(&self.name, Some(SIZE));
        self.reach.atomically(|inside: &Inside<'_>| {
            let size: u64 = match inside.get(&table, &Get::new(size_key.clone()))? {
                Some(item) => record_of(&self.handle, &table, item)?,
                None => 0,
            };
            let place = i64::try_from(size).map_err(|_| Error::invalid("a log is full"))?;
            let key = key_of(&self.name, Some(place));
            inside.write(&Write::put(&table, item_of(&self.handle, &table, &key, entry)?))?;
            let size_item = item_of(&self.handle, &table, &size_key, &(size + 1))?;
            inside.write(&Write::put(&table, size_item))?;
            Ok(size)
        })
    }

    /// Deletes an entry and leaves a hole; succeeds if it is absent.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn delete(&self, index: u64) -> Result<()> {
        let Ok(place) = i64::try_from(index) else { return Ok(()) };
        let table = self.handle.table()?;
        self.reach.write(Write::delete(&table, key_of(&self.name, Some(place))))?;
        Ok(())
    }
}
