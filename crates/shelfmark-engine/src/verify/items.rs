//! Tables of items: counts of tables, partitions and shards, and when each item is due.

use shelfmark_model::Key;
use shelfmark_records::items::Head;
use shelfmark_records::keys::{Tree, chunk_key};
use shelfmark_records::shards::{Place, ShardMap};
use shelfmark_store::Snapshot;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{Items, StoredItem, partition_count_key, table_count_key};
use shelfmark_tables::rows::{RawRow, RowKind as _, View as _, damage};
use shelfmark_tables::shards::{self, Sum, counted, items, map_of, stored_bytes};

use super::Checker;
use super::rows::place_of_rows;

/// The partition that rows are being counted in.
struct Counting {
    key: Key,
    place: Place,
    map: ShardMap,
    /// Rows of each shard, and their bytes.
    rows: Vec<Sum>,
}

impl Checker {
    /// Checks a table of items.
    pub(super) fn items(&mut self, table: &Table) -> Result<()> {
        self.nothing_in(table, Tree::Tombstones, "a table of items has no tombstones")?;
        let kind = Items { table, now: self.now };
        let mut counting: Option<Counting> = None;
        let (mut all, mut was_damaged) = (0, false);
        self.rows(&kind, |checker, found| {
            let Some((raw, row)) = found else {
                (was_damaged, counting) = (true, None);
                return Ok(());
            };
            all += 1;
            checker.item(&kind, raw, row)?;
            // What cannot be read cannot be counted: the damage has been told.
            if table.counts_exactly() && !was_damaged {
                counting = checker.count(table, counting.take(), raw, row)?;
            }
            Ok(())
        })?;
        if table.counts_exactly() && !was_damaged {
            self.counted(table, counting)?;
            let key = table_count_key(table.id);
            let kept = self.kept(|snapshot| counted(snapshot, &key))?;
            if let Some(kept) = kept.filter(|kept| *kept != all) {
                let why = format!("the table has {all} rows, its count says {kept}");
                self.out.add(place_of_rows(table), &key, why);
            }
        }
        self.entries(&kind)?;
        self.counters(table)?;
        self.changes(table)
    }

    /// Checks what only an item has: its place in the queue of due times, and its table's flag.
    fn item(&mut self, kind: &Items<'_>, raw: &RawRow, row: &StoredItem) -> Result<()> {
        let table = kind.table;
        if !raw.chunks.is_empty() && !table.has_chunks() {
            let why = "it has chunks, and its table does not know of any";
            self.out.add(place_of_rows(table), &raw.key, why);
        }
        // What is due already may have been looked at by the sweep, and left where it is.
        if let Some((second, due)) = kind.due(raw, row)
            && second > self.now
            && !self.is_there(&due)?
        {
            self.out.add(place_of_rows(table), &raw.key, "it expires and is not in the queue");
        }
        Ok(())
    }

    /// Counts a row in its partition and shard; the partition before it has ended.
    fn count(
        &mut self,
        table: &Table,
        counting: Option<Counting>,
        raw: &RawRow,
        row: &StoredItem,
    ) -> Result<Option<Counting>> {
        let mut counting = match counting {
            Some(counting) if raw.key.starts_with(&counting.place.rows) => counting,
            ended => {
                self.counted(table, ended)?;
                let place = Place::of(table.id, &table.key, &row.key.partition)?;
                let Some(map) = self.kept(|snapshot| map_of(snapshot, &place))? else {
                    return Ok(None);
                };
                let rows = vec![Sum::default(); map.entries.len()];
                Counting { key: row.key.clone(), place, map, rows }
            }
        };
        let shard = counting.map.place_of(counting.place.sort_of(&raw.key));
        if let Some(rows) = counting.rows.get_mut(shard) {
            let bytes = stored_bytes(&raw.key, &raw.head, &raw.chunks);
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
            self.out.add(place_of_rows(table), &count_key, why);
        }
        for (number, Sum { rows, bytes }) in rows.into_iter().enumerate() {
            let kept =
                self.kept(|snapshot| items(snapshot, table, &of, partition, &map, number))?;
            if let Some(kept) = kept.filter(|kept| *kept != rows && map.entries.len() > 1) {
                let why = format!("shard {number} has {rows} rows, its count says {kept}");
                self.out.add(place_of_rows(table), &of.map_key(), why);
            }
            if !table.knows_bytes() {
                continue;
            }
            let kept = self.kept(|snapshot| shards::bytes(snapshot, &of, &map, number))?;
            if let Some(kept) = kept.filter(|kept| *kept != bytes) {
                let why = format!("shard {number} has {bytes} bytes, its count says {kept}");
                self.out.add(place_of_rows(table), &of.map_key(), why);
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
