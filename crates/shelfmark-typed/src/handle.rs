//! A table of the engine as the typed layers hold it: found by name, checked, and kept current.

use std::sync::{Arc, PoisonError, RwLock};

use shelfmark_engine::{Engine, ErrorKind as EngineKind, FieldKind, Table, declare_fields};
use shelfmark_model::limits::SHARD_BYTES_MAX_DEFAULT;
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
/// others changes nothing, but that a table of an earlier build, which never split a shard by its
/// bytes, gets `shard_bytes_max` when it is opened: what it holds is counted in the background.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSettings {
    /// Keep a change log with old and new images.
    pub change_log: bool,
    /// Split a shard above this many items, at least 1; `None`, the default, never splits by items.
    pub shard_items_max: Option<u64>,
    /// Split a shard above this many bytes of keys and records as they are stored, at least 1;
    /// `None` never splits by bytes. By default [`SHARD_BYTES_MAX_DEFAULT`]: partitions grow by
    /// themselves. A shard of one item is not split, however large the item is.
    pub shard_bytes_max: Option<u64>,
}

impl Default for TableSettings {
    fn default() -> Self {
        Self {
            change_log: false,
            shard_items_max: None,
            shard_bytes_max: Some(SHARD_BYTES_MAX_DEFAULT),
        }
    }
}

impl TableSettings {
    /// Returns the settings of internal tables, whose partitions nobody lists.
    pub(crate) fn unsplit() -> Self {
        Self { shard_bytes_max: None, ..Self::default() }
    }

    /// Refuses limits that no shard can meet.
    fn check(&self) -> Result<()> {
        let zero = |name: &str, least: &str| {
            let text = format!("{name} is 0: a shard holds {least} at least; `None` never splits");
            Err(Error::new(ErrorKind::Invalid, text))
        };
        match (self.shard_items_max, self.shard_bytes_max) {
            (Some(0), _) => zero("shard_items_max", "an item"),
            (_, Some(0)) => zero("shard_bytes_max", "a byte"),
            _ => Ok(()),
        }
    }
}

/// The key of a table, and the fields that its values declare.
pub(crate) struct Shape {
    /// The word of the kind of table.
    pub(crate) face: &'static str,
    pub(crate) partition: KeyColumn,
    pub(crate) sort: Vec<SortColumn>,
    pub(crate) fields: Vec<(String, FieldKind)>,
}

/// The option that marks a table created not to be split by bytes; one of an earlier build lacks
/// it.
const NEVER_BY_BYTES: &str = "never_split_by_bytes";

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
        shape: Shape,
        settings: &TableSettings,
    ) -> Result<Arc<Self>> {
        check_name(name)?;
        Self::open_any(database, name, shape, settings)
    }

    /// Works as [`Handle::open`], for internal tables, whose names begin with `_`.
    pub(crate) fn open_any(
        database: &Database,
        name: &str,
        shape: Shape,
        settings: &TableSettings,
    ) -> Result<Arc<Self>> {
        let Shape { face, partition, sort, fields } = shape;
        database.grant().check()?;
        settings.check()?;
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
            shard_bytes_max: settings.shard_bytes_max,
            ..TableOptions::default()
        };
        schema.options.face.insert("typed".to_owned(), Value::text(face));
        if settings.shard_bytes_max.is_none() {
            schema.options.face.insert(NEVER_BY_BYTES.to_owned(), Value::Bool(true));
        }
        declare_fields(&mut schema.options.face, fields.iter().cloned());
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
        let table = split_by_bytes(&engine, table, settings)?;
        let table = with_fields(&engine, table, fields)?;
        let grant = Arc::clone(database.grant());
        Ok(Arc::new(Self { engine, name, grant, current: RwLock::new(table) }))
    }

    /// Returns the current schema of the table, if this environment may use it.
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

    /// Combines a record's attributes and key columns to an item.
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

    /// Splits an item into the record's attributes and its expiry, dropping the key columns.
    pub(crate) fn own(&self, table: &Table, item: Item) -> (Item, Option<u64>) {
        names::unescape(item, |name| table.schema.is_key(name))
    }
}

/// Enables splitting by bytes for a table of an earlier build, unless the settings say otherwise.
fn split_by_bytes(
    engine: &Engine,
    table: Arc<Table>,
    settings: &TableSettings,
) -> Result<Arc<Table>> {
    let is_decided = |options: &TableOptions| {
        options.shard_bytes_max.is_some() || options.face.contains_key(NEVER_BY_BYTES)
    };
    if settings.shard_bytes_max.is_none() || is_decided(&table.schema.options) {
        return Ok(table);
    }
    let altered = engine.alter_options(&table.schema.name, |options| {
        if !is_decided(options) {
            options.shard_bytes_max = settings.shard_bytes_max;
        }
    });
    match altered {
        // Another process was faster, or is about to do the same.
        Err(error) if error.kind() == EngineKind::Conflict => Ok(engine.table(&table.schema.name)?),
        altered => Ok(altered?),
    }
}

/// Adds to what the catalogue says of a table's values what this program's type declares.
fn with_fields(
    engine: &Engine,
    table: Arc<Table>,
    fields: Vec<(String, FieldKind)>,
) -> Result<Arc<Table>> {
    let mut known = table.schema.options.face.clone();
    if !declare_fields(&mut known, fields.iter().cloned()) {
        return Ok(table);
    }
    let name = &table.schema.name;
    let altered = engine.alter_options(name, |options| {
        declare_fields(&mut options.face, fields.iter().cloned());
    });
    match altered {
        // Another process was faster, or is about to do the same.
        Err(error) if error.kind() == EngineKind::Conflict => Ok(engine.table(name)?),
        altered => Ok(altered?),
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

/// Checks that an existing table has the keys that the type asks for.
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
