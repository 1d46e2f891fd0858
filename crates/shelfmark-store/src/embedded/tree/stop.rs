//! Ends a compaction early: when the store stops, and when the disk is nearly full.
//!
//! The library looks at its own stop signal only every million entries, and lets nobody set it. It
//! does ask a filter about every entry, and a filter may answer with an error; that is how a close
//! does not have to wait for a compaction of gigabytes. The filter drops and changes nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsm_tree::compaction::filter::Context;
use lsm_tree::compaction::{CompactionFilter, Factory, ItemAccessor, Verdict};

use super::super::free_space::FreeSpace;

/// Entries that are merged between two checks of the disk.
const LOOK_EVERY: u32 = 16 * 1024;

/// A flag shared between the store and its compactions.
#[derive(Clone)]
pub(in super::super) struct StopFlag {
    stopped: Arc<AtomicBool>,
    space: Option<Arc<FreeSpace>>,
}

impl StopFlag {
    /// Creates a flag that also ends compactions while `space` is nearly gone.
    pub(in super::super) fn new(space: Arc<FreeSpace>) -> Self {
        Self { stopped: Arc::default(), space: Some(space) }
    }

    /// Creates a flag for a tree that never compacts.
    pub(in super::super) fn idle() -> Self {
        Self { stopped: Arc::default(), space: None }
    }

    /// Ends running compactions with an error and lets no new one begin.
    pub(in super::super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    /// Returns true if [`StopFlag::stop`] was called.
    pub(in super::super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl std::panic::RefUnwindSafe for StopFlag {}

impl Factory for StopFlag {
    fn name(&self) -> &str {
        "stop"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(Look { flag: self.clone(), entries: 0 })
    }
}

/// The flag as one compaction polls it.
struct Look {
    flag: StopFlag,
    entries: u32,
}

impl CompactionFilter for Look {
    fn filter_item(&mut self, _: ItemAccessor<'_>, _: &Context) -> lsm_tree::Result<Verdict> {
        if self.flag.is_stopped() {
            return Err(lsm_tree::Error::Io(io::ErrorKind::Interrupted.into()));
        }
        if self.entries.is_multiple_of(LOOK_EVERY)
            && self.flag.space.as_ref().is_some_and(|space| space.is_nearly_gone())
        {
            return Err(lsm_tree::Error::Io(io::ErrorKind::StorageFull.into()));
        }
        self.entries = self.entries.wrapping_add(1);
        Ok(Verdict::Keep)
    }
}
