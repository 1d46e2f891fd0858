//! Opening and closing a store: the steps in their order.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use crate::clock::Clock;
use crate::contract::{Durability, Result, SnapshotId};
use crate::{threads, vfs};

use super::gaps::Gaps;
use super::inner::{Counters, Inner, Log, lock};
use super::maintenance::{Duty, Signals};
use super::mark::{self, MarkFile, ReadMark};
use super::moments::Moments;
use super::options::Options;
use super::queue::Queue;
use super::recent::RecentGroups;
use super::space::{Probe, Space};
use super::stripes::Stripes;
use super::tree::{Memory, StopFlag, Tree};
use super::written::RecentWrites;
use super::{EmbeddedStore, commit_thread, fault, layout, maintenance, recovery};

/// How long closing waits for reads in flight. After that the folder is free when they end.
const READS_END_WITHIN: Duration = Duration::from_secs(2);
/// How often it looks.
const READS_LOOKED_AT_EVERY: Duration = Duration::from_millis(1);

/// What a merge may hold is as much as a memory table, and at least this: smaller files would have to be
/// opened for less than they hold.
const MERGE_BYTES_MIN: u64 = 16 * 1024 * 1024;

/// Opens the store in `folder`; see [`EmbeddedStore::open`].
pub(super) fn open(
    folder: &Path,
    options: Options,
    clock: Arc<dyn Clock>,
) -> Result<EmbeddedStore> {
    let path = folder.to_owned();
    open_with(folder, options, clock, Box::new(move || vfs::free_bytes(&path).ok().flatten()))
}

/// Opens the store in `folder`, whose free space `probe` tells.
pub(super) fn open_with(
    folder: &Path,
    options: Options,
    clock: Arc<dyn Clock>,
    probe: Probe,
) -> Result<EmbeddedStore> {
    let lock_file = layout::lock_folder(folder)?;
    let mark_path = layout::mark_path(folder);
    let is_new = !mark_path.exists();
    if is_new {
        layout::create(folder, new_store_id(folder, &*clock), options.durability)?;
    }
    let read = mark::read(&mark_path)?;
    let tree_folder = layout::tree_folder(folder);
    sync_names(folder, &tree_folder, read.mark.clean)?;
    let log_folder = layout::log_folder(folder);
    let mut judged = recovery::judge(&log_folder, &read.mark)?;
    let thresholds = (options.disk_free_bytes_min, options.disk_free_bytes_reserve);
    let space = Arc::new(Space::new(probe, thresholds, clock.clone()));
    let stop = StopFlag::new(space.clone());
    let memory = Memory {
        cache_bytes: options.block_cache_bytes,
        merge_bytes: options.memory_table_bytes.max(MERGE_BYTES_MIN),
    };
    let tree = Tree::open(&tree_folder, memory, &stop)?;
    tree.keep_locked(lock_file);
    let opened = judged.opened(is_new);
    let groups = std::mem::take(&mut judged.groups);
    let replayed = !groups.is_empty();
    tree.raise_seqno(judged.last_seqno);
    recovery::replay(&tree, groups, options.memory_table_bytes)?;
    let (log, files) = recovery::settle(&log_folder, judged, options.log_ahead_bytes)?;
    if replayed {
        tree.rotate(log.end());
    }
    let mark = marked(&mark_path, &read, &log, options.durability)?;
    let id = SnapshotId { commit: log.last_commit, position: tree.seqno_bound() };
    let view = tree.view();
    let (gaps, written) = (Arc::<Gaps>::default(), Arc::new(RecentWrites::new(id.commit)));
    let inner = Arc::new(Inner {
        folder: folder.to_owned(),
        moments: Moments::new(
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
        stripes: Stripes::new(),
        recent: RecentGroups::default(),
        written,
        gaps,
        log: Mutex::new(log),
        files: Mutex::new(files),
        mark: Mutex::new(mark),
        space,
        pressure: AtomicUsize::new(0),
        signals: Signals::default(),
        deletions_in_memory: AtomicU64::new(0),
        counters: Counters::default(),
    });
    let store =
        EmbeddedStore { inner, opened, threads: Mutex::default(), closed: Mutex::default() };
    start_threads(&store)?;
    Ok(store)
}

/// Opens the mark and has it say where the log ends and what acknowledged means from here on.
fn marked(path: &Path, read: &ReadMark, log: &Log, durability: Durability) -> Result<MarkFile> {
    let mut mark = MarkFile::open(path, read)?;
    let old = mark.mark;
    mark.mark.synced_group = log.last_group;
    mark.mark.synced_commit = log.last_commit;
    mark.mark.durability = durability;
    if mark.mark != old {
        mark.write_durably()?;
    }
    Ok(mark)
}

/// Syncs names that a kill may have left unsynced: that of the tree's list of tables, whose
/// predecessor's files the tree is about to remove (merging goes on without any commit), and, unless
/// the store was closed in order since, the mark's own.
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
    store.inner.feel_pressure();
    store.inner.signals.work_due();
    Ok(())
}

impl Inner {
    /// Leaves a store whose next open replays nothing. The threads have ended.
    pub(super) fn settle_for_close(&self) -> Result<()> {
        let mut log = lock(&self.log);
        let group = log.last_group;
        self.tree.rotate(log.end());
        self.tree.flush()?;
        self.tree.keep_identities();
        if !log.writer.is_empty() {
            self.next_log_file(&mut log)?;
        }
        let mut mark = lock(&self.mark);
        mark.mark.synced_group = group;
        mark.mark.synced_commit = log.last_commit;
        mark.mark.flushed_group = group;
        mark.mark.flushed_commit = log.last_commit;
        mark.mark.seqno_max = self.tree.seqno_bound();
        mark.mark.clean = true;
        mark.write_durably()?;
        drop(mark);
        drop(log);
        self.remove_log_files(group)?;
        Ok(())
    }

    /// Ends all readers and gives the folder up once the reads in flight have ended.
    pub(super) fn release_folder(&self) {
        self.moments.close();
        self.tree.free_retired();
        let readers = self.tree.unlock();
        let mut patience = READS_END_WITHIN;
        while readers.strong_count() > 0 && !patience.is_zero() {
            self.signals.pause(READS_LOOKED_AT_EVERY);
            patience = patience.saturating_sub(READS_LOOKED_AT_EVERY);
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
