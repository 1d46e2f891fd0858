//! Notes of a running server for whoever looks: slow and refused requests, and who is connected.
//!
//! Nothing of a value is noted: of a request its face, operation, table and key ranges (bytes of the store,
//! cut short), and what it read. What it is not: a record of requests; the newest push out the oldest.
//!
//! Invariant: it takes a bounded number of entries of bounded size, whatever clients send.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shelfmark_engine::AccessReport;
use shelfmark_engine::locks::lock;

use crate::admin::Admin;
use crate::config::{Config, ConfigAnswer, SettingEntry};
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::report::{Report, Step};
use crate::servers::ServerFacts;
use crate::watched::ModelWatch;

/// Entries that are kept of slow requests, and of refused ones. Source: ours; some 300 KiB together.
const ENTRIES_MAX: usize = 128;
/// Steps of an entry that are kept, and ranges of each.
const STEPS_MAX: usize = 4;
const RANGES_MAX: usize = 4;
/// Bytes of a key, of a table's name and of a reason that are kept.
const KEY_BYTES_MAX: usize = 64;
const TEXT_BYTES_MAX: usize = 200;

/// Notes of a running server. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Watch {
    inner: Arc<Inner>,
}

struct Inner {
    slow_after: Duration,
    slow: Mutex<VecDeque<SlowEntry>>,
    /// Refused or failed requests that were not slow: many of them push out no slow one.
    refused: Mutex<VecDeque<SlowEntry>>,
    noted: AtomicU64,
    connections: RwLock<Vec<Box<dyn ConnectionList>>>,
    /// The facts that this server tells of itself, once it listens.
    serves: OnceLock<ServerFacts>,
    /// The comparison of requests with a model, where the server can do it.
    model: OnceLock<Arc<dyn ModelWatch>>,
    /// Makes spans of requests, where somebody wants them.
    tracer: OnceLock<Arc<dyn RequestTracer>>,
    settings: OnceLock<Vec<SettingEntry>>,
}

/// Makes something of every request that ended, such as a span. It must not block.
pub trait RequestTracer: Send + Sync {
    /// Takes a request that ended.
    fn ended(&self, request: &Noted<'_>);
}

/// Lists open connections.
pub trait ConnectionList: Send + Sync {
    /// Adds those of one port to `out`.
    fn list(&self, out: &mut Vec<ConnectionEntry>);
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("slow_after", &self.inner.slow_after).finish_non_exhaustive()
    }
}

/// A request that ended, as a face tells of it.
#[derive(Debug)]
pub struct Noted<'r> {
    /// The face: `dynamodb` or `cql`.
    pub face: &'static str,
    /// The operation, in the face's words.
    pub operation: &'static str,
    /// The table, if it is known otherwise than by `report`.
    pub table: Option<&'r str>,
    /// The reason, if it was refused or failed: without values.
    pub refusal: Option<&'r str>,
    /// The duration.
    pub took: Duration,
    /// The time of it that was spent waiting for a thread, as far as that is known.
    pub queued: Duration,
    /// The cost: rows and ranges read.
    pub report: &'r AccessReport,
    /// Microseconds since the Unix epoch.
    pub now_micros: u64,
}

impl Watch {
    /// Creates empty notes, which keep requests that took at least `slow_after`, and refused ones.
    #[must_use]
    pub fn new(slow_after: Duration) -> Self {
        Self {
            inner: Arc::new(Inner {
                slow_after,
                slow: Mutex::default(),
                refused: Mutex::default(),
                noted: AtomicU64::new(0),
                connections: RwLock::default(),
                serves: OnceLock::new(),
                model: OnceLock::new(),
                tracer: OnceLock::new(),
                settings: OnceLock::new(),
            }),
        }
    }

    /// Has every request that ends passed to a tracer; the first that is set stays.
    pub fn trace_with(&self, tracer: Arc<dyn RequestTracer>) {
        let _ = self.inner.tracer.set(tracer);
    }

    /// Takes a request that ended: to the tracer, and to the notes if it was slow or refused.
    pub fn take(&self, request: &Noted<'_>, is_refused: bool) {
        if let Some(tracer) = self.inner.tracer.get() {
            tracer.ended(request);
        }
        if self.wants(request.took, is_refused) {
            self.note(request);
        }
    }

    /// Returns true if a request is to be taken ([`Watch::take`]): one that is to be noted, or any where
    /// all are traced.
    #[must_use]
    pub fn takes(&self, took: Duration, is_refused: bool) -> bool {
        self.inner.tracer.get().is_some() || self.wants(took, is_refused)
    }

    /// Returns true if a request is to be noted ([`Watch::note`]).
    #[must_use]
    pub fn wants(&self, took: Duration, is_refused: bool) -> bool {
        is_refused || took >= self.inner.slow_after
    }

    /// Notes a request that was slow or refused.
    pub fn note(&self, noted: &Noted<'_>) {
        let entry = SlowEntry::of(noted);
        self.inner.noted.fetch_add(1, Ordering::Relaxed);
        let is_slow = noted.took >= self.inner.slow_after;
        let mut entries = lock(if is_slow { &self.inner.slow } else { &self.inner.refused });
        if entries.len() >= ENTRIES_MAX {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// Notes what this server tells of itself; the first time counts.
    pub(crate) fn set_serves(&self, facts: ServerFacts) {
        let _ = self.inner.serves.set(facts);
    }

    /// Returns what this server tells of itself, once it listens.
    pub(crate) fn serves(&self) -> Option<&ServerFacts> {
        self.inner.serves.get()
    }

    /// Has connections of a further port listed.
    pub fn add_connections(&self, list: impl ConnectionList + 'static) {
        let mut lists = self.inner.connections.write().unwrap_or_else(|own| own.into_inner());
        lists.push(Box::new(list));
    }

    /// Sets the settings that the server was started with; the first that are set stay.
    pub fn note_settings(&self, settings: Vec<SettingEntry>) {
        let _ = self.inner.settings.set(settings);
    }

    /// Returns the settings that the server was started with.
    #[must_use]
    pub fn settings(&self) -> &[SettingEntry] {
        self.inner.settings.get().map_or(&[], Vec::as_slice)
    }

    /// Sets the comparison of requests with a model; the first that is set stays.
    pub fn compare_with(&self, model: Arc<dyn ModelWatch>) {
        let _ = self.inner.model.set(model);
    }

    /// Returns the comparison of requests with a model, where the server can do it.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<dyn ModelWatch>> {
        self.inner.model.get()
    }

    /// Returns the comparison if a model is open: requests are to be passed to it.
    ///
    /// Cost: a pointer and a flag.
    #[must_use]
    pub fn comparing(&self) -> Option<&dyn ModelWatch> {
        self.inner.model.get().map(|own| &**own).filter(|own| own.is_open())
    }

    /// Returns the open connections, by face and address.
    #[must_use]
    pub fn connections(&self) -> Vec<ConnectionEntry> {
        let mut all = Vec::new();
        let lists = self.inner.connections.read().unwrap_or_else(|own| own.into_inner());
        lists.iter().for_each(|list| list.list(&mut all));
        all.sort_by(|a, b| (&a.face, &a.address).cmp(&(&b.face, &b.address)));
        all
    }
}

/// Asks for slow and refused requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slow {
    /// At most so many, the newest; none for all that are kept.
    pub limit: Option<usize>,
}

/// Slow and refused requests, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowAnswer {
    /// Requests from this duration on are noted, in milliseconds.
    pub slow_after_ms: u64,
    /// Requests that were noted since the server started, those pushed out included.
    pub noted: u64,
    /// The entries.
    pub requests: Vec<SlowEntry>,
}

/// A slow or refused request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowEntry {
    /// Its end, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// The face.
    pub face: String,
    /// The operation, in the face's words.
    pub operation: String,
    /// The table; empty if it is not known.
    pub table: String,
    /// The duration, in microseconds.
    pub took_us: u64,
    /// The reason, if it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The cost: rows and ranges read, the ranges cut short.
    pub report: Report,
}

impl SlowEntry {
    fn of(noted: &Noted<'_>) -> Self {
        let mut report = Report::from(noted.report);
        report.steps.truncate(STEPS_MAX);
        report.steps.iter_mut().for_each(shorten);
        let table = noted.table.or_else(|| noted.report.steps.first().map(|own| &*own.table));
        Self {
            at_ms: noted.now_micros / 1_000,
            face: noted.face.to_owned(),
            operation: noted.operation.to_owned(),
            table: short(table.unwrap_or_default(), TEXT_BYTES_MAX),
            took_us: u64::try_from(noted.took.as_micros()).unwrap_or(u64::MAX),
            refusal: noted.refusal.map(|why| short(why, TEXT_BYTES_MAX)),
            report,
        }
    }
}

fn shorten(step: &mut Step) {
    step.ranges_more += step.ranges.len().saturating_sub(RANGES_MAX);
    step.ranges.truncate(RANGES_MAX);
    for range in &mut step.ranges {
        range.from = short(&range.from, 2 * KEY_BYTES_MAX);
        range.to = range.to.as_deref().map(|to| short(to, 2 * KEY_BYTES_MAX));
    }
}

fn short(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let shown = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{shown}…") } else { shown.to_owned() }
}

impl Operation for Slow {
    const NAME: &'static str = "slow";
    type Answer = SlowAnswer;

    fn run(self, admin: &Admin) -> Result<SlowAnswer> {
        let inner = &watch_of(admin)?.inner;
        let mut requests: Vec<SlowEntry> = lock(&inner.slow).iter().cloned().collect();
        requests.extend(lock(&inner.refused).iter().cloned());
        requests.sort_by_key(|own| std::cmp::Reverse(own.at_ms));
        requests.truncate(self.limit.unwrap_or(2 * ENTRIES_MAX));
        Ok(SlowAnswer {
            slow_after_ms: u64::try_from(inner.slow_after.as_millis()).unwrap_or(u64::MAX),
            noted: inner.noted.load(Ordering::Relaxed),
            requests,
        })
    }
}

/// Asks for the open connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {}

/// The open connections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionsAnswer {
    /// The connections of clients, by face and address.
    pub connections: Vec<ConnectionEntry>,
}

/// An open connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionEntry {
    /// The face.
    pub face: String,
    /// The client's end.
    pub address: String,
    /// True if requests are under way.
    pub busy: bool,
    /// True if the client proved who it is, or is not asked.
    pub known: bool,
    /// Time since its last activity, in milliseconds.
    pub idle_ms: u64,
}

impl Operation for Connections {
    const NAME: &'static str = "connections";
    type Answer = ConnectionsAnswer;

    fn run(self, admin: &Admin) -> Result<ConnectionsAnswer> {
        Ok(ConnectionsAnswer { connections: watch_of(admin)?.connections() })
    }
}

impl Operation for Config {
    const NAME: &'static str = "config";
    type Answer = ConfigAnswer;

    fn run(self, admin: &Admin) -> Result<ConfigAnswer> {
        Ok(ConfigAnswer { settings: watch_of(admin)?.settings().to_vec() })
    }
}

pub(crate) fn watch_of(admin: &Admin) -> Result<&Watch> {
    let why =
        "only a running server knows that: ask it with --server ADDR, the address of its console";
    admin.watch().ok_or_else(|| Error::invalid(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_are_bounded_and_the_newest_stay() {
        let watch = Watch::new(Duration::from_millis(10));
        assert!(watch.wants(Duration::from_millis(10), false) && watch.wants(Duration::ZERO, true));
        assert!(!watch.wants(Duration::from_micros(9_999), false));
        let (report, long) = (AccessReport::default(), "é".repeat(1_000_000));
        for (took, count) in [(20, 200), (1, 1_000)] {
            for number in 0..count {
                watch.note(&Noted {
                    face: "cql",
                    operation: "SELECT",
                    table: Some(&long),
                    refusal: Some(&long),
                    took: Duration::from_millis(took),
                    queued: Duration::ZERO,
                    report: &report,
                    now_micros: number * 1_000,
                });
            }
        }
        // Many refused ones push out no slow one.
        for (entries, newest) in [(&watch.inner.slow, 199), (&watch.inner.refused, 999)] {
            let entries = lock(entries);
            assert_eq!(entries.len(), ENTRIES_MAX);
            assert_eq!(entries.back().map(|own| own.at_ms), Some(newest));
            assert!(entries.iter().all(|own| own.table.len() < 210));
        }
    }
}
