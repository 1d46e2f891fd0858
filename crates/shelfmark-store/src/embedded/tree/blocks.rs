//! Reads a table file block by block, skipping damage; used for salvage only.
//!
//! A table file begins with its data blocks, one after the other, each with its own checksums. So
//! everything but the damaged blocks can be had back without the file's index.
//!
//! Invariant: an entry is returned only from a block whose checksums hold.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use lsm_tree::table::{Block, DataBlock};
use lsm_tree::{CompressionType, ValueType};
use xxhash_rust::xxh3::xxh3_128;

use crate::contract::Result;
use crate::vfs;

use super::super::bytes::wide;
use super::super::fault;
use super::listing::{le_u32, le_u128};

const MAGIC: [u8; 4] = [b'L', b'S', b'M', 3];
const HEADER_BYTES: usize = 33;
/// Bytes of the header that its checksum covers.
const COVERED_BYTES: usize = 29;
const KIND_DATA: u8 = 0;
const KIND_META: u8 = 3;

/// One version of a key.
pub(in super::super) struct Version {
    /// The key.
    pub(in super::super) key: Bytes,
    /// The value; none for a deletion.
    pub(in super::super) value: Option<Bytes>,
    /// The sequence number of its write.
    pub(in super::super) seqno: u64,
}

/// The intact entries of a table file, and its lost parts.
#[derive(Default)]
pub(in super::super) struct Rescued {
    /// The entries of its whole data blocks.
    pub(in super::super) versions: Vec<Version>,
    /// Bytes before the last data block that belong to no intact block.
    pub(in super::super) lost: Vec<Lost>,
}

/// Bytes that belong to no intact block, and the intact keys around them, where there are.
pub(in super::super) struct Lost {
    pub(in super::super) place: Range<u64>,
    pub(in super::super) after: Option<Bytes>,
    pub(in super::super) before: Option<Bytes>,
}

impl Rescued {
    /// Adds the entries of a whole data block.
    fn add(&mut self, versions: Vec<Version>) {
        let first = versions.first().map(|version| version.key.clone());
        if let Some(lost) = self.lost.last_mut().filter(|lost| lost.before.is_none()) {
            lost.before = first;
        }
        self.versions.extend(versions);
    }

    fn lose(&mut self, place: Range<u64>) {
        match self.lost.last_mut() {
            // Two parts with nothing between them are one.
            Some(lost) if lost.before.is_none() => lost.place.end = place.end,
            _ => {
                let after = self.versions.last().map(|version| version.key.clone());
                self.lost.push(Lost { place, after, before: None });
            }
        }
    }

    /// Bounds the lost ends of the file by the least and greatest key that its description names.
    fn bound(&mut self, (least, greatest): (Bytes, Bytes)) {
        if let Some(first) = self.lost.first_mut().filter(|lost| lost.after.is_none()) {
            first.after = Some(least);
        }
        if let Some(last) = self.lost.pop_if(|lost| lost.before.is_none()) {
            // Backlog the greatest key of all lie no rows: it is the index that is damaged.
            if last.after.as_ref() != Some(&greatest) {
                self.lost.push(Lost { before: Some(greatest), ..last });
            }
        }
    }
}

enum Place {
    /// An intact block of this kind that ends at this offset.
    Whole(u8, usize),
    Damaged,
}

fn look(file: &[u8], offset: usize) -> Option<Place> {
    let rest = file.get(offset..)?;
    let Some(header) = rest.get(..HEADER_BYTES) else { return Some(Place::Damaged) };
    let whole = || {
        let covered = header.get(..COVERED_BYTES)?;
        let sum = u32::try_from(xxh3_128(covered) & u128::from(u32::MAX)).ok()?;
        if !header.starts_with(&MAGIC) || le_u32(header, COVERED_BYTES)? != sum {
            return None;
        }
        let length = usize::try_from(le_u32(header, 21)?).ok()?;
        let end = HEADER_BYTES.checked_add(length)?;
        let data = rest.get(HEADER_BYTES..end)?;
        (xxh3_128(data) == le_u128(header, 5)?).then_some((*header.get(4)?, offset + end))
    };
    Some(whole().map_or(Place::Damaged, |(kind, end)| Place::Whole(kind, end)))
}

/// Returns the next offset from `offset` on where an intact block begins.
fn next_whole(file: &[u8], mut offset: usize) -> Option<usize> {
    loop {
        let rest = file.get(offset..)?;
        offset += rest.windows(MAGIC.len()).position(|window| window == MAGIC)?;
        if matches!(look(file, offset)?, Place::Whole(..)) {
            return Some(offset);
        }
        offset += 1;
    }
}

/// Returns the offset of the first damaged part of a file, if block checksums show it.
pub(super) fn first_damaged(path: &Path) -> Option<u64> {
    let file = vfs::read(path).ok()?;
    let mut offset = 0;
    let mut before = KIND_DATA;
    loop {
        match look(&file, offset)? {
            Place::Whole(kind, end) => (before, offset) = (kind, end),
            Place::Damaged => match next_whole(&file, offset) {
                // One byte, the version of the layout, stands before the last block.
                Some(next) if next == offset + 1 && before != KIND_DATA => offset = next,
                // Backlog the blocks stands the table of contents.
                None if before == KIND_META => return None,
                _ => return Some(wide(offset)),
            },
        }
    }
}

/// Reads every intact entry of a table file.
pub(in super::super) fn rescue(path: &Path) -> Result<Rescued> {
    let file = vfs::read(path).map_err(|error| fault::io("read", path, error))?;
    let mut rescued = Rescued::default();
    let mut bounds = None;
    let mut offset = 0;
    let mut before = KIND_DATA;
    while let Some(place) = look(&file, offset) {
        let (end, whole) = match place {
            Place::Whole(kind, end) => {
                before = kind;
                let block = file.get(offset..end).unwrap_or_default();
                let versions = match kind {
                    KIND_DATA | KIND_META => decode(block),
                    _ => None,
                };
                match (kind, versions) {
                    (KIND_DATA, None) => (end, false),
                    (KIND_DATA, Some(versions)) => {
                        rescued.add(versions);
                        (end, true)
                    }
                    (_, described) => {
                        bounds = bounds.or_else(|| bounds_of(&described.unwrap_or_default()));
                        (end, true)
                    }
                }
            }
            // What follows the data blocks (index, filter, contents) can be made again.
            Place::Damaged => {
                (next_whole(&file, offset + 1).unwrap_or(file.len()), before != KIND_DATA)
            }
        };
        if !whole {
            rescued.lose(wide(offset)..wide(end));
        }
        offset = end;
        if offset == file.len() {
            break;
        }
    }
    if let Some(bounds) = bounds {
        rescued.bound(bounds);
    }
    Ok(rescued)
}

/// Returns the least and greatest key of a file, from the block in which it describes itself.
fn bounds_of(described: &[Version]) -> Option<(Bytes, Bytes)> {
    let value = |name: &[u8]| {
        described.iter().find(|own| *own.key == *name).and_then(|own| own.value.clone())
    };
    Some((value(b"key#min")?, value(b"key#max")?))
}

/// Decodes the entries of one intact data block.
fn decode(block: &[u8]) -> Option<Vec<Version>> {
    // Compressed blocks are not marked; a block is stored as it is exactly if its lengths agree.
    let plain = le_u32(block, 21)? == le_u32(block, 25)?;
    let compression = if plain { CompressionType::None } else { CompressionType::Lz4 };
    catch_unwind(AssertUnwindSafe(|| decode_as(block, compression))).ok().flatten()
}

fn decode_as(mut block: &[u8], compression: CompressionType) -> Option<Vec<Version>> {
    let block = DataBlock::new(Block::from_reader(&mut block, compression).ok()?);
    let data = Bytes::from(block.inner.data.clone());
    let mut versions = Vec::new();
    for entry in block.iter() {
        let mut key = Vec::new();
        for part in entry.prefix.iter().chain([&entry.key]) {
            key.extend_from_slice(data.get(part.0..part.1)?);
        }
        let value = match entry.value_type {
            ValueType::Value => {
                let part = entry.value.as_ref()?;
                Some(Bytes::copy_from_slice(data.get(part.0..part.1)?))
            }
            ValueType::Tombstone | ValueType::WeakTombstone | ValueType::Indirection => None,
        };
        versions.push(Version { key: Bytes::from(key), value, seqno: entry.seqno });
    }
    Some(versions)
}
