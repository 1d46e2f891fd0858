//! The comparison: requests as they come are counted by the patterns that cover them, and reported.
//!
//! What it is not: a log. Of a request nothing stays but that there was one more of its shape, and the
//! size of its numbers.
//!
//! Invariant: it holds at most [`UNCOVERED_MAX`] shapes beyond those of the model, [`STATEMENTS_MAX`]
//! statements and [`FINDINGS_MAX`] findings; what comes beyond that is counted.

mod findings;

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use shelfmark_admin::{
    PatternEntry, SeenRequest, SeenText, TableChecks, UncoveredEntry, WatchReport,
};

use crate::asked::{self, Reading};
use crate::histogram::Histogram;
use crate::items::Broken;
use crate::propose;
use crate::shape::{Kind, Shape};
use crate::watched::{Group, Watched};
use findings::Findings;

/// Shapes that no pattern covers that are kept. Source: ours; some 5 KiB each.
pub const UNCOVERED_MAX: usize = 256;
/// Statements whose reading is kept. Source: ours; some 500 bytes each.
pub const STATEMENTS_MAX: usize = 1_024;
/// Findings that are kept. Source: ours.
pub const FINDINGS_MAX: usize = 256;
/// The length of the stretches of time of which the busiest is told. Source: ours.
const STRETCH_MS: u64 = 10_000;
/// The shortest time over which rates are computed: one request after a millisecond is no thousand a second.
const RATE_OVER_MS: u64 = 1_000;

/// Counts of the requests of one shape.
#[derive(Debug, Default)]
struct Counts {
    calls: u64,
    further: u64,
    stretch: (u64, u64),
    busiest: u64,
    returned: Histogram,
    read: Histogram,
    took: Histogram,
    ranges_max: u64,
    unlimited: u64,
}

impl Counts {
    fn add(&mut self, request: &SeenRequest, is_alone: bool, goes_on: bool) {
        if !goes_on {
            self.calls += 1;
            let stretch = request.at_ms / STRETCH_MS;
            if self.stretch.0 != stretch {
                self.stretch = (stretch, 0);
            }
            self.stretch.1 += 1;
            self.busiest = self.busiest.max(self.stretch.1);
        }
        // The numbers of a batch are those of all its parts.
        if is_alone {
            self.returned.add(request.rows_returned);
            self.read.add(request.rows_read);
            self.took.add(request.took_us);
            self.ranges_max = self.ranges_max.max(request.ranges);
        }
    }
}

/// Requests and data compared with one model, since some moment.
#[derive(Debug)]
pub struct Comparison {
    watched: Arc<Watched>,
    begun_ms: u64,
    refused: u64,
    unread: u64,
    requests: u64,
    groups: Vec<Counts>,
    uncovered: HashMap<Shape, Counts>,
    uncovered_more: u64,
    /// Statements that were read, by a hash of their texts, in which values may stand.
    statements: HashMap<u64, Arc<Reading>>,
    hasher: RandomState,
    findings: Findings,
    tables: BTreeMap<String, TableChecks>,
}

impl Comparison {
    /// Begins at a moment, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn new(watched: Arc<Watched>, now_ms: u64) -> Self {
        Self {
            groups: watched.groups.iter().map(|_| Counts::default()).collect(),
            begun_ms: now_ms,
            refused: 0,
            unread: 0,
            requests: 0,
            uncovered: HashMap::new(),
            uncovered_more: 0,
            statements: HashMap::new(),
            hasher: RandomState::new(),
            findings: Findings::default(),
            tables: BTreeMap::new(),
            watched,
        }
    }

    /// Returns the model.
    #[must_use]
    pub fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }

    /// Begins anew with the same model.
    #[must_use]
    pub fn anew(&self, now_ms: u64) -> Self {
        Self::new(Arc::clone(&self.watched), now_ms)
    }

    /// Takes a request that ended.
    pub fn take(&mut self, request: &SeenRequest) {
        if request.is_refused {
            self.refused += 1;
            return;
        }
        let watched = Arc::clone(&self.watched);
        let readings: Vec<Arc<Reading>> = match (&request.text, watched.target()) {
            (SeenText::Dynamo(operation, body), "dynamodb") => {
                vec![Arc::new(read_body(operation, body))]
            }
            (SeenText::Cql(statements), "cql") => {
                statements.iter().map(|own| self.statement(own)).collect()
            }
            // A request of the other face is no pattern of this schema.
            _ => return,
        };
        let mut all = Vec::new();
        for reading in &readings {
            match &**reading {
                Reading::Unread => self.unread += 1,
                Reading::Asks(asked) => all.extend(asked),
            }
        }
        let is_alone = all.len() == 1;
        for asked in all {
            let goes_on = request.goes_on || asked.goes_on;
            let shape = watched.tables.shape(asked);
            self.count(shape, request, is_alone, goes_on);
            // Tables that the model does not have are not kept by name.
            if let Some(item) = asked.item.as_ref().filter(|_| watched.tables.has(&asked.table)) {
                self.checks(&asked.table).written += 1;
                self.check(&asked.table, item);
            }
        }
    }

    fn count(&mut self, shape: Shape, request: &SeenRequest, is_alone: bool, goes_on: bool) {
        self.requests += 1;
        match self.watched.covering(&shape) {
            Some((at, is_further)) => {
                let (Some(counts), Some(group)) =
                    (self.groups.get_mut(at), self.watched.groups.get(at))
                else {
                    return;
                };
                if is_further {
                    counts.further += 1;
                    return;
                }
                counts.add(request, is_alone, goes_on);
                counts.unlimited += u64::from(group.shape.limited && !shape.limited);
                if is_alone && group.reads {
                    self.findings.of_read(group, request);
                }
            }
            None if self.uncovered.len() < UNCOVERED_MAX || self.uncovered.contains_key(&shape) => {
                self.uncovered.entry(shape).or_default().add(request, is_alone, goes_on);
            }
            None => self.uncovered_more += 1,
        }
    }

    fn statement(&mut self, text: &str) -> Arc<Reading> {
        let hash = self.hasher.hash_one(text);
        if let Some(known) = self.statements.get(&hash) {
            return Arc::clone(known);
        }
        // Statements with their values written out are each another text.
        if self.statements.len() >= STATEMENTS_MAX {
            self.statements.clear();
        }
        let reading = Arc::new(asked::statement(text));
        self.statements.insert(hash, Arc::clone(&reading));
        reading
    }

    /// Checks an item of a table, as plain JSON.
    pub fn check(&mut self, table: &str, item: &Map<String, Json>) {
        for broken in self.watched.items.check(table, item) {
            self.findings.broken(broken);
        }
    }

    /// Notes a finding about data.
    pub fn note(&mut self, broken: Broken) {
        self.findings.broken(broken);
    }

    /// Returns what was checked of a table's data.
    pub fn checks(&mut self, table: &str) -> &mut TableChecks {
        let name = table.to_owned();
        let entry = self.tables.entry(name.clone());
        entry.or_insert_with(|| TableChecks { table: name, ..TableChecks::default() })
    }

    /// Returns what was seen; `dropped` requests came and were not taken.
    #[must_use]
    pub fn report(&self, now_ms: u64, dropped: u64) -> WatchReport {
        let watched_ms = now_ms.saturating_sub(self.begun_ms);
        // What was let go had the shapes of what was taken.
        let scale = 1.0 + dropped as f64 / (self.requests.max(1) as f64);
        let over = watched_ms.max(RATE_OVER_MS) as f64 / 1_000.0;
        let rate = |calls: u64| calls as f64 * scale / over;
        let groups = self.watched.groups.iter().zip(&self.groups);
        let patterns = groups.map(|(group, counts)| entry(group, counts, &rate, scale));
        let patterns: Vec<PatternEntry> = patterns.collect();
        let mut uncovered: Vec<UncoveredEntry> = self
            .uncovered
            .iter()
            .map(|(shape, counts)| self.uncovered_entry(shape, counts, &rate))
            .collect();
        uncovered
            .sort_by(|one, other| (other.calls, &one.request).cmp(&(one.calls, &other.request)));
        let shapes = self.uncovered.iter();
        let reads = shapes.filter(|(shape, _)| shape.kind == Kind::Read);
        let uncovered_reads = reads.map(|(shape, counts)| {
            (shape.to_string(), counts.read.spread(), counts.returned.spread())
        });
        WatchReport {
            model: self.watched.name.clone(),
            schema: self.watched.schema_name().to_owned(),
            target: self.watched.target().to_owned(),
            watched_ms,
            requests: self.requests,
            refused: self.refused,
            dropped,
            unread: self.unread,
            findings: self.findings.all(&patterns, uncovered_reads),
            patterns,
            left_out: self.watched.left_out.clone(),
            uncovered,
            uncovered_more: self.uncovered_more,
            tables: self.tables.values().cloned().collect(),
        }
    }

    fn uncovered_entry(
        &self,
        shape: &Shape,
        counts: &Counts,
        rate: &impl Fn(u64) -> f64,
    ) -> UncoveredEntry {
        let rate = rate(counts.calls);
        let (why, proposed) = propose::proposed(&self.watched, shape, rate);
        UncoveredEntry {
            request: shape.to_string(),
            calls: counts.calls,
            rate,
            rows_returned: counts.returned.spread(),
            rows_read: counts.read.spread(),
            took_us: counts.took.spread(),
            why,
            proposed,
        }
    }
}

fn read_body(operation: &str, body: &[u8]) -> Reading {
    match serde_json::from_slice(body) {
        Ok(body) => asked::operation(operation, &body),
        // The server passes no body that is too long to be looked at.
        Err(_) => Reading::Unread,
    }
}

fn entry(group: &Group, counts: &Counts, rate: &impl Fn(u64) -> f64, scale: f64) -> PatternEntry {
    let busiest_rate = counts.busiest as f64 * scale * 1_000.0 / STRETCH_MS as f64;
    let (returned, read) = (counts.returned.spread(), counts.read.spread());
    let rate = rate(counts.calls);
    let mut status = Vec::new();
    if counts.calls + counts.further == 0 {
        status.push("not seen");
    }
    if group.rate.is_some_and(|declared| rate > declared) {
        status.push("more often");
    }
    if group.reads && group.rows.max.is_some_and(|most| returned.max as f64 > most) {
        status.push("more rows");
    }
    if group.reads && read.sum > returned.sum {
        status.push("reads more");
    }
    if counts.unlimited > 0 {
        status.push("no limit");
    }
    if status.is_empty() {
        status.push("covered");
    }
    PatternEntry {
        patterns: group.patterns.clone(),
        reads: group.reads,
        request: group.shape.to_string(),
        calls: counts.calls,
        further: counts.further,
        declared_rate: group.rate,
        rate,
        busiest_rate,
        declared_rows: group.rows,
        rows_returned: returned,
        rows_read: read,
        took_us: counts.took.spread(),
        ranges_max: counts.ranges_max,
        status: status.join(", "),
    }
}
