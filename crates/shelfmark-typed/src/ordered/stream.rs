//! Iterates over the entries of a range, reading page by page.
//!
//! Invariant: a page goes on strictly behind the last key of the page before, so an entry is
//! answered at most once, and deleting entries never ends a stream early.

use std::collections::VecDeque;
use std::sync::Arc;

use shelfmark_engine::{Cursor, Table};
use shelfmark_model::{Item, Path, Projection, SortCondition};

use super::{OrderedTable, Range, engine_keys};
use crate::error::Result;
use crate::key::OrderedKey;
use crate::reach::Reach;
use crate::record::Record;

/// Entries of the first page, small because short ranges are common.
const FIRST_PAGE: usize = 32;
/// Entries of later pages, at most.
pub(super) const PAGE: usize = 512;
/// Ends a page with the entry that reaches this many bytes.
const PAGE_BYTES: usize = 1024 * 1024;

/// An iterator over the items of a range.
struct Items<K, V, R> {
    range: Range<K, V, R>,
    rest: VecDeque<SortCondition>,
    cursor: Option<Cursor>,
    left: Option<usize>,
    page: usize,
    buffer: VecDeque<Item>,
    table: Option<Arc<Table>>,
    keys_only: bool,
}

impl<K: OrderedKey, V: Record, R: Reach> Items<K, V, R> {
    fn new(range: Range<K, V, R>, keys_only: bool) -> Self {
        Self {
            rest: range.ordered().into(),
            cursor: range.after.clone(),
            left: range.limit,
            page: FIRST_PAGE,
            buffer: VecDeque::new(),
            table: None,
            keys_only,
            range,
        }
    }

    fn table(&self) -> &OrderedTable<K, V, R> {
        &self.range.table
    }

    /// Returns the next item and the table it was read from.
    fn next_item(&mut self) -> Result<Option<(Item, Arc<Table>)>> {
        while self.buffer.is_empty() {
            if self.left == Some(0) {
                return Ok(None);
            }
            let Some(condition) = self.rest.front().cloned() else { return Ok(None) };
            self.fill(condition)?;
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        Ok(self.buffer.pop_front().zip(self.table.clone()))
    }

    fn fill(&mut self, condition: SortCondition) -> Result<()> {
        let table = self.range.table.handle().table()?;
        let size = self.left.map_or(self.page, |left| left.min(self.page));
        let mut query = self.range.query(condition, size);
        query.start = self.cursor.take();
        query.bytes_max = Some(PAGE_BYTES);
        if self.keys_only {
            let names = table.schema.key_names().map(Path::attribute).collect();
            query.projection = Projection::Paths(names);
        }
        let page = self.range.table.reach.query(&table, &query)?;
        self.table = Some(table);
        self.buffer = page.items.into();
        self.page = (self.page * 2).min(PAGE);
        self.cursor = page.cursor;
        if self.cursor.is_none() {
            // The position that the range began at counts for every condition.
            self.cursor = self.range.after.clone();
            self.rest.pop_front();
        }
        Ok(())
    }

    /// Ends the iteration after an error, so that no caller loops on it.
    fn end(&mut self) {
        self.rest.clear();
        self.buffer.clear();
    }

    fn next_with<T>(
        &mut self,
        read: impl FnOnce(&OrderedTable<K, V, R>, &Table, Item) -> Result<T>,
    ) -> Option<Result<T>> {
        let next = match self.next_item() {
            Ok(None) => return None,
            Ok(Some((item, table))) => read(self.table(), &table, item),
            Err(error) => Err(error),
        };
        if next.is_err() {
            self.end();
        }
        Some(next)
    }
}

/// An iterator over the entries of a range. An error ends it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let words: OrderedTable<u32, String> = OrderedTable::named(&database, "words")?;
/// for (n, word) in [(1, "one"), (2, "two")] {
///     words.write(&n, &word.to_owned())?;
/// }
/// let last = words.to_stream().descending().iter().next();
/// assert_eq!(last.transpose()?, Some((2, "two".to_owned())));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Stream<K, V, R> {
    items: Items<K, V, R>,
}

/// An iterator over the keys of a range. An error ends it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let words: OrderedTable<u32, String> = OrderedTable::named(&database, "words")?;
/// for (n, word) in [(1, "one"), (2, "two")] {
///     words.write(&n, &word.to_owned())?;
/// }
/// let last = words.to_stream().descending().keys().next();
/// assert_eq!(last.transpose()?, Some(2));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Keys<K, V, R> {
    items: Items<K, V, R>,
}

/// An iterator over the values of a range. An error ends it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let words: OrderedTable<u32, String> = OrderedTable::named(&database, "words")?;
/// for (n, word) in [(1, "one"), (2, "two")] {
///     words.write(&n, &word.to_owned())?;
/// }
/// let last = words.to_stream().descending().values().next();
/// assert_eq!(last.transpose()?, Some("two".to_owned()));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Values<K, V, R> {
    items: Items<K, V, R>,
}

/// An iterator over the entries of a range in lists. An error ends it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let table: OrderedTable<u32, u32> = OrderedTable::named(&database, "t")?;
/// let entries: Vec<(u32, u32)> = (0..7).map(|n| (n, n)).collect();
/// table.write_many(entries.iter().map(|(key, value)| (key, value)))?;
/// let sizes: Vec<usize> = table
///     .to_stream()
///     .chunks(3)
///     .map(|chunk| chunk.map(|chunk| chunk.len()))
///     .collect::<Result<_, _>>()?;
/// assert_eq!(sizes, [3, 3, 1]);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Chunks<K, V, R> {
    stream: Stream<K, V, R>,
    size: usize,
}

impl<K: OrderedKey, V: Record, R: Reach> Stream<K, V, R> {
    pub(super) fn new(range: Range<K, V, R>) -> Self {
        Self { items: Items::new(range, false) }
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Keys<K, V, R> {
    pub(super) fn new(range: Range<K, V, R>) -> Self {
        Self { items: Items::new(range, true) }
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Values<K, V, R> {
    pub(super) fn new(range: Range<K, V, R>) -> Self {
        Self { items: Items::new(range, false) }
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Chunks<K, V, R> {
    pub(super) fn new(range: Range<K, V, R>, size: usize) -> Self {
        Self { stream: Stream::new(range), size: size.max(1) }
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Iterator for Stream<K, V, R> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.items.next_with(|own, table, item| own.entry_of(table, item))
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Iterator for Keys<K, V, R> {
    type Item = Result<K>;

    fn next(&mut self) -> Option<Self::Item> {
        self.items.next_with(|_, table, item| engine_keys::key_of(table, &item))
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Iterator for Values<K, V, R> {
    type Item = Result<V>;

    fn next(&mut self) -> Option<Self::Item> {
        self.items.next_with(|own, table, item| own.value_of(table, item))
    }
}

impl<K: OrderedKey, V: Record, R: Reach> Iterator for Chunks<K, V, R> {
    type Item = Result<Vec<(K, V)>>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk: Result<Vec<(K, V)>> = self.stream.by_ref().take(self.size).collect();
        match chunk {
            Ok(chunk) if chunk.is_empty() => None,
            chunk => Some(chunk),
        }
    }
}
