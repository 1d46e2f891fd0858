//! Traces of requests that asked for one: kept in memory for the client to read at once, shown by
//! `system_traces`.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use shelfmark_cql_protocol::message::QueryParameters;
use shelfmark_cql_protocol::{BoundValue, ColumnSpec, Consistency, Values};
use shelfmark_cql_types::{CqlType, to_literal};

use crate::limits::{
    TRACE_AGE_SECONDS_MAX, TRACE_TEXT_BYTES_MAX, TRACE_VALUES_MAX, TRACES_BYTES_MAX, TRACES_MAX,
};
use crate::trace_recorder::{Step, shortened};
use shelfmark_engine::locks::lock;

/// A trace: the steps of one request.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    /// A time-based UUID.
    pub(crate) id: [u8; 16],
    /// The address of the client.
    pub(crate) client: IpAddr,
    /// The kind of request, in Cassandra's words.
    pub(crate) request: &'static str,
    /// The statement and what came with it.
    pub(crate) parameters: Vec<(String, String)>,
    /// The start, in microseconds since the epoch.
    pub(crate) started_micros: u64,
    /// The duration, in microseconds.
    pub(crate) duration_micros: u64,
    /// The steps, in order.
    pub(crate) events: Vec<Step>,
}

impl Trace {
    /// Returns about how many bytes it takes.
    fn size_bytes(&self) -> usize {
        let parameters = self.parameters.iter().map(|(name, value)| name.len() + value.len() + 48);
        let events = self.events.iter().map(|step| step.activity.len() + 32);
        parameters.sum::<usize>() + events.sum::<usize>() + 128
    }
}

/// The last traces.
#[derive(Debug, Default)]
pub(crate) struct TraceStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    traces: VecDeque<Arc<Trace>>,
    bytes: usize,
}

impl Kept {
    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.traces.pop_front() {
            self.bytes -= oldest.size_bytes();
        }
    }
}

impl TraceStore {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    /// Keeps a trace; the oldest go.
    pub(crate) fn keep(&self, trace: Trace) {
        let bytes = trace.size_bytes();
        let mut kept = self.kept();
        while kept.traces.len() >= TRACES_MAX
            || !kept.traces.is_empty() && kept.bytes + bytes > TRACES_BYTES_MAX
        {
            kept.drop_oldest();
        }
        kept.bytes += bytes;
        kept.traces.push_back(Arc::new(trace));
    }

    /// Returns the trace of this id, or all without one, that are not too old at `now_micros`.
    pub(crate) fn find(&self, id: Option<&[u8]>, now_micros: u64) -> Vec<Arc<Trace>> {
        let oldest = now_micros.saturating_sub(TRACE_AGE_SECONDS_MAX * 1_000_000);
        let mut kept = self.kept();
        while kept.traces.front().is_some_and(|trace| trace.started_micros < oldest) {
            kept.drop_oldest();
        }
        let found = kept.traces.iter().filter(|trace| id.is_none_or(|id| trace.id == id));
        found.map(Arc::clone).collect()
    }
}

/// Returns what a trace says of a request: its text, if it came with one, and its options.
pub(super) fn parameters(
    text: Option<String>,
    options: Option<&QueryParameters>,
) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut put = |name: &str, value: String| {
        out.push((name.to_owned(), shortened(value, TRACE_TEXT_BYTES_MAX)));
    };
    if let Some(text) = text {
        put("query", text);
    }
    let Some(options) = options else { return out };
    put("consistency_level", options.consistency.name().to_owned());
    let serial = options.serial_consistency.unwrap_or(Consistency::Serial);
    put("serial_consistency_level", serial.name().to_owned());
    if let Some(size) = options.page_size {
        put("page_size", size.to_string());
    }
    out
}

/// Most characters of a value in a trace. Source: Cassandra 5.0, `ExecuteMessage`.
const VALUE_CHARS_MAX: usize = 1_000;

/// Returns a value cut where it is too long, with the mark that Cassandra puts behind all of them.
fn shortened_value(text: String) -> String {
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}...'", text.get(..end).unwrap_or(&text)),
        None => text,
    }
}

/// Returns what a trace says of a prepared statement that is run: its text and the values.
pub(super) fn values(text: &str, markers: &[ColumnSpec], values: &Values) -> Vec<(String, String)> {
    let shown = |kind: &CqlType, value: &BoundValue| match value {
        BoundValue::Null => "null".to_owned(),
        BoundValue::Unset => "<unset>".to_owned(),
        BoundValue::Bytes(bytes) => to_literal(kind, Some(bytes)),
    };
    let named = |place: usize, marker: &ColumnSpec, value: &BoundValue| {
        let value = shortened_value(shown(&marker.kind, value));
        (format!("bound_var_{place}_{}", marker.name), value)
    };
    let mut out = vec![("query".to_owned(), shortened(text.to_owned(), TRACE_TEXT_BYTES_MAX))];
    let of_marker = |place: usize, marker: &ColumnSpec| match values {
        Values::Positional(values) => values.get(place).cloned(),
        Values::Named(values) => {
            let found = values.iter().find(|(name, _)| **name == *marker.name);
            found.map(|(_, value)| value.clone())
        }
    };
    for (place, marker) in markers.iter().take(TRACE_VALUES_MAX).enumerate() {
        out.extend(of_marker(place, marker).map(|value| named(place, marker, &value)));
    }
    out
}

/// Returns a time-based UUID (version 1) of a moment. The node and clock parts are random, so two
/// of one microsecond differ.
pub(crate) fn time_uuid(micros: u64, random: u64) -> [u8; 16] {
    /// Tenths of microseconds from 1582-10-15, where these UUIDs begin, to 1970-01-01.
    const EPOCH: u64 = 0x01B2_1DD2_1381_4000;
    let ticks = micros.wrapping_mul(10).wrapping_add(EPOCH) & 0x0FFF_FFFF_FFFF_FFFF;
    let time = (ticks & 0xFFFF_FFFF) << 32 | (ticks >> 32 & 0xFFFF) << 16 | ticks >> 48 | 0x1000;
    let node = random & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0100_0000_0000;
    let mut id = [0; 16];
    let (high, low) = id.split_at_mut(8);
    high.copy_from_slice(&time.to_be_bytes());
    low.copy_from_slice(&node.to_be_bytes());
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(number: u8, started_micros: u64, text_bytes: usize) -> Trace {
        Trace {
            id: [number; 16],
            client: IpAddr::from([127, 0, 0, 1]),
            request: "Execute CQL3 query",
            parameters: vec![("query".to_owned(), "x".repeat(text_bytes))],
            started_micros,
            duration_micros: 1,
            events: Vec::new(),
        }
    }

    fn ids(traces: &TraceStore, now_micros: u64) -> Vec<u8> {
        traces.find(None, now_micros).iter().map(|trace| trace.id[0]).collect()
    }

    #[test]
    fn traces_go_after_a_day() {
        let day = TRACE_AGE_SECONDS_MAX * 1_000_000;
        let traces = TraceStore::default();
        traces.keep(trace(1, 10, 0));
        traces.keep(trace(2, 20, 0));
        assert_eq!(ids(&traces, day + 10), [1, 2]);
        assert_eq!(traces.find(Some(&[1; 16]), day + 10).len(), 1);
        assert_eq!(ids(&traces, day + 11), [2]);
        assert!(traces.find(Some(&[1; 16]), day + 11).is_empty());
        assert!(ids(&traces, day + 21).is_empty());
    }

    #[test]
    fn traces_are_bounded_by_number_and_bytes() {
        let traces = TraceStore::default();
        for number in 0..=TRACES_MAX {
            traces.keep(trace(u8::try_from(number % 256).unwrap(), 1, 0));
        }
        assert_eq!(ids(&traces, 1).len(), TRACES_MAX);
        assert_eq!(ids(&traces, 1)[0], 1, "the oldest went");
        for number in 0..3 {
            traces.keep(trace(number, 1, TRACES_BYTES_MAX / 2));
        }
        assert_eq!(ids(&traces, 1), [2], "two of them are more than there is room for");
        // What is larger than all is kept alone: its client asks for it next.
        traces.keep(trace(7, 1, 2 * TRACES_BYTES_MAX));
        assert_eq!(ids(&traces, 1), [7]);
        traces.keep(trace(8, 1, 0));
        assert_eq!(ids(&traces, 1), [8]);
    }

    #[test]
    fn values_are_shown_as_constants() {
        let column = |name: &str, kind: CqlType| ColumnSpec {
            keyspace: "k".into(),
            table: "t".into(),
            name: name.into(),
            kind,
        };
        let markers = [column("a", CqlType::Int), column("b", CqlType::Text)];
        let bytes = |value: &[u8]| BoundValue::Bytes(value.to_vec().into());
        let shown = |own: &Values| {
            values("SELECT", &markers, own)
                .into_iter()
                .skip(1)
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
        };
        let positional = Values::Positional(vec![bytes(&7_i32.to_be_bytes()), BoundValue::Null]);
        assert_eq!(shown(&positional), ["7", "null"]);
        let named = Values::Named(vec![("b".to_owned(), bytes("x'y".as_bytes()))]);
        assert_eq!(shown(&named), ["'x''y'"]);
    }
}
