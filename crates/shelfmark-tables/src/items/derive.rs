//! Derives what follows from a row's change, in the same commit: index entries, counts, due times
//! and the change log.

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_model::{Decimal, IndexKind, IndexState, Item, Key, Projected, TtlSource, Value};
use shelfmark_records::catalogue::keys::put_table_name;
use shelfmark_records::items::{ChangeRecord, Head, Stored, encode_change, encode_record};
use shelfmark_records::keys::{Tree, misfit, tree_key};

use super::apply::{After, Before};
use crate::catalogue::{Index, Table};
use crate::commit::Writer;
use crate::error::{Refusal, Result};
use crate::rows::{put_stored, read_row};
use crate::shards::{ShardGrowth, SizeChange};

/// One row, before and after.
pub(super) struct RowChange<'a> {
    pub(super) table: &'a Table,
    pub(super) key: &'a Key,
    /// Without chunk.
    pub(super) row_key: &'a [u8],
    pub(super) before: Option<Before>,
    pub(super) after: Option<After>,
}

/// Puts and deletes index entries; refuses a second item under a unique key.
pub(super) fn indexes(writer: &Writer, change: &RowChange<'_>) -> Result<Option<Refusal>> {
    let table = change.table;
    if table.schema.options.strict_index_keys
        && let Some(after) = &change.after
        && let Some(refusal) = misfits(table, &after.item)
    {
        return Ok(Some(refusal));
    }
    let kept = |index: &&Index| index.schema.state != IndexState::Dropping;
    let mut edits = Vec::new();
    for index in table.indexes.iter().filter(kept) {
        let entry = |item: &Item, expires_at: Option<u64>| -> Result<Option<(Vec<u8>, Stored)>> {
            let Some(key) = index.entry_key(table, change.key, item)? else {
                return Ok(None);
            };
            let shown = shown_expiry(table, expires_at);
            Ok(Some((key, entry_record(table, index, item, shown))))
        };
        let old = match &change.before {
            Some(before) => entry(&before.item, before.expires_at)?,
            None => None,
        };
        // What has expired holds no unique key.
        let is_unique = index.schema.kind == IndexKind::Unique;
        let holds = |after: &&After| !(is_unique && table.hides(after.expires_at, writer.now));
        let new = match change.after.as_ref().filter(holds) {
            Some(after) => entry(&after.item, after.expires_at)?,
            None => None,
        };
        if old == new {
            continue;
        }
        let moved = old.as_ref().map(|(key, _)| key) != new.as_ref().map(|(key, _)| key);
        let (mut leaves, mut replaced) = (None, Vec::new());
        match old {
            Some(old) if moved => leaves = Some(old),
            Some((_, stored)) => replaced = stored.chunks,
            None => {}
        }
        if is_unique {
            let own = owns_its_entry(change, index);
            if let Some((key, _)) = new.as_ref().filter(|_| moved || !own) {
                match holder(writer, change, index, key)? {
                    Holder::Other => {
                        return Ok(Some(Refusal::NotUnique(index.schema.name.clone())));
                    }
                    Holder::Nobody(chunks) | Holder::This(chunks) => replaced = chunks,
                }
            }
            if let (false, Some((key, _))) = (own, &leaves)
                && !matches!(holder(writer, change, index, key)?, Holder::This(_))
            {
                leaves = None;
            }
        }
        edits.extend(leaves.map(|(key, stored)| (key, stored.chunks, None)));
        edits.extend(new.map(|(key, stored)| (key, replaced, Some(stored))));
    }
    let mut buffer = writer.buffer.borrow_mut();
    for (key, replaced, stored) in edits {
        put_stored(&mut buffer, &key, &replaced, stored, true);
    }
    Ok(None)
}

/// Entries carry the expiry only where readers must not see expired items.
fn shown_expiry(table: &Table, expires_at: Option<u64>) -> Option<u64> {
    (table.schema.options.ttl == Some(TtlSource::PerItem)).then_some(expires_at).flatten()
}

/// Returns true if a row is sure to be the one that the entry of its unique key leads to: an
/// expired row's key is free to be taken, and an index that is being built may not have it yet.
fn owns_its_entry(change: &RowChange<'_>, index: &Index) -> bool {
    change.before.as_ref().is_none_or(|before| before.live)
        && index.schema.state == IndexState::Public
}

/// The item that the entry of a unique key leads to, and the chunks of the entry that is there.
#[derive(Debug)]
enum Holder {
    /// Nobody, or an item that has expired.
    Nobody(Vec<Bytes>),
    /// The item that is written.
    This(Vec<Bytes>),
    /// Another item.
    Other,
}

/// Looks whom a unique key (without chunk) belongs to. The look is validated at commit.
fn holder(
    writer: &Writer,
    change: &RowChange<'_>,
    index: &Index,
    entry_key: &[u8],
) -> Result<Holder> {
    let Some(entry) = read_row(&writer.buffer, entry_key)? else {
        return Ok(Holder::Nobody(Vec::new()));
    };
    let expires_at = Head::parse(&entry.head)?.expires_at;
    let item = index.entry_item(&entry)?;
    let table = change.table;
    if table.key.row_key(&table.key_of(&item)?)? == change.row_key {
        return Ok(Holder::This(entry.chunks));
    }
    let has_expired = expires_at.is_some_and(|second| second <= writer.now);
    Ok(if has_expired { Holder::Nobody(entry.chunks) } else { Holder::Other })
}

/// Returns the record of an index entry: what it projects, without what its key holds.
pub(crate) fn entry_record(
    table: &Table,
    index: &Index,
    item: &Item,
    expires_at: Option<u64>,
) -> Stored {
    let in_index_key = |name: &str| {
        index.schema.partition.iter().any(|column| column.name == name)
            || index.schema.sort.iter().any(|column| column.name == name)
    };
    let unique = index.schema.kind == IndexKind::Unique;
    let held = |name: &str, value: &Value| {
        if index.key.loses_spelling(name, value) {
            return true;
        }
        if in_index_key(name) {
            return false;
        }
        if table.schema.is_key(name) {
            // The key of a unique entry ends with the index's columns: the base key is inside.
            return unique;
        }
        match &index.schema.projected {
            Projected::All => true,
            Projected::KeysOnly => false,
            Projected::Include(names) => names.iter().any(|own| own == name),
        }
    };
    let attributes = item.iter().map(|(name, value)| (name.as_str(), value));
    encode_record(attributes.filter(|(name, value)| held(name, value)), expires_at)
}

/// Refuses an item that cannot be in an index of a strict table.
fn misfits(table: &Table, item: &Item) -> Option<Refusal> {
    table.indexes.iter().find_map(|index| {
        let (attribute, value, misfit) = misfit(&table.schema, &index.schema, item)?;
        Some(Refusal::IndexKey {
            index: index.schema.name.clone(),
            attribute: attribute.to_owned(),
            found: value.kind(),
            misfit,
        })
    })
}

/// Keeps exact counts of the table, of the partition and of its shards. Returns the shard that has
/// become larger.
pub(super) fn counts(
    writer: &Writer,
    change: &RowChange<'_>,
    after_bytes: i64,
    looked: bool,
) -> Result<Option<ShardGrowth>> {
    let table = change.table;
    if !table.counts_exactly() || !looked {
        return Ok(None);
    }
    let items = i64::from(change.after.is_some()) - i64::from(change.before.is_some());
    let bytes = after_bytes - change.before.as_ref().map_or(0, |before| before.stored_bytes);
    if items != 0 {
        let partition = partition_count_key(table, &change.key.partition)?;
        let mut buffer = writer.buffer.borrow_mut();
        buffer.add(table_count_key(table.id), items);
        buffer.add(partition, items);
    }
    let delta = SizeChange { items, bytes };
    crate::shards::count(writer, table, change.key, change.row_key, delta)
}

/// Returns the key of a table's count.
pub fn table_count_key(id: u64) -> Bytes {
    let mut key = tree_key(Tree::Counts, id);
    key.push(0);
    key.into()
}

/// Returns the key of a partition's count.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: the values do not fit the partition key.
pub fn partition_count_key(table: &Table, partition: &[Value]) -> Result<Bytes> {
    let partition = table.key.partition_key(partition)?;
    let mut key = tree_key(Tree::Counts, table.id);
    key.push(1);
    key.extend_from_slice(partition.get(table.key.prefix.len()..).unwrap_or_default());
    Ok(key.into())
}

/// Keeps the queue of expiries.
pub(super) fn due(writer: &Writer, change: &RowChange<'_>) -> Result<()> {
    if change.table.schema.options.ttl.is_none() {
        return Ok(());
    }
    let old = change.before.as_ref().and_then(|before| before.expires_at);
    let new = change.after.as_ref().and_then(|after| after.expires_at);
    if old == new {
        return Ok(());
    }
    let mut buffer = writer.buffer.borrow_mut();
    if let Some(second) = old {
        buffer.delete(due_key_of(change.table, change.row_key, second));
    }
    if let Some(second) = new {
        let mut name = Vec::new();
        put_table_name(&mut name, &change.table.schema.name);
        buffer.put(due_key_of(change.table, change.row_key, second), name);
    }
    Ok(())
}

/// Returns the key `[due][second][table id][rest of the row key]`; its value is the table's name.
pub(crate) fn due_key_of(table: &Table, row_key: &[u8], second: u64) -> Bytes {
    let mut key = vec![Tree::Due as u8];
    key.extend_from_slice(&second.to_be_bytes());
    put_ordered_varint(&mut key, table.id);
    key.extend_from_slice(row_key.get(table.key.prefix.len()..).unwrap_or_default());
    key.into()
}

/// Returns the whole seconds of a number, without their fraction, if they fit.
pub(super) fn whole_seconds(number: &Decimal) -> Option<u64> {
    let number = number.normalized();
    let power = Some(number.scale().unsigned_abs()).filter(|power| *power < 30)?;
    let ten = BigInt::from(10).pow(power);
    let whole = if number.scale() > 0 { number.unscaled() / ten } else { number.unscaled() * ten };
    u64::try_from(whole).ok()
}

/// Appends to the change log, to the change stream and to the history, unless nothing changed. `looked`
/// says whether the row was looked for.
pub(super) fn change_log(writer: &Writer, change: &RowChange<'_>, looked: bool) -> Result<()> {
    let table = change.table;
    let options = &table.schema.options;
    if !options.change_log && options.stream.is_none() && options.history.is_none() {
        return Ok(());
    }
    let old = change.before.as_ref().map(|before| &before.item);
    let new = change.after.as_ref().map(|after| &after.item);
    if looked && old == new {
        return Ok(());
    }
    let position = writer.changes.get();
    writer.changes.set(position + 1);
    let (at_micros, expired) = (writer.now_micros, writer.expiring);
    if options.change_log {
        put_change(writer, table.id, position, &ChangeRecord { at_micros, expired, old, new });
    }
    if let Some(stream) = &options.stream {
        let log = table.stream_log(change.row_key)?;
        // Which images there were is told by those that are kept, so a key stands for the others.
        let kept = |is_kept: bool, image: Option<&Item>| {
            image.filter(|_| !is_kept).map(|image| key_attributes(table, image))
        };
        let (old_key, new_key) =
            (kept(stream.images.has_old(), old), kept(stream.images.has_new(), new));
        let (old, new) = (old_key.as_ref().or(old), new_key.as_ref().or(new));
        put_change(writer, log, position, &ChangeRecord { at_micros, expired, old, new });
    }
    if let Some(history) = &options.history {
        // What was there before is not looked for, so of a deleted item there is the key.
        let gone = new.is_none().then(|| table.item_of_key(change.key));
        let record = ChangeRecord { at_micros, expired, old: gone.as_ref(), new };
        put_change(writer, history.log, position, &record);
    }
    Ok(())
}

/// Returns the attributes of an item that are its key.
fn key_attributes(table: &Table, item: &Item) -> Item {
    let own = table.schema.key_names().filter_map(|name| Some((name, item.get(name)?.clone())));
    own.collect()
}

/// Appends a change to the log of this id.
fn put_change(writer: &Writer, log: u64, position: u32, record: &ChangeRecord<'_>) {
    let parts = encode_change(record);
    let prefix = Bytes::from(tree_key(Tree::Changes, log));
    let mut buffer = writer.buffer.borrow_mut();
    for (number, part) in (0..).zip(parts) {
        let mut suffix = position.to_be_bytes().to_vec();
        // The first part has the position alone, so that it comes before the others.
        if number > 0 {
            put_ordered_varint(&mut suffix, number);
        }
        buffer.put_stamped(prefix.clone(), suffix, part);
    }
}
