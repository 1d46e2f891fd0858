//! The fast path: a put or delete that need not know what was there.
//!
//! It reads nothing, so its commit validates nothing and needs no latch: a write that did read the
//! item finds out by its own validation. Every rule that needs a look takes the other path, and so
//! does everything that would be refused.

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_model::item_size_bytes;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::Write as StoreWrite;

use super::apply::{encode, needs_look, too_deep, too_large};
use super::request::{Change, Write, Written};
use crate::catalogue::Table;
use crate::error::Result;

/// Returns what to write and the answer, or `None` if the write must look first.
pub(crate) fn blind(table: &Table, write: &Write) -> Result<Option<(StoreWrite, Written)>> {
    // A history needs no look, and is no part of a commit of one write.
    let is_logged = table.schema.options.history.is_some();
    if write.returns.new || is_logged || needs_look(table, write) {
        return Ok(None);
    }
    match &write.change {
        Change::Put(item) => {
            let size = item_size_bytes(item);
            if too_deep(table, item).is_some() || too_large(table, size).is_some() {
                return Ok(None);
            }
            let mut key = table.key.row_key_of(item)?;
            let stored = encode(table, item, None);
            if !stored.chunks.is_empty() {
                return Ok(None);
            }
            put_ordered_varint(&mut key, 0);
            let key = Bytes::from(key);
            let written = Written { size_after_bytes: size, ..Written::default() };
            Ok(Some((StoreWrite::Put { key, value: stored.head }, written)))
        }
        Change::Delete(key) => {
            let key = Bytes::from(chunk_key(&table.key.row_key(key)?, 0));
            Ok(Some((StoreWrite::Delete { key }, Written::default())))
        }
        Change::Patch { .. } | Change::Check(_) => Ok(None),
    }
}
