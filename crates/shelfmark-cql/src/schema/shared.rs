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

use super::load::{Fingerprint, failed};
use super::stored::stored_column;
use super::{
    Column, ColumnKind, Damage, Index, IndexTarget, Keyspace, Table, TableFlags, TableOptions,
};

/// The keyspace of tables that are DynamoDB's.
pub(crate) const SHARED_KEYSPACE: &str = "dynamodb";

/// The column of the attributes that have none of their own; with `_` behind it where a key attribute
/// has that name.
const OTHER_ATTRIBUTES: &str = "other_attributes";

/// Names the place of the declared columns among what the faces keep with a table.
const DECLARED: &str = "cql_columns";

/// Returns the keyspace of the tables that are granted; `None` if there are none. Tables that did
/// not change since `previous` are the same ones.
pub(super) fn keyspace(
    engine: &Engine,
    previous: Option<&Arc<Keyspace>>,
    hash: &mut Fingerprint,
) -> Result<Option<Keyspace>, CqlError> {
    let names = engine.shared_names(SHARED_KEYSPACE).map_err(failed)?;
    let mut tables = BTreeMap::new();
    for name in names {
        let known = previous.and_then(|own| own.tables.get(&name.name));
        let known = known.filter(|own| own.stored.as_ref().is_some_and(|own| !own.is_retired()));
        let table = match known {
            Some(known) => Arc::clone(known),
            None => match table(engine, &name) {
                Ok(table) => Arc::new(table),
                // Dropped meanwhile, or it cannot be read: the others can.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) if error.kind() == ErrorKind::Corrupt => continue,
                Err(error) => return Err(failed(error)),
            },
        };
        hash.add(&table.id);
        table.columns.iter().for_each(|own| {
            hash.add(own.name.as_bytes());
            hash.add(class_name(&own.kind).as_bytes());
        });
        table.indexes.iter().for_each(|own| hash.add(own.name.as_bytes()));
        tables.insert(name.name, table);
    }
    if tables.is_empty() {
        return Ok(None);
    }
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Ok(Some(Keyspace {
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
    }))
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

/// Returns an index as CQL can use it; `None` if its partition key has several attributes.
fn index_of(schema: &TableSchema, own: &IndexSchema) -> Option<Index> {
    let [partition] = own.partition.as_slice() else { return None };
    let in_partition = own.partition == schema.partition;
    let mut order: Vec<Arc<str>> = own.sort.iter().map(|own| own.name.as_str().into()).collect();
    let column = match in_partition {
        true if order.is_empty() => return None,
        true => order.remove(0),
        false => partition.name.as_str().into(),
    };
    Some(Index {
        name: own.name.clone(),
        column,
        target: IndexTarget::Value,
        class: None,
        options: Vec::new(),
        is_public: own.state == IndexState::Public,
        shared: Some(super::SharedIndex { in_partition, order }),
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
