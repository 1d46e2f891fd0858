//! Transactions over the tables of one database.

mod forked;

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::collections::{Cell as DurableCell, LinearLog};
use crate::entity::EntityTable;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::Handle;
use crate::key::OrderedKey;
use crate::ordered::OrderedTable;
use crate::reach::{InTransaction, Inside};
use crate::record::Record;

pub use forked::{Batch, ForkedRead};

/// Numbers transaction bodies, so that a read is awaited only in the body that forked it.
static BLOCKS: AtomicU64 = AtomicU64::new(0);

/// One run of a transaction's body. See [`crate::Database::transact`].
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{ErrorKind, OrderedTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let stock: OrderedTable<String, u32> = OrderedTable::named(&database, "stock")?;
/// stock.write(&"atlas".into(), &1)?;
/// let lend = || {
///     database.transact(|tx| {
///         let stock = tx.table(&stock)?;
///         match stock.read(&"atlas".into())? {
///             0 => tx.abort("the atlas is lent"),
///             left => stock.write(&"atlas".into(), &(left - 1)),
///         }
///     })
/// };
/// lend()?;
/// assert_eq!(lend().map_err(|error| error.kind()), Err(ErrorKind::Aborted));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub struct Tx<'a> {
    inside: &'a Inside<'a>,
    database: &'a str,
    block: u64,
    failed: RefCell<Option<Error>>,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(inside: &'a Inside<'a>, database: &'a str) -> Self {
        let block = BLOCKS.fetch_add(1, Ordering::Relaxed);
        Self { inside, database, block, failed: RefCell::default() }
    }

    /// Ends the body: fails it if a read that it awaited found nothing, however it handled that.
    pub(crate) fn finish(self) -> Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }

    fn reach(&self, handle: &Handle) -> Result<InTransaction<'a>> {
        check_database(&handle.name.namespace, self.database)?;
        Ok(InTransaction { inside: self.inside })
    }

    /// Returns an ordered table as this transaction sees and writes it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the table belongs to another database.
    pub fn table<K: OrderedKey, V: Record>(
        &self,
        table: &OrderedTable<K, V>,
    ) -> Result<OrderedTable<K, V, InTransaction<'a>>> {
        Ok(table.reached(self.reach(table.handle())?))
    }

    /// Returns an entity table as this transaction sees and writes it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the table belongs to another database.
    pub fn entities(&self, table: &EntityTable) -> Result<EntityTable<InTransaction<'a>>> {
        Ok(table.reached(self.reach(table.handle())?))
    }

    /// Returns a cell as this transaction sees and writes it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the cell belongs to another database.
    pub fn cell<T: Record + Clone>(
        &self,
        cell: &DurableCell<T>,
    ) -> Result<DurableCell<T, InTransaction<'a>>> {
        Ok(cell.reached(self.reach(cell.handle())?))
    }

    /// Returns a log as this transaction sees and writes it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the log belongs to another database.
    pub fn log<T: Record>(&self, log: &LinearLog<T>) -> Result<LinearLog<T, InTransaction<'a>>> {
        Ok(log.reached(self.reach(log.handle())?))
    }

    /// Ends the transaction: nothing is written, and the caller gets [`ErrorKind::Aborted`] with
    /// this message. Return what this returns.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Aborted`], always.
    pub fn abort<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::new(ErrorKind::Aborted, message))
    }

    /// Returns a random number: the same in every run of the body.
    #[must_use]
    pub fn random(&self) -> u64 {
        self.inside.transaction.random()
    }

    /// Returns the second since the Unix epoch at which this run began.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.inside.transaction.now()
    }

    /// Announces a read, to be awaited by [`Tx::await_read`].
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the table belongs to another database.
    pub fn fork_read<K: OrderedKey, V: Record>(
        &self,
        table: &OrderedTable<K, V>,
        key: &K,
    ) -> Result<ForkedRead<K, V>> {
        check_database(&table.handle().name.namespace, self.database)?;
        ForkedRead::new(table, key, self.block, 0)
    }

    /// Returns the result of a forked read: at its first await the newest value, this transaction's
    /// own writes included, and the same value ever after.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is nothing. The transaction fails, whatever the body makes
    ///   of this error.
    /// * [`ErrorKind::Restricted`]: the read was forked in another block.
    pub fn await_read<K: OrderedKey, V: Record>(&self, read: &ForkedRead<K, V>) -> Result<V> {
        found(self.try_await_read(read)?, &self.failed)
    }

    /// Works as [`Tx::await_read`]; returns `None` for an absent entry, and the transaction goes
    /// on.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`]: the read was forked in another block.
    pub fn try_await_read<K: OrderedKey, V: Record>(
        &self,
        read: &ForkedRead<K, V>,
    ) -> Result<Option<V>> {
        read.check_block(self.block)?;
        read.fix(|table, get| self.inside.get(table, get))?;
        read.value()
    }
}

fn check_database(found: &str, own: &str) -> Result<()> {
    if found == own {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Restricted,
        format!("a transaction over database {own} cannot reach a table of {found}"),
    ))
}

fn found<V>(value: Option<V>, failed: &RefCell<Option<Error>>) -> Result<V> {
    value.ok_or_else(|| {
        let error = Error::new(ErrorKind::NotFound, "an awaited read found nothing");
        *failed.borrow_mut() = Some(error.clone());
        error
    })
}
