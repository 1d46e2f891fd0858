//! The system tables that tools look for and few clients need: listed with their columns in
//! `others.txt`, and empty unless something is known.
//!
//! What it is not: a picture of a Cassandra node. Nothing is said here that is not so: there are no
//! threads, caches and table files of its kinds.

use shelfmark_cql_protocol::limits::ENVELOPE_SIZE_BYTES_MAX;
use shelfmark_cql_syntax::parse_type;
use shelfmark_cql_types::{VECTOR_DIMENSION_MAX, resolve_type};
use shelfmark_engine::Durability;

use super::definition::id;
use super::local::Node;
use super::value::Cells;
use super::value::{bigint, double, int, text};
use crate::auth::Authority;
use crate::limits::{
    BATCH_SIZE_BYTES_MAX, BATCH_SIZE_BYTES_WARNED, COMBINATIONS_MAX, MUTATION_SIZE_BYTES_MAX,
    TRACE_AGE_SECONDS_MAX, UNLOGGED_BATCH_PARTITIONS_WARNED,
};
use crate::schema::{Column, ColumnKind, Schema, Table};

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
pub(super) fn settings(node: &Node, authority: &Authority, durability: Durability) -> Vec<Cells> {
    let address = node.address();
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let kibibytes = |bytes: u64| format!("{}KiB", bytes / 1024);
    let (warned, failed) = (kibibytes(BATCH_SIZE_BYTES_WARNED), kibibytes(BATCH_SIZE_BYTES_MAX));
    let mutation = kibibytes(MUTATION_SIZE_BYTES_MAX);
    let unlogged = UNLOGGED_BATCH_PARTITIONS_WARNED.to_string();
    let products = COMBINATIONS_MAX.to_string();
    let dimensions = VECTOR_DIMENSION_MAX.to_string();
    let frame = format!("{}MiB", ENVELOPE_SIZE_BYTES_MAX / (1024 * 1024));
    let tokens = node.tokens().len().to_string();
    let traces = format!("{}d", TRACE_AGE_SECONDS_MAX / 86_400);
    // Every commit is synced before it is acknowledged, or all of an interval together.
    let sync = match durability {
        Durability::Sync => "batch",
        Durability::Interval(_) => "periodic",
    };
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
        ("batch_size_fail_threshold", &failed),
        ("batch_size_warn_threshold", &warned),
        ("cluster_name", node.cluster_name()),
        ("commitlog_sync", sync),
        ("drop_compact_storage_enabled", "true"),
        ("drop_truncate_table_enabled", "true"),
        ("dynamic_data_masking_enabled", "true"),
        ("endpoint_snitch", "SimpleSnitch"),
        ("group_by_enabled", "true"),
        ("in_select_cartesian_product_fail_threshold", &products),
        ("listen_address", &ip),
        ("materialized_views_enabled", "true"),
        ("max_mutation_size", &mutation),
        ("native_transport_max_frame_size", &frame),
        ("native_transport_port", &port),
        ("num_tokens", &tokens),
        ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner"),
        ("read_before_write_list_operations_enabled", "true"),
        ("role_manager", role_manager),
        ("role_manager.class_name", role_manager),
        ("rpc_address", &ip),
        ("sasi_indexes_enabled", "false"),
        ("scripted_user_defined_functions_enabled", "false"),
        ("secondary_indexes_enabled", "true"),
        ("start_native_transport", "true"),
        ("trace_type_query_ttl", &traces),
        ("transient_replication_enabled", "false"),
        ("uncompressed_tables_enabled", "true"),
        ("unlogged_batch_across_partitions_warn_threshold", &unlogged),
        ("user_defined_functions_enabled", "true"),
        ("user_timestamps_enabled", "true"),
        ("vector_dimensions_fail_threshold", &dimensions),
        ("vector_type_enabled", "true"),
    ];
    known.iter().map(|(name, value)| vec![("name", text(name)), ("value", text(value))]).collect()
}

/// Returns the rows of `system_views.system_properties`: of those that Cassandra shows the ones that
/// are no matter of a Java machine.
pub(super) fn system_properties() -> Vec<Cells> {
    let os = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "Mac OS X",
        "windows" => "Windows",
        other => other,
    };
    // As Java calls it.
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        other => other,
    };
    let known = [("os.arch", arch), ("os.name", os)];
    known.iter().map(|(name, value)| vec![("name", text(name)), ("value", text(value))]).collect()
}

/// Returns the rows of `system_views.caches`: as of a Cassandra that was told to have none of them.
pub(super) fn caches() -> Vec<Cells> {
    let row = |name: &&str| {
        vec![
            ("name", text(name)),
            ("capacity_bytes", bigint(0)),
            ("entry_count", int(0)),
            ("hit_count", bigint(0)),
            ("hit_ratio", double(f64::NAN)),
            ("recent_hit_rate_per_second", bigint(0)),
            ("recent_request_rate_per_second", bigint(0)),
            ("request_count", bigint(0)),
            ("size_bytes", bigint(0)),
        ]
    };
    ["counters", "keys", "rows"].iter().map(row).collect()
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
