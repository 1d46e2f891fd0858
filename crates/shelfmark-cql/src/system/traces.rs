//! Traces as rows.

use std::sync::Arc;

use bytes::Bytes;

use super::sources::Sources;
use super::value::Cells;
use super::value::{bigint, bytes, inet, int, text, text_map};
use crate::session::{Trace, time_uuid};

/// Returns the rows of `system_traces.sessions`.
pub(super) fn sessions(own: &Sources, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let address = own.node.address();
    found(own, partition)
        .iter()
        .map(|trace| {
            vec![
                ("session_id", bytes(&trace.id)),
                ("client", inet(trace.client)),
                ("command", text("QUERY")),
                ("coordinator", inet(address.ip())),
                ("coordinator_port", int(7000)),
                ("duration", micros(trace.duration_micros)),
                ("parameters", text_map(&trace.parameters)),
                ("request", text(trace.request)),
                ("started_at", bigint(i64::try_from(trace.started_micros / 1_000).unwrap_or(0))),
            ]
        })
        .collect()
}

/// Returns the rows of `system_traces.events`.
pub(super) fn events(own: &Sources, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let address = own.node.address();
    let mut rows = Vec::new();
    for trace in &found(own, partition) {
        for (place, step) in (0..).zip(&trace.events) {
            // Steps of one microsecond keep their order by their place.
            let moment = trace.started_micros + step.elapsed_micros;
            rows.push(vec![
                ("session_id", bytes(&trace.id)),
                ("event_id", bytes(&time_uuid(moment, place))),
                ("activity", text(&step.activity)),
                ("source", inet(address.ip())),
                ("source_elapsed", micros(step.elapsed_micros)),
                ("source_port", int(7000)),
                ("thread", text("shelfmark-io")),
            ]);
        }
    }
    rows
}

fn micros(number: u64) -> Bytes {
    int(i32::try_from(number).unwrap_or(i32::MAX))
}

fn found(own: &Sources, partition: Option<&[Bytes]>) -> Vec<Arc<Trace>> {
    let now = own.engine.environment().clock.now_micros();
    own.traces.find(partition.and_then(|key| key.first()).map(|id| &id[..]), now)
}
