//! Shards: contiguous sort-key ranges of a partition that has grown, with their own statistics.
//!
//! A shard is bookkeeping. Reads and writes find items by their keys and never look at shards, so
//! splitting changes no answer; callers list a partition's shards and hear of splits.
//!
//! A split takes two commits, and both change the partition's shard map, a key that every write
//! which creates or removes an item of a sharded table reads and has validated:
//!
//! 1. The cut is written into the map. A write planned with the old map and queued later conflicts
//!    and is planned again; from here on writes count in the new half that they fall into, at first
//!    from nothing, while the old shard's counter stands still.
//! 2. On one snapshot behind the first commit the rows of each half are counted. What the half's
//!    counter shows there has been counted by writes already; the difference is add_bytes, and the map
//!    gets the two halves for the one shard.
//!
//! Additions commute, so writes go on between and beside both commits, and the counts are exact. No
//! write waits for a split; it conflicts with one at most twice. Between the two the subscribers
//! are told; while one of them fails the split stays where it is, is tried again, and survives a
//! restart.
//!
//! Items are counted, and bytes of keys and records where the table asks for it. A table that has
//! begun to ask for it counts what writes change from then on, and a pass in the background adds
//! what was there before (`pass`); until then its shards are not split by their bytes.
//!
//! What it is not: a limit. A shard that could not be split goes on growing, and nothing is refused.
//!
//! Invariant: the counters of a partition's shards add up to the partition's count and to the bytes
//! of its rows, at every snapshot.

mod count;
mod counters;
mod grown;
mod growth;
mod limits;
mod listing;
mod pass;
mod rooms;
mod rows;
mod split;
mod state;
#[cfg(test)]
mod tests;
mod unsplit;

pub(crate) use count::add_bytes;
pub(crate) use count::count;
pub use counters::{bytes, counted, items, map_of};
pub use growth::ShardGrowth;
pub(crate) use growth::SizeChange;
pub use growth::stored_bytes;
pub(crate) use limits::check_limits;
pub use listing::Shard;
pub(crate) use rooms::Rooms;
pub use rows::{Sum, sum_of};
pub(crate) use state::State;
pub use state::{HookResult, SplitEvent, SplitFailure, SplitHook, SplitSubscription};
pub(crate) use unsplit::Unsplit;
