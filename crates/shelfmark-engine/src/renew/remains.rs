//! Rows of which parts are lost: what is left of them is removed, for every read that meets it would
//! fail.

use bytes::Bytes;
use shelfmark_records::keys::chunk_key;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::rows::{Moment, RawRow, View as _, chunk_count};

use super::pen::Pen;
use super::{Mended, Teller, names};

/// Rows of one table that are named; further ones are counted.
const NAMED_MAX: u64 = 100;

pub(super) struct Remains<'t> {
    table: &'t Table,
    /// The row of which something was removed last.
    last: Option<String>,
    rows: u64,
}

impl<'t> Remains<'t> {
    pub(super) fn of(table: &'t Table) -> Self {
        Self { table, last: None, rows: 0 }
    }

    /// Removes what begins at the key of a head or a chunk.
    pub(super) fn remove(
        &mut self,
        pen: &mut Pen<'_>,
        moment: &Moment,
        key: &Bytes,
        why: &str,
        tell: &mut Teller<'_>,
    ) -> Result<()> {
        pen.delete(key.clone())?;
        // The chunks of a head; a chunk behind a gap comes by itself.
        if let (Some((0, row)), Some(head)) = (key.split_last(), moment.get(key)?) {
            for number in 1..=chunk_count(&head).unwrap_or(0) {
                pen.delete(chunk_key(row, number as u64).into())?;
            }
        }
        self.tell(names::row_of_chunk(self.table, key), why, tell);
        Ok(())
    }

    /// Removes a row that has all its chunks and is none.
    pub(super) fn remove_row(
        &mut self,
        pen: &mut Pen<'_>,
        row: &RawRow,
        why: &str,
        tell: &mut Teller<'_>,
    ) -> Result<()> {
        for number in 0..=row.chunks.len() {
            pen.delete(chunk_key(&row.key, number as u64).into())?;
        }
        self.tell(names::row(self.table, &row.key), why, tell);
        Ok(())
    }

    fn tell(&mut self, name: Option<String>, why: &str, tell: &mut Teller<'_>) {
        let row = name.unwrap_or_else(|| "of an unknown key".to_owned());
        if self.last.as_ref() == Some(&row) {
            return;
        }
        self.rows += 1;
        if self.rows <= NAMED_MAX {
            let table = self.table.schema.name.clone();
            tell(Mended::RowRemoved { table, row: row.clone(), why: why.to_owned() });
        }
        self.last = Some(row);
    }

    /// Tells how many were not named.
    pub(super) fn end(self, tell: &mut Teller<'_>) {
        if self.rows > NAMED_MAX {
            let table = self.table.schema.name.clone();
            tell(Mended::RowsRemoved { table, more: self.rows - NAMED_MAX });
        }
    }
}
