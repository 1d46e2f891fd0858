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
use shelfmark_admin::Admin;
use shelfmark_engine::budget::Budget;
use shelfmark_engine::{AccessReport, Engine};

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
    describe_counter!("shelfmark_rows_read_total", "Rows read, before any filter, by face.");
    describe_counter!("shelfmark_rows_returned_total", "Rows returned, by face.");
    describe_counter!("shelfmark_row_bytes_read_total", "Bytes of the rows read, by face.");
    describe_counter!(
        "shelfmark_refusals_total",
        "Requests refused or failed, by face and error; conflicts are TransactionConflictException and WriteTimeout."
    );
    describe_gauge!("shelfmark_connections", "Open connections of clients, by face.");
    describe_gauge!("shelfmark_connections_busy", "Connections with a request under way, by face.");
    describe_gauge!("shelfmark_table_files", "Table files by level, the freshest first.");
    describe_gauge!("shelfmark_cache_bytes", "Bytes of cached blocks.");
    describe_gauge!("shelfmark_cache_limit_bytes", "Bytes of blocks that may be cached.");
    describe_counter!("shelfmark_log_bytes_total", "Bytes appended to the commit log since open.");
    describe_gauge!(
        "shelfmark_disk_space_waits",
        "1 while flushes and merges wait for free disk space."
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
    describe_gauge!(
        "shelfmark_background_failing",
        "Runs of background work that failed in a row, by its kind; 0 while it is done."
    );
    describe_gauge!("shelfmark_set_aside_records", "Records that background work went on without.");
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Ok,
    Refused,
    Failed,
}

impl Class {
    /// Returns the class of a status of HTTP.
    pub(super) fn of(status: u16) -> Self {
        match status {
            200..=299 => Self::Ok,
            400..=499 => Self::Refused,
            _ => Self::Failed,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// Counts a request that ended.
pub(super) fn request(face: &'static str, operation: &'static str, class: Class, took: Duration) {
    let status = class.word();
    counter!("shelfmark_requests_total", "face" => face, "operation" => operation, "status" => status)
        .increment(1);
    histogram!("shelfmark_request_seconds", "face" => face, "operation" => operation)
        .record(took.as_secs_f64());
}

/// Counts the rows that were read for a request.
pub(super) fn rows(face: &'static str, report: &AccessReport) {
    if report.steps.is_empty() {
        return;
    }
    counter!("shelfmark_rows_read_total", "face" => face).increment(report.rows_read());
    counter!("shelfmark_rows_returned_total", "face" => face).increment(report.rows_returned());
    counter!("shelfmark_row_bytes_read_total", "face" => face).increment(report.bytes_read());
}

/// Counts a refusal or failure by its kind, which is one of the face's own.
pub(super) fn refusal(face: &'static str, error: &str) {
    counter!("shelfmark_refusals_total", "face" => face, "error" => error.to_owned()).increment(1);
}

/// Answers in the text format of Prometheus.
pub(super) fn scraped(admin: &Admin, budget: &Budget) -> Answer {
    let Some(Some(handle)) = RECORDER.get() else {
        let why = "metrics are not kept in this process\n".to_owned();
        return text(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    take(admin.engine(), budget);
    take_connections(admin);
    handle.run_upkeep();
    text(StatusCode::OK, handle.render())
}

/// The labels of levels.
const LEVELS: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];

fn take_connections(admin: &Admin) {
    let open = admin.watch().map(|watch| watch.connections()).unwrap_or_default();
    for face in ["cql", "dynamodb"] {
        let of_face = open.iter().filter(|own| own.face == face);
        let busy = of_face.clone().filter(|own| own.busy).count();
        gauge!("shelfmark_connections", "face" => face).set(number(of_face.count() as u64));
        gauge!("shelfmark_connections_busy", "face" => face).set(number(busy as u64));
    }
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
    counter!("shelfmark_log_bytes_total").absolute(store.log_bytes_written);
    for (level, files) in LEVELS.into_iter().zip(store.level_files) {
        gauge!("shelfmark_table_files", "level" => level).set(number(files));
    }
    gauge!("shelfmark_cache_bytes").set(number(store.cache_bytes));
    gauge!("shelfmark_cache_limit_bytes").set(number(store.cache_bytes_max));
    gauge!("shelfmark_disk_space_waits").set(f64::from(u8::from(store.waits_for_disk_space)));
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
        let in_a_row = u64::from(own.failures_in_a_row);
        gauge!("shelfmark_background_failing", "work" => work).set(number(in_a_row));
    }
    gauge!("shelfmark_set_aside_records").set(number(background.set_aside.len() as u64));
}
