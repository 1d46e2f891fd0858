//! The state that all clones of one engine share: the store, and what is remembered of it.
//!
//! What it is not: the calls. Those of items, cells, shards and the rest are beside what they do, in
//! their folders.

use std::sync::Arc;

use shelfmark_store::Store;
use shelfmark_store::latch::Latches;

use crate::background::State as BackgroundState;
use crate::backups::State as BackupState;
use crate::catalogue::Catalogue;
use crate::cells::{PartitionLocks, UniqueMicros, WrittenStripes};
use crate::environment::Environment;
use crate::error::Result;
use crate::shards::State as ShardState;

/// A store, and what an engine remembers of it.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    /// Nobody but this engine writes to the store.
    pub(crate) is_alone: bool,
    /// The store validates ranges that a commit rests on.
    pub(crate) validates_ranges: bool,
    /// The store adds to numbers within rows beside others.
    pub(crate) adds_within: bool,
    pub(crate) catalogue: Catalogue,
    pub(crate) latches: Latches,
    pub(crate) environment: Environment,
    pub(crate) shards: ShardState,
    /// The state of the background work.
    pub(crate) background: BackgroundState,
    /// The state of the work on backups.
    pub(crate) backups: BackupState,
    /// The locks of partitions of cells.
    pub(crate) partitions: PartitionLocks,
    /// The latest timestamps of cells that were written, by stripes of partitions.
    pub(crate) written: WrittenStripes,
    /// Places in lists.
    pub(crate) places: UniqueMicros,
    /// Timestamps of cells that the server gives.
    pub(crate) timestamps: UniqueMicros,
}

impl Inner {
    /// Opens the engine's part of a store; a new store gets its catalogue.
    ///
    /// # Errors
    ///
    /// * As [`crate::Engine::open`].
    pub(crate) fn open(store: Arc<dyn Store>, environment: Environment) -> Result<Self> {
        let catalogue = Catalogue::open(Arc::clone(&store))?;
        let caps = store.caps();
        Ok(Self {
            store,
            is_alone: caps.is_exclusive,
            validates_ranges: caps.validates_ranges,
            adds_within: caps.adds_within,
            catalogue,
            latches: Latches::new(),
            environment,
            shards: ShardState::default(),
            background: BackgroundState::default(),
            backups: BackupState::default(),
            partitions: PartitionLocks::new(),
            written: WrittenStripes::new(),
            places: UniqueMicros::default(),
            timestamps: UniqueMicros::default(),
        })
    }
}
