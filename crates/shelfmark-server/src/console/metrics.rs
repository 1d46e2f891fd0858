//! Numbers for Prometheus: requests as they end, and the state of the store when it is asked for.
//!
//! What it is not: kept where nobody asked for a console. Then a request costs one look at a pointer.
//!
//! Invariant: the names of operations are those of the face; whatever else a client sends is `other`.

use std::sync::OnceLock;
use std::time::Duration;

use hyper::StatusCode;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use shelfmark_engine::Engine;
use shelfmark_engine::budget::Budget;

use super::{Answer, text};

/// Upper bounds of the buckets of times, in seconds.
const TIMES: [f64; 12] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Has requests of this process counted from now on.
pub(crate) fn install() {
    RECORDER.get_or_init(|| {
        let times = Matcher::Full("shelfmark_request_seconds".to_owned());
        let builder = PrometheusBuilder::new().set_buckets_for_metric(times, &TIMES);
        let handle = builder.ok().and_then(|builder| builder.install_recorder().ok());
        if handle.is_none() {
            tracing::warn!("metrics are not kept: the process counts for somebody else already");
        }
        describe();
        handle
    });
}

fn describe() {
    describe_counter!("shelfmark_requests_total", "Requests by face, operation and status.");
    describe_histogram!(
        "shelfmark_request_seconds",
        "Time from the head of a request to its answer."
    );
    describe_counter!(
        "shelfmark_commits_total",
        "Commits acknowledged since the store was opened."
    );
    describe_counter!("shelfmark_commit_groups_total", "Groups of commits written together.");
    describe_counter!("shelfmark_syncs_total", "Syncs of the commit log.");
    describe_counter!(
        "shelfmark_busy_refusals_total",
        "Commits refused because background work was behind."
    );
    describe_counter!("shelfmark_flushes_total", "Memory tables written to table files.");
    describe_counter!("shelfmark_compactions_total", "Merges of table files.");
    describe_gauge!("shelfmark_commits_pending", "Commits queued and not acknowledged yet.");
    describe_gauge!("shelfmark_log_bytes", "Bytes of the commit log on disk.");
    describe_gauge!("shelfmark_table_file_bytes", "Bytes of rows in table files on disk.");
    describe_gauge!("shelfmark_memory_table_bytes", "Bytes in memory tables.");
    describe_gauge!("shelfmark_snapshots_open", "Open snapshots.");
    describe_gauge!("shelfmark_disk_free_bytes", "Free space of the store's file system.");
    describe_gauge!("shelfmark_budget_bytes", "The memory that clients share.");
    describe_gauge!("shelfmark_budget_taken_bytes", "The part of it that is taken.");
    describe_counter!("shelfmark_background_runs_total", "Runs of background work, by its kind.");
    describe_counter!("shelfmark_background_done_total", "Background work done, by its kind.");
    describe_counter!(
        "shelfmark_background_failures_total",
        "Runs of background work that failed."
    );
    describe_gauge!("shelfmark_set_aside_records", "Records that background work went on without.");
}

/// Counts a request that ended.
pub(crate) fn request(face: &'static str, operation: &'static str, status: u16, took: Duration) {
    let class = match status {
        200..=299 => "ok",
        400..=499 => "refused",
        _ => "failed",
    };
    counter!("shelfmark_requests_total", "face" => face, "operation" => operation, "status" => class)
        .increment(1);
    histogram!("shelfmark_request_seconds", "face" => face, "operation" => operation)
        .record(took.as_secs_f64());
}

/// Answers in the text format of Prometheus.
pub(super) fn scraped(engine: &Engine, budget: &Budget) -> Answer {
    let Some(Some(handle)) = RECORDER.get() else {
        let why = "metrics are not kept in this process\n".to_owned();
        return text(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    take(engine, budget);
    handle.run_upkeep();
    text(StatusCode::OK, handle.render())
}

#[expect(clippy::cast_precision_loss, reason = "numbers for charts")]
fn number(n: u64) -> f64 {
    n as f64
}

fn take(engine: &Engine, budget: &Budget) {
    let store = engine.store().stats();
    counter!("shelfmark_commits_total").absolute(store.commits);
    counter!("shelfmark_commit_groups_total").absolute(store.groups);
    counter!("shelfmark_syncs_total").absolute(store.syncs);
    counter!("shelfmark_busy_refusals_total").absolute(store.busy_refusals);
    counter!("shelfmark_flushes_total").absolute(store.flushes);
    counter!("shelfmark_compactions_total").absolute(store.compactions);
    gauge!("shelfmark_commits_pending").set(number(store.commits_pending));
    gauge!("shelfmark_log_bytes").set(number(store.log_bytes_on_disk));
    gauge!("shelfmark_table_file_bytes").set(number(store.tree_bytes_on_disk));
    gauge!("shelfmark_memory_table_bytes").set(number(store.memory_table_bytes));
    gauge!("shelfmark_snapshots_open").set(number(store.snapshots_open));
    if let Some(free) = store.disk_free_bytes {
        gauge!("shelfmark_disk_free_bytes").set(number(free));
    }
    gauge!("shelfmark_budget_bytes").set(number(budget.limit() as u64));
    gauge!("shelfmark_budget_taken_bytes").set(number(budget.taken() as u64));
    let background = engine.background();
    for own in &background.works {
        let work = own.work.name();
        counter!("shelfmark_background_runs_total", "work" => work).absolute(own.runs);
        counter!("shelfmark_background_done_total", "work" => work).absolute(own.done);
        counter!("shelfmark_background_failures_total", "work" => work).absolute(own.failures);
    }
    gauge!("shelfmark_set_aside_records").set(number(background.set_aside.len() as u64));
}
