//! The changes that writes make to the size of shards, in items and bytes.

use bytes::Bytes;

/// A change that a write makes to the size of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SizeChange {
    /// 1 if the item is created, -1 if it is removed.
    pub(crate) items: i64,
    /// Difference of the bytes of its keys and records.
    pub(crate) bytes: i64,
}

/// The growth of a shard by one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardGrowth {
    /// The shard's number in its partition.
    pub shard: u64,
    /// 1 if the item was created, 0 if it was there before.
    pub items: u64,
    /// Bytes that were added; 0 where the table does not count them.
    pub bytes: u64,
}

/// Returns the bytes that a row takes: its keys and records.
pub fn stored_bytes(row_key: &[u8], head: &Bytes, chunks: &[Bytes]) -> i64 {
    // The number of a chunk is one byte below 128, and two above; `docs/format.md`.
    let number = |chunk: usize| if chunk < 128 { 1 } else { 2 };
    let records = std::iter::once(head).chain(chunks).enumerate();
    let bytes: usize = records.map(|(at, own)| row_key.len() + number(at) + own.len()).sum();
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
