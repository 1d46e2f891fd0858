//! The tables of one store: the store, and what a process remembers of it.
//!
//! What it is not: the calls. Those of items, cells, shards and the rest are beside what they do, in
//! their folders.

use std::sync::Arc;

use shelfmark_store::Store;
use shelfmark_store::latch::Latches;

use crate::catalogue::Catalogue;
use crate::cells::{PartitionLocks, UniqueMicros, WrittenStripes};
use crate::environment::Environment;
use crate::error::Result;
use crate::rows::Builds;
use crate::shards::State as ShardState;

/// A store, and what one process remembers of it.
pub struct Tables {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Nobody but this process writes to the store.
    pub is_alone: bool,
    /// The store validates ranges that a commit rests on.
    pub(crate) validates_ranges: bool,
    /// The store adds to numbers within rows beside others.
    pub(crate) adds_within: bool,
    /// The tables that there are.
    pub catalogue: Catalogue,
    pub(crate) latches: Latches,
    /// The source of time and randomness.
    pub environment: Environment,
    pub(crate) shards: ShardState,
    /// The state of long builds.
    pub builds: Builds,
    /// The locks of partitions of cells.
    pub(crate) partitions: PartitionLocks,
    /// The latest timestamps of cells that were written, by stripes of partitions.
    pub(crate) written: WrittenStripes,
    /// Places in lists.
    pub(crate) places: UniqueMicros,
    /// Timestamps of cells that the server gives.
    pub(crate) timestamps: UniqueMicros,
}

impl Tables {
    /// Opens the tables of a store; a new store gets its catalogue. Where the store tells of its
    /// [`shelfmark_store::Peers`], what they change in the catalogue is followed in a thread.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the store has a newer format. Use a newer build.
    /// * Those of the store.
    pub fn open(store: Arc<dyn Store>, environment: Environment) -> Result<Arc<Self>> {
        let catalogue = Catalogue::open(Arc::clone(&store))?;
        let caps = store.caps();
        let tables = Arc::new(Self {
            store,
            is_alone: caps.is_exclusive,
            validates_ranges: caps.validates_ranges,
            adds_within: caps.adds_within,
            catalogue,
            latches: Latches::new(),
            environment,
            shards: ShardState::default(),
            builds: Builds::default(),
            partitions: PartitionLocks::new(),
            written: WrittenStripes::new(),
            places: UniqueMicros::default(),
            timestamps: UniqueMicros::default(),
        });
        Catalogue::keep_following(&tables)?;
        Ok(tables)
    }

    /// Returns the second since the Unix epoch that it is now.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.environment.clock.now_seconds()
    }
}
