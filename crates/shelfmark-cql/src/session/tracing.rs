//! Traces of requests that asked for one: kept in memory for the client to read at once, shown by
//! `system_traces`.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::TRACES_MAX;

/// What was done for one request.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    /// A time-based UUID.
    pub(crate) id: [u8; 16],
    /// Who asked.
    pub(crate) client: IpAddr,
    /// `QUERY`, `EXECUTE`, `PREPARE` or `BATCH`.
    pub(crate) command: &'static str,
    /// The statement and what came with it.
    pub(crate) parameters: Vec<(String, String)>,
    /// When it began, in microseconds since the epoch.
    pub(crate) started_micros: u64,
    /// How long it took, in microseconds.
    pub(crate) duration_micros: u64,
    /// What was done, in order.
    pub(crate) events: Vec<String>,
}

/// The last traces.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    kept: Mutex<VecDeque<Arc<Trace>>>,
}

impl Traces {
    /// Keeps a trace; the oldest goes.
    pub(crate) fn keep(&self, trace: Trace) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= TRACES_MAX {
            kept.pop_front();
        }
        kept.push_back(Arc::new(trace));
    }

    /// Returns the trace of this id, or all without one.
    pub(crate) fn find(&self, id: Option<&[u8]>) -> Vec<Arc<Trace>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter(|trace| id.is_none_or(|id| trace.id == id)).map(Arc::clone).collect()
    }
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
