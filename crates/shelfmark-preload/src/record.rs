//! Writes the recording: a file of records, appended in the order in which the operations took
//! effect.
//!
//! Integers are big-endian. A record is its length (4 bytes, without itself), its kind (1) and:
//!
//! | kind | what | fields |
//! | --- | --- | --- |
//! | 0 | a process begins; handles of the one before are void | – |
//! | 1 | open | handle 4, flags 1 (1 may create, 2 empties), path |
//! | 2 | write | handle 4, offset 8, the bytes |
//! | 3 | change of length | handle 4, length 8 |
//! | 4 | sync begins | handle 4, number of the sync 4, who asked for it (text) |
//! | 5 | sync ended well | number of the sync 4 |
//! | 6 | rename | length of the first path 4, first path, second path |
//! | 7 | unlink | path |
//! | 8 | create a folder | path |
//! | 9 | remove a folder | path |
//! | 10 | link | as rename |
//! | 11 | the process wrote this to its standard output | the bytes |
//! | 12 | change of length by path | length 8, path |
//!
//! Paths are absolute. `shelfmark_testkit::powercut` reads this.
//!
//! Invariant: a sync covers what stands before its begin, and only once its end is there. Every
//! other record stands where its operation took effect, seen from the thread that asked for it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::next::{keeping_errno, next};
use crate::state::{self, Recorder};

const BEGIN: u8 = 0;
const OPEN: u8 = 1;
const WRITE: u8 = 2;
const LENGTH: u8 = 3;
const SYNC_BEGIN: u8 = 4;
const SYNC_END: u8 = 5;
const RENAME: u8 = 6;
const UNLINK: u8 = 7;
const CREATE_FOLDER: u8 = 8;
const REMOVE_FOLDER: u8 = 9;
const LINK: u8 = 10;
const NOTE: u8 = 11;
const LENGTH_BY_PATH: u8 = 12;

static SYNCS: AtomicU32 = AtomicU32::new(1);

/// A record being built.
pub(crate) struct Record(Vec<u8>);

impl Record {
    fn new(kind: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind])
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn two_paths(self, from: &[u8], to: &[u8]) -> Self {
        let length = u32::try_from(from.len()).unwrap_or(0);
        self.u32(length).bytes(from).bytes(to)
    }

    /// Records the start of a process.
    pub(crate) fn begin() -> Self {
        Self::new(BEGIN)
    }

    /// Records that `path` was opened.
    pub(crate) fn open(handle: u32, creates: bool, empties: bool, path: &[u8]) -> Self {
        let mut record = Self::new(OPEN).u32(handle);
        record.0.push(u8::from(creates) | u8::from(empties) << 1);
        record.bytes(path)
    }

    /// Records that `bytes` were written at `offset`.
    pub(crate) fn write(handle: u32, offset: u64, bytes: &[u8]) -> Self {
        Self::new(WRITE).u32(handle).u64(offset).bytes(bytes)
    }

    /// Records that a file was cut or extended.
    pub(crate) fn length(handle: u32, length: u64) -> Self {
        Self::new(LENGTH).u32(handle).u64(length)
    }

    /// Works as [`Record::length`], of the file at `path`.
    pub(crate) fn length_by_path(path: &[u8], length: u64) -> Self {
        Self::new(LENGTH_BY_PATH).u64(length).bytes(path)
    }

    /// Records a sync that `site` asked for, and returns its number too.
    pub(crate) fn sync_begin(handle: u32, site: &str) -> (u32, Self) {
        let number = SYNCS.fetch_add(1, Ordering::Relaxed);
        (number, Self::new(SYNC_BEGIN).u32(handle).u32(number).bytes(site.as_bytes()))
    }

    /// Records that a sync succeeded.
    pub(crate) fn sync_end(number: u32) -> Self {
        Self::new(SYNC_END).u32(number)
    }

    /// Records a rename.
    pub(crate) fn rename(from: &[u8], to: &[u8]) -> Self {
        Self::new(RENAME).two_paths(from, to)
    }

    /// Records a link.
    pub(crate) fn link(from: &[u8], to: &[u8]) -> Self {
        Self::new(LINK).two_paths(from, to)
    }

    /// Records that a name was removed.
    pub(crate) fn unlink(path: &[u8]) -> Self {
        Self::new(UNLINK).bytes(path)
    }

    /// Records that a folder was created.
    pub(crate) fn create_folder(path: &[u8]) -> Self {
        Self::new(CREATE_FOLDER).bytes(path)
    }

    /// Records that a folder was removed.
    pub(crate) fn remove_folder(path: &[u8]) -> Self {
        Self::new(REMOVE_FOLDER).bytes(path)
    }

    /// Records output of the process.
    pub(crate) fn note(bytes: &[u8]) -> Self {
        Self::new(NOTE).bytes(bytes)
    }

    /// Appends the record to the recording, if there is one.
    pub(crate) fn append(mut self, recorder: &Recorder) {
        let Some(log) = recorder.log else { return };
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        if let Some(place) = self.0.get_mut(..4) {
            place.copy_from_slice(&length.to_be_bytes());
        }
        let write = next!(c"write" as unsafe extern "C" fn(i32, *const u8, usize) -> isize);
        // SAFETY: the pointer and the length are those of one live vector.
        let written = keeping_errno(|| unsafe { write(log, self.0.as_ptr(), self.0.len()) });
        if usize::try_from(written) != Ok(self.0.len()) {
            state::give_up("cannot write to the recording");
        }
    }
}
