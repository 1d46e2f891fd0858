//! A range of a table, described before it is read.

use std::sync::Arc;

use shelfmark_engine::{Cursor, Query, Table};
use shelfmark_model::{Projection, SortCondition};

use super::stream::{Chunks, Keys, Stream, Values};
use super::{OrderedTable, engine_keys, stream};
use crate::error::Result;
use crate::key::OrderedKey;
use crate::reach::{Direct, Moment, Reach, WriteReach};
use crate::record::Record;

/// Entries deleted in one commit by [`Range::delete`].
const DELETED_AT_ONCE: usize = 1000;

/// A range of an ordered table, with its limit and direction; it is read when entries are asked
/// for.
///
/// Outside a transaction a range is read page by page, each page as of its own moment, going on
/// behind the last key: entries that are deleted meanwhile are left out, and a range never ends
/// early, whatever is deleted. [`Range::snapshot`] reads it all as of one moment.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let squares: OrderedTable<u32, u32> = OrderedTable::named(&database, "squares")?;
/// for n in 0..10 {
///     squares.write(&n, &(n * n))?;
/// }
/// let found: Vec<u32> = squares.range(3..6)?.descending().values().collect::<Result<_, _>>()?;
/// assert_eq!(found, [25, 16, 9]);
///
/// // A page, and where to go on: in this process, or in another one after a restart.
/// let page = squares.range(3..)?.page(2)?;
/// let cursor = page.cursor.ok_or("more is left")?;
/// assert_eq!(squares.range(3..)?.after(cursor).keys().next().transpose()?, Some(5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a range reads nothing before it is asked for entries"]
pub struct Range<K, V, R = Direct> {
    pub(super) table: OrderedTable<K, V, R>,
    /// The conditions in table order; usually one.
    pub(super) conditions: Vec<SortCondition>,
    pub(super) descending: bool,
    pub(super) limit: Option<usize>,
    pub(super) after: Option<Cursor>,
    /// The index that is read instead of the table; the conditions are on its key.
    pub(super) index: Option<Arc<str>>,
}

/// A page of entries, and the cursor to go on from.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let squares: OrderedTable<u32, u32> = OrderedTable::named(&database, "squares")?;
/// for n in 0..5 {
///     squares.write(&n, &(n * n))?;
/// }
/// let page = squares.to_stream().page(3)?;
/// assert_eq!(page.entries.last(), Some(&(2, 4)));
/// assert!(page.cursor.is_some(), "two are left");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Page<K, V> {
    /// The entries.
    pub entries: Vec<(K, V)>,
    /// The position behind the last entry; `None` when the range is done. It stays good when the
    /// entry is deleted and when the program is restarted ([`Cursor::to_bytes`]).
    pub cursor: Option<Cursor>,
}

impl<K: OrderedKey, V: Record, R: Reach> Range<K, V, R> {
    pub(super) fn new(table: OrderedTable<K, V, R>, conditions: Vec<SortCondition>) -> Self {
        Self { table, conditions, descending: false, limit: None, after: None, index: None }
    }

    /// Reverses the range: from the last key to the first.
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Limits the range to `limit` entries.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(self.limit.map_or(limit, |own| own.min(limit)));
        self
    }

    /// Continues after this cursor, in the direction of this range.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// Returns the entries, one by one.
    pub fn iter(self) -> Stream<K, V, R> {
        Stream::new(self)
    }

    /// Returns the keys, one by one. The values are not decoded.
    pub fn keys(self) -> Keys<K, V, R> {
        Keys::new(self)
    }

    /// Returns the values, one by one.
    pub fn values(self) -> Values<K, V, R> {
        Values::new(self)
    }

    /// Returns the entries in lists of `size` (the last may be shorter).
    pub fn chunks(self, size: usize) -> Chunks<K, V, R> {
        Chunks::new(self, size)
    }

    /// Returns all entries.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: a stored value does not fit `V`.
    pub fn to_vec(self) -> Result<Vec<(K, V)>> {
        self.iter().collect()
    }

    /// Returns one page of `size` entries, as of one moment, and the cursor to go on from; of size
    /// 0, nothing and the cursor that it was given.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Mismatch`]: a stored value does not fit `V`.
    /// * [`crate::ErrorKind::Invalid`]: the position belongs to another table.
    pub fn page(self, size: usize) -> Result<Page<K, V>> {
        if size == 0 || self.limit == Some(0) {
            let cursor = if size == 0 { self.after } else { None };
            return Ok(Page { entries: Vec::new(), cursor });
        }
        let range = self.limit(size);
        let mut left = range.limit.unwrap_or(size);
        let table = range.table.handle().table()?;
        let mut entries = Vec::new();
        let mut rest = range.ordered().into_iter();
        while let Some(condition) = rest.next() {
            let page = range.table.reach.query(&table, &range.query(condition.clone(), left))?;
            left -= page.items.len().min(left);
            for item in page.items {
                entries.push(range.table.entry_of(&table, item)?);
            }
            // A cursor means that the limit ended the page, not that something is left.
            if let Some(cursor) = page.cursor {
                let more =
                    range.any_behind(&table, &cursor, [condition].into_iter().chain(rest))?;
                return Ok(Page { entries, cursor: more.then_some(cursor) });
            }
        }
        Ok(Page { entries, cursor: None })
    }

    fn any_behind(
        &self,
        table: &Table,
        cursor: &Cursor,
        mut conditions: impl Iterator<Item = SortCondition>,
    ) -> Result<bool> {
        conditions.try_fold(false, |found, condition| {
            let mut query = self.query(condition, 1);
            query.start = Some(cursor.clone());
            query.count_only = true;
            Ok(found || self.table.reach.query(table, &query)?.count > 0)
        })
    }

    /// Returns how many entries the range has.
    ///
    /// Cost: reads every key of the range; only for a whole table a count is kept
    /// ([`OrderedTable::count`]).
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(self) -> Result<u64> {
        let table = self.table.handle().table()?;
        let mut count = 0;
        for condition in self.ordered() {
            let mut after = self.after.clone();
            loop {
                let left = self.limit.map_or(stream::PAGE, |limit| {
                    limit.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX))
                });
                if left == 0 {
                    return Ok(count);
                }
                let mut query = self.query(condition.clone(), left.min(stream::PAGE));
                query.count_only = true;
                query.start = after;
                let page = self.table.reach.query(&table, &query)?;
                count += page.count as u64;
                after = page.cursor;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(count)
    }

    /// Returns the conditions in the order of reading.
    pub(super) fn ordered(&self) -> Vec<SortCondition> {
        let mut conditions = self.conditions.clone();
        if self.descending {
            conditions.reverse();
        }
        conditions
    }

    pub(super) fn query(&self, condition: SortCondition, limit: usize) -> Query {
        let mut query = Query::partition(engine_keys::partition()).sort(condition).limit(limit);
        query.descending = self.descending;
        query.start = self.after.clone();
        query.projection = Projection::All;
        query.index = self.index.as_deref().map(str::to_owned);
        query
    }
}

impl<K: OrderedKey, V: Record> Range<K, V> {
    /// Reads the whole range as of now.
    ///
    /// # Errors
    ///
    /// * Those of the store. Reads answer [`crate::ErrorKind::TooOld`] when the moment is held too
    ///   long.
    pub fn snapshot(self) -> Result<Range<K, V, Moment>> {
        Ok(Range {
            table: self.table.snapshot()?,
            conditions: self.conditions,
            descending: self.descending,
            limit: self.limit,
            after: self.after,
            index: self.index,
        })
    }
}

impl<K: OrderedKey, V: Record, R: WriteReach> Range<K, V, R> {
    /// Deletes the entries of the range and returns how many there were.
    ///
    /// In a transaction all go at its commit. Otherwise they go in commits of up to 1,000, in order;
    /// entries that others put into the range meanwhile may stay.
    ///
    /// Durability: what was counted is gone once this returns.
    ///
    /// # Errors
    ///
    /// * Those of the store. Some entries may be gone; call again.
    pub fn delete(self) -> Result<u64> {
        let table = self.table.clone();
        let mut deleted = 0;
        let mut keys = self.keys();
        loop {
            let some: Vec<K> = keys.by_ref().take(DELETED_AT_ONCE).collect::<Result<_>>()?;
            if some.is_empty() {
                return Ok(deleted);
            }
            deleted += table.delete_many(&some)?;
        }
    }
}

impl<K: OrderedKey, V: Record, R: Reach> IntoIterator for Range<K, V, R> {
    type Item = Result<(K, V)>;
    type IntoIter = Stream<K, V, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
