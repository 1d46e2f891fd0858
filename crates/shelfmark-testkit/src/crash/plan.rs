//! The plan of a writing program: each commit follows from a seed, a thread and an index.
//!
//! Threads write keys of their own, so that what must be there does not depend on who came first.
//! Each commit puts and deletes some of the thread's keys, puts its own index at the thread's
//! `last` key, and adds one to a counter that all threads share. Before some commits the first thread
//! ingests rows under the commit's index.
//!
//! Invariant: two states of a thread after different commits differ, and any missing part of a
//! commit shows.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_store::Write;
use shelfmark_store::random::SplitMix;

/// Begins the keys of ingested rows.
pub const INGESTED: &[u8] = b"i/";

/// Every so many commits of the first thread rows are ingested.
const INGESTED_EVERY: u64 = 5;

/// Rows that are ingested together.
const INGESTED_ROWS: u64 = 6;

/// Counts the commits of all threads.
pub const COUNT_KEY: &[u8] = b"count";

/// Decides what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Everything follows from it.
    pub seed: u64,
    /// Threads that write at the same time.
    pub threads: u64,
    /// Keys of each thread.
    pub keys: u64,
    /// Size of a large value in bytes; one in eight is.
    pub large_bytes: usize,
}

impl Plan {
    /// Creates the plan of small tests: one thread, values of a few sectors.
    #[must_use]
    pub fn small(seed: u64) -> Self {
        Self { seed, threads: 1, keys: 12, large_bytes: 1300 }
    }

    /// Returns the key that holds the index of the thread's last commit.
    #[must_use]
    pub fn last_key(thread: u64) -> Bytes {
        Bytes::from(format!("t{thread:02}/last"))
    }

    /// Returns what every key of a thread begins with.
    #[must_use]
    pub fn prefix(thread: u64) -> Bytes {
        Bytes::from(format!("t{thread:02}/"))
    }

    /// Returns the writes of a thread's commit. Commits are numbered from 1.
    #[must_use]
    pub fn writes(&self, thread: u64, index: u64) -> Vec<Write> {
        let mut random = SplitMix::new(self.seed ^ thread << 48 ^ index);
        let mut writes = Vec::new();
        for _ in 0..1 + random.below(4) {
            let key = Bytes::from(format!("t{thread:02}/{:04}", random.below(self.keys)));
            if random.chance(200) {
                writes.push(Write::Delete { key });
            } else {
                let large = random.chance(125);
                let length = if large { self.large_bytes } else { 8 + random.index(60) };
                writes.push(Write::Put { key, value: value(index, length, &mut random) });
            }
        }
        let value = Bytes::from(index.to_string());
        writes.push(Write::Put { key: Self::last_key(thread), value });
        writes.push(Write::Add { key: Bytes::from_static(COUNT_KEY), delta: 1 });
        writes
    }

    /// Returns what a thread ingests before its commit of this index; most often nothing.
    #[must_use]
    pub fn ingested(&self, thread: u64, index: u64) -> Vec<(Bytes, Bytes)> {
        if thread != 0 || !index.is_multiple_of(INGESTED_EVERY) {
            return Vec::new();
        }
        let mut random = SplitMix::new(self.seed ^ index << 16);
        let mut row = |number| {
            let key =
                [&Self::ingested_prefix(index)[..], format!("{number:02}").as_bytes()].concat();
            let length = 8 + random.index(self.large_bytes);
            (Bytes::from(key), value(index, length, &mut random))
        };
        (0..INGESTED_ROWS).map(&mut row).collect()
    }

    /// Returns all that the first thread ingested before its first `commits` commits.
    #[must_use]
    pub fn all_ingested(&self, commits: u64) -> BTreeMap<Bytes, Bytes> {
        (1..=commits).flat_map(|index| self.ingested(0, index)).collect()
    }

    /// Returns what the keys of the rows begin with that are ingested before a commit of this index.
    #[must_use]
    pub fn ingested_prefix(index: u64) -> Bytes {
        [INGESTED, format!("{index:06}/").as_bytes()].concat().into()
    }

    /// Returns what a thread's keys hold after its first `commits` commits.
    #[must_use]
    pub fn state(&self, thread: u64, commits: u64) -> BTreeMap<Bytes, Bytes> {
        let mut state = BTreeMap::new();
        for index in 1..=commits {
            self.apply(thread, index, &mut state);
        }
        state
    }

    /// Does to `state`, a thread's keys, what the thread's commit does.
    pub fn apply(&self, thread: u64, index: u64, state: &mut BTreeMap<Bytes, Bytes>) {
        for write in self.writes(thread, index) {
            match write {
                Write::Put { key, value } => {
                    state.insert(key, value);
                }
                Write::Delete { key } => {
                    state.remove(&key);
                }
                Write::Add { .. } | Write::PutIfAbsent { .. } | Write::PutStamped { .. } => {}
            }
        }
    }
}

/// Returns a value that begins with its commit's index and compresses badly.
fn value(index: u64, length: usize, random: &mut SplitMix) -> Bytes {
    let mut value = index.to_be_bytes().to_vec();
    while value.len() < length {
        value.extend_from_slice(&random.next_u64().to_be_bytes());
    }
    value.truncate(length.max(8));
    Bytes::from(value)
}
