//! The recorder of a trace: the steps of one request that asked for one.
//!
//! What it is not: the traces that clients read, which the session keeps. This is filled while the
//! request runs, on whichever thread that is.
//!
//! Invariant: a trace has a bounded number of steps of bounded length, however long its request is.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use shelfmark_engine::{AccessReport, AccessStep, Engine, Environment, Observer};

use crate::limits::{
    TRACE_RANGE_BYTES_MAX, TRACE_RANGES_MAX, TRACE_STEPS_MAX, TRACE_TEXT_BYTES_MAX,
};
use crate::outcome::RequestOptions;
use shelfmark_engine::locks::lock;

/// The steps of a request so far. Cheap to clone; all clones are the same trace.
#[derive(Clone)]
pub struct TraceRecorder {
    environment: Environment,
    started_micros: u64,
    steps: Arc<Mutex<Steps>>,
    /// Told each access report as it is, beside the step that it becomes.
    observer: Option<Observer>,
}

#[derive(Default)]
struct Steps {
    kept: Vec<Step>,
    left_out: usize,
}

/// A step of a trace.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The time of the step, in microseconds since the request began.
    pub(crate) elapsed_micros: u64,
    pub(crate) activity: String,
}

impl fmt::Debug for TraceRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceRecorder").field("started_micros", &self.started_micros).finish()
    }
}

impl TraceRecorder {
    /// Begins a trace now.
    pub(crate) fn new(environment: &Environment) -> Self {
        Self {
            environment: environment.clone(),
            started_micros: environment.clock.now_micros(),
            steps: Arc::default(),
            observer: None,
        }
    }

    /// Creates the recorder of a request of this process, which hands its access reports to
    /// `observer`.
    #[must_use]
    pub fn telling(environment: &Environment, observer: Observer) -> Self {
        Self { observer: Some(observer), ..Self::new(environment) }
    }

    /// Returns the start of the request, in microseconds since the Unix epoch.
    pub(crate) fn started_micros(&self) -> u64 {
        self.started_micros
    }

    /// Returns how long the request has taken so far, in microseconds.
    pub(crate) fn elapsed_micros(&self) -> u64 {
        self.environment.clock.now_micros().saturating_sub(self.started_micros)
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        lock(&self.steps)
    }

    /// Notes a step that was just done or begins.
    pub(crate) fn record(&self, activity: impl Into<String>) {
        let elapsed_micros = self.elapsed_micros();
        let mut steps = self.steps();
        if steps.kept.len() >= TRACE_STEPS_MAX {
            steps.left_out += 1;
            return;
        }
        let activity = shortened(activity.into(), TRACE_TEXT_BYTES_MAX);
        steps.kept.push(Step { elapsed_micros, activity });
    }

    /// Ends the trace with a last step, which is always kept. Returns the steps in their order, and
    /// how long all of it took, in microseconds.
    pub(crate) fn end(&self, last: Option<String>) -> (Vec<Step>, u64) {
        let Steps { mut kept, left_out } = std::mem::take(&mut *self.steps());
        // Threads that note a step at one time may do so in another order.
        kept.sort_by_key(|step| step.elapsed_micros);
        let elapsed_micros = self.elapsed_micros();
        let cut =
            (left_out > 0).then(|| format!("… and {left_out} more steps, which are not kept"));
        let last = cut.into_iter().chain(last);
        kept.extend(last.map(|activity| Step {
            elapsed_micros,
            activity: shortened(activity, TRACE_TEXT_BYTES_MAX),
        }));
        (kept, elapsed_micros)
    }

    fn report(&self, report: &AccessReport) {
        if let Some(observer) = &self.observer {
            observer(report);
        }
        report.steps.iter().for_each(|step| self.record(step_text(step)));
    }
}

/// Returns an engine whose reads and writes are noted, if there is a trace or somebody watches.
pub(crate) fn traced_engine<'e>(engine: &'e Engine, options: &RequestOptions) -> Cow<'e, Engine> {
    let (trace, reads) = (&options.trace, &options.reads);
    if trace.is_none() && reads.is_none() {
        return Cow::Borrowed(engine);
    }
    let (trace, reads) = (trace.clone(), reads.clone());
    Cow::Owned(engine.observed(move |report| {
        trace.iter().for_each(|trace| trace.report(report));
        reads.iter().for_each(|reads| reads.note(report));
    }))
}

/// Returns what one step of the engine read.
fn step_text(step: &AccessStep) -> String {
    let place = match &step.index {
        Some(index) => format!("{}.{index}", step.table),
        None => step.table.clone(),
    };
    let entries = if step.index.is_some() { "entries" } else { "rows" };
    let mut out =
        format!("Read {} {entries} of {place}, {} returned", step.rows_read, step.rows_returned);
    if step.bytes_read > 0 {
        out.push_str(&format!(", {} bytes", step.bytes_read));
    }
    if step.keys_peeked > 0 {
        out.push_str(&format!(", {} passed by their keys", step.keys_peeked));
    }
    if step.ranges.is_empty() {
        return out;
    }
    let plural = if step.ranges.len() == 1 { "" } else { "s" };
    out.push_str(&format!(", in {} key range{plural}:", step.ranges.len()));
    for range in step.ranges.iter().take(TRACE_RANGES_MAX) {
        let end = range.end.as_deref().map_or_else(|| "the end".to_owned(), hex);
        out.push_str(&format!(" [{}, {end})", hex(&range.start)));
    }
    if step.ranges.len() > TRACE_RANGES_MAX {
        out.push_str(" …");
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    let shown = bytes.get(..TRACE_RANGE_BYTES_MAX).unwrap_or(bytes);
    let rest = if shown.len() < bytes.len() { "…" } else { "" };
    format!("{}{rest}", hex::encode(shown))
}

/// Cuts a text that is longer than `most` bytes.
pub(crate) fn shortened(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}
