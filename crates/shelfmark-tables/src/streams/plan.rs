//! The part of a catalogue commit that is about change streams: the ids of new logs, and the marks
//! that open and close shards.

use std::collections::HashMap;

use bytes::Bytes;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::items::{ChangeRecord, encode_change};
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_store::Write;

use super::log_name;
use crate::catalogue::Table;

/// Positions of the marks within their commit: a shard is closed before the next one is opened.
const CLOSED: u32 = 0;
const OPENED: u32 = 1;

/// Gives the open shards of streams the ids of the logs that the same commit creates.
pub(crate) fn resolve_logs(records: &mut [Option<TableRecord>]) {
    let is_new = |record: &&TableRecord| record.schema.options.stream_shard.is_some();
    let created: HashMap<TableName, u64> = records
        .iter()
        .flatten()
        .filter(is_new)
        .map(|record| (record.schema.name.clone(), record.id))
        .collect();
    if created.is_empty() {
        return;
    }
    for record in records.iter_mut().flatten() {
        let Some(stream) = &mut record.schema.options.stream else { continue };
        for shard in stream.shards.iter_mut().filter(|shard| shard.log == 0) {
            let name = log_name(&record.schema.name, &stream.label, shard.number);
            shard.log = created.get(&name).copied().unwrap_or_default();
        }
    }
}

/// Returns the marks that a change of a shard's table writes into its log.
pub(crate) fn shard_marks(old: Option<&Table>, new: Option<&TableRecord>) -> Option<Write> {
    let record = new?;
    let shard = record.schema.options.stream_shard.as_ref()?;
    let was_closed = old.and_then(|old| old.schema.options.stream_shard.as_ref()?.closed_at_micros);
    let (at_micros, position) = match (old, was_closed, shard.closed_at_micros) {
        (None, _, _) => (shard.opened_at_micros, OPENED),
        (Some(_), None, Some(closed)) => (closed, CLOSED),
        _ => return None,
    };
    let mark = ChangeRecord { at_micros, expired: false, old: None, new: None };
    let value = encode_change(&mark).into_iter().next()?;
    Some(Write::PutStamped {
        prefix: tree_key(Tree::Changes, record.id).into(),
        suffix: Bytes::copy_from_slice(&position.to_be_bytes()),
        value,
    })
}
