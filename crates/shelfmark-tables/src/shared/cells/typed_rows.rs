//! Reads a typed table as a table of cells: single rows, spans of a partition, the whole table.
//!
//! Its keys lie in the order of their parts, and not by token, so the code of cells does not build
//! them: ranges are those of items, and a row is made of an item where it is decoded.
//!
//! Invariant: a page ends behind a row that was evaluated, so the next one gets further.

use std::ops::Bound;

use bytes::Bytes;
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::{Item, Key, SortBound, SortCondition, Value};
use shelfmark_records::cells::{ClusteringValue, LiveRow, Span, SpanBound};
use shelfmark_records::keys::sort_range;
use shelfmark_store::KeyRange;

use super::super::typed::{Part, Typed};
use super::CellsOfItems;
use crate::catalogue::Table;
use crate::cells::{CellEntry, CellGet, CellGot, CellLimits, CellPage, CellQuery, CellScan};
use crate::error::{Error, Result};
use crate::report::{AccessReport, AccessStep};
use crate::rows::{Cursor, PageRange, PageState, RawRow, Taker, Took, View, read_row};

/// A typed table with the columns that its rows have.
pub(crate) struct TypedRows<'t> {
    rows: &'t CellsOfItems,
    typed: &'t Typed,
}

impl Table {
    /// Returns the typed table that this one shows as cells, if it does.
    pub(crate) fn typed_rows(&self) -> Option<TypedRows<'_>> {
        let rows = self.items.as_ref()?;
        Some(TypedRows { rows, typed: rows.typed.as_ref()? })
    }
}

/// Collects the rows of a page.
struct Collected<'t> {
    from: &'t TypedRows<'t>,
    limits: &'t CellLimits,
    now: u64,
    page: CellPage,
    step: AccessStep,
    /// The prefix of the keys of the partition that the page is in, and how many rows of it were taken.
    partition: (Vec<u8>, u64),
}

impl TypedRows<'_> {
    /// Reads one row.
    pub(crate) fn get(&self, view: &impl View, get: &CellGet, now: u64) -> Result<CellGot> {
        let Typed { base, sort, .. } = self.typed;
        let mut step = AccessStep::new(&base.schema.name.name, None);
        let key = Key {
            partition: vec![self.partition(&get.partition)?],
            sort: stored_values(sort, &get.clustering)?,
        };
        if key.sort.len() != sort.len() {
            return Err(Error::invalid("a row is named by all parts of its key"));
        }
        let row_key = base.key.row_key(&key)?;
        let raw = read_row(view, &row_key)?;
        step.ranges.push(KeyRange::prefix(row_key));
        let item = raw.map(|raw| base.decode_row(&raw, now)).transpose()?.flatten();
        let row = item.map(|item| self.entry(item)).transpose()?.map(|entry| entry.row);
        if let Some(row) = &row {
            (step.rows_read, step.rows_returned) = (1, 1);
            step.bytes_read = row.size_bytes() as u64;
        }
        Ok(CellGot { row, statics: None, report: AccessReport { steps: vec![step] } })
    }

    /// Reads one page of a span of a partition.
    pub(crate) fn query(&self, view: &impl View, query: &CellQuery, now: u64) -> Result<CellPage> {
        let condition = self.condition(&query.span)?;
        let partition = [self.partition(&query.partition)?];
        let range = sort_range(&self.typed.base.key, &partition, &condition)?;
        self.page(view, range, query.reversed, &query.limits, now)
    }

    /// Reads one page of the table.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a range of tokens is asked for.
    pub(crate) fn scan(&self, view: &impl View, scan: &CellScan, now: u64) -> Result<CellPage> {
        let key = &self.typed.base.key;
        if scan.tokens != (Bound::Unbounded, Bound::Unbounded) {
            return Err(Error::invalid(
                "a typed table lies in the order of its keys, not of tokens",
            ));
        }
        self.page(view, KeyRange::prefix(key.prefix.clone()), false, &scan.limits, now)
    }

    fn page(
        &self,
        view: &impl View,
        whole: KeyRange,
        descending: bool,
        limits: &CellLimits,
        now: u64,
    ) -> Result<CellPage> {
        let base = &self.typed.base;
        let (start, rows_max) = (limits.start.as_ref(), limits.rows_max);
        let (prefix, former_ids) = (&base.key.prefix, base.former_ids());
        let page = PageRange { prefix, former_ids, whole, descending, start, rows_max };
        let range = page.range()?;
        let mut step = AccessStep::new(&base.schema.name.name, None);
        step.ranges.push(range.clone());
        let partition = (Vec::new(), 0);
        let found = CellPage::default();
        let mut taker = Collected { from: self, limits, now, page: found, step, partition };
        let end = page.read(view, range, &mut taker)?;
        let Collected { mut page, mut step, partition, .. } = taker;
        step.rows_returned = page.rows.len() as u64;
        page.cursor = end.cursor.map(|cursor| cursor.with_taken(partition.1));
        page.report = AccessReport { steps: vec![step] };
        Ok(page)
    }

    fn partition(&self, raw: &[u8]) -> Result<Value> {
        let part = &self.typed.partition;
        part.store(&deserialise(&part.shown_type, raw)?)
    }

    /// Returns a span of rows as a condition on the stored sort key.
    fn condition(&self, span: &Span) -> Result<SortCondition> {
        let sort = &self.typed.sort;
        let equal = stored_values(sort, &span.equal)?;
        let rest = sort.get(equal.len()..).unwrap_or_default();
        let (lower, upper) = (bound(rest, &span.lower)?, bound(rest, &span.upper)?);
        let widest = [&lower, &upper].into_iter().flatten().map(|(own, _)| own.len()).max();
        Ok(match widest {
            None => SortCondition::Equal(equal),
            Some(1) => SortCondition::Range { equal, lower: one(lower), upper: one(upper) },
            Some(_) => {
                let whole = |side: Option<(Vec<Value>, bool)>| match side {
                    Some((values, included)) => Some(([equal.clone(), values].concat(), included)),
                    // A side without a bound ends with the values that are equal.
                    None => (!equal.is_empty()).then(|| (equal.clone(), true)),
                };
                SortCondition::TupleRange { lower: whole(lower), upper: whole(upper) }
            }
        })
    }

    /// Returns a stored item as a row.
    fn entry(&self, item: Item) -> Result<CellEntry> {
        let raw = |part: &Part, value: &Value| -> Result<Bytes> {
            let mut raw = Vec::new();
            serialise(&part.shown_type, value, &mut raw)?;
            Ok(raw.into())
        };
        let Typed { partition, sort, .. } = self.typed;
        let (key, attributes) = self.typed.apart(item)?;
        let clustering = sort.iter().zip(&key.sort).map(|(part, value)| match value {
            Value::Null => Ok(None),
            value => raw(part, value).map(Some),
        });
        let value = key.partition.first().unwrap_or(&Value::Null);
        Ok(CellEntry {
            partition: raw(partition, value)?,
            clustering: Some(clustering.collect::<Result<_>>()?),
            row: self.rows.row_of(&attributes),
            statics: None,
        })
    }
}

impl Taker for Collected<'_> {
    fn state(&self) -> PageState {
        let Self { limits, page, step, .. } = self;
        let is_full = limits.rows_max.is_some_and(|max| page.rows.len() >= max)
            || page.evaluated > 0
                && limits.bytes_max.is_some_and(|max| step.bytes_read >= max as u64);
        if is_full { PageState::Full } else { PageState::Open }
    }

    fn take(&mut self, raw: &RawRow) -> Result<Took> {
        let base = &self.from.typed.base;
        let Some(item) = base.decode_row(raw, self.now)? else { return Ok(Took::Skipped) };
        let prefix = base.key.partition_key(&base.partition_of(&item)?)?;
        if prefix != self.partition.0 {
            // A page that goes on within a partition has taken rows of it before.
            let start = self.limits.start.as_ref().filter(|_| self.partition.0.is_empty());
            let same = start.filter(|cursor| cursor.row_key().starts_with(&prefix));
            self.partition = (prefix, same.map_or(0, Cursor::taken));
        }
        let entry = self.from.entry(item)?;
        self.step.rows_read += 1;
        self.step.bytes_read += LiveRow::size_bytes(&entry.row) as u64;
        self.page.evaluated += 1;
        if self.limits.filter.as_ref().is_none_or(|filter| filter(&entry)) {
            self.page.rows.push(entry);
            self.partition.1 += 1;
        }
        let is_over =
            self.limits.partition_rows_max.is_some_and(|max| self.partition.1 >= max as u64);
        Ok(if is_over { Took::Beyond(self.partition.0.clone().into()) } else { Took::Counted })
    }
}

/// Returns values of the first of these parts as they are stored.
fn stored_values(parts: &[Part], given: &[ClusteringValue]) -> Result<Vec<Value>> {
    if given.len() > parts.len() {
        return Err(Error::invalid("more parts of the key were given than it has"));
    }
    let value = |(part, raw): (&Part, &ClusteringValue)| match raw {
        Some(raw) => part.store(&deserialise(&part.shown_type, raw)?),
        None => Err(Error::invalid("a part of the key is compared with null")),
    };
    parts.iter().zip(given).map(value).collect()
}

type Side = Option<(Vec<Value>, bool)>;

fn bound(parts: &[Part], bound: &Option<SpanBound>) -> Result<Side> {
    let stored = |own: &SpanBound| Ok((stored_values(parts, &own.values)?, own.included));
    bound.as_ref().map(stored).transpose()
}

/// Returns a bound of one part.
fn one(side: Side) -> SortBound {
    let value =
        |(values, included): (Vec<Value>, bool)| Some((values.into_iter().next()?, included));
    match side.and_then(value) {
        None => SortBound::Unbounded,
        Some((value, true)) => SortBound::Included(value),
        Some((value, false)) => SortBound::Excluded(value),
    }
}
