//! `CREATE TABLE` and `DROP TABLE`.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{CreateTable, Direction, Dropped, Name, PrimaryKey, Type};
use shelfmark_cql_types::{CqlType, Native, is_reversed, resolve_type};
use shelfmark_engine::{CatalogueChange, Environment};

use super::{Change, check_name, dropped, schema_event, writable};
use crate::schema::{
    Column, ColumnKind, Schema, Table, TableFlags, is_of_dynamodb, stored_name, stored_schema,
};

/// Most columns of a table. Ours: the engine's key limits and one page of metadata.
const COLUMNS_MAX: usize = 4_096;

/// Refuses the name by which DynamoDB's clients have a table of their own: they name a table of CQL by
/// `keyspace.table`, and would have this one once theirs is deleted.
fn check_free(keyspace: &str, name: &str, schema: &Schema) -> Result<()> {
    let full = format!("{keyspace}.{name}");
    let of_dynamodb = schema.keyspaces.iter().filter(|(own, _)| is_of_dynamodb(own));
    if of_dynamodb.into_iter().any(|(_, own)| own.tables.contains_key(full.as_str())) {
        return invalid(format!(
            "DynamoDB's clients have a table that is called {full}; choose another name, or delete that table"
        ));
    }
    Ok(())
}

pub(super) fn create(
    own: &CreateTable,
    keyspace: Option<&str>,
    schema: &Schema,
    environment: &Environment,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let keyspace =
        writable(keyspace_name, schema, &format!("CREATE <all tables in {keyspace_name}>"))?;
    let name = own.name.name.as_str();
    check_name(keyspace_name, name)?;
    super::options::check_forms(&own.options.properties)?;
    if keyspace.tables.contains_key(name) {
        if own.if_not_exists {
            return Ok(None);
        }
        return Err(CqlError::already_exists(keyspace_name, name));
    }
    check_free(keyspace_name, name, schema)?;
    check_declarations(own)?;
    let key = match own.primary_keys.as_slice() {
        [only] => only,
        [] => {
            return invalid(format!(
                "No PRIMARY KEY specifed for table '{name}' (exactly one required)"
            ));
        }
        _ => {
            return invalid(format!(
                "Multiple PRIMARY KEY specified for table '{name}' (exactly one required)"
            ));
        }
    };
    let mut columns = declared(own, keyspace_name, schema)?;
    assign_key(&mut columns, key, "table", name)?;
    check_counters_by_class(own, keyspace_name, schema)?;
    check_columns(&columns, name)?;
    order(&mut columns, &own.options.clustering_order, key, "table", name)?;
    reverse_by_class(&mut columns, own);
    let options = super::options::of_new(&own.options.properties)?;
    let counter = columns.iter().any(|column| column.kind.is_counter());
    if counter && options.default_time_to_live > 0 {
        return invalid("Cannot set default_time_to_live on a table with counters");
    }
    let flags = flags(&mut columns, own, key, counter)?;
    let mut next_column = 0;
    for column in columns.iter_mut().filter(|column| !column.role.is_key()) {
        column.id = next_column;
        next_column += 1;
    }
    let id = super::options::id_of(&own.options.properties, schema, environment)?;
    let mut table = Table {
        keyspace: keyspace_name.into(),
        name: name.into(),
        id,
        columns,
        partition_count: 0,
        clustering_count: 0,
        next_column,
        options,
        flags,
        indexes: Vec::new(),
        dropped: Vec::new(),
        revived: Vec::new(),
        view: None,
        stored: None,
    };
    table.arrange();
    Ok(Some(Change {
        changes: vec![CatalogueChange::CreateTable(stored_schema(&table))],
        event: schema_event(ChangeKind::Created, ChangeTarget::Table, keyspace_name, name),
        builds: Vec::new(),
    }))
}

/// Returns what `IF NOT EXISTS` kept from being made, where the table that is there has another shape.
///
/// Ours: Cassandra says nothing, and whoever runs a mended script a second time believes it done.
pub(super) fn other_shape(
    own: &CreateTable,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Option<String> {
    let keyspace = super::super::keyspace_of(&own.name, keyspace).ok()?;
    let name = own.name.name.as_str();
    let table = schema.table(keyspace, name)?;
    check_declarations(own).ok()?;
    let mut columns = declared(own, keyspace, schema).ok()?;
    let key = own.primary_keys.first()?;
    assign_key(&mut columns, key, "table", name).ok()?;
    order(&mut columns, &own.options.clustering_order, key, "table", name).ok()?;
    reverse_by_class(&mut columns, own);
    let there = |wanted: &Column| table.columns.iter().find(|column| column.name == wanted.name);
    let difference = columns.iter().find_map(|column| match there(column) {
        None => Some(format!("it has no column {}", column.name)),
        Some(own) if own.kind != column.kind => {
            Some(format!("its column {} is {}, not {}", own.name, own.kind, column.kind))
        }
        Some(own) if own.role != column.role => {
            Some(format!("its column {} stands elsewhere in the key", own.name))
        }
        Some(own) if own.role.is_key() && own.id != column.id => {
            Some("the columns of its key are in another order".to_owned())
        }
        Some(own) if own.descending != column.descending => {
            Some(format!("its rows are sorted the other way by {}", own.name))
        }
        Some(_) => None,
    });
    let more = || {
        let unknown = |own: &&Column| columns.iter().all(|column| column.name != own.name);
        let extra = table.columns.iter().find(unknown)?;
        Some(format!("it also has the column {}", extra.name))
    };
    let difference = difference.or_else(more)?;
    Some(format!(
        "Table {keyspace}.{name} is there already and is another: {difference}. IF NOT EXISTS left \
         it as it is."
    ))
}

/// Refuses columns that are declared twice; said before their types are looked at.
fn check_declarations(own: &CreateTable) -> Result<()> {
    let mut known = HashSet::with_capacity(own.columns.len());
    for definition in &own.columns {
        let name = definition.name.as_str();
        if !known.insert(name) {
            return invalid(format!(
                "Duplicate column '{name}' declaration for table '{}'",
                own.name.name.as_str()
            ));
        }
    }
    Ok(())
}

/// Refuses counters by the name of their class: they make no table one of counters.
fn check_counters_by_class(own: &CreateTable, keyspace: &str, schema: &Schema) -> Result<()> {
    let is_counter = |ty: &Type| resolve_type(ty, keyspace, schema).is_ok_and(|ty| ty.is_counter());
    let (by_class, named): (Vec<_>, Vec<_>) = own
        .columns
        .iter()
        .filter(|own| is_counter(&own.column_type))
        .partition(|own| matches!(own.column_type, Type::Custom(_)));
    match by_class.first() {
        Some(column) if named.is_empty() => super::configuration(format!(
            "{keyspace}.{}: Cannot have a counter column (\"{}\") in a non counter table",
            own.name.name.as_str(),
            column.name.as_str()
        )),
        _ => Ok(()),
    }
}

fn declared(own: &CreateTable, keyspace: &str, schema: &Schema) -> Result<Vec<Column>> {
    let table = own.name.name.as_str();
    if own.columns.len() > COLUMNS_MAX {
        return invalid(format!("a table has at most {COLUMNS_MAX} columns here"));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(own.columns.len());
    for definition in &own.columns {
        let name = definition.name.as_str();
        let kind = resolve_type(&definition.column_type, keyspace, schema)?;
        check_live_udt(&kind)?;
        let mask = match &definition.mask {
            Some(mask) => Some(super::mask::prepare(mask, (table, name), &kind, keyspace, schema)?),
            None => None,
        };
        let role = if definition.is_static { ColumnKind::Static } else { ColumnKind::Regular };
        columns.push(Column { name: name.into(), kind, role, descending: false, id: 0, mask });
    }
    Ok(columns)
}

/// Refuses a live user type that holds live collections.
pub(super) fn check_live_udt(kind: &CqlType) -> Result<()> {
    if let CqlType::User { definition, frozen: false } = kind
        && definition.fields.iter().any(|(_, field)| field.is_multi_cell())
    {
        return invalid("Non-frozen UDTs with nested non-frozen collections are not supported");
    }
    Ok(())
}

/// Gives the columns of the primary key their parts in it.
pub(super) fn assign_key(
    columns: &mut [Column],
    key: &PrimaryKey,
    what: &str,
    table: &str,
) -> Result<()> {
    let mut seen: Vec<&Name> = Vec::new();
    let parts =
        [(&key.partition, ColumnKind::PartitionKey), (&key.clustering, ColumnKind::Clustering)];
    for (names, role) in parts {
        for (name, at) in names.iter().zip(0_u32..) {
            let shown = name.as_str();
            if seen.contains(&name) {
                return invalid(format!(
                    "Duplicate column '{shown}' in PRIMARY KEY clause for {what} '{table}'"
                ));
            }
            seen.push(name);
            let Some(column) = columns.iter_mut().find(|column| &*column.name == shown) else {
                return invalid(format!(
                    "Unknown column '{shown}' referenced in PRIMARY KEY for {what} '{table}'"
                ));
            };
            let kind = &column.kind;
            if column.role == ColumnKind::Static {
                return invalid(format!(
                    "Static column '{shown}' cannot be part of the PRIMARY KEY"
                ));
            }
            if kind.is_counter() {
                return invalid(format!(
                    "counter type is not supported for PRIMARY KEY column '{shown}'"
                ));
            }
            if kind.references_duration() {
                return invalid(format!(
                    "duration type is not supported for PRIMARY KEY column '{shown}'"
                ));
            }
            if kind.is_multi_cell() && kind.is_udt() {
                return invalid(format!(
                    "Invalid non-frozen user-defined type \"{}\" for PRIMARY KEY column '{shown}'",
                    super::user_type::qualified(kind)
                ));
            }
            if kind.is_multi_cell() {
                let kind = match what {
                    "materialized view" => format!("'{}'", shelfmark_cql_types::class_name(kind)),
                    _ => kind.to_string(),
                };
                return invalid(format!(
                    "Invalid non-frozen collection type {kind} for PRIMARY KEY column '{shown}'"
                ));
            }
            column.role = role;
            column.id = at;
        }
    }
    Ok(())
}

fn check_columns(columns: &[Column], _table: &str) -> Result<()> {
    let has_clustering = columns.iter().any(|column| column.role == ColumnKind::Clustering);
    if !has_clustering && columns.iter().any(|column| column.role == ColumnKind::Static) {
        return invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        );
    }
    let others = || columns.iter().filter(|column| !column.role.is_key());
    let counters = others().filter(|column| column.kind.is_counter()).count();
    if counters > 0 && counters < others().count() {
        return invalid("Cannot mix counter and non counter columns in the same table");
    }
    Ok(())
}

/// Applies `CLUSTERING ORDER BY`.
pub(super) fn order(
    columns: &mut [Column],
    directions: &[(Name, Direction)],
    key: &PrimaryKey,
    what: &str,
    table: &str,
) -> Result<()> {
    if directions.is_empty() {
        return Ok(());
    }
    let clustering: HashSet<&str> = key.clustering.iter().map(Name::as_str).collect();
    let names = directions.iter().map(|(name, _)| name.as_str());
    let strange: Vec<&str> = names.filter(|name| !clustering.contains(name)).collect();
    if !strange.is_empty() {
        return invalid(format!(
            "Only clustering key columns can be defined in CLUSTERING ORDER directive: [{}] are not clustering columns",
            strange.join(", ")
        ));
    }
    let mut known = HashSet::with_capacity(directions.len());
    for (name, _) in directions {
        if !known.insert(name.as_str()) {
            return invalid(format!(
                "Duplicate column '{}' in CLUSTERING ORDER BY clause for {what} '{table}'",
                name.as_str()
            ));
        }
    }
    // What is not named behind the last that is, ascends.
    for (name, (found, direction)) in key.clustering.iter().zip(directions) {
        let name = name.as_str();
        if found.as_str() != name {
            let later = directions.iter().any(|(own, _)| own.as_str() == name);
            if !later {
                return invalid(format!("Missing CLUSTERING ORDER for column {name}"));
            }
            return invalid(format!(
                "The order of columns in the CLUSTERING ORDER directive must match that of the clustering columns ({name} must appear before {})",
                found.as_str()
            ));
        }
        if let Some(column) = columns.iter_mut().find(|column| &*column.name == name) {
            column.descending = *direction == Direction::Descending;
        }
    }
    Ok(())
}

/// Has clustering columns of a reversed class descend, whatever `CLUSTERING ORDER BY` says.
fn reverse_by_class(columns: &mut [Column], own: &CreateTable) {
    for definition in own.columns.iter().filter(|own| is_reversed(&own.column_type)) {
        let name = definition.name.as_str();
        let is_it = |own: &&mut Column| &*own.name == name && own.role == ColumnKind::Clustering;
        columns.iter_mut().filter(is_it).for_each(|own| own.descending = true);
    }
}

/// Works out what kind of table it is; a dense table without a value column gets an empty one.
fn flags(
    columns: &mut Vec<Column>,
    own: &CreateTable,
    key: &PrimaryKey,
    counter: bool,
) -> Result<TableFlags> {
    let mut flags = TableFlags { counter, compound: true, ..TableFlags::default() };
    if !own.options.compact_storage {
        return Ok(flags);
    }
    let regular: Vec<&Column> = columns.iter().filter(|column| !column.role.is_key()).collect();
    if regular.iter().any(|column| column.is_multi_cell()) {
        return invalid("Non-frozen collections and UDTs are not supported with COMPACT STORAGE");
    }
    if regular.iter().any(|column| column.role == ColumnKind::Static) {
        return invalid("Static columns are not supported in COMPACT STORAGE tables");
    }
    flags.compact = true;
    flags.compound = key.clustering.len() > 1;
    flags.dense = !key.clustering.is_empty();
    if flags.dense && regular.len() > 1 {
        let mut names: Vec<&str> = regular.iter().map(|column| &*column.name).collect();
        names.sort_unstable();
        return invalid(format!(
            "COMPACT STORAGE with composite PRIMARY KEY allows no more than one column not part of the PRIMARY KEY (got: {})",
            names.join(", ")
        ));
    }
    if regular.is_empty() {
        if !flags.dense {
            return invalid("No definition found that is not part of the PRIMARY KEY");
        }
        let name = free_name(columns, "value");
        let kind = CqlType::Native(Native::Empty);
        columns.push(Column {
            name: name.into(),
            kind,
            role: ColumnKind::Regular,
            descending: false,
            id: 0,
            mask: None,
        });
    }
    Ok(flags)
}

fn free_name(columns: &[Column], wanted: &str) -> String {
    let taken = |name: &str| columns.iter().any(|column| &*column.name == name);
    if !taken(wanted) {
        return wanted.to_owned();
    }
    let mut number = 1_u32;
    while taken(&format!("{wanted}{number}")) {
        number += 1;
    }
    format!("{wanted}{number}")
}

pub(super) fn drop(
    own: &Dropped,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let (keyspace, name, found) = dropped(own, keyspace, schema)?;
    let table: Option<&Arc<Table>> = found.and_then(|own| own.tables.get(name));
    let Some(table) = table else {
        if let Some(change) = super::drop_unreadable(keyspace, name, found) {
            return Ok(Some(change));
        }
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Table '{keyspace}.{name}' doesn't exist"));
    };
    if table.is_view() {
        return invalid(
            "Cannot use DROP TABLE on a materialized view. Please use DROP MATERIALIZED VIEW instead.",
        );
    }
    let views: Vec<&str> = views_of(found, name);
    if !views.is_empty() {
        return invalid(format!(
            // Cassandra names the keyspace here.
            "Cannot drop a table when materialized views still depend on it ({keyspace})"
        ));
    }
    Ok(Some(Change {
        changes: vec![CatalogueChange::DropTable(stored_name(table))],
        event: schema_event(ChangeKind::Dropped, ChangeTarget::Table, keyspace, name),
        builds: Vec::new(),
    }))
}

/// Returns the names of a table's views.
pub(super) fn views_of<'k>(
    keyspace: Option<&'k Arc<crate::schema::Keyspace>>,
    base: &str,
) -> Vec<&'k str> {
    keyspace
        .into_iter()
        .flat_map(|own| own.tables.values())
        .filter(|table| table.view.as_ref().is_some_and(|view| &*view.base == base))
        .map(|table| &*table.name)
        .collect()
}
