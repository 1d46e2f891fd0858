//! Tables of client activity: connections, prepared statements, and the work behind these.
//!
//! Invariant: no password shows in a statement's text.

use std::net::IpAddr;

use shelfmark_engine::Engine;

use super::value::Cells;
use super::value::{bigint, boolean, bytes, double, inet, int, text, text_map};
use crate::session::{Clients, PreparedStatements, without_password};

/// Returns the rows of `system_views.clients`.
pub(super) fn clients(clients: &Clients) -> Vec<Cells> {
    let row = |client: crate::session::Client| {
        let option = |wanted: &str| {
            let found = client.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| text(value))
        };
        let requests = i64::try_from(client.requests).unwrap_or(i64::MAX);
        let mut row = vec![
            ("address", inet(client.address.ip())),
            ("port", int(i32::from(client.address.port()))),
            ("client_options", text_map(&client.options)),
            ("connection_stage", text(client.stage)),
            ("hostname", text(&host_name(client.address.ip()))),
            ("protocol_version", int(i32::from(client.version.number()))),
            ("request_count", bigint(requests)),
            ("ssl_enabled", boolean(client.encryption.is_some())),
            ("username", text(&client.user)),
        ];
        row.extend(option("DRIVER_NAME").map(|name| ("driver_name", name)));
        row.extend(option("DRIVER_VERSION").map(|version| ("driver_version", version)));
        row.extend(client.keyspace.as_deref().map(|name| ("keyspace_name", text(name))));
        if let Some(own) = &client.encryption {
            row.push(("ssl_cipher_suite", text(&own.cipher_suite)));
            row.push(("ssl_protocol", text(&own.protocol)));
        }
        row
    };
    clients.all().into_iter().map(row).collect()
}

/// Returns the name of a client's host. Nobody is asked for it: of others than this machine it is the
/// address, as where an address has no name.
fn host_name(address: IpAddr) -> String {
    if address.is_loopback() { "localhost".to_owned() } else { address.to_string() }
}

/// Returns the rows of `system.prepared_statements`.
pub(super) fn prepared_statements(statements: &PreparedStatements) -> Vec<Cells> {
    let row = |own: crate::session::ListedStatement| {
        let mut row = vec![
            ("prepared_id", bytes(&own.id)),
            ("query_string", text(&without_password(own.text))),
        ];
        row.extend(own.keyspace.map(|keyspace| ("logged_keyspace", text(&keyspace))));
        row
    };
    statements.listed().0.into_iter().map(row).collect()
}

/// Returns the rows of `system_views.cql_metrics`.
pub(super) fn cql_metrics(clients: &Clients, statements: &PreparedStatements) -> Vec<Cells> {
    let (listed, evicted) = statements.listed();
    let totals = clients.totals();
    let (queries, executions) = (f64_of(totals.queries), f64_of(totals.executions));
    let ratio = if executions > 0.0 { executions / (queries + executions) } else { 0.0 };
    let metrics = [
        ("prepared_statements_count", f64_of(listed.len() as u64)),
        ("prepared_statements_evicted", f64_of(evicted)),
        ("prepared_statements_executed", executions),
        ("prepared_statements_ratio", ratio),
        ("regular_statements_executed", queries),
    ];
    let row = |(name, value)| vec![("name", text(name)), ("value", double(value))];
    metrics.into_iter().map(row).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts that nobody reads to the last digit")]
fn f64_of(number: u64) -> f64 {
    number as f64
}

/// Returns the rows of `system_views.thread_pools`: of Cassandra's pools those whose work is done and
/// counted here. How many threads a pool may have is left out where nobody set it.
pub(super) fn thread_pools(clients: &Clients, engine: &Engine) -> Vec<Cells> {
    let requests = clients.totals();
    let store = engine.store().stats();
    let pools = [
        ("CompactionExecutor", 0, 0, store.compactions),
        ("MemtableFlushWriter", 0, 0, store.flushes),
        ("MutationStage", 0, store.commits_pending, store.commits),
        ("Native-Transport-Requests", requests.active, 0, requests.completed),
    ];
    let row = |(name, active, pending, completed): (&str, u64, u64, u64)| {
        let number = |number: u64| int(i32::try_from(number).unwrap_or(i32::MAX));
        vec![
            ("name", text(name)),
            ("active_tasks", number(active)),
            ("blocked_tasks", bigint(0)),
            ("blocked_tasks_all_time", bigint(0)),
            ("completed_tasks", bigint(i64::try_from(completed).unwrap_or(i64::MAX))),
            ("pending_tasks", number(pending)),
        ]
    };
    pools.into_iter().map(row).collect()
}
