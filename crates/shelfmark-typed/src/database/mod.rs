//! Databases: namespaces of tables, and the unit of access and of transactions.
//!
//! An environment is what a program runs in. It may touch the databases that were assigned to it
//! and no others; the assignment is many-to-many. Both are names in tables of the engine.

mod environment;
mod naming;
mod registry;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_engine::Engine;

use crate::error::{Error, ErrorKind, Result};
use crate::reach;
use crate::transaction::{Batch, Tx};

pub use environment::Environment;
pub use naming::DEFAULT;
pub use registry::{DatabaseInfo, Registry};

/// The right of one environment to one database, shared by every handle, so that revoking it
/// reaches all of them.
pub(crate) struct Grant {
    allowed: AtomicBool,
    environment: String,
    database: String,
}

impl Grant {
    fn new(environment: &str, database: &str, allowed: bool) -> Self {
        Self {
            allowed: AtomicBool::new(allowed),
            environment: environment.to_owned(),
            database: database.to_owned(),
        }
    }

    fn set(&self, allowed: bool) {
        self.allowed.store(allowed, Ordering::Release);
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.allowed.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Restricted,
            format!(
                "environment {} has no right to database {}: assign it first",
                self.environment, self.database
            ),
        ))
    }
}

/// A database, reached from one environment. Cheap to clone.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// let bank = registry.environment("default")?.create_database("bank")?;
/// let accounts: OrderedTable<String, i64> = OrderedTable::named(&bank, "accounts")?;
/// accounts.write(&"alice".into(), &10)?;
/// accounts.write(&"bob".into(), &0)?;
/// // Both or neither.
/// bank.transact(|tx| {
///     let accounts = tx.table(&accounts)?;
///     let alice = accounts.read(&"alice".into())?;
///     if alice < 4 {
///         return tx.abort("alice has too little");
///     }
///     accounts.write(&"alice".into(), &(alice - 4))?;
///     accounts.write(&"bob".into(), &(accounts.read(&"bob".into())? + 4))
/// })?;
/// assert_eq!(accounts.read(&"bob".into())?, 4);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone)]
pub struct Database {
    engine: Engine,
    grant: Arc<Grant>,
}

impl Database {
    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.grant.database
    }

    /// Returns the engine underneath.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn grant(&self) -> &Arc<Grant> {
        &self.grant
    }

    /// Runs `body` in a transaction over any tables of this database, and commits what it wrote,
    /// all or nothing.
    ///
    /// The body may run several times: when something that it read was written meanwhile, it starts
    /// over with a new view and the same random numbers ([`Tx::random`]). It must do nothing but
    /// read and write through `tx`. Returning an error aborts: nothing is written, and the error
    /// comes back.
    ///
    /// Isolation: serializable. Neither an entry nor a range that the body read, also an empty one,
    /// was written by others between the read and the commit.
    /// Durability: the writes are on disk once this returns `Ok`.
    ///
    /// # Errors
    ///
    /// * Whatever `body` returned.
    /// * [`ErrorKind::Restricted`]: the environment has no right to this database.
    /// * [`ErrorKind::Conflict`]: others were faster every time. Retry later.
    /// * [`ErrorKind::Undetermined`]: read what it would have written.
    pub fn transact<T>(&self, mut body: impl FnMut(&Tx<'_>) -> Result<T>) -> Result<T> {
        self.grant.check()?;
        reach::run(&self.engine, |inside| {
            let tx = Tx::new(inside, self.name());
            let value = body(&tx)?;
            tx.finish()?;
            Ok(value)
        })
    }

    /// Works as [`Database::transact`]; returns `None` for a body that ended itself by
    /// [`Tx::abort`].
    ///
    /// # Errors
    ///
    /// * As [`Database::transact`].
    pub fn transact_or_abort<T>(
        &self,
        body: impl FnMut(&Tx<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.transact(body) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == ErrorKind::Aborted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Runs `body` with a batch of reads: those forked before the first is awaited run together, as
    /// of one moment.
    ///
    /// # Errors
    ///
    /// * Whatever `body` returned, and [`ErrorKind::NotFound`] when an awaited read found nothing.
    pub fn batch_read<T>(&self, body: impl FnOnce(&Batch) -> Result<T>) -> Result<T> {
        self.grant.check()?;
        let batch = Batch::new(&self.engine, self.name());
        let value = body(&batch)?;
        batch.finish()?;
        Ok(value)
    }

    /// Returns the names of the tables, in order.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Restricted`], and those of the store.
    pub fn tables(&self) -> Result<Vec<String>> {
        self.grant.check()?;
        let names = self.engine.table_names(Some(self.name()), None, usize::MAX)?;
        Ok(names.into_iter().map(|name| name.name).filter(|name| !name.starts_with('_')).collect())
    }

    /// Drops a table with all that is in it. Instant; the space comes back in the background.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such table.
    pub fn drop_table(&self, name: &str) -> Result<()> {
        self.grant.check()?;
        Ok(self.engine.drop_table(&shelfmark_model::TableName::new(self.name(), name))?)
    }
}
