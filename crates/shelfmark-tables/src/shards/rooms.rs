//! Remembers how much room the shards of a table have, so that most writes need not look.
//!
//! A look reads a shard's counters and finds room for so many more items and bytes. Room goes down
//! twice for one write: when it is planned, which also notes the shard as due for the upkeep thread,
//! and when the writer says that it is committed. So the room known is never more than there is, as
//! far as writers say so; a write that is refused or planned again only has the shard looked at
//! earlier.
//!
//! Nothing here is needed for an answer. What is unknown is looked at.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use shelfmark_model::Value;

use super::growth::ShardGrowth;

/// Shards of one table whose room is remembered. Above it all are forgotten and looked at anew.
const ROOMS_MAX: usize = 16_384;

/// The rooms of one table's shards.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    rooms: HashMap<(Bytes, u64), Room>,
    /// The number of times all were forgotten: what a look from before found must not be believed.
    forgotten: u64,
    /// Partitions to be looked at by the upkeep thread, with the values of their keys. Those in
    /// `fresh` may be of writes that are still under way; they wait for a call.
    due: BTreeMap<Bytes, Vec<Value>>,
    fresh: BTreeMap<Bytes, Vec<Value>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Room {
    left: Space,
    /// The space that was committed so far, as far as writers say so.
    entered: Space,
}

/// A number of items and one of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Space {
    pub(super) items: u64,
    pub(super) bytes: u64,
}

impl Space {
    fn of(growth: ShardGrowth) -> Self {
        Self { items: growth.items, bytes: growth.bytes }
    }

    /// Returns what is left without `other`; `None` if there is not so much.
    fn without(self, other: Self) -> Option<Self> {
        let items = self.items.checked_sub(other.items)?;
        Some(Self { items, bytes: self.bytes.checked_sub(other.bytes)? })
    }
}

/// A look that began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    entered: Space,
    forgotten: u64,
}

impl Rooms {
    /// Notes that a write that makes a shard larger was planned.
    pub(super) fn planned(&self, partition: &Bytes, values: &[Value], growth: ShardGrowth) {
        let mut inner = self.lock();
        if let Some(room) = inner.rooms.get_mut(&(partition.clone(), growth.shard))
            && let Some(left) = room.left.without(Space::of(growth))
        {
            room.left = left;
            return;
        }
        if !inner.fresh.contains_key(partition) {
            inner.fresh.insert(partition.clone(), values.to_vec());
        }
    }

    /// Notes that a write that made a shard larger is durable. Tells whether the shard must be
    /// looked at.
    pub(super) fn committed(&self, partition: &Bytes, growth: ShardGrowth) -> bool {
        let mut inner = self.lock();
        if inner.rooms.len() >= ROOMS_MAX {
            inner.rooms.clear();
            inner.forgotten += 1;
        }
        let room = inner.rooms.entry((partition.clone(), growth.shard)).or_default();
        room.entered.items = room.entered.items.wrapping_add(growth.items);
        room.entered.bytes = room.entered.bytes.wrapping_add(growth.bytes);
        match room.left.without(Space::of(growth)) {
            Some(left) => {
                room.left = left;
                false
            }
            None => true,
        }
    }

    /// Begins a look, before it takes its snapshot.
    pub(super) fn look(&self, partition: &Bytes, shard: u64) -> Look {
        let inner = self.lock();
        let room = inner.rooms.get(&(partition.clone(), shard)).copied().unwrap_or_default();
        Look { entered: room.entered, forgotten: inner.forgotten }
    }

    /// Ends a look that found this much room. What was committed since it began is taken off, for
    /// its snapshot may not have shown it.
    pub(super) fn found(&self, partition: &Bytes, shard: u64, look: Look, left: Space) {
        let mut inner = self.lock();
        if inner.forgotten != look.forgotten {
            return;
        }
        let room = inner.rooms.entry((partition.clone(), shard)).or_default();
        let items = room.entered.items.wrapping_sub(look.entered.items);
        let bytes = room.entered.bytes.wrapping_sub(look.entered.bytes);
        room.left = Space {
            items: left.items.saturating_sub(items),
            bytes: left.bytes.saturating_sub(bytes),
        };
    }

    /// Has the partition looked at at the next call.
    pub(super) fn put_off(&self, partition: Bytes, values: Vec<Value>) {
        self.lock().due.insert(partition, values);
    }

    /// Returns the partitions to be looked at.
    pub(super) fn take_due(&self) -> BTreeMap<Bytes, Vec<Value>> {
        let mut inner = self.lock();
        let fresh = std::mem::take(&mut inner.fresh);
        std::mem::replace(&mut inner.due, fresh)
    }

    /// Locks the rooms. A panic under this lock leaves whole values behind.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
