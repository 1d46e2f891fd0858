//! Checks what else lies beside the rows: counters, change logs, due times, tokens.

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_records::catalogue::keys::take_table_name;
use shelfmark_records::items::{change_parts, decode_change};
use shelfmark_records::keys::{Tree, tree_key, tree_range};
use shelfmark_records::shards::{Place, ShardMap, section};
use shelfmark_store::{KeyRange, Write as StoreWrite};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{Moment, Walk, damage};

use super::Checker;

/// Bytes of a token's record: hash, second and version; earlier builds wrote no version.
const TOKEN_BYTES: [usize; 2] = [16, 17];

impl Checker {
    /// Checks that counters are counters, and that those of partitions without rows are 0.
    pub(super) fn counters(&mut self, table: &Table) -> Result<()> {
        let place = format!("counts of {}", table.schema.name);
        let mut walk = Walk::over(tree_range(Tree::Counts, table.id));
        while let Some(row) = walk.next(&self.moment)? {
            let Ok(count) = StoreWrite::counter(&row.value) else {
                self.out.add(place.as_str(), &row.key, "no counter");
                continue;
            };
            let prefix = tree_key(Tree::Counts, table.id).len();
            let Some((1, partition)) = row.key.get(prefix..).and_then(<[u8]>::split_first) else {
                continue;
            };
            let rows = [table.key.prefix.as_ref(), partition].concat();
            if count != 0 && Walk::over(KeyRange::prefix(rows)).next(&self.moment)?.is_none() {
                let why = format!("the partition has no rows, its count says {count}");
                self.out.add(place.as_str(), &row.key, why);
            }
        }
        self.shards(table)
    }

    /// Checks that maps of shards and their counters can be read, and that there are no bytes where
    /// there are no rows.
    fn shards(&mut self, table: &Table) -> Result<()> {
        let mut walk = Walk::over(tree_range(Tree::Shards, table.id));
        let place = format!("shards of {}", table.schema.name);
        while let Some(row) = walk.next(&self.moment)? {
            let rest = row.key.get(tree_key(Tree::Shards, table.id).len()..).unwrap_or_default();
            let (kind, name) = rest.split_first().unwrap_or((&u8::MAX, &[]));
            let fits = match *kind {
                section::MAP => ShardMap::decode(&row.value).is_ok(),
                section::ITEMS | section::BYTES => StoreWrite::counter(&row.value).is_ok(),
                section::PASS => name.is_empty() && row.value.len() >= 8,
                _ => false,
            };
            if !fits {
                self.out.add(place.as_str(), &row.key, "neither a shard map nor a counter");
            } else if *kind == section::BYTES && table.knows_bytes() {
                let bytes = StoreWrite::counter(&row.value)?;
                if let Err(why) = damage(self.has_rows(table, name, bytes))? {
                    self.out.add(place.as_str(), &row.key, why);
                }
            }
        }
        Ok(())
    }

    /// Checks that a partition whose shard has `bytes` has rows. `name` is that of the shard.
    fn has_rows(&self, table: &Table, name: &[u8], bytes: i64) -> Result<()> {
        let (partition, _) = table.key.split_partition(name)?;
        let rows = Place::named(table.id, &table.key, Bytes::copy_from_slice(partition)).rows;
        if bytes == 0 || Walk::over(KeyRange::prefix(rows)).next(&self.moment)?.is_some() {
            return Ok(());
        }
        let why = format!("the partition has no rows, its shard has {bytes} bytes");
        Err(shelfmark_tables::Error::corrupt(why))
    }

    /// Checks that every change can be read.
    pub(super) fn changes(&mut self, table: &Table) -> Result<()> {
        let place = format!("change log of {}", table.schema.name);
        let out = &mut self.out;
        each_change(&self.moment, table, |keys, outcome| {
            if let Err(why) = outcome {
                out.add(place.as_str(), keys.last().map_or(&[], |key| key), why);
            } else {
                out.changes += 1;
            }
            Ok(())
        })
    }

    /// Checks that due times can be read, and the rows that they lead to.
    pub(super) fn due_times(&mut self) -> Result<()> {
        const PLACE: &str = "the queue of due times";
        let mut walk = Walk::over(KeyRange::prefix(vec![Tree::Due as u8]));
        while let Some(row) = walk.next(&self.moment)? {
            self.out.due_times += 1;
            let mut rest = row.key.get(9..).unwrap_or_default();
            let (Ok(id), Ok(_)) = (take_ordered_varint(&mut rest), take_table_name(&row.value))
            else {
                self.out.add(PLACE, &row.key, "a due time that cannot be read");
                continue;
            };
            if let Some(table) = self.cells_tables.get(&id).cloned() {
                self.cells_due(&table, &row.key, rest)?;
                continue;
            }
            // One that leads nowhere any more is the sweep's to remove.
            let row_key = [tree_key(Tree::Rows, id).as_slice(), rest].concat();
            if let Err(why) = damage(self.expiry_of(&row_key))? {
                self.out.add(PLACE, &row.key, why);
            }
        }
        Ok(())
    }

    /// Checks that tokens can be read.
    pub(super) fn tokens(&mut self) -> Result<()> {
        let mut walk = Walk::over(KeyRange::prefix(vec![Tree::Tokens as u8]));
        while let Some(row) = walk.next(&self.moment)? {
            self.out.tokens += 1;
            if !TOKEN_BYTES.contains(&row.value.len()) {
                self.out.add("the request tokens", &row.key, "a token that cannot be read");
            }
        }
        Ok(())
    }
}

/// Walks over the changes in the log of a table: of each the keys of its parts, and whether it can be
/// read.
pub(crate) fn each_change(
    moment: &Moment,
    table: &Table,
    mut visit: impl FnMut(&[Bytes], std::result::Result<(), String>) -> Result<()>,
) -> Result<()> {
    const LACKS: &str = "a change lacks parts";
    let prefix = tree_key(Tree::Changes, table.id).len();
    let mut walk = Walk::over(tree_range(Tree::Changes, table.id));
    let (mut keys, mut parts): (Vec<Bytes>, Vec<Bytes>) = (Vec::new(), Vec::new());
    while let Some(row) = walk.next(moment)? {
        // A place without a part's number begins a change.
        let is_first = row.key.len() == prefix + 12;
        if is_first && !keys.is_empty() {
            visit(&keys, Err(LACKS.to_owned()))?;
            (keys, parts) = (Vec::new(), Vec::new());
        }
        let has_begun = is_first || !keys.is_empty();
        keys.push(row.key);
        parts.push(row.value);
        if !has_begun {
            visit(&keys, Err(LACKS.to_owned()))?;
            (keys, parts) = (Vec::new(), Vec::new());
            continue;
        }
        let count = parts.first().map(|first| change_parts(first)).transpose();
        let outcome = match damage(count)? {
            Ok(Some(count)) if count > parts.len() => continue,
            Ok(_) => damage(decode_change(&std::mem::take(&mut parts)))?.map(|_| ()),
            Err(why) => Err(why),
        };
        visit(&keys, outcome)?;
        (keys, parts) = (Vec::new(), Vec::new());
    }
    if keys.is_empty() { Ok(()) } else { visit(&keys, Err(LACKS.to_owned())) }
}
