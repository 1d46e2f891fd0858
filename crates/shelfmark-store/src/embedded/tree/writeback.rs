//! Syncs table files in small steps while they are written.
//!
//! The library syncs a table file once, when it is complete. Tens of megabytes are dirty then, and
//! the commit log, which shares the disk, waits behind them. Syncing what there is every few
//! megabytes keeps that wait short.
//!
//! What it is not: needed for durability. An error here is left to the library's own sync.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::vfs;

use super::super::bytes::wide;
use super::TABLES_NAME;

/// Bytes of entries after which the growing files are synced.
const EVERY_BYTES: u64 = 4 * 1024 * 1024;

/// Tracks the files that one flush or compaction writes.
pub(super) struct Writeback {
    folder: PathBuf,
    /// The first table number that can be one of them.
    from: u64,
    bytes: u64,
    /// The length of each file at its last sync.
    synced: BTreeMap<u64, u64>,
}

impl Writeback {
    /// Tracks table files from number `from` on of the tree in `folder`.
    pub(super) fn new(folder: &std::path::Path, from: u64) -> Self {
        Self { folder: folder.join(TABLES_NAME), from, bytes: 0, synced: BTreeMap::new() }
    }

    /// Notes that an entry of `bytes` bytes was written.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.bytes += wide(bytes);
        if self.bytes >= EVERY_BYTES {
            self.bytes = 0;
            self.sync();
        }
    }

    fn sync(&mut self) {
        let Ok(paths) = vfs::list(&self.folder) else { return };
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(number) = name.and_then(|name| name.parse::<u64>().ok()) else { continue };
            if number < self.from {
                continue;
            }
            let Ok(file) = vfs::open(&path) else { continue };
            let Ok(length) = file.metadata().map(|data| data.len()) else { continue };
            if self.synced.insert(number, length).is_none_or(|synced| synced < length) {
                let _ = file.sync_data();
            }
        }
    }
}
