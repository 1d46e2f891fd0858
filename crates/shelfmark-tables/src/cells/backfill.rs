//! The backfill of indexes and views of cells: which entries, and which row of a view, a row gets.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::{IndexState, TableName, TableSchema};
use shelfmark_records::cells::{CellRow, CellsLayout, IndexLayout};
use shelfmark_records::cells::{entries, entry_value, view_row};

use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Backfill, Chunk, RawRow, backfill, patiently, put_stored};
use crate::tables::Tables;

/// The target of a backfill: an index or a view.
#[derive(Clone, Copy)]
enum Filled<'a> {
    Index(&'a IndexLayout),
    View(&'a Table),
}

struct CellsBackfill<'a> {
    tables: &'a Tables,
    base: &'a Table,
    layout: &'a CellsLayout,
    filled: Filled<'a>,
}

/// Builds what a table of cells has to be built: its indexes, or the table itself if it is a view.
pub(crate) fn resume(tables: &Tables, name: &TableName) -> Result<()> {
    let table = tables.catalogue.table(name)?;
    let layout = table.cells()?;
    if let Some(view) = &layout.view_of
        && view.state == IndexState::Building
    {
        let base = tables.catalogue.table(&view.base)?;
        // What was deleted need not be entered only to be removed again.
        patiently(|| tables.purge_ranges(&base))?;
        build(tables, &base, Filled::View(&table))?;
        set_state(tables, name, |schema| {
            let view = schema.cells.as_mut().and_then(|cells| cells.view_of.as_mut());
            view.map(|view| &mut view.state)
        })?;
    }
    for index in &layout.indexes {
        if index.schema.state == IndexState::Building {
            build(tables, &table, Filled::Index(index))?;
            set_state(tables, name, |schema| {
                let cells = schema.cells.as_mut()?;
                let own = cells.indexes.iter_mut().find(|own| own.name == index.schema.name);
                own.map(|own| &mut own.state)
            })?;
        }
    }
    Ok(())
}

fn set_state(
    tables: &Tables,
    name: &TableName,
    find: impl Fn(&mut TableSchema) -> Option<&mut IndexState>,
) -> Result<()> {
    patiently(|| {
        tables.catalogue.alter(name, |schema| match find(schema) {
            Some(state) => {
                *state = IndexState::Public;
                Ok(())
            }
            None => Err(gone(name)),
        })
    })
    .map(drop)
}

fn gone(name: &TableName) -> Error {
    Error::new(ErrorKind::NotFound, format!("what was built of table {name} was dropped"))
}

fn build(tables: &Tables, base: &Table, filled: Filled<'_>) -> Result<()> {
    backfill(tables, &CellsBackfill { tables, base, layout: base.cells()?, filled })
}

impl Backfill for CellsBackfill<'_> {
    fn rows_prefix(&self) -> Bytes {
        self.layout.keys.prefix.clone()
    }

    fn enter(&self, chunk: &Chunk, row: &RawRow) -> Result<()> {
        chunk.validate(row);
        let place = self.layout.keys.parse(&row.key)?;
        let row = CellRow::decode(&row.head, &row.chunks)?;
        match self.filled {
            Filled::Index(index) => {
                for (key, ends) in entries(self.layout, index, &place, &row)? {
                    chunk.put(key, entry_value(ends));
                }
            }
            Filled::View(view) => {
                if let Some((key, row)) = view_row(self.layout, view.cells()?, &place, &row)? {
                    let mut buffer = chunk.buffer.borrow_mut();
                    put_stored(&mut buffer, &key, &[], Some(row.encode()), true);
                }
            }
        }
        Ok(())
    }

    fn current(&self) -> Result<Arc<Table>> {
        let name = &self.base.schema.name;
        let current = self.tables.catalogue.table(name)?;
        let is_there = match self.filled {
            Filled::Index(index) => {
                current.cells()?.indexes.iter().any(|own| own.prefix == index.prefix)
            }
            Filled::View(view) => {
                let name = &view.schema.name;
                let is_kept =
                    current.schema.cells.as_ref().is_some_and(|cells| cells.views.contains(name));
                is_kept && self.tables.catalogue.table(name).is_ok_and(|own| own.id == view.id)
            }
        };
        if current.id == self.base.id && is_there { Ok(current) } else { Err(gone(name)) }
    }
}
