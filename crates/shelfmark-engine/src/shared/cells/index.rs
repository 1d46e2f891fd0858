//! Reading an index of items as an index of cells: the rows that its entries lead to.
//!
//! An index whose partition key is one attribute is looked up by that attribute, and by those of its
//! sort key behind it. An index with the table's own partition key is looked up in one partition, by
//! its sort key alone.
//!
//! Invariant: rows come back whole, whatever the index projects: what an entry lacks is read from
//! the table, at the same moment.

use bytes::Bytes;
use shelfmark_keycode::token;
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::{
    IndexState, Item, Key, KeyType, Projected, SortCondition, Value, item_size_bytes,
};
use shelfmark_records::cells::{
    ClusteringValue, Span, SpanBound, plainly_spelled, with_whole_digits,
};
use shelfmark_records::keys::sort_range;

use super::CellsOfItems;
use crate::catalogue::Index;
use crate::cells::{CellEntry, CellIndexQuery, CellPage, CellReader, is_full};
use crate::error::{Error, ErrorKind, Result};
use crate::items::RowMemo;
use crate::report::AccessStep;
use crate::rows::{PageRange, PageState, RawRow, Taker, Took, View};

/// Entries of other partitions that one page steps over before it ends, with a cursor and perhaps
/// without rows.
///
/// Source: ours; about a millisecond.
const ENTRIES_PASSED_MAX: usize = 1_024;

/// Takes entries, and shows the rows that they lead to.
struct EntryTaker<'t, 'a, V: View> {
    reader: &'t mut CellReader<'a, V>,
    items: &'t CellsOfItems,
    index: &'t Index,
    query: &'t CellIndexQuery,
    page: CellPage,
    /// What was read of the index.
    step: AccessStep,
    memo: RowMemo,
    /// Entries that were stepped over.
    passed: usize,
}

impl<V: View> Taker for EntryTaker<'_, '_, V> {
    fn state(&self) -> PageState {
        let bytes_read = self.reader.bytes_read() + self.step.bytes_read;
        let (limits, page) = (&self.query.limits, &self.page);
        let is_full = self.passed >= ENTRIES_PASSED_MAX
            || is_full(limits, page.rows.len(), page.evaluated, bytes_read);
        if is_full { PageState::Full } else { PageState::Open }
    }

    fn take(&mut self, raw: &RawRow) -> Result<Took> {
        let found = self.index.decode_entry(raw, self.reader.now(), &mut self.memo)?;
        let Some(item) = found else { return Ok(Took::Skipped) };
        self.step.bytes_read += item_size_bytes(&item) as u64;
        let (partition, clustering) = self.items.place_of(&item)?;
        if !self.is_asked_for(&partition) {
            self.passed += 1;
            self.step.keys_peeked += 1;
            return Ok(Took::Counted);
        }
        self.step.rows_read += 1;
        let row = match self.index.schema.projected {
            Projected::All => Some(self.items.row_of(&item)),
            _ => self.reader.look(&partition, &clustering)?,
        };
        let Some(row) = row else { return Ok(Took::Counted) };
        let before = self.page.rows.len();
        let entry = CellEntry { partition, clustering: Some(clustering), row, statics: None };
        self.reader.take(&self.query.limits, &mut self.page, entry);
        self.step.rows_returned += (self.page.rows.len() - before) as u64;
        Ok(Took::Counted)
    }
}

impl<V: View> EntryTaker<'_, '_, V> {
    fn is_asked_for(&self, partition: &Bytes) -> bool {
        if self.query.partition.as_ref().is_some_and(|wanted| wanted != partition) {
            return false;
        }
        std::ops::RangeBounds::contains(&self.query.tokens, &token(partition))
    }
}

impl CellsOfItems {
    /// Reads one page of an index.
    pub(crate) fn query_index<V: View>(
        &self,
        mut reader: CellReader<'_, V>,
        query: &CellIndexQuery,
    ) -> Result<CellPage> {
        let index = self.base.index(&query.index).ok_or_else(|| {
            let name = &self.base.schema.name;
            Error::new(ErrorKind::NotFound, format!("table {name} has no index {}", query.index))
        })?;
        if index.schema.state != IndexState::Public {
            return Err(Error::invalid(format!(
                "index {} is not ready to be read; wait until it is built",
                query.index
            )));
        }
        let query = CellIndexQuery {
            partition: query.partition.as_ref().map(|own| self.spelled(own)).transpose()?,
            ..query.clone()
        };
        let (partition, sort) = self.looked_up(index, &query)?;
        let whole = sort_range(&index.key, &partition, &sort)?;
        let page = PageRange {
            prefix: &index.key.prefix,
            whole,
            descending: false,
            start: query.limits.start.as_ref(),
            rows_max: query.limits.rows_max,
        };
        let range = page.range()?;
        let mut step = AccessStep::new(&self.base.schema.name.name, Some(&query.index));
        step.ranges.push(range.clone());
        let view = reader.view();
        let mut taker = EntryTaker {
            reader: &mut reader,
            items: self,
            index,
            query: &query,
            page: CellPage::default(),
            step,
            memo: RowMemo::default(),
            passed: 0,
        };
        let end = page.read(view, range, &mut taker)?;
        let (mut page, step) = (taker.page, taker.step);
        page.cursor = end.cursor;
        page.report.steps = vec![step];
        if index.schema.projected != Projected::All {
            page.report.steps.extend(reader.report().steps);
        }
        Ok(page)
    }

    /// Returns the partition key and the condition on the sort key that an index is read with.
    fn looked_up(
        &self,
        index: &Index,
        query: &CellIndexQuery,
    ) -> Result<(Vec<Value>, SortCondition)> {
        let [column] = index.schema.partition.as_slice() else {
            return Err(Error::invalid(format!(
                "index {} has several attributes in its partition key; query it where it belongs",
                query.index
            )));
        };
        let terms = &query.terms;
        let types = index.schema.sort.iter().map(|own| &own.key_type);
        if index.schema.partition == self.base.schema.partition {
            let partition = query.partition.as_ref().ok_or_else(|| {
                Error::invalid(format!(
                    "index {} orders each partition by itself; restrict the partition key, too",
                    query.index
                ))
            })?;
            let partition = deserialise(&column.key_type, partition)?;
            return Ok((vec![partition], condition(&types.collect::<Vec<_>>(), terms)?));
        }
        let Some((Some(first), rest)) = terms.equal.split_first() else {
            return Err(Error::invalid(format!(
                "index {} is looked up by one value of its partition key",
                query.index
            )));
        };
        let partition = deserialise(&column.key_type, first)?;
        let rest = Span { equal: rest.to_vec(), ..terms.clone() };
        Ok((vec![partition], condition(&types.collect::<Vec<_>>(), &rest)?))
    }

    fn spelled(&self, partition: &[u8]) -> Result<Bytes> {
        match self.base.schema.partition.as_slice() {
            [column] => Ok(plainly_spelled(&column.key_type, partition)?),
            _ => Ok(Bytes::copy_from_slice(partition)),
        }
    }

    /// Returns the key of the row of an item.
    fn place_of(&self, item: &Item) -> Result<(Bytes, Vec<ClusteringValue>)> {
        let Key { partition, sort } = self.base.key_of(item)?;
        let schema = &self.base.schema;
        let raw = |key_type: &KeyType, value: &Value| -> Result<Bytes> {
            let mut raw = Vec::new();
            serialise(key_type, value, &mut raw)?;
            Ok(raw.into())
        };
        let mut own = schema.partition.iter().zip(&partition);
        let partition = own.next().map(|(column, value)| raw(&column.key_type, value));
        let partition = partition.transpose()?.unwrap_or_default();
        let whole = |value: &Value| with_whole_digits(value.clone());
        let sort = schema.sort.iter().zip(&sort);
        let sort = sort.map(|(column, value)| raw(&column.key_type, &whole(value)).map(Some));
        Ok((partition, sort.collect::<Result<_>>()?))
    }
}

/// Returns a span of terms as the condition on a sort key of these types.
fn condition(types: &[&KeyType], terms: &Span) -> Result<SortCondition> {
    let too_many = || Error::invalid("more terms were given than the index has attributes");
    let values = |from: usize, given: &[ClusteringValue]| -> Result<Vec<Value>> {
        let types = types.get(from..from + given.len()).ok_or_else(too_many)?;
        let value = |(key_type, raw): (&&KeyType, &ClusteringValue)| {
            let raw = raw.as_ref().ok_or_else(|| Error::invalid("a term is null"))?;
            Ok(deserialise(key_type, raw)?)
        };
        types.iter().zip(given).map(value).collect()
    };
    let equal = values(0, &terms.equal)?;
    if terms.lower.is_none() && terms.upper.is_none() {
        return Ok(SortCondition::Equal(equal));
    }
    let bound = |bound: &Option<SpanBound>| -> Result<Option<(Vec<Value>, bool)>> {
        let Some(bound) = bound else { return Ok(None) };
        let mut all = equal.clone();
        all.extend(values(equal.len(), &bound.values)?);
        Ok(Some((all, bound.included)))
    };
    let (lower, upper) = (bound(&terms.lower)?, bound(&terms.upper)?);
    // A side without a bound ends with the values that are equal.
    let open = |side: Option<(Vec<Value>, bool)>| {
        side.or_else(|| (!equal.is_empty()).then(|| (equal.clone(), true)))
    };
    Ok(SortCondition::TupleRange { lower: open(lower), upper: open(upper) })
}
