//! Appends groups to the log.
//!
//! Zeros are written ahead of the groups. A sync of bytes inside a file is one flush of the disk; one
//! that lengthens the file also commits to the file system's journal, which takes as long again
//! (measured: 0.19 ms against 0.36 ms).
//!
//! Invariant: after any error the writer is not used again; the store is reopened instead. Backlog the
//! last group there is nothing, or zeros to the end of the file.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::contract::Result;
use crate::vfs;

use super::super::bytes::wide;
use super::super::fault;
use super::header::{FileHeader, HEADER_BYTES};
use super::path_of;

/// Fewest bytes that the file is lengthened by.
const AHEAD_BYTES_MIN: u64 = 16 * 1024;

/// A block of zeros to preallocate with.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// The log file that groups are appended to.
pub(in super::super) struct LogWriter {
    path: PathBuf,
    file: File,
    header: FileHeader,
    /// Offset of the end of the last group.
    length: u64,
    synced: u64,
    /// Offset of the end of the zeros.
    reserved: u64,
    /// Most bytes of zeros that are preallocated.
    ahead: u64,
}

impl LogWriter {
    /// Creates an empty log file and syncs it and its directory entry. At most `ahead` bytes of
    /// zeros will lie behind its groups.
    pub(in super::super) fn create(folder: &Path, header: FileHeader, ahead: u64) -> Result<Self> {
        let path = path_of(folder, header.file);
        let create = || -> std::io::Result<File> {
            let file = vfs::create_new(&path)?;
            vfs::write_all_at(&file, &header.encode(), 0)?;
            file.sync_all()?;
            vfs::sync_folder(folder)?;
            Ok(file)
        };
        let file = create().map_err(|error| fault::io("create the log file", &path, error))?;
        Ok(Self::empty(path, file, header, ahead))
    }

    /// Continues a log file that holds a header and no group.
    pub(in super::super) fn reuse(path: PathBuf, header: FileHeader, ahead: u64) -> Result<Self> {
        let file =
            vfs::open_rw(&path).map_err(|error| fault::io("open the log file", &path, error))?;
        Ok(Self::empty(path, file, header, ahead))
    }

    fn empty(path: PathBuf, file: File, header: FileHeader, ahead: u64) -> Self {
        let length = wide(HEADER_BYTES);
        Self { path, file, header, length, synced: length, reserved: length, ahead }
    }

    /// Returns the file's header.
    pub(in super::super) fn header(&self) -> FileHeader {
        self.header
    }

    /// Returns the length of the file in bytes.
    pub(in super::super) fn length(&self) -> u64 {
        self.length
    }

    /// Returns true if no group was appended yet.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.length <= wide(HEADER_BYTES)
    }

    /// Returns true if something was appended and not synced.
    pub(in super::super) fn is_dirty(&self) -> bool {
        self.synced < self.length
    }

    /// Appends the bytes of one group with one write.
    pub(in super::super) fn append(&mut self, group: &[u8]) -> Result<()> {
        vfs::write_all_at(&self.file, group, self.length)
            .map_err(|error| fault::io("append to", &self.path, error))?;
        self.length += wide(group.len());
        if self.length > self.reserved {
            self.reserve();
        }
        Ok(())
    }

    /// Preallocates zeros behind the last group: as many bytes as the file has, so that a store of
    /// few commits stays small. They become durable with the group's sync.
    fn reserve(&mut self) {
        let end = self.length + self.length.max(AHEAD_BYTES_MIN).min(self.ahead);
        let mut at = self.length;
        while at < end {
            let count = usize::try_from(end - at).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
            let Some(zeros) = ZEROS.get(..count) else { break };
            if vfs::write_all_at(&self.file, zeros, at).is_err() {
                // Nobody was promised anything by zeros. If the disk is full, a group will say so.
                break;
            }
            at += wide(count);
        }
        self.reserved = at;
    }

    /// Syncs everything that was appended.
    pub(in super::super) fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| fault::io("sync", &self.path, error))?;
        self.synced = self.length;
        Ok(())
    }
}
