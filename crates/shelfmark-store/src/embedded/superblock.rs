//! Reads and writes the superblock (file `mark`): how far the log is known to be durable.
//!
//! A log alone cannot tell a torn tail from a lost one. The superblock holds the highest synced group
//! number, so recovery refuses a log that ends earlier. It is exact after a clean stop and after
//! `kill -9` (it is written after every sync, before anybody is told), and at most 100 ms behind
//! after a power cut (it is synced that often).
//!
//! Invariant: two slots in two blocks. Between two syncs only one slot is rewritten, and the other
//! is touched only after that one is synced; so one whole slot always survives a power cut.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64;

use crate::contract::{Durability, Error, ErrorKind, Result};
use crate::vfs;

use super::bytes::{be_u32, be_u64, be_u128, wide};
use super::fault;
use super::log::group::NUMBER_MAX;

/// Name of the superblock file in the store's folder.
pub(super) const SUPERBLOCK_NAME: &str = "mark";
/// Version of the layout of the whole store.
pub(super) const STORE_FORMAT: u32 = 1;

const MAGIC: [u8; 8] = *b"SHELFMRK";
const SLOT_BYTES: usize = 4096;
const SLOTS: usize = 2;
/// Bytes of a slot that its checksum covers. Every later format keeps them and their place.
const COVERED_BYTES: usize = 88;
const FLAG_CLEAN: u32 = 1;
const MODE_SYNC: u32 = 0;
const MODE_INTERVAL: u32 = 1;

/// The content of the superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Superblock {
    /// The id of the store.
    pub(super) store_id: u128,
    /// The guarantee that the commits in the log were given.
    pub(super) durability: Durability,
    /// Highest group that was synced.
    pub(super) synced_group: u64,
    /// Last commit of that group.
    pub(super) synced_commit: u64,
    /// Highest group whose writes, with all before it, are in the tree's files.
    pub(super) flushed_group: u64,
    /// Last commit of that group.
    pub(super) flushed_commit: u64,
    /// Highest sequence number of the tree that was used.
    pub(super) seqno_max: u64,
    /// True if the store was closed in order and not written since.
    pub(super) clean: bool,
}

impl Superblock {
    fn encode(&self, counter: u64) -> Vec<u8> {
        let (mode, interval_ms) = match self.durability {
            Durability::Sync => (MODE_SYNC, 0),
            Durability::Interval(interval) => {
                (MODE_INTERVAL, u32::try_from(interval.as_millis()).unwrap_or(u32::MAX))
            }
        };
        let mut out = Vec::with_capacity(COVERED_BYTES + 8);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&STORE_FORMAT.to_be_bytes());
        out.extend_from_slice(&if self.clean { FLAG_CLEAN } else { 0 }.to_be_bytes());
        out.extend_from_slice(&self.store_id.to_be_bytes());
        out.extend_from_slice(&counter.to_be_bytes());
        out.extend_from_slice(&mode.to_be_bytes());
        out.extend_from_slice(&interval_ms.to_be_bytes());
        out.extend_from_slice(&self.synced_group.to_be_bytes());
        out.extend_from_slice(&self.synced_commit.to_be_bytes());
        out.extend_from_slice(&self.flushed_group.to_be_bytes());
        out.extend_from_slice(&self.flushed_commit.to_be_bytes());
        out.extend_from_slice(&self.seqno_max.to_be_bytes());
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_be_bytes());
        out
    }

    fn decode(slot: &[u8]) -> Option<Slot> {
        let covered = slot.get(..COVERED_BYTES)?;
        if !covered.starts_with(&MAGIC) || be_u64(slot, COVERED_BYTES)? != xxh3_64(covered) {
            return None;
        }
        if (48..COVERED_BYTES)
            .step_by(8)
            .any(|at| be_u64(slot, at).is_none_or(|number| number > NUMBER_MAX))
        {
            return None;
        }
        let format = be_u32(slot, 8)?;
        let interval = Duration::from_millis(u64::from(be_u32(slot, 44)?));
        let durability = match be_u32(slot, 40)? {
            MODE_SYNC => Durability::Sync,
            _ => Durability::Interval(interval),
        };
        let superblock = Self {
            store_id: be_u128(slot, 16)?,
            durability,
            synced_group: be_u64(slot, 48)?,
            synced_commit: be_u64(slot, 56)?,
            flushed_group: be_u64(slot, 64)?,
            flushed_commit: be_u64(slot, 72)?,
            seqno_max: be_u64(slot, 80)?,
            clean: be_u32(slot, 12)? & FLAG_CLEAN != 0,
        };
        Some(Slot { format, counter: be_u64(slot, 32)?, superblock })
    }
}

struct Slot {
    format: u32,
    counter: u64,
    superblock: Superblock,
}

/// The result of reading a superblock file.
pub(super) struct SuperblockRead {
    /// The content of the newest valid slot.
    pub(super) superblock: Superblock,
    /// Number of slots of the two that are valid.
    pub(super) whole_slots: usize,
    counter: u64,
    index: usize,
}

/// Reads the superblock of a store.
///
/// # Errors
///
/// * [`ErrorKind::Corrupt`]: no slot is whole.
/// * [`ErrorKind::Invalid`]: a newer version wrote it.
pub(super) fn read(path: &Path) -> Result<SuperblockRead> {
    let bytes = vfs::read(path).map_err(|error| fault::io("read", path, error))?;
    let slots: Vec<(usize, Slot)> = (0..SLOTS)
        .filter_map(|index| {
            let slot = bytes.get(index * SLOT_BYTES..)?;
            Superblock::decode(slot).map(|slot| (index, slot))
        })
        .collect();
    let whole_slots = slots.len();
    let Some((index, slot)) = slots.into_iter().max_by_key(|(_, slot)| slot.counter) else {
        // A newer format may have another checksum.
        return Err(match claimed_format(&bytes) {
            Some(format) if format > STORE_FORMAT => newer(path, format),
            _ => fault::corrupt(path, 0, "neither slot of the superblock is whole"),
        });
    };
    if slot.format > STORE_FORMAT {
        return Err(newer(path, slot.format));
    }
    Ok(SuperblockRead { superblock: slot.superblock, whole_slots, counter: slot.counter, index })
}

/// Returns the format version that both slots claim, valid or not.
fn claimed_format(bytes: &[u8]) -> Option<u32> {
    let of = |index: usize| {
        let slot = bytes.get(index * SLOT_BYTES..)?;
        if slot.starts_with(&MAGIC) { be_u32(slot, 8) } else { None }
    };
    let first = of(0)?;
    (1..SLOTS).all(|index| of(index) == Some(first)).then_some(first)
}

fn newer(path: &Path, format: u32) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!(
            "{} was written in store format {format}, this version knows formats up to \
             {STORE_FORMAT}; open it with a newer version",
            path.display()
        ),
    )
}

/// Encodes a superblock file that holds `superblock` in both slots.
pub(super) fn file_of(superblock: &Superblock) -> Vec<u8> {
    let mut bytes = vec![0; SLOT_BYTES * SLOTS];
    for (index, counter) in [(0, 1), (1, 2)] {
        let slot = superblock.encode(counter);
        let start = index * SLOT_BYTES;
        if let Some(place) = bytes.get_mut(start..start + slot.len()) {
            place.copy_from_slice(&slot);
        }
    }
    bytes
}

/// The open superblock file.
pub(super) struct SuperblockFile {
    path: PathBuf,
    file: File,
    /// The content; call [`SuperblockFile::write`] after changing it.
    pub(super) superblock: Superblock,
    counter: u64,
    /// The slot that is rewritten until the next sync.
    slot: usize,
    dirty: bool,
}

impl SuperblockFile {
    /// Opens the superblock file that `read` was read from.
    pub(super) fn open(path: &Path, read: &SuperblockRead) -> Result<Self> {
        let file = vfs::open_rw(path).map_err(|error| fault::io("open", path, error))?;
        // The slot that was read may not be synced yet (after a kill), or the other one may be torn
        // (after a power cut). Once this one is synced, the other one is free in both cases.
        file.sync_data().map_err(|error| fault::io("sync", path, error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            superblock: read.superblock,
            counter: read.counter,
            slot: (read.index + 1) % SLOTS,
            dirty: false,
        })
    }

    /// Returns true if the superblock was written since its last sync.
    pub(super) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Writes the superblock into the current slot, without syncing it.
    pub(super) fn write(&mut self) -> Result<()> {
        self.counter += 1;
        self.dirty = true;
        let offset = wide(self.slot * SLOT_BYTES);
        vfs::write_all_at(&self.file, &self.superblock.encode(self.counter), offset)
            .map_err(|error| fault::io("write", &self.path, error))
    }

    /// Syncs the written superblock and switches to the other slot.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| fault::io("sync", &self.path, error))?;
        self.dirty = false;
        self.slot = (self.slot + 1) % SLOTS;
        Ok(())
    }

    /// Writes and syncs.
    pub(super) fn write_durably(&mut self) -> Result<()> {
        self.write()?;
        self.sync()
    }
}
