//! Access modes of a table: directly, inside a transaction, or as of one moment.
//!
//! The tables are generic over this, so each operation is written and documented once. Writes exist
//! only where they can happen: a table at a [`Moment`] has none.

use std::cell::RefCell;
use std::sync::Arc;

use shelfmark_engine::{
    Change, Engine, Get, Query, ResultPage, Scan, ShardGrowth, Table, Transaction, View, Write,
    Written,
};
use shelfmark_model::{Item, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::running::{Running, check_outside};

mod sealed {
    /// Restricts the implementations of the access modes to this crate.
    #[expect(unnameable_types, reason = "sealed: nobody else implements it")]
    pub trait Sealed {}
}

/// A way to read a table. Implemented by [`Direct`], [`InTransaction`] and [`Moment`] only.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, Reach, Result};
///
/// # let database = registry.environment("default")?.database("default")?;
/// // Reads the same way outside of transactions, inside of one, and as of one moment.
/// fn age<R: Reach>(ages: &OrderedTable<u32, u8, R>) -> Result<u8> {
///     ages.read(&1)
/// }
/// let ages: OrderedTable<u32, u8> = OrderedTable::named(&database, "ages")?;
/// ages.write(&1, &31)?;
/// assert_eq!((age(&ages)?, age(&ages.snapshot()?)?), (31, 31));
/// assert_eq!(database.transact(|tx| age(&tx.table(&ages)?))?, 31);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub trait Reach: sealed::Sealed + Clone {
    #[doc(hidden)]
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>>;
    #[doc(hidden)]
    fn get_many(&self, gets: &[(Arc<Table>, Get)]) -> Result<Vec<Option<Item>>> {
        gets.iter().map(|(table, get)| self.get(table, get)).collect()
    }
    #[doc(hidden)]
    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage>;
    #[doc(hidden)]
    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage>;
}

/// A way to write a table. Implemented by [`Direct`] and [`InTransaction`] only.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, Result, WriteReach};
///
/// # let database = registry.environment("default")?.database("default")?;
/// fn set<R: WriteReach>(ages: &OrderedTable<u32, u8, R>, age: u8) -> Result<()> {
///     ages.write(&1, &age)
/// }
/// let ages: OrderedTable<u32, u8> = OrderedTable::named(&database, "ages")?;
/// set(&ages, 31)?;
/// database.transact(|tx| set(&tx.table(&ages)?, 32))?;
/// assert_eq!(ages.read(&1)?, 32);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
pub trait WriteReach: Reach {
    #[doc(hidden)]
    fn write(&self, write: Write) -> Result<Written>;
    #[doc(hidden)]
    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>>;
    /// Runs a body whose reads and writes happen at one moment.
    #[doc(hidden)]
    fn atomically<T>(&self, body: impl FnMut(&Inside<'_>) -> Result<T>) -> Result<T>;
}

/// Direct access: each read sees the latest commit, each write is a commit of its own and durable
/// when it returns.
///
/// Inside the body of a transaction on the same store, every call answers
/// [`crate::ErrorKind::Restricted`]: it would act outside of the transaction. Use the handle that
/// the transaction gives.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{Direct, OrderedTable};
///
/// # let database = registry.environment("default")?.database("default")?;
/// // What a table is reached by when nothing else is said.
/// let ages: OrderedTable<u32, u8, Direct> = OrderedTable::named(&database, "ages")?;
/// ages.write(&1, &31)?;
/// assert_eq!(ages.read(&1)?, 31);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone)]
pub struct Direct {
    pub(crate) engine: Engine,
}

/// Access inside a transaction: reads see the transaction's own writes, and nothing is written
/// before it commits.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{InTransaction, OrderedTable, Result};
///
/// # let database = registry.environment("default")?.database("default")?;
/// fn birthday(ages: &OrderedTable<u32, u8, InTransaction<'_>>) -> Result<()> {
///     let age = ages.read(&1)?;
///     ages.write(&1, &(age + 1))
/// }
/// let ages: OrderedTable<u32, u8> = OrderedTable::named(&database, "ages")?;
/// ages.write(&1, &31)?;
/// database.transact(|tx| birthday(&tx.table(&ages)?))?;
/// assert_eq!(ages.read(&1)?, 32);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct InTransaction<'a> {
    pub(crate) inside: &'a Inside<'a>,
}

/// Access as of one moment. Bounded in time and in bytes written meanwhile (60 s and 96 MiB unless
/// the store was opened with others); past that, reads answer [`crate::ErrorKind::TooOld`].
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::OrderedTable;
///
/// # let database = registry.environment("default")?.database("default")?;
/// let table: OrderedTable<u32, u32> = OrderedTable::named(&database, "t")?;
/// table.write(&1, &10)?;
/// let then = table.snapshot()?;
/// table.write(&1, &11)?;
/// assert_eq!((then.read(&1)?, table.read(&1)?), (10, 11));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone)]
pub struct Moment {
    pub(crate) view: Arc<View>,
}

impl sealed::Sealed for Direct {}
impl sealed::Sealed for InTransaction<'_> {}
impl sealed::Sealed for Moment {}

impl Reach for Direct {
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        Ok(self.outside()?.get(table, get)?.item)
    }

    fn get_many(&self, gets: &[(Arc<Table>, Get)]) -> Result<Vec<Option<Item>>> {
        Ok(self.outside()?.get_many(gets)?.into_iter().map(|got| got.item).collect())
    }

    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        Ok(self.outside()?.query(table, query)?)
    }

    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        Ok(self.outside()?.scan(table, scan)?)
    }
}

impl Direct {
    /// Returns the engine, unless this thread runs a transaction on it.
    pub(crate) fn outside(&self) -> Result<&Engine> {
        check_outside(&self.engine)?;
        Ok(&self.engine)
    }
}

impl Reach for InTransaction<'_> {
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        self.inside.get(table, get)
    }

    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        Ok(self.inside.transaction.query(table, query)?)
    }

    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        Ok(self.inside.transaction.scan(table, scan)?)
    }
}

impl Reach for Moment {
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        Ok(self.view.get(table, get)?.item)
    }

    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        Ok(self.view.query(table, query)?)
    }

    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        Ok(self.view.scan(table, scan)?)
    }
}

impl WriteReach for Direct {
    fn write(&self, write: Write) -> Result<Written> {
        let mut written = self.write_all(vec![write])?;
        written.pop().ok_or_else(|| Error::new(ErrorKind::Internal, "a write has no answer"))
    }

    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        let places: Vec<Option<Partitioned>> =
            writes.iter().map(Partitioned::of).collect::<Result<_>>()?;
        let written = self.outside()?.write_all(writes)?;
        let mut grown = Grown::default();
        for (place, written) in places.into_iter().zip(&written) {
            grown.note(place, written);
        }
        grown.settle(&self.engine);
        Ok(written)
    }

    fn atomically<T>(&self, body: impl FnMut(&Inside<'_>) -> Result<T>) -> Result<T> {
        run(&self.engine, body)
    }
}

impl WriteReach for InTransaction<'_> {
    fn write(&self, write: Write) -> Result<Written> {
        self.inside.write(&write)
    }

    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        writes.iter().map(|write| self.inside.write(write)).collect()
    }

    fn atomically<T>(&self, mut body: impl FnMut(&Inside<'_>) -> Result<T>) -> Result<T> {
        body(self.inside)
    }
}

/// One run of a transaction's body, and the shards that its writes enlarge. It stands in signatures
/// only; bodies are given a [`crate::Tx`].
#[doc(hidden)]
pub struct Inside<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
    grown: RefCell<Grown>,
}

impl Inside<'_> {
    pub(crate) fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        Ok(self.transaction.get(table, get)?.item)
    }

    pub(crate) fn write(&self, write: &Write) -> Result<Written> {
        let place = Partitioned::of(write)?;
        let written = self.transaction.write(write)?;
        self.grown.borrow_mut().note(place, &written);
        Ok(written)
    }

    /// Does a conditional write, and returns true if the condition held.
    pub(crate) fn write_if(&self, write: &Write) -> Result<bool> {
        match self.write(write) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::ConditionFailed => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The partition of a write to a table with shards.
struct Partitioned {
    table: Arc<Table>,
    partition: Vec<Value>,
}

impl Partitioned {
    /// Returns the partition of `write`; `None` if the table has no shards.
    fn of(write: &Write) -> Result<Option<Self>> {
        if !is_sharded(&write.table) {
            return Ok(None);
        }
        let partition = match &write.change {
            Change::Put(item) => write.table.partition_of(item)?,
            Change::Patch { key, .. } | Change::Delete(key) | Change::Check(key) => {
                key.partition.clone()
            }
        };
        Ok(Some(Self { table: Arc::clone(&write.table), partition }))
    }
}

/// The shards that a transaction has enlarged, by partition.
#[derive(Default)]
struct Grown {
    partitions: Vec<(Partitioned, Vec<ShardGrowth>)>,
}

impl Grown {
    fn note(&mut self, place: Option<Partitioned>, written: &Written) {
        let (Some(place), Some(growth)) = (place, written.grown_shard) else { return };
        match self.partitions.last_mut() {
            Some((last, shards))
                if last.table.id == place.table.id && last.partition == place.partition =>
            {
                shards.push(growth);
            }
            _ => self.partitions.push((place, vec![growth])),
        }
    }

    /// Splits the shards that durable writes made too large. The writes stand whatever comes of it:
    /// what fails is kept (`Engine::split_failures`) and tried again by later writes and by the
    /// upkeep thread.
    fn settle(self, engine: &Engine) {
        for (Partitioned { table, partition }, shards) in self.partitions {
            let _ = engine.split_after(&table, &partition, shards);
        }
    }
}

fn is_sharded(table: &Table) -> bool {
    let options = &table.schema.options;
    options.shard_items_max.is_some() || options.shard_bytes_max.is_some()
}

/// Runs a body in a transaction of the engine. An error of the body comes back as it was.
pub(crate) fn run<T>(engine: &Engine, mut body: impl FnMut(&Inside<'_>) -> Result<T>) -> Result<T> {
    check_outside(engine)?;
    let mut ended = None;
    let outcome = engine.transact(|transaction| {
        ended = None;
        let _running = Running::begin(engine);
        let inside = Inside { transaction, grown: RefCell::default() };
        let value = body(&inside).map_err(|error| {
            let told = shelfmark_engine::Error::new(error.kind().to_engine(), error.to_string());
            ended = Some(error);
            told
        })?;
        Ok((value, inside.grown.into_inner()))
    });
    match (outcome, ended) {
        (Ok((value, grown)), _) => {
            grown.settle(engine);
            Ok(value)
        }
        (Err(_), Some(own)) => Err(own),
        (Err(error), None) => Err(error.into()),
    }
}
