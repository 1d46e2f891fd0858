//! What is kept in memory about shards: who wants to hear of splits, what failed, and which shards
//! may be too large.
//!
//! Nothing here is needed for an answer. After a restart every shard is looked at again when
//! something enters it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use shelfmark_model::{TableName, Value};

/// Shards of one table whose room is remembered. Above it all are forgotten and looked at anew.
const ROOMS_MAX: usize = 16_384;

/// A split that has begun: its halves count, and the shard will be gone when the subscribers have
/// heard of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitEvent {
    /// The table.
    pub table: TableName,
    /// The partition: values of its key's columns.
    pub partition: Vec<Value>,
    /// The shard that is split.
    pub shard: u64,
    /// The shard of the items before `at`.
    pub left: u64,
    /// The shard of `at` and the items after it.
    pub right: u64,
    /// Sort key of the first item of the right half, when it was chosen.
    pub at: Vec<Value>,
}

/// Told of splits. An error leaves the split where it is: it is told again until it succeeds, so a
/// hook hears of a split at least once, also over a crash.
pub type SplitHook = dyn Fn(&SplitEvent) -> HookResult + Send + Sync;

/// What a hook answers: any error, kept as text in [`SplitFailure::error`].
pub type HookResult = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Hears of splits until it is dropped.
pub struct SplitSubscription {
    _hook: Arc<SplitHook>,
}

/// A partition whose split could not be done yet. Its items are all there, and every write went on.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitFailure {
    /// The table.
    pub table: TableName,
    /// The partition.
    pub partition: Vec<Value>,
    /// How often it was tried.
    pub attempts: u32,
    /// What went wrong the last time.
    pub error: String,
}

/// Of the whole engine.
#[derive(Default)]
pub(crate) struct State {
    hooks: Mutex<Vec<Weak<SplitHook>>>,
    failures: Mutex<BTreeMap<(TableName, Bytes), SplitFailure>>,
}

impl State {
    pub(crate) fn subscribe(&self, hook: Arc<SplitHook>) -> SplitSubscription {
        let mut hooks = lock(&self.hooks);
        hooks.retain(|hook| hook.strong_count() > 0);
        hooks.push(Arc::downgrade(&hook));
        SplitSubscription { _hook: hook }
    }

    /// Tells every subscriber; the first error ends it.
    pub(super) fn tell(&self, event: &SplitEvent) -> std::result::Result<(), String> {
        // Not under the lock: a hook may subscribe or write.
        let hooks: Vec<Arc<SplitHook>> =
            lock(&self.hooks).iter().filter_map(Weak::upgrade).collect();
        hooks.iter().try_for_each(|hook| hook(event).map_err(|error| error.to_string()))
    }

    pub(super) fn failed(
        &self,
        table: &TableName,
        partition: &Bytes,
        values: &[Value],
        error: String,
    ) {
        let mut failures = lock(&self.failures);
        let failure = failures.entry((table.clone(), partition.clone())).or_insert_with(|| {
            let (table, partition) = (table.clone(), values.to_vec());
            SplitFailure { table, partition, attempts: 0, error: String::new() }
        });
        failure.attempts = failure.attempts.saturating_add(1);
        failure.error = error;
    }

    pub(super) fn succeeded(&self, table: &TableName, partition: &Bytes) {
        lock(&self.failures).remove(&(table.clone(), partition.clone()));
    }

    pub(crate) fn failures(&self) -> Vec<SplitFailure> {
        lock(&self.failures).values().cloned().collect()
    }
}

/// Of one table: how many more items its shards take before they must be looked at.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    inner: Mutex<RoomsInner>,
}

#[derive(Debug, Default)]
struct RoomsInner {
    left: HashMap<(Bytes, u64), u64>,
    /// Partitions to be looked at.
    due: BTreeMap<Bytes, Vec<Value>>,
}

impl Rooms {
    /// An item enters a shard. A write that is refused or planned again is counted all the same:
    /// the shard is only looked at earlier.
    pub(super) fn entered(&self, partition: &Bytes, values: &[Value], shard: u64, items_max: u64) {
        let mut rooms = lock(&self.inner);
        let known = rooms.left.get_mut(&(partition.clone(), shard));
        if let Some(left) = known {
            // What a look found is never larger than the limit, unless that was lowered since.
            *left = (*left).min(items_max);
            if let Some(less) = left.checked_sub(1) {
                *left = less;
                return;
            }
        }
        if !rooms.due.contains_key(partition) {
            rooms.due.insert(partition.clone(), values.to_vec());
        }
    }

    /// A look found room for so many more items.
    pub(super) fn found(&self, partition: &Bytes, shard: u64, left: u64) {
        let mut rooms = lock(&self.inner);
        if rooms.left.len() >= ROOMS_MAX {
            rooms.left.clear();
        }
        rooms.left.insert((partition.clone(), shard), left);
    }

    pub(super) fn put_off(&self, partition: Bytes, values: Vec<Value>) {
        lock(&self.inner).due.insert(partition, values);
    }

    pub(super) fn take_due(&self) -> BTreeMap<Bytes, Vec<Value>> {
        std::mem::take(&mut lock(&self.inner).due)
    }
}

/// A panic under these locks leaves whole values behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
