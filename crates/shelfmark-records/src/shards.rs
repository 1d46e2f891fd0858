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
use shelfmark_store::KeyRange;

use crate::error::{Error, Result};
use crate::keys::{KeySpec, Tree, tree_key};
use crate::varint::{Reader, put_varint};

const VERSION: u8 = 1;

/// Sections of the tree: the byte behind the table's id.
pub mod section {
    /// The map of a partition.
    pub const MAP: u8 = 0;
    /// The items of a shard.
    pub const ITEMS: u8 = 1;
    /// The bytes of a shard.
    pub const BYTES: u8 = 2;
    /// The progress of a pass.
    pub const PASS: u8 = 3;
}

/// Returns what the keys of a section of a table begin with.
pub fn section_key(table: u64, section: u8) -> Vec<u8> {
    let mut key = tree_key(Tree::Shards, table);
    key.push(section);
    key
}

/// A partition of a table, with the bytes that its keys have.
#[derive(Debug, Clone)]
pub struct Place {
    /// The partition key without tree and table id.
    pub partition: Bytes,
    /// The prefix of the keys of its rows, up to the sort key.
    pub rows: Bytes,
    table: u64,
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the partition.
    pub id: u64,
    /// Bytes of the first sort key that may be in it; empty for the first shard.
    pub start: Bytes,
}

/// A split that has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Place of the shard among the entries.
    pub place: usize,
    /// Bytes of the first sort key of the right half.
    pub cut: Bytes,
    /// Id of the left half.
    pub left: u64,
    /// Id of the right half.
    pub right: u64,
}

/// The shards of a partition, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardMap {
    /// The id of the next shard.
    pub next_id: u64,
    /// The shards, in order.
    pub entries: Vec<Entry>,
    /// The split that is under way.
    pub split: Option<Split>,
}

impl Place {
    /// Returns the place of a partition of the table `table`, whose keys are `key`.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a value does not fit its column, or is missing.
    pub fn of(table: u64, key: &KeySpec, partition: &[Value]) -> Result<Self> {
        let mut rows = key.partition_key(partition)?;
        let own = rows.get(key.prefix.len()..).unwrap_or_default();
        let partition = Bytes::copy_from_slice(own);
        rows.push(1);
        Ok(Self { partition, rows: rows.into(), table })
    }

    /// Returns the place of the partition of these bytes, without tree and table id.
    pub fn named(table: u64, key: &KeySpec, partition: Bytes) -> Self {
        let rows = [key.prefix.as_ref(), &partition, &[1]].concat();
        Self { partition, rows: rows.into(), table }
    }

    /// Returns where the map of the partition lies.
    pub fn map_key(&self) -> Bytes {
        let mut key = section_key(self.table, section::MAP);
        key.extend_from_slice(&self.partition);
        key.into()
    }

    /// Returns where the items of a shard are counted, in a partition that has a map.
    pub fn counter_key(&self, shard: u64) -> Bytes {
        self.of_shard(section::ITEMS, shard)
    }

    /// Returns where the bytes of a shard are counted.
    pub fn bytes_key(&self, shard: u64) -> Bytes {
        self.of_shard(section::BYTES, shard)
    }

    fn of_shard(&self, section: u8, shard: u64) -> Bytes {
        let mut key = section_key(self.table, section);
        key.extend_from_slice(&self.partition);
        put_ordered_varint(&mut key, shard);
        key.into()
    }

    /// Returns the bytes of a row's sort key.
    pub fn sort_of<'k>(&self, row_key: &'k [u8]) -> &'k [u8] {
        row_key.get(self.rows.len()..).unwrap_or_default()
    }

    /// Returns the bytes of a row's key, from those of its sort key.
    pub fn row_of(&self, sort: &[u8]) -> Bytes {
        [self.rows.as_ref(), sort].concat().into()
    }
}

impl ShardMap {
    /// Returns the map of a partition that was never split.
    pub fn whole() -> Self {
        let entries = vec![Entry { id: 0, start: Bytes::new() }];
        Self { next_id: 1, entries, split: None }
    }

    /// Returns the place of the shard that a sort key falls into.
    pub fn place_of(&self, sort: &[u8]) -> usize {
        self.entries.partition_point(|entry| entry.start.as_ref() <= sort).saturating_sub(1)
    }

    /// Returns the id of the shard, or half of one, that a sort key counts in.
    pub fn counted_in(&self, sort: &[u8]) -> u64 {
        let place = self.place_of(sort);
        match &self.split {
            Some(split) if split.place == place && sort < split.cut.as_ref() => split.left,
            Some(split) if split.place == place => split.right,
            _ => self.entries.get(place).map_or(0, |entry| entry.id),
        }
    }

    /// Returns the ids under which the shard at `number` is counted: its own, and those of its halves
    /// while it is split.
    pub fn counting(&self, number: usize) -> Vec<u64> {
        let mut ids = vec![self.entries.get(number).map_or(0, |entry| entry.id)];
        if let Some(split) = self.split.as_ref().filter(|split| split.place == number) {
            ids.extend([split.left, split.right]);
        }
        ids
    }

    /// Begins to split the shard at `place`.
    pub fn begin(&self, place: usize, cut: Bytes) -> Self {
        let (left, right) = (self.next_id, self.next_id + 1);
        let split = Some(Split { place, cut, left, right });
        Self { next_id: self.next_id + 2, entries: self.entries.clone(), split }
    }

    /// Ends the split: two shards for one.
    pub fn end(&self) -> Self {
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

    /// Encodes the map.
    pub fn encode(&self) -> Bytes {
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

    /// Decodes a map.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the bytes are none that this crate makes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
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

/// Returns the keys of the rows of the shard at `number`.
pub fn range_of(place: &Place, map: &ShardMap, number: usize) -> KeyRange {
    let whole = KeyRange::prefix(place.rows.clone());
    let start = map.entries.get(number).map_or(whole.start, |entry| place.row_of(&entry.start));
    let end = map.entries.get(number + 1).map(|entry| place.row_of(&entry.start)).or(whole.end);
    KeyRange { start, end }
}

/// Returns the ids of the halves of a split, and the keys of their rows.
pub fn halves(place: &Place, map: &ShardMap, split: &Split) -> [(u64, KeyRange); 2] {
    let whole = range_of(place, map, split.place);
    let cut = place.row_of(&split.cut);
    [
        (split.left, KeyRange { start: whole.start, end: Some(cut.clone()) }),
        (split.right, KeyRange { start: cut, end: whole.end }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_twice() -> ShardMap {
        ShardMap::whole()
            .begin(0, Bytes::from_static(b"m"))
            .end()
            .begin(0, Bytes::from_static(b"c"))
    }

    #[test]
    fn keys_count_in_the_shard_that_they_fall_into() {
        let map = split_twice();
        let counted = |key: &str| map.counted_in(key.as_bytes());
        // The first split made 1 and 2; the second is under way and made 3 and 4 of 1.
        let all = ["", "a", "c", "ca", "l", "m", "z"].map(counted);
        assert_eq!(all, [3, 3, 4, 4, 4, 2, 2]);
        let ended = map.end();
        assert_eq!(["", "c", "m"].map(|key| ended.counted_in(key.as_bytes())), [3, 4, 2]);
        assert_eq!(ended.entries.len(), 3);
    }

    #[test]
    fn a_map_comes_back_and_damage_is_noticed() {
        for map in [ShardMap::whole(), split_twice(), split_twice().end()] {
            let bytes = map.encode();
            assert_eq!(ShardMap::decode(&bytes).unwrap(), map);
            for end in 0..bytes.len() {
                assert!(ShardMap::decode(&bytes[..end]).is_err(), "cut at {end}");
            }
            for place in 0..bytes.len() {
                let mut flipped = bytes.to_vec();
                flipped[place] ^= 0x80;
                // No panic; a different map, or an error.
                if let Ok(other) = ShardMap::decode(&flipped) {
                    assert_ne!(other, map);
                }
            }
        }
    }
}
