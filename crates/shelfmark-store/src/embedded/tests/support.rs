//! Helpers of the tests: stores in scratch folders, short forms, and copies of folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::clock::{Clock, SystemClock};
use crate::contract::{
    Commit, Direction, Durability, Error, ErrorKind, KeyRange, Result, Row, ScanLimits, Snapshot,
    Store as _, Write,
};
use crate::embedded::{EmbeddedStore, Options};
use crate::vfs;

/// A scratch folder that goes away with the test.
pub(in crate::embedded) struct Scratch {
    _root: tempfile::TempDir,
    /// The store's folder in it; not created.
    pub(in crate::embedded) folder: PathBuf,
}

impl Scratch {
    pub(in crate::embedded) fn new() -> Self {
        // Thousands of syncs: in memory where that is possible, for these tests prove logic, and
        // the crash tests of the testkit prove syncs.
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let folder = root.path().join("store");
        Self { _root: root, folder }
    }

    /// Returns a path beside the store's folder.
    pub(in crate::embedded) fn beside(&self, name: &str) -> PathBuf {
        self.folder.with_file_name(name)
    }

    pub(in crate::embedded) fn open(&self) -> EmbeddedStore {
        self.open_with(small()).unwrap()
    }

    pub(in crate::embedded) fn open_with(&self, options: Options) -> Result<EmbeddedStore> {
        EmbeddedStore::open(&self.folder, options, Arc::new(SystemClock::new()))
    }

    pub(in crate::embedded) fn open_at(
        &self,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> EmbeddedStore {
        EmbeddedStore::open(&self.folder, options, clock).unwrap()
    }

    /// Opens and expects to be refused.
    pub(in crate::embedded) fn refused(&self) -> Error {
        match self.open_with(small()) {
            Ok(_) => panic!("the store opened"),
            Err(error) => error,
        }
    }

    pub(in crate::embedded) fn superblock(&self) -> PathBuf {
        self.folder.join("mark")
    }

    /// Returns the log files, the oldest first.
    pub(in crate::embedded) fn logs(&self) -> Vec<PathBuf> {
        vfs::list(&self.folder.join("log")).unwrap()
    }
}

/// Options that need little memory and no free disk.
/// Without zeros ahead of the log, so that its files end with their last group.
pub(in crate::embedded) fn small() -> Options {
    Options {
        block_cache_bytes: 4 * 1024 * 1024,
        disk_free_bytes_min: 0,
        log_ahead_bytes: 0,
        ..Options::default()
    }
}

pub(in crate::embedded) fn interval() -> Options {
    // Longer than any test, so that only explicit syncs happen.
    Options { durability: Durability::Interval(std::time::Duration::from_secs(3600)), ..small() }
}

pub(in crate::embedded) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

pub(in crate::embedded) fn put(key: &str, value: &str) -> Write {
    Write::Put { key: bytes(key), value: bytes(value) }
}

pub(in crate::embedded) fn put_if_absent(key: &str, value: &str) -> Write {
    Write::PutIfAbsent { key: bytes(key), value: bytes(value) }
}

pub(in crate::embedded) fn delete(key: &str) -> Write {
    Write::Delete { key: bytes(key) }
}

pub(in crate::embedded) fn add(key: &str, delta: i64) -> Write {
    Write::Add { key: bytes(key), delta }
}

/// Waits for `time`.
pub(in crate::embedded) fn pause(time: std::time::Duration) {
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    let _ = receiver.recv_timeout(time);
}

/// Commits and waits, coming again as often as the store is busy: small memory tables fill faster
/// than they are flushed.
pub(in crate::embedded) fn commit_patiently(store: &EmbeddedStore, writes: Vec<Write>) {
    loop {
        match store.commit(Commit::of(writes.clone())) {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::Busy => pause(error.retry_after().unwrap()),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Commits one put and waits.
pub(in crate::embedded) fn commit_put(store: &EmbeddedStore, key: &str, value: &str) {
    store.commit(Commit::of(vec![put(key, value)])).unwrap();
}

pub(in crate::embedded) fn validated(
    base: &Arc<dyn Snapshot>,
    keys: &[&str],
    writes: Vec<Write>,
) -> Commit {
    let validate = keys.iter().map(|key| bytes(key)).collect();
    Commit { base: Some(base.clone()), validate, writes, ..Commit::default() }
}

pub(in crate::embedded) fn get(store: &EmbeddedStore, key: &str) -> Option<String> {
    text(&*store.snapshot().unwrap(), key)
}

pub(in crate::embedded) fn text(snapshot: &dyn Snapshot, key: &str) -> Option<String> {
    snapshot.get(key.as_bytes()).unwrap().map(|value| String::from_utf8(value.to_vec()).unwrap())
}

/// Reads a whole range in pages of `rows_max`.
pub(in crate::embedded) fn rows(
    snapshot: &dyn Snapshot,
    range: KeyRange,
    direction: Direction,
    rows_max: usize,
) -> Vec<Row> {
    let mut all = Vec::new();
    let mut rest = Some(range);
    while let Some(range) = rest {
        let limits = ScanLimits { rows_max, ..ScanLimits::default() };
        let page = snapshot.scan(&range, direction, limits).unwrap();
        assert!(page.rows.len() <= rows_max);
        all.extend(page.rows);
        rest = page.next;
    }
    all
}

/// Returns every key and value as text.
pub(in crate::embedded) fn contents(store: &EmbeddedStore) -> BTreeMap<String, String> {
    let snapshot = store.snapshot().unwrap();
    rows(&*snapshot, KeyRange::all(), Direction::Ascending, 1000)
        .into_iter()
        .map(|row| {
            (
                String::from_utf8(row.key.to_vec()).unwrap(),
                String::from_utf8(row.value.to_vec()).unwrap(),
            )
        })
        .collect()
}

/// Reads every file below `folder`, by its path from there.
pub(in crate::embedded) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in vfs::list(&next).unwrap() {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                all.insert(name, vfs::read(&path).unwrap());
            }
        }
    }
    all
}

/// Makes `folder` hold exactly `files`.
pub(in crate::embedded) fn restore(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    vfs::remove_tree(folder).unwrap();
    for (name, bytes) in files {
        let path = folder.join(name);
        vfs::create_folder(path.parent().unwrap()).unwrap();
        vfs::replace(&path, bytes).unwrap();
    }
}
