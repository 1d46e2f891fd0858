//! `tables`: the tables of all faces and their keys.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shelfmark_engine::{Engine, ErrorKind, Owner, Table};
use shelfmark_model::{Direction, KeyColumn, KeyType, Placement, SortColumn, TableName};

use crate::admin::Admin;
use crate::error::Result;
use crate::operation::Operation;

/// Asks for all tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    /// List the store's own tables too: records of streams, copies of backups.
    #[serde(default)]
    pub all: bool,
}

/// The tables, by namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablesAnswer {
    /// The tables that can be read.
    pub tables: Vec<TableEntry>,
    /// The reasons why others cannot.
    pub unreadable: Vec<String>,
}

/// A table and its keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    /// The part of its name before the dot.
    pub namespace: String,
    /// The part behind it.
    pub name: String,
    /// The face that it belongs to.
    pub owner: String,
    /// The columns of its partition key with their types.
    pub partition_key: String,
    /// The columns of its sort key with their types and directions.
    pub sort_key: String,
    /// `hashed` or `ordered`.
    pub placement: String,
    /// Its indexes.
    pub indexes: Vec<IndexEntry>,
}

/// An index and its keys, as [`TableEntry`] has them; those of an index of cells follow from its column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    /// Its name.
    pub name: String,
    /// The columns of its partition key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
    /// The columns of its sort key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<String>,
}

impl Operation for Tables {
    const NAME: &'static str = "tables";
    type Answer = TablesAnswer;

    fn run(self, admin: &Admin) -> Result<TablesAnswer> {
        let (tables, unreadable) = readable_tables(admin.engine())?;
        let is_shown = |own: &&Arc<Table>| self.all || !is_internal(&own.schema.name);
        let tables = tables.iter().filter(is_shown).map(|table| entry(table)).collect();
        Ok(TablesAnswer { tables, unreadable })
    }
}

/// Returns true if a table is the engine's own, which no face shows: records of streams, backups.
pub(crate) fn is_internal(name: &TableName) -> bool {
    Owner::of_reserved_name(&name.namespace) == Some(Owner::Engine)
}

/// Returns every readable table by namespace and name, and the errors of the others.
///
/// # Errors
///
/// * Those of the store.
pub fn readable_tables(engine: &Engine) -> Result<(Vec<Arc<Table>>, Vec<String>)> {
    let (mut tables, mut unreadable) = (Vec::new(), Vec::new());
    let mut after = None;
    loop {
        let names = engine.table_names(None, after.as_ref(), 1_000)?;
        let Some(last) = names.last().cloned() else { return Ok((tables, unreadable)) };
        for name in &names {
            match engine.table(name) {
                Ok(table) => tables.push(table),
                // It was dropped meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    unreadable.push(error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        after = Some(last);
    }
}

pub(crate) fn entry(table: &Table) -> TableEntry {
    let schema = &table.schema;
    let of_items = schema.indexes.iter().map(|index| IndexEntry {
        name: index.name.clone(),
        partition_key: Some(partition_text(&index.partition)),
        sort_key: Some(sort_text(&index.sort)),
    });
    let of_cells = schema.cells.iter().flat_map(|cells| &cells.indexes);
    let of_cells = of_cells.map(|index| IndexEntry {
        name: index.name.clone(),
        partition_key: None,
        sort_key: None,
    });
    TableEntry {
        namespace: schema.name.namespace.clone(),
        name: schema.name.name.clone(),
        owner: Owner::of_table(schema).word().to_owned(),
        partition_key: partition_text(&schema.partition),
        sort_key: sort_text(&schema.sort),
        placement: placement_text(schema.placement).to_owned(),
        indexes: of_items.chain(of_cells).collect(),
    }
}

fn placement_text(placement: Placement) -> &'static str {
    match placement {
        Placement::Hashed => "hashed",
        Placement::Ordered => "ordered",
    }
}

fn partition_text(columns: &[KeyColumn]) -> String {
    let columns: Vec<String> =
        columns.iter().map(|column| column_text(&column.name, &column.key_type)).collect();
    columns.join(", ")
}

fn sort_text(columns: &[SortColumn]) -> String {
    let text = |column: &SortColumn| {
        let column_text = column_text(&column.name, &column.key_type);
        match column.direction {
            Direction::Ascending => column_text,
            Direction::Descending => format!("{column_text} desc"),
        }
    };
    columns.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn column_text(name: &str, key_type: &KeyType) -> String {
    // That a column of CQL may also be null or empty is no part of its type.
    let key_type = match key_type {
        KeyType::Kinded(inner) => inner,
        other => other,
    };
    format!("{name} {}", format!("{key_type:?}").to_lowercase())
}
