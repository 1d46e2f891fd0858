//! Reads a typed table as a table of items: single items, queries, scans, positions.

use std::sync::Arc;

use shelfmark_model::{Condition, Item, Key, Projection, Value};

use super::key::stored_condition;
use super::{ItemsOfTyped, Typed, read_alone};
use crate::catalogue::Table;
use crate::error::{Error, Result};
use crate::items::{self, Get, Got, Query, ResultPage, Scan};
use crate::rows::{Cursor, View};
use crate::tables::Tables;

/// Says what of a page of items is answered.
struct Wanted<'q> {
    filter: Option<&'q Condition>,
    projection: &'q Projection,
    count_only: bool,
}

impl ItemsOfTyped {
    /// Returns the table again if the typed table has another form by now.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: it was dropped.
    pub(crate) fn current(&self, tables: &Tables) -> Result<Option<Arc<Table>>> {
        let current = tables.catalogue.current(&self.0.base)?;
        current.map(|base| Self::table(&base).map(Arc::new)).transpose()
    }

    /// Reads one item over a view.
    pub(crate) fn get(&self, view: &impl View, get: &Get, now: u64) -> Result<Got> {
        let got = items::get(view, &self.0.base, &Get::new(self.stored_key(&get.key)?), now)?;
        let item = got.item.map(|item| self.shown(item)).transpose()?;
        let item = item.map(|item| get.projection.apply(item));
        Ok(Got { item, ..got })
    }

    /// Reads one page of a partition.
    pub(crate) fn query(&self, view: &impl View, query: &Query, now: u64) -> Result<ResultPage> {
        let wanted = Wanted {
            filter: query.filter.as_ref(),
            projection: &query.projection,
            count_only: query.count_only,
        };
        let stored = Query {
            partition: vec![self.0.partition.store(one(&query.partition)?)?],
            sort: stored_condition(&self.0.sort, &query.sort)?,
            filter: None,
            projection: Projection::All,
            count_only: false,
            ..query.clone()
        };
        self.answered(items::query(view, &self.0.base, &stored, now)?, &wanted)
    }

    /// Reads one page of the table.
    pub(crate) fn scan(&self, view: &impl View, scan: &Scan, now: u64) -> Result<ResultPage> {
        let wanted = Wanted {
            filter: scan.filter.as_ref(),
            projection: &scan.projection,
            count_only: scan.count_only,
        };
        let stored =
            Scan { filter: None, projection: Projection::All, count_only: false, ..scan.clone() };
        self.answered(items::scan(view, &self.0.base, &stored, now)?, &wanted)
    }

    fn answered(&self, mut page: ResultPage, wanted: &Wanted<'_>) -> Result<ResultPage> {
        let mut kept = Vec::with_capacity(page.items.len());
        for item in std::mem::take(&mut page.items) {
            let item = self.shown(item)?;
            if wanted.filter.is_none_or(|filter| filter.holds(&item)) {
                kept.push(item);
            }
        }
        page.count = kept.len();
        if let Some(step) = page.report.steps.first_mut() {
            step.rows_returned = page.count as u64;
        }
        if !wanted.count_only {
            page.items = kept.into_iter().map(|item| wanted.projection.apply(item)).collect();
        }
        page.next_key = page.next_key.take().map(|item| self.shown(item)).transpose()?;
        Ok(page)
    }

    /// Returns the key of the row of an item, without chunk.
    pub(crate) fn row_key(&self, key: &Key) -> Result<Vec<u8>> {
        Ok(self.0.base.key.row_key(&self.stored_key(key)?)?)
    }

    /// Returns the key attributes of the position that a cursor stands behind.
    pub(crate) fn position(&self, cursor: &Cursor) -> Result<Item> {
        self.shown(self.0.base.cursor_key(None, cursor)?)
    }

    fn stored_key(&self, key: &Key) -> Result<Key> {
        let Typed { partition, sort, .. } = &self.0;
        if key.sort.len() != sort.len() {
            return Err(Error::invalid("the sort key does not fit the table's"));
        }
        let stored = sort.iter().zip(&key.sort).map(|(part, value)| part.store(value));
        Ok(Key {
            partition: vec![partition.store(one(&key.partition)?)?],
            sort: stored.collect::<Result<_>>()?,
        })
    }

    /// Returns a stored item as it is shown.
    fn shown(&self, item: Item) -> Result<Item> {
        let Typed { partition, sort, .. } = &self.0;
        let (key, mut shown) = self.0.apart(item)?;
        let values = key.partition.into_iter().chain(key.sort);
        for (part, value) in std::iter::once(partition).chain(sort).zip(values) {
            shown.set(part.shown.as_str(), value);
        }
        Ok(shown)
    }
}

fn one(partition: &[Value]) -> Result<&Value> {
    match partition {
        [value] => Ok(value),
        _ => Err(Error::invalid("the partition key has one column")),
    }
}

impl Table {
    /// Refuses to write a table that is another face's to write.
    pub(crate) fn check_written(&self) -> Result<()> {
        match &self.readable {
            None => Ok(()),
            Some(readable) => Err(read_alone(readable.base())),
        }
    }
}
