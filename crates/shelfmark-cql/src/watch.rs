//! Tells a watcher of each request that ended: its operation, its duration, and what was read for it.
//!
//! What it is not: a trace, which a client asks for and reads. Nothing of a value is told, but for what
//! stands in the text of a statement, which only a watcher is told that asks for it.
//!
//! Invariant: where nobody watches, a request costs one look at a pointer more; what is kept of one that
//! is watched is bounded.

use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shelfmark_engine::locks::lock;
use shelfmark_engine::{AccessReport, AccessStep};

use shelfmark_cql_protocol::{CqlError, ErrorCode};

/// Steps of a request that are kept; what further tables and indexes had is added to the last.
const STEPS_MAX: usize = 8;
/// Ranges of a step that are kept.
const RANGES_MAX: usize = 8;
/// Statements of a batch whose texts are kept, and bytes of a text.
const STATEMENTS_MAX: usize = 32;
const STATEMENT_SIZE_BYTES_MAX: usize = 16 * 1024;

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'r> {
    /// It was done.
    Done,
    /// The client asked for what it may not have, or cannot be had now.
    Refused(&'r CqlError),
    /// Something went wrong on our side.
    Failed(&'r CqlError),
}

impl<'r> Ending<'r> {
    pub(crate) fn of(error: &'r CqlError) -> Self {
        match error.code {
            ErrorCode::Server
            | ErrorCode::Truncate
            | ErrorCode::WriteTimeout
            | ErrorCode::ReadTimeout
            | ErrorCode::ReadFailure
            | ErrorCode::WriteFailure
            | ErrorCode::CdcWriteFailure
            | ErrorCode::CasWriteUnknown => Self::Failed(error),
            _ => Self::Refused(error),
        }
    }
}

/// A request that ended.
#[derive(Debug)]
pub struct EndedRequest<'r> {
    /// One of [`WATCHED_OPERATIONS`].
    pub operation: &'static str,
    /// The first table that it is for, if that is known.
    pub table: Option<String>,
    /// The outcome.
    pub ending: Ending<'r>,
    /// Time from its last byte to its answer.
    pub took: Duration,
    /// The time of it that was spent waiting for a thread.
    pub queued: Duration,
    /// The cost: rows and ranges read.
    pub report: &'r AccessReport,
    /// The client's end of the connection.
    pub client: SocketAddr,
    /// The texts of its statements, values of a text included, where the watcher wants them
    /// ([`Watcher::wants_statements`]): those of a batch up to a limit.
    pub statements: &'r [Arc<str>],
    /// True if it asks for the rows behind an earlier page.
    pub goes_on: bool,
}

/// A watcher of a face.
pub trait Watcher: Send + Sync + Debug {
    /// Takes a request that ended, just before its answer is sent. It must not block.
    fn ended(&self, request: &EndedRequest<'_>);

    /// Returns true if it wants the texts of statements. Asked once or twice for each request.
    fn wants_statements(&self) -> bool {
        false
    }
}

/// The texts of a request's statements, for a watcher that wants them.
#[derive(Debug, Default)]
pub(crate) struct Statements(Vec<Arc<str>>);

impl Statements {
    /// Keeps the text of one more statement, if there is room.
    pub(crate) fn add(&mut self, text: &str) {
        if self.0.len() < STATEMENTS_MAX && text.len() <= STATEMENT_SIZE_BYTES_MAX {
            self.0.push(Arc::from(text));
        }
    }

    pub(crate) fn all(&self) -> &[Arc<str>] {
        &self.0
    }
}

/// The names of operations that a watcher is told.
pub const WATCHED_OPERATIONS: [&str; 12] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "BATCH", "TRUNCATE", "SCHEMA", "ROLES", "DESCRIBE",
    "USE", "PREPARE", "OTHER",
];

/// Collects what is read for a request, table by table, and how long it waited for threads. Cheap to
/// clone; all clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Reads(Arc<Mutex<(AccessReport, Duration)>>);

impl Reads {
    pub(crate) fn note(&self, report: &AccessReport) {
        let all = &mut lock(&self.0).0;
        for step in &report.steps {
            let count = all.steps.len();
            let place =
                all.steps.iter().position(|own| own.table == step.table && own.index == step.index);
            match place.or((count >= STEPS_MAX).then_some(STEPS_MAX - 1)) {
                Some(place) => {
                    if let Some(own) = all.steps.get_mut(place) {
                        add(own, step);
                    }
                }
                None => {
                    let mut own = step.clone();
                    own.ranges.truncate(RANGES_MAX);
                    all.steps.push(own);
                }
            }
        }
    }

    pub(crate) fn take(&self) -> AccessReport {
        std::mem::take(&mut lock(&self.0).0)
    }

    /// Adds a time that the request waited for a thread.
    pub(crate) fn waited(&self, time: Duration) {
        lock(&self.0).1 += time;
    }

    pub(crate) fn queued(&self) -> Duration {
        lock(&self.0).1
    }
}

fn add(own: &mut AccessStep, step: &AccessStep) {
    own.rows_read += step.rows_read;
    own.rows_returned += step.rows_returned;
    own.bytes_read += step.bytes_read;
    own.keys_peeked += step.keys_peeked;
    let room = RANGES_MAX.saturating_sub(own.ranges.len());
    own.ranges.extend(step.ranges.iter().take(room).cloned());
}
