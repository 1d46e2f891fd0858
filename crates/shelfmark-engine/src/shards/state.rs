//! What is kept in memory about splits: who wants to hear of them, and what failed.
//!
//! Nothing here is needed for an answer, and nothing of it outlives the process: a split that waits
//! is in its shard map.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use shelfmark_model::{TableName, Value};

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

/// A panic under these locks leaves whole values behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
