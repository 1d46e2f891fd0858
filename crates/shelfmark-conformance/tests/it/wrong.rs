//! A driver that is right but for one thing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use shelfmark_conformance::{Lane, SNAPSHOT_AGE_MAX, SNAPSHOT_BYTES_MAX};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{
    Caps, Commit, Completion, Direction, KeyRange, Maintained, Page, Peers, Queued, Result,
    ScanLimits, Snapshot, SnapshotId, Store, StoreStats, Write,
};
use shelfmark_testkit::forward_to_inner;

/// The one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    Nothing,
    /// Keys that were read are not looked at when a commit rests on them.
    ForgetsToValidate,
    /// Every eighth commit is acknowledged and not made.
    LosesACommit,
    /// A commit of several writes is two.
    TearsCommits,
    /// What must be absent may be there.
    PutsOverWhatIsThere,
    /// Every read of a snapshot shows what is newest.
    SnapshotsMove,
    /// What is left of a scan begins with the last row of the page again.
    RepeatsARow,
    /// What is left of a scan begins behind the row that follows the page.
    SkipsARow,
    /// Snapshots never get too old.
    KeepsSnapshots,
}

/// The driver.
pub(crate) struct WrongStore {
    inner: Arc<dyn Store>,
    wrong: Wrong,
    commits: AtomicU64,
}

impl WrongStore {
    fn wrapped(&self, inner: Arc<dyn Snapshot>) -> Arc<dyn Snapshot> {
        Arc::new(WrongSnapshot { inner, store: Arc::clone(&self.inner), wrong: self.wrong })
    }
}

impl Store for WrongStore {
    fn snapshot(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.wrapped(self.inner.snapshot()?))
    }

    fn latest(&self) -> Result<Arc<dyn Snapshot>> {
        Ok(self.wrapped(self.inner.latest()?))
    }

    fn submit(&self, mut commit: Commit, done: Completion) -> Result<Queued> {
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        match self.wrong {
            Wrong::ForgetsToValidate => commit.validate.clear(),
            Wrong::LosesACommit if number % 8 == 7 => commit.writes.clear(),
            Wrong::TearsCommits if commit.writes.len() > 1 => {
                let later = commit.writes.split_off(1);
                self.inner.commit(commit)?;
                return self.inner.submit(Commit::of(later), done);
            }
            Wrong::PutsOverWhatIsThere => {
                for write in &mut commit.writes {
                    if let Write::PutIfAbsent { key, value } = write.clone() {
                        *write = Write::Put { key, value };
                    }
                }
            }
            _ => {}
        }
        self.inner.submit(commit, done)
    }

    fn caps(&self) -> Caps {
        self.inner.caps()
    }

    forward_to_inner!();
}

struct WrongSnapshot {
    inner: Arc<dyn Snapshot>,
    store: Arc<dyn Store>,
    wrong: Wrong,
}

impl WrongSnapshot {
    fn read(&self) -> Result<Arc<dyn Snapshot>> {
        match self.wrong {
            Wrong::SnapshotsMove => self.store.snapshot(),
            Wrong::KeepsSnapshots if self.inner.get(b"a").is_err() => self.store.snapshot(),
            _ => Ok(Arc::clone(&self.inner)),
        }
    }
}

impl Snapshot for WrongSnapshot {
    fn id(&self) -> SnapshotId {
        self.inner.id()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.read()?.get(key)
    }

    fn scan(&self, range: &KeyRange, direction: Direction, limits: ScanLimits) -> Result<Page> {
        let inner = self.read()?;
        let mut page = inner.scan(range, direction, limits)?;
        let (Some(next), Some(last)) = (&page.next, page.rows.last()) else { return Ok(page) };
        match self.wrong {
            Wrong::RepeatsARow if direction == Direction::Ascending => {
                page.next = Some(KeyRange { start: last.key.clone(), ..next.clone() });
            }
            Wrong::SkipsARow => {
                let one = ScanLimits { rows_max: 1, ..limits };
                page.next = inner.scan(next, direction, one)?.next;
            }
            _ => {}
        }
        Ok(page)
    }

    fn time_left(&self) -> Option<std::time::Duration> {
        self.inner.time_left()
    }
}

/// A memory store behind the wrong driver.
pub(crate) struct WrongLane {
    wrong: Wrong,
    clock: Arc<ManualClock>,
}

impl WrongLane {
    pub(crate) fn new(wrong: Wrong) -> Self {
        Self { wrong, clock: Arc::new(ManualClock::at_micros(1_700_000_000_000_000)) }
    }
}

impl Lane for WrongLane {
    fn open(&self) -> Arc<dyn Store> {
        let caps = Caps {
            snapshot_age_max: SNAPSHOT_AGE_MAX,
            snapshot_bytes_max: SNAPSHOT_BYTES_MAX,
            ..MemoryStore::default_caps()
        };
        let inner = Arc::new(MemoryStore::with_caps(self.clock.clone(), caps));
        Arc::new(WrongStore { inner, wrong: self.wrong, commits: AtomicU64::new(0) })
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn keeps(&self) -> bool {
        false
    }
}
