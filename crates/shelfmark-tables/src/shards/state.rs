//! Keeps the state of splits in memory: the subscribers, and the splits that failed.
//!
//! Nothing here is needed for an answer, and nothing of it outlives the process: a split that waits
//! is in its shard map.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use shelfmark_model::{TableName, Value};
use shelfmark_store::locks::lock;

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

/// A hook that is told of splits, once of each. An error leaves the split where it is: every hook is
/// told again until all succeed. A split that a crash interrupted is told again by the next process
/// as well.
pub type SplitHook = dyn Fn(&SplitEvent) -> HookResult + Send + Sync;

/// The answer of a hook: any error, kept as text in [`SplitFailure::error`].
pub type HookResult = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A subscription to splits, which lasts until it is dropped.
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
    /// The number of attempts.
    pub attempts: u32,
    /// The error of the last attempt.
    pub error: String,
}

/// The state of splits in the whole engine.
#[derive(Default)]
pub(crate) struct State {
    hooks: Mutex<Vec<Weak<SplitHook>>>,
    failures: Mutex<BTreeMap<(TableName, Bytes), SplitFailure>>,
    /// Partitions that a thread is splitting, by table id and key; true if somebody else wanted that
    /// meanwhile.
    turns: Mutex<BTreeMap<(u64, Bytes), bool>>,
    /// Splits of which all subscribers know and that have not ended: the left half's id by table id and
    /// partition.
    told: Mutex<BTreeMap<(u64, Bytes), u64>>,
}

/// The right to split one partition, until it is dropped.
pub(super) struct Turn<'a> {
    state: &'a State,
    key: (u64, Bytes),
    has_ended: bool,
}

impl Turn<'_> {
    /// Tells whether somebody else wanted the partition to be split meanwhile, and has been sent away;
    /// ends the turn otherwise.
    pub(super) fn is_wanted_again(&mut self) -> bool {
        let mut turns = lock(&self.state.turns);
        if let Some(wanted) = turns.get_mut(&self.key)
            && std::mem::take(wanted)
        {
            return true;
        }
        turns.remove(&self.key);
        self.has_ended = true;
        false
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            lock(&self.state.turns).remove(&self.key);
        }
    }
}

impl State {
    pub(crate) fn subscribe(&self, hook: Arc<SplitHook>) -> SplitSubscription {
        let mut hooks = lock(&self.hooks);
        hooks.retain(|hook| hook.strong_count() > 0);
        hooks.push(Arc::downgrade(&hook));
        SplitSubscription { _hook: hook }
    }

    /// Takes the turn at a partition; `None` if another thread has it, which will look again.
    pub(super) fn turn(&self, table: u64, partition: &Bytes) -> Option<Turn<'_>> {
        let key = (table, partition.clone());
        let mut turns = lock(&self.turns);
        if let Some(wanted) = turns.get_mut(&key) {
            *wanted = true;
            return None;
        }
        turns.insert(key.clone(), false);
        Some(Turn { state: self, key, has_ended: false })
    }

    /// Tells every subscriber, unless all know of this split; the first error ends it.
    pub(super) fn tell(
        &self,
        table: u64,
        partition: &Bytes,
        event: &SplitEvent,
    ) -> std::result::Result<(), String> {
        let key = (table, partition.clone());
        if lock(&self.told).get(&key) == Some(&event.left) {
            return Ok(());
        }
        // Not under the lock: a hook may subscribe or write.
        let hooks: Vec<Arc<SplitHook>> =
            lock(&self.hooks).iter().filter_map(Weak::upgrade).collect();
        hooks.iter().try_for_each(|hook| hook(event).map_err(|error| error.to_string()))?;
        lock(&self.told).insert(key, event.left);
        Ok(())
    }

    /// Forgets that a split was told: it has ended.
    pub(super) fn ended(&self, table: u64, partition: &Bytes) {
        lock(&self.told).remove(&(table, partition.clone()));
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
