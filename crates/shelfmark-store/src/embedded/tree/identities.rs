//! Remembers which table files were verified to be those of the list, so that a file of another
//! store under the same name is refused at open without reading whole files each time.
//!
//! The list holds the checksum of each whole file. Comparing it means reading the file, so it is done
//! once: what was compared is remembered with the *identity* of the file, a checksum of its length,
//! its table of contents and what it says of itself (its number, when it was written, its keys, how
//! many entries it has). An open compares identities; a file of none is read whole.
//!
//! What it is not: a search for damage. A byte that was flipped in a block is found when the block is
//! read, or by `verify`.
//!
//! Invariant: the file `identities` is a memory of what may be found out again. It is not synced, and
//! one that is torn, missing or of another store is no different from an empty one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::contract::Result;
use crate::vfs;

use super::super::bytes::array;
use super::super::fault;
use super::listing::{self, Listed};

const NAME: &str = "identities";
const MAGIC: [u8; 8] = *b"SHELFIDS";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 8;

/// The identities of verified table files, by the checksum in the list.
#[derive(Debug, Default)]
pub(in super::super) struct Identities {
    path: PathBuf,
    known: HashMap<u128, u128>,
    is_changed: bool,
}

impl Identities {
    /// Reads the remembered identities of the tree in `folder`.
    pub(in super::super) fn read(folder: &Path) -> Self {
        let path = folder.join(NAME);
        let known = vfs::read(&path).ok().and_then(|bytes| decode(&bytes)).unwrap_or_default();
        Self { path, known, is_changed: false }
    }

    /// Tells whether a table file is surely another one than the list names: it is whole in itself, and the
    /// file that was verified under this name was not this one.
    pub(in super::super) fn is_foreign(&self, listed: &Listed) -> bool {
        let other = self.known.get(&listed.checksum).zip(listing::identity(listed).ok());
        // A flipped bit in what a file says of itself is damage, and its rows are ours.
        let is_whole = || listing::check_whole(listed).is_err_and(|flaw| flaw.offset.is_none());
        other.is_some_and(|(known, identity)| *known != identity) && is_whole()
    }

    /// Verifies that a table file is the one that the list names.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: it is another one, or its table of contents is damaged.
    pub(super) fn check(&mut self, listed: &Listed) -> Result<()> {
        let refuse = |offset: Option<u64>, why: String| {
            Err(fault::corrupt(&listed.path, offset.unwrap_or(0), why))
        };
        let identity = match listing::identity(listed) {
            Ok(identity) => identity,
            Err(flaw) => return refuse(flaw.offset, flaw.why),
        };
        match self.known.get(&listed.checksum) {
            Some(known) if *known == identity => return Ok(()),
            Some(_) => return refuse(None, STRANGER.to_owned()),
            None => {}
        }
        match listing::check_whole(listed) {
            Ok(_) => {
                self.known.insert(listed.checksum, identity);
                self.is_changed = true;
                Ok(())
            }
            // Damage in a block concerns who reads the block.
            Err(flaw) if flaw.offset.is_some() => Ok(()),
            Err(_) => refuse(None, STRANGER.to_owned()),
        }
    }

    /// Remembers the tree's current table files, which it has written itself or verified, and
    /// forgets all others. A failure costs the next open some reading, and is no error.
    pub(super) fn keep(&mut self, listed: &[Listed]) {
        let mut known = HashMap::new();
        for table in listed {
            let identity = match self.known.get(&table.checksum) {
                Some(identity) => Some(*identity),
                None => {
                    self.is_changed = true;
                    listing::identity(table).ok()
                }
            };
            known.extend(identity.map(|identity| (table.checksum, identity)));
        }
        self.is_changed |= known.len() != self.known.len();
        self.known = known;
        if self.is_changed {
            // What is not written is found out again.
            let _ = vfs::write_unsynced(&self.path, &encode(&self.known));
            self.is_changed = false;
        }
    }
}

const STRANGER: &str = "it is not the file that the list of tables names, but another one under its \
                        name; put the original back, or go on without it by `shelfmark verify \
                        --salvage`";

fn encode(known: &HashMap<u128, u128>) -> Vec<u8> {
    let mut entries: Vec<(&u128, &u128)> = known.iter().collect();
    entries.sort_unstable();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&FORMAT.to_be_bytes());
    bytes.extend_from_slice(&u32::try_from(entries.len()).unwrap_or(u32::MAX).to_be_bytes());
    for (checksum, identity) in entries {
        bytes.extend_from_slice(&checksum.to_be_bytes());
        bytes.extend_from_slice(&identity.to_be_bytes());
    }
    let checksum = xxh3_64(&bytes);
    bytes.extend_from_slice(&checksum.to_be_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<HashMap<u128, u128>> {
    let end = bytes.len().checked_sub(CHECKSUM_BYTES)?;
    let whole = bytes.get(..end)?;
    let is_whole = u64::from_be_bytes(array(bytes, end)?) == xxh3_64(whole)
        && whole.starts_with(&MAGIC)
        && u32::from_be_bytes(array(whole, 8)?) == FORMAT;
    if !is_whole {
        return None;
    }
    let entries = whole.get(HEADER_BYTES..)?.chunks_exact(ENTRY_BYTES);
    entries
        .map(|entry| {
            Some((u128::from_be_bytes(array(entry, 0)?), u128::from_be_bytes(array(entry, 16)?)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    #[test]
    fn what_is_kept_is_read_back_and_nothing_else() {
        let known: HashMap<u128, u128> = [(1, 2), (u128::MAX, 0)].into();
        let bytes = encode(&known);
        assert_eq!(bytes.len(), HEADER_BYTES + 2 * ENTRY_BYTES + CHECKSUM_BYTES);
        assert_eq!(decode(&bytes), Some(known));
        for length in 0..bytes.len() {
            assert_eq!(decode(&bytes[..length]), None, "{length}");
        }
        let mut flipped = bytes;
        flipped[20] ^= 1;
        assert_eq!(decode(&flipped), None);
    }
}
