//! The committer: writes a group to the log, syncs, inserts it into the tree and publishes it.
//!
//! Whoever has it alone appends to the log, inserts into the memory table, seals it, and knows what
//! counters add up to. It tells nobody that a group is done: that is for who called it, without its lock.
//!
//! Invariant: a group is published only after its sync (under [`Durability::Interval`]: after its
//! write), as a whole, and in the order of the queue. After an error nothing more is written.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;

use crate::clock::Clock;
use crate::contract::{CommitNumber, Durability, Error, ErrorKind, Result, SnapshotId, Write};
use crate::locks::lock;

use super::bytes::wide;
use super::inner::{Counters, Inner, Log, LogFileInfo};
use super::log::group::{Entries, GroupHeader, GroupWriter, seed_of};
use super::log::header::FileHeader;
use super::log::path_of;
use super::log::writer::LogWriter;
use super::options::SUPERBLOCK_SYNC_INTERVAL;
use super::pending::{Layer, Writes};
use super::queue::Completions;
use super::tree::{Active, Tree};

/// The failure of a group.
pub(super) struct Failure {
    /// The error kind that its commits get: nothing was written, or the outcome is unknown.
    pub(super) kind: ErrorKind,
    /// The error that the operating system gave.
    pub(super) cause: Error,
}

impl Failure {
    /// Describes a failure before anything of the group was written.
    fn before(cause: Error) -> Self {
        Self { kind: ErrorKind::ReadOnly, cause }
    }

    /// Describes a failure after which nobody knows how much of the group is on disk.
    pub(super) fn after(cause: Error) -> Self {
        Self { kind: ErrorKind::Undetermined, cause }
    }
}

/// The state of whoever writes groups; its lock is taken before those of log and superblock.
pub(super) struct Committer {
    active: Active,
    writer: GroupWriter,
    seed: u64,
    /// The time at which the superblock was last synced.
    superblock_synced: Duration,
    /// The time at which the log was last synced; used in interval mode.
    log_synced: Duration,
    /// True while a group is written, and for good once one failed or panicked.
    is_broken: bool,
}

impl Committer {
    /// Creates the committer of a store that was opened just now.
    pub(super) fn new(tree: &Tree, store_id: u128, clock: &dyn Clock) -> Self {
        Self {
            active: tree.active(),
            writer: GroupWriter::default(),
            seed: seed_of(store_id),
            superblock_synced: clock.monotonic(),
            log_synced: clock.monotonic(),
            is_broken: false,
        }
    }

    /// Returns true if the memory table has the size at which it is sealed.
    fn is_full(&self, inner: &Inner) -> bool {
        self.active.size() >= inner.options.memory_table_bytes
    }

    /// Returns true if a sync of the superblock is due, at the latest some time after the last one.
    fn is_superblock_due(&self, now: Duration) -> bool {
        now.saturating_sub(self.superblock_synced) >= SUPERBLOCK_SYNC_INTERVAL
    }

    /// Returns true if there is work that is done between groups, but for syncs of the log in interval
    /// mode, in which no caller leads.
    pub(super) fn has_due_work(&self, inner: &Inner) -> bool {
        self.is_full(inner) || self.is_superblock_due(inner.clock.monotonic())
    }

    /// Writes, syncs, inserts and publishes one group, and returns who is to be told.
    ///
    /// Cost: one sync.
    pub(super) fn group(
        &mut self,
        inner: &Inner,
        layer: &Arc<Layer>,
        first_commit: CommitNumber,
        commits: u32,
    ) -> std::result::Result<Completions, Failure> {
        self.is_broken = true;
        let mut log = lock(&inner.log);
        let header = GroupHeader {
            number: log.last_group + 1,
            first_commit,
            commits,
            writes: 0,
            seqno: inner.tree.next_seqno(),
            body_bytes: 0,
        };
        let writer = &mut self.writer;
        encode(inner, layer, writer).map_err(Failure::before)?;
        let group = writer.finish(header, self.seed);
        inner.rotate_if_full(&mut log, group.len()).map_err(Failure::before)?;
        log.writer.append(group).map_err(Failure::after)?;
        let bytes = wide(group.len());
        log.last_group = header.number;
        log.last_commit = header.last_commit();
        log.last_seqno = header.seqno;
        Counters::add(&inner.counters.log_bytes, bytes);
        if inner.options.durability == Durability::Sync {
            inner.sync_log(&mut log).map_err(Failure::after)?;
        }
        drop(log);
        self.insert(inner, header.seqno).map_err(Failure::after)?;
        let told = publish(inner, layer, &header, bytes);
        self.is_broken = false;
        Ok(told)
    }

    fn insert(&self, inner: &Inner, seqno: u64) -> Result<()> {
        let gaps = &inner.gaps;
        gaps.begin_insert();
        let mut deletions = 0;
        for entry in Entries::new(self.writer.body()) {
            let entry = entry.map_err(|why| Error::new(ErrorKind::Internal, why))?;
            gaps.written(&entry.key);
            deletions += u64::from(entry.value.is_none());
            self.active.insert(entry.key, entry.value, seqno);
        }
        Counters::add(&inner.tombstones_in_memory, deletions);
        Ok(())
    }

    /// Does the periodic work that is due between groups; `idle` means that no group came for a
    /// while.
    pub(super) fn run_due_work(&mut self, inner: &Inner, idle: bool) -> Result<()> {
        if self.is_broken {
            return Ok(());
        }
        if self.is_full(inner) {
            self.seal(inner)?;
        }
        let now = inner.clock.monotonic();
        if let Durability::Interval(interval) = inner.options.durability
            && (idle || now.saturating_sub(self.log_synced) >= interval)
        {
            let mut log = lock(&inner.log);
            inner.sync_log(&mut log)?;
            drop(log);
            self.log_synced = now;
        }
        if idle || self.is_superblock_due(now) {
            let mut superblock = lock(&inner.superblock);
            if superblock.is_dirty() {
                superblock.sync()?;
            }
            drop(superblock);
            self.superblock_synced = now;
        }
        Ok(())
    }

    /// Seals the memory table, so that it can be flushed, and goes on in a new one.
    pub(super) fn seal(&mut self, inner: &Inner) -> Result<()> {
        if self.is_broken {
            return Ok(());
        }
        let mut log = lock(&inner.log);
        // What is flushed must be in the durable log, or a crash could keep the later half.
        inner.sync_log(&mut log)?;
        let sealed = inner.tree.rotate(log.end());
        if sealed {
            inner.tombstones_in_memory.store(0, Ordering::Relaxed);
            inner.tree.refresh(|view| inner.snapshots.install(view));
            self.active = inner.tree.active();
            // So that the file can go as soon as this memory table is flushed.
            if log.writer.length() > inner.options.log_file_bytes / 8 {
                inner.next_file(&mut log)?;
            }
        }
        drop(log);
        inner.measure_backlog();
        inner.signals.sealed();
        Ok(())
    }
}

/// Makes a group visible and returns who is to be told, once no lock is held.
fn publish(inner: &Inner, layer: &Arc<Layer>, header: &GroupHeader, bytes: u64) -> Completions {
    let id = SnapshotId { commit: header.last_commit(), position: header.seqno + 1 };
    inner.recent.push(header.seqno, id.commit);
    inner.space.spend(bytes);
    let told = inner.queue.finish(|| {
        let oldest = inner.snapshots.publish(id, bytes);
        inner.written.push(layer, id.commit, oldest);
    });
    inner.gaps.end_insert();
    Counters::add(&inner.counters.groups, 1);
    Counters::add(&inner.counters.commits, u64::from(header.commits));
    told
}

/// Encodes a layer as the body of a group.
fn encode(inner: &Inner, layer: &Layer, writer: &mut GroupWriter) -> Result<()> {
    writer.begin();
    let writes = layer.read();
    for (key, count) in counts(inner, &writes)? {
        writer.put(&key, &Write::counter_value(count));
    }
    for (key, values) in &writes.values {
        match &values.newest.1 {
            Some(value) => writer.put(key, value),
            None => writer.delete(key),
        }
    }
    Ok(())
}

/// Adds a layer's sums to the counters' stored values.
fn counts(inner: &Inner, writes: &Writes) -> Result<Vec<(Bytes, i64)>> {
    if writes.sums.is_empty() {
        return Ok(Vec::new());
    }
    let view = inner.snapshots.view();
    let mut counts = Vec::with_capacity(writes.sums.len());
    for (key, (_, sum)) in &writes.sums {
        let old = match view.get(key, u64::MAX)? {
            Some(value) => Write::counter(&value)?,
            None => 0,
        };
        counts.push((key.clone(), old.wrapping_add(*sum)));
    }
    Ok(counts)
}

impl Inner {
    /// Starts a new log file if the group would make this one too large.
    fn rotate_if_full(&self, log: &mut Log, group_bytes: usize) -> Result<()> {
        let full =
            log.writer.length().saturating_add(wide(group_bytes)) > self.options.log_file_bytes;
        if full && !log.writer.is_empty() { self.next_file(log) } else { Ok(()) }
    }

    /// Syncs the log file and switches to a new one.
    fn next_file(&self, log: &mut Log) -> Result<()> {
        self.sync_log(log)?;
        self.next_log_file(log)
    }

    /// Syncs the log and records that in the superblock.
    pub(super) fn sync_log(&self, log: &mut Log) -> Result<()> {
        if !log.writer.is_dirty() {
            return Ok(());
        }
        let began = self.clock.monotonic();
        log.writer.sync()?;
        let took = self.clock.monotonic().saturating_sub(began).as_micros();
        let took = u64::try_from(took).unwrap_or(u64::MAX);
        self.counters.last_sync_micros.store(took, Ordering::Relaxed);
        Counters::add(&self.counters.syncs, 1);
        let mut superblock = lock(&self.superblock);
        superblock.superblock.synced_group = log.last_group;
        superblock.superblock.synced_commit = log.last_commit;
        superblock.superblock.seqno_max = log.last_seqno;
        superblock.superblock.clean = false;
        superblock.write()
    }

    /// Creates the next log file, after the current one was synced, and switches to it.
    pub(super) fn next_log_file(&self, log: &mut Log) -> Result<()> {
        let old = log.writer.header();
        let header = FileHeader {
            store_id: old.store_id,
            file: old.file + 1,
            first_group: log.last_group + 1,
            first_commit: log.last_commit + 1,
        };
        let folder = super::layout::log_folder(&self.folder);
        let length = log.writer.length();
        log.writer = LogWriter::create(&folder, header, self.options.log_ahead_bytes)?;
        let mut files = lock(&self.files);
        if let Some(last) = files.last_mut() {
            last.bytes = length;
        }
        files.push(LogFileInfo {
            path: path_of(&folder, header.file),
            first_group: header.first_group,
            bytes: log.writer.length(),
        });
        Ok(())
    }
}
