//! Takes the rows of a partition that a read finds: they are collected, or (in `show`) shown.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::cells::LiveRow;

use super::page::{CellReader, statics_alone};
use super::request::{CellEntry, CellPage, CellQuery};
use crate::error::Result;
use crate::rows::{RawRow, View};

/// A consumer of the rows of a partition that a read finds.
pub(crate) trait Keep {
    /// Returns the number of rows that were kept.
    fn kept(&self) -> usize;

    /// Returns the number of rows that were evaluated.
    fn evaluated(&self) -> usize;

    /// Takes a row unless it does not exist; returns whether it does.
    fn row<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        raw: &RawRow,
        clustering_at: usize,
        statics: Option<&Arc<LiveRow>>,
    ) -> Result<bool>;

    /// Takes the statics of a partition that has no rows.
    fn statics_alone<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        partition: &Bytes,
        statics: Arc<LiveRow>,
    );
}

/// Collects the rows that the query's filter keeps.
pub(crate) struct Collect<'q> {
    query: &'q CellQuery,
    page: CellPage,
}

impl<'q> Collect<'q> {
    pub(crate) fn new(query: &'q CellQuery) -> Self {
        Self { query, page: CellPage::default() }
    }

    /// Returns the page, without cursor and report.
    pub(crate) fn into_page(self) -> CellPage {
        self.page
    }
}

impl Keep for Collect<'_> {
    fn kept(&self) -> usize {
        self.page.rows.len()
    }

    fn evaluated(&self) -> usize {
        self.page.evaluated
    }

    fn row<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        raw: &RawRow,
        clustering_at: usize,
        statics: Option<&Arc<LiveRow>>,
    ) -> Result<bool> {
        let row = reader.live(raw)?;
        if !row.exists() {
            return Ok(false);
        }
        let entry = CellEntry {
            partition: self.query.partition.clone(),
            clustering: Some(reader.layout.keys.clustering_at(&raw.key, clustering_at)?),
            row,
            statics: statics.cloned(),
        };
        reader.take(&self.query.limits, &mut self.page, entry);
        Ok(true)
    }

    fn statics_alone<V: View>(
        &mut self,
        reader: &mut CellReader<'_, V>,
        partition: &Bytes,
        statics: Arc<LiveRow>,
    ) {
        let entry = statics_alone(partition.clone(), statics);
        reader.take(&self.query.limits, &mut self.page, entry);
    }
}
