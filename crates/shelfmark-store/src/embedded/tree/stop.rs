//! Ending a compaction early.
//!
//! The library looks at its own stop signal only every million entries, and lets nobody set it. It
//! does ask a filter about every entry, and a filter may answer with an error; that is how a close
//! does not have to wait for a compaction of gigabytes. The filter drops and changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lsm_tree::compaction::filter::Context;
use lsm_tree::compaction::{CompactionFilter, Factory, ItemAccessor, Verdict};

/// Shared between the store and its compactions.
#[derive(Clone, Default)]
pub(in super::super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Ends running compactions with an error and lets no new one begin.
    pub(in super::super) fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether [`StopFlag::stop`] was called.
    pub(in super::super) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Factory for StopFlag {
    fn name(&self) -> &str {
        "stop"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(self.clone())
    }
}

impl CompactionFilter for StopFlag {
    fn filter_item(&mut self, _: ItemAccessor<'_>, _: &Context) -> lsm_tree::Result<Verdict> {
        if self.is_stopped() {
            return Err(lsm_tree::Error::Io(std::io::ErrorKind::Interrupted.into()));
        }
        Ok(Verdict::Keep)
    }
}
