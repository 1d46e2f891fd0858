//! Reads and writes of cells.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::cells::{LiveRow, Timestamp};
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Table;
use shelfmark_tables::cells::{
    CellCompletion, CellEstimate, CellGet, CellGot, CellIndexQuery, CellPage, CellQuery, CellScan,
    CellSink, CellWrites, CellsShown, ConditionalRead, Decision, PartitionView,
};

use super::awaited;
use crate::engine::Engine;

impl Engine {
    /// Reads one row of cells.
    ///
    /// Cost: one point read, one more for the statics.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key does not fit, or it is no table of cells.
    /// * [`crate::ErrorKind::NotFound`]: the table was dropped.
    pub fn get_cells(&self, table: &Table, get: &CellGet) -> Result<CellGot> {
        let got = self.inner.get_cells(table, get)?;
        self.report(&got.report);
        Ok(got)
    }

    /// Reads rows of several tables of cells at one moment, in order.
    ///
    /// # Errors
    ///
    /// * As [`Engine::get_cells`].
    pub fn get_many_cells(&self, gets: &[(Arc<Table>, CellGet)]) -> Result<Vec<CellGot>> {
        let answers = self.inner.get_many_cells(gets)?;
        answers.iter().for_each(|got| self.report(&got.report));
        Ok(answers)
    }

    /// Reads the live statics of a partition; empty if there are none.
    ///
    /// # Errors
    ///
    /// * As [`Engine::get_cells`].
    pub fn get_statics(&self, table: &Table, partition: &Bytes) -> Result<Arc<LiveRow>> {
        self.inner.get_statics(table, partition)
    }

    /// Reads one page of a partition. One page sees one moment. An unrestricted read of a partition
    /// that has statics and no rows answers one entry without clustering key.
    ///
    /// Cost: one seek and what the page reads, flat as the table grows.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the key or span does not fit, or the cursor is foreign.
    pub fn query_cells(&self, table: &Table, query: &CellQuery) -> Result<CellPage> {
        let page = self.inner.query_cells(table, query)?;
        self.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a table in the order of tokens. One page sees one moment. A partition that
    /// has statics and no rows is one entry without clustering key.
    ///
    /// # Errors
    ///
    /// * As [`Engine::query_cells`].
    pub fn scan_cells(&self, table: &Table, scan: &CellScan) -> Result<CellPage> {
        let page = self.inner.scan_cells(table, scan)?;
        self.report(&page.report);
        Ok(page)
    }

    /// Reads one page of a partition as [`Engine::query_cells`] does, and shows its rows to `sink`
    /// in place of collecting them. The query's filter is not looked at.
    ///
    /// Cost: that of the page, without an allocation per row.
    ///
    /// # Errors
    ///
    /// * As [`Engine::query_cells`]; what was shown before is void.
    pub fn show_cells(
        &self,
        table: &Table,
        query: &CellQuery,
        sink: &mut dyn CellSink,
    ) -> Result<CellsShown> {
        let (shown, report) = self.inner.show_cells(table, query, sink)?;
        self.report(&report);
        Ok(shown)
    }

    /// Reads one page of an index of cells: the rows that its entries lead to. One page sees one
    /// moment. An entry of a static column answers the partition, without clustering key. A page may
    /// hold no rows and a cursor all the same.
    ///
    /// Cost: one seek, the entries, and a point read per row.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: there is no such index.
    /// * [`crate::ErrorKind::Invalid`]: it is still being built, a term does not fit, or the cursor is
    ///   foreign.
    pub fn query_cell_index(&self, table: &Table, query: &CellIndexQuery) -> Result<CellPage> {
        let page = self.inner.query_cell_index(table, query)?;
        self.report(&page.report);
        Ok(page)
    }

    /// Estimates how many partitions lie in each of `parts`, and how large they are.
    ///
    /// Cost: one seek and at most 64 rows or 64 KiB for each part, flat as the table grows.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: it is no table of cells.
    /// * [`crate::ErrorKind::NotFound`]: the table was dropped.
    pub fn estimate_cells(
        &self,
        table: &Table,
        parts: &[(Bound<i64>, Bound<i64>)],
    ) -> Result<Vec<CellEstimate>> {
        self.inner.estimate_cells(table, parts)
    }

    /// Does mutations of any tables and partitions, all or none, and waits until they are durable.
    ///
    /// Cost: one point read per row written, unless all rows are inserted with all their columns and
    /// later than what is there, and their share of one sync.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a key or value does not fit, or the table is no table of cells.
    /// * [`crate::ErrorKind::LimitExceeded`]: a row or key is too large. Nothing was written.
    /// * [`crate::ErrorKind::Undetermined`]: read to learn whether it was written; writing the same again
    ///   with the same timestamps does no harm, except to counters and lists.
    /// * [`crate::ErrorKind::Busy`]: retry after [`crate::Error::retry_after`].
    pub fn write_cells(&self, writes: impl Into<CellWrites>) -> Result<()> {
        awaited(&**self.store(), |done| self.submit_cells(writes.into(), done))
    }

    /// Writes as [`Engine::write_cells`] does, without waiting: `done` is called once, from any
    /// thread, possibly before this returns. It must not block.
    pub fn submit_cells(&self, writes: CellWrites, done: CellCompletion) {
        self.inner.submit_cells(self.observer.as_ref(), &writes, done);
    }

    /// Decides on rows of one partition and writes in the same serializable step, and waits until
    /// that is durable. See [`Engine::submit_cells_if`].
    ///
    /// # Errors
    ///
    /// * As [`Engine::write_cells`], and whatever `decide` returned.
    pub fn write_cells_if<T: Send + 'static>(
        &self,
        read: ConditionalRead,
        decide: impl FnMut(&PartitionView) -> Result<Decision<T>>,
    ) -> Result<T> {
        awaited(&**self.store(), |done| self.submit_cells_if(read, decide, done))
    }

    /// Reads rows and statics of one partition, has `decide` say what to write there, and queues it;
    /// nobody writes the partition in between. `done` is told the answer once what it rests on is
    /// durable.
    ///
    /// `decide` is called before this returns, again after a conflict. It must not call the engine.
    /// Its mutations may concern any rows of the partition that was read, and nothing else.
    pub fn submit_cells_if<T: Send + 'static>(
        &self,
        read: ConditionalRead,
        decide: impl FnMut(&PartitionView) -> Result<Decision<T>>,
        done: Box<dyn FnOnce(Result<T>) + Send>,
    ) {
        let (observer, room) = (self.observer.as_ref(), self.room.as_deref());
        self.inner.submit_cells_if(observer, room, &read, decide, done);
    }

    /// Returns a timestamp for a write of now: microseconds since the Unix epoch, never the same
    /// twice in one process.
    #[must_use]
    pub fn cell_timestamp(&self) -> Timestamp {
        self.inner.cell_timestamp()
    }

    /// Goes on removing the rows of deletions that were too large for one commit, of tables that are
    /// in use. Returns how many deletions are left.
    ///
    /// Nobody sees such rows meanwhile. Safe to call at any time and to interrupt.
    ///
    /// # Errors
    ///
    /// * Those of the store; the other tables are seen to all the same. Call again later.
    pub fn purge_deleted_cells(&self) -> Result<usize> {
        self.inner.purge_deleted_cells()
    }
}
