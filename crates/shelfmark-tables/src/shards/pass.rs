//! Counts the bytes of items that were there before their table counted bytes.
//!
//! Writers count what they change from the moment at which the table asks for it. A pass goes over the
//! partitions in the order of their keys and adds to each counter what it lacks, on one snapshot per
//! partition; additions commute, so writers go on meanwhile. How far a pass has come is in the store:
//! a stop interrupts it, and the next process goes on.
//!
//! What it is not: a split. Partitions that turn out to be too large are looked at afterwards.
//!
//! Invariant: what a partition lacks is added once. Each commit validates how far the pass has come,
//! and the shard map.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::keys::without_chunk;
use shelfmark_store::{Commit, Direction, KeyRange, ScanLimits, Snapshot, Write as StoreWrite};

use super::counters::{bytes, counter, map_of};
use super::rows::{Sum, sum_of};
use super::split::lacking;
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::items::{partition_count_key, table_count_key};
use crate::rows::{commit_chunk, patiently};
use crate::tables::Tables;
use shelfmark_records::shards::range_of;
use shelfmark_records::shards::{Place, section, section_key};

/// The number of times one partition is counted anew because its snapshot became too old or others
/// were in the way; the next call goes on.
const ATTEMPTS_MAX: usize = 16;

/// The commit of a pass for one partition, or at its end.
struct Step {
    /// The partition, with the values of its key; `None` at the end.
    partition: Option<(Bytes, Vec<shelfmark_model::Value>)>,
    commit: Commit,
}

impl Tables {
    /// Goes on counting the bytes of a table's items from before it counted them, up to the end.
    ///
    /// # Errors
    ///
    /// * Those of the store. What was counted stays; call again.
    pub(super) fn count_bytes(&self, table: &Arc<Table>) -> Result<()> {
        let Some(pass) = table.schema.options.shard_pass else { return Ok(()) };
        let mut attempts = 0;
        while attempts < ATTEMPTS_MAX {
            let step = match step(table, pass, self.store.snapshot()?) {
                Err(error) if error.kind() == ErrorKind::TooOld => {
                    attempts += 1;
                    continue;
                }
                step => step?,
            };
            match commit_chunk(self, step.commit, || self.counting(table, pass)) {
                Ok(true) => attempts = 0,
                Ok(false) => {
                    attempts += 1;
                    continue;
                }
                // It was dropped, or counts otherwise by now.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(error),
            }
            match step.partition {
                Some((partition, values)) => table.shared.shards.put_off(partition, values),
                None => return self.end_pass(table, pass),
            }
        }
        Err(Error::new(ErrorKind::Conflict, "bytes could not be counted beside writers; retry"))
    }

    /// Returns the current form of the table while the pass goes on.
    fn counting(&self, table: &Table, pass: u64) -> Result<Arc<Table>> {
        let name = &table.schema.name;
        let current = self.catalogue.table(name)?;
        if current.id != table.id || current.schema.options.shard_pass != Some(pass) {
            return Err(Error::new(ErrorKind::NotFound, format!("the pass over {name} is over")));
        }
        Ok(current)
    }

    fn end_pass(&self, table: &Table, pass: u64) -> Result<()> {
        patiently(|| {
            self.catalogue.alter(&table.schema.name, |schema| {
                if schema.options.shard_pass == Some(pass) {
                    schema.options.shard_pass = None;
                }
                Ok(())
            })
        })
        .map(drop)
    }
}

/// Counts the first partition that the pass has not come to.
fn step(table: &Table, pass: u64, snapshot: Arc<dyn Snapshot>) -> Result<Step> {
    let at = Bytes::from(section_key(table.id, section::PASS));
    let mut rest = KeyRange::prefix(table.key.prefix.clone());
    if let Some(done) = done_up_to(&*snapshot, &at, pass)? {
        let Some(behind) = KeyRange::prefix(Place::named(table.id, &table.key, done).rows).end
        else {
            return Ok(end(at, snapshot));
        };
        rest.start = behind;
    }
    let limits = ScanLimits { rows_max: 1, keys_only: true, ..ScanLimits::default() };
    let page = Snapshot::scan(&*snapshot, &rest, Direction::Ascending, limits)?;
    let Some(first) = page.rows.first() else { return Ok(end(at, snapshot)) };
    let item = table.key_item(without_chunk(&first.key)?)?;
    let values = table.key_of(&item)?.partition;
    let place = Place::of(table.id, &table.key, &values)?;
    let map = map_of(&*snapshot, &place)?;
    let mut writes = Vec::new();
    let mut all = Sum::default();
    for (number, entry) in map.entries.iter().enumerate() {
        let sum = sum_of(&*snapshot, table, range_of(&place, &map, number))?;
        let kept = i64::try_from(bytes(&*snapshot, &place, &map, number)?).unwrap_or(i64::MAX);
        let delta = i64::try_from(sum.bytes).unwrap_or(i64::MAX).saturating_sub(kept);
        writes.push(StoreWrite::Add { key: place.bytes_key(entry.id), delta });
        all.rows += sum.rows;
    }
    // Where items did not count before either, they are counted with their bytes.
    let count_key = partition_count_key(table, &values)?;
    let rows = i64::try_from(all.rows).unwrap_or(i64::MAX);
    let delta = rows.saturating_sub(counter(&*snapshot, &count_key)?);
    writes.push(lacking(&*snapshot, count_key, all.rows)?);
    writes.push(StoreWrite::Add { key: table_count_key(table.id), delta });
    let value = [pass.to_be_bytes().as_slice(), &place.partition].concat();
    writes.push(StoreWrite::Put { key: at.clone(), value: value.into() });
    let validate = vec![at, place.map_key()];
    let commit = Commit { base: Some(snapshot), validate, writes, ..Commit::default() };
    Ok(Step { partition: Some((place.partition, values)), commit })
}

/// Ends a pass, since every partition was counted: how far it had come is forgotten.
fn end(at: Bytes, snapshot: Arc<dyn Snapshot>) -> Step {
    let writes = vec![StoreWrite::Delete { key: at.clone() }];
    let commit = Commit { base: Some(snapshot), validate: vec![at], writes, ..Commit::default() };
    Step { partition: None, commit }
}

/// Returns the last partition that this pass has counted.
fn done_up_to(snapshot: &dyn Snapshot, at: &[u8], pass: u64) -> Result<Option<Bytes>> {
    let Some(value) = snapshot.get(at)? else { return Ok(None) };
    let own = value.split_first_chunk::<8>().filter(|(own, _)| u64::from_be_bytes(**own) == pass);
    Ok(own.map(|_| value.slice(8..)))
}
