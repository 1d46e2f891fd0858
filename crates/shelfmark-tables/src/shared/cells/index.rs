//! Reads an index of items as an index of cells: the rows that its entries lead to.
//!
//! An index is looked up by the attributes of its partition key, and by those of its sort key behind
//! them. An index with the table's own partition key is looked up in one partition, by
//! its sort key alone.
//!
//! Invariant: rows come back whole, whatever the index projects: what an entry lacks is read from
//! the table, at the same moment.

use bytes::Bytes;
use shelfmark_model::serial::{deserialise, serialise};
use shelfmark_model::{Item, Key, KeyColumn, KeyType, Projected, SortCondition, Value};
use shelfmark_records::cells::{
    ClusteringValue, Place, Span, SpanBound, plainly_spelled, with_whole_digits,
};
use shelfmark_records::keys::sort_range;

use super::CellsOfItems;
use crate::catalogue::Index;
use crate::cells::{CellEntry, CellIndexQuery, CellPage, CellReader, Entries, check_readable};
use crate::error::{Error, Result};
use crate::items::RowMemo;
use crate::rows::{RawRow, View};

/// Entries of an index of items.
struct OfItems<'t> {
    items: &'t CellsOfItems,
    index: &'t Index,
    memo: RowMemo,
    /// The item that the entry asked about last projects.
    item: Item,
}

impl<V: View> Entries<V> for OfItems<'_> {
    fn place(&mut self, reader: &CellReader<'_, V>, raw: &RawRow) -> Result<Option<Place>> {
        let found = self.index.decode_entry(raw, reader.now(), &mut self.memo)?;
        let Some(item) = found else { return Ok(None) };
        self.item = item;
        self.items.place_of(&self.item).map(Some)
    }

    fn fetch(
        &mut self,
        reader: &mut CellReader<'_, V>,
        place: Place,
        _: &RawRow,
        _: bool,
    ) -> Result<Option<CellEntry>> {
        let Place { partition, clustering } = place;
        let row = match self.index.schema.projected {
            Projected::All => Some(self.items.row_of(&self.item)),
            _ => reader.look(&partition, clustering.as_deref().unwrap_or_default())?,
        };
        Ok(row.map(|row| CellEntry { partition, clustering, row, statics: None }))
    }
}

impl CellsOfItems {
    /// Reads one page of an index.
    pub(crate) fn query_index<V: View>(
        &self,
        reader: CellReader<'_, V>,
        query: &CellIndexQuery,
    ) -> Result<CellPage> {
        let index = self.base.index(&query.index);
        check_readable(&self.base.schema.name, query, index.map(|index| index.schema.state))?;
        let Some(index) = index else { return Ok(CellPage::default()) };
        let query = CellIndexQuery {
            partition: query.partition.as_ref().map(|own| self.spelled(own)).transpose()?,
            ..query.clone()
        };
        let (partition, sort) = self.looked_up(index, &query)?;
        let whole = sort_range(&index.key, &partition, &sort)?;
        let entries =
            OfItems { items: self, index, memo: RowMemo::default(), item: Item::default() };
        let mut page = reader.query_entries(&query, &index.key.prefix, whole, entries)?;
        if index.schema.projected == Projected::All {
            // Nothing was read but the entries.
            page.report.steps.truncate(1);
        }
        Ok(page)
    }

    /// Returns the partition key and the condition on the sort key that an index is read with.
    fn looked_up(
        &self,
        index: &Index,
        query: &CellIndexQuery,
    ) -> Result<(Vec<Value>, SortCondition)> {
        let terms = &query.terms;
        let types: Vec<&KeyType> = index.schema.sort.iter().map(|own| &own.key_type).collect();
        if index.schema.partition == self.base.schema.partition {
            let partition = query.partition.as_ref().ok_or_else(|| {
                Error::invalid(format!(
                    "index {} orders each partition by itself; restrict the partition key, too",
                    query.index
                ))
            })?;
            let own = index.schema.partition.iter();
            let partition = own.map(|own| Ok(deserialise(&own.key_type, partition)?));
            return Ok((partition.collect::<Result<_>>()?, condition(&types, terms)?));
        }
        let columns = &index.schema.partition;
        let Some((first, rest)) = terms.equal.split_at_checked(columns.len()) else {
            return Err(Error::invalid(format!(
                "index {} is looked up by one value of each attribute of its partition key",
                query.index
            )));
        };
        let value = |(column, raw): (&KeyColumn, &ClusteringValue)| {
            let raw = raw.as_ref().ok_or_else(|| Error::invalid("a term is null"))?;
            // An index keeps numbers in the one spelling that items have.
            Ok(match deserialise(&column.key_type, raw)? {
                Value::Number(number) => Value::Number(number.normalized()),
                other => other,
            })
        };
        let partition = columns.iter().zip(first).map(value).collect::<Result<_>>()?;
        let rest = Span { equal: rest.to_vec(), ..terms.clone() };
        Ok((partition, condition(&types, &rest)?))
    }

    fn spelled(&self, partition: &[u8]) -> Result<Bytes> {
        match self.base.schema.partition.as_slice() {
            [column] => Ok(plainly_spelled(&column.key_type, partition)?),
            _ => Ok(Bytes::copy_from_slice(partition)),
        }
    }

    /// Returns the key of the row of an item.
    fn place_of(&self, item: &Item) -> Result<Place> {
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
        Ok(Place { partition, clustering: Some(sort.collect::<Result<_>>()?) })
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
