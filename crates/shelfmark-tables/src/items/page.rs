//! Reads one page of items, which ends at a number of evaluated items or of their bytes.
//!
//! Both limits count before the filter. Here are also the projection and the access report of a
//! page.

use shelfmark_model::{Condition, Item, Projection, item_size_bytes};
use shelfmark_store::KeyRange;

use super::row_memo::RowMemo;
use crate::catalogue::{Index, Table};
use crate::error::{Error, Result};
use crate::report::{AccessReport, AccessStep};
use crate::rows::{Cursor, PageRange, PageState, RawRow, RowScan, Taker, Took, View, read_row};

/// One page of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultPage {
    /// The items that the filter kept, in key order of what was read; empty when only counted.
    pub items: Vec<Item>,
    /// The number of items that the filter kept.
    pub count: usize,
    /// The number of items that were evaluated.
    pub evaluated: usize,
    /// The cursor of the next page; `None` when the range is done. Present whenever a limit ended
    /// the page, even if nothing is left.
    pub cursor: Option<Cursor>,
    /// The key of the first item that was not read, if something is left and that was asked for
    /// ([`crate::items::Query::peek`]).
    pub next_key: Option<Item>,
    /// The cost of the page.
    pub report: AccessReport,
}

/// The source of a page: the table or index, the range, and how it is read.
pub(crate) struct Source<'a> {
    pub(crate) table: &'a Table,
    pub(crate) index: Option<&'a Index>,
    pub(crate) range: KeyRange,
    pub(crate) descending: bool,
    pub(crate) start: Option<&'a Cursor>,
    /// Most items evaluated.
    pub(crate) limit: Option<usize>,
    /// The page ends with the item that reaches this many bytes, before the filter; of base items where
    /// these are fetched.
    pub(crate) bytes_max: Option<usize>,
    pub(crate) filter: Option<&'a Condition>,
    pub(crate) projection: &'a Projection,
    pub(crate) count_only: bool,
    /// Fetch the base item of each index entry.
    pub(crate) fetch_base: bool,
    pub(crate) peek: bool,
    pub(crate) now: u64,
}

/// Reads one page.
pub(crate) fn read_page(view: &impl View, source: &Source<'_>) -> Result<ResultPage> {
    if source.limit == Some(0) {
        return Err(Error::invalid("a page of no items leads nowhere; its limit is at least 1"));
    }
    let name = &source.table.schema.name.name;
    let index = source.index.map(|index| index.schema.name.as_str());
    let prefix = &source.index.map_or(&source.table.key, |index| &index.key).prefix;
    let limit = source.limit.map(|limit| limit.saturating_add(usize::from(source.peek)));
    let range = PageRange {
        prefix,
        former_ids: source.table.former_ids(),
        whole: source.range.clone(),
        descending: source.descending,
        start: source.start,
        rows_max: limit,
    };
    let mut reader = PageReader {
        source,
        view,
        step: AccessStep::new(name, index),
        base: source.fetch_base.then(|| AccessStep::new(name, None)),
        page: ResultPage::default(),
        has_begun: false,
        memo: RowMemo::default(),
    };
    let rest = range.range()?;
    reader.step.ranges.push(rest.clone());
    let end = range.read(view, rest, &mut reader)?;
    reader.page.cursor = end.cursor;
    if end.is_full && source.peek {
        reader.peek(end.rest)?;
    }
    Ok(reader.finish())
}

struct PageReader<'a, V: View> {
    source: &'a Source<'a>,
    view: &'a V,
    step: AccessStep,
    base: Option<AccessStep>,
    page: ResultPage,
    /// A row was read.
    has_begun: bool,
    memo: RowMemo,
}

impl<V: View> Taker for PageReader<'_, V> {
    fn state(&self) -> PageState {
        let source = self.source;
        let of_base = self.base.as_ref().map_or(0, |base| base.bytes_read);
        let bytes_read = self.step.bytes_read.max(of_base);
        let is_full = source.limit.is_some_and(|limit| self.page.evaluated >= limit)
            // An item larger than the page comes alone: otherwise nobody would get past it.
            || self.has_begun
                && source.bytes_max.is_some_and(|max| bytes_read >= max as u64);
        if is_full { PageState::Full } else { PageState::Open }
    }

    fn take(&mut self, row: &RawRow) -> Result<Took> {
        self.has_begun = true;
        self.evaluate(row)?;
        Ok(Took::Counted)
    }
}

impl<V: View> PageReader<'_, V> {
    fn evaluate(&mut self, row: &RawRow) -> Result<()> {
        let source = self.source;
        let item = match source.index {
            None => source.table.decode_row_after(row, source.now, &mut self.memo)?,
            Some(index) => index.decode_entry(row, source.now, &mut self.memo)?,
        };
        // A dead row is not counted as read.
        let Some(mut item) = item else { return Ok(()) };
        self.step.rows_read += 1;
        self.step.bytes_read += item_size_bytes(&item) as u64;
        self.page.evaluated += 1;
        if let Some(base) = self.base.as_mut() {
            let base_key = source.table.key.row_key(&source.table.key_of(&item)?)?;
            base.ranges.push(KeyRange::prefix(base_key.clone()));
            let Some(row) = read_row(self.view, &base_key)? else { return Ok(()) };
            let Some(found) = source.table.decode_row(&row, source.now)? else { return Ok(()) };
            base.rows_read += 1;
            base.bytes_read += item_size_bytes(&found) as u64;
            item = found;
        }
        if source.filter.is_some_and(|filter| !filter.holds(&item)) {
            return Ok(());
        }
        self.page.count += 1;
        self.step.rows_returned += 1;
        if let Some(base) = self.base.as_mut() {
            base.rows_returned += 1;
        }
        if !source.count_only {
            self.page.items.push(source.projection.apply(item));
        }
        Ok(())
    }

    /// Looks for the next live row behind the limit, by its key.
    fn peek(&mut self, mut rows: RowScan<'_, V>) -> Result<()> {
        while let Some(row) = rows.next_row()? {
            let item = match self.source.index {
                None => self.source.table.decode_row(&row, self.source.now)?,
                Some(index) => index.decode_entry(&row, self.source.now, &mut self.memo)?,
            };
            if let Some(item) = item {
                self.step.keys_peeked += 1;
                self.page.next_key = Some(item);
                break;
            }
        }
        if self.page.next_key.is_none() {
            self.page.cursor = None;
        }
        Ok(())
    }

    fn finish(mut self) -> ResultPage {
        self.page.report.steps.push(self.step);
        self.page.report.steps.extend(self.base);
        self.page
    }
}
