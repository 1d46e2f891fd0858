//! Takes requests that ended, of both faces, into the metrics, into the notes of slow and refused ones,
//! and, while a model is open, to its comparison with them.
//!
//! Invariant: nothing of a value is noted: of a refusal its kind, never its words. The comparison is handed
//! texts of requests, and keeps their form.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use shelfmark_admin::{ConnectionEntry, ConnectionList, Noted, SeenRequest, SeenText, Watch};
use shelfmark_cql::{EndedRequest, Ending, Watcher};
use shelfmark_dynamo::{CONDITION_FAILED, exception_of, table_of};
use shelfmark_engine::{AccessReport, AccessStep, Environment};

use super::metrics::{self, Class};
use crate::connection_slots::ConnectionSlots;

/// Returns the watcher of a CQL face, for [`shelfmark_cql::FaceOptions::watcher`].
#[must_use]
pub fn cql_watcher(watch: Watch, environment: Environment) -> Arc<dyn Watcher> {
    Arc::new(CqlWatcher { watch, environment })
}

struct CqlWatcher {
    watch: Watch,
    environment: Environment,
}

impl std::fmt::Debug for CqlWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CqlWatcher").finish_non_exhaustive()
    }
}

impl Watcher for CqlWatcher {
    fn ended(&self, request: &EndedRequest<'_>) {
        let (class, refusal) = match request.ending {
            Ending::Done => (Class::Ok, None),
            Ending::Refused(error) => (Class::Refused, Some(format!("{:?}", error.code))),
            Ending::Failed(error) => (Class::Failed, Some(format!("{:?}", error.code))),
        };
        metrics::request("cql", request.operation, class, request.took);
        metrics::rows("cql", request.report);
        if let Some(error) = &refusal {
            metrics::refusal("cql", error);
        }
        if self.watch.takes(request.took, refusal.is_some()) {
            let noted = Noted {
                face: "cql",
                operation: request.operation,
                table: request.table.as_deref(),
                refusal: refusal.as_deref(),
                took: request.took,
                queued: request.queued,
                report: request.report,
                now_micros: self.environment.clock.now_micros(),
            };
            self.watch.take(&noted, refusal.is_some());
        }
        // Statements are there only while a model is open.
        if !request.statements.is_empty()
            && let Some(model) = self.watch.comparing()
        {
            let is_refused = !matches!(request.ending, Ending::Done);
            let text = SeenText::Cql(request.statements.to_vec());
            let now_micros = self.environment.clock.now_micros();
            let seen = seen(text, request.report, request.took, now_micros);
            model.take(SeenRequest { is_refused, goes_on: request.goes_on, ..seen });
        }
    }

    fn wants_statements(&self) -> bool {
        self.watch.comparing().is_some()
    }
}

/// Returns a request as the comparison with a model takes it.
fn seen(text: SeenText, report: &AccessReport, took: Duration, now_micros: u64) -> SeenRequest {
    // Entries of an index and the rows that they lead to are read for one answer: counted once.
    let most = |count: fn(&AccessStep) -> u64| report.steps.iter().map(count).max();
    SeenRequest {
        text,
        rows_read: most(|step| step.rows_read).unwrap_or_default(),
        rows_returned: most(|step| step.rows_returned).unwrap_or_default(),
        ranges: report.steps.iter().map(|step| step.ranges.len() as u64).sum(),
        bytes_read: report.bytes_read(),
        took_us: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        at_ms: now_micros / 1_000,
        is_refused: false,
        goes_on: false,
    }
}

/// A request of DynamoDB that ended.
pub(crate) struct EndedOperation<'r> {
    pub(crate) operation: &'static str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    /// The time of it that was spent waiting for a thread.
    pub(crate) queued: Duration,
    /// The cost: rows and ranges read.
    pub(crate) report: &'r AccessReport,
    /// The body that it was sent, as far as it was read.
    pub(crate) asked: &'r Bytes,
    /// The beginning of the body of a refusal.
    pub(crate) refused: Option<&'r [u8]>,
}

/// Takes a request of DynamoDB that ended.
pub(crate) fn ended(watch: Option<&(Watch, Environment)>, request: &EndedOperation<'_>) {
    let class = Class::of(request.status);
    metrics::request("dynamodb", request.operation, class, request.took);
    let Some((watch, environment)) = watch else { return };
    metrics::rows("dynamodb", request.report);
    let refusal = request.refused.map(|body| exception_of(body).unwrap_or("unknown"));
    if let Some(error) = refusal {
        metrics::refusal("dynamodb", error);
    }
    // A condition that does not hold is an answer like another.
    let is_refused = refusal.is_some_and(|error| error != CONDITION_FAILED);
    if watch.takes(request.took, is_refused) {
        let noted = Noted {
            face: "dynamodb",
            operation: request.operation,
            table: table_of(request.asked),
            refusal,
            took: request.took,
            queued: request.queued,
            report: request.report,
            now_micros: environment.clock.now_micros(),
        };
        watch.take(&noted, is_refused);
    }
    if let Some(model) = watch.comparing() {
        let text = SeenText::Dynamo(request.operation, request.asked.clone());
        let now_micros = environment.clock.now_micros();
        let seen = seen(text, request.report, request.took, now_micros);
        // Whether it goes on behind a page stands in its body.
        model.take(SeenRequest { is_refused, ..seen });
    }
}

impl ConnectionList for ConnectionSlots {
    fn list(&self, out: &mut Vec<ConnectionEntry>) {
        self.each(|face, address, busy, known, idle_ms| {
            let (face, address) = (face.to_owned(), address.to_string());
            out.push(ConnectionEntry { face, address, busy, known, idle_ms });
        });
    }
}
