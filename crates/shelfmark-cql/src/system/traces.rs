//! Traces as rows.

use bytes::Bytes;

use super::Cells;
use super::local::Node;
use super::value::{bigint, bytes, inet, int, text, text_map};
use crate::session::{Trace, Traces, time_uuid};

/// Returns the rows of `system_traces.sessions`.
pub(super) fn sessions(traces: &Traces, node: &Node, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let address = node.address();
    let found = traces.find(partition.and_then(|key| key.first()).map(|id| &id[..]));
    found
        .iter()
        .map(|trace| {
            vec![
                ("session_id", bytes(&trace.id)),
                ("client", inet(trace.client)),
                ("command", text(trace.command)),
                ("coordinator", inet(address.ip())),
                ("coordinator_port", int(7000)),
                ("duration", int(i32::try_from(trace.duration_micros).unwrap_or(i32::MAX))),
                ("parameters", text_map(&trace.parameters)),
                ("request", text(request(trace))),
                ("started_at", bigint(i64::try_from(trace.started_micros / 1_000).unwrap_or(0))),
            ]
        })
        .collect()
}

fn request(trace: &Trace) -> &'static str {
    match trace.command {
        "EXECUTE" => "Execute CQL3 prepared query",
        "PREPARE" => "Preparing CQL3 query",
        "BATCH" => "Execute batch of CQL3 queries",
        _ => "Execute CQL3 query",
    }
}

/// Returns the rows of `system_traces.events`. Only a trace as a whole is timed: its events lie at
/// its end, a microsecond apart so that they keep their order.
pub(super) fn events(traces: &Traces, node: &Node, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let address = node.address();
    let found = traces.find(partition.and_then(|key| key.first()).map(|id| &id[..]));
    let mut rows = Vec::new();
    for trace in &found {
        for (place, activity) in (0..).zip(&trace.events) {
            let moment = trace.started_micros + trace.duration_micros + place;
            rows.push(vec![
                ("session_id", bytes(&trace.id)),
                ("event_id", bytes(&time_uuid(moment, place))),
                ("activity", text(activity)),
                ("source", inet(address.ip())),
                ("source_elapsed", int(i32::try_from(trace.duration_micros).unwrap_or(i32::MAX))),
                ("source_port", int(7000)),
                ("thread", text("shelfmark-io")),
            ]);
        }
    }
    rows
}
