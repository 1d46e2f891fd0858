//! Queries of one partition, and scans of a table.

use bytes::Bytes;
use shelfmark_model::{Condition, IndexState, Projection, SortCondition, Value};
use shelfmark_records::keys::sort_range;
use shelfmark_store::KeyRange;

use super::page::{ResultPage, Source, read_page};
use crate::catalogue::{Index, Table};
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Cursor, View};

/// A read of one partition of a table or index: always one contiguous key range.
#[derive(Debug, Clone)]
pub struct Query {
    /// The index to read; `None` reads the table.
    pub index: Option<String>,
    /// Values of the partition key's columns.
    pub partition: Vec<Value>,
    /// The condition on the sort key.
    pub sort: SortCondition,
    /// From the last key of the range to the first.
    pub descending: bool,
    /// Most items evaluated on this page; at least 1.
    pub limit: Option<usize>,
    /// The page ends with the item that reaches this many bytes, before the filter.
    pub bytes_max: Option<usize>,
    /// The filter that decides which of the items read are answered.
    pub filter: Option<Condition>,
    /// The parts of the items that come back.
    pub projection: Projection,
    /// The cursor from which the read goes on.
    pub start: Option<Cursor>,
    /// Only count.
    pub count_only: bool,
    /// For an index: answer the items of the table instead of the entries.
    pub fetch_base: bool,
    /// Look whether something is left behind the limit.
    pub peek: bool,
}

impl Query {
    /// Creates a query for the whole partition of these key values.
    #[must_use]
    pub fn partition(values: Vec<Value>) -> Self {
        Self {
            index: None,
            partition: values,
            sort: SortCondition::all(),
            descending: false,
            limit: None,
            bytes_max: None,
            filter: None,
            projection: Projection::All,
            start: None,
            count_only: false,
            fetch_base: false,
            peek: false,
        }
    }

    /// Narrows the query to these sort keys.
    #[must_use]
    pub fn sort(mut self, condition: SortCondition) -> Self {
        self.sort = condition;
        self
    }

    /// Reads from the last key to the first.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    /// Evaluates at most `limit` items.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Reads this index.
    #[must_use]
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }
}

/// One of several parts of a table that are scanned side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The number of the part, from 0.
    pub number: u32,
    /// The number of all parts.
    pub total: u32,
}

/// A read of a whole table or index, or of a segment of it, in key order.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The index to read; `None` reads the table.
    pub index: Option<String>,
    /// The part that is read. A cursor of another part is refused.
    pub segment: Option<Segment>,
    /// Only partitions whose key columns, as a tuple, lie between these leading values (both
    /// included); for tables with ordered placement.
    pub partitions: Option<(Vec<Value>, Vec<Value>)>,
    /// From the last key to the first.
    pub descending: bool,
    /// Most items evaluated on this page; at least 1.
    pub limit: Option<usize>,
    /// The page ends with the item that reaches this many bytes, before the filter.
    pub bytes_max: Option<usize>,
    /// The filter that decides which of the items read are answered.
    pub filter: Option<Condition>,
    /// The parts of the items that come back.
    pub projection: Projection,
    /// The cursor from which the read goes on.
    pub start: Option<Cursor>,
    /// Only count.
    pub count_only: bool,
    /// Fetch the base item of each index entry; filter and projection are of it.
    pub fetch_base: bool,
    /// Look whether something is left behind the limit.
    pub peek: bool,
}

/// Answers a query over `view`.
pub(crate) fn query(
    view: &impl View,
    table: &Table,
    query: &Query,
    now: u64,
) -> Result<ResultPage> {
    let index = readable_index(table, query.index.as_deref())?;
    let spec = index.map_or(&table.key, |index| &index.key);
    let range = sort_range(spec, &query.partition, &query.sort)?;
    read_page(
        view,
        &Source {
            table,
            index,
            range,
            descending: query.descending,
            start: query.start.as_ref(),
            limit: query.limit,
            bytes_max: query.bytes_max,
            filter: query.filter.as_ref(),
            projection: &query.projection,
            count_only: query.count_only,
            fetch_base: query.fetch_base && index.is_some(),
            peek: query.peek,
            now,
        },
    )
}

/// Answers a scan over `view`.
pub(crate) fn scan(view: &impl View, table: &Table, scan: &Scan, now: u64) -> Result<ResultPage> {
    let index = readable_index(table, scan.index.as_deref())?;
    let spec = index.map_or(&table.key, |index| &index.key);
    let mut range = KeyRange::prefix(spec.prefix.clone());
    if let Some((lower, upper)) = &scan.partitions {
        range = spec.partitions_between(lower, upper)?;
    }
    if let Some(segment) = scan.segment {
        let part = segment_range(&spec.prefix, segment)?;
        if let Some(cursor) = &scan.start
            && !part.contains(cursor.row_key())
        {
            return Err(Error::invalid("the cursor belongs to another segment"));
        }
        let end = match (range.end, part.end) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        range = KeyRange { start: range.start.max(part.start), end };
    }
    read_page(
        view,
        &Source {
            table,
            index,
            range,
            descending: scan.descending,
            start: scan.start.as_ref(),
            limit: scan.limit,
            bytes_max: scan.bytes_max,
            filter: scan.filter.as_ref(),
            projection: &scan.projection,
            count_only: scan.count_only,
            fetch_base: scan.fetch_base && index.is_some(),
            peek: scan.peek,
            now,
        },
    )
}

fn readable_index<'t>(table: &'t Table, name: Option<&str>) -> Result<Option<&'t Index>> {
    table.check_items()?;
    let Some(name) = name else { return Ok(None) };
    let index = table.index(name).ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("table {} has no index {name}", table.schema.name))
    })?;
    match index.schema.state {
        IndexState::Public => Ok(Some(index)),
        IndexState::Building | IndexState::Dropping => Err(Error::new(
            ErrorKind::Invalid,
            format!("index {name} is not ready to be read; wait until it is built"),
        )),
    }
}

/// Cuts a table into parts by the 8 bytes behind its prefix. The cut depends on the numbers alone,
/// so it is the same on every page; under ordered placement the parts may differ in size.
pub(crate) fn segment_range(prefix: &Bytes, segment: Segment) -> Result<KeyRange> {
    if segment.total == 0 || segment.number >= segment.total {
        return Err(Error::invalid("a segment's number must be below the number of segments"));
    }
    let whole = KeyRange::prefix(prefix.clone());
    let cut = |number: u32| {
        let share = (u128::from(number) << 64) / u128::from(segment.total);
        let mut key = prefix.to_vec();
        key.extend_from_slice(&u64::try_from(share).unwrap_or(u64::MAX).to_be_bytes());
        Bytes::from(key)
    };
    let start = if segment.number == 0 { whole.start } else { cut(segment.number) };
    let end =
        if segment.number + 1 == segment.total { whole.end } else { Some(cut(segment.number + 1)) };
    Ok(KeyRange { start, end })
}
