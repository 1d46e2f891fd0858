//! `CREATE`, `ALTER` and `DROP MATERIALIZED VIEW`.

use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, Result, invalid};
use shelfmark_cql_syntax::ast::{AlterView, CreateView, Dropped, Name, SelectClause, Selector};
use shelfmark_engine::{CatalogueChange, Environment};
use shelfmark_model::{IndexState, ViewPart, ViewSchema};

use super::view_filter::Filter;
use super::{Change, altered, check_name, configuration, dropped, schema_event, writable};
use crate::schema::{
    Column, ColumnKind, Keyspace, Schema, Table, TableFlags, TableOptions, View, stored_name,
    stored_schema,
};
use crate::statement::select::column_name;

pub(super) fn create(
    own: &CreateView,
    keyspace: Option<&str>,
    schema: &Schema,
    environment: &Environment,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let what = format!("ALTER <table {keyspace_name}.{}>", own.base.name.as_str());
    let found = writable(keyspace_name, schema, &what)?;
    let name = own.name.name.as_str();
    check_name(keyspace_name, name)?;
    let base = base_of(own, keyspace_name, found)?;
    match found.tables.get(name) {
        Some(known) if !known.is_view() => {
            return invalid(format!(
                "Cannot create materialized view '{name}' - a table with the same name already exists"
            ));
        }
        Some(_) if own.if_not_exists => return Ok(None),
        Some(_) => return Err(CqlError::already_exists(keyspace_name, name)),
        None => {}
    }
    if base.flags.counter {
        return invalid("Materialized views are not supported on counter tables");
    }
    let (columns, include_all) = ordered_columns(own, &base, name)?;
    let Filter { where_clause, tests } =
        super::view_filter::filter(own, &base, schema, environment)?;
    let options = options(own, &base)?;
    // The columns that are no key of the view keep the numbers that the base gave them; keys of the
    // base that are none of the view cannot be: all of them are.
    let others: Vec<u32> =
        columns.iter().filter(|own| !own.role.is_key()).map(|own| own.id).collect();
    let mut table = Table {
        keyspace: keyspace_name.into(),
        name: name.into(),
        id: super::options::id_of(&own.options.properties, schema, environment)?,
        columns,
        partition_count: 0,
        clustering_count: 0,
        next_column: base.next_column,
        options,
        flags: TableFlags { compound: true, ..TableFlags::default() },
        indexes: Vec::new(),
        dropped: Vec::new(),
        revived: base.revived.clone(),
        view: Some(View {
            base: Arc::clone(&base.name),
            base_id: base.id,
            include_all_columns: include_all,
            where_clause,
        }),
        stored: None,
    };
    table.arrange();
    let mut stored = stored_schema(&table);
    let view = ViewSchema {
        base: stored_name(&base),
        partition: parts(table.partition_columns(), &base)?,
        sort: parts(table.clustering_columns(), &base)?,
        columns: (!include_all).then_some(others),
        tests,
        state: IndexState::Building,
    };
    if let Some(cells) = &mut stored.cells {
        cells.view_of = Some(view);
    }
    Ok(Some(Change {
        changes: vec![CatalogueChange::CreateTable(stored)],
        event: schema_event(ChangeKind::Created, ChangeTarget::Table, keyspace_name, name),
        builds: vec![stored_name(&table)],
    }))
}

/// Returns the table that a view is made of.
fn base_of(own: &CreateView, keyspace_name: &str, found: &Keyspace) -> Result<Arc<Table>> {
    let base_keyspace = super::super::keyspace_of(&own.base, Some(keyspace_name))?;
    if base_keyspace != keyspace_name {
        return invalid("Cannot create a materialized view on a table in a different keyspace");
    }
    let base_name = own.base.name.as_str();
    let base = found.tables.get(base_name).filter(|base| !base.is_view()).cloned();
    match base {
        Some(base) => Ok(base),
        None => invalid(format!("Base table '{base_name}' doesn't exist")),
    }
}

/// Returns the columns of a view with their roles and directions, and whether it shows all.
fn ordered_columns(own: &CreateView, base: &Table, name: &str) -> Result<(Vec<Column>, bool)> {
    let what = "materialized view";
    let (mut columns, include_all) = selected(own, base)?;
    super::table::assign_key(&mut columns, &own.primary_key, what, name)?;
    let order = &own.options.clustering_order;
    let in_key_order = order.iter().map(|(name, _)| name).eq(&own.primary_key.clustering);
    if !order.is_empty() && !in_key_order {
        return invalid(
            "Clustering key columns must exactly match columns in CLUSTERING ORDER BY directive",
        );
    }
    check_key(own, base)?;
    super::table::order(&mut columns, order, &own.primary_key, what, name)?;
    for column in columns.iter_mut().filter(|column| column.role != ColumnKind::Clustering) {
        column.descending = false;
    }
    Ok((columns, include_all))
}

/// Returns the options of a view: its own, and what it takes over from its base.
fn options(own: &CreateView, base: &Table) -> Result<TableOptions> {
    let mut options =
        TableOptions { gc_grace_seconds: base.options.gc_grace_seconds, ..TableOptions::default() };
    // Not as those of a view: here the refusal has other words, and drivers write the zero.
    super::options::apply(&mut options, &own.options.properties, false)?;
    if options.default_time_to_live > 0 {
        return invalid(
            "Cannot set default_time_to_live for a materialized view. Data in a materialized view always expire at the same time than the corresponding data in the parent table.",
        );
    }
    Ok(options)
}

/// Returns key columns of a view as columns of its base.
fn parts(columns: &[Column], base: &Table) -> Result<Vec<ViewPart>> {
    let part = |column: &Column| -> Result<ViewPart> {
        let Some(own) = base.column(&column.name) else {
            return invalid("a view's key column is not in its base");
        };
        Ok(match own.role {
            ColumnKind::PartitionKey => ViewPart::PartitionColumn(own.id),
            ColumnKind::Clustering => ViewPart::SortColumn(own.id),
            ColumnKind::Static | ColumnKind::Regular => ViewPart::Column(own.id),
        })
    };
    columns.iter().map(part).collect()
}

/// Returns the columns that a view shows, as those of a table, and whether it shows all.
fn selected(own: &CreateView, base: &Table) -> Result<(Vec<Column>, bool)> {
    let plain = |column: &Column| Column {
        role: if column.role == ColumnKind::Static {
            ColumnKind::Static
        } else {
            ColumnKind::Regular
        },
        // A column of the base's clustering key keeps its direction, unless the view says another.
        ..column.clone()
    };
    let items = match &own.selection {
        SelectClause::All => {
            if let Some(column) =
                base.columns.iter().find(|column| column.role == ColumnKind::Static)
            {
                return invalid(static_column(column, own));
            }
            return Ok((base.columns.iter().map(plain).collect(), true));
        }
        SelectClause::Items(items) => items,
    };
    let mut columns: Vec<Column> = Vec::new();
    for item in items {
        let Selector::Column(name) = &item.selector else {
            let part = match item.selector {
                Selector::Element { .. } | Selector::Slice { .. } => {
                    format!(" (got {})", column_name(&item.selector))
                }
                // Cassandra shows the name of an object of its own.
                _ => String::new(),
            };
            return invalid(format!(
                "Can only select columns by name when defining a materialized view{part}"
            ));
        };
        if item.alias.is_some() {
            return invalid("Cannot use aliases when defining a materialized view");
        }
        let Some(column) = base.column(name.as_str()) else {
            return invalid(format!(
                "Undefined column name {} in table {}",
                name.as_str(),
                base.full_name()
            ));
        };
        if column.role == ColumnKind::Static {
            return invalid(static_column(column, own));
        }
        if !columns.iter().any(|own| own.name == column.name) {
            columns.push(plain(column));
        }
    }
    Ok((columns, false))
}

fn static_column(column: &Column, own: &CreateView) -> String {
    format!(
        "Cannot include static column '{}' in materialized view '{}'",
        column.name,
        own.name.name.as_str()
    )
}

fn check_key(own: &CreateView, base: &Table) -> Result<()> {
    let names: Vec<&str> = own
        .primary_key
        .partition
        .iter()
        .chain(&own.primary_key.clustering)
        .map(Name::as_str)
        .collect();
    let mut added: Vec<&str> = Vec::new();
    for name in &names {
        match base.column(name) {
            Some(column) if column.role == ColumnKind::Static => {
                return invalid(format!(
                    "Cannot use Static column '{name}' in PRIMARY KEY of materialized view"
                ));
            }
            Some(column) if column.role == ColumnKind::Regular => added.push(name),
            Some(_) => {}
            None => return invalid(format!("Unknown column '{name}' referenced in PRIMARY KEY")),
        }
    }
    let missing: Vec<&str> = base
        .columns
        .iter()
        .filter(|column| column.role.is_key() && !names.contains(&&*column.name))
        .map(|column| &*column.name)
        .collect();
    if !missing.is_empty() {
        return invalid(format!(
            "Cannot create materialized view '{}' without primary key columns {} from base table '{}'",
            own.name.name.as_str(),
            missing.join(", "),
            base.name
        ));
    }
    if added.len() > 1 {
        return invalid(format!(
            "Cannot include more than one non-primary key column in materialized view primary key (got {})",
            added.join(", ")
        ));
    }
    Ok(())
}

pub(super) fn alter(
    own: &AlterView,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let name = own.name.name.as_str();
    let found = schema.table(keyspace_name, name).filter(|table| table.is_view());
    let Some(found) = found else {
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Materialized view '{keyspace_name}.{name}' doesn't exist"));
    };
    if super::options::id(&own.properties)?.is_some() {
        return configuration("Cannot alter table id.");
    }
    let mut table = Table::clone(found);
    super::options::apply(&mut table.options, &own.properties, true)?;
    if table.options.gc_grace_seconds == 0 {
        return invalid(
            "Cannot alter gc_grace_seconds of a materialized view to 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.",
        );
    }
    if table.options == found.options {
        return Ok(None);
    }
    Ok(Some(Change {
        changes: vec![altered(table)],
        event: schema_event(ChangeKind::Updated, ChangeTarget::Table, keyspace_name, name),
        builds: Vec::new(),
    }))
}

pub(super) fn drop(
    own: &Dropped,
    keyspace: Option<&str>,
    schema: &Schema,
) -> Result<Option<Change>> {
    let (keyspace, name, found) = dropped(own, keyspace, schema)?;
    let view = found.and_then(|own| own.tables.get(name)).filter(|table| table.is_view());
    let Some(view) = view else {
        if let Some(change) = super::drop_unreadable(keyspace, name, found) {
            return Ok(Some(change));
        }
        if own.if_exists {
            return Ok(None);
        }
        return invalid(format!("Materialized view '{keyspace}.{name}' doesn't exist"));
    };
    Ok(Some(Change {
        changes: vec![CatalogueChange::DropTable(stored_name(view))],
        event: schema_event(ChangeKind::Dropped, ChangeTarget::Table, keyspace, name),
        builds: Vec::new(),
    }))
}
