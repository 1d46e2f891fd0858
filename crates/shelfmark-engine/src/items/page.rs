//! Reading one page of rows: limits, filter, projection, and what it cost.

use shelfmark_model::{Condition, Item, Projection, item_size_bytes};
use shelfmark_store::KeyRange;

use super::get::store_direction;
use super::row_memo::RowMemo;
use crate::catalogue::{Index, Table};
use crate::error::{Error, Result};
use crate::keys::{RowKey, after_row};
use crate::report::{AccessReport, AccessStep};
use crate::rows::{Cursor, RawRow, RowScan, View, read_row};

/// One page of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultPage {
    /// The items that the filter kept, in key order of what was read; empty when only counted.
    pub items: Vec<Item>,
    /// How many items the filter kept.
    pub count: usize,
    /// How many items were evaluated.
    pub evaluated: usize,
    /// Where to go on; `None` when the range is done. Present whenever a limit ended the page,
    /// even if nothing is left.
    pub cursor: Option<Cursor>,
    /// Whether something is left, if that was asked for ([`crate::Query::peek`]): the key of the
    /// first item that was not read.
    pub next_key: Option<Item>,
    /// What it cost.
    pub report: AccessReport,
}

/// What a page is read from, and how.
pub(crate) struct Source<'a> {
    pub(crate) table: &'a Table,
    pub(crate) index: Option<&'a Index>,
    pub(crate) range: KeyRange,
    pub(crate) descending: bool,
    pub(crate) start: Option<&'a Cursor>,
    /// Most items evaluated.
    pub(crate) limit: Option<usize>,
    /// The page ends with the item that reaches this many bytes, before the filter.
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
    let range = match source.start {
        None => source.range.clone(),
        Some(cursor) => {
            check_cursor(source, cursor)?;
            after_row(&source.range, cursor.row_key(), source.descending)
        }
    };
    let name = &source.table.schema.name.name;
    let mut pages = PageReader {
        source,
        view,
        step: AccessStep::new(name, source.index.map(|index| index.schema.name.as_str())),
        base: source.fetch_base.then(|| AccessStep::new(name, None)),
        page: ResultPage::default(),
        last: None,
        memo: RowMemo::default(),
    };
    pages.step.ranges.push(range.clone());
    let hint = source.limit.map_or(256, |limit| limit.saturating_add(usize::from(source.peek)));
    let mut rows = RowScan::new(view, range, store_direction(source.descending), hint);
    let ended_by_limit = loop {
        if pages.is_full() {
            break true;
        }
        let Some(row) = rows.next_row()? else { break false };
        pages.take(&row)?;
        pages.last = Some(row.key);
    };
    if ended_by_limit {
        pages.page.cursor = pages.last.take().map(|key| Cursor::behind(key.to_bytes()));
        if source.peek {
            pages.peek(&mut rows)?;
        }
    }
    Ok(pages.finish())
}

fn check_cursor(source: &Source<'_>, cursor: &Cursor) -> Result<()> {
    let spec = source.index.map_or(&source.table.key, |index| &index.key);
    if cursor.row_key().starts_with(&spec.prefix) {
        return Ok(());
    }
    Err(Error::invalid("the cursor belongs to another table or index"))
}

struct PageReader<'a, V: View> {
    source: &'a Source<'a>,
    view: &'a V,
    step: AccessStep,
    base: Option<AccessStep>,
    page: ResultPage,
    last: Option<RowKey>,
    memo: RowMemo,
}

impl<V: View> PageReader<'_, V> {
    fn is_full(&self) -> bool {
        self.source.limit.is_some_and(|limit| self.page.evaluated >= limit)
            // An item larger than the page comes alone: otherwise nobody would get past it.
            || self.last.is_some()
                && self.source.bytes_max.is_some_and(|max| self.step.bytes_read >= max as u64)
    }

    fn take(&mut self, row: &RawRow) -> Result<()> {
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
    fn peek(&mut self, rows: &mut RowScan<'_, V>) -> Result<()> {
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
