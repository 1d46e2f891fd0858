//! Reads with the current form of a table, of whichever kind its rows are.
//!
//! What it is not: what a read looks at and answers. That is the kind's, or, where a face reads
//! another one's table, `shared`'s.
//!
//! Invariant: a form that was retired while it was read with answers nothing.

use std::sync::Arc;

use shelfmark_store::{Result as StoreResult, Snapshot, Store};

use crate::catalogue::Table;
use crate::error::{ErrorKind, Result};
use crate::items::{self, Get, Got, Query, ResultPage, Scan};
use crate::report::AccessReport;
use crate::rows::View;
use crate::tables::Tables;

impl Tables {
    /// Reads one item.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the key does not fit the table.
    /// * [`ErrorKind::NotFound`]: the table was dropped.
    pub fn get(&self, table: &Table, get: &Get) -> Result<Got> {
        self.reading_row(table, |view, table| self.get_over(&view, table, get, self.now()))
    }

    /// Reads items of several tables at one moment, in order, and has `tell` told of each.
    ///
    /// # Errors
    ///
    /// * As [`Tables::get`].
    pub fn get_many(
        &self,
        gets: &[(Arc<Table>, Get)],
        mut tell: impl FnMut(&AccessReport),
    ) -> Result<Vec<Got>> {
        let now = self.now();
        let current: Vec<Arc<Table>> = gets
            .iter()
            .map(|(table, _)| Ok(self.current(table)?.unwrap_or(Arc::clone(table))))
            .collect::<Result<_>>()?;
        let snapshot = self.store.snapshot()?;
        if !self.is_alone {
            let heads = current.iter().zip(gets).filter_map(|(table, (_, get))| get.head(table));
            snapshot.preload(&heads.collect::<Vec<_>>())?;
        }
        current
            .iter()
            .zip(gets)
            .map(|(table, (_, get))| {
                let got = self.get_over(&&*snapshot, table, get, now)?;
                tell(&got.report);
                Ok(got)
            })
            .collect()
    }

    /// Reads one page of a partition of a table or index. One page sees one moment.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: the key or condition does not fit, the cursor is foreign, the limit is
    ///   0, or the index is still being built.
    /// * [`ErrorKind::NotFound`]: there is no such index.
    pub fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        self.reading(table, |view, table| self.query_over(&view, table, query, self.now()))
    }

    /// Reads one page of a whole table or index, in key order. One page sees one moment.
    ///
    /// # Errors
    ///
    /// * As [`Tables::query`].
    pub fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        self.reading(table, |view, table| self.scan_over(&view, table, scan, self.now()))
    }

    /// Reads with the current form of a table, whichever form the caller has. A form that was retired
    /// while it was read with may have lost an index, or all its keys, so the read is done again.
    pub(crate) fn reading<T>(
        &self,
        table: &Table,
        read: impl FnMut(&dyn Snapshot, &Table) -> Result<T>,
    ) -> Result<T> {
        self.reading_of(table, |store| store.snapshot(), read)
    }

    /// Reads as [`Tables::reading`] what is most often one key, for which a store may need no moment.
    pub(crate) fn reading_row<T>(
        &self,
        table: &Table,
        mut read: impl FnMut(&dyn Snapshot, &Table) -> Result<T>,
    ) -> Result<T> {
        match self.reading_of(table, |store| store.snapshot_at_first_read(), &mut read) {
            Err(error) if error.kind() == ErrorKind::TooOld && !self.is_alone => {
                self.reading(table, read)
            }
            ended => ended,
        }
    }

    fn reading_of<T>(
        &self,
        table: &Table,
        take: impl Fn(&dyn Store) -> StoreResult<Arc<dyn Snapshot>>,
        mut read: impl FnMut(&dyn Snapshot, &Table) -> Result<T>,
    ) -> Result<T> {
        loop {
            // The form comes first: an index is complete at every moment after it became public.
            let current = self.current(table)?;
            let form = current.as_deref().unwrap_or(table);
            let snapshot = take(&*self.store)?;
            let answer = read(&*snapshot, form);
            if !form.is_retired() {
                return answer;
            }
        }
    }

    /// Returns the form that has taken over from a table, if one has.
    pub(crate) fn current(&self, table: &Table) -> Result<Option<Arc<Table>>> {
        match (&table.mapped, &table.items, &table.readable) {
            (Some(mapping), ..) => mapping.current(self),
            (None, Some(mapping), _) => mapping.current(self),
            (None, None, Some(readable)) => readable.current(self),
            (None, None, None) => self.catalogue.current(table),
        }
    }

    /// Reads an item of a table, or of one that is used as a table of items, over a view.
    ///
    /// # Errors
    ///
    /// * As [`Tables::get`].
    pub fn get_over(&self, view: &impl View, table: &Table, get: &Get, now: u64) -> Result<Got> {
        match (&table.mapped, &table.readable) {
            (Some(mapping), _) => mapping.get(self, view, get, now),
            (None, Some(readable)) => readable.get(view, get, now),
            (None, None) => items::get(view, table, get, now),
        }
    }

    /// Reads a page of a partition over a view, of the same tables as [`Tables::get_over`].
    ///
    /// # Errors
    ///
    /// * As [`Tables::query`].
    pub fn query_over(
        &self,
        view: &impl View,
        table: &Table,
        query: &Query,
        now: u64,
    ) -> Result<ResultPage> {
        match (&table.mapped, &table.readable) {
            (Some(mapping), _) => mapping.query(self, view, query, now),
            (None, Some(readable)) => readable.query(view, query, now),
            (None, None) => items::query(view, table, query, now),
        }
    }

    /// Reads a page of a table over a view, of the same tables as [`Tables::get_over`].
    ///
    /// # Errors
    ///
    /// * As [`Tables::scan`].
    pub fn scan_over(
        &self,
        view: &impl View,
        table: &Table,
        scan: &Scan,
        now: u64,
    ) -> Result<ResultPage> {
        match (&table.mapped, &table.readable) {
            (Some(mapping), _) => mapping.scan(self, view, scan, now),
            (None, Some(readable)) => readable.scan(view, scan, now),
            (None, None) => items::scan(view, table, scan, now),
        }
    }
}
