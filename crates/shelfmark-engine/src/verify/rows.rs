//! The rows of a table, and what follows from each of them.

use shelfmark_model::{IndexKind, IndexState, Item, Key};
use shelfmark_store::{KeyRange, Snapshot};

use super::walk::{Found, Walk};
use super::{Checker, damage};
use crate::catalogue::{Index, Table};
use crate::codec::Head;
use crate::error::{Error, Result};
use crate::read::{RawRow, View as _, chunk_key, read_row};
use crate::shards::{self, Place, ShardMap, Sum, counted, items, map_of, stored_bytes};
use crate::write::{due_key_of, entry_record, partition_count_key, table_count_key};

/// The partition that rows are being counted in.
struct Counting {
    key: Key,
    place: Place,
    map: ShardMap,
    /// Rows of each shard, and their bytes.
    rows: Vec<Sum>,
}

/// A row that could be read.
pub(crate) struct Sound<'r> {
    pub(crate) row: &'r RawRow,
    item: Item,
    pub(crate) key: Key,
    pub(crate) expires_at: Option<u64>,
}

fn place(table: &Table) -> String {
    format!("rows of {}", table.schema.name)
}

impl Checker {
    pub(super) fn rows(&mut self, table: &Table) -> Result<()> {
        let mut walk = Walk::over(KeyRange::prefix(table.key.prefix.clone()));
        let mut counting: Option<Counting> = None;
        let (mut all, mut was_damaged) = (0, false);
        while let Some(found) = walk.next_row(&self.moment)? {
            let row = match found {
                Found::Row(row) => row,
                Found::Damage(key, why) => {
                    (was_damaged, counting) = (true, None);
                    self.out.add(place(table), &key, why);
                    continue;
                }
            };
            self.out.rows += 1;
            all += 1;
            match damage(sound(table, &row))? {
                Ok(sound) => {
                    if !row.chunks.is_empty() && !table.has_chunks() {
                        let why = "it has chunks, and its table does not know of any";
                        self.out.add(place(table), &row.key, why);
                    }
                    self.follows(table, &sound)?;
                    // What cannot be read cannot be counted: the damage has been told.
                    if table.counts_exactly() && !was_damaged {
                        counting = self.count(table, counting, &sound)?;
                    }
                }
                Err(why) => {
                    (was_damaged, counting) = (true, None);
                    self.out.add(place(table), &row.key, why);
                }
            }
        }
        if table.counts_exactly() && !was_damaged {
            self.counted(table, counting)?;
            let key = table_count_key(table.id);
            let kept = self.kept(|snapshot| counted(snapshot, &key))?;
            if let Some(kept) = kept.filter(|kept| *kept != all) {
                let why = format!("the table has {all} rows, its count says {kept}");
                self.out.add(place(table), &key, why);
            }
        }
        Ok(())
    }

    /// Checks what follows from a row: its entries, and its place in the queue of due times.
    fn follows(&mut self, table: &Table, sound: &Sound<'_>) -> Result<()> {
        for index in &table.indexes {
            if let Err(why) = damage(self.has_entry(table, index, sound))? {
                let place = format!("index {} of {}", index.schema.name, table.schema.name);
                self.out.add(place, &sound.row.key, why);
            }
        }
        if let (Some(second), Some(_)) = (sound.expires_at, &table.schema.options.ttl)
            // What is due already may have been looked at by the sweep, and left where it is.
            && second > self.now
        {
            let due = due_key_of(table, &sound.row.key, second);
            if !self.is_there(&due)? {
                self.out.add(place(table), &sound.row.key, "it expires and is not in the queue");
            }
        }
        Ok(())
    }

    fn has_entry(&self, table: &Table, index: &Index, sound: &Sound<'_>) -> Result<()> {
        // A unique key of an expired item is free; an index being built has some entries.
        let is_free =
            index.schema.kind == IndexKind::Unique && table.hides(sound.expires_at, self.now);
        if index.schema.state != IndexState::Public || is_free {
            return Ok(());
        }
        let Some(key) = index.entry_key(table, &sound.key, &sound.item)? else {
            return Ok(());
        };
        let Some(entry) = read_row(&self.moment, &key)? else {
            return Err(Error::corrupt("a row has no entry"));
        };
        // Whether entries tell the expiry depended on the table's settings when it was written.
        let fits = [sound.expires_at, None].into_iter().any(|expires_at| {
            let wanted = entry_record(table, index, &sound.item, expires_at);
            (wanted.head, wanted.chunks) == (entry.head.clone(), entry.chunks.clone())
        });
        if fits { Ok(()) } else { Err(Error::corrupt("the entry of a row says something else")) }
    }

    /// Counts a row in its partition and shard; the partition before it has ended.
    fn count(
        &mut self,
        table: &Table,
        counting: Option<Counting>,
        sound: &Sound<'_>,
    ) -> Result<Option<Counting>> {
        let mut counting = match counting {
            Some(counting) if sound.row.key.starts_with(&counting.place.rows) => counting,
            ended => {
                self.counted(table, ended)?;
                let place = Place::of(table, &sound.key.partition)?;
                let Some(map) = self.kept(|snapshot| map_of(snapshot, &place))? else {
                    return Ok(None);
                };
                let rows = vec![Sum::default(); map.entries.len()];
                Counting { key: sound.key.clone(), place, map, rows }
            }
        };
        let shard = counting.map.place_of(counting.place.sort_of(&sound.row.key));
        if let Some(rows) = counting.rows.get_mut(shard) {
            let bytes = stored_bytes(&sound.row.key, &sound.row.head, &sound.row.chunks);
            rows.rows += 1;
            rows.bytes += bytes.unsigned_abs();
        }
        Ok(Some(counting))
    }

    /// Compares the rows of a partition with its counts.
    fn counted(&mut self, table: &Table, counting: Option<Counting>) -> Result<()> {
        let Some(Counting { key, place: of, map, rows }) = counting else { return Ok(()) };
        let partition = &key.partition;
        let count_key = partition_count_key(table, partition)?;
        let all: u64 = rows.iter().map(|shard| shard.rows).sum();
        let kept = self.kept(|snapshot| counted(snapshot, &count_key))?;
        if let Some(kept) = kept.filter(|kept| *kept != all) {
            let why = format!("the partition has {all} rows, its count says {kept}");
            self.out.add(place(table), &count_key, why);
        }
        for (number, Sum { rows, bytes }) in rows.into_iter().enumerate() {
            let kept =
                self.kept(|snapshot| items(snapshot, table, &of, partition, &map, number))?;
            if let Some(kept) = kept.filter(|kept| *kept != rows && map.entries.len() > 1) {
                let why = format!("shard {number} has {rows} rows, its count says {kept}");
                self.out.add(place(table), &of.map_key(), why);
            }
            if !table.knows_bytes() {
                continue;
            }
            let kept = self.kept(|snapshot| shards::bytes(snapshot, &of, &map, number))?;
            if let Some(kept) = kept.filter(|kept| *kept != bytes) {
                let why = format!("shard {number} has {bytes} bytes, its count says {kept}");
                self.out.add(place(table), &of.map_key(), why);
            }
        }
        Ok(())
    }
}

impl Checker {
    /// Returns what was kept of counts; `None` if it is damaged, which is told where counters are.
    fn kept<T>(&self, read: impl Fn(&dyn Snapshot) -> Result<T>) -> Result<Option<T>> {
        Ok(damage(self.moment.with(read))?.ok())
    }

    /// Returns when a row expires, for a due time that leads to it.
    pub(super) fn expiry_of(&self, row_key: &[u8]) -> Result<Option<u64>> {
        match self.moment.get(&chunk_key(row_key, 0))? {
            Some(head) => Ok(Head::parse(&head)?.expires_at),
            None => Ok(None),
        }
    }
}

/// Reads a row, and looks whether it lies where its key says.
///
/// # Errors
///
/// * `Corrupt`: it cannot be read, or does not.
pub(crate) fn sound<'r>(table: &Table, row: &'r RawRow) -> Result<Sound<'r>> {
    let item = table.decode_whole(row)?;
    let key = table.key_of(&item)?;
    if table.key.row_key(&key)? != *row.key {
        return Err(Error::corrupt("a row lies at another key than its own"));
    }
    let expires_at = Head::parse(&row.head)?.expires_at;
    Ok(Sound { row, item, key, expires_at })
}
