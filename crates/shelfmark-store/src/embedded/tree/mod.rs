//! Wraps the LSM tree library. Nothing outside this module imports `lsm_tree`.
//!
//! The tree orders and merges; it decides nothing about durability or visibility. Writes go straight
//! into its memory table at a sequence number of ours, and reads go through a [`View`] of ours, so
//! that no read takes the library's version lock, which it holds while it syncs files.
//!
//! What it is not: it knows no log, no commit and no snapshot.
//!
//! Invariant: a memory table is sealed only between groups, and every entry of a table file has a
//! sequence number below the number published when the file appeared. So a view taken later than a
//! publication never lacks what that publication shows, and compaction may drop every version but
//! the newest: readers of older ones hold older views.

pub(super) mod blocks;
mod changes;
mod held;
pub(super) mod identities;
pub(super) mod listing;
mod stop;
mod view;
mod writeback;

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use lsm_tree::compaction::Leveled;
use lsm_tree::merge::Merger;
use lsm_tree::{
    AbstractTree as _, AnyTree, Cache, Config, InternalValue, Memtable, SeqNo,
    SequenceNumberCounter, Slice, ValueType,
};

use crate::contract::{Error, ErrorKind, KeyRange, Result, StoreStats};
use crate::locks::lock;
use crate::vfs;

pub(super) use stop::StopFlag;
pub(super) use view::{Files, View, page_of};
use writeback::Writeback;

use super::fault;
use super::lock::FolderLock;
use changes::Changes;
use held::{Held, TABLE_BYTES};
use identities::Identities;
use listing::Listed;

/// Name of the folder of the table files inside the tree's folder.
pub(super) const TABLES_NAME: &str = "tables";

/// Ratio of the size of a level to that of the level above; the library's own default.
const LEVEL_RATIO: f32 = 10.0;

/// Sequence number that lets a flush drop every version but the newest: readers hold their own
/// views.
const EVICT_ALL: SeqNo = SeqNo::MAX;

/// Memory that a tree may take, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Memory {
    /// For blocks of table files that were read.
    pub(super) cache_bytes: u64,
    /// For what a merge holds until a file is finished, about.
    pub(super) merge_bytes: u64,
}

/// A sealed memory table and the last group it holds.
#[derive(Clone)]
struct Sealed {
    memtable: Arc<Memtable>,
    upto: LastGroup,
}

/// The last group in a memory table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastGroup {
    /// Its number.
    pub(super) group: u64,
    /// Number of its last commit.
    pub(super) commit: u64,
}

/// The tree of one store.
pub(super) struct Tree {
    tree: AnyTree,
    folder: PathBuf,
    seqno: SequenceNumberCounter,
    sealed: Mutex<Vec<Sealed>>,
    /// Flushed memory tables that readers may still hold. Whoever drops the last handle frees a
    /// memory table, which takes a while; so the last handle is here.
    retired: Mutex<Vec<Arc<Memtable>>>,
    /// The lock of the store's folder, until the tree is closed. Every view holds it too.
    lock: Mutex<Option<Arc<FolderLock>>>,
    /// Held while a view is captured and installed, so that views are installed in the order of
    /// their capture.
    installing: Mutex<()>,
    /// The table files that need not be verified again at the next open.
    identities: Mutex<Identities>,
    cache: Arc<Cache>,
    /// Bounds what merges hold.
    held: Arc<Held>,
    /// Refuses changes of the list of table files once they are unsafe.
    changes: Changes,
}

/// The active memory table, which the commit thread inserts into.
pub(super) struct Active(Arc<Memtable>);

impl Active {
    /// Inserts one write; no value means a tombstone. The bytes are shared, not copied.
    pub(super) fn insert(&self, key: Bytes, value: Option<Bytes>, seqno: u64) {
        let entry = match value {
            Some(value) => InternalValue::from_components(key, value, seqno, ValueType::Value),
            None => InternalValue::new_tombstone(key, seqno),
        };
        self.0.insert(entry);
    }

    /// Returns the approximate size of the memory table in bytes.
    pub(super) fn size(&self) -> u64 {
        self.0.size()
    }
}

impl Tree {
    /// Creates an empty tree in `folder` and syncs it.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Io`]: the operating system refused.
    pub(super) fn create(folder: &Path) -> Result<Self> {
        Self::open_unchecked(folder, Memory::default(), &StopFlag::idle())
    }

    /// Opens the tree in `folder`.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Corrupt`]: a file of it is damaged, missing or another one than the list of
    ///   tables names; nothing was changed.
    /// * [`ErrorKind::Io`]: the operating system refused.
    pub(super) fn open(folder: &Path, memory: Memory, stop: &StopFlag) -> Result<Self> {
        let mut identities = Identities::read(folder);
        let listed = listing::read(folder)?;
        for table in &listed {
            identities.check(table)?;
        }
        identities.keep(&listed);
        let tree = Self::open_unchecked(folder, memory, stop)?;
        *lock(&tree.identities) = identities;
        Ok(tree)
    }

    /// Returns the statistics that only the tree knows; the others are zero.
    pub(super) fn stats(&self) -> StoreStats {
        let count = |level| self.tree.level_table_count(level).unwrap_or(0) as u64;
        StoreStats {
            table_files: self.tree.table_count() as u64,
            level_files: std::array::from_fn(count),
            cache_bytes: self.cache.size(),
            cache_bytes_max: self.cache.capacity(),
            ..StoreStats::default()
        }
    }

    fn open_unchecked(folder: &Path, memory: Memory, stop: &StopFlag) -> Result<Self> {
        let seqno = SequenceNumberCounter::default();
        let held = Arc::new(Held::new(folder.join(TABLES_NAME), memory.merge_bytes));
        let filters = stop::Filters { flag: stop.clone(), held: Arc::clone(&held) };
        let cache = Arc::new(Cache::with_capacity_bytes(memory.cache_bytes));
        let config = Config::new(folder, seqno.clone(), SequenceNumberCounter::default())
            .use_cache(Arc::clone(&cache))
            .with_compaction_filter_factory(Some(Arc::new(filters)));
        let opened = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| config.open()));
        let tree = match opened {
            Ok(Ok(tree)) => tree,
            Ok(Err(error)) => return Err(translate(folder, error)),
            // The library asserts some properties of files whose checksums hold.
            Err(_) => {
                return Err(fault::corrupt_store(folder, "the tree's files contradict each other"));
            }
        };
        if let Some(highest) = tree.get_highest_persisted_seqno() {
            seqno.fetch_max(highest + 1);
        }
        Ok(Self {
            tree,
            cache,
            folder: folder.to_owned(),
            seqno,
            sealed: Mutex::default(),
            retired: Mutex::default(),
            lock: Mutex::default(),
            installing: Mutex::default(),
            identities: Mutex::new(Identities::read(folder)),
            held,
            changes: Changes::default(),
        })
    }

    /// Keeps the folder locked as long as the tree or any reader of it needs its files.
    ///
    /// A reader that outlives its store removes merged table files when it ends. Another store in
    /// the same folder might have given their numbers to files of its own by then.
    pub(super) fn keep_locked(&self, folder: FolderLock) {
        *lock(&self.lock) = Some(Arc::new(folder));
    }

    /// Releases the folder's lock, and returns a reference by which to see if readers still hold
    /// it.
    pub(super) fn unlock(&self) -> Weak<FolderLock> {
        lock(&self.lock).take().map(|folder| Arc::downgrade(&folder)).unwrap_or_default()
    }

    /// Returns the next sequence number; flushes and compactions use some too.
    pub(super) fn next_seqno(&self) -> u64 {
        self.seqno.next()
    }

    /// Returns a number above every sequence number that was used.
    pub(super) fn seqno_bound(&self) -> u64 {
        self.seqno.get()
    }

    /// Raises the sequence number above `seqno`.
    pub(super) fn raise_seqno(&self, seqno: u64) {
        self.seqno.fetch_max(seqno.saturating_add(1));
    }

    /// Returns the active memory table, which is replaced by [`Tree::rotate`].
    pub(super) fn active(&self) -> Active {
        Active(self.tree.active_memtable())
    }

    /// Seals the active memory table, which holds groups up to `upto`. Only the commit thread calls
    /// this, between groups.
    ///
    /// Returns true if there was anything to seal.
    pub(super) fn rotate(&self, upto: LastGroup) -> bool {
        let _installing = lock(&self.installing);
        match self.tree.rotate_memtable() {
            Some(memtable) => {
                lock(&self.sealed).push(Sealed { memtable, upto });
                true
            }
            None => false,
        }
    }

    /// Captures a view of the current state and passes it to `install`; captures are installed in
    /// order.
    pub(super) fn refresh(&self, install: impl FnOnce(Arc<View>)) {
        let _installing = lock(&self.installing);
        install(Arc::new(self.capture()));
    }

    /// Captures a view of the current state, while no other thread uses the tree.
    pub(super) fn view(&self) -> Arc<View> {
        Arc::new(self.capture())
    }

    fn capture(&self) -> View {
        // The memory tables first and the files afterwards: a flush in between shows an entry in
        // both places, never in none.
        let state = self.tree.get_version_history_lock().latest_version();
        let sealed = lock(&self.sealed).iter().map(|sealed| sealed.memtable.clone()).collect();
        let version = self.tree.current_version();
        let extents = version.iter_tables().map(|table| {
            let keys = &table.metadata.key_range;
            (Bytes::from(keys.min().clone()), Bytes::from(keys.max().clone()), table.id())
        });
        let mut extents: Vec<(Bytes, Bytes, u64)> = extents.collect();
        extents.sort_unstable();
        let mut starts: Vec<Bytes> = extents.iter().map(|(first, ..)| first.clone()).collect();
        starts.dedup();
        let listed = version.iter_tables().map(|table| Listed {
            path: table.path.to_path_buf(),
            checksum: table.checksum().into_u128(),
        });
        let files = Files {
            listed: listed.collect(),
            starts,
            extents,
            bytes: version.iter_tables().map(|table| table.metadata.file_size).sum(),
            fresh_runs: version.l0().run_count(),
            entries: version.iter_tables().map(|table| table.metadata.item_count).sum(),
            tombstones: version.iter_tables().map(|table| table.metadata.tombstone_count).sum(),
        };
        View::new(
            state.active_memtable.clone(),
            sealed,
            files,
            self.folder.clone(),
            lock(&self.lock).clone(),
            move |key, hash, seqno| {
                for level in version.iter_levels() {
                    for run in level.iter() {
                        if let Some(table) = run.get_for_key(key)
                            && let Some(entry) = table.get(key, seqno, hash)?
                        {
                            return Ok(Some(entry));
                        }
                    }
                }
                Ok(None)
            },
            move |range, seqno, active| {
                let mut state = state.clone();
                state.active_memtable = Arc::clone(active);
                Box::new(lsm_tree::Tree::create_internal_range(state, range, seqno, None))
            },
        )
    }

    /// Remembers the tree's current table files for the next open.
    pub(super) fn keep_identities(&self) {
        let version = self.tree.current_version();
        let listed = version.iter_tables().map(|table| Listed {
            path: table.path.to_path_buf(),
            checksum: table.checksum().into_u128(),
        });
        lock(&self.identities).keep(&listed.collect::<Vec<_>>());
    }

    /// Writes the sealed memory tables to table files and waits until they are durable.
    ///
    /// Returns the last group that is now in files together with all before it, and the bytes
    /// written; `None` if nothing was sealed. Only one thread calls this at a time.
    pub(super) fn flush(&self) -> Result<Option<(LastGroup, u64)>> {
        let known: Vec<Sealed> = lock(&self.sealed).clone();
        let Some(upto) = known.iter().map(|sealed| sealed.upto).max() else {
            return Ok(None);
        };
        self.changes.check()?;
        let bytes = known.iter().map(|sealed| sealed.memtable.size()).sum();
        let translate = |error| translate(&self.folder, error);
        let guard = self.tree.get_flush_lock();
        let mut writeback = Writeback::new(&self.folder, self.next_table());
        let tables = known.iter().map(|sealed| sealed.memtable.iter().map(Ok)).collect();
        let mut before: Option<Slice> = None;
        let newest = Merger::new(tables).filter(move |entry: &lsm_tree::Result<InternalValue>| {
            let Ok(entry) = entry else { return true };
            // Versions of a key follow each other, the newest first.
            if before.as_ref() == Some(&entry.key.user_key) {
                return false;
            }
            before = Some(entry.key.user_key.clone());
            writeback.wrote(entry.key.user_key.len() + entry.value.len());
            true
        });
        let written = self.tree.flush_to_tables(newest).map_err(translate)?;
        let ids: Vec<_> = known.iter().map(|sealed| sealed.memtable.id()).collect();
        let tables = written.map(|(tables, _)| tables).unwrap_or_default();
        tables.iter().for_each(|table| self.held.flushed(table.id()));
        self.change(|tree| tree.register_tables(&tables, None, None, &ids, EVICT_ALL))?;
        drop(guard);
        lock(&self.sealed)
            .retain(|sealed| !known.iter().any(|old| Arc::ptr_eq(&old.memtable, &sealed.memtable)));
        lock(&self.retired).extend(known.into_iter().map(|sealed| sealed.memtable));
        Ok(Some((upto, bytes)))
    }

    /// Writes rows to table files past the memory table, and adds the files to the tree if `check` says
    /// so at the end. `rows` gives ascending keys of a range that holds no rows.
    ///
    /// If it fails, files may be left behind ([`Tree::remove_unfinished`]).
    pub(super) fn ingest(
        &self,
        rows: &mut dyn Iterator<Item = Result<(Bytes, Bytes)>>,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.changes.check()?;
        let translate = |error| translate(&self.folder, error);
        // Above everything written before, as in a group.
        let seqno = self.next_seqno();
        let mut writeback = Writeback::new(&self.folder, self.next_table());
        let mut failed = None;
        let entries = std::iter::from_fn(|| match rows.next()? {
            Ok((key, value)) => {
                writeback.wrote(key.len() + value.len());
                let kind = ValueType::Value;
                Some(Ok(InternalValue::from_components(key, value, seqno, kind)))
            }
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        let written = self.tree.flush_to_tables(entries).map_err(translate)?;
        failed.map_or_else(check, Err)?;
        let tables = written.map(|(tables, _)| tables).unwrap_or_default();
        if tables.is_empty() {
            return Ok(());
        }
        tables.iter().for_each(|table| self.held.flushed(table.id()));
        self.change(|tree| tree.register_tables(&tables, None, None, &[], EVICT_ALL))
    }

    /// Changes the list of table files by `change`.
    fn change<T>(&self, change: impl FnOnce(&AnyTree) -> lsm_tree::Result<T>) -> Result<T> {
        self.changes.check()?;
        change(&self.tree).map_err(|error| {
            let error = translate(&self.folder, error);
            self.changes.failed(&self.folder, self.tree.current_version().id(), error)
        })
    }

    /// Runs one compaction if one is due, and returns true if it did.
    pub(super) fn compact(&self) -> Result<bool> {
        let before = self.tree.current_version().id();
        self.change(|tree| tree.compact(Arc::new(self.leveled()), EVICT_ALL))?;
        Ok(self.tree.current_version().id() != before)
    }

    /// Drops the table files that lie in `range` as a whole, for all later readers.
    pub(super) fn drop_files(&self, range: &KeyRange) -> Result<()> {
        let start = Bound::Included(range.start.as_ref());
        let end = match &range.end {
            Some(end) => Bound::Excluded(end.as_ref()),
            None => Bound::Unbounded,
        };
        self.change(|tree| tree.drop_range::<&[u8], _>((start, end)))?;
        // The library would keep the old list, and with it the files, until the next flush.
        self.tree
            .get_version_history_lock()
            .maintenance(&self.folder, EVICT_ALL)
            .map_err(|error| translate(&self.folder, error))
    }

    /// Merges the flushed runs into the level below, however small they are.
    pub(super) fn push_down(&self) -> Result<()> {
        let strategy = Arc::new(self.leveled().with_l0_threshold(1));
        self.change(|tree| tree.compact(strategy, EVICT_ALL))
    }

    /// Merges all table files into the last level, which removes all tombstones.
    pub(super) fn merge_all(&self) -> Result<()> {
        let table_bytes = self.held.begin(self.next_table());
        self.change(|tree| tree.major_compact(table_bytes, EVICT_ALL))
    }

    /// Returns the rule that chooses tables for a merge that begins now.
    fn leveled(&self) -> Leveled {
        let table_bytes = self.held.begin(self.next_table());
        // The library derives the size of its levels from that of files; only the first follows here.
        let files = f32::from(u16::try_from(TABLE_BYTES / table_bytes).unwrap_or(u16::MAX));
        let leveled = Leveled::default().with_table_target_size(table_bytes);
        leveled.with_level_ratio_policy(vec![LEVEL_RATIO * files, LEVEL_RATIO])
    }

    /// Returns true if the merge that failed last would have held too much memory. It is to be done
    /// again, and then writes smaller files.
    pub(super) fn merges_again(&self) -> bool {
        self.held.was_given_up()
    }

    /// Returns a lower bound of the numbers of table files created from now on.
    pub(super) fn next_table(&self) -> u64 {
        self.tree.next_table_id()
    }

    /// Removes the table files from number `from` on that failed work left behind, unless the list on
    /// disk may name them.
    ///
    /// The caller sees to it that nothing writes table files, and that none but the failed work can
    /// have given up a file with such a number.
    pub(super) fn remove_unfinished(&self, from: u64) -> Result<()> {
        if self.changes.check().is_err() {
            return Ok(());
        }
        let version = self.tree.current_version();
        let folder = self.folder.join(TABLES_NAME);
        let paths = vfs::list(&folder).map_err(|error| fault::io("list", &folder, error))?;
        for path in paths {
            let number: Option<u64> =
                path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
            let Some(number) = number else { continue };
            if number >= from && !version.iter_tables().any(|table| table.id() == number) {
                vfs::remove(&path)
                    .map_err(|error| fault::io("remove the unfinished", &path, error))?;
            }
        }
        Ok(())
    }

    /// Returns how many sealed memory tables wait to be flushed, and their bytes.
    pub(super) fn sealed(&self) -> (usize, u64) {
        let sealed = lock(&self.sealed);
        (sealed.len(), sealed.iter().map(|sealed| sealed.memtable.size()).sum())
    }

    /// Returns how many flushed memory tables readers still hold.
    #[cfg(test)]
    pub(super) fn retired_count(&self) -> usize {
        lock(&self.retired).len()
    }

    /// Frees flushed memory tables that no reader holds any more.
    pub(super) fn free_retired(&self) {
        let gone: Vec<Arc<Memtable>> = {
            let mut retired = lock(&self.retired);
            let all = std::mem::take(&mut *retired);
            let (gone, held) = all.into_iter().partition(|table| Arc::strong_count(table) == 1);
            *retired = held;
            gone
        };
        drop(gone);
    }
}

/// Describes an error of the library in plain words; its own text is meant for its developers.
fn said(error: &lsm_tree::Error) -> &'static str {
    match error {
        lsm_tree::Error::ChecksumMismatch { .. } => "a block does not match its checksum",
        lsm_tree::Error::Decompress(_) => "a block cannot be decompressed",
        lsm_tree::Error::InvalidVersion(_) => "another version of the library wrote it",
        _ => "what is in it makes no sense",
    }
}

/// Converts an error of the library.
fn translate(folder: &Path, error: lsm_tree::Error) -> Error {
    match error {
        lsm_tree::Error::Io(error) => fault::io("read or write the tree in", folder, error),
        error => Error::new(
            ErrorKind::Corrupt,
            format!(
                "a file of the tree in {} is damaged: {}; run `shelfmark verify --data FOLDER` to \
                 learn which",
                folder.display(),
                said(&error)
            ),
        ),
    }
}
