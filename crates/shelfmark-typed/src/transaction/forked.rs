//! Reads that are announced first and awaited later.
//!
//! Invariant: a read is awaited only in the block that forked it, and what its first await found is
//! what every later one answers.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shelfmark_engine::{Engine, Get, Table};
use shelfmark_model::Item;

use super::{BLOCKS, check_database, found};
use crate::error::{Error, ErrorKind, Result};
use crate::key::OrderedKey;
use crate::ordered::OrderedTable;
use crate::reach::Direct;
use crate::record::Record;
use crate::running::check_outside;

/// A read that was announced. Its value is fixed when it is first awaited.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let names: OrderedTable<u32, String> = OrderedTable::named(&database, "names")?;
/// names.write(&1, &"Alice".into())?;
/// let name = database.batch_read(|batch| {
///     let forked = batch.fork_read(&names, &1)?;
///     batch.await_read(&forked)
/// })?;
/// assert_eq!(name, "Alice");
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct ForkedRead<K, V> {
    table: OrderedTable<K, V, Direct>,
    engine_table: Arc<Table>,
    get: Get,
    block: u64,
    /// Its position among the reads of a [`Batch`].
    place: usize,
    fixed: RefCell<Option<Option<Item>>>,
}

impl<K: OrderedKey, V: Record> ForkedRead<K, V> {
    pub(super) fn new(
        table: &OrderedTable<K, V>,
        key: &K,
        block: u64,
        place: usize,
    ) -> Result<Self> {
        Ok(Self {
            engine_table: table.handle().table()?,
            get: Get::new(table.engine_key(key)),
            table: table.clone(),
            block,
            place,
            fixed: RefCell::new(None),
        })
    }

    pub(super) fn check_block(&self, block: u64) -> Result<()> {
        if self.block == block {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Restricted,
            "a forked read can be awaited only in the block that forked it",
        ))
    }

    /// Runs the read, unless it has run before.
    pub(super) fn fix(
        &self,
        read: impl FnOnce(&Table, &Get) -> Result<Option<Item>>,
    ) -> Result<()> {
        if self.fixed.borrow().is_none() {
            let item = read(&self.engine_table, &self.get)?;
            *self.fixed.borrow_mut() = Some(item);
        }
        Ok(())
    }

    pub(super) fn value(&self) -> Result<Option<V>> {
        let item = self.fixed.borrow().clone().flatten();
        item.map(|item| self.table.value_of(&self.engine_table, item)).transpose()
    }
}

/// A batch of reads that are announced first and then run together. See
/// [`crate::Database::batch_read`].
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let names: OrderedTable<u32, String> = OrderedTable::named(&database, "names")?;
/// let ages: OrderedTable<u32, u8> = OrderedTable::named(&database, "ages")?;
/// names.write(&1, &"Alice".into())?;
/// ages.write(&1, &31)?;
/// let person = database.batch_read(|batch| {
///     let (name, age) = (batch.fork_read(&names, &1)?, batch.fork_read(&ages, &1)?);
///     // The first await reads both.
///     Ok((batch.await_read(&name)?, batch.await_read(&age)?))
/// })?;
/// assert_eq!(person, ("Alice".to_owned(), 31));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Batch {
    engine: Engine,
    database: String,
    block: u64,
    /// The announced reads with their positions.
    pending: RefCell<Vec<(usize, Arc<Table>, Get)>>,
    /// The results by position.
    read: RefCell<Vec<Option<Option<Item>>>>,
    rounds: Cell<u64>,
    failed: RefCell<Option<Error>>,
}

impl Batch {
    pub(crate) fn new(engine: &Engine, database: &str) -> Self {
        Self {
            engine: engine.clone(),
            database: database.to_owned(),
            block: BLOCKS.fetch_add(1, Ordering::Relaxed),
            pending: RefCell::default(),
            read: RefCell::default(),
            rounds: Cell::new(0),
            failed: RefCell::default(),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }

    /// Announces a read of any table of the database.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the table belongs to another database.
    pub fn fork_read<K: OrderedKey, V: Record>(
        &self,
        table: &OrderedTable<K, V>,
        key: &K,
    ) -> Result<ForkedRead<K, V>> {
        check_database(&table.handle().name.namespace, &self.database)?;
        let mut read = self.read.borrow_mut();
        let forked = ForkedRead::new(table, key, self.block, read.len())?;
        self.pending.borrow_mut().push((
            forked.place,
            Arc::clone(&forked.engine_table),
            forked.get.clone(),
        ));
        read.push(None);
        Ok(forked)
    }

    /// Returns the result of a forked read. The first await does every read announced until then.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is nothing. The batch fails, whatever the body makes of
    ///   this error.
    /// * [`ErrorKind::Restricted`]: the read was forked in another block.
    pub fn await_read<K: OrderedKey, V: Record>(&self, read: &ForkedRead<K, V>) -> Result<V> {
        found(self.try_await_read(read)?, &self.failed)
    }

    /// Works as [`Batch::await_read`]; returns `None` for an absent entry, and the batch goes on.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the read was forked in another block.
    pub fn try_await_read<K: OrderedKey, V: Record>(
        &self,
        read: &ForkedRead<K, V>,
    ) -> Result<Option<V>> {
        read.check_block(self.block)?;
        read.fix(|_, _| {
            self.flush()?;
            let found = self.read.borrow_mut().get_mut(read.place).and_then(Option::take);
            Ok(found.flatten())
        })?;
        read.value()
    }

    /// Returns the number of round trips to the store.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds.get()
    }

    fn flush(&self) -> Result<()> {
        let pending = self.pending.take();
        if pending.is_empty() {
            return Ok(());
        }
        self.rounds.set(self.rounds.get() + 1);
        let (places, gets): (Vec<usize>, Vec<(Arc<Table>, Get)>) =
            pending.into_iter().map(|(place, table, get)| (place, (table, get))).unzip();
        check_outside(&self.engine)?;
        let got = self.engine.get_many(&gets)?;
        let mut read = self.read.borrow_mut();
        for (place, got) in places.into_iter().zip(got) {
            if let Some(slot) = read.get_mut(place) {
                *slot = Some(got.item);
            }
        }
        Ok(())
    }
}
