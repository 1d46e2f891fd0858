//! The registry of databases and environments, and of their assignments.
//!
//! What it is not: a security boundary against code in this process. It keeps programs apart that
//! share one store, as Unison Cloud does; the faces have their own users and rights.
//!
//! Invariant: a grant in memory is allowed exactly while its assignment is in the table, as far as
//! this process has changed it. Other processes' changes are seen when a database is opened.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use shelfmark_engine::{
    CatalogueChange, Engine, ErrorKind as EngineKind, Get, Owner, Query, Scan, Table, Write,
};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, Placement, TableName, TableSchema, Value};

use super::naming::{DEFAULT, OURS, check_database, check_environment};
use super::{Database, Environment, Grant};
use crate::error::{Error, ErrorKind, Result};

/// The databases and environments of one store. Cheap to clone; all clones are the same.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// registry.create_database("posts")?;
/// registry.assign("posts", "default")?;
/// let posts = &registry.databases()?[1];
/// assert_eq!((posts.name.as_str(), posts.environments.as_slice()), ("posts", &["default".to_owned()][..]));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    environments: Arc<Table>,
    databases: Arc<Table>,
    /// Assignments; partition: the environment; sort key: the database.
    assignments: Arc<Table>,
    grants: Mutex<HashMap<(String, String), Arc<Grant>>>,
}

/// A database and the environments that may touch it.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// registry.create_database("archive")?;
/// let databases = registry.databases()?;
/// assert_eq!(databases[0].name, "archive");
/// assert!(databases[0].environments.is_empty(), "nobody was given it yet");
/// assert_eq!(databases[1].environments, ["default"]);
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseInfo {
    /// Its name.
    pub name: String,
    /// Names of the environments, in order.
    pub environments: Vec<String>,
}

impl Registry {
    /// Opens the registry of a store; a new store gets the environment and the database `default`,
    /// assigned to each other.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn open(engine: &Engine) -> Result<Self> {
        let engine = &engine.of_owner(Owner::Typed);
        let inner = Inner {
            environments: open_table(engine, "environments", "name", None)?,
            databases: open_table(engine, "databases", "name", None)?,
            assignments: open_table(engine, "assignments", "environment", Some("database"))?,
            grants: Mutex::default(),
            engine: engine.clone(),
        };
        let registry = Self { inner: Arc::new(inner) };
        if registry.environments()?.is_empty() {
            registry.create_environment(DEFAULT)?;
            // Another face may have the name: its tables are then refused, and nothing else.
            match registry.create_database(DEFAULT) {
                Err(error) if error.kind() == ErrorKind::Invalid => {
                    registry.put_name(&registry.inner.databases, DEFAULT)?;
                }
                created => created?,
            }
            registry.assign(DEFAULT, DEFAULT)?;
        }
        Ok(registry)
    }

    /// Returns the engine underneath.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Returns true if there is a database of this name.
    pub(super) fn has_database(&self, name: &str) -> Result<bool> {
        self.has(&self.inner.databases, Key::partition(name))
    }

    /// Returns the environment of this name, creating it if it is not there.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: not a name (1 to 63 characters, a letter first, then letters,
    ///   digits and hyphens).
    pub fn environment(&self, name: &str) -> Result<Environment> {
        self.create_environment(name)?;
        Ok(Environment::new(self.clone(), name))
    }

    /// Returns the names of the environments, in order.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn environments(&self) -> Result<Vec<String>> {
        self.names(&self.inner.environments, "name")
    }

    fn create_environment(&self, name: &str) -> Result<()> {
        check_environment(name)?;
        self.put_name(&self.inner.environments, name)
    }

    /// Removes an environment and its assignments. Its handles are refused from now on; the
    /// databases stay.
    ///
    /// # Errors
    ///
    /// * Those of the store. Call again: what is gone stays gone.
    pub fn delete_environment(&self, name: &str) -> Result<()> {
        for database in self.assigned_to(name)? {
            self.unassign(&database, name)?;
        }
        let key = Key::partition(name);
        self.inner.engine.write(Write::delete(&self.inner.environments, key))?;
        Ok(())
    }

    /// Creates a database of this name if it is not there. No environment may touch it before it
    /// is assigned.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: not a name for a database, or another face has the name.
    pub fn create_database(&self, name: &str) -> Result<()> {
        check_database(name)?;
        if self.has(&self.inner.databases, Key::partition(name))? {
            return Ok(());
        }
        // The name first: one that another face has is in no list.
        let create =
            CatalogueChange::CreateNamespace { name: name.to_owned(), attachment: Bytes::new() };
        match self.inner.engine.change_catalogue(vec![create]) {
            Err(error) if error.kind() == EngineKind::AlreadyExists => {}
            created => created?,
        }
        self.put_name(&self.inner.databases, name)
    }

    /// Returns every database with the environments that may touch it, in order.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn databases(&self) -> Result<Vec<DatabaseInfo>> {
        let mut databases: Vec<DatabaseInfo> = self
            .names(&self.inner.databases, "name")?
            .into_iter()
            .map(|name| DatabaseInfo { name, environments: Vec::new() })
            .collect();
        for environment in self.environments()? {
            for name in self.assigned_to(&environment)? {
                if let Some(found) = databases.iter_mut().find(|one| one.name == name) {
                    found.environments.push(environment.clone());
                }
            }
        }
        Ok(databases)
    }

    /// Assigns a database to an environment, which may then use it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such database or environment. Create it.
    pub fn assign(&self, database: &str, environment: &str) -> Result<()> {
        for (table, name) in
            [(&self.inner.databases, database), (&self.inner.environments, environment)]
        {
            if !self.has(table, Key::partition(name))? {
                let what = &table.schema.name.name;
                return Err(Error::new(ErrorKind::NotFound, format!("{what}: there is no {name}")));
            }
        }
        let item = Item::new().with("environment", environment).with("database", database);
        self.inner.engine.write(Write::put(&self.inner.assignments, item))?;
        self.set_grant(environment, database, true);
        Ok(())
    }

    /// Revokes the assignment of a database to an environment. Handles of this process are refused
    /// at once, others when they open the database again.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn unassign(&self, database: &str, environment: &str) -> Result<()> {
        let key = Key::pair(environment, database);
        self.inner.engine.write(Write::delete(&self.inner.assignments, key))?;
        self.set_grant(environment, database, false);
        Ok(())
    }

    /// Drops a database with all its tables and blobs. Instant; the space comes back in the
    /// background.
    ///
    /// # Errors
    ///
    /// * Those of the store. Call again: what is gone stays gone.
    pub fn delete_database(&self, name: &str) -> Result<()> {
        check_database(name)?;
        for environment in self.environments()? {
            self.unassign(name, &environment)?;
        }
        for table in self.inner.engine.table_names(Some(name), None, usize::MAX)? {
            match self.inner.engine.drop_table(&table) {
                Ok(()) => {}
                Err(error) if error.kind() == EngineKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        let key = Key::partition(name);
        self.inner.engine.write(Write::delete(&self.inner.databases, key))?;
        // One that was created before namespaces had owners, or whose name is another face's, has none.
        let drop = CatalogueChange::DropNamespace { name: name.to_owned() };
        match self.inner.engine.change_catalogue(vec![drop]) {
            Err(error) if matches!(error.kind(), EngineKind::NotFound | EngineKind::Invalid) => {
                Ok(())
            }
            dropped => Ok(dropped?),
        }
    }

    /// Opens a database from an environment; an unassigned one is refused.
    pub(super) fn open_database(&self, name: &str, environment: &str) -> Result<Database> {
        let allowed = self.has(&self.inner.assignments, Key::pair(environment, name))?;
        let grant = self.set_grant(environment, name, allowed);
        grant.check()?;
        Ok(Database { engine: self.inner.engine.clone(), grant })
    }

    fn set_grant(&self, environment: &str, database: &str, allowed: bool) -> Arc<Grant> {
        let mut grants = self.inner.grants.lock().unwrap_or_else(PoisonError::into_inner);
        let grant = grants
            .entry((environment.to_owned(), database.to_owned()))
            .or_insert_with(|| Arc::new(Grant::new(environment, database, allowed)));
        grant.set(allowed);
        Arc::clone(grant)
    }

    fn put_name(&self, table: &Arc<Table>, name: &str) -> Result<()> {
        if !self.has(table, Key::partition(name))? {
            self.inner.engine.write(Write::put(table, Item::new().with("name", name)))?;
        }
        Ok(())
    }

    fn has(&self, table: &Arc<Table>, key: Key) -> Result<bool> {
        Ok(self.inner.engine.get(table, &Get::new(key))?.item.is_some())
    }

    fn names(&self, table: &Arc<Table>, column: &str) -> Result<Vec<String>> {
        let page = self.inner.engine.scan(table, &Scan::default())?;
        Ok(page.items.into_iter().filter_map(|item| text_of(item, column)).collect())
    }

    fn assigned_to(&self, environment: &str) -> Result<Vec<String>> {
        let query = Query::partition(vec![environment.into()]);
        let page = self.inner.engine.query(&self.inner.assignments, &query)?;
        Ok(page.items.into_iter().filter_map(|item| text_of(item, "database")).collect())
    }
}

fn text_of(mut item: Item, column: &str) -> Option<String> {
    match item.remove(column) {
        Some(Value::Text(text)) => Some(text.into()),
        _ => None,
    }
}

fn open_table(
    engine: &Engine,
    name: &str,
    partition: &str,
    sort: Option<&str>,
) -> Result<Arc<Table>> {
    let name = TableName::new(OURS, name);
    let mut schema = TableSchema::new(name.clone(), KeyColumn::new(partition, KeyType::Text));
    schema.placement = Placement::Ordered;
    if let Some(sort) = sort {
        schema = schema.with_sort(sort, KeyType::Text);
    }
    match engine.table(&name) {
        Ok(table) => Ok(table),
        Err(error) if error.kind() == EngineKind::NotFound => match engine.create_table(schema) {
            Ok(table) => Ok(table),
            Err(error) if error.kind() == EngineKind::AlreadyExists => Ok(engine.table(&name)?),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}
