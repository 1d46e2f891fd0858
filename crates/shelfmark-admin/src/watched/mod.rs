//! A running server's requests compared with a model: `watch`, `watch-open`, `watch-reset`, `watch-close`.
//!
//! What it is not: the comparison. [`ModelWatch`] does that, in a crate that knows models; here is what is
//! asked of it and what it answers.
//!
//! Invariant: an answer holds names of the model and of tables, forms of keys and numbers; no value.

mod text;

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::admin::Admin;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::watch::watch_of;

pub use text::rate_text;

/// Compares requests with a model, one model at a time.
pub trait ModelWatch: Send + Sync {
    /// Returns true if a model is open. Cost: one relaxed atomic load.
    fn is_open(&self) -> bool;

    /// Takes a request that ended. Must not block: what there is no room for is counted and let go.
    fn take(&self, request: SeenRequest);

    /// Opens a model in the place of the one before, and begins anew.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the text is no model, or its schema cannot be asked; mend it.
    fn open(&self, file: &ModelFile) -> Result<()>;

    /// Forgets what was counted.
    fn reset(&self);

    /// Closes the model. What was counted is forgotten.
    fn close(&self);

    /// Returns what was seen; `None` without a model.
    fn report(&self) -> Option<WatchReport>;
}

/// A request that ended, as a face passes it on.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// Its text.
    pub text: SeenText,
    /// Rows read and returned by the step of the answer that read most.
    pub rows_read: u64,
    /// Rows returned.
    pub rows_returned: u64,
    /// Key ranges.
    pub ranges: u64,
    /// Bytes of the rows read.
    pub bytes_read: u64,
    /// Its duration, in microseconds.
    pub took_us: u64,
    /// Its end, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// True if it was refused or failed.
    pub is_refused: bool,
    /// True if it asks for what is behind an earlier page.
    pub goes_on: bool,
}

/// The text of a request.
#[derive(Debug, Clone)]
pub enum SeenText {
    /// An operation of DynamoDB and its body.
    Dynamo(&'static str, Bytes),
    /// Statements of CQL; several for a batch.
    Cql(Vec<Arc<str>>),
}

impl SeenText {
    /// Returns its bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Dynamo(_, body) => body.len(),
            Self::Cql(statements) => statements.iter().map(|own| own.len()).sum(),
        }
    }

    /// Returns true if it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A model to compare with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelFile {
    /// The name of the text in messages.
    pub name: String,
    /// The text.
    pub text: String,
    /// The schema; none for the only one that DynamoDB or CQL can be asked.
    pub schema: Option<String>,
}

/// Asks what was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchModel {}

/// Opens a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WatchOpen(
    /// The model.
    pub ModelFile,
);

/// Forgets what was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchReset {}

/// Closes the model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchClose {}

/// The answer of a model that was closed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchClosed {}

/// The report: all that was seen since a model was opened or its counts were reset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WatchReport {
    /// The name of the model's text.
    pub model: String,
    /// The schema.
    pub schema: String,
    /// Its target: `dynamodb` or `cql`.
    pub target: String,
    /// Milliseconds that were watched.
    pub watched_ms: u64,
    /// Requests to tables of the model, and to others: each item of a batch counts.
    pub requests: u64,
    /// Requests that were refused or failed; they are not compared.
    pub refused: u64,
    /// Requests that were let go because more came than could be compared. Rates count them.
    pub dropped: u64,
    /// Requests whose form is not compared, such as PartiQL.
    pub unread: u64,
    /// The patterns, in the order of the model.
    pub patterns: Vec<PatternEntry>,
    /// Patterns that no request of the target asks, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Requests that no pattern covers, the most frequent first.
    pub uncovered: Vec<UncoveredEntry>,
    /// Requests of further forms that no pattern covers, beyond those that are kept.
    pub uncovered_more: u64,
    /// Findings, in the order they were made.
    pub findings: Vec<WatchFinding>,
    /// The checks of the data of each table.
    pub tables: Vec<TableChecks>,
}

/// A figure on average, in one of a hundred cases, and at most; none where it is not declared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Declared {
    /// On average.
    pub average: Option<f64>,
    /// One case in a hundred exceeds it.
    pub p99: Option<f64>,
    /// At most.
    pub max: Option<f64>,
}

/// Figures of requests that were seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// Half of them had at most so much; within an eighth.
    pub p50: u64,
    /// Ninety-nine of a hundred had at most so much; within an eighth.
    pub p99: u64,
    /// The most.
    pub max: u64,
    /// The sum.
    pub sum: u64,
}

/// A pattern of the model, or several that send the same requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PatternEntry {
    /// The names.
    pub patterns: Vec<String>,
    /// True for reads.
    pub reads: bool,
    /// The form of its first request.
    pub request: String,
    /// Number of its first requests.
    pub calls: u64,
    /// Requests of its further steps.
    pub further: u64,
    /// The declared rate, a second.
    pub declared_rate: Option<f64>,
    /// The real one, a second, on average.
    pub rate: f64,
    /// The real one in the busiest ten seconds.
    pub busiest_rate: f64,
    /// Rows of one call, as declared.
    pub declared_rows: Declared,
    /// Rows returned by a request; of a read in pages, by each page.
    pub rows_returned: Spread,
    /// Rows read.
    pub rows_read: Spread,
    /// Microseconds.
    pub took_us: Spread,
    /// Key ranges of one request, at most.
    pub ranges_max: u64,
    /// `covered`, `not seen`, `more often`, `more rows`, `reads more`, several with commas.
    pub status: String,
}

/// Requests that no pattern covers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UncoveredEntry {
    /// The form of the request.
    pub request: String,
    /// Number of the requests.
    pub calls: u64,
    /// A second, on average.
    pub rate: f64,
    /// Rows returned.
    pub rows_returned: Spread,
    /// Rows read.
    pub rows_read: Spread,
    /// Microseconds.
    pub took_us: Spread,
    /// The reason that no pattern covers it, and what there is that is near.
    pub why: String,
    /// The lines of the model language that would cover it.
    pub proposed: Vec<String>,
}

/// A finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchFinding {
    /// `reads more`, `fan-out`, `unique`, `type`, `missing`, `row`, `partition`.
    pub kind: String,
    /// The pattern, or the attribute or table.
    pub about: String,
    /// The difference between what was seen and what is declared.
    pub message: String,
    /// Number of times.
    pub count: u64,
}

/// The checks of the data of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableChecks {
    /// The table.
    pub table: String,
    /// Items of writes that were checked.
    pub written: u64,
    /// Rows that were read from the store and checked, a few at a time.
    pub sampled: u64,
    /// Number of times that the whole table was gone through.
    pub rounds: u64,
    /// The reason why the table cannot be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

fn model_of(admin: &Admin) -> Result<&Arc<dyn ModelWatch>> {
    let none = || Error::invalid("this server does not compare requests with models");
    watch_of(admin)?.model().ok_or_else(none)
}

fn report_of(admin: &Admin) -> Result<WatchReport> {
    let why = "no model is open: start the server with --model FILE, or open one with \
               `shelfmark watch --server ADDR --model FILE` or on the console's page Watch";
    model_of(admin)?.report().ok_or_else(|| Error::invalid(why))
}

impl Operation for WatchModel {
    const NAME: &'static str = "watch";
    type Answer = WatchReport;

    fn run(self, admin: &Admin) -> Result<WatchReport> {
        report_of(admin)
    }
}

impl Operation for WatchOpen {
    const NAME: &'static str = "watch-open";
    type Answer = WatchReport;

    fn run(self, admin: &Admin) -> Result<WatchReport> {
        model_of(admin)?.open(&self.0)?;
        report_of(admin)
    }
}

impl Operation for WatchReset {
    const NAME: &'static str = "watch-reset";
    type Answer = WatchReport;

    fn run(self, admin: &Admin) -> Result<WatchReport> {
        model_of(admin)?.reset();
        report_of(admin)
    }
}

impl Operation for WatchClose {
    const NAME: &'static str = "watch-close";
    type Answer = WatchClosed;

    fn run(self, admin: &Admin) -> Result<WatchClosed> {
        model_of(admin)?.close();
        Ok(WatchClosed {})
    }
}
