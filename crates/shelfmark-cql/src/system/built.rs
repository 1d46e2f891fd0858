//! Indexes and views that are built, and views that still are being built.
//!
//! A statement that creates one answers when it is built, and until then nobody sees it. Those that
//! were interrupted by the end of the server, and those whose building failed, are seen unbuilt.
//!
//! Invariant: what is listed as built answers every query that it serves.

use bytes::Bytes;
use shelfmark_cql_types::CqlType;

use super::local::Node;
use super::value::Cells;
use super::value::{boolean, bytes, text};
use crate::schema::{IndexTarget, Schema, Table};

fn tables(schema: &Schema) -> impl Iterator<Item = &Table> {
    let tables = schema.keyspaces.values().flat_map(|keyspace| keyspace.tables.values());
    tables.map(|table| &**table)
}

fn views(schema: &Schema, built: bool) -> impl Iterator<Item = &Table> {
    tables(schema).filter(move |table| table.is_view() && table.is_unbuilt_view() != built)
}

fn view_key(view: &Table) -> Cells {
    vec![("keyspace_name", text(&view.keyspace)), ("view_name", text(&view.name))]
}

/// Returns the rows of `system."IndexInfo"`, whose key column is called `table_name` and holds the
/// keyspace, as in the original.
pub(super) fn index_info(schema: &Schema) -> Vec<Cells> {
    let mut rows = Vec::new();
    for keyspace in schema.keyspaces.values() {
        let indexes = keyspace.tables.values().flat_map(|table| &table.indexes);
        let mut names: Vec<&str> =
            indexes.filter(|index| index.is_public).map(|index| index.name.as_str()).collect();
        names.sort_unstable();
        rows.extend(
            names
                .into_iter()
                .map(|name| vec![("table_name", text(&keyspace.name)), ("index_name", text(name))]),
        );
    }
    rows
}

/// Returns the rows of `system.built_views`.
pub(super) fn built_views(schema: &Schema) -> Vec<Cells> {
    let row = |view| [view_key(view), vec![("status_replicated", boolean(true))]].concat();
    views(schema, true).map(row).collect()
}

/// Returns the rows of `system.view_builds_in_progress`: each view is built in one go from the least
/// token on. How far that is, is not known outside of the engine.
pub(super) fn view_builds_in_progress(schema: &Schema) -> Vec<Cells> {
    let ends = |_: &Table| {
        let least = text(&i64::MIN.to_string());
        vec![("start_token", least.clone()), ("end_token", least)]
    };
    views(schema, false).map(|view| [view_key(view), ends(view)].concat()).collect()
}

/// Returns the rows of `system_distributed.view_build_status`.
pub(super) fn view_build_status(node: &Node, schema: &Schema) -> Vec<Cells> {
    let row = |view: &Table| {
        let status = if view.is_unbuilt_view() { "STARTED" } else { "SUCCESS" };
        let host: Bytes = bytes(&node.host_id());
        [view_key(view), vec![("host_id", host), ("status", text(status))]].concat()
    };
    tables(schema).filter(|table| table.is_view()).map(row).collect()
}

/// Returns the rows of `system_views.sai_column_indexes`.
pub(super) fn sai_column_indexes(schema: &Schema) -> Vec<Cells> {
    let mut rows = Vec::new();
    for keyspace in schema.keyspaces.values() {
        let tables = keyspace.tables.values();
        let mut found: Vec<_> = tables
            .flat_map(|table| table.indexes.iter().map(move |index| (&index.name, table, index)))
            .filter(|(_, _, index)| index.is_sai())
            .collect();
        found.sort_by_key(|(name, ..)| *name);
        rows.extend(found.into_iter().map(|(name, table, index)| {
            let column = table.column(&index.column);
            let indexed = column.map(|column| indexed(&column.kind, index.target));
            let is_folded = index.fold() != shelfmark_model::TextFold::default();
            let analyzer = if is_folded { "NonTokenizingAnalyzer" } else { "NoOpAnalyzer" };
            vec![
                ("keyspace_name", text(&keyspace.name)),
                ("index_name", text(name)),
                ("analyzer", text(analyzer)),
                ("column_name", text(&index.column)),
                ("is_building", boolean(!index.is_public)),
                ("is_queryable", boolean(index.is_public)),
                ("is_string", boolean(indexed.is_some_and(CqlType::is_string))),
                ("table_name", text(&table.name)),
            ]
        }));
    }
    rows
}

/// Returns the type of what an index of a column is looked up by.
fn indexed(kind: &CqlType, target: IndexTarget) -> &CqlType {
    match (kind, target) {
        (CqlType::Map { key, .. }, IndexTarget::Keys) => key,
        (CqlType::Map { value, .. }, IndexTarget::Values) => value,
        (CqlType::List { element, .. } | CqlType::Set { element, .. }, IndexTarget::Values) => {
            element
        }
        (other, _) => other,
    }
}
