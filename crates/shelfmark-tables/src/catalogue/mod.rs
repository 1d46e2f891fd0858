//! The catalogue: which tables there are, under which ids, and how they are found.
//!
//! One record per table. It is read when a table is first used, so that ten thousand tables cost
//! nothing at start. Ids are never used twice; a dropped table's ids wait in the catalogue until
//! their keys are gone.
//!
//! Invariant: a write is planned with a [`Table`] that is current while the write is queued; a
//! change of schema waits for the writes planned before it.

mod batch;
mod change;
mod change_lock;
mod copies;
mod following;
mod keyspace;
mod mend;
mod namespace;
mod owner;
mod stored;
mod table;

pub use batch::{CatalogueChange, SchemaChange};
pub use change::DroppedId;
pub use copies::Reconciled;
pub use namespace::Namespace;
pub use owner::{BACKUPS_NAMESPACE, Owner};
pub use stored::{StoredKey, blank_table, stored_key, stored_table};
pub(crate) use table::Shared;
pub use table::index_names;
pub use table::{Index, Table};

use self::following::Following;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_keycode::{Direction, put_text};
use shelfmark_model::{IndexState, TableName};
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Direction as Way, KeyRange, ScanLimits, Store, Write};

use crate::error::{Error, ErrorKind, Result};
use shelfmark_records::catalogue::keys::{
    FORMAT, catalogue_key, copy_key, format_record, migration_key, section, table_key,
    take_table_name,
};
use shelfmark_records::catalogue::{MigrationMark, TableRecord};

/// The number of times a table is loaded that another server is changing, before the caller is told.
const LOADS_MAX: usize = 250;
/// The time between two of them.
const LOAD_AGAIN: Duration = Duration::from_millis(20);

/// The tables of one store.
pub struct Catalogue {
    store: Arc<dyn Store>,
    tables: RwLock<HashMap<TableName, Arc<Table>>>,
    /// Held while a schema changes: changes happen one after the other.
    changing: Mutex<()>,
    /// The watchers that are told of changes of tables.
    watchers: Mutex<Vec<(Owner, Watcher)>>,
    /// Held over a whole change where other servers share the store.
    exclusive: Mutex<()>,
    /// Set where other servers share the store.
    following: Option<Following>,
}

/// A watcher that is told of tables created, changed or dropped; returns false to be told no more.
pub(crate) type Watcher = Arc<dyn Fn(&TableName, TableEvent) -> bool + Send + Sync>;

/// An event that a watcher of tables is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableEvent {
    /// It is about to be created: what is left of an earlier table of its name can be cleared away
    /// before anybody can use the new one. The creation may still fail.
    Creating,
    /// It was created, changed or dropped.
    Changed,
}

impl Catalogue {
    /// Opens the catalogue of a store; a new store gets its format record.
    pub(crate) fn open(store: Arc<dyn Store>) -> Result<Self> {
        let is_shared = store.peers().is_some();
        let catalogue = Self {
            store,
            following: is_shared.then(Following::default),
            tables: RwLock::new(HashMap::new()),
            changing: Mutex::new(()),
            exclusive: Mutex::new(()),
            watchers: Mutex::default(),
        };
        catalogue.check_format()?;
        catalogue.follow()?;
        Ok(catalogue)
    }

    /// Returns the current form of a table.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * [`crate::ErrorKind::Corrupt`]: its record cannot be read. Others are not concerned.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        self.check_followed()?;
        if let Some(table) = self.cached(name) {
            return Ok(table);
        }
        for _ in 0..LOADS_MAX {
            // Loading under the lock of schema changes: the record cannot change before it is cached.
            let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
            match self.load(name) {
                // Another server is changing it.
                Err(error) if error.kind() == ErrorKind::Busy => {
                    drop(changing);
                    ThreadSleeper.sleep(LOAD_AGAIN);
                }
                loaded => return loaded,
            }
        }
        self.load(name)
    }

    /// Returns the form that has taken over from a retired one; `None` if `table` is not retired.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: the table was dropped, even if there is another of its name.
    pub fn current(&self, table: &Table) -> Result<Option<Arc<Table>>> {
        self.check_followed()?;
        if !table.is_retired() {
            return Ok(None);
        }
        let name = &table.schema.name;
        let current = self.table(name)?;
        if current.origin == table.origin {
            return Ok(Some(current));
        }
        Err(Error::new(ErrorKind::NotFound, format!("table {name} was dropped")))
    }

    fn load(&self, name: &TableName) -> Result<Arc<Table>> {
        if let Some(table) = self.cached(name) {
            return Ok(table);
        }
        let record = copies::get(&*self.store.snapshot()?, &table_key(name), TableRecord::decode);
        let record = record
            .map_err(|error| in_table(name, error))?
            .ok_or_else(|| Error::new(ErrorKind::NotFound, format!("there is no table {name}")))?;
        let table = Arc::new(Table::of(record));
        self.hold_if_held_up(&table)?;
        self.cache(Arc::clone(&table));
        Ok(table)
    }

    fn cached(&self, name: &TableName) -> Option<Arc<Table>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Returns the tables that were used since the store was opened.
    pub fn loaded(&self) -> Vec<Arc<Table>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn cache(&self, table: Arc<Table>) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.insert(table.schema.name.clone(), table);
    }

    fn forget(&self, name: &TableName) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn forget_all(&self) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the names of the tables of a namespace (or of all), by name, after `after`.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn names(
        &self,
        namespace: Option<&str>,
        after: Option<&TableName>,
        limit: usize,
    ) -> Result<Vec<TableName>> {
        self.names_of(Owner::Engine, namespace, after, limit)
    }

    /// Returns names as [`Catalogue::names`] does, without the tables that `owner` may not use. A
    /// table whose record cannot be read is among them: using it says so.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn names_of(
        &self,
        owner: Owner,
        namespace: Option<&str>,
        after: Option<&TableName>,
        limit: usize,
    ) -> Result<Vec<TableName>> {
        let is_shown = |value: &Bytes| {
            owner == Owner::Engine
                || TableRecord::decode(value)
                    .map_or(true, |own| owner.may_change(Owner::of_table(&own.schema)))
        };
        let mut prefix = catalogue_key(section::TABLES);
        if let Some(namespace) = namespace {
            put_text(&mut prefix, Direction::Ascending, namespace);
        }
        let mut range = KeyRange::prefix(prefix);
        if let Some(after) = after {
            range = range.after(&table_key(after), Way::Ascending);
        }
        let snapshot = self.store.snapshot()?;
        let mut names = Vec::new();
        let mut rest = Some(range);
        while let Some(range) = rest.take().filter(|_| names.len() < limit) {
            let limits = ScanLimits {
                rows_max: (limit - names.len()).min(1024),
                keys_only: owner == Owner::Engine,
                ..ScanLimits::default()
            };
            let page = copies::scan(&*snapshot, &range, limits)?;
            for row in page.rows.iter().filter(|row| is_shown(&row.value)) {
                names.push(take_table_name(row.key.get(2..).unwrap_or_default())?);
            }
            rest = page.next;
        }
        Ok(names)
    }

    /// Returns the tables of items that have an index which is being built, or items that lack
    /// their due times.
    ///
    /// Cost: reads the record of every table, and keeps none.
    pub(crate) fn unfinished(&self) -> Result<Vec<TableName>> {
        let snapshot = self.store.snapshot()?;
        let mut names = Vec::new();
        let mut rest = Some(KeyRange::prefix(catalogue_key(section::TABLES)));
        while let Some(range) = rest.take() {
            let page = copies::scan(&*snapshot, &range, ScanLimits::default())?;
            for row in &page.rows {
                // One that cannot be read says so when it is used.
                let Ok(TableRecord { schema, .. }) = TableRecord::decode(&row.value) else {
                    continue;
                };
                let builds = schema.indexes.iter().any(|own| own.state == IndexState::Building);
                // The indexes of a dormant table are built once it has all its rows.
                if !schema.options.dormant && (builds || schema.options.ttl_pass.is_some()) {
                    names.push(schema.name);
                }
            }
            rest = page.next;
        }
        Ok(names)
    }

    fn check_format(&self) -> Result<()> {
        let (key, value) = format_record();
        let snapshot = self.store.snapshot()?;
        if let Some(mark) = snapshot.get(&migration_key())? {
            let from = MigrationMark::decode(&mark)?.from;
            return Err(Error::invalid(format!(
                "the store is the unfinished copy of {from}; `shelfmark migrate` goes on when it is called \
                 again, a restore is made again in an empty place"
            )));
        }
        let read = |bytes: &Bytes| {
            let bytes = <[u8; 8]>::try_from(&bytes[..]);
            bytes
                .map(u64::from_be_bytes)
                .map_err(|_| Error::corrupt("the format record is damaged"))
        };
        let found = copies::get(&*snapshot, &key, read)?;
        let copy = snapshot.get(&copy_key(&key)).ok().flatten();
        let newest = found.max(copy.as_ref().and_then(|bytes| read(bytes).ok()));
        match newest {
            Some(format) if format > FORMAT => Err(Error::invalid(format!(
                "the store has format {format} and this build reads up to {FORMAT}; use a newer build"
            ))),
            Some(_) if found == Some(FORMAT) => Ok(()),
            // The catalogue of a store of before has no copy yet, or its own side was lost. What of
            // it cannot be read is salvaged, not refused.
            Some(_) => match self.reconcile() {
                Err(error) if error.kind() == ErrorKind::Corrupt => Ok(()),
                done => done.map(drop),
            },
            None => {
                let writes = copies::with_copies(vec![Write::Put { key, value }]);
                self.store.commit(Commit::of(writes))?;
                Ok(())
            }
        }
    }
}

/// Says which table an error of the catalogue is about.
fn in_table(name: &TableName, error: Error) -> Error {
    match error.kind() {
        ErrorKind::Corrupt => Error::corrupt(format!("table {name} cannot be read: {error}")),
        _ => error,
    }
}
