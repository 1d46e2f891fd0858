//! Iterates over the entities of a partition, or of those whose sort key begins with a text.

use std::collections::VecDeque;
use std::sync::Arc;

use shelfmark_engine::{Cursor, Query, Table};
use shelfmark_model::{Item, SortBound, SortCondition, Value};

use super::{Entity, Partition};
use crate::error::Result;
use crate::reach::{Direct, Reach, WriteReach};

/// Entities of a page.
const PAGE: usize = 256;
/// Ends a page with the entity that reaches this many bytes.
const PAGE_BYTES: usize = 1024 * 1024;

/// An iterator over entities of a partition, read page by page, each page as of its own moment.
/// What is deleted meanwhile is left out; nothing ends the stream early but an error.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Attributes, EntityTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let partition = EntityTable::named(&database, "t")?.partition("p");
/// partition.batch_put(["log#1", "log#2", "log#3"].map(|sk| (sk, Attributes::new())))?;
/// let newest = partition.begins_with("log#").descending().next().transpose()?;
/// assert_eq!(newest.map(|entity| entity.sk).as_deref(), Some("log#3"));
/// // A page, and the rest of it later.
/// let (page, cursor) = partition.begins_with("log#").page(2)?;
/// let rest = partition.begins_with("log#").after(cursor.ok_or("one is left")?);
/// assert_eq!((page.len(), rest.count()?), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is read before entities are taken"]
pub struct Entities<R = Direct> {
    partition: Partition<R>,
    condition: SortCondition,
    descending: bool,
    left: Option<usize>,
    cursor: Option<Cursor>,
    buffer: VecDeque<Item>,
    table: Option<Arc<Table>>,
    done: bool,
}

impl<R: Reach> Partition<R> {
    /// Returns all entities, in order of their sort keys.
    pub fn entities(&self) -> Entities<R> {
        Entities::new(self.clone(), SortCondition::all())
    }

    /// Returns the entities whose sort key begins with `prefix`, whatever characters follow.
    pub fn begins_with(&self, prefix: &str) -> Entities<R> {
        Entities::new(self.clone(), SortCondition::begins_with(prefix))
    }

    /// Returns the entities from a sort key, included, to the end of the partition.
    pub fn from(&self, lower: &str) -> Entities<R> {
        let lower = SortBound::Included(Value::text(lower));
        let upper = SortBound::Unbounded;
        Entities::new(self.clone(), SortCondition::Range { equal: Vec::new(), lower, upper })
    }
}

impl<R: Reach> Entities<R> {
    fn new(partition: Partition<R>, condition: SortCondition) -> Self {
        Self {
            partition,
            condition,
            descending: false,
            left: None,
            cursor: None,
            buffer: VecDeque::new(),
            table: None,
            done: false,
        }
    }

    /// Reverses the iteration: from the last sort key to the first.
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Limits the iteration to `limit` entities.
    pub fn limit(mut self, limit: usize) -> Self {
        self.left = Some(limit);
        self
    }

    /// Continues after this cursor, in the direction of this iterator.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.cursor = Some(cursor);
        self
    }

    /// Returns how many entities there are.
    ///
    /// Cost: reads every one; for a whole partition [`Partition::count`] is one read.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn count(self) -> Result<u64> {
        let mut count = 0;
        for entity in self {
            entity?;
            count += 1;
        }
        Ok(count)
    }

    /// Returns one page of `size` entities, as of one moment, and the cursor behind the last; no
    /// cursor when nothing is left. Of size 0, nothing and the position that it was given.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the position belongs to another table.
    pub fn page(self, size: usize) -> Result<(Vec<Entity>, Option<Cursor>)> {
        if size == 0 || self.left == Some(0) {
            return Ok((Vec::new(), if size == 0 { self.cursor } else { None }));
        }
        let table = self.partition.table.handle().table()?;
        let mut query = self.query(self.left.map_or(size, |left| left.min(size)));
        query.start = self.cursor;
        query.peek = true;
        let page = self.partition.table.reach.query(&table, &query)?;
        let entities =
            page.items.into_iter().map(|item| self.partition.entity_of(&table, item)).collect();
        Ok((Result::from_iter::<Vec<Result<Entity>>>(entities)?, page.cursor))
    }

    fn query(&self, limit: usize) -> Query {
        let mut query =
            Query::partition(self.partition.key_values()).sort(self.condition.clone()).limit(limit);
        query.descending = self.descending;
        query
    }

    fn fill(&mut self) -> Result<()> {
        let table = self.partition.table.handle().table()?;
        let mut query = self.query(self.left.map_or(PAGE, |left| left.min(PAGE)));
        query.start = self.cursor.take();
        query.bytes_max = Some(PAGE_BYTES);
        let page = self.partition.table.reach.query(&table, &query)?;
        self.table = Some(table);
        self.buffer = page.items.into();
        self.done = page.cursor.is_none();
        self.cursor = page.cursor;
        Ok(())
    }

    fn next_entity(&mut self) -> Result<Option<Entity>> {
        while self.buffer.is_empty() {
            if self.done || self.left == Some(0) {
                return Ok(None);
            }
            self.fill()?;
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        let next = self.buffer.pop_front().zip(self.table.as_ref());
        next.map(|(item, table)| self.partition.entity_of(table, item)).transpose()
    }
}

impl<R: Reach> Iterator for Entities<R> {
    type Item = Result<Entity>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_entity().transpose();
        if matches!(next, Some(Err(_))) {
            self.done = true;
            self.buffer.clear();
        }
        next
    }
}

impl<R: WriteReach> Entities<R> {
    /// Deletes the entities and returns how many there were: in a transaction at its commit,
    /// otherwise in commits of up to 1,000, in order.
    ///
    /// # Errors
    ///
    /// * Those of the store. Some may be gone; call again.
    pub fn delete(mut self) -> Result<u64> {
        let partition = self.partition.clone();
        let mut deleted = 0;
        loop {
            let some: Vec<String> = self
                .by_ref()
                .take(1000)
                .map(|entity| entity.map(|entity| entity.sk))
                .collect::<Result<_>>()?;
            if some.is_empty() {
                return Ok(deleted);
            }
            deleted += partition.batch_delete(some)?;
        }
    }
}

impl<R: WriteReach> Partition<R> {
    /// Deletes every entity of the partition and returns how many there were. See
    /// [`Entities::delete`].
    ///
    /// # Errors
    ///
    /// * As [`Entities::delete`].
    #[doc(alias = "transferCyclesStopAndDeleteCanisters")]
    pub fn drop_all(&self) -> Result<u64> {
        self.entities().delete()
    }
}
