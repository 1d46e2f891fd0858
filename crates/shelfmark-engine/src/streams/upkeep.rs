//! Keeps change streams in shape: follows shards that are old or busy by new ones, closes those whose
//! table is gone, and drops those of which everything is too old.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_model::{ChangeStream, OpenShard, StreamShard, TableName};
use shelfmark_store::Direction;
use shelfmark_tables::catalogue::{CatalogueChange, Owner, Table};
use shelfmark_tables::items::{LogStart, log_end};
use shelfmark_tables::streams::{STREAMS_NAMESPACE, log_name};
use shelfmark_tables::{ErrorKind, Result};

use super::SHARD_AGE_MAX;
use super::open::{check_same, closing, log_schema, open};
use crate::engine::Engine;

/// Time between two looks at the age of shards.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Time over which the changes of a shard are counted before it is split.
const LOAD_OVER: Duration = Duration::from_secs(10);

/// Changes a second above which a shard is split. Source: what a partition of the service takes.
const SHARD_CHANGES_PER_SECOND_MAX: u64 = 1_000;

/// Open shards of a stream from which on none is split.
const OPEN_SHARDS_MAX: usize = 16;

/// The times of the last looks at streams. Begins anew with the process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamKeeper {
    looked_at_micros: u64,
    counted_at_micros: u64,
}

impl StreamKeeper {
    /// Returns the time since `last`, if it is at least `period`; `last` becomes now.
    fn is_due(last: &mut u64, now: u64, period: Duration) -> Option<Duration> {
        // A clock that stepped back counts from there.
        let since = Duration::from_micros(now.saturating_sub(*last));
        if since < period && *last <= now {
            return None;
        }
        *last = now;
        Some(since)
    }
}

impl Engine {
    /// Does what is due for change streams, and returns how many shards were opened, closed or
    /// dropped. To be called every second or so; an [`crate::Upkeep`] does.
    ///
    /// Cost: mostly nothing; once a minute two reads for each shard.
    ///
    /// # Errors
    ///
    /// * Those of the store; call again later. What concerns one stream does not keep the others.
    pub fn keep_streams(&self, keeper: &mut StreamKeeper) -> Result<usize> {
        let now = self.inner.environment.clock.now_micros();
        let mut done = 0;
        let mut outcome = Ok(());
        let mut count = |result: Result<bool>| match result {
            Ok(is_done) => done += usize::from(is_done),
            // Others changed the stream meanwhile; it is looked at again.
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => outcome = Err(error),
        };
        if let Some(over) = StreamKeeper::is_due(&mut keeper.counted_at_micros, now, LOAD_OVER) {
            for table in self.inner.catalogue.loaded() {
                if table.schema.options.stream.is_some() {
                    count(self.split_busy(&table, over));
                }
            }
        }
        if StreamKeeper::is_due(&mut keeper.looked_at_micros, now, LOOK_EVERY).is_some() {
            let catalogue = &self.inner.catalogue;
            for log in catalogue.names(Some(STREAMS_NAMESPACE), None, usize::MAX)? {
                count(self.keep_shard(&log, now));
            }
        }
        outcome.map(|()| done)
    }

    /// Splits the busiest shard of a table's stream, if it is too busy.
    fn split_busy(&self, table: &Arc<Table>, over: Duration) -> Result<bool> {
        let counts = table.take_stream_load();
        let Some(stream) = table.schema.options.stream.as_deref() else { return Ok(false) };
        let most = SHARD_CHANGES_PER_SECOND_MAX.saturating_mul(over.as_secs().max(1));
        let busiest = counts.iter().enumerate().max_by_key(|(_, count)| **count);
        let Some((place, _)) = busiest.filter(|(_, count)| **count > most) else {
            return Ok(false);
        };
        match stream.shards.get(place) {
            Some(shard) if stream.shards.len() < OPEN_SHARDS_MAX => {
                self.follow_shard(&table.schema.name, shard.number, true)
            }
            _ => Ok(false),
        }
    }

    /// Looks at one shard: too old as a whole, without a table, or due to be followed by a new one.
    fn keep_shard(&self, log: &TableName, now: u64) -> Result<bool> {
        let Some((table, shard)) = self.shard_of(log)? else { return Ok(false) };
        if let Some(closed) = shard.closed_at_micros {
            let is_over = closed < self.stream_horizon_micros();
            if is_over {
                self.inner.catalogue.drop_table(log, Owner::Engine)?;
            }
            return Ok(is_over);
        }
        let base = TableName::new(&shard.namespace, &shard.table);
        let is_listed = match self.inner.catalogue.table(&base) {
            Ok(base) => {
                let stream = base.schema.options.stream.as_ref();
                stream.is_some_and(|own| own.shards.iter().any(|open| open.log == table.id))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if !is_listed {
            // Nothing is written to it any more.
            self.inner.catalogue.apply(vec![closing(log.clone(), now)], Owner::Engine)?;
            return Ok(true);
        }
        let age = Duration::from_micros(now.saturating_sub(shard.opened_at_micros));
        if age < SHARD_AGE_MAX {
            return Ok(false);
        }
        let snapshot = self.inner.store.snapshot()?;
        let end = |direction| log_end(&*snapshot, table.id, LogStart::Front, direction);
        let (first, last) = (end(Direction::Ascending)?, end(Direction::Descending)?);
        let is_empty = first.map(|(first, _)| first) == last.map(|(last, _)| last);
        if is_empty { Ok(false) } else { self.follow_shard(&base, shard.number, false) }
    }

    /// Closes a shard of a table's stream and opens the one that follows it, or two that share its
    /// tokens. Tells whether there was such a shard.
    ///
    /// The gate of the table is held meanwhile, so that what was written before is in the old shard
    /// and what is written behind is in the new ones.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Conflict`]: the stream changed meanwhile.
    pub fn follow_shard(&self, name: &TableName, number: u64, splits: bool) -> Result<bool> {
        let table = self.inner.catalogue.table(name)?;
        let Some(before) = table.schema.options.stream.as_deref().cloned() else {
            return Ok(false);
        };
        let Some(place) = before.shards.iter().position(|shard| shard.number == number) else {
            return Ok(false);
        };
        let parent_log = log_name(name, &before.label, number);
        let Some((_, parent)) = self.shard_of(&parent_log)? else { return Ok(false) };
        let now = self.inner.environment.clock.now_micros();
        let children = children(&before, place, &parent, splits, now);
        let mut after = before.clone();
        after.shards.splice(place..=place, children.iter().map(open));
        let mut changes = vec![closing(parent_log, now)];
        for child in children {
            changes.push(CatalogueChange::CreateTable(log_schema(&table.schema, child)));
        }
        changes.push(CatalogueChange::AlterTable(
            name.clone(),
            Box::new(move |schema| {
                check_same(schema, &before)?;
                schema.options.stream = Some(Box::new(after.clone()));
                Ok(())
            }),
        ));
        self.apply_to(name, changes).map(|_| true)
    }
}

/// Returns the shards that follow the open one at `place`.
fn children(
    stream: &ChangeStream,
    place: usize,
    parent: &StreamShard,
    splits: bool,
    now_micros: u64,
) -> Vec<StreamShard> {
    let greatest = stream.shards.iter().map(|shard| shard.number).max().unwrap_or_default();
    let end = stream.shards.get(place + 1).map_or(u64::MAX, |next: &OpenShard| next.first_token);
    let middle = parent.first_token + (end - parent.first_token) / 2;
    let is_splittable = splits && middle > parent.first_token;
    let firsts = std::iter::once(parent.first_token).chain(is_splittable.then_some(middle));
    firsts
        .zip(greatest + 1..)
        .map(|(first_token, number)| StreamShard {
            number,
            parent: Some(parent.number),
            first_token,
            opened_at_micros: now_micros,
            closed_at_micros: None,
            ..parent.clone()
        })
        .collect()
}
