//! Typed secondary indexes and unique constraints of ordered tables.
//!
//! An index orders the entries of a table by attributes of their values, under a key of a Rust type
//! of its own. It is kept in the same commit as the table, so a read through it is never stale. What
//! it is not: a table. It is read through the handle of its table, inside of a transaction too.
//!
//! Invariant: a range of index keys is one contiguous range of the store, like one of table keys.

use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use shelfmark_engine::ErrorKind as EngineKind;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, KeyColumn, KeyType, Projected, SortColumn, SortCondition,
};

use super::{OrderedTable, Range, engine_keys, span};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{KeyPrefix, KeyRef, OrderedKey};
use crate::reach::Reach;
use crate::record::Record;

/// An index of an ordered table, under keys of type `I`. Cheap to clone.
///
/// Entries whose value lacks one of the attributes, or has it as another type than the index's key,
/// are not in the index.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use serde::{Deserialize, Serialize};
/// use shelfmark_typed::{Index, OrderedTable};
///
/// #[derive(Serialize, Deserialize)]
/// struct Book {
///     title: String,
///     author: String,
///     year: u16,
/// }
///
/// # let database = registry.environment("default")?.database("default")?;
/// let books: OrderedTable<u64, Book> = OrderedTable::named(&database, "books")?;
/// let by_author: Index<(String, u16)> = books.index("by_author", ["author", "year"])?;
/// for (id, author, year) in [(1, "Le Guin", 1974), (2, "Lem", 1961), (3, "Le Guin", 1969)] {
///     let (title, author) = (format!("Book {id}"), author.to_owned());
///     books.insert(id, &Book { title, author, year })?;
/// }
/// // Hers in the order of years: one range of the index.
/// let hers = books.by(&by_author).prefix("Le Guin")?.keys().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(hers, [3, 1]);
/// let early = books.by(&by_author).range_prefix(("Le Guin", 1960)..("Le Guin", 1970))?;
/// assert_eq!(early.count()?, 1);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Index<I> {
    table: Arc<str>,
    name: Arc<str>,
    key: PhantomData<fn() -> I>,
}

/// A unique constraint on attributes of an ordered table's values, and the look-up by them.
///
/// A write that would give two entries one key answers [`ErrorKind::AlreadyExists`] and is not done.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use serde::{Deserialize, Serialize};
/// use shelfmark_typed::{ErrorKind, OrderedTable, UniqueIndex};
///
/// #[derive(Serialize, Deserialize)]
/// struct User {
///     email: String,
/// }
///
/// # let database = registry.environment("default")?.database("default")?;
/// let users: OrderedTable<u64, User> = OrderedTable::named(&database, "users")?;
/// let by_email: UniqueIndex<String> = users.unique_index("by_email", ["email"])?;
/// users.insert(1, &User { email: "ann@example.com".into() })?;
/// let taken = users.insert(2, &User { email: "ann@example.com".into() });
/// assert_eq!(taken.err().map(|error| error.kind()), Some(ErrorKind::AlreadyExists));
/// let found = users.by_unique(&by_email).get("ann@example.com")?;
/// assert_eq!(found.map(|(id, _)| id), Some(1));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct UniqueIndex<I> {
    index: Index<I>,
}

/// A view of a table in the order of one of its indexes.
#[must_use = "an order reads nothing before it is asked for a range"]
pub struct ByIndex<K, V, I, R> {
    table: OrderedTable<K, V, R>,
    name: Arc<str>,
    key: PhantomData<fn() -> I>,
}

/// A view of a table by one of its unique constraints.
#[must_use = "a constraint reads nothing before it is asked for a key"]
pub struct ByUnique<K, V, I, R> {
    order: ByIndex<K, V, I, R>,
}

impl<I> Clone for Index<I> {
    fn clone(&self) -> Self {
        Self { table: Arc::clone(&self.table), name: Arc::clone(&self.name), key: PhantomData }
    }
}

impl<I> Clone for UniqueIndex<I> {
    fn clone(&self) -> Self {
        Self { index: self.index.clone() }
    }
}

impl<K: OrderedKey, V: Record> OrderedTable<K, V> {
    /// Opens the index of this name over `attributes`, one for each part of `I`, creating and
    /// building it if it does not exist.
    ///
    /// An attribute is a field of the value's struct, or `value` where the value is no struct.
    /// Reads and writes go on while the index is built.
    ///
    /// Cost: a look into memory; building it reads the table once. Each write of the table then
    /// reads the entry that it replaces, which it does for its count already, and writes one key
    /// more where the attributes change.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: `I` has more or fewer parts than there are attributes.
    /// * [`ErrorKind::Mismatch`]: an index of this name is there with other attributes, or unique.
    pub fn index<I: OrderedKey>(
        &self,
        name: &str,
        attributes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Index<I>> {
        self.open_index(name, IndexKind::Secondary, attributes)
    }

    /// Works as [`OrderedTable::index`], but refuses two entries with one index key.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::index`], and [`ErrorKind::AlreadyExists`]: two entries that are there
    ///   have one key. Change one of them; nothing is left of the index.
    pub fn unique_index<I: OrderedKey>(
        &self,
        name: &str,
        attributes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<UniqueIndex<I>> {
        Ok(UniqueIndex { index: self.open_index(name, IndexKind::Unique, attributes)? })
    }

    /// Drops an index.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no index of this name.
    pub fn drop_index(&self, name: &str) -> Result<()> {
        self.reach.outside()?.drop_index(&self.handle.name, name)?;
        Ok(())
    }

    fn open_index<I: OrderedKey>(
        &self,
        name: &str,
        kind: IndexKind,
        attributes: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Index<I>> {
        let attributes: Vec<String> = attributes.into_iter().map(Into::into).collect();
        let wanted = schema::<I>(name, kind, attributes)?;
        let engine = self.reach.outside()?;
        loop {
            let table = self.handle.table()?;
            let found = table.schema.indexes.iter().find(|index| index.name == name);
            match found {
                Some(found) => {
                    check_same(found, &wanted)?;
                    if found.state == IndexState::Public {
                        break;
                    }
                    engine.resume_indexes(&self.handle.name)?;
                }
                None => match engine.add_index(&self.handle.name, wanted.clone()) {
                    Ok(_) => break,
                    // Somebody else was faster with the index itself.
                    Err(error) if error.kind() == EngineKind::AlreadyExists => {
                        let table = engine.table(&self.handle.name)?;
                        if !table.schema.indexes.iter().any(|index| index.name == name) {
                            return Err(error.into());
                        }
                    }
                    Err(error) => return Err(error.into()),
                },
            }
        }
        Ok(Index { table: self.name().into(), name: name.into(), key: PhantomData })
    }
}

impl<K: OrderedKey, V: Record, R: Reach> OrderedTable<K, V, R> {
    /// Returns the entries in the order of an index, for ranges over its keys.
    pub fn by<I: OrderedKey>(&self, index: &Index<I>) -> ByIndex<K, V, I, R> {
        ByIndex { table: self.clone(), name: self.own(index), key: PhantomData }
    }

    /// Returns the entries by a unique constraint.
    pub fn by_unique<I: OrderedKey>(&self, index: &UniqueIndex<I>) -> ByUnique<K, V, I, R> {
        ByUnique { order: self.by(&index.index) }
    }

    /// Returns the name of an index; for one of another table a name that this one does not have.
    fn own<I>(&self, index: &Index<I>) -> Arc<str> {
        match *index.table == *self.name() {
            true => Arc::clone(&index.name),
            false => format!("{} of table {}", index.name, index.table).into(),
        }
    }
}

impl<K: OrderedKey, V: Record, I: OrderedKey, R: Reach> ByIndex<K, V, I, R> {
    fn over(self, conditions: Vec<SortCondition>) -> Range<K, V, R> {
        Range { index: Some(self.name), ..Range::new(self.table, conditions) }
    }

    /// Returns all entries of the index, in its order.
    pub fn all(self) -> Range<K, V, R> {
        self.over(vec![SortCondition::all()])
    }

    /// Returns the entries with this index key; more than one may have it.
    pub fn get(self, key: impl KeyRef<I>) -> Range<K, V, R> {
        self.over(vec![SortCondition::Equal(key.to_key_values())])
    }

    /// Returns the entries whose index keys begin with these parts.
    ///
    /// # Errors
    ///
    /// * Never; kept for symmetry with the ranges of tables.
    pub fn prefix<P: KeyPrefix<I>>(self, parts: P) -> Result<Range<K, V, R>> {
        Ok(self.over(vec![SortCondition::Equal(parts.to_prefix())]))
    }

    /// Returns the entries whose index keys lie in `bounds`.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn range(self, bounds: impl RangeBounds<I>) -> Result<Range<K, V, R>> {
        let lower = bounds.start_bound().map(OrderedKey::to_values);
        let upper = bounds.end_bound().map(OrderedKey::to_values);
        let conditions = span::conditions(&I::columns(), lower, upper)?;
        Ok(self.over(conditions))
    }

    /// Works as [`ByIndex::range`], over leading parts of the index key.
    ///
    /// # Errors
    ///
    /// * As [`OrderedTable::range`].
    pub fn range_prefix<P: KeyPrefix<I>>(
        self,
        bounds: impl RangeBounds<P>,
    ) -> Result<Range<K, V, R>> {
        let lower = bounds.start_bound().map(KeyPrefix::to_prefix);
        let upper = bounds.end_bound().map(KeyPrefix::to_prefix);
        let conditions = span::conditions(&I::columns(), lower, upper)?;
        Ok(self.over(conditions))
    }
}

impl<K: OrderedKey, V: Record, I: OrderedKey, R: Reach> ByUnique<K, V, I, R> {
    /// Returns the entry with this key, if there is one.
    ///
    /// Cost: one descent.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Mismatch`]: the stored value does not fit `V`.
    pub fn get(self, key: impl KeyRef<I>) -> Result<Option<(K, V)>> {
        self.order.get(key).limit(1).iter().next().transpose()
    }

    /// Returns the table in the order of the constraint's key.
    pub fn order(self) -> ByIndex<K, V, I, R> {
        self.order
    }
}

/// Returns the schema of an index, which lies in one partition, like its table; its key is the sort
/// key there.
fn schema<I: OrderedKey>(
    name: &str,
    kind: IndexKind,
    attributes: Vec<String>,
) -> Result<IndexSchema> {
    let columns = I::columns();
    if columns.len() != attributes.len() {
        return Err(Error::invalid(format!(
            "index {name} is over {} attributes, and its key has {} parts: give one attribute for \
             each part",
            attributes.len(),
            columns.len()
        )));
    }
    let named = columns.into_iter().zip(attributes);
    Ok(IndexSchema {
        name: name.to_owned(),
        kind,
        partition: vec![KeyColumn::new(engine_keys::SHELF, KeyType::U8)],
        sort: named.map(|(column, name)| SortColumn { name, ..column }).collect(),
        projected: Projected::All,
        state: IndexState::Building,
    })
}

fn check_same(found: &IndexSchema, wanted: &IndexSchema) -> Result<()> {
    if found.kind == wanted.kind && found.partition == wanted.partition && found.sort == wanted.sort
    {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Mismatch,
        format!(
            "index {} is there with other attributes or another kind: drop it, or open it as it is",
            found.name
        ),
    ))
}
