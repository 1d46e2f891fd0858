//! `shelfmark tables`: the tables and their keys.

use std::io::Write as _;
use std::sync::Arc;

use serde_json::json;
use shelfmark_engine::{Engine, ErrorKind, Owner, Table};
use shelfmark_model::{Direction, KeyColumn, KeyType, Placement, SortColumn};

use crate::arguments::Tables;
use crate::store::with_engine;
use crate::table::table;

pub(crate) fn run(tables: &Tables) -> anyhow::Result<()> {
    with_engine(&tables.data.data, |engine| {
        let (all, unreadable) = readable_tables(engine)?;
        let mut out = std::io::stdout();
        if tables.json {
            let list: Vec<_> = all.iter().map(|table| describe(table)).collect();
            tell_unreadable(&unreadable);
            writeln!(out, "{}", serde_json::to_string_pretty(&list)?)?;
            return Ok(());
        }
        tell_unreadable(&unreadable);
        if all.is_empty() && unreadable.is_empty() {
            writeln!(out, "The store has no tables yet.")?;
            return Ok(());
        }
        let mut rows =
            table(["table", "owner", "partition key", "sort key", "placement", "indexes"]);
        for own in &all {
            let schema = &own.schema;
            let of_cells = schema.cells.iter().flat_map(|cells| &cells.indexes);
            let indexes = schema.indexes.iter().map(|index| index.name.as_str());
            let indexes: Vec<&str> =
                indexes.chain(of_cells.map(|index| index.name.as_str())).collect();
            rows.add_row([
                schema.name.to_string(),
                Owner::of_table(schema).word().to_owned(),
                partition_text(&schema.partition),
                sort_text(&schema.sort),
                placement_text(schema.placement).to_owned(),
                indexes.join(", "),
            ]);
        }
        writeln!(out, "{rows}")?;
        Ok(())
    })
}

/// Returns every readable table, by namespace and name.
pub(crate) fn all_tables(engine: &Engine) -> anyhow::Result<Vec<Arc<Table>>> {
    Ok(readable_tables(engine)?.0)
}

/// Returns every readable table, and the errors of the others.
fn readable_tables(engine: &Engine) -> anyhow::Result<(Vec<Arc<Table>>, Vec<String>)> {
    let (mut tables, mut unreadable) = (Vec::new(), Vec::new());
    let mut after = None;
    loop {
        let names = engine.table_names(None, after.as_ref(), 1_000)?;
        let Some(last) = names.last().cloned() else { return Ok((tables, unreadable)) };
        for name in &names {
            match engine.table(name) {
                Ok(table) => tables.push(table),
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    unreadable.push(error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        after = Some(last);
    }
}

fn tell_unreadable(unreadable: &[String]) {
    unreadable.iter().for_each(|why| anstream::eprintln!("{why}"));
}

fn describe(table: &Table) -> serde_json::Value {
    let schema = &table.schema;
    json!({
        "namespace": schema.name.namespace,
        "name": schema.name.name,
        "owner": Owner::of_table(schema).word(),
        "partition_key": partition_text(&schema.partition),
        "sort_key": sort_text(&schema.sort),
        "placement": placement_text(schema.placement),
        "indexes": schema.indexes.iter().map(|index| json!({
            "name": index.name,
            "partition_key": partition_text(&index.partition),
            "sort_key": sort_text(&index.sort),
        })).collect::<Vec<_>>(),
    })
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
