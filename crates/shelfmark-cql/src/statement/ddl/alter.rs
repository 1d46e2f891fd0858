//! `ALTER TABLE`.

use std::collections::HashSet;
use std::sync::Arc;

use shelfmark_cql_protocol::{ChangeKind, ChangeTarget, CqlError, ErrorCode, Result, invalid};
use shelfmark_cql_syntax::ast::{
    AlterTable, AlterTableAction, ColumnDefinition, Name, Property, Rename,
};
use shelfmark_cql_types::resolve_type;
use shelfmark_engine::{CatalogueChange, Timestamp};
use shelfmark_model::Revived;

use super::table::{check_live_udt, views_of};
use super::{Change, altered, configuration, schema_event, writable};
use crate::schema::{Column, ColumnKind, DroppedColumn, Keyspace, Schema, Table};
use crate::statement::relation::undefined_column;

pub(super) fn alter(
    own: &AlterTable,
    keyspace: Option<&str>,
    schema: &Schema,
    now: Timestamp,
) -> Result<Option<Change>> {
    let keyspace_name = super::super::keyspace_of(&own.name, keyspace)?;
    let name = own.name.name.as_str();
    let found = schema.table(keyspace_name, name);
    if found.is_none() && own.if_exists {
        return Ok(None);
    }
    let Some(found) = found else {
        return invalid(format!("Table '{keyspace_name}.{name}' doesn't exist"));
    };
    let keyspace =
        writable(keyspace_name, schema, &format!("ALTER <table {keyspace_name}.{name}>"))?;
    if found.is_view() {
        return invalid(
            "Cannot use ALTER TABLE on a materialized view; use ALTER MATERIALIZED VIEW instead",
        );
    }
    let mut table = Table::clone(found);
    apply(&mut table, own, keyspace, schema, now)?;
    table.arrange();
    if !matches!(own.action, AlterTableAction::With(_) | AlterTableAction::DropCompactStorage)
        && table.columns == found.columns
    {
        // Everything was there, or gone, already.
        return Ok(None);
    }
    if matches!(own.action, AlterTableAction::With(_)) && table.options == found.options {
        return Ok(None);
    }
    let mut changes = altered_views(own, &table, keyspace)?;
    changes.push(altered(table));
    Ok(Some(Change {
        changes,
        event: schema_event(ChangeKind::Updated, ChangeTarget::Table, keyspace_name, name),
        builds: Vec::new(),
    }))
}

/// Applies the action of an `ALTER TABLE` to a table.
fn apply(
    table: &mut Table,
    own: &AlterTable,
    keyspace: &Arc<Keyspace>,
    schema: &Schema,
    now: Timestamp,
) -> Result<()> {
    match &own.action {
        AlterTableAction::AlterType { .. } => {
            return invalid("Altering column types is no longer supported");
        }
        AlterTableAction::Mask { if_exists, column, mask } => {
            super::mask::alter(table, column, mask.as_ref(), *if_exists, schema)?;
        }
        AlterTableAction::Add { if_not_exists, columns } => {
            for column in columns {
                add(table, column, *if_not_exists, schema)?;
            }
        }
        AlterTableAction::Drop { if_exists, columns, timestamp } => {
            let at = match timestamp {
                Some(text) => DroppedAt::Said(
                    text.parse().map_err(|_| CqlError::syntax("Invalid timestamp"))?,
                ),
                None => DroppedAt::Now(now),
            };
            let mut dropped = HashSet::with_capacity(columns.len());
            for column in columns {
                // Named twice it is dropped once.
                if dropped.insert(column.as_str()) {
                    drop_column(table, keyspace, column, *if_exists, at)?;
                }
            }
        }
        AlterTableAction::Rename { renames, .. } => {
            // Each is a change of the table as it was; of two of one column the last counts.
            let before = table.clone();
            for (at, own) in renames.iter().enumerate() {
                if !renames.iter().skip(at + 1).any(|later| later.from == own.from) {
                    rename(table, &before, own)?;
                }
            }
        }
        AlterTableAction::DropCompactStorage => {
            if !table.flags.compact {
                return invalid("Cannot DROP COMPACT STORAGE on table without COMPACT STORAGE");
            }
            table.flags.compact = false;
            table.flags.dense = false;
            table.flags.compound = true;
        }
        AlterTableAction::With(properties) => set_options(table, properties, keyspace)?,
    }
    Ok(())
}

/// Applies the options of a `WITH` to a table.
fn set_options(table: &mut Table, properties: &[Property], keyspace: &Arc<Keyspace>) -> Result<()> {
    if super::options::id(properties)?.is_some() {
        return configuration("Cannot alter table id.");
    }
    super::options::apply(&mut table.options, properties, false)?;
    if table.flags.counter && table.options.default_time_to_live > 0 {
        return invalid("Cannot set default_time_to_live on a table with counters");
    }
    let views = views_of(Some(keyspace), &table.name);
    if !views.is_empty() && table.options.gc_grace_seconds == 0 {
        return invalid(
            "Cannot alter gc_grace_seconds of the base table of a materialized view to 0, since this value is used to TTL undelivered updates. Setting gc_grace_seconds too low might cause undelivered updates to expire before being replayed.",
        );
    }
    Ok(())
}

/// Returns what a change of a table means for its views: renamed keys are renamed there too, and
/// views of all columns get new ones.
fn altered_views(
    own: &AlterTable,
    table: &Table,
    keyspace: &Arc<Keyspace>,
) -> Result<Vec<CatalogueChange<'static>>> {
    let views = keyspace
        .tables
        .values()
        .filter(|view| view.view.as_ref().is_some_and(|view| view.base == table.name));
    let mut changes = Vec::new();
    for found in views {
        let mut view = Table::clone(found);
        match &own.action {
            AlterTableAction::Rename { renames, .. } => {
                for rename in renames {
                    rename_in_view(&mut view, &rename.from, &rename.to)?;
                }
            }
            AlterTableAction::Add { .. }
                if view.view.as_ref().is_some_and(|own| own.include_all_columns) =>
            {
                // A view has no static columns.
                let fresh = table.columns.iter().filter(|own| own.role != ColumnKind::Static);
                let fresh = fresh.filter(|own| view.column(&own.name).is_none());
                let fresh: Vec<Column> = fresh.cloned().collect();
                view.columns.extend(fresh);
                view.next_column = table.next_column;
                view.revived.clone_from(&table.revived);
            }
            AlterTableAction::Mask { column, .. } => {
                let mask = table.column(column.as_str()).and_then(|own| own.mask.clone());
                let shown = view.columns.iter_mut().find(|own| &*own.name == column.as_str());
                let Some(shown) = shown.filter(|own| own.mask != mask) else { continue };
                shown.mask = mask;
            }
            _ => continue,
        }
        view.arrange();
        changes.push(altered(view));
    }
    Ok(changes)
}

fn rename_in_view(view: &mut Table, from: &Name, to: &Name) -> Result<()> {
    if let Some(column) = view.columns.iter_mut().find(|own| &*own.name == from.as_str()) {
        column.name = to.as_str().into();
    }
    if let Some(own) = &mut view.view {
        own.where_clause = super::view_filter::renamed(&own.where_clause, from, to)?;
    }
    Ok(())
}

fn add(
    table: &mut Table,
    own: &ColumnDefinition,
    if_not_exists: bool,
    schema: &Schema,
) -> Result<()> {
    let name = own.name.as_str();
    let kind = resolve_type(&own.column_type, &table.keyspace, schema)?;
    if table.column(name).is_some() {
        if if_not_exists {
            return Ok(());
        }
        return invalid(format!("Column with name '{name}' already exists"));
    }
    if table.flags.compact {
        return invalid("Cannot add new column to a COMPACT STORAGE table");
    }
    check_live_udt(&kind)
        .map_err(|error| CqlError::invalid(format!("{} for column {name}", error.message)))?;
    if own.is_static && table.clustering_count == 0 {
        return invalid(
            "Static columns are only useful (and thus allowed) if the table has at least one clustering column",
        );
    }
    if kind.is_counter() != table.flags.counter {
        let (what, other) = match table.flags.counter {
            true => ("non counter", "counter"),
            false => ("counter", "non counter"),
        };
        return Err(CqlError::new(
            ErrorCode::Configuration,
            format!(
                "{}: Cannot have a {what} column (\"{name}\") in a {other} table",
                table.full_name()
            ),
        ));
    }
    let role = if own.is_static { ColumnKind::Static } else { ColumnKind::Regular };
    if let Some(gone) = table.dropped.iter().find(|gone| &*gone.name == name) {
        let same_form = gone.kind.fixed_size() == kind.fixed_size()
            && gone.kind.is_multi_cell() == kind.is_multi_cell()
            && gone.kind.is_collection() == kind.is_collection();
        if !same_form || !kind.is_value_compatible_with(&gone.kind) {
            return invalid(format!(
                "Cannot add a column '{name}' of type {kind}, incompatible with previously dropped column '{name}' of type {}",
                gone.kind
            ));
        }
        if gone.role != role {
            return invalid(format!(
                "Cannot re-add previously dropped column '{name}' of kind {}, incompatible with previous kind {}",
                role.name().to_uppercase(),
                gone.role.name().to_uppercase()
            ));
        }
        if gone.kind.is_counter() {
            return invalid(format!("Cannot re-add previously dropped counter column {name}"));
        }
    }
    let mask = match &own.mask {
        Some(mask) => {
            Some(super::mask::prepare(mask, (&table.name, name), &kind, &table.keyspace, schema)?)
        }
        None => None,
    };
    let id = number_of(name, table);
    table.columns.push(Column { name: name.into(), kind, role, descending: false, id, mask });
    Ok(())
}

/// Returns the number of a column that is added: a new one, unless what was written into one of this
/// name comes back with it. What is written into it later, with a timestamp of before the drop, stays
/// hidden either way.
fn number_of(name: &str, table: &mut Table) -> u32 {
    let gone = table.dropped.iter().find(|gone| &*gone.name == name);
    let gone = gone.map(|gone| (gone.id, gone.dropped_at));
    let column = gone.and_then(|(id, _)| id).unwrap_or_else(|| {
        table.next_column += 1;
        table.next_column - 1
    });
    let Some((_, dropped_at)) = gone else { return column };
    // What was gone once stays so, whatever a later drop says.
    let before = table.revived.iter().filter(|own| own.column == column);
    let before = before.map(|own| own.dropped_at_micros).max();
    let dropped_at_micros = before.map_or(dropped_at, |at| at.max(dropped_at));
    table.revived.retain(|own| own.column != column);
    table.revived.push(Revived { column, dropped_at_micros });
    column
}

/// The time of a column's drop, in microseconds since the Unix epoch.
#[derive(Clone, Copy)]
enum DroppedAt {
    /// All that was written is older, whatever it says itself.
    Now(i64),
    /// The client said when: cells with later timestamps come back with the column.
    Said(i64),
}

fn drop_column(
    table: &mut Table,
    keyspace: &Arc<Keyspace>,
    own: &Name,
    if_exists: bool,
    at: DroppedAt,
) -> Result<()> {
    let name = own.as_str();
    let Some(column) = table.column(name).cloned() else {
        if if_exists {
            return Ok(());
        }
        return invalid(format!("Column {name} was not found in table '{}'", table.full_name()));
    };
    if column.role.is_key() {
        return invalid(format!("Cannot drop PRIMARY KEY column {name}"));
    }
    if table.flags.dense {
        return invalid("Cannot drop columns from a COMPACT STORAGE table");
    }
    if column.kind.is_udt() && column.is_multi_cell() {
        return invalid(format!(
            "Cannot drop non-frozen column {name} of user type {}",
            column.kind
        ));
    }
    let indexes: Vec<&str> = table
        .indexes
        .iter()
        .filter(|index| &*index.column == name)
        .map(|index| index.name.as_str())
        .collect();
    if !indexes.is_empty() {
        return invalid(format!(
            "Cannot drop column {name} because it has dependent secondary indexes ({})",
            indexes.join(", ")
        ));
    }
    let views = views_of(Some(keyspace), &table.name);
    if !views.is_empty() {
        return invalid(format!(
            "Cannot drop column {name} on base table {} with materialized views",
            table.name
        ));
    }
    let (dropped_at, id) = match at {
        DroppedAt::Now(at) => (at, None),
        DroppedAt::Said(at) => (at, Some(column.id)),
    };
    if id.is_none() {
        // Nothing is stored under its number again.
        table.revived.retain(|own| own.column != column.id);
    }
    table.columns.retain(|own| &*own.name != name);
    table.dropped.retain(|own| &*own.name != name);
    table.dropped.push(DroppedColumn {
        name: column.name,
        kind: column.kind,
        role: column.role,
        dropped_at,
        id,
    });

    Ok(())
}

fn rename(table: &mut Table, before: &Table, own: &Rename) -> Result<()> {
    let (from, to) = (own.from.as_str(), own.to.as_str());
    let Some((place, column)) = before.find(from) else {
        return Err(undefined_column(from, before));
    };
    if !column.role.is_key() {
        return invalid(format!("Cannot rename non PRIMARY KEY column {from}"));
    }
    if table.column(to).is_some() || before.column(to).is_some() {
        return invalid(format!(
            "Cannot rename column {from} to {to} in table '{}'; another column with that name already exists",
            table.full_name()
        ));
    }
    let indexes: Vec<&str> = table
        .indexes
        .iter()
        .filter(|index| &*index.column == from)
        .map(|index| index.name.as_str())
        .collect();
    if !indexes.is_empty() {
        return invalid(format!(
            "Can't rename column {from} because it has dependent secondary indexes ({})",
            indexes.join(", ")
        ));
    }
    if let Some(column) = table.columns.get_mut(place) {
        column.name = to.into();
    }
    Ok(())
}
