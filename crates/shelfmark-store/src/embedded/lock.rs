//! The lock that one open store holds on its folder.
//!
//! Invariant: it is free as soon as it is dropped. Closing the file is not enough for that: a
//! program that starts another one just then has a second handle to the file in the new process
//! until that executes, and a lock lasts as long as any handle. So it is given back by name.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::contract::{Error, ErrorKind, Result};
use crate::vfs;

use super::fault;

/// An exclusive lock of the folder.
#[derive(Debug)]
pub(super) struct FolderLock(File);

impl FolderLock {
    /// Takes the lock, with `path` as its file.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Unavailable`]: another process, or this one, has the store open.
    /// * [`ErrorKind::Io`]: the folder cannot be written.
    pub(super) fn take(path: &Path) -> Result<Self> {
        let file = vfs::open_or_create(path).map_err(|error| {
            fault::io("write to the folder (check its owner and rights): cannot open", path, error)
        })?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(open_already(path)),
            Err(TryLockError::Error(error)) => Err(fault::io("lock", path, error)),
        }
    }

    /// Works as [`FolderLock::take`], for read-only use: where the folder cannot be written the
    /// lock is taken on the existing file, and without such a file nobody can have the store open.
    ///
    /// # Errors
    ///
    /// * As [`FolderLock::take`].
    pub(super) fn take_to_read(path: &Path) -> Result<Option<Self>> {
        match Self::take(path) {
            Err(error) if error.kind() == ErrorKind::Io => {}
            taken => return taken.map(Some),
        }
        let file = match vfs::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| fault::io("open", path, error))?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Err(open_already(path)),
            // A file system that cannot lock what is only read.
            Err(TryLockError::Error(_)) => Ok(None),
        }
    }
}

fn open_already(path: &Path) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!(
            "{} is open already, in this process or another; stop that one or choose another folder",
            path.parent().unwrap_or(path).display()
        ),
    )
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file frees it too, only perhaps later.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

    use super::*;

    #[test]
    fn a_second_handle_does_not_keep_it() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("lock");
        let lock = FolderLock::take(&path).unwrap();
        // As a process has it between its start and its `exec`.
        let _inherited = lock.0.try_clone().unwrap();
        assert_eq!(FolderLock::take(&path).unwrap_err().kind(), ErrorKind::Unavailable);
        drop(lock);
        FolderLock::take(&path).unwrap();
    }

    #[test]
    fn who_only_reads_needs_no_file_that_can_be_written() {
        let scratch = tempfile::tempdir().unwrap();
        // A folder that is not there cannot be written, whoever asks.
        let none = scratch.path().join("none").join("lock");
        assert!(FolderLock::take(&none).is_err());
        assert!(FolderLock::take_to_read(&none).unwrap().is_none());
        let path = scratch.path().join("lock");
        let lock = FolderLock::take(&path).unwrap();
        assert_eq!(FolderLock::take_to_read(&path).unwrap_err().kind(), ErrorKind::Unavailable);
        drop(lock);
        assert!(FolderLock::take_to_read(&path).unwrap().is_some());
    }
}
