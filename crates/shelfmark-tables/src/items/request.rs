//! One write, and its answer.

use std::sync::Arc;

use shelfmark_model::{Condition, Item, Key, Patch};

use crate::catalogue::Table;
use crate::error::Result;
use crate::report::AccessReport;
use crate::shards::ShardGrowth;

/// A change that a write makes to one item.
#[derive(Debug, Clone)]
pub enum Change {
    /// Replaces the item, or creates it. It has its key attributes in it.
    Put(Item),
    /// Changes parts of the item.
    Patch {
        /// The key of the item.
        key: Key,
        /// How.
        patch: Patch,
        /// Create the item when it is absent; otherwise an absent item stays absent.
        creates: bool,
    },
    /// Removes the item; that it is absent is fine.
    Delete(Key),
    /// Only checks the condition.
    Check(Key),
}

impl Change {
    /// Returns the key of the item.
    pub(crate) fn key_of(&self, table: &Table) -> Result<Key> {
        match self {
            Self::Put(item) => table.key_of(item),
            Self::Patch { key, .. } | Self::Delete(key) | Self::Check(key) => Ok(key.clone()),
        }
    }
}

/// The images of the item that a write answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Returns {
    /// The item as it was.
    pub old: bool,
    /// The item as it is.
    pub new: bool,
}

/// One write to one item.
#[derive(Debug, Clone)]
pub struct Write {
    /// The table. A form that has been retired is exchanged for the current one.
    pub table: Arc<Table>,
    /// The change of the item.
    pub change: Change,
    /// The condition on the item as it is; an absent item is an empty one.
    pub condition: Option<Condition>,
    /// The images that come back.
    pub returns: Returns,
    /// Give the item in the refusal when the condition does not hold.
    pub old_on_refusal: bool,
    /// Second since the Unix epoch at which the item expires; for tables whose items expire one by
    /// one. Without it a put item does not expire, a patched one keeps what it has.
    pub expires_at: Option<u64>,
}

impl Write {
    /// Creates an unconditional write.
    #[must_use]
    pub fn new(table: &Arc<Table>, change: Change) -> Self {
        Self {
            table: Arc::clone(table),
            change,
            condition: None,
            returns: Returns::default(),
            old_on_refusal: false,
            expires_at: None,
        }
    }

    /// Creates a put.
    #[must_use]
    pub fn put(table: &Arc<Table>, item: Item) -> Self {
        Self::new(table, Change::Put(item))
    }

    /// Creates a delete.
    #[must_use]
    pub fn delete(table: &Arc<Table>, key: Key) -> Self {
        Self::new(table, Change::Delete(key))
    }

    /// Adds a condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Asks for the item as it was.
    #[must_use]
    pub fn returning_old(mut self) -> Self {
        self.returns.old = true;
        self
    }
}

/// The answer of a write.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Written {
    /// The item as it was, if it was asked for and there.
    pub old: Option<Item>,
    /// The item as it is, if it was asked for and there.
    pub new: Option<Item>,
    /// True if the item was there before; `None` for a blind write, which did not look.
    pub existed: Option<bool>,
    /// Size of the item before and after in bytes; 0 when absent or not looked at.
    pub size_before_bytes: usize,
    /// See `size_before_bytes`.
    pub size_after_bytes: usize,
    /// The shard that this made larger, for a table whose partitions are split: the item is new in it,
    /// or has more bytes than before, where bytes count.
    pub grown_shard: Option<ShardGrowth>,
    /// The access report of what was read for it.
    pub report: AccessReport,
}
