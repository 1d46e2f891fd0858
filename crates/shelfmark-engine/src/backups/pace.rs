//! Paces the copying of tables that are in use, so that whoever writes meanwhile hardly notices.
//!
//! What it is not: a measure of the machine. It compares the commits of others with its own, and rests in
//! proportion to its work while there are many; where nobody writes, it copies as fast as it can.

use std::time::Duration;

use shelfmark_store::Store;
use shelfmark_store::clock::Clock;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};

/// Commits of others for each page of the copy from which on it rests.
const OTHERS_MIN: u64 = 16;

/// Times the duration of a page for which the copy rests behind it: it then has a seventeenth of one
/// processor, and what its files cost in merges is spread as wide.
const REST_FACTOR: u32 = 16;

/// The longest rest, so that a machine that stood still does not make the copy wait as long again.
const REST_MAX: Duration = Duration::from_millis(500);

/// The pace of one copy.
pub(super) struct Pace {
    /// Commits of everybody, and the time, when the last page ended.
    commits: u64,
    ended: Duration,
}

impl Pace {
    pub(super) fn new(store: &dyn Store, clock: &dyn Clock) -> Self {
        Self { commits: store.stats().commits, ended: clock.monotonic() }
    }

    /// Rests behind a page if others write. Returns true if it did.
    pub(super) fn rest(&mut self, store: &dyn Store, clock: &dyn Clock) -> bool {
        let others = store.stats().commits.saturating_sub(self.commits);
        let took = clock.monotonic().saturating_sub(self.ended);
        let rests = others >= OTHERS_MIN;
        if rests {
            ThreadSleeper.sleep((took * REST_FACTOR).min(REST_MAX));
        }
        *self = Self::new(store, clock);
        rests
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use shelfmark_store::clock::ManualClock;
    use shelfmark_store::memory::MemoryStore;
    use shelfmark_store::{Commit, Write};

    use super::*;

    #[test]
    fn it_rests_while_others_write_and_only_then() {
        let clock = Arc::new(ManualClock::at_micros(0));
        let store = MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let write = |times: u64| {
            for _ in 0..times {
                let (key, value) = (Bytes::from_static(b"k"), Bytes::from_static(b"v"));
                store.commit(Commit::of(vec![Write::Put { key, value }])).unwrap();
            }
        };
        let mut pace = Pace::new(&store, &*clock);
        assert!(!pace.rest(&store, &*clock));
        // Its own page, and hardly anybody else.
        write(2);
        assert!(!pace.rest(&store, &*clock));
        write(OTHERS_MIN + 1);
        assert!(pace.rest(&store, &*clock));
        assert!(!pace.rest(&store, &*clock), "the writers of before are not counted again");
    }
}
