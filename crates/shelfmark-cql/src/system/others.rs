//! The system tables that tools look for and few clients need: listed with their columns in
//! `others.txt`, and empty unless something is known.
//!
//! What it is not: a picture of a Cassandra node. Nothing is said here that is not so: there are no
//! threads, caches and table files of its kinds.

use shelfmark_cql_syntax::parse_type;

use super::definition::id;
use super::value::{bytes, text};
use super::{Cells, Node};
use crate::auth::Authority;
use crate::schema::{Column, ColumnKind, Schema, Table, resolve_type};

const LISTED: &str = include_str!("others.txt");

/// Returns the tables.
pub(super) fn all() -> Vec<Table> {
    LISTED.lines().filter(|line| !line.starts_with('#')).filter_map(table).collect()
}

/// Reads one line; a test looks that each can be read.
fn table(line: &str) -> Option<Table> {
    let mut parts = line.splitn(5, ';').map(str::trim);
    let (keyspace, name) = parts.next()?.split_once('.')?;
    let mut columns = Vec::new();
    for role in [ColumnKind::PartitionKey, ColumnKind::Clustering, ColumnKind::Regular] {
        for column in columns_of(parts.next()?) {
            let (name, written) = column.split_once(' ')?;
            let parsed = parse_type(written).ok()?;
            let kind = resolve_type(&parsed, keyspace, &Schema::default()).ok()?;
            columns.push(Column::new(name, kind, role));
        }
    }
    Some(Table::new_virtual(keyspace, name, id(keyspace, name), columns, parts.next()?))
}

/// Splits at the commas that stand in no type.
fn columns_of(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |c| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|column| !column.is_empty())
}

/// Returns the rows of `system_views.settings`: what is settled, in Cassandra's words.
pub(super) fn settings(node: &Node, authority: &Authority) -> Vec<Cells> {
    let address = node.address();
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let role_manager = "CassandraRoleManager";
    let authenticator = match authority.has_logins() {
        true => "PasswordAuthenticator",
        false => "AllowAllAuthenticator",
    };
    let authorizer = authority.authorizer().name();
    let known = [
        ("allow_filtering_enabled", "true"),
        ("alter_table_enabled", "true"),
        ("authenticator", authenticator),
        ("authenticator.class_name", authenticator),
        ("authorizer", authorizer),
        ("authorizer.class_name", authorizer),
        ("cluster_name", node.cluster_name()),
        ("drop_compact_storage_enabled", "true"),
        ("drop_truncate_table_enabled", "true"),
        ("dynamic_data_masking_enabled", "false"),
        ("group_by_enabled", "true"),
        ("listen_address", &ip),
        ("materialized_views_enabled", "true"),
        ("native_transport_port", &port),
        ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
        ("read_before_write_list_operations_enabled", "true"),
        ("role_manager", role_manager),
        ("role_manager.class_name", role_manager),
        ("rpc_address", &ip),
        ("sasi_indexes_enabled", "false"),
        ("scripted_user_defined_functions_enabled", "false"),
        ("secondary_indexes_enabled", "true"),
        ("start_native_transport", "true"),
        ("transient_replication_enabled", "false"),
        ("uncompressed_tables_enabled", "true"),
        ("user_defined_functions_enabled", "false"),
        ("user_timestamps_enabled", "true"),
        ("vector_type_enabled", "true"),
    ];
    known.iter().map(|(name, value)| vec![("name", text(name)), ("value", text(value))]).collect()
}

/// Returns the rows of `system_distributed.view_build_status`: a view that is seen is built.
pub(super) fn view_build_status(node: &Node, schema: &Schema) -> Vec<Cells> {
    let views = schema.keyspaces.values().flat_map(|keyspace| keyspace.tables.values());
    views
        .filter(|table| table.is_view())
        .map(|table| {
            vec![
                ("keyspace_name", text(&table.keyspace)),
                ("view_name", text(&table.name)),
                ("host_id", bytes(&node.host_id())),
                ("status", text("SUCCESS")),
            ]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_table() {
        let lines = LISTED.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(table(line).is_some(), "{line}");
        }
        let groups = all();
        let groups = groups.iter().find(|table| &*table.name == "cidr_groups");
        let columns = groups.map(|table| table.columns.iter().map(|own| own.kind.to_string()));
        let columns: Vec<String> = columns.into_iter().flatten().collect();
        assert_eq!(columns, ["text", "frozen<set<frozen<tuple<inet, smallint>>>>"]);
    }
}
