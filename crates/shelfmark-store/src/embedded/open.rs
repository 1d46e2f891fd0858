//! Opens and closes a store, step by step.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use crate::clock::Clock;
use crate::contract::{Durability, Result, SnapshotId};
use crate::locks::lock;
use crate::{threads, vfs};

use super::committer::Committer;
use super::free_space::{FreeSpace, Probe};
use super::high_water_marks::HighWaterMarks;
use super::inner::{Counters, Inner, Log};
use super::maintenance::{Duty, Signals};
use super::options::Options;
use super::queue::Queue;
use super::recent::RecentGroups;
use super::snapshot_tracker::SnapshotTracker;
use super::superblock::{self, SuperblockFile, SuperblockRead};
use super::tombstone_gaps::TombstoneGaps;
use super::tree::{Memory, StopFlag, Tree};
use super::written::RecentWrites;
use super::{EmbeddedStore, commit_thread, fault, layout, maintenance, recovery};

/// Time that closing waits for reads in flight; after that the folder is released when they end.
const READS_END_WITHIN: Duration = Duration::from_secs(2);
/// Interval at which it polls.
const READS_LOOKED_AT_EVERY: Duration = Duration::from_millis(1);

/// Least memory that a merge may hold, which else is that of a memory table: smaller files would have to be
/// opened for less than they hold.
const MERGE_BYTES_MIN: u64 = 16 * 1024 * 1024;

/// Opens the store in `folder`, as [`EmbeddedStore::open`] describes.
pub(super) fn open(
    folder: &Path,
    options: Options,
    clock: Arc<dyn Clock>,
) -> Result<EmbeddedStore> {
    let path = folder.to_owned();
    open_with(folder, options, clock, Box::new(move || vfs::free_bytes(&path).ok().flatten()))
}

/// Opens the store in `folder`, whose free disk space `probe` returns.
pub(super) fn open_with(
    folder: &Path,
    options: Options,
    clock: Arc<dyn Clock>,
    probe: Probe,
) -> Result<EmbeddedStore> {
    let lock_file = layout::lock_folder(folder)?;
    let superblock_path = layout::superblock_path(folder);
    let is_new = !superblock_path.exists();
    if is_new {
        layout::create(folder, new_store_id(folder, &*clock), &options)?;
    }
    let read = superblock::read(&superblock_path)?;
    let tree_folder = layout::tree_folder(folder);
    sync_names(folder, &tree_folder, read.superblock.clean)?;
    let log_folder = layout::log_folder(folder);
    let mut checked = recovery::check_log(&log_folder, &read.superblock)?;
    let thresholds = (options.disk_free_bytes_min, options.disk_free_bytes_reserve);
    let space = Arc::new(FreeSpace::new(probe, thresholds, clock.clone()));
    let stop = StopFlag::new(space.clone());
    let memory = Memory {
        cache_bytes: options.block_cache_bytes,
        merge_bytes: options.memory_table_bytes.max(MERGE_BYTES_MIN),
    };
    let tree = Tree::open(&tree_folder, memory, &stop)?;
    tree.keep_locked(lock_file);
    let opened = checked.opened(is_new);
    let groups = std::mem::take(&mut checked.groups);
    let replayed = !groups.is_empty();
    tree.raise_seqno(checked.last_seqno);
    recovery::replay(&tree, groups, options.memory_table_bytes)?;
    let (log, files) = recovery::settle(&log_folder, checked, options.log_ahead_bytes)?;
    if replayed {
        tree.rotate(log.end());
    }
    let superblock = open_superblock(&superblock_path, &read, &log, options.durability)?;
    let id = SnapshotId { commit: log.last_commit, position: tree.seqno_bound() };
    let view = tree.view();
    let (gaps, written) = (Arc::<TombstoneGaps>::default(), Arc::new(RecentWrites::new(id.commit)));
    let committer = Committer::new(&tree, superblock.superblock.store_id, &*clock);
    let inner = Arc::new(Inner {
        folder: folder.to_owned(),
        snapshots: SnapshotTracker::new(
            clock.clone(),
            options.snapshot_age_max,
            options.snapshot_bytes_max,
            id,
            view,
            (gaps.clone(), written.clone()),
        ),
        options,
        clock,
        tree,
        stop,
        queue: Queue::new(id.commit),
        high_water_marks: HighWaterMarks::new(),
        recent: RecentGroups::default(),
        written,
        gaps,
        committer: Mutex::new(committer),
        log: Mutex::new(log),
        files: Mutex::new(files),
        superblock: Mutex::new(superblock),
        space,
        pressure: AtomicUsize::new(0),
        signals: Signals::default(),
        tombstones_in_memory: AtomicU64::new(0),
        counters: Counters::default(),
    });
    let store =
        EmbeddedStore { inner, opened, threads: Mutex::default(), closed: Mutex::default() };
    start_threads(&store)?;
    Ok(store)
}

/// Opens the superblock and records the end of the log and the durability mode.
fn open_superblock(
    path: &Path,
    read: &SuperblockRead,
    log: &Log,
    durability: Durability,
) -> Result<SuperblockFile> {
    let mut superblock = SuperblockFile::open(path, read)?;
    let old = superblock.superblock;
    superblock.superblock.synced_group = log.last_group;
    superblock.superblock.synced_commit = log.last_commit;
    superblock.superblock.durability = durability;
    if superblock.superblock != old {
        superblock.write_durably()?;
    }
    Ok(superblock)
}

/// Syncs directory entries that a kill may have left unsynced: that of the tree's list of tables,
/// whose predecessor's files the tree is about to remove (merging goes on without any commit), and,
/// unless the store was closed in order since, that of the superblock.
fn sync_names(folder: &Path, tree_folder: &Path, was_clean: bool) -> Result<()> {
    let unsynced = if was_clean { None } else { Some(folder) };
    let tree_is_there = tree_folder.is_dir().then_some(tree_folder);
    for folder in unsynced.into_iter().chain(tree_is_there) {
        vfs::sync_folder(folder).map_err(|error| fault::io("sync", folder, error))?;
    }
    Ok(())
}

fn new_store_id(folder: &Path, clock: &dyn Clock) -> u128 {
    let seed = format!(
        "{} {} {:?} {}",
        folder.display(),
        clock.now_micros(),
        clock.monotonic(),
        std::process::id()
    );
    xxh3_128(seed.as_bytes())
}

fn start_threads(store: &EmbeddedStore) -> Result<()> {
    let start = |name: &str, body: Box<dyn FnOnce() + Send>| -> Result<()> {
        let thread = threads::spawn(name, body)
            .map_err(|error| fault::io("start a thread for", &store.inner.folder, error))?;
        lock(&store.threads).push(thread);
        Ok(())
    };
    let inner = store.inner.clone();
    start(
        "shelf-commit",
        Box::new(move || {
            commit_thread::run(&inner);
            inner.signals.writer_ended();
        }),
    )?;
    let duties: &[(&str, Duty)] = if store.inner.options.background_threads > 1 {
        &[("shelf-flush", Duty::Flush), ("shelf-compact", Duty::Compact)]
    } else {
        &[("shelf-background", Duty::Both)]
    };
    for (name, duty) in duties {
        let inner = store.inner.clone();
        let duty = *duty;
        start(name, Box::new(move || maintenance::run(&inner, duty)))?;
    }
    store.inner.measure_backlog();
    store.inner.signals.work_due();
    Ok(())
}

impl Inner {
    /// Flushes and syncs, so that the next open replays nothing; the threads have ended.
    pub(super) fn settle_for_close(&self) -> Result<()> {
        let mut log = lock(&self.log);
        let group = log.last_group;
        self.tree.rotate(log.end());
        self.tree.flush()?;
        self.tree.keep_identities();
        if !log.writer.is_empty() {
            self.next_log_file(&mut log)?;
        }
        let mut superblock = lock(&self.superblock);
        superblock.superblock.synced_group = group;
        superblock.superblock.synced_commit = log.last_commit;
        superblock.superblock.flushed_group = group;
        superblock.superblock.flushed_commit = log.last_commit;
        superblock.superblock.seqno_max = self.tree.seqno_bound();
        superblock.superblock.clean = true;
        superblock.write_durably()?;
        drop(superblock);
        drop(log);
        self.remove_log_files(group)?;
        Ok(())
    }

    /// Ends all reads and releases the folder once the reads in flight have ended.
    pub(super) fn release_folder(&self) {
        self.snapshots.close();
        self.tree.free_retired();
        let readers = self.tree.unlock();
        let mut idle_timeout = READS_END_WITHIN;
        while readers.strong_count() > 0 && !idle_timeout.is_zero() {
            self.signals.pause(READS_LOOKED_AT_EVERY);
            idle_timeout = idle_timeout.saturating_sub(READS_LOOKED_AT_EVERY);
        }
    }

    /// Returns the bytes of the log files.
    pub(super) fn log_bytes_on_disk(&self) -> u64 {
        let files = lock(&self.files);
        let older: u64 = files.iter().rev().skip(1).map(|file| file.bytes).sum();
        let newest = files.last().and_then(|file| file.path.metadata().ok());
        older + newest.map_or(0, |metadata| metadata.len())
    }
}
