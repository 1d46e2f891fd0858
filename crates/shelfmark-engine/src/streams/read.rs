//! Reads the changes of one shard of a change stream.

use shelfmark_store::{Direction, Snapshot};
use shelfmark_tables::items::{ChangePosition, ItemChange, LogPage, LogStart, log_end, read_log};
use shelfmark_tables::{Error, ErrorKind, Result};

use super::RETENTION;
use super::list::StreamShardState;
use crate::engine::Engine;

/// The changes of a shard that a read asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamRange {
    /// From the oldest one that is not too old.
    Oldest,
    /// From the one at this position, or the next one.
    At(ChangePosition),
    /// From the next one behind this position.
    After(ChangePosition),
}

/// Changes of a shard, in the order of their commits.
#[derive(Debug, Clone)]
pub struct StreamPage {
    /// The changes. Which image is whole, and which is only the key, follows from the stream's
    /// images.
    pub changes: Vec<ItemChange>,
    /// The range of a later read; `None` if the shard is closed and was read to its end.
    pub next: Option<StreamRange>,
}

impl Engine {
    /// Reads up to `limit` changes of a shard, and no more after those that reach `bytes_max` bytes
    /// together. No change appears later between two that were seen.
    ///
    /// Cost: one seek and the changes; to find the oldest one a few dozen seeks at most.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::TooOld`]: the next change is too old to be read. Begin with the oldest one.
    pub fn read_stream(
        &self,
        state: &StreamShardState,
        range: StreamRange,
        limit: usize,
        bytes_max: usize,
    ) -> Result<StreamPage> {
        let snapshot = self.inner.store.snapshot()?;
        let snapshot: &dyn Snapshot = &*snapshot;
        let horizon = self.stream_horizon_micros();
        let log = state.log.id;
        let start = match range {
            StreamRange::Oldest => first_since(snapshot, state, horizon)?,
            StreamRange::At(at) => LogStart::At(at),
            StreamRange::After(after) => LogStart::After(after),
        };
        // One more for the mark of a closed shard.
        let LogPage { mut changes, is_end } =
            read_log(snapshot, log, start, limit.saturating_add(1), bytes_max)?;
        let is_mark = |change: &ItemChange| change.old.is_none() && change.new.is_none();
        let mut last = changes.last().map(|last| last.position);
        changes.retain(|change| !is_mark(change));
        let has_more = changes.len() > limit;
        if has_more {
            changes.truncate(limit);
            last = changes.last().map(|last| last.position);
        }
        match range {
            // The clock may have stepped back.
            StreamRange::Oldest => changes.retain(|change| change.at_micros >= horizon),
            StreamRange::At(_) | StreamRange::After(_) => {
                if changes.first().is_some_and(|change| change.at_micros < horizon) {
                    return Err(Error::new(ErrorKind::TooOld, "the change is too old to be read"));
                }
            }
        }
        // Of what is known as closed the snapshot has all changes, and shows them once they are settled.
        let through = snapshot.stamped_through()?;
        let is_closed = state.last.is_some_and(|last| last.commit <= through);
        let is_over = is_end && !has_more && is_closed;
        let next = (!is_over).then(|| last.map_or(range, StreamRange::After));
        Ok(StreamPage { changes, next })
    }

    /// Returns the range of the changes of a shard that are still to come.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn stream_latest(&self, state: &StreamShardState) -> Result<StreamRange> {
        let snapshot = self.inner.store.snapshot()?;
        let last = log_end(&*snapshot, state.log.id, LogStart::Front, Direction::Descending)?;
        Ok(StreamRange::After(last.map_or(state.first, |(last, _)| last)))
    }

    /// Returns the range that begins with the first change of a shard that was written at a moment
    /// or later, in microseconds since the Unix epoch; of a moment before all changes that are still
    /// read, the oldest one.
    ///
    /// Cost: a few dozen seeks at most.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn stream_since(&self, state: &StreamShardState, at_micros: u64) -> Result<StreamRange> {
        if at_micros <= self.stream_horizon_micros() {
            return Ok(StreamRange::Oldest);
        }
        let snapshot = self.inner.store.snapshot()?;
        Ok(match first_since(&*snapshot, state, at_micros)? {
            LogStart::Front => StreamRange::Oldest,
            LogStart::At(at) => StreamRange::At(at),
            LogStart::After(after) => StreamRange::After(after),
        })
    }

    /// Returns the moment, in microseconds since the Unix epoch, before which changes are too old.
    pub(super) fn stream_horizon_micros(&self) -> u64 {
        let retention = u64::try_from(RETENTION.as_micros()).unwrap_or(u64::MAX);
        self.inner.environment.clock.now_micros().saturating_sub(retention)
    }
}

/// Finds the first change of a shard that is not older than a moment, by halves: times rise with
/// positions, as far as the clock does.
fn first_since(snapshot: &dyn Snapshot, state: &StreamShardState, moment: u64) -> Result<LogStart> {
    let log = state.log.id;
    let at = |commit| LogStart::At(ChangePosition { commit, position: 0 });
    let found = |start| log_end(snapshot, log, start, Direction::Ascending);
    let mut low = state.first.commit;
    if found(LogStart::Front)?.is_none_or(|(_, at_micros)| at_micros >= moment) {
        return Ok(LogStart::Front);
    }
    let last = log_end(snapshot, log, LogStart::Front, Direction::Descending)?;
    let mut high = last.map_or(low, |(last, _)| last.commit).saturating_add(1);
    // The first change of commit `low` or later may be older; from `high` on none is.
    while low < high {
        let middle = low + (high - low) / 2;
        match found(at(middle))? {
            Some((position, at_micros)) if at_micros < moment => low = position.commit + 1,
            _ => high = middle,
        }
    }
    Ok(at(low))
}
