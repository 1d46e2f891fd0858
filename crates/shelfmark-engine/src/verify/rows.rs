//! The rows of a table, the entries that follow from them, and the entries' way back.
//!
//! Written once for all kinds of rows; what a kind checks besides is in `items` and `cells`.

use shelfmark_records::items::Stored;
use shelfmark_store::KeyRange;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{Entry, Found, RawRow, RowKind, Walk, damage, read_row};
use shelfmark_tables::{Error, Result};

use super::Checker;

/// Names the rows of a table in findings.
pub(super) fn place_of_rows(table: &Table) -> String {
    format!("rows of {}", table.schema.name)
}

impl Checker {
    /// Checks every row of a table, and that its entries are there. `besides` is told of each row that
    /// could be read, and with `None` of damage.
    pub(super) fn rows<K: RowKind>(
        &mut self,
        kind: &K,
        mut besides: impl FnMut(&mut Self, Option<(&RawRow, &K::Row)>) -> Result<()>,
    ) -> Result<()> {
        let mut walk = Walk::over(KeyRange::prefix(kind.rows_prefix()));
        while let Some(found) = walk.next_of(&self.moment, kind)? {
            if let Found::Row(raw, row) = &found {
                self.out.rows += u64::from(kind.is_row(row));
                self.follows(kind, raw, row)?;
                besides(self, Some((raw, row)))?;
            } else if let Some((key, why)) = found.damage() {
                self.out.add(place_of_rows(kind.table()), key, why);
                besides(self, None)?;
            }
        }
        Ok(())
    }

    /// Checks that a row has its entries in all complete indexes.
    fn follows<K: RowKind>(&mut self, kind: &K, raw: &RawRow, row: &K::Row) -> Result<()> {
        for (at, index) in kind.indexes().iter().enumerate().filter(|(_, own)| own.is_complete) {
            if let Err(why) = damage(self.has_entries(kind, row, at))? {
                let place = format!("index {} of {}", index.name, kind.table().schema.name);
                self.out.add(place, &raw.key, why);
            }
        }
        Ok(())
    }

    fn has_entries<K: RowKind>(&self, kind: &K, row: &K::Row, at: usize) -> Result<()> {
        for Entry { key, records, .. } in
            kind.entries(row, at)?.into_iter().filter(|entry| entry.is_required)
        {
            let Some(found) = read_row(&self.moment, &key)? else {
                return Err(Error::corrupt("it has no entry in an index"));
            };
            let fits = |own: &Stored| own.head == found.head && own.chunks == found.chunks;
            if !records.iter().any(fits) {
                return Err(Error::corrupt("its entry in an index says something else"));
            }
        }
        Ok(())
    }

    /// Checks that every entry of the indexes of a table leads to a row that has it.
    pub(super) fn entries<K: RowKind>(&mut self, kind: &K) -> Result<()> {
        for (at, index) in kind.indexes().iter().enumerate() {
            let place = format!("index {} of {}", index.name, kind.table().schema.name);
            let mut walk = Walk::over(KeyRange::prefix(index.prefix.clone()));
            while let Some(found) = walk.next_read(&self.moment, |_| Ok(()))? {
                let Found::Row(entry, ()) = &found else {
                    let (key, why) = found.damage().unwrap_or_default();
                    self.out.add(place.as_str(), key, why);
                    continue;
                };
                self.out.entries += 1;
                if let Err(why) = damage(self.leads_home(kind, at, entry))? {
                    self.out.add(place.as_str(), &entry.key, why);
                }
            }
        }
        Ok(())
    }

    /// Checks that an entry leads to a row, and that the row has this very entry.
    fn leads_home<K: RowKind>(&self, kind: &K, at: usize, entry: &RawRow) -> Result<()> {
        let Some(raw) = read_row(&self.moment, &kind.entry_leads_to(at, entry)?)? else {
            return Err(Error::corrupt("an entry leads to no row"));
        };
        let own = kind.entries(&kind.read(&raw)?, at)?;
        if own.iter().any(|own| *own.key == *entry.key) {
            return Ok(());
        }
        Err(Error::corrupt("an entry leads to a row that has another one"))
    }
}
