//! Splits shards: looks at partitions that grew, and makes the two commits of a split.

use std::sync::{Arc, PoisonError, mpsc};

use bytes::Bytes;
use shelfmark_model::Value;
use shelfmark_store::{Commit, ErrorKind as StoreErrorKind, Snapshot, Write as StoreWrite};

use super::counters::{counter, map_of, read_map, sort_values};
use super::grown::{Held, Limits};
use super::growth::ShardGrowth;
use super::rooms::Look;
use super::rows::sum_of;
use super::state::SplitEvent;
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::tables::Tables;
use shelfmark_records::shards::{Place, ShardMap, halves, range_of};

/// The number of times a partition is looked at again because others changed its map, before that
/// is left to them.
const ATTEMPTS_MAX: usize = 64;

impl Tables {
    /// Splits the shards of one partition that durable writes made too large: those that their answers
    /// name ([`crate::items::Written::grown_shard`]). Returns how many splits were done by this call:
    /// where another thread is splitting the partition it is left to that one.
    ///
    /// # Errors
    ///
    /// * Those of the store. Nothing is lost; call again.
    pub fn split_after(
        &self,
        table: &Arc<Table>,
        partition: &[Value],
        grown: impl IntoIterator<Item = ShardGrowth>,
    ) -> Result<usize> {
        let place = Place::of(table.id, &table.key, partition)?;
        let rooms = &table.shared.shards;
        // Every one is told, also behind the first that is due.
        let due = grown.into_iter().filter(|growth| rooms.committed(&place.partition, *growth));
        if due.count() == 0 {
            return Ok(0);
        }
        self.split_partition(table, &place, partition)
    }

    /// Splits the shards of a table that any writes made too large, if they have been committed
    /// since the call before this one. Returns how many splits were done.
    ///
    /// # Errors
    ///
    /// * As [`Tables::split_after`]; the other partitions are seen to all the same.
    pub fn split_due(&self, table: &Arc<Table>) -> Result<usize> {
        let mut done = 0;
        let mut outcome = self.count_bytes(table);
        // Counting ends with a new form of the table.
        let current = self.catalogue.current(table)?;
        let table = current.as_ref().unwrap_or(table);
        for (_, values) in table.shared.shards.take_due() {
            let place = Place::of(table.id, &table.key, &values)?;
            match self.split_partition(table, &place, &values) {
                Ok(splits) => done += splits,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| done)
    }

    /// Splits as [`Tables::split_due`] does, for every table that was used since the engine was
    /// opened.
    ///
    /// # Errors
    ///
    /// * As [`Tables::split_due`]; the other tables are seen to all the same.
    pub fn split_all_due(&self) -> Result<usize> {
        let mut done = 0;
        let mut outcome = Ok(());
        for table in self.catalogue.loaded() {
            match self.split_due(&table) {
                Ok(splits) => done += splits,
                Err(error) => outcome = Err(error),
            }
        }
        outcome.map(|()| done)
    }

    /// Splits one partition, unless another thread does: that one looks again before it ends.
    fn split_partition(
        &self,
        table: &Arc<Table>,
        place: &Place,
        values: &[Value],
    ) -> Result<usize> {
        let Some(mut turn) = self.shards.turn(table.id, &place.partition) else {
            return Ok(0);
        };
        let mut done = 0;
        loop {
            done += self.split_in_turn(table, place, values)?;
            if !turn.is_wanted_again() {
                return Ok(done);
            }
        }
    }

    /// Splits one partition, and remembers what could not be done.
    fn split_in_turn(&self, table: &Arc<Table>, place: &Place, values: &[Value]) -> Result<usize> {
        let (done, failed) = match self.split_until_small(table, place, values) {
            Ok(Ended { done, refused: None }) => {
                self.shards.succeeded(&table.schema.name, &place.partition);
                return Ok(done);
            }
            Ok(Ended { done, refused: Some(error) }) => (Ok(done), error),
            Err(error) => {
                let text = error.to_string();
                (Err(error), text)
            }
        };
        self.shards.failed(&table.schema.name, &place.partition, values, failed);
        table.shared.shards.put_off(place.partition.clone(), values.to_vec());
        done
    }
}

/// The outcome of the work on one partition.
struct Ended {
    /// Splits that were done.
    done: usize,
    /// The error with which a subscriber refused the next split.
    refused: Option<String>,
}

impl Tables {
    /// Splits one partition until none of its shards is too large, or a subscriber refuses.
    fn split_until_small(
        &self,
        table: &Arc<Table>,
        place: &Place,
        values: &[Value],
    ) -> Result<Ended> {
        if !table.has_shards() {
            return Ok(Ended { done: 0, refused: None });
        }
        let mut done = 0;
        let mut conflicts = 0;
        while conflicts < ATTEMPTS_MAX {
            let map = read_map(&*self.store.snapshot()?, place)?;
            let planned = match map.as_ref().filter(|map| map.split.is_some()) {
                Some(map) => self.end(table, values, place, map)?,
                None => self.begin(table, values, place, map)?,
            };
            let (commit, completes) = match planned {
                Planned::Nothing => return Ok(Ended { done, refused: None }),
                Planned::Refused(error) => return Ok(Ended { done, refused: Some(error) }),
                Planned::Changed => {
                    conflicts += 1;
                    continue;
                }
                Planned::Begin(commit) => {
                    if !table.shared.unsplit.has_ended() {
                        // Whoever has not read the map is queued by then.
                        let gate = table.shared.gate.write();
                        let _gate = gate.unwrap_or_else(PoisonError::into_inner);
                        table.shared.unsplit.end();
                    }
                    (commit, false)
                }
                Planned::End(commit) => (commit, true),
            };
            match self.commit_split(table, commit) {
                Ok(true) if completes => {
                    done += 1;
                    self.shards.ended(table.id, &place.partition);
                }
                Ok(true) => {}
                Ok(false) => conflicts += 1,
                // The table was dropped: nothing is left to split.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Ended { done, refused: None });
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(ErrorKind::Conflict, "others changed the shards every time; retry"))
    }

    /// Plans the first commit: the cut, in the middle of the first shard that is too large.
    fn begin(
        &self,
        table: &Table,
        values: &[Value],
        place: &Place,
        map: Option<ShardMap>,
    ) -> Result<Planned> {
        let map = map.unwrap_or_else(ShardMap::whole);
        let limits = Limits::of(table);
        let rooms = &table.shared.shards;
        let looks: Vec<Look> =
            map.entries.iter().map(|entry| rooms.look(&place.partition, entry.id)).collect();
        let snapshot = self.store.snapshot()?;
        if map_of(&*snapshot, place)? != map {
            return Ok(Planned::Changed);
        }
        for (number, (entry, look)) in map.entries.iter().zip(looks).enumerate() {
            let held = Held::read(&*snapshot, table, place, values, &map, number)?;
            let range = range_of(place, &map, number);
            let row = limits.cut(&*snapshot, table, range, held)?;
            let cut = row.map(|row| Bytes::copy_from_slice(place.sort_of(&row)));
            let Some(cut) = cut.filter(|cut| *cut > entry.start) else {
                rooms.found(&place.partition, entry.id, look, limits.room(held));
                continue;
            };
            let (key, value) = (place.map_key(), map.begin(number, cut).encode());
            return Ok(Planned::Begin(Commit {
                base: Some(snapshot),
                validate: vec![key.clone()],
                writes: vec![StoreWrite::Put { key, value }],
                ..Commit::default()
            }));
        }
        Ok(Planned::Nothing)
    }

    /// Tells the subscribers and plans the second commit.
    fn end(
        &self,
        table: &Table,
        values: &[Value],
        place: &Place,
        map: &ShardMap,
    ) -> Result<Planned> {
        let Some(split) = &map.split else { return Ok(Planned::Changed) };
        let old = map.entries.get(split.place).map_or(0, |entry| entry.id);
        let event = SplitEvent {
            table: table.schema.name.clone(),
            partition: values.to_vec(),
            shard: old,
            left: split.left,
            right: split.right,
            at: sort_values(table, place, &split.cut)?,
        };
        if let Err(error) = self.shards.tell(table.id, &place.partition, &event) {
            return Ok(Planned::Refused(error));
        }
        let snapshot = self.store.snapshot()?;
        if read_map(&*snapshot, place)?.as_ref() != Some(map) {
            return Ok(Planned::Changed);
        }
        let key = place.map_key();
        let mut writes = vec![StoreWrite::Put { key: key.clone(), value: map.end().encode() }];
        for (half, range) in halves(place, map, split) {
            let sum = sum_of(&*snapshot, table, range)?;
            writes.push(lacking(&*snapshot, place.counter_key(half), sum.rows)?);
            if table.counts_bytes() {
                writes.push(lacking(&*snapshot, place.bytes_key(half), sum.bytes)?);
            }
        }
        writes.push(StoreWrite::Delete { key: place.counter_key(old) });
        writes.push(StoreWrite::Delete { key: place.bytes_key(old) });
        Ok(Planned::End(Commit {
            base: Some(snapshot),
            validate: vec![key],
            writes,
            ..Commit::default()
        }))
    }

    /// Commits a part of a split; returns `false` if the map was changed meanwhile.
    fn commit_split(&self, table: &Table, commit: Commit) -> Result<bool> {
        let gate = table.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        let gone = match self.catalogue.table(&table.schema.name) {
            Ok(current) => current.id != table.id,
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(error) => return Err(error),
        };
        if gone {
            return Err(Error::new(ErrorKind::NotFound, "the table was dropped"));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        let queued = self.store.submit(
            commit,
            Box::new(move |outcome| {
                let _ = sender.send(outcome);
            }),
        );
        // Only queueing needs the table's form to stand still.
        drop(gate);
        match queued {
            Ok(_) => {}
            Err(error) => {
                return match error.kind() {
                    StoreErrorKind::Conflict | StoreErrorKind::TooOld => Ok(false),
                    _ => Err(error.into()),
                };
            }
        }
        match receiver.recv() {
            Ok(outcome) => Ok(outcome.map(|_| true)?),
            Err(_) => Err(Error::new(ErrorKind::Undetermined, "a split ended without an answer")),
        }
    }
}

/// The next step for a partition.
enum Planned {
    /// No shard is too large.
    Nothing,
    /// A subscriber failed.
    Refused(String),
    /// The map is not what it was: look again.
    Changed,
    /// The first commit of a split.
    Begin(Commit),
    /// The second.
    End(Commit),
}

/// Adds to a counter what it lacks of what is there at this moment.
pub(super) fn lacking(snapshot: &dyn Snapshot, key: Bytes, is_there: u64) -> Result<StoreWrite> {
    let is_there = i64::try_from(is_there).unwrap_or(i64::MAX);
    let delta = is_there.saturating_sub(counter(snapshot, &key)?);
    Ok(StoreWrite::Add { key, delta })
}
