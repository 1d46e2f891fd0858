//! Reads one page of a partition of cells.

use std::sync::Arc;

use shelfmark_records::cells::LiveRow;
use shelfmark_store::KeyRange;

use super::keep::Keep;
use super::page::{CellReader, is_full};
use super::request::CellQuery;
use crate::error::Result;
use crate::report::AccessStep;
use crate::rows::{Cursor, PageRange, PageState, RawRow, Taker, Took, View};

/// Hands the rows of a partition to whoever keeps them.
struct QueryTaker<'t, 'a, V: View, K: Keep> {
    reader: &'t mut CellReader<'a, V>,
    keep: &'t mut K,
    query: &'t CellQuery,
    statics: Option<Arc<LiveRow>>,
    /// The position of the clustering key in a row's key, in bytes.
    clustering_at: usize,
    taken_before: u64,
}

impl<V: View, K: Keep> QueryTaker<'_, '_, V, K> {
    /// Returns how many rows of the partition were answered, those of earlier pages included.
    fn taken(&self) -> u64 {
        self.taken_before + self.keep.kept() as u64
    }
}

impl<V: View, K: Keep> Taker for QueryTaker<'_, '_, V, K> {
    fn state(&self) -> PageState {
        let (limits, keep) = (&self.query.limits, &self.keep);
        if limits.partition_rows_max.is_some_and(|max| self.taken() >= max as u64) {
            return PageState::Done;
        }
        match is_full(limits, keep.kept(), keep.evaluated(), self.reader.bytes_read()) {
            true => PageState::Full,
            false => PageState::Open,
        }
    }

    fn take(&mut self, row: &RawRow) -> Result<Took> {
        let statics = self.statics.as_ref();
        let exists = self.keep.row(self.reader, row, self.clustering_at, statics)?;
        Ok(if exists { Took::Counted } else { Took::Skipped })
    }
}

impl<V: View> CellReader<'_, V> {
    /// Hands the rows of one page to `keep`. Returns where to go on, and what was read.
    pub(crate) fn query(
        mut self,
        query: &CellQuery,
        whole: KeyRange,
        keep: &mut impl Keep,
    ) -> Result<(Option<Cursor>, AccessStep)> {
        let limits = &query.limits;
        let page = PageRange {
            prefix: &self.layout.keys.prefix,
            former_ids: self.table.former_ids(),
            whole,
            descending: query.reversed,
            start: limits.start.as_ref(),
            rows_max: limits.rows_max,
        };
        let range = page.range()?;
        self.touch(range.clone());
        let view = self.view;
        let mut taker = QueryTaker {
            statics: if limits.statics { Some(self.statics(&query.partition)?) } else { None },
            // Behind the partition and the kind.
            clustering_at: self.layout.keys.partition(&query.partition)?.len() + 1,
            taken_before: limits.start.as_ref().map_or(0, Cursor::taken),
            reader: &mut self,
            keep,
            query,
        };
        let end = page.read(view, range, &mut taker)?;
        let (taken, statics) = (taker.taken(), taker.statics.take());
        let is_first = limits.start.is_none() && taker.keep.evaluated() == 0;
        if is_first && !end.is_full && query.span.is_all() {
            let statics = match statics {
                Some(statics) => statics,
                None => taker.reader.statics(&query.partition)?,
            };
            if statics.exists() {
                taker.keep.statics_alone(taker.reader, &query.partition, statics);
            }
        }
        Ok((end.cursor.map(|cursor| cursor.with_taken(taken)), self.into_step()))
    }
}
