//! How a table is reached: directly, inside a transaction, or as of one moment.
//!
//! The tables are generic over this, so each operation is written and documented once. Writes exist
//! only where they can happen: a table at a [`Moment`] has none.

use std::sync::Arc;

use shelfmark_engine::{
    Engine, Get, Query, ResultPage, Scan, Table, Transaction, View, Write, Written,
};
use shelfmark_model::Item;

use crate::error::Result;

mod sealed {
    /// Keeps the ways to reach a table to those of this crate.
    #[expect(unnameable_types, reason = "sealed: nobody else implements it")]
    pub trait Sealed {}
}

/// A way to read a table. Implemented by [`Direct`], [`InTransaction`] and [`Moment`] only.
pub trait Reach: sealed::Sealed + Clone {
    #[doc(hidden)]
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>>;
    #[doc(hidden)]
    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage>;
    #[doc(hidden)]
    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage>;
}

/// A way to write a table. Implemented by [`Direct`] and [`InTransaction`] only.
pub trait WriteReach: Reach {
    #[doc(hidden)]
    fn write(&self, write: Write) -> Result<Written>;
    #[doc(hidden)]
    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>>;
    /// Runs a body that reads and writes one table at one moment.
    #[doc(hidden)]
    fn atomically<T>(
        &self,
        table: &Arc<Table>,
        body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T>;
}

/// Directly: each read sees what was committed last, each write is a commit of its own and durable
/// when it returns.
#[derive(Clone)]
pub struct Direct {
    pub(crate) engine: Engine,
}

/// Inside a transaction: reads see the transaction's own writes, and nothing is written before it
/// commits.
#[derive(Clone, Copy)]
pub struct InTransaction<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
}

/// As of one moment. Bounded in time and in bytes written meanwhile (60 s and 96 MiB unless the
/// store was opened with others); past that, reads answer [`crate::ErrorKind::TooOld`].
#[derive(Clone)]
pub struct Moment {
    pub(crate) view: Arc<View>,
}

impl sealed::Sealed for Direct {}
impl sealed::Sealed for InTransaction<'_> {}
impl sealed::Sealed for Moment {}

impl Reach for Direct {
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        Ok(self.engine.get(table, get)?.item)
    }

    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        Ok(self.engine.query(table, query)?)
    }

    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        Ok(self.engine.scan(table, scan)?)
    }
}

impl Reach for InTransaction<'_> {
    fn get(&self, table: &Table, get: &Get) -> Result<Option<Item>> {
        Ok(self.transaction.get(table, get)?.item)
    }

    fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        Ok(self.transaction.query(table, query)?)
    }

    fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        Ok(self.transaction.scan(table, scan)?)
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
        let table = Arc::clone(&write.table);
        let written = self.engine.write(write)?;
        settle(&self.engine, &table);
        Ok(written)
    }

    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        let table = writes.first().map(|write| Arc::clone(&write.table));
        let written = self.engine.write_all(writes)?;
        if let Some(table) = table {
            settle(&self.engine, &table);
        }
        Ok(written)
    }

    fn atomically<T>(
        &self,
        table: &Arc<Table>,
        body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let value = run(&self.engine, body)?;
        settle(&self.engine, table);
        Ok(value)
    }
}

impl WriteReach for InTransaction<'_> {
    fn write(&self, write: Write) -> Result<Written> {
        Ok(self.transaction.write(&write)?)
    }

    fn write_all(&self, writes: Vec<Write>) -> Result<Vec<Written>> {
        writes.into_iter().map(|write| self.write(write)).collect()
    }

    fn atomically<T>(
        &self,
        _: &Arc<Table>,
        mut body: impl FnMut(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        body(self.transaction)
    }
}

/// Splits the shards that a write made too large. The write is done and durable whatever comes of
/// it: what fails is kept (`Engine::split_failures`) and tried again by later writes and by the
/// upkeep thread.
pub(crate) fn settle(engine: &Engine, table: &Arc<Table>) {
    if table.schema.options.shard_items_max.is_some() {
        let _ = engine.split_due(table);
    }
}

/// Runs a body in a transaction of the engine. An error of the body comes back as it was.
pub(crate) fn run<T>(
    engine: &Engine,
    mut body: impl FnMut(&Transaction<'_>) -> Result<T>,
) -> Result<T> {
    let mut ended = None;
    let outcome = engine.transact(|transaction| {
        ended = None;
        body(transaction).map_err(|error| {
            let told = shelfmark_engine::Error::new(error.kind().to_engine(), error.to_string());
            ended = Some(error);
            told
        })
    });
    match (outcome, ended) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(own)) => Err(own),
        (Err(error), None) => Err(error.into()),
    }
}
