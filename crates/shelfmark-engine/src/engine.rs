//! The engine over one store: who uses it, and the calls that change the catalogue.
//!
//! What it is not: the calls that read and write rows; those are in `calls`.

use std::sync::Arc;

use shelfmark_model::{IndexSchema, TableName, TableOptions, TableSchema, TtlSource};
use shelfmark_store::budget::Room;
use shelfmark_store::{SnapshotId, Store};
use shelfmark_tables::catalogue::{CatalogueChange, Namespace, Owner, Table, TableEvent};
use shelfmark_tables::shared::{AttributesText, ColumnChecks, ItemChecks, Share};
use shelfmark_tables::{AccessReport, Environment, Error, Observer, Result, items, rows};

use crate::inner::Inner;

/// Tables over one store. Cheap to clone; all clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    pub(crate) observer: Option<Observer>,
    /// The room that calls with conditions and answers draw from, if somebody counts.
    pub(crate) room: Option<Arc<Room>>,
    /// The owner that uses it.
    pub(crate) owner: Owner,
    /// The grant that tables of other faces give it, unless a table says otherwise of itself.
    pub(crate) share: Share,
    /// The form in which attributes are written as text, for faces that show them so.
    pub(crate) attributes_text: Option<Arc<dyn AttributesText>>,
    /// Knows what columns of tables of cells take, where that is less than the engine's types do.
    pub(crate) column_checks: Option<Arc<dyn ColumnChecks>>,
    /// Knows what tables of items take, where that is less than the engine does.
    pub(crate) item_checks: Option<Arc<dyn ItemChecks>>,
}

impl Engine {
    /// Opens the engine over a store; a new store gets its catalogue. A store has one engine at a
    /// time, unless it tells of its [`shelfmark_store::Peers`]: then each engine follows what the
    /// others change, in a thread of its own.
    ///
    /// Cost: one read; tables are read when they are first used.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the store has a newer format. Use a newer build.
    /// * Those of the store.
    pub fn open(store: Arc<dyn Store>, environment: Environment) -> Result<Self> {
        let inner = Arc::new(Inner::open(store, environment)?);
        Ok(Self {
            inner,
            observer: None,
            room: None,
            owner: Owner::Engine,
            share: Share::None,
            attributes_text: None,
            column_checks: None,
            item_checks: None,
        })
    }

    /// Has `follower` told each time changes of the catalogue by other servers on the same store
    /// were taken over. Never where a store has one server.
    pub fn on_changes_of_others(&self, follower: impl Fn() + Send + Sync + 'static) {
        self.inner.catalogue.add_follower(Arc::new(follower));
    }

    /// Returns the store underneath, for its statistics and its end.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Returns the id of the state that the store shows now: another one after every commit, whoever
    /// made it, and on a store with several servers perhaps without any.
    ///
    /// Cost: that of a snapshot.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Closed`]: the store was closed. Open it again.
    pub fn state(&self) -> Result<SnapshotId> {
        Ok(self.inner.store.snapshot()?.id())
    }

    /// Returns the same engine, whose reads and writes are reported to `observer` as they happen,
    /// those of the layers above it included. For tracing, and for saying what a plan costs.
    #[must_use]
    pub fn observed(&self, observer: impl Fn(&AccessReport) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Arc::new(observer)), ..self.clone() }
    }

    /// Returns the same engine for one request: the rows that a conditional write looks at, and the items
    /// that come back from writes, take room before they are held.
    ///
    /// A call for which there is no room fails with [`crate::ErrorKind::Busy`], or with
    /// [`crate::ErrorKind::LimitExceeded`] where there never is.
    #[must_use]
    pub fn within(&self, room: Arc<Room>) -> Self {
        Self { room: Some(room), ..self.clone() }
    }

    /// Returns the same engine as a face uses it: it creates, changes, drops and lists what is
    /// `owner`'s alone, and tables of others are refused by name.
    #[must_use]
    pub fn of_owner(&self, owner: Owner) -> Self {
        Self { owner, ..self.clone() }
    }

    pub(crate) fn report(&self, report: &AccessReport) {
        if let Some(observer) = &self.observer {
            observer(report);
        }
    }

    /// Returns where this engine has its time and randomness from.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.inner.environment
    }

    /// Returns the current form of a table.
    ///
    /// Cost: a look into memory; the first time a point read.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table. Create it.
    /// * [`crate::ErrorKind::Invalid`]: it is another owner's ([`Engine::of_owner`]).
    /// * [`crate::ErrorKind::Corrupt`]: its record cannot be read. Others are not concerned.
    pub fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        let table = self.inner.catalogue.table(name)?;
        self.owner.check_table(&table.schema)?;
        Ok(table)
    }

    /// Returns names of tables in order: of one namespace or of all, those after `after`; of an owner's
    /// engine those that are its.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn table_names(
        &self,
        namespace: Option<&str>,
        after: Option<&TableName>,
        limit: usize,
    ) -> Result<Vec<TableName>> {
        self.inner.catalogue.names_of(self.owner, namespace, after, limit)
    }

    /// Creates a table with its indexes.
    ///
    /// Durability: the table is there after a crash once this returns.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::AlreadyExists`]: there is a table of this name.
    /// * [`crate::ErrorKind::Invalid`], [`crate::ErrorKind::LimitExceeded`]: fix the schema, or choose
    ///   another namespace: that one belongs to another [`Owner`].
    pub fn create_table(&self, schema: TableSchema) -> Result<Arc<Table>> {
        self.inner.catalogue.create(schema, self.owner)
    }

    /// Drops a table with its indexes. Instant; the space comes back in the background
    /// ([`Engine::purge`]). Its change stream ends, and can be read until it is too old.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    pub fn drop_table(&self, name: &TableName) -> Result<()> {
        let table = self.table(name)?;
        let Some(stream) = &table.schema.options.stream else {
            return self.inner.catalogue.drop_table(name, self.owner);
        };
        let mut changes = self.closings(name, stream);
        changes.push(CatalogueChange::DropTable(name.clone()));
        self.inner.catalogue.apply(changes, Owner::Engine).map(drop)
    }

    /// Makes changes of the catalogue, all or none: namespaces, tables, views.
    ///
    /// Durability: they are there after a crash once this returns. Indexes and views that are
    /// declared as being built are built by [`Engine::resume_indexes`]; those of a new table may be
    /// declared as public.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::AlreadyExists`], [`crate::ErrorKind::NotFound`]: a name is taken, or not
    ///   there.
    /// * [`crate::ErrorKind::Invalid`], [`crate::ErrorKind::LimitExceeded`]: fix the change.
    pub fn change_catalogue(&self, changes: Vec<CatalogueChange<'_>>) -> Result<()> {
        self.inner.catalogue.apply(changes, self.owner).map(drop)
    }

    /// Has `watcher` told the name of each table of `owner` that is created, changed or dropped, once
    /// that is done, and of each that is about to be created; by the thread that does it. It returns
    /// false to be told no more.
    pub fn watch_tables(
        &self,
        owner: Owner,
        watcher: impl Fn(&TableName, TableEvent) -> bool + Send + Sync + 'static,
    ) {
        self.inner.catalogue.watch(owner, Arc::new(watcher));
    }

    /// Returns a number that rises with every change of what is declared, and only then.
    ///
    /// Cost: a point read.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn catalogue_version(&self) -> Result<u64> {
        self.inner.catalogue.version()
    }

    /// Returns a namespace that was created.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is none of this name.
    pub fn namespace(&self, name: &str) -> Result<Namespace> {
        self.inner.catalogue.namespace(name)
    }

    /// Returns the namespaces that were created, by name: an owner's engine those that are its, the
    /// plain one also those that have an owner without having been created.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn namespaces(&self) -> Result<Vec<Namespace>> {
        self.inner.catalogue.namespaces(self.owner)
    }

    /// Changes a table's settings.
    ///
    /// Turning exact counts or a change log on or off concerns writes from now on, and so does
    /// expiry that each write gives. Expiry by an attribute concerns the items that are there as
    /// well: this returns once each of them has its due time, and an interrupted look through them is
    /// ended by [`Engine::resume_indexes`].
    ///
    /// How strict a table is about the keys of its indexes is part of what they hold, so it stays
    /// while there are any.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table.
    /// * [`crate::ErrorKind::Invalid`]: strictness would change under indexes. Drop them first.
    pub fn alter_options(
        &self,
        name: &TableName,
        change: impl FnOnce(&mut TableOptions),
    ) -> Result<Arc<Table>> {
        self.table(name)?;
        // No two passes over one table begin within a microsecond.
        let pass = self.inner.environment.clock.now_micros();
        let table = self.inner.catalogue.alter(name, |schema| {
            let (was_strict, ttl) = (schema.options.strict_index_keys, schema.options.ttl.clone());
            change(&mut schema.options);
            if ttl != schema.options.ttl {
                let by_attribute = matches!(schema.options.ttl, Some(TtlSource::Attribute(_)));
                schema.options.ttl_pass = by_attribute.then_some(pass);
            }
            if was_strict != schema.options.strict_index_keys && !schema.indexes.is_empty() {
                return Err(Error::invalid(format!(
                    "table {name} has indexes whose keys were held to its rules; drop them before \
                     changing `strict_index_keys`"
                )));
            }
            Ok(())
        })?;
        // Also one that failed before: the caller tries again.
        if table.schema.options.ttl_pass.is_none() {
            return Ok(table);
        }
        items::give_due_times(&self.inner, &table)
    }

    /// Adds an index to a table that may have rows, and returns once it is complete.
    ///
    /// Reads and writes go on meanwhile.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::AlreadyExists`]: an index of this name is there, or, for a unique one,
    ///   two items have one key; nothing is left of the index then.
    /// * Those of the store: the index stays as one that is being built, and an [`crate::Upkeep`] or
    ///   [`Engine::resume_indexes`] goes on with it. Drop it if it is not wanted any more.
    pub fn add_index(&self, name: &TableName, index: IndexSchema) -> Result<Arc<Table>> {
        self.table(name)?;
        rows::add(&self.inner, name, index)
    }

    /// Goes on building the indexes of a table, or giving its items due times, where a stop
    /// interrupted it; to be called once after opening, for tables that have such. Also builds indexes of cells, and views, that were declared
    /// as [`shelfmark_model::IndexState::Building`]; a view by its own name.
    ///
    /// # Errors
    ///
    /// * As [`Engine::add_index`].
    pub fn resume_indexes(&self, name: &TableName) -> Result<()> {
        rows::resume(&self.inner, name)
    }

    /// Goes on building as [`Engine::resume_indexes`] does, for all tables of items; an
    /// [`crate::Upkeep`] does it when it starts. An index that cannot be built, since two items
    /// have one key of a unique one, is removed.
    ///
    /// Cost: one read of the catalogue, besides the building.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later.
    pub fn resume_all_indexes(&self) -> Result<()> {
        rows::resume_all(&self.inner)
    }

    /// Drops an index.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such table or index.
    pub fn drop_index(&self, name: &TableName, index: &str) -> Result<Arc<Table>> {
        self.table(name)?;
        rows::remove(&self.inner, name, index)
    }

    pub(crate) fn now(&self) -> u64 {
        self.inner.now()
    }
}
