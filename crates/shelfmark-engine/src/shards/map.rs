//! The shard map of a partition, and the keys of the tree `shards`.
//!
//! `[tree][table id] 00 [partition key]` holds the map of a partition that was split or is being
//! split; `[tree][table id] 01 [partition key][shard id]` the count of one shard. A partition
//! without a map is one shard, of id 0, whose count is the partition's.
//! `[tree][table id] 02 [partition key][shard id]` holds the bytes of one shard, also of one that was
//! never split, where the table counts bytes; `[tree][table id] 03` how far the bytes of items from
//! before that have been counted.
//!
//! ```text
//! map    01, next id, number of shards, shards, 0 | 1 and a split
//! shard  id, length and bytes of its first sort key (none for the first shard)
//! split  place of its shard, length and bytes of the cut, id of the left half, id of the right
//! ```
//! Integers are varints.

use bytes::Bytes;
use shelfmark_keycode::put_ordered_varint;
use shelfmark_model::Value;
use shelfmark_records::keys::{Tree, tree_key};
use shelfmark_records::varint::{Reader, put_varint};

use crate::catalogue::Table;
use crate::error::{Error, Result};

const VERSION: u8 = 1;

/// What a key of the tree is for: the byte behind the table's id.
pub(crate) mod section {
    /// The map of a partition.
    pub(crate) const MAP: u8 = 0;
    /// The items of a shard.
    pub(crate) const ITEMS: u8 = 1;
    /// The bytes of a shard.
    pub(crate) const BYTES: u8 = 2;
    /// How far a pass has come.
    pub(crate) const PASS: u8 = 3;
}

/// Returns what the keys of a section of a table begin with.
pub(crate) fn section_key(table: u64, section: u8) -> Vec<u8> {
    let mut key = tree_key(Tree::Shards, table);
    key.push(section);
    key
}

/// A partition of a table, with the bytes that its keys have.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The partition key without tree and table id.
    pub(crate) partition: Bytes,
    /// What the keys of its rows begin with, up to the sort key.
    pub(crate) rows: Bytes,
    table: u64,
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    /// Bytes of the first sort key that may be in it; empty for the first shard.
    pub(crate) start: Bytes,
}

/// A split that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// Place of the shard among the entries.
    pub(crate) place: usize,
    /// Bytes of the first sort key of the right half.
    pub(crate) cut: Bytes,
    pub(crate) left: u64,
    pub(crate) right: u64,
}

/// The shards of a partition, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShardMap {
    pub(crate) next_id: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) split: Option<Split>,
}

impl Place {
    pub(crate) fn of(table: &Table, partition: &[Value]) -> Result<Self> {
        let mut rows = table.key.partition_key(partition)?;
        let own = rows.get(table.key.prefix.len()..).unwrap_or_default();
        let partition = Bytes::copy_from_slice(own);
        rows.push(1);
        Ok(Self { partition, rows: rows.into(), table: table.id })
    }

    /// The partition of these bytes, without tree and table id.
    pub(crate) fn named(table: &Table, partition: Bytes) -> Self {
        let rows = [table.key.prefix.as_ref(), &partition, &[1]].concat();
        Self { partition, rows: rows.into(), table: table.id }
    }

    pub(crate) fn map_key(&self) -> Bytes {
        let mut key = section_key(self.table, section::MAP);
        key.extend_from_slice(&self.partition);
        key.into()
    }

    /// Where the items of a shard are counted, in a partition that has a map.
    pub(crate) fn counter_key(&self, shard: u64) -> Bytes {
        self.of_shard(section::ITEMS, shard)
    }

    /// Where the bytes of a shard are counted.
    pub(crate) fn bytes_key(&self, shard: u64) -> Bytes {
        self.of_shard(section::BYTES, shard)
    }

    fn of_shard(&self, section: u8, shard: u64) -> Bytes {
        let mut key = section_key(self.table, section);
        key.extend_from_slice(&self.partition);
        put_ordered_varint(&mut key, shard);
        key.into()
    }

    /// The bytes of a row's sort key.
    pub(crate) fn sort_of<'k>(&self, row_key: &'k [u8]) -> &'k [u8] {
        row_key.get(self.rows.len()..).unwrap_or_default()
    }

    /// The bytes of a row's key, from those of its sort key.
    pub(crate) fn row_of(&self, sort: &[u8]) -> Bytes {
        [self.rows.as_ref(), sort].concat().into()
    }
}

impl ShardMap {
    /// The map of a partition that was never split.
    pub(crate) fn whole() -> Self {
        let entries = vec![Entry { id: 0, start: Bytes::new() }];
        Self { next_id: 1, entries, split: None }
    }

    /// Returns the place of the shard that a sort key falls into.
    pub(crate) fn place_of(&self, sort: &[u8]) -> usize {
        self.entries.partition_point(|entry| entry.start.as_ref() <= sort).saturating_sub(1)
    }

    /// Returns the id of the shard, or half of one, that a sort key counts in.
    pub(crate) fn counted_in(&self, sort: &[u8]) -> u64 {
        let place = self.place_of(sort);
        match &self.split {
            Some(split) if split.place == place && sort < split.cut.as_ref() => split.left,
            Some(split) if split.place == place => split.right,
            _ => self.entries.get(place).map_or(0, |entry| entry.id),
        }
    }

    /// Returns the ids under which the shard at `number` is counted: its own, and those of its halves
    /// while it is split.
    pub(crate) fn counting(&self, number: usize) -> Vec<u64> {
        let mut ids = vec![self.entries.get(number).map_or(0, |entry| entry.id)];
        if let Some(split) = self.split.as_ref().filter(|split| split.place == number) {
            ids.extend([split.left, split.right]);
        }
        ids
    }

    /// Begins to split the shard at `place`.
    pub(crate) fn begin(&self, place: usize, cut: Bytes) -> Self {
        let (left, right) = (self.next_id, self.next_id + 1);
        let split = Some(Split { place, cut, left, right });
        Self { next_id: self.next_id + 2, entries: self.entries.clone(), split }
    }

    /// Ends the split: two shards for one.
    pub(crate) fn end(&self) -> Self {
        let mut ended = Self { split: None, ..self.clone() };
        if let Some(split) = &self.split
            && let Some(entry) = ended.entries.get_mut(split.place)
        {
            entry.id = split.left;
            let right = Entry { id: split.right, start: split.cut.clone() };
            ended.entries.insert(split.place + 1, right);
        }
        ended
    }

    pub(crate) fn encode(&self) -> Bytes {
        let mut out = vec![VERSION];
        put_varint(&mut out, self.next_id);
        put_varint(&mut out, self.entries.len() as u64);
        for entry in &self.entries {
            put_varint(&mut out, entry.id);
            put_bytes(&mut out, &entry.start);
        }
        match &self.split {
            None => out.push(0),
            Some(split) => {
                out.push(1);
                put_varint(&mut out, split.place as u64);
                put_bytes(&mut out, &split.cut);
                put_varint(&mut out, split.left);
                put_varint(&mut out, split.right);
            }
        }
        out.into()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let damaged = || Error::corrupt("a shard map is damaged");
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return Err(damaged());
        }
        let next_id = reader.varint()?;
        // Every shard takes two bytes or more, so the length is no larger than what is left.
        let count = reader.len()?;
        let mut entries: Vec<Entry> = Vec::with_capacity(count);
        for _ in 0..count {
            let id = reader.varint()?;
            let start = Bytes::copy_from_slice(reader.prefixed()?);
            let ascends = entries.last().map_or(start.is_empty(), |last| last.start < start);
            if !ascends || id >= next_id {
                return Err(damaged());
            }
            entries.push(Entry { id, start });
        }
        let split = match reader.byte()? {
            0 => None,
            1 => Some(Split {
                place: usize::try_from(reader.varint()?).map_err(|_| damaged())?,
                cut: Bytes::copy_from_slice(reader.prefixed()?),
                left: reader.varint()?,
                right: reader.varint()?,
            }),
            _ => return Err(damaged()),
        };
        let fits = split.as_ref().is_none_or(|split| split.place < entries.len());
        if entries.is_empty() || !fits || !reader.is_empty() {
            return Err(damaged());
        }
        Ok(Self { next_id, entries, split })
    }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}
