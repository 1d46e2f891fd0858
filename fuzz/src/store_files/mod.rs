//! A store's log and superblock, damaged: opening, verifying and salvaging must answer, never panic.
//!
//! Input: which store, whether checksums are repaired after the damage, then edits of its files.
//! With checksums repaired, the damage gets behind them; without, what is read must be what was
//! written.
//!
//! What it is not: about the bought tree's own reader. Its files are damaged only for verifying and
//! salvaging, whose reading of them is ours.

mod base;
mod edit;
mod layout;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use shelfmark_store::clock::ManualClock;
use shelfmark_store::embedded::{self, EmbeddedStore, Options};
use shelfmark_store::{
    Commit, Direction, Error, ErrorKind, KeyRange, ScanLimits, Store, Write, vfs,
};
use tempfile::TempDir;

use crate::input::Input;
use base::Base;

/// The files of a store by their path in its folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The rows of a store.
type Rows = BTreeMap<Bytes, Bytes>;

/// Where all inputs of this process have their folders.
static SCRATCH: LazyLock<TempDir> =
    LazyLock::new(|| tempfile::tempdir().expect("a scratch folder can be made"));

/// Runs one input: a byte for the base store, a byte of flags (1: repair checksums, 2: damage the
/// tree's files too and do not open), then edits; see `edit::apply`.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let base = base::one(input.byte());
    let flags = input.byte();
    let (repairs, with_tree) = (flags & 1 != 0, flags & 2 != 0);
    let mut files = base.files.clone();
    edit::apply(&mut input, &mut files, with_tree);
    if repairs {
        for (path, bytes) in &mut files {
            layout::repair(path, bytes);
        }
    }
    let forged = files.iter().any(|(path, bytes)| {
        layout::whole_pieces(path, bytes).any(|piece| !base.pieces.contains(piece))
    });
    let case = Case { base, files, forged: forged || with_tree };
    let clean = case.verify();
    if !with_tree {
        case.open(clean);
    }
    case.salvage(clean);
}

/// One damaged store.
struct Case<'a> {
    base: &'a Base,
    files: Files,
    /// Something whole in it was never written by a store, so its rows may be anything.
    forged: bool,
}

impl Case<'_> {
    /// Writes the damaged store into a folder of its own.
    fn folder(&self) -> Folder {
        let folder = Folder::new();
        write_files(&folder.0, &self.files);
        folder
    }

    fn has_superblock(&self) -> bool {
        self.files.contains_key(Path::new("mark"))
    }

    /// Returns whether nothing was found, or nothing if there was no telling.
    fn verify(&self) -> Option<bool> {
        let folder = self.folder();
        let report = embedded::verify(&folder.0);
        let mut after = read_files(&folder.0);
        after.retain(|path, _| path != Path::new("lock"));
        assert!(after == self.files, "verifying changed something");
        match report {
            Ok(report) => Some(report.is_clean()),
            Err(error) => {
                expect_kind(&error, &[ErrorKind::Invalid]);
                None
            }
        }
    }

    fn open(&self, clean: Option<bool>) {
        let folder = self.folder();
        match open(&folder.0) {
            Ok(store) => {
                // Without a superblock and without data, it is an interrupted creation, begun again.
                let has_superblock = self.has_superblock();
                assert!(
                    clean != Some(false) || !has_superblock,
                    "it opens, yet `verify` finds damage"
                );
                self.check_opened(&folder.0, store);
            }
            Err(error) => {
                assert_ne!(clean, Some(true), "`verify` finds no damage, yet: {error}");
                expect_kind(&error, &[ErrorKind::Corrupt, ErrorKind::Invalid]);
                self.check_untouched(&folder.0);
            }
        }
    }

    /// A store that was refused is as it was.
    fn check_untouched(&self, folder: &Path) {
        // Without a superblock, a creation that was interrupted may be begun again.
        if !self.has_superblock() {
            return;
        }
        let after = read_files(folder);
        for (path, bytes) in self.files.iter().filter(|(path, _)| !layout::is_tree(path)) {
            assert!(after.get(path) == Some(bytes), "{} was changed", path.display());
        }
    }

    fn check_opened(&self, folder: &Path, store: EmbeddedStore) {
        let mut rows = rows(&store);
        if !self.forged {
            let promised = layout::synced_commit(self.files.get(Path::new("mark")));
            let states = self.base.states.get(promised..).unwrap_or_default();
            assert!(states.contains(&rows), "after {promised} promised commits: {rows:?}");
        }
        let (key, value) = (Bytes::from_static(b"new"), Bytes::from_static(b"row"));
        let write = Write::Put { key: key.clone(), value: value.clone() };
        if let Err(error) = store.commit(Commit::of(vec![write])) {
            // Numbers near the end of their range are nothing that a store gets to.
            assert!(self.forged, "an opened store takes no writes: {error}");
            return;
        }
        rows.insert(key, value);
        assert_eq!(self::rows(&store), rows);
        store.close().expect("what opens closes");
        drop(store);
        let again = open(folder).expect("what was closed opens");
        assert_eq!(self::rows(&again), rows);
        again.close().expect("what opens closes");
        drop(again);
        let report = embedded::verify(folder).expect("there is a store");
        assert!(report.is_clean() && report.clean_stop, "{report:?}");
    }

    fn salvage(&self, clean: Option<bool>) {
        let folder = self.folder();
        let salvage = match embedded::salvage(&folder.0) {
            Ok(salvage) => salvage,
            Err(error) => {
                expect_kind(&error, &[ErrorKind::Invalid]);
                assert_eq!(clean, None, "`verify` judged what `salvage` refuses: {error}");
                return;
            }
        };
        if clean == Some(true) {
            assert_eq!(salvage.set_aside, None, "there was nothing to salvage");
            return;
        }
        let report = embedded::verify(&folder.0).expect("what was salvaged is a store");
        assert!(report.is_clean(), "after salvaging: {report:?}");
        let store = open(&folder.0).expect("what was salvaged opens");
        let rows = rows(&store);
        if !self.forged {
            for row in &rows {
                let was_there =
                    self.base.states.iter().any(|state| state.get(row.0) == Some(row.1));
                assert!(was_there, "{row:?} was never written");
            }
        }
        store.close().expect("what opens closes");
    }
}

fn expect_kind(error: &Error, kinds: &[ErrorKind]) {
    assert!(kinds.contains(&error.kind()), "{:?}: {error}", error.kind());
}

fn options() -> Options {
    Options {
        memory_table_bytes: 1024 * 1024,
        log_file_bytes: 1024 * 1024,
        log_ahead_bytes: 64,
        block_cache_bytes: 1024 * 1024,
        background_threads: 1,
        disk_free_bytes_min: 0,
        ..Options::default()
    }
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(1_700_000_000_000_000))
}

fn open(folder: &Path) -> Result<EmbeddedStore, Error> {
    EmbeddedStore::open(folder, options(), clock())
}

/// Reads every row.
fn rows(store: &EmbeddedStore) -> Rows {
    let snapshot = store.snapshot().expect("the store is open");
    let mut rows = Rows::new();
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page = snapshot
            .scan(&range, Direction::Ascending, ScanLimits::default())
            .expect("what opens can be read");
        rows.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
        rest = page.next;
    }
    rows
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(SCRATCH.path().join(number.to_string()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays behind goes with the scratch folder.
        let _ = vfs::remove_tree(&self.0);
    }
}

fn write_files(folder: &Path, files: &Files) {
    vfs::create_folder(folder).expect("the scratch folder takes folders");
    for (path, bytes) in files {
        let path = folder.join(path);
        let parent = path.parent().expect("the folder is above it");
        vfs::create_folder(parent).expect("the scratch folder takes folders");
        let file = vfs::create_new(&path).expect("the scratch folder takes files");
        vfs::write_all_at(&file, bytes, 0).expect("the scratch folder has space");
    }
}

fn read_files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in vfs::list(&next).expect("it was made before") {
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(relative) = path.strip_prefix(folder) {
                let bytes = vfs::read(&path).expect("it was listed");
                files.insert(relative.to_owned(), bytes);
            }
        }
    }
    files
}
