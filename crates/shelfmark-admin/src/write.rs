//! `put` and `delete`: one item, by plain JSON or by its key.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shelfmark_engine::{Engine, ErrorKind as EngineErrorKind, Owner, Table, Write};
use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};
use shelfmark_model::{Condition, Item, KeyType, Path, TableSchema, Value};

use crate::admin::Admin;
use crate::error::{Error, ErrorKind, Result};
use crate::named::{self, DEFAULT_NAMESPACE};
use crate::operation::Operation;
use crate::tables::is_internal;
use crate::values::item_from_json;

/// The namespace of the typed layer's registry.
const REGISTRY_NAMESPACE: &str = "shelfmark";

/// Asks for one item to be written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
    /// The item as plain JSON.
    pub item: Box<RawValue>,
    /// Fail if an item with this key is there already.
    #[serde(default)]
    pub if_absent: bool,
}

/// Asks for one item to be deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The table: `NAME` (a DynamoDB table) or `NAMESPACE.NAME`.
    pub table: String,
    /// Values of the key columns, partition key first, as people type them.
    pub key: Vec<String>,
    /// Fail if there is no item with this key.
    #[serde(default)]
    pub if_present: bool,
}

/// A write that is durable, as the server's durability has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteAnswer {}

impl Operation for Put {
    const NAME: &'static str = "put";
    type Answer = WriteAnswer;

    fn run(self, admin: &Admin) -> Result<WriteAnswer> {
        let table = writable(admin.engine(), &self.table)?;
        let schema = &table.schema;
        let key_type = |name: &str| -> Option<KeyType> {
            let partition = schema.partition.iter().map(|own| (&own.name, &own.key_type));
            let sort = schema.sort.iter().map(|own| (&own.name, &own.key_type));
            partition.chain(sort).find(|(own, _)| *own == name).map(|(_, found)| found.clone())
        };
        let item = item_from_json(self.item.get(), key_type)?;
        if schema.name.namespace == DEFAULT_NAMESPACE {
            check_key(schema, &item)?;
        }
        let write = Write::put(&table, item);
        let write = match self.if_absent {
            true => write.when(Condition::NotExists(first_key_column(&table))),
            false => write,
        };
        let why = "an item with this key is there already; leave --if-absent out to replace it";
        done(admin.engine(), write, why)
    }
}

impl Operation for Delete {
    const NAME: &'static str = "delete";
    type Answer = WriteAnswer;

    fn run(self, admin: &Admin) -> Result<WriteAnswer> {
        let table = writable(admin.engine(), &self.table)?;
        let write = Write::delete(&table, named::key(&table, &self.key)?);
        let write = match self.if_present {
            true => write.when(Condition::Exists(first_key_column(&table))),
            false => write,
        };
        done(admin.engine(), write, "there is no item with this key")
    }
}

fn writable(engine: &Engine, name: &str) -> Result<std::sync::Arc<Table>> {
    let table = named::table(engine, name)?;
    let name = &table.schema.name;
    if name.namespace == REGISTRY_NAMESPACE {
        return Err(Error::invalid(format!(
            "{name} is the store's own list of databases; what is written there by hand breaks it"
        )));
    }
    if is_internal(name) {
        return Err(Error::invalid(format!(
            "{name} is the store's own, for streams and backups; what is written there by hand breaks them"
        )));
    }
    if Owner::of_table(&table.schema) == Owner::Typed {
        return Err(Error::invalid(format!(
            "{name} is a typed table of a Rust program: it is read here, and written by the program, which \
             keeps indexes and split partitions with it"
        )));
    }
    Ok(table)
}

fn first_key_column(table: &Table) -> Path {
    let first = table.schema.partition.first().map(|own| own.name.clone());
    Path::attribute(first.unwrap_or_default())
}

fn done(engine: &Engine, write: Write, why_not: &str) -> Result<WriteAnswer> {
    match engine.write(write) {
        Ok(_) => Ok(WriteAnswer {}),
        Err(error) if error.kind() == EngineErrorKind::ConditionFailed => {
            Err(Error::new(ErrorKind::Conflict, why_not))
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses keys that a DynamoDB client could not read.
fn check_key(schema: &TableSchema, item: &Item) -> Result<()> {
    let partition =
        schema.partition.iter().map(|own| (&own.name, STRICT_PARTITION_COLUMN_BYTES_MAX));
    let sort = schema.sort.iter().map(|own| (&own.name, STRICT_SORT_COLUMN_BYTES_MAX));
    for (name, most) in partition.chain(sort) {
        let length = match item.get(name) {
            Some(Value::Text(text)) => text.len(),
            Some(Value::Bytes(bytes)) => bytes.len(),
            _ => continue,
        };
        if length == 0 || length > most {
            return Err(Error::invalid(format!(
                "{name} has {length} bytes; in a key of a DynamoDB table it has 1 to {most}"
            )));
        }
    }
    Ok(())
}
