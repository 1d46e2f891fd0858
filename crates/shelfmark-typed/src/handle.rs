//! A table of the engine as the typed layers hold it: found by name, checked, and kept current.

use std::sync::{Arc, PoisonError, RwLock};

use shelfmark_engine::{Engine, ErrorKind as EngineKind, Table};
use shelfmark_model::{
    Item, KeyColumn, Placement, SortColumn, TableName, TableOptions, TableSchema, TtlSource, Value,
};

use crate::database::{Database, Grant};
use crate::error::{Error, ErrorKind, Result};
use crate::record::names;

/// The largest name of a table, in bytes.
///
/// Source: ours; a name is repeated in no key, but people must be able to read it.
const NAME_BYTES_MAX: usize = 255;

/// Settings of a typed table. They hold from when the table is created; opening it again with
/// others changes nothing.
///
/// # Examples
///
/// ```
/// # let registry = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/registry.rs"))?;
/// use shelfmark_typed::{OrderedTable, TableSettings};
///
/// # let database = registry.environment("default")?.database("default")?;
/// let settings = TableSettings { change_log: true, ..TableSettings::default() };
/// let table: OrderedTable<u32, u32> = OrderedTable::with(&database, "t", &settings)?;
/// table.write(&1, &10)?;
/// assert_eq!(table.changes(None, 10)?[0].new, Some(10));
/// # Ok::<(), shelfmark_typed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableSettings {
    /// Keep a change log with old and new images.
    pub change_log: bool,
    /// Split a shard above this many items, at least 1; `None` never splits.
    pub shard_items_max: Option<u64>,
}

/// A table that was opened in a database.
pub(crate) struct Handle {
    pub(crate) engine: Engine,
    pub(crate) name: TableName,
    grant: Arc<Grant>,
    current: RwLock<Arc<Table>>,
}

impl Handle {
    /// Opens the table, creating it if it is not there.
    pub(crate) fn open(
        database: &Database,
        name: &str,
        face: &str,
        partition: KeyColumn,
        sort: Vec<SortColumn>,
        settings: &TableSettings,
    ) -> Result<Arc<Self>> {
        check_name(name)?;
        Self::open_any(database, name, face, partition, sort, settings)
    }

    /// As [`Handle::open`], for tables of ours whose names begin with `_`.
    pub(crate) fn open_any(
        database: &Database,
        name: &str,
        face: &str,
        partition: KeyColumn,
        sort: Vec<SortColumn>,
        settings: &TableSettings,
    ) -> Result<Arc<Self>> {
        database.grant().check()?;
        if settings.shard_items_max == Some(0) {
            let text = "shard_items_max is 0: a shard holds an item at least; `None` never splits";
            return Err(Error::new(ErrorKind::Invalid, text));
        }
        let engine = database.engine().clone();
        let name = TableName::new(database.name(), name);
        let mut schema = TableSchema::new(name.clone(), partition);
        schema.sort = sort;
        schema.placement = Placement::Ordered;
        schema.options = TableOptions {
            exact_counts: true,
            ttl: Some(TtlSource::PerItem),
            change_log: settings.change_log,
            shard_items_max: settings.shard_items_max,
            ..TableOptions::default()
        };
        schema.options.face.insert("typed".to_owned(), Value::text(face));
        let table = match engine.table(&name) {
            Ok(table) => table,
            Err(error) if error.kind() == EngineKind::NotFound => {
                match engine.create_table(schema.clone()) {
                    Ok(table) => table,
                    // Somebody else was faster: theirs is as good.
                    Err(error) if error.kind() == EngineKind::AlreadyExists => {
                        engine.table(&name)?
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        };
        check_keys(&table.schema, &schema)?;
        let grant = Arc::clone(database.grant());
        Ok(Arc::new(Self { engine, name, grant, current: RwLock::new(table) }))
    }

    /// Returns the current form of the table, if it may be touched.
    pub(crate) fn table(&self) -> Result<Arc<Table>> {
        self.grant.check()?;
        let table = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        if !table.is_retired() {
            return Ok(table);
        }
        let table = self.engine.table(&self.name)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&table);
        Ok(table)
    }

    /// Puts a record's attributes and key columns together.
    pub(crate) fn item(
        &self,
        table: &Table,
        columns: impl IntoIterator<Item = (String, Value)>,
        own: Item,
        expires_at: Option<u64>,
    ) -> Item {
        let mut item = names::escape(own, |name| table.schema.is_key(name));
        for (name, value) in columns {
            item.set(name, value);
        }
        if let Some(second) = expires_at {
            item.set(names::EXPIRES, Value::Int(i64::try_from(second).unwrap_or(i64::MAX)));
        }
        item
    }

    /// Takes them apart.
    pub(crate) fn own(&self, table: &Table, item: Item) -> (Item, Option<u64>) {
        names::unescape(item, |name| table.schema.is_key(name))
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.starts_with('_') || name.len() > NAME_BYTES_MAX {
        return Err(Error::invalid(format!(
            "{name:?} cannot name a table: a name has 1 to {NAME_BYTES_MAX} bytes and begins with \
             no underscore"
        )));
    }
    Ok(())
}

/// A table that is there must have the keys that the type asks for.
fn check_keys(found: &TableSchema, wanted: &TableSchema) -> Result<()> {
    let face = |schema: &TableSchema| schema.options.face.get("typed").cloned();
    if face(found) != face(wanted) {
        return Err(Error::new(
            ErrorKind::Mismatch,
            format!("table {} is there and is of another kind", found.name),
        ));
    }
    if found.partition == wanted.partition && found.sort == wanted.sort {
        return Ok(());
    }
    let describe = |schema: &TableSchema| -> Vec<String> {
        let part = |column: &SortColumn| {
            format!("{} {:?} {:?}", column.name, column.key_type, column.direction)
        };
        schema.sort.iter().map(part).collect()
    };
    Err(Error::new(
        ErrorKind::Mismatch,
        format!(
            "table {} has the key {:?}, and the type asks for {:?}: open it with the type it was \
             created with, or copy it into a new table",
            found.name,
            describe(found),
            describe(wanted)
        ),
    ))
}
