//! Reads a table of cells as items: single items, queries, scans, cursors.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_keycode::{self as keycode, Kind};
use shelfmark_model::{
    Condition, Item, Projection, SortBound, SortCondition, Value, item_size_bytes,
};
use shelfmark_records::cells::{Span, SpanBound};
use shelfmark_store::KeyRange;

use super::mapping::ItemsOfCells;
use super::value::raw_of;
use crate::catalogue::Table;
use crate::cells::{CellLimits, CellPage, CellQuery, CellReader, Collect};
use crate::error::{Error, ErrorKind, Result};
use crate::items::{Get, Got, Query, ResultPage, Scan, segment_range};
use crate::report::AccessReport;
use crate::rows::{Cursor, View};
use crate::tables::Tables;

/// The limits of a page of items, and what of it is answered.
struct Wanted<'q> {
    limit: Option<usize>,
    bytes_max: Option<usize>,
    start: Option<&'q Cursor>,
    filter: Option<&'q Condition>,
    projection: &'q Projection,
    count_only: bool,
    peek: bool,
}

impl ItemsOfCells {
    /// Returns the table again if the table of cells has another form by now.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::NotFound`]: it was dropped.
    pub(crate) fn current(&self, tables: &Tables) -> Result<Option<Arc<Table>>> {
        let current = tables.catalogue.current(&self.base)?;
        let table = |base| Self::table(&base, self.grant, self.checks.clone()).map(Arc::new);
        current.map(table).transpose()
    }

    /// Reads one item over a view.
    pub(crate) fn get(
        &self,
        tables: &Tables,
        view: &impl View,
        get: &Get,
        now: u64,
    ) -> Result<Got> {
        let partition = self.partition(&get.key.partition)?;
        let clustering = self.clustering(&get.key.sort)?;
        let mut reader = CellReader::new(tables, view, &self.base, now)?;
        let row = reader.get(&partition, &clustering)?;
        let item = row.map(|row| self.item(&partition, &clustering, &row)).transpose()?;
        let item = item.map(|item| get.projection.apply(item));
        Ok(Got { item, report: reader.report() })
    }

    /// Reads one page of a partition.
    pub(crate) fn query(
        &self,
        tables: &Tables,
        view: &impl View,
        query: &Query,
        now: u64,
    ) -> Result<ResultPage> {
        self.check_no_index(query.index.as_deref())?;
        let wanted = Wanted {
            limit: query.limit,
            bytes_max: query.bytes_max,
            start: query.start.as_ref(),
            filter: query.filter.as_ref(),
            projection: &query.projection,
            count_only: query.count_only,
            peek: query.peek,
        };
        let partition = self.partition(&query.partition)?;
        let range = self.sort_range(&partition, &query.sort)?;
        self.page(&wanted, |start, limit, bytes_max| {
            let own = CellQuery {
                partition: partition.clone(),
                span: Span::default(),
                reversed: query.descending,
                limits: limits(start, limit, bytes_max),
            };
            let mut kept = Collect::new(&own);
            let reader = CellReader::new(tables, view, &self.base, now)?;
            let (cursor, step) = reader.query(&own, range.clone(), &mut kept)?;
            Ok(CellPage { cursor, report: AccessReport { steps: vec![step] }, ..kept.into_page() })
        })
    }

    /// Reads one page of the table.
    pub(crate) fn scan(
        &self,
        tables: &Tables,
        view: &impl View,
        scan: &Scan,
        now: u64,
    ) -> Result<ResultPage> {
        self.check_no_index(scan.index.as_deref())?;
        if scan.partitions.is_some() || scan.descending {
            return Err(Error::invalid("such a table is scanned in its own order alone"));
        }
        let wanted = Wanted {
            limit: scan.limit,
            bytes_max: scan.bytes_max,
            start: scan.start.as_ref(),
            filter: scan.filter.as_ref(),
            projection: &scan.projection,
            count_only: scan.count_only,
            peek: scan.peek,
        };
        let prefix = &self.base.cells()?.keys.prefix;
        let range = match scan.segment {
            None => KeyRange::prefix(prefix.clone()),
            Some(segment) => segment_range(prefix, segment)?,
        };
        if scan.start.as_ref().is_some_and(|cursor| !range.contains(cursor.row_key())) {
            return Err(Error::invalid("the cursor belongs to another segment"));
        }
        self.page(&wanted, |start, limit, bytes_max| {
            let reader = CellReader::new(tables, view, &self.base, now)?;
            reader.scan(&limits(start, limit, bytes_max), range.clone())
        })
    }

    fn check_no_index(&self, index: Option<&str>) -> Result<()> {
        let Some(index) = index else { return Ok(()) };
        let name = &self.base.schema.name;
        Err(Error::new(ErrorKind::NotFound, format!("table {name} has no index {index} for items")))
    }
}

fn limits(start: Option<&Cursor>, rows_max: Option<usize>, bytes_max: Option<usize>) -> CellLimits {
    CellLimits { rows_max, bytes_max, start: start.cloned(), ..CellLimits::default() }
}

impl ItemsOfCells {
    /// Makes a page of items of a page of rows, which `read` reads from a cursor on.
    fn page(
        &self,
        wanted: &Wanted<'_>,
        read: impl Fn(Option<&Cursor>, Option<usize>, Option<usize>) -> Result<CellPage>,
    ) -> Result<ResultPage> {
        if wanted.limit == Some(0) {
            return Err(Error::invalid(
                "a page of no items leads nowhere; its limit is at least 1",
            ));
        }
        let mut rows = read(wanted.start, wanted.limit, wanted.bytes_max)?;
        // A partition of statics alone has no item, so no page ends with one.
        while rows.rows.last().is_some_and(|entry| entry.clustering.is_none())
            && let Some(cursor) = rows.cursor.take()
        {
            let next = read(Some(&cursor), Some(1), None)?;
            rows.rows.retain(|entry| entry.clustering.is_some());
            rows.rows.extend(next.rows);
            rows.report.steps.extend(next.report.steps);
            rows.cursor = next.cursor;
        }
        let mut page =
            ResultPage { cursor: rows.cursor, report: rows.report, ..Default::default() };
        let mut bytes_read = 0;
        for entry in rows.rows {
            // A partition of statics alone has no item.
            let Some(clustering) = &entry.clustering else { continue };
            let item = self.item(&entry.partition, clustering, &entry.row)?;
            page.evaluated += 1;
            bytes_read += item_size_bytes(&item) as u64;
            if wanted.filter.is_some_and(|filter| !filter.holds(&item)) {
                continue;
            }
            page.count += 1;
            if !wanted.count_only {
                page.items.push(wanted.projection.apply(item));
            }
        }
        if let Some(step) = page.report.steps.first_mut() {
            step.rows_read = page.evaluated as u64;
            step.rows_returned = page.count as u64;
            step.bytes_read = bytes_read;
        }
        if wanted.peek
            && let Some(cursor) = &page.cursor
        {
            let next = read(Some(cursor), Some(1), None)?;
            page.next_key = self.first_item(&next)?;
            if page.next_key.is_none() {
                page.cursor = None;
            }
        }
        Ok(page)
    }

    fn first_item(&self, page: &CellPage) -> Result<Option<Item>> {
        let mut rows = page.rows.iter();
        let found = rows.find_map(|entry| Some((entry, entry.clustering.as_ref()?)));
        found.map(|(entry, key)| self.item(&entry.partition, key, &entry.row)).transpose()
    }

    /// Returns the range of the rows of a partition whose sort key meets a condition.
    fn sort_range(&self, partition: &Bytes, condition: &SortCondition) -> Result<KeyRange> {
        let keys = &self.base.cells()?.keys;
        let one = |values: &[Value]| self.clustering(values);
        let bound = |bound: &SortBound| -> Result<Option<SpanBound>> {
            Ok(match bound {
                SortBound::Unbounded => None,
                SortBound::Included(value) | SortBound::Excluded(value) => Some(SpanBound {
                    values: one(std::slice::from_ref(value))?,
                    included: matches!(bound, SortBound::Included(_)),
                }),
            })
        };
        let span = match condition {
            SortCondition::Equal(values) if values.is_empty() => Span::all(),
            SortCondition::Equal(values) => Span::equal(one(values)?),
            SortCondition::Range { equal, lower, upper } if equal.is_empty() => {
                Span { equal: Vec::new(), lower: bound(lower)?, upper: bound(upper)? }
            }
            SortCondition::BeginsWith { equal, prefix } if equal.is_empty() => {
                return self.prefix_range(partition, prefix);
            }
            _ => return Err(Error::invalid("the sort key has one column")),
        };
        Ok(keys.span(partition, &span)?)
    }

    fn prefix_range(&self, partition: &Bytes, prefix: &Value) -> Result<KeyRange> {
        let keys = &self.base.cells()?.keys;
        let Some(column) = keys.sort.first() else {
            return Err(Error::invalid("the table has no sort key"));
        };
        let mut start = keys.rows_of(partition)?;
        keycode::put_kind(&mut start, column.direction, Kind::Value);
        let name = &column.name;
        let raw = match prefix {
            Value::Text(_) => raw_of(name, &shelfmark_model::KeyType::Text, prefix)?,
            Value::Bytes(_) => raw_of(name, &shelfmark_model::KeyType::Bytes, prefix)?,
            _ => return Err(Error::invalid("only text and bytes begin with something")),
        };
        keycode::put_bytes_prefix(&mut start, column.direction, &raw);
        Ok(KeyRange::prefix(start))
    }
}
