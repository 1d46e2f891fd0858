//! Spools answers that are too long for memory to files in the folder of the store.
//!
//! What they are not: durable, or named. A file is gone once its answer was sent, its connection has
//! ended or the process has.
//!
//! Invariant: all files together stay under a limit, and leave the store the free space that it asks
//! for.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shelfmark_cql::{Spool, Spools};
use shelfmark_store::vfs;

use crate::limits::{SPOOL_FREE_BYTES_MIN, SPOOLED_BYTES_MAX};

/// Checks the free space each time that so many bytes were written.
const FREE_SPACE_CHECK_BYTES: u64 = 64 * 1024 * 1024;

/// A folder for files without names.
#[derive(Debug, Clone)]
pub struct SpoolFolder {
    folder: PathBuf,
    /// Bytes of all files.
    held: Arc<AtomicU64>,
}

impl SpoolFolder {
    /// Uses `folder`, which must exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, held: Arc::default() }
    }

    fn check_free(&self) -> io::Result<()> {
        match vfs::free_bytes(&self.folder)? {
            Some(free) if free < SPOOL_FREE_BYTES_MIN => Err(out_of_space()),
            _ => Ok(()),
        }
    }
}

fn out_of_space() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "long answers take all the disk space that they may")
}

impl Spools for SpoolFolder {
    fn create(&self) -> io::Result<Box<dyn Spool>> {
        self.check_free()?;
        let file = vfs::create_unnamed(&self.folder)?;
        Ok(Box::new(SpoolFile { file, length: 0, spools: self.clone() }))
    }
}

#[derive(Debug)]
struct SpoolFile {
    file: File,
    length: u64,
    spools: SpoolFolder,
}

impl Spool for SpoolFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let more = bytes.len() as u64;
        let fits = |held: u64| held.checked_add(more).filter(|held| *held <= SPOOLED_BYTES_MAX);
        let taken = self.spools.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map_err(|_| out_of_space())?;
        let before = self.length;
        // Counted before it is written, so that it is given back however that ends.
        self.length += more;
        if before / FREE_SPACE_CHECK_BYTES != self.length / FREE_SPACE_CHECK_BYTES {
            self.spools.check_free()?;
        }
        vfs::write_all_at(&self.file, bytes, before)
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        vfs::read_at(&self.file, buffer, offset)
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        self.spools.held.fetch_sub(self.length, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_leaves_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let spools = SpoolFolder::new(folder.path().to_owned());
        let mut spool = spools.create().unwrap();
        spool.append(b"one, ").unwrap();
        spool.append(b"two").unwrap();
        let mut read = [0; 16];
        assert_eq!(spool.read(2, &mut read).unwrap(), 6);
        assert_eq!(&read[..6], b"e, two");
        assert!(vfs::list(folder.path()).unwrap().is_empty());
        assert_eq!(spools.held.load(Ordering::Relaxed), 8);
        drop(spool);
        assert_eq!(spools.held.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn all_files_share_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let spools = SpoolFolder::new(folder.path().to_owned());
        spools.held.store(SPOOLED_BYTES_MAX - 4, Ordering::Relaxed);
        let mut spool = spools.create().unwrap();
        spool.append(b"four").unwrap();
        assert_eq!(spool.append(b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        drop(spool);
        assert_eq!(spools.held.load(Ordering::Relaxed), SPOOLED_BYTES_MAX - 4);
    }
}
