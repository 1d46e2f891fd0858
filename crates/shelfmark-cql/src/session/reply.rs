//! From an outcome to the bytes of its answer.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use shelfmark_cql_protocol::frame::{Opcode, SpooledAnswer, Version, flag};
use shelfmark_cql_protocol::message::{
    self, ResultHead, ResultMetadataId, RowsMetadata, Write as _, metadata_id,
};
use shelfmark_cql_protocol::{ColumnSpec, CqlError};
use shelfmark_engine::Environment;
use shelfmark_engine::weight::Refused;

use super::face::Face;
use super::paging_state;
use super::send_queue::SendQueue;
use super::tracing::{Trace, time_uuid};
use crate::outcome::{Answer, Answered, Outcome};
use crate::statement::{Plan, PreparedStatement};
use crate::trace_recorder::TraceRecorder;
use crate::watch::{EndedRequest, Ending, Reads, Statements, Watcher};

/// A request on its way: where its answer goes.
pub(super) struct PendingRequest {
    pub(super) face: Arc<Face>,
    pub(super) send_queue: Arc<SendQueue>,
    pub(super) version: Version,
    pub(super) stream: i16,
    /// Length of its body.
    pub(super) bytes: usize,
    /// The trace of the request, if one was asked for.
    pub(super) traced: Option<OpenTrace>,
    /// The notes for a watcher, if there is one.
    pub(super) watched: Option<OpenWatch>,
    /// The turn on another thread of the sockets or at the pool, if it has one.
    pub(super) turn: Option<Turn>,
    /// The client's end of the connection.
    pub(super) client: SocketAddr,
}

/// A request of a connection that runs on another thread.
pub(super) struct Turn(Arc<AtomicUsize>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A trace that is being recorded, with what it says of its request.
pub(super) struct OpenTrace {
    pub(super) client: IpAddr,
    pub(super) request: &'static str,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) log: TraceRecorder,
}

/// A request that is watched.
pub(super) struct OpenWatch {
    pub(super) watcher: Arc<dyn Watcher>,
    pub(super) operation: &'static str,
    pub(super) plan: Option<Arc<Plan>>,
    pub(super) reads: Reads,
    pub(super) statements: Statements,
    pub(super) goes_on: bool,
    /// Its start, by the monotonic clock.
    pub(super) started: Duration,
}

/// A request that waits for a thread.
pub(super) struct Waits {
    /// Holds where the time is noted, if somebody watches, and when it began.
    noted: Option<(Reads, Environment, Duration)>,
}

impl Waits {
    /// Returns the work with the wait before it noted.
    pub(super) fn before(
        self,
        work: impl FnOnce(Result<(), Refused>) + Send + 'static,
    ) -> Box<dyn FnOnce(Result<(), Refused>) + Send> {
        Box::new(move |admitted| {
            if let Some((reads, environment, begun)) = self.noted {
                reads.waited(environment.clock.monotonic().saturating_sub(begun));
            }
            work(admitted);
        })
    }
}

/// The result metadata that the client has already.
pub(super) enum ClientMetadata {
    /// The client wants the columns with the rows.
    None,
    /// The client does not want the columns.
    All,
    /// The client does not want the columns if they are these; otherwise it is sent them.
    These(Arc<[ColumnSpec]>),
    /// Version 5: it names those it has. Second: whether it wants none that it has.
    Named(ResultMetadataId, bool),
}

impl ClientMetadata {
    fn head(&self, columns: &Arc<[ColumnSpec]>) -> RowsMetadata {
        match self {
            Self::None => RowsMetadata::Full,
            Self::All => RowsMetadata::Skipped,
            Self::These(known) if Arc::ptr_eq(known, columns) || known == columns => {
                RowsMetadata::Skipped
            }
            Self::These(_) => RowsMetadata::Full,
            Self::Named(known, skip) => {
                let now = metadata_id(columns);
                match (*known == now, skip) {
                    (true, true) => RowsMetadata::Skipped,
                    (true, false) => RowsMetadata::Full,
                    (false, _) => RowsMetadata::Changed(now),
                }
            }
        }
    }
}

impl PendingRequest {
    /// Sends an error, with a trace in front if one was asked for.
    pub(super) fn refuse(mut self, error: &CqlError) {
        self.turn = None;
        self.end_watch(Ending::of(error));
        let trace = self
            .traced
            .take()
            .map(|traced| self.keep(traced, Some(format!("Refused it: {}", error.message))));
        let flags = if trace.is_some() { flag::TRACING } else { 0 };
        self.send_queue.answer(
            self.bytes,
            self.version,
            flags,
            self.stream,
            Opcode::Error,
            |out| {
                if let Some(id) = trace {
                    out.put_slice(&id);
                }
                message::error(error, self.version, out);
            },
        );
    }

    /// Sends an answer that has no outcome.
    pub(super) fn say(mut self, opcode: Opcode, body: impl FnOnce(&mut BytesMut)) {
        self.turn = None;
        self.end_watch(Ending::Done);
        self.send_queue.answer(self.bytes, self.version, 0, self.stream, opcode, body);
    }

    /// Sends an answer with warnings, and a trace in front if one was asked for.
    pub(super) fn say_traced(
        mut self,
        opcode: Opcode,
        warnings: Vec<String>,
        body: impl FnOnce(&mut BytesMut),
    ) {
        self.turn = None;
        self.end_watch(Ending::Done);
        let trace = self.traced.take().map(|traced| self.keep(traced, None));
        let warned = !warnings.is_empty() && self.version >= Version::V4;
        let mut flags = if trace.is_some() { flag::TRACING } else { 0 };
        if warned {
            flags |= flag::WARNING;
        }
        self.send_queue.answer(self.bytes, self.version, flags, self.stream, opcode, |out| {
            if let Some(id) = trace {
                out.put_slice(&id);
            }
            if warned {
                out.strings(&warnings);
            }
            body(out);
        });
    }

    /// Returns what the executor calls with the outcome.
    pub(super) fn answer(self, known: ClientMetadata) -> Answer {
        Box::new(move |outcome| match outcome {
            Ok(answered) => self.outcome(answered, &known),
            Err(error) => self.refuse(&error),
        })
    }

    /// Counts the request among those that run on other threads of the sockets, until just before
    /// its answer is sent: the writer, which the answer wakes, finds its place free.
    pub(super) fn take_turn(&mut self, of: &Arc<AtomicUsize>) {
        of.fetch_add(1, Ordering::Relaxed);
        self.turn = Some(Turn(Arc::clone(of)));
    }

    /// Works as [`Pending::take_turn`], among those at the pool.
    pub(super) fn take_turn_of_pool(&mut self) {
        let pooled = Arc::clone(&self.send_queue.pooled);
        self.take_turn(&pooled);
    }

    /// Notes that the request waits for a thread of the pool.
    pub(super) fn charge(&mut self, bytes: usize) {
        self.send_queue.charge(bytes);
        self.bytes += bytes;
    }

    fn outcome(mut self, answered: Answered, known: &ClientMetadata) {
        self.turn = None;
        self.end_watch(Ending::Done);
        let Answered { mut outcome, warnings, beside } = answered;
        let trace = self.traced.take().map(|traced| self.keep(traced, Some(summary(&outcome))));
        let (mut head, mut state) = (RowsMetadata::Full, None);
        match &outcome {
            Outcome::Rows(rows) => {
                head = known.head(&rows.columns);
                state = rows.paging.as_deref().map(paging_state::encode);
            }
            Outcome::SetKeyspace(keyspace) => self.send_queue.set_keyspace(keyspace),
            Outcome::SchemaChange(_) | Outcome::Void => {}
        }
        let warned = !warnings.is_empty() && self.version >= Version::V4;
        let mut flags = if trace.is_some() { flag::TRACING } else { 0 };
        if warned {
            flags |= flag::WARNING;
        }
        let before = |out: &mut BytesMut| {
            if let Some(id) = trace {
                out.put_slice(&id);
            }
            if warned {
                out.strings(&warnings);
            }
        };
        let parts = match &mut outcome {
            Outcome::Rows(rows) => rows.rows.take_parts(),
            _ => (None, None),
        };
        let (version, stream) = (self.version, self.stream);
        self.send_queue.answer_with(self.bytes, parts.0, |framing, envelopes| {
            if let Some(spooled) = parts.1 {
                let mut body = BytesMut::new();
                before(&mut body);
                message::result_head(result(&outcome, head, state.as_deref()), version, &mut body);
                let tail = match &mut outcome {
                    Outcome::Rows(rows) => rows.rows.take_bytes(),
                    _ => Bytes::new(),
                };
                let long =
                    SpooledAnswer::new(version, flags, stream, framing, &body, spooled, tail);
                return Some(long);
            }
            envelopes.push(version, flags, stream, Opcode::Result, framing, |out| {
                before(out);
                message::result_head(result(&outcome, head, state.as_deref()), version, out);
                if let Outcome::Rows(rows) = &outcome {
                    out.put_slice(rows.rows.bytes());
                }
            });
            None
        });
        self.face.events.publish_all(&outcome, &beside);
    }

    /// Says what kind of statement it is, to whoever watches.
    pub(super) fn runs(&mut self, operation: &'static str) {
        if let Some(watched) = &mut self.watched {
            watched.operation = operation;
        }
    }

    /// Says which statement it runs, to whoever watches.
    pub(super) fn runs_statement(&mut self, statement: &PreparedStatement) {
        if let Some(watched) = &mut self.watched {
            watched.operation = statement.operation();
            watched.plan = Some(Arc::clone(&statement.plan));
        }
    }

    /// Says the text of a statement, to a watcher that wants it.
    pub(super) fn asks(&mut self, text: &str) {
        if let Some(watched) = &mut self.watched
            && watched.watcher.wants_statements()
        {
            watched.statements.add(text);
        }
    }

    /// Says whether it asks for the rows behind an earlier page, to whoever watches.
    pub(super) fn goes_on(&mut self, goes_on: bool) {
        if let Some(watched) = &mut self.watched {
            watched.goes_on = goes_on;
        }
    }

    fn end_watch(&mut self, ending: Ending<'_>) {
        let Some(watched) = self.watched.take() else { return };
        let now = self.face.environment.clock.monotonic();
        watched.watcher.ended(&EndedRequest {
            operation: watched.operation,
            table: watched.plan.as_ref().and_then(|plan| plan.table()),
            ending,
            took: now.saturating_sub(watched.started),
            queued: watched.reads.queued(),
            report: &watched.reads.take(),
            client: self.client,
            statements: watched.statements.all(),
            goes_on: watched.goes_on,
        });
    }

    /// Notes that the request begins to wait for a thread.
    pub(super) fn waits(&self) -> Waits {
        let environment = &self.face.environment;
        let now = || environment.clock.monotonic();
        let noted = self.watched.as_ref();
        let noted = noted.map(|own| (own.reads.clone(), environment.clone(), now()));
        Waits { noted }
    }

    /// Notes a step, if a trace was asked for.
    pub(super) fn record_step(&self, activity: impl FnOnce() -> String) {
        if let Some(traced) = &self.traced {
            traced.log.record(activity());
        }
    }

    /// Keeps a trace and returns its id.
    fn keep(&self, traced: OpenTrace, last: Option<String>) -> [u8; 16] {
        let OpenTrace { client, request, parameters, log } = traced;
        let started_micros = log.started_micros();
        let id = time_uuid(started_micros, self.face.environment.random.number());
        let (events, duration_micros) = log.end(last);
        self.face.traces.keep(Trace {
            id,
            client,
            request,
            parameters,
            started_micros,
            duration_micros,
            events,
        });
        id
    }
}

/// Returns what RESULT says of an outcome, of rows all but their cells.
fn result<'o>(
    outcome: &'o Outcome,
    head: RowsMetadata,
    paging_state: Option<&'o [u8]>,
) -> ResultHead<'o> {
    match outcome {
        Outcome::Void => ResultHead::Void,
        Outcome::Rows(page) => {
            let (columns, rows) = (&page.columns, page.rows.rows());
            ResultHead::Rows { columns, head, paging_state, rows }
        }
        Outcome::SetKeyspace(keyspace) => ResultHead::SetKeyspace(keyspace),
        Outcome::SchemaChange(change) => ResultHead::SchemaChange(change),
    }
}

/// Returns the last step of a trace: what a statement came to.
fn summary(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Void => "Answered that it is done".to_owned(),
        Outcome::Rows(rows) => format!(
            "Answered with {} rows, {} bytes{}",
            rows.rows.rows(),
            rows.rows.size_bytes(),
            if rows.paging.is_some() { "; more pages follow" } else { "" }
        ),
        Outcome::SetKeyspace(keyspace) => format!("Uses keyspace {keyspace}"),
        Outcome::SchemaChange(_) => "Changed the schema".to_owned(),
    }
}
