//! Tables of another face as tables of CQL: the keyspace `dynamodb`.
//!
//! Key attributes are columns, of the table and of its indexes; so are attributes that
//! `ALTER TABLE … ADD` declared. All others are one text in one column. What it is not: a copy of
//! anything. What is declared is kept with the table itself.
//!
//! Invariant: a column stands for the attribute of its name, except the one of the others, whose name
//! no other column of the table has.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_types::{CqlType, Native, class_name, parse_class_name};
use shelfmark_engine::{Engine, ErrorKind, OtherAttributes, SharedColumns};
use shelfmark_model::{IndexSchema, IndexState, KeyType, TableName, TableSchema, Value};

use super::column_checks::checks_of_columns;
use super::load::{Fingerprint, failed};
use super::stored::stored_column;
use super::{
    Column, ColumnKind, Damage, Index, IndexTarget, Keyspace, Schema, Table, TableFlags,
    TableOptions,
};

/// The keyspace of tables that are DynamoDB's.
pub(crate) const SHARED_KEYSPACE: &str = "dynamodb";

/// The column of the attributes that have none of their own; with `_` behind it where a key attribute
/// has that name.
const OTHER_ATTRIBUTES: &str = "other_attributes";

/// Names the place of the declared columns among what the faces keep with a table.
const DECLARED: &str = "cql_columns";

/// Returns the schema with all tables that are granted. Those that did not change since `previous`
/// are the same ones.
///
/// Cost: reads the record of every table of DynamoDB that was not used yet.
///
/// # Errors
///
/// * Those of reading the catalogue.
pub(crate) fn with_shared(
    engine: &Engine,
    schema: &Schema,
    previous: Option<&Arc<Keyspace>>,
) -> Result<Schema, CqlError> {
    let mut tables = BTreeMap::new();
    for name in engine.shared_names(SHARED_KEYSPACE).map_err(failed)? {
        let known = previous.and_then(|own| own.tables.get(&name.name));
        if let Some(table) = current(engine, &name, known)? {
            tables.insert(name.name, table);
        }
    }
    let version = tables.values().fold([0; 16], |all, table| mixed(all, fingerprint(table)));
    Ok(with_tables(schema, tables, version))
}

/// Returns the schema after one table of another face was created, changed or dropped.
///
/// Cost: a copy of the list of tables, and what it takes to read the one.
///
/// # Errors
///
/// * Those of reading the catalogue.
pub(crate) fn with_changed(
    engine: &Engine,
    schema: &Schema,
    name: &str,
) -> Result<Schema, CqlError> {
    let keyspace = schema.shared_keyspace();
    let mut tables = keyspace.map(|own| own.tables.clone()).unwrap_or_default();
    let old = tables.remove(name);
    let new = current(engine, &TableName::new(SHARED_KEYSPACE, name), old.as_ref())?;
    let mut version = schema.shared_version.unwrap_or_default();
    for table in old.iter().chain(&new) {
        version = mixed(version, fingerprint(table));
    }
    tables.extend(new.map(|table| (name.to_owned(), table)));
    Ok(with_tables(schema, tables, version))
}

/// Returns a table as it is now; `None` if nothing of it is granted, or it cannot be read.
fn current(
    engine: &Engine,
    name: &TableName,
    known: Option<&Arc<Table>>,
) -> Result<Option<Arc<Table>>, CqlError> {
    let same = known.filter(|own| own.stored.as_ref().is_some_and(|own| !own.is_retired()));
    if let Some(same) = same {
        return Ok(Some(Arc::clone(same)));
    }
    match table(engine, name) {
        Ok(table) => Ok(Some(Arc::new(table))),
        // Dropped, not granted, or damaged: the others can be used.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

fn with_tables(
    schema: &Schema,
    tables: BTreeMap<String, Arc<Table>>,
    shared_version: [u8; 16],
) -> Schema {
    let mut keyspaces = schema.keyspaces.clone();
    if schema.shared_keyspace().is_some() {
        keyspaces.remove(SHARED_KEYSPACE);
    }
    // What CQL has under the name in a store of an earlier build comes first, until it is mended.
    if !tables.is_empty() && !keyspaces.contains_key(SHARED_KEYSPACE) {
        keyspaces.insert(SHARED_KEYSPACE.to_owned(), Arc::new(keyspace(tables)));
    }
    let mut version = Fingerprint::default();
    version.add(&schema.own_version);
    version.add(&shared_version);
    // Without such tables the version is that of all others.
    let version = if shared_version == [0; 16] { schema.own_version } else { version.uuid() };
    let own_version = schema.own_version;
    Schema { version, keyspaces, own_version, shared_version: Some(shared_version) }
}

/// Returns what tells forms of a table apart, also after a restart.
fn fingerprint(table: &Table) -> [u8; 16] {
    let mut hash = Fingerprint::default();
    hash.add(&table.id);
    for column in &table.columns {
        hash.add(column.name.as_bytes());
        hash.add(class_name(&column.kind).as_bytes());
    }
    for index in &table.indexes {
        hash.add(index.name.as_bytes());
        hash.add(&[u8::from(index.is_public)]);
    }
    hash.uuid()
}

/// Adds a fingerprint to those of other tables, or takes it away again.
fn mixed(all: [u8; 16], own: [u8; 16]) -> [u8; 16] {
    std::array::from_fn(|at| {
        all.get(at).copied().unwrap_or_default() ^ own.get(at).copied().unwrap_or_default()
    })
}

fn keyspace(tables: BTreeMap<String, Arc<Table>>) -> Keyspace {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Keyspace {
        name: SHARED_KEYSPACE.into(),
        durable_writes: true,
        replication: vec![
            pair("class", "org.apache.cassandra.locator.SimpleStrategy"),
            pair("replication_factor", "1"),
        ],
        is_virtual: false,
        tables,
        types: BTreeMap::new(),
        damage: Damage::default(),
    }
}

/// Builds a table of the keyspace.
fn table(engine: &Engine, name: &TableName) -> Result<Table, shelfmark_engine::Error> {
    let mut columns = Vec::new();
    let mut indexes = Vec::new();
    let text = engine.attributes_text();
    let stored = engine.shared_cells(name, |schema| {
        columns = columns_of(schema, text.is_some());
        indexes = schema.indexes.iter().filter_map(|own| index_of(schema, own)).collect();
        let others = others_column(schema, &declared(schema));
        let is_plain = |own: &&Column| !own.role.is_key() && *own.name != *others;
        let found = columns.iter().find(|own| *own.name == *others);
        let others = found.zip(text).map(|(own, text)| OtherAttributes { column: own.id, text });
        SharedColumns {
            columns: columns.iter().filter(is_plain).map(stored_column).collect(),
            others,
            check: checks_of_columns(&columns),
        }
    })?;
    let mut id = Fingerprint::default();
    id.add(name.name.as_bytes());
    id.add(&stored.id.to_be_bytes());
    let mut table = Table {
        keyspace: SHARED_KEYSPACE.into(),
        name: name.name.as_str().into(),
        id: id.uuid(),
        columns,
        partition_count: 0,
        clustering_count: 0,
        next_column: 0,
        options: TableOptions {
            comment: "a table of DynamoDB".to_owned(),
            ..TableOptions::default()
        },
        flags: TableFlags { compound: true, ..TableFlags::default() },
        indexes,
        dropped: Vec::new(),
        revived: Vec::new(),
        view: None,
        stored: Some(stored),
    };
    table.arrange();
    Ok(table)
}

/// Returns the type of a key attribute's column.
fn key_kind(key_type: &KeyType) -> CqlType {
    CqlType::Native(match key_type {
        KeyType::Decimal => Native::Decimal,
        KeyType::Bytes => Native::Blob,
        _ => Native::Text,
    })
}

/// Returns the columns of a table: its key, the keys of its indexes, what is declared, the others.
fn columns_of(schema: &TableSchema, shows_others: bool) -> Vec<Column> {
    let mut columns = Vec::new();
    let key = |id: u32, name: &str, key_type: &KeyType, role| Column {
        id,
        ..Column::new(name, key_kind(key_type), role)
    };
    for (id, own) in (0..).zip(&schema.partition) {
        columns.push(key(id, &own.name, &own.key_type, ColumnKind::PartitionKey));
    }
    for (id, own) in (0..).zip(&schema.sort) {
        columns.push(Column {
            descending: own.direction == shelfmark_model::Direction::Descending,
            ..key(id, &own.name, &own.key_type, ColumnKind::Clustering)
        });
    }
    let mut regular = declared(schema);
    regular.extend(index_attributes(schema));
    regular.retain(|name, _| !schema.is_key(name));
    if shows_others {
        regular.insert(others_column(schema, &regular), CqlType::Native(Native::Text));
    }
    for (id, (name, kind)) in (0..).zip(regular) {
        columns.push(Column { id, ..Column::new(&name, kind, ColumnKind::Regular) });
    }
    columns
}

/// Returns the attributes of the keys of indexes, with their types.
fn index_attributes(schema: &TableSchema) -> impl Iterator<Item = (String, CqlType)> {
    schema.indexes.iter().flat_map(|index| {
        let partition = index.partition.iter().map(|own| (&own.name, &own.key_type));
        let sort = index.sort.iter().map(|own| (&own.name, &own.key_type));
        partition.chain(sort).map(|(name, key_type)| (name.clone(), key_kind(key_type)))
    })
}

/// Returns the name of the column of the other attributes: one that nothing else has.
fn others_column(schema: &TableSchema, declared: &BTreeMap<String, CqlType>) -> String {
    let mut name = OTHER_ATTRIBUTES.to_owned();
    while schema.is_key(&name)
        || declared.contains_key(&name)
        || index_attributes(schema).any(|(own, _)| own == name)
    {
        name.push('_');
    }
    name
}

/// Returns the columns that were declared. One whose type cannot be read is not.
fn declared(schema: &TableSchema) -> BTreeMap<String, CqlType> {
    let Some(Value::Map(all)) = schema.options.face.get(DECLARED) else { return BTreeMap::new() };
    all.iter()
        .filter_map(|(name, class)| {
            Some((name.clone(), parse_class_name(class.as_text()?).ok()?.0))
        })
        .collect()
}

/// Returns an index as CQL can use it; `None` if it is the table's own partitions in no other order.
fn index_of(schema: &TableSchema, own: &IndexSchema) -> Option<Index> {
    let in_partition = own.partition == schema.partition;
    let partition = own.partition.iter().map(|own| &own.name).filter(|_| !in_partition);
    let columns = partition.chain(own.sort.iter().map(|own| &own.name));
    let mut order: Vec<Arc<str>> = columns.map(|name| name.as_str().into()).collect();
    if order.is_empty() {
        return None;
    }
    let column = order.remove(0);
    let looked_up = if in_partition { 0 } else { own.partition.len().saturating_sub(1) };
    Some(Index {
        name: own.name.clone(),
        column,
        target: IndexTarget::Value,
        class: None,
        options: Vec::new(),
        is_public: own.state == IndexState::Public,
        shared: Some(super::SharedIndex { in_partition, order, looked_up }),
    })
}

/// Keeps the declaration of columns with a table: `change` changes names and types.
///
/// # Errors
///
/// * `Invalid`: the table is not there any more.
pub(crate) fn declare(
    engine: &Engine,
    table: &Table,
    change: impl FnOnce(&mut BTreeMap<String, CqlType>),
) -> Result<(), CqlError> {
    let name = TableName::new(&*table.keyspace, &*table.name);
    let mut columns = BTreeMap::new();
    engine
        .shared_cells(&name, |schema| {
            columns = declared(schema);
            SharedColumns::default()
        })
        .map_err(failed)?;
    change(&mut columns);
    let class = |(name, kind): (&String, &CqlType)| (name.clone(), Value::text(class_name(kind)));
    let value = Value::Map(columns.iter().map(class).collect());
    let value = Some(value).filter(|_| !columns.is_empty());
    engine.declare_shared(&name, DECLARED, value).map_err(failed)
}
