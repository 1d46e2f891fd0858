//! The keys of the chunks of one row: chunk 0 is its head.

use shelfmark_keycode::put_ordered_varint;

/// Returns the key of one chunk of a row.
#[inline]
pub fn chunk_key(row_key: &[u8], chunk: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(row_key.len() + 1);
    key.extend_from_slice(row_key);
    put_ordered_varint(&mut key, chunk);
    key
}
