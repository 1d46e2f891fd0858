//! Appending to the log.
//!
//! Invariant: after any error the writer is not used again; the store is reopened instead.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::contract::Result;
use crate::vfs;

use super::super::bytes::wide;
use super::super::fault;
use super::header::{FileHeader, HEADER_BYTES};
use super::path_of;

/// The log file that groups are appended to.
pub(in super::super) struct LogWriter {
    path: PathBuf,
    file: File,
    header: FileHeader,
    length: u64,
    synced: u64,
}

impl LogWriter {
    /// Creates an empty log file and syncs it and the name of it.
    pub(in super::super) fn create(folder: &Path, header: FileHeader) -> Result<Self> {
        let path = path_of(folder, header.file);
        let create = || -> std::io::Result<File> {
            let file = vfs::create_new(&path)?;
            vfs::write_all_at(&file, &header.encode(), 0)?;
            file.sync_all()?;
            vfs::sync_folder(folder)?;
            Ok(file)
        };
        let file = create().map_err(|error| fault::io("create the log file", &path, error))?;
        Ok(Self { path, file, header, length: wide(HEADER_BYTES), synced: wide(HEADER_BYTES) })
    }

    /// Goes on with a log file that holds a header and no group.
    pub(in super::super) fn reuse(path: PathBuf, header: FileHeader) -> Result<Self> {
        let file =
            vfs::open_rw(&path).map_err(|error| fault::io("open the log file", &path, error))?;
        Ok(Self { path, file, header, length: wide(HEADER_BYTES), synced: wide(HEADER_BYTES) })
    }

    /// Returns what the file says about itself.
    pub(in super::super) fn header(&self) -> FileHeader {
        self.header
    }

    /// Returns the length of the file in bytes.
    pub(in super::super) fn length(&self) -> u64 {
        self.length
    }

    /// Tells whether no group was appended yet.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.length <= wide(HEADER_BYTES)
    }

    /// Tells whether something was appended that is not synced.
    pub(in super::super) fn is_dirty(&self) -> bool {
        self.synced < self.length
    }

    /// Appends the bytes of one group with one write.
    pub(in super::super) fn append(&mut self, group: &[u8]) -> Result<()> {
        vfs::write_all_at(&self.file, group, self.length)
            .map_err(|error| fault::io("append to", &self.path, error))?;
        self.length += wide(group.len());
        Ok(())
    }

    /// Makes everything appended durable.
    pub(in super::super) fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|error| fault::io("sync", &self.path, error))?;
        self.synced = self.length;
        Ok(())
    }
}
