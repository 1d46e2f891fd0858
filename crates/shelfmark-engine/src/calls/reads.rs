//! Reads of items: single ones, pages, moments, counts and changes.

use std::sync::Arc;

use shelfmark_model::Value;
use shelfmark_store::Snapshot;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::items::{ChangePosition, Get, Got, ItemChange, Query, ResultPage, Scan};

use crate::engine::Engine;

impl Engine {
    /// Reads one item. As in all reads and writes, a form of the table that was retired is exchanged
    /// for the current one.
    ///
    /// Cost: one point read; one more per 64 KiB of a large item.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key does not fit the table.
    /// * [`crate::ErrorKind::NotFound`]: the table was dropped.
    pub fn get(&self, table: &Table, get: &Get) -> Result<Got> {
        let got = self.inner.get(table, get)?;
        self.report(&got.report);
        Ok(got)
    }

    /// Reads items of several tables at one moment, in order.
    ///
    /// # Errors
    ///
    /// * As [`Engine::get`].
    pub fn get_many(&self, gets: &[(Arc<Table>, Get)]) -> Result<Vec<Got>> {
        self.inner.get_many(gets, |report| self.report(report))
    }

    /// Reads one page of a partition of a table or index. One page sees one moment.
    ///
    /// Cost: one seek and what the page reads; flat as the table grows.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key or condition does not fit, the cursor is foreign,
    ///   the limit is 0, or the index is still being built.
    /// * [`crate::ErrorKind::NotFound`]: there is no such index.
    pub fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        let page = self.inner.query(table, query)?;
        self.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a whole table or index, in key order. One page sees one moment.
    ///
    /// # Errors
    ///
    /// * As [`Engine::query`].
    pub fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        let page = self.inner.scan(table, scan)?;
        self.report(&page.report);
        Ok(page)
    }

    /// Takes a snapshot that several reads can share. Bounded in time and in bytes written
    /// meanwhile; reads answer [`crate::ErrorKind::TooOld`] past that.
    ///
    /// # Errors
    ///
    /// * Those of the store.
    pub fn snapshot(&self) -> Result<View> {
        Ok(View { engine: self.clone(), snapshot: self.inner.store.snapshot()? })
    }

    /// Returns how many items the table holds, expired ones that were not swept yet included.
    ///
    /// Cost: one point read, however large the table is.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no exact counts. Set its option.
    pub fn count(&self, table: &Table) -> Result<u64> {
        self.inner.count(table)
    }

    /// Returns how many items the partition holds.
    ///
    /// Cost: one point read, however large the partition is.
    ///
    /// # Errors
    ///
    /// * As [`Engine::count`].
    pub fn count_partition(&self, table: &Table, partition: &[Value]) -> Result<u64> {
        self.inner.count_partition(table, partition)
    }

    /// Returns up to `limit` changes of a table after `after`, oldest first, both images with each.
    ///
    /// Changes appear in the order in which they were committed and none appears later between two
    /// that were seen.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the table keeps no change log. Set its option.
    pub fn changes(
        &self,
        table: &Table,
        after: Option<ChangePosition>,
        limit: usize,
    ) -> Result<Vec<ItemChange>> {
        self.inner.changes(table, after, limit)
    }
}

/// One moment of all tables.
pub struct View {
    engine: Engine,
    snapshot: Arc<dyn Snapshot>,
}

impl View {
    /// Reads one item as of this moment. See [`Engine::get`].
    ///
    /// # Errors
    ///
    /// * As [`Engine::get`], and [`crate::ErrorKind::TooOld`]: take a new snapshot.
    pub fn get(&self, table: &Table, get: &Get) -> Result<Got> {
        let got = self.engine.inner.get_over(&&*self.snapshot, table, get, self.engine.now())?;
        self.engine.report(&got.report);
        Ok(got)
    }

    /// Reads one page of a partition as of this moment. See [`Engine::query`].
    ///
    /// # Errors
    ///
    /// * As [`Engine::query`], and [`crate::ErrorKind::TooOld`]: take a new snapshot.
    pub fn query(&self, table: &Table, query: &Query) -> Result<ResultPage> {
        let page =
            self.engine.inner.query_over(&&*self.snapshot, table, query, self.engine.now())?;
        self.engine.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a table as of this moment. See [`Engine::scan`].
    ///
    /// # Errors
    ///
    /// * As [`Engine::scan`], and [`crate::ErrorKind::TooOld`]: take a new snapshot.
    pub fn scan(&self, table: &Table, scan: &Scan) -> Result<ResultPage> {
        let page = self.engine.inner.scan_over(&&*self.snapshot, table, scan, self.engine.now())?;
        self.engine.report(&page.report);
        Ok(page)
    }
}
