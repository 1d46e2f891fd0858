//! Ends a compaction early: when the store stops, when the disk is nearly full, and when it holds too
//! much memory.
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
use super::held::{Held, Read};

/// Entries that are merged between two checks of the disk.
const LOOK_EVERY: u32 = 16 * 1024;

/// A flag shared between the store and its compactions.
#[derive(Clone)]
pub(in super::super) struct StopFlag {
    stopped: Arc<AtomicBool>,
    space: Option<Arc<FreeSpace>>,
}

/// Makes the filter of each compaction of one tree.
pub(super) struct Filters {
    pub(super) flag: StopFlag,
    pub(super) held: Arc<Held>,
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

impl std::panic::RefUnwindSafe for Filters {}

impl Factory for Filters {
    fn name(&self) -> &str {
        "stop"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        let (flag, held) = (self.flag.clone(), Arc::clone(&self.held));
        Box::new(Look { flag, held, read: Read::default(), entries: 0 })
    }
}

/// The flag and the bound as one compaction polls them.
struct Look {
    flag: StopFlag,
    held: Arc<Held>,
    read: Read,
    entries: u32,
}

impl CompactionFilter for Look {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> lsm_tree::Result<Verdict> {
        if self.flag.is_stopped() {
            return Err(lsm_tree::Error::Io(io::ErrorKind::Interrupted.into()));
        }
        if self.entries.is_multiple_of(LOOK_EVERY)
            && self.flag.space.as_ref().is_some_and(|space| space.is_nearly_gone())
        {
            return Err(lsm_tree::Error::Io(io::ErrorKind::StorageFull.into()));
        }
        self.entries = self.entries.wrapping_add(1);
        if !self.read.count(&self.held, item.value()?.len()) {
            return Err(lsm_tree::Error::Io(io::ErrorKind::OutOfMemory.into()));
        }
        Ok(Verdict::Keep)
    }

    fn finish(self: Box<Self>) {
        self.read.end(&self.held);
    }
}
