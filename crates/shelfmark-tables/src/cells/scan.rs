//! Reads one page of a table of cells, partition after partition in the order of tokens.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::cells::{LiveRow, STATICS};
use shelfmark_store::KeyRange;

use super::page::{CellReader, is_full, statics_alone};
use super::request::{CellEntry, CellLimits, CellPage};
use crate::error::Result;
use crate::report::AccessReport;
use crate::rows::{Cursor, PageRange, PageState, RawRow, Taker, Took, View};

/// Takes the rows of one partition after another.
struct ScanTaker<'t, 'a, V: View> {
    reader: &'t mut CellReader<'a, V>,
    limits: &'t CellLimits,
    page: CellPage,
    at: Partition,
    /// The row at which the page is, when a partition that had statics alone has filled it.
    is_held: bool,
}

/// The partition that a scan is in.
#[derive(Default)]
struct Partition {
    /// The prefix of its keys; empty before the first partition.
    prefix: Bytes,
    /// The partition key in its plain serialisation.
    name: Bytes,
    statics: Option<Arc<LiveRow>>,
    /// The statics were met, so nobody answered them yet.
    began_with_statics: bool,
    has_rows: bool,
    /// Rows of it that were answered.
    taken: u64,
}

impl<V: View> CellReader<'_, V> {
    /// Reads one page of a range of partitions.
    pub(crate) fn scan(mut self, limits: &CellLimits, whole: KeyRange) -> Result<CellPage> {
        let page = PageRange {
            prefix: &self.layout.keys.prefix,
            former_ids: self.table.former_ids(),
            whole,
            descending: false,
            start: limits.start.as_ref(),
            rows_max: limits.rows_max,
        };
        let range = page.range()?;
        self.touch(range.clone());
        let view = self.view;
        let mut taker = ScanTaker {
            reader: &mut self,
            limits,
            page: CellPage::default(),
            at: Partition::default(),
            is_held: false,
        };
        let end = page.read(view, range, &mut taker)?;
        if !end.is_full {
            taker.leave_partition();
        }
        let (taken, mut page) = (taker.at.taken, taker.page);
        page.cursor = end.cursor.map(|cursor| cursor.with_taken(taken));
        page.report = AccessReport { steps: vec![self.into_step()] };
        Ok(page)
    }
}

impl<V: View> Taker for ScanTaker<'_, '_, V> {
    fn state(&self) -> PageState {
        let (page, bytes_read) = (&self.page, self.reader.bytes_read());
        if self.is_held || is_full(self.limits, page.rows.len(), page.evaluated, bytes_read) {
            return PageState::Full;
        }
        PageState::Open
    }

    fn take(&mut self, raw: &RawRow) -> Result<Took> {
        if !raw.key.starts_with(&self.at.prefix) || self.at.prefix.is_empty() {
            let evaluated = self.page.evaluated;
            self.leave_partition();
            if self.page.evaluated > evaluated && self.state() == PageState::Full {
                // This row is the next page's.
                self.is_held = true;
                return Ok(Took::Skipped);
            }
            self.enter_partition(raw)?;
        }
        if raw.key.len() == self.at.prefix.len() + 1 && raw.key.last() == Some(&STATICS) {
            self.at.statics = Some(Arc::new(self.reader.live(raw)?));
            self.at.began_with_statics = true;
            return Ok(Took::Counted);
        }
        let row = self.reader.live(raw)?;
        if !row.exists() {
            return Ok(Took::Skipped);
        }
        let entry = self.entry(raw, row)?;
        self.at.has_rows = true;
        let kept = self.page.rows.len();
        self.reader.take(self.limits, &mut self.page, entry);
        self.at.taken += u64::from(self.page.rows.len() > kept);
        if self.limits.partition_rows_max.is_some_and(|max| self.at.taken >= max as u64) {
            return Ok(Took::Beyond(self.at.prefix.clone()));
        }
        Ok(Took::Counted)
    }
}

impl<V: View> ScanTaker<'_, '_, V> {
    fn enter_partition(&mut self, raw: &RawRow) -> Result<()> {
        let keys = &self.reader.layout.keys;
        let length = keys.partition_length(&raw.key)?;
        let prefix = raw.key.buffer().slice(..length);
        // A page that goes on within a partition has taken rows of it before.
        let start = self.limits.start.as_ref().filter(|_| self.at.prefix.is_empty());
        let taken = start.filter(|cursor| cursor.row_key().starts_with(&prefix)).map(Cursor::taken);
        self.at = Partition {
            name: keys.parse(&raw.key)?.partition,
            prefix,
            taken: taken.unwrap_or(0),
            ..Partition::default()
        };
        Ok(())
    }

    /// Answers a partition that had statics and no rows.
    fn leave_partition(&mut self) {
        if !self.at.began_with_statics || self.at.has_rows {
            return;
        }
        self.at.began_with_statics = false;
        if let Some(statics) = self.at.statics.clone().filter(|statics| statics.exists()) {
            let entry = statics_alone(self.at.name.clone(), statics);
            self.reader.take(self.limits, &mut self.page, entry);
        }
    }

    fn entry(&mut self, raw: &RawRow, row: LiveRow) -> Result<CellEntry> {
        let statics = match (self.limits.statics, &self.at.statics) {
            (false, _) => None,
            (true, Some(statics)) => Some(Arc::clone(statics)),
            (true, None) => {
                // The page began behind them, or there are none.
                let statics = self.reader.statics(&self.at.name)?;
                self.at.statics = Some(Arc::clone(&statics));
                Some(statics)
            }
        };
        let keys = &self.reader.layout.keys;
        let clustering = Some(keys.clustering_at(&raw.key, self.at.prefix.len() + 1)?);
        Ok(CellEntry { partition: self.at.name.clone(), clustering, row, statics })
    }
}
