//! Applies one write to a transaction's buffer: read, decide, put the row and what follows from it.

use bytes::Bytes;
use shelfmark_model::limits::{ROW_SIZE_BYTES_MAX, VALUE_DEPTH_MAX};
use shelfmark_model::{Condition, Item, Key, Patch, TtlSource, Value, item_size_bytes};
use shelfmark_records::items::{Head, Stored, encode_record};
use shelfmark_store::KeyRange;

use super::derive;
use super::request::{Change, Write, Written};
use crate::catalogue::Table;
use crate::commit::Writer;
use crate::error::{Error, Failure, Refusal, Result};
use crate::report::{AccessReport, AccessStep};
use crate::rows::{put_stored, read_row};
use crate::shards::stored_bytes;

/// The outcome of applying a write.
pub(crate) enum Applied {
    /// It is in the buffer.
    Written(Written),
    /// It was refused; the buffer is as it was.
    Refused(Refusal),
    /// The row needs more than one chunk, and the table's flag for that is not persisted yet.
    NeedsChunks,
}

impl Applied {
    /// Returns the bytes of the items that come back with it.
    pub(crate) fn returned_bytes(&self) -> usize {
        match self {
            Self::Written(written) => {
                written.old.iter().chain(&written.new).map(item_size_bytes).sum()
            }
            Self::Refused(Refusal::ConditionFailed(Some(item))) => item_size_bytes(item),
            Self::Refused(_) | Self::NeedsChunks => 0,
        }
    }
}

/// A row as a write finds it.
pub(crate) struct Before {
    pub(super) item: Item,
    pub(super) expires_at: Option<u64>,
    chunks: Vec<Bytes>,
    /// The bytes that its keys and records take in the store.
    pub(super) stored_bytes: i64,
    /// Visible to readers.
    pub(super) live: bool,
}

impl Before {
    /// Creates a live item of which nothing is known but itself.
    pub(crate) fn of_item(item: Item) -> Self {
        Self { item, expires_at: None, chunks: Vec::new(), stored_bytes: 0, live: true }
    }
}

/// A row as a write leaves it.
pub(crate) struct After {
    pub(crate) item: Item,
    pub(super) expires_at: Option<u64>,
}

/// The decision on a write, given the item that is there.
pub(crate) enum Decided {
    /// It is refused.
    Refused(Refusal),
    /// The item stays as it is.
    Stays(Written),
    /// The item becomes this; `None` removes it. The new image is not in the answer yet.
    Becomes(Option<After>, Written),
}

/// Decides on a write: its condition, and what the item becomes. `looked` says whether `before` was
/// looked for.
pub(crate) fn decide(
    table: &Table,
    write: &Write,
    key: &Key,
    before: Option<&Before>,
    looked: bool,
) -> Result<Decided> {
    let live = before.filter(|before| before.live).map(|before| &before.item);
    if !holds(write.condition.as_ref(), live) {
        let old = if write.old_on_refusal { live.cloned() } else { None };
        return Ok(Decided::Refused(Refusal::ConditionFailed(old)));
    }
    let mut written = Written {
        old: if write.returns.old { live.cloned() } else { None },
        existed: looked.then_some(live.is_some()),
        size_before_bytes: live.map_or(0, item_size_bytes),
        ..Written::default()
    };
    let after = match after(table, write, key, before) {
        Ok(after) => after,
        Err(refusal) => return Ok(Decided::Refused(refusal)),
    };
    let Outcome::Becomes(after) = after else {
        written.new = if write.returns.new { live.cloned() } else { None };
        written.size_after_bytes = written.size_before_bytes;
        return Ok(Decided::Stays(written));
    };
    if let Some(after) = &after {
        if let Some(refusal) = too_deep(table, &after.item) {
            return Ok(Decided::Refused(refusal));
        }
        if matches!(write.change, Change::Patch { .. }) {
            check_key(table, key, &after.item)?;
        }
        written.size_after_bytes = item_size_bytes(&after.item);
        if let Some(refusal) = too_large(table, written.size_after_bytes) {
            return Ok(Decided::Refused(refusal));
        }
    }
    Ok(Decided::Becomes(after, written))
}

/// Applies one write.
pub(crate) fn apply(writer: &Writer, table: &Table, write: &Write) -> Result<Applied> {
    writer.check_size()?;
    let key = write.change.key_of(table)?;
    let row_key = table.key.row_key(&key)?;
    if matches!(write.change, Change::Put(_) | Change::Patch { .. }) {
        writer.deletes_only.set(false);
    }
    if let Some(guards) = &writer.guards {
        guards.touch(table, &key.partition)?;
    }
    let mut step = AccessStep::new(&table.schema.name.name, None);
    let looked = needs_look(table, write);
    let before = if looked {
        step.ranges.push(KeyRange::prefix(row_key.clone()));
        find(writer, table, &row_key)?
    } else {
        None
    };
    if let Some(live) = before.as_ref().filter(|before| before.live) {
        step.rows_read = 1;
        step.bytes_read = item_size_bytes(&live.item) as u64;
    }
    let (after, mut written) = match decide(table, write, &key, before.as_ref(), looked)? {
        Decided::Refused(refusal) => return Ok(Applied::Refused(refusal)),
        Decided::Stays(written) => return Ok(finish(written, step)),
        Decided::Becomes(after, written) => (after, written),
    };
    let stored = after.as_ref().map(|after| encode(table, &after.item, after.expires_at));
    if !table.has_chunks() && stored.as_ref().is_some_and(|stored| !stored.chunks.is_empty()) {
        return Ok(Applied::NeedsChunks);
    }
    let change = derive::RowChange { table, key: &key, row_key: &row_key, before, after };
    if let Some(refusal) = derive::indexes(writer, &change)? {
        return Ok(Applied::Refused(refusal));
    }
    let after_bytes = bytes_after(&row_key, stored.as_ref());
    put_row(writer, &change, stored, looked)?;
    written.grown_shard = derive::counts(writer, &change, after_bytes, looked)?;
    derive::due(writer, &change)?;
    derive::change_log(writer, &change, looked)?;
    written.new = if write.returns.new { change.after.map(|after| after.item) } else { None };
    Ok(finish(written, step))
}

fn bytes_after(row_key: &[u8], stored: Option<&Stored>) -> i64 {
    stored.map_or(0, |stored| stored_bytes(row_key, &stored.head, &stored.chunks))
}

fn finish(mut written: Written, mut step: AccessStep) -> Applied {
    step.rows_returned = step.rows_read;
    written.report = AccessReport { steps: vec![step] };
    Applied::Written(written)
}

/// Returns true if the row must be read before it is written.
pub(super) fn needs_look(table: &Table, write: &Write) -> bool {
    let options = &table.schema.options;
    write.condition.is_some()
        || write.returns.old
        || !matches!(write.change, Change::Put(_) | Change::Delete(_))
        || !table.indexes.is_empty()
        || options.exact_counts
        || table.has_shards()
        || options.change_log
        || options.stream.is_some()
        || options.ttl.is_some()
        || table.has_chunks()
}

fn find(writer: &Writer, table: &Table, row_key: &[u8]) -> Result<Option<Before>> {
    let Some(row) = read_row(&writer.buffer, row_key)? else { return Ok(None) };
    let expires_at = Head::parse(&row.head)?.expires_at;
    let live = !table.hides(expires_at, writer.now);
    let item = table.decode_whole(&row)?;
    let stored_bytes = stored_bytes(row_key, &row.head, &row.chunks);
    Ok(Some(Before { item, expires_at, chunks: row.chunks, stored_bytes, live }))
}

fn holds(condition: Option<&Condition>, live: Option<&Item>) -> bool {
    let Some(condition) = condition else { return true };
    match live {
        Some(item) => condition.holds(item),
        None => condition.holds(&Item::new()),
    }
}

enum Outcome {
    /// The row stays as it is.
    Stays,
    /// The row becomes this; `None` removes it.
    Becomes(Option<After>),
}

fn after(
    table: &Table,
    write: &Write,
    key: &Key,
    before: Option<&Before>,
) -> std::result::Result<Outcome, Refusal> {
    let live = before.filter(|before| before.live);
    match &write.change {
        Change::Check(_) => Ok(Outcome::Stays),
        Change::Delete(_) => Ok(Outcome::Becomes(None)),
        Change::Put(item) => {
            let item = item.clone();
            let expires_at = expiry(table, &item, write.expires_at);
            Ok(Outcome::Becomes(Some(After { item, expires_at })))
        }
        Change::Patch { creates: false, .. } if live.is_none() => Ok(Outcome::Stays),
        Change::Patch { patch, .. } => {
            let item = patched(table, key, patch, live)?;
            let kept = write.expires_at.or_else(|| live.and_then(|live| live.expires_at));
            let expires_at = expiry(table, &item, kept);
            Ok(Outcome::Becomes(Some(After { item, expires_at })))
        }
    }
}

fn patched(
    table: &Table,
    key: &Key,
    patch: &Patch,
    live: Option<&Before>,
) -> std::result::Result<Item, Refusal> {
    match live {
        Some(live) => patch.apply(&live.item),
        None => {
            let names = table.schema.key_names().map(str::to_owned);
            let values = key.partition.iter().chain(&key.sort).cloned();
            patch.apply(&names.zip(values).collect())
        }
    }
    .map_err(Refusal::Patch)
}

/// Returns when an item expires by the table's settings; `given` is what a write said.
pub(crate) fn expiry(table: &Table, item: &Item, given: Option<u64>) -> Option<u64> {
    match &table.schema.options.ttl {
        None => None,
        Some(TtlSource::PerItem) => given,
        Some(TtlSource::Attribute(name)) => match item.get(name) {
            Some(Value::Number(number)) => derive::whole_seconds(number),
            Some(Value::Int(second)) => u64::try_from(*second).ok(),
            _ => None,
        },
    }
}

/// Refuses what the table does not take, and what the codec would refuse to read back.
pub(super) fn too_deep(table: &Table, item: &Item) -> Option<Refusal> {
    let own = table.schema.options.value_depth_max;
    let own = own.and_then(|levels| usize::try_from(levels).ok()).unwrap_or(VALUE_DEPTH_MAX);
    let levels_max = own.min(VALUE_DEPTH_MAX);
    let (name, _) = item.iter().find(|(_, value)| value.depth(levels_max) > levels_max)?;
    Some(Refusal::TooDeep { attribute: name.to_string(), levels_max })
}

/// Checks that a patch left the key attributes alone: the row stays where it is.
fn check_key(table: &Table, key: &Key, item: &Item) -> Result<()> {
    let after = table.key_of(item)?;
    let stays = match &table.mapped {
        // A column has one spelling of a number, and those who write items have several.
        Some(mapping) => mapping.is_one_row(&after, key)?,
        None => table.key.row_key(&after)? == table.key.row_key(key)?,
    };
    if stays {
        return Ok(());
    }
    Err(Error::invalid("a patch cannot change a key attribute; delete the item and put another"))
}

pub(super) fn too_large(table: &Table, size: usize) -> Option<Refusal> {
    let max = table.schema.options.item_size_bytes_max.unwrap_or(ROW_SIZE_BYTES_MAX as u64);
    (size as u64 > max)
        .then(|| Refusal::TooLarge(format!("the item has {size} bytes; the limit is {max}")))
}

/// Checks that an item can be in a table, and returns the key of its row.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`], [`crate::ErrorKind::LimitExceeded`]: it cannot.
pub fn fits(table: &Table, item: &Item) -> Result<Vec<u8>> {
    match too_deep(table, item).or_else(|| too_large(table, item_size_bytes(item))) {
        Some(refusal) => Err(Error::refused(vec![Failure { position: 0, refusal }])),
        None => Ok(table.key.row_key_of(item)?),
    }
}

/// Encodes an item without the attributes of its key, except for a spelling that the key loses.
pub fn encode(table: &Table, item: &Item, expires_at: Option<u64>) -> Stored {
    let attributes =
        item.iter().map(|(name, value)| (name.as_str(), value)).filter(|(name, value)| {
            !table.schema.is_key(name) || table.key.loses_spelling(name, value)
        });
    encode_record(attributes, expires_at)
}

/// Puts the row's head and those of its chunks that changed; deletes what is left over.
fn put_row(
    writer: &Writer,
    change: &derive::RowChange<'_>,
    stored: Option<Stored>,
    looked: bool,
) -> Result<()> {
    let old_chunks = change.before.as_ref().map_or(&[][..], |before| &before.chunks);
    let may_be_there = change.before.is_some() || !looked;
    let mut buffer = writer.buffer.borrow_mut();
    put_stored(&mut buffer, change.row_key, old_chunks, stored, may_be_there);
    Ok(())
}
