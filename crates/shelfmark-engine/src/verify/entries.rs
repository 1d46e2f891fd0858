//! The entries of an index: each leads to a row that has it.

use shelfmark_store::KeyRange;

use super::walk::{Found, Walk};
use super::{Checker, damage};
use crate::catalogue::{Index, Table};
use crate::error::{Error, Result};
use crate::read::{RawRow, read_row};

impl Checker {
    pub(super) fn entries(&mut self, table: &Table, index: &Index) -> Result<()> {
        let place = format!("index {} of {}", index.schema.name, table.schema.name);
        let mut walk = Walk::over(KeyRange::prefix(index.key.prefix.clone()));
        while let Some(found) = walk.next_row(&self.moment)? {
            let row = match found {
                Found::Row(row) => row,
                Found::Damage(key, why) => {
                    self.out.add(place.as_str(), &key, why);
                    continue;
                }
            };
            self.out.entries += 1;
            if let Err(why) = damage(self.leads_home(table, index, &row))? {
                self.out.add(place.as_str(), &row.key, why);
            }
        }
        Ok(())
    }

    /// Checks that an entry leads to a row, and that the row has this very entry.
    fn leads_home(&self, table: &Table, index: &Index, entry: &RawRow) -> Result<()> {
        let item = index.entry_item(entry)?;
        let base_key = table.key_of(&item)?;
        let row_key = table.key.row_key(&base_key)?;
        let Some(row) = read_row(&self.moment, &row_key)? else {
            return Err(Error::corrupt("an entry leads to no row"));
        };
        let item = table.decode_whole(&row)?;
        let own = index.entry_key(table, &base_key, &item)?;
        if own.as_deref() == Some(&entry.key) {
            return Ok(());
        }
        Err(Error::corrupt("an entry leads to a row that has another one"))
    }
}
