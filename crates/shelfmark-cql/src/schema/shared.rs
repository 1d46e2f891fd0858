//! Tables of other faces as tables of CQL: the keyspace `dynamodb`, and those of typed databases.
//!
//! Key attributes are columns, of the table and of its indexes; so are attributes that
//! `ALTER TABLE … ADD` declared, or the type of a typed table's values. All others are one text in one column. What it is not: a copy of
//! anything. What is declared is kept with the table itself.
//!
//! Invariant: a column stands for the attribute of its name, except the one of the others, whose name
//! no other column of the table has.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_types::{CqlType, Native, class_name, parse_class_name};
use shelfmark_engine::{
    Engine, ErrorKind, FieldKind, OtherAttributes, Owner, SharedColumns, declared_fields,
};
use shelfmark_model::{IndexSchema, IndexState, KeyType, TableName, TableSchema, Value};

use super::column_checks::checks_of_columns;
use super::load::{Fingerprint, failed};
use super::stored::stored_column;
use super::{
    Column, ColumnKind, Damage, Index, IndexTarget, Keyspace, Schema, Table, TableFlags,
    TableOptions,
};

/// The keyspace of tables that are DynamoDB's, where all of them have one.
const SHARED_KEYSPACE: &str = "dynamodb";

/// Returns true if a keyspace has tables of DynamoDB: there is one for each of its regions and accounts.
pub(crate) fn is_of_dynamodb(keyspace: &str) -> bool {
    Owner::of_reserved_name(keyspace) == Some(Owner::DynamoDb)
}

/// The column of the attributes that have none of their own; with `_` behind it where a key attribute
/// has that name.
const OTHER_ATTRIBUTES: &str = "other_attributes";

/// Names the place of the declared columns among what the faces keep with a table.
const DECLARED: &str = "cql_columns";

/// Tables of other faces, by keyspace and by name.
type SharedTables = BTreeMap<String, BTreeMap<String, Arc<Table>>>;

/// Returns the schema with all tables that are granted. Those that did not change since `previous`
/// are the same ones.
///
/// Cost: reads the record of every table of another face that was not used yet.
///
/// # Errors
///
/// * Those of reading the catalogue.
pub(crate) fn with_shared(
    engine: &Engine,
    schema: &Schema,
    previous: &Schema,
) -> Result<Schema, CqlError> {
    let mut all = SharedTables::new();
    let mut version = [0; 16];
    for name in engine.shared_names().map_err(failed)? {
        let known = previous.table(&name.namespace, &name.name);
        if let Some(table) = current(engine, &name, known)? {
            version = mixed(version, fingerprint(&table));
            all.entry(name.namespace).or_default().insert(name.name, table);
        }
    }
    Ok(with_tables(schema, all, version))
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
    name: &TableName,
) -> Result<Schema, CqlError> {
    let shared = schema.keyspaces.iter().filter(|(_, own)| own.is_shared());
    let mut all: SharedTables =
        shared.map(|(name, own)| (name.clone(), own.tables.clone())).collect();
    let tables = all.entry(name.namespace.clone()).or_default();
    let old = tables.remove(&name.name);
    let new = current(engine, name, old.as_ref())?;
    let mut version = schema.shared_version.unwrap_or_default();
    for table in old.iter().chain(&new) {
        version = mixed(version, fingerprint(table));
    }
    tables.extend(new.map(|table| (name.name.clone(), table)));
    Ok(with_tables(schema, all, version))
}

/// Returns a table as it is now; `None` if nothing of it is granted, or it cannot be read here.
fn current(
    engine: &Engine,
    name: &TableName,
    known: Option<&Arc<Table>>,
) -> Result<Option<Arc<Table>>, CqlError> {
    let is_current = |own: &&Arc<Table>| {
        own.is_shared() && own.stored.as_ref().is_some_and(|own| !own.is_retired())
    };
    if let Some(same) = known.filter(is_current) {
        return Ok(Some(Arc::clone(same)));
    }
    match table(engine, name) {
        Ok(table) => Ok(Some(Arc::new(table))),
        // Dropped, not granted, damaged, or of a key that CQL has not: the others can be used.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::Corrupt | ErrorKind::Invalid
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(failed(error)),
    }
}

fn with_tables(schema: &Schema, all: SharedTables, shared_version: [u8; 16]) -> Schema {
    let mut keyspaces = schema.keyspaces.clone();
    keyspaces.retain(|_, own| !own.is_shared());
    for (name, tables) in all {
        // What CQL has under the name in a store of an earlier build comes first, until it is mended.
        if !tables.is_empty() && !keyspaces.contains_key(&name) {
            keyspaces.insert(name.clone(), Arc::new(keyspace(&name, tables)));
        }
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

fn keyspace(name: &str, tables: BTreeMap<String, Arc<Table>>) -> Keyspace {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Keyspace {
        name: name.into(),
        durable_writes: true,
        replication: vec![
            pair("class", "org.apache.cassandra.locator.SimpleStrategy"),
            pair("replication_factor", "1"),
        ],
        is_virtual: false,
        tables,
        types: BTreeMap::new(),
        functions: Vec::new(),
        aggregates: Vec::new(),
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
    if name.namespace != SHARED_KEYSPACE {
        id.add(name.namespace.as_bytes());
    }
    id.add(name.name.as_bytes());
    let comment = match stored.is_in_key_order() {
        true => "a typed table of a Rust program",
        false => "a table of DynamoDB",
    };
    id.add(&stored.id.to_be_bytes());
    let mut table = Table {
        keyspace: name.namespace.as_str().into(),
        name: name.name.as_str().into(),
        id: id.uuid(),
        columns,
        partition_count: 0,
        clustering_count: 0,
        next_column: 0,
        options: TableOptions { comment: comment.to_owned(), ..TableOptions::default() },
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
        KeyType::Kinded(inner) => return key_kind(inner),
        KeyType::Bool => Native::Boolean,
        KeyType::I8 => Native::Tinyint,
        KeyType::I16 => Native::Smallint,
        KeyType::I32 => Native::Int,
        KeyType::I64 => Native::Bigint,
        KeyType::Integer => Native::Varint,
        KeyType::Decimal => Native::Decimal,
        KeyType::F32 => Native::Float,
        KeyType::F64 => Native::Double,
        KeyType::Date => Native::Date,
        KeyType::Time => Native::Time,
        KeyType::Timestamp => Native::Timestamp,
        KeyType::Inet => Native::Inet,
        KeyType::Bytes => Native::Blob,
        _ => Native::Text,
    })
}

/// Returns the type of the column of a field that a typed value declares; `None` if it is shown among
/// the other attributes.
fn field_kind(kind: FieldKind) -> Option<CqlType> {
    Some(CqlType::Native(match kind {
        FieldKind::Bool => Native::Boolean,
        FieldKind::I8 => Native::Tinyint,
        FieldKind::I16 => Native::Smallint,
        FieldKind::I32 => Native::Int,
        FieldKind::I64 => Native::Bigint,
        FieldKind::Integer => Native::Varint,
        FieldKind::F32 => Native::Float,
        FieldKind::F64 => Native::Double,
        FieldKind::Text => Native::Text,
        FieldKind::Bytes => Native::Blob,
        FieldKind::Date => Native::Date,
        FieldKind::Time => Native::Time,
        FieldKind::Timestamp => Native::Timestamp,
        FieldKind::Uuid => Native::Uuid,
        FieldKind::Other => return None,
    }))
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
            mask: None,
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

/// Returns the columns that are declared: by the types of a program, or by CQL, which comes first.
fn declared(schema: &TableSchema) -> BTreeMap<String, CqlType> {
    let fields = declared_fields(schema);
    let mut all: BTreeMap<String, CqlType> =
        fields.into_iter().filter_map(|(name, kind)| Some((name, field_kind(kind)?))).collect();
    all.extend(declared_by_cql(schema));
    all
}

/// Returns the columns that CQL declared. One whose type cannot be read is not.
fn declared_by_cql(schema: &TableSchema) -> BTreeMap<String, CqlType> {
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
    change: impl FnOnce(&mut BTreeMap<String, CqlType>) -> Result<(), CqlError>,
) -> Result<(), CqlError> {
    let name = TableName::new(&*table.keyspace, &*table.name);
    let mut columns = BTreeMap::new();
    engine
        .shared_cells(&name, |schema| {
            columns = declared_by_cql(schema);
            SharedColumns::default()
        })
        .map_err(failed)?;
    change(&mut columns)?;
    let class = |(name, kind): (&String, &CqlType)| (name.clone(), Value::text(class_name(kind)));
    let value = Value::Map(columns.iter().map(class).collect());
    let value = Some(value).filter(|_| !columns.is_empty());
    engine.declare_shared(&name, DECLARED, value).map_err(failed)
}
