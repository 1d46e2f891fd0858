//! Tables of cells: rows and statics, entries of indexes, rows of views, tombstones, and when each is due.
//!
//! Invariant that is checked: entries and views follow from the rows as they are stored, whatever the
//! time is; and whatever is to be forgotten some day is in the queue of due times.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::keys::table_key;
use shelfmark_records::cells::CellsLayout;
use shelfmark_records::cells::due::due_key;
use shelfmark_records::cells::tombstones::{HighWater, TombstoneKind};
use shelfmark_records::keys::{Tree, tree_key, tree_range};
use shelfmark_store::Row;
use shelfmark_tables::catalogue::{Table, stored_table};
use shelfmark_tables::cells::{Cells, StoredCells, due_hash, stored_high_water};
use shelfmark_tables::rows::{RawRow, RowKind as _, View as _, Walk, damage, read_row};
use shelfmark_tables::{Error, Result};

use super::Checker;
use super::rows::place_of_rows;

/// A table of cells with what its rows follow from, or what follows from them.
struct Bed<'t> {
    table: &'t Table,
    layout: &'t CellsLayout,
    views: Vec<Table>,
    /// Set for a view whose base is there.
    base: Option<Table>,
    /// `None` if there is none; a damaged one is told of with the tombstones.
    high_water: Option<HighWater>,
}

impl Checker {
    /// Checks a table of cells.
    pub(super) fn cells(&mut self, table: &Arc<Table>) -> Result<()> {
        let layout = table.cells()?;
        let (views, base) = (self.views(table)?, self.base(table)?);
        let high_water = damage(stored_high_water(&self.moment, table.id))?.ok().flatten();
        let bed = Bed { table, layout, views, base, high_water };
        let kind = Cells { table, layout };
        self.rows(&kind, |checker, found| match found {
            Some((raw, row)) => checker.cell_row(&bed, &kind, raw, row),
            None => Ok(()),
        })?;
        self.entries(&kind)?;
        self.tombstones(&bed)?;
        for tree in [Tree::Changes, Tree::Counts, Tree::Shards] {
            self.nothing_in(table, tree, "a table of cells has no counts, changes or shards")?;
        }
        self.cells_tables.insert(table.id, Arc::clone(table));
        Ok(())
    }

    /// Looks for keys of a table in a tree where it has none.
    pub(super) fn nothing_in(&mut self, table: &Table, tree: Tree, why: &str) -> Result<()> {
        if let Some(row) = Walk::over(tree_range(tree, table.id)).next(&self.moment)? {
            self.out.add(format!("table {}", table.schema.name), &row.key, why);
        }
        Ok(())
    }

    /// Returns the views of a table, those that are there.
    fn views(&mut self, table: &Table) -> Result<Vec<Table>> {
        let names: Vec<TableName> =
            table.schema.cells.iter().flat_map(|cells| cells.views.clone()).collect();
        let mut views = Vec::with_capacity(names.len());
        for name in names {
            match self.other(&name)? {
                Some(view) if view.cells().is_ok_and(|layout| layout.is_view()) => views.push(view),
                _ => {
                    let why = format!("its view {name} is not there");
                    self.out.add(format!("table {}", table.schema.name), &table_key(&name), why);
                }
            }
        }
        Ok(views)
    }

    /// Returns the base of a view.
    fn base(&mut self, view: &Table) -> Result<Option<Table>> {
        let schema = view.schema.cells.as_ref().and_then(|cells| cells.view_of.as_ref());
        let Some(schema) = schema else { return Ok(None) };
        let base = self.other(&schema.base)?;
        let knows = |base: &Table| {
            base.schema.cells.as_ref().is_some_and(|own| own.views.contains(&view.schema.name))
        };
        if base.as_ref().is_some_and(knows) {
            return Ok(base);
        }
        let why = format!("its base {} is not there, or knows nothing of it", schema.base);
        let place = format!("view {}", view.schema.name);
        self.out.add(place, &table_key(&schema.base), why);
        Ok(None)
    }

    /// Reads the record of another table; what is wrong with it is told where it is looked at.
    fn other(&self, name: &TableName) -> Result<Option<Table>> {
        let Some(record) = self.moment.get(&table_key(name))? else { return Ok(None) };
        Ok(damage(stored_table(&record))?.ok())
    }

    /// Checks what only a row of cells has: its table's high-water mark, its rows in views, its due time.
    fn cell_row(
        &mut self,
        bed: &Bed<'_>,
        kind: &Cells<'_>,
        raw: &RawRow,
        row: &StoredCells,
    ) -> Result<()> {
        if let Some(high_water) = bed.high_water {
            if row.latest() > Some(high_water.until) {
                let why = "it is later than its table's high-water mark";
                self.out.add(place_of_rows(bed.table), &raw.key, why);
            }
            if !high_water.has_chunks && !raw.chunks.is_empty() {
                let why = "it has several chunks, which its table's high-water mark does not say";
                self.out.add(place_of_rows(bed.table), &raw.key, why);
            }
        }
        if bed.layout.is_view() {
            if let Err(why) = damage(self.view_row_leads_home(bed, raw))? {
                self.out.add(place_of_rows(bed.table), &raw.key, why);
            }
            return Ok(());
        }
        for view in &bed.views {
            if view.cells()?.is_view_complete()
                && let Err(why) = damage(self.is_in_view(bed, view, row))?
            {
                let why = format!("view {}: {why}", view.schema.name);
                self.out.add(place_of_rows(bed.table), &raw.key, why);
            }
        }
        if let Some((second, _)) = kind.due(raw, row) {
            self.is_queued(bed.table, second, &bed.layout.due_of_row(&raw.key))?;
        }
        Ok(())
    }

    fn is_in_view(&self, bed: &Bed<'_>, view: &Table, stored: &StoredCells) -> Result<()> {
        let Some((key, made)) = stored.in_view(bed.layout, view)? else { return Ok(()) };
        match read_row(&self.moment, &key)? {
            Some(row) if row.head == made.head && row.chunks == made.chunks => Ok(()),
            Some(_) => Err(Error::corrupt("its row there says something else")),
            None => Err(Error::corrupt("it has no row there")),
        }
    }

    fn view_row_leads_home(&self, bed: &Bed<'_>, row: &RawRow) -> Result<()> {
        let Some(base) = &bed.base else { return Ok(()) };
        let base_layout = base.cells()?;
        let base_key = bed.layout.view_row_leads_to(base_layout, &row.key)?;
        let Some(found) = read_row(&self.moment, &base_key)? else {
            return Err(Error::corrupt("it follows from a row that is not there"));
        };
        let stored = Cells::of(base)?.read(&found)?;
        match stored.in_view(base_layout, bed.table)? {
            Some((key, _)) if *key == *row.key => Ok(()),
            _ => Err(Error::corrupt("it follows from a row that makes another one")),
        }
    }

    /// Checks the tombstones of a table: that they can be read, that ranges are apart, that none is above
    /// the bound, that each is due some day.
    fn tombstones(&mut self, bed: &Bed<'_>) -> Result<()> {
        let place = format!("tombstones of {}", bed.table.schema.name);
        let prefix = tree_key(Tree::Tombstones, bed.table.id).len();
        let mut walk = Walk::over(tree_range(Tree::Tombstones, bed.table.id));
        let (mut behind, mut latest, mut bound) = ((0, Bytes::new()), None, None);
        while let Some(Row { key, value }) = walk.next(&self.moment)? {
            let rest = key.get(prefix..).unwrap_or_default();
            let tombstone = match damage(bed.layout.tombstone(rest, &value))? {
                Ok(tombstone) => tombstone,
                Err(why) => {
                    self.out.add(place.as_str(), &key, why);
                    continue;
                }
            };
            match tombstone.kind {
                TombstoneKind::Bound => bound = Some(tombstone.timestamp),
                TombstoneKind::Purge | TombstoneKind::HighWater => {}
                TombstoneKind::Range(_) | TombstoneKind::Row => {
                    latest = latest.max(Some(tombstone.timestamp));
                    let (due, second) = bed.layout.due_of_tombstone(rest, tombstone.at_seconds);
                    self.is_queued(bed.table, second, &due)?;
                }
            }
            if let TombstoneKind::Range(level) = tombstone.kind {
                if behind.0 == level && tombstone.range.0 < behind.1 {
                    self.out.add(place.as_str(), &key, "two tombstones concern the same rows");
                }
                behind = (level, tombstone.range.1);
            }
        }
        if latest > bound {
            let why = "a tombstone is later than the bound that writers look at";
            self.out.add(place, &tree_key(Tree::Tombstones, bed.table.id), why);
        }
        Ok(())
    }

    /// Notes what is not due when the table's grace period says. It may be in the queue all the same:
    /// where that period was changed, or a time stayed behind that is looked at in vain.
    fn is_queued(&mut self, table: &Table, second: u64, rest: &[u8]) -> Result<()> {
        if !self.is_there(&due_key(table.id, second, rest))? {
            self.not_queued.insert((table.id, due_hash(rest)));
        }
        Ok(())
    }

    /// Takes note of a due time of a table of cells.
    pub(super) fn cells_due(&mut self, table: &Table, key: &Bytes, rest: &[u8]) -> Result<()> {
        if let Err(why) = damage(table.cells()?.check_due(rest))? {
            self.out.add("the queue of due times", key, why);
        }
        self.not_queued.remove(&(table.id, due_hash(rest)));
        Ok(())
    }

    /// Tells of what is nowhere in the queue, once all of it was looked at.
    pub(super) fn not_queued(&mut self) {
        for (id, table) in &self.cells_tables {
            let lost = self.not_queued.range((*id, 0)..=(*id, u64::MAX)).count();
            if lost > 0 {
                let why =
                    format!("{lost} rows or tombstones are to be forgotten and not in the queue");
                self.out.add(place_of_rows(table), &tree_key(Tree::Rows, *id), why);
            }
        }
    }
}
