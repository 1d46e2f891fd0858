//! Reads an index of cells: entries in the order of terms, tokens and clustering keys, and the rows
//! that they lead to.

use std::collections::BTreeMap;
use std::ops::Bound;

use bytes::Bytes;
use shelfmark_keycode::token;
use shelfmark_model::{CellIndexTarget, IndexState, TableName};
use shelfmark_records::cells::entries;
use shelfmark_records::cells::{
    Cell, CellKey, CellRow, CellsLayout, ClusteringValue, Content, IndexLayout, LiveRow, Packs,
    Place, Span, put_partition, span_range,
};
use shelfmark_records::items::Head;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::KeyRange;

use super::page::{CellReader, is_full, token_range};
use super::request::{CellEntry, CellIndexQuery, CellPage};
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::report::AccessStep;
use crate::rows::{Cursor, PageRange, PageState, RawRow, Taker, Took, View};
use crate::tables::Tables;

/// Entries of other partitions, and of rows that have expired, that one page steps over before it
/// ends, with a cursor and perhaps without rows.
///
/// Source: ours; about a millisecond.
const ENTRIES_PASSED_MAX: usize = 1_024;

impl Tables {
    /// Reads one page of an index of cells: the rows that its entries lead to. One page sees one
    /// moment.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: there is no such index.
    /// * [`ErrorKind::Invalid`]: it is still being built, a term does not fit, or the cursor is
    ///   foreign.
    pub fn query_cell_index(&self, table: &Table, query: &CellIndexQuery) -> Result<CellPage> {
        self.reading(table, |view, table| {
            let now = query.limits.now.unwrap_or_else(|| self.now());
            let reader = CellReader::new(self, &view, table, now)?;
            match &table.items {
                Some(items) => items.query_index(reader, query),
                None => reader.query_index(query),
            }
        })
    }
}

/// Says what the entries of an index lead to.
pub(crate) trait Entries<V: View> {
    /// Returns the place that an entry leads to; `None` if the entry has expired.
    fn place(&mut self, reader: &CellReader<'_, V>, raw: &RawRow) -> Result<Option<Place>>;

    /// Returns what lies at the place of the entry that was asked about last.
    fn fetch(
        &mut self,
        reader: &mut CellReader<'_, V>,
        place: Place,
        raw: &RawRow,
        with_statics: bool,
    ) -> Result<Option<CellEntry>>;
}

/// Takes entries, and fetches the rows that they lead to.
struct EntryTaker<'t, 'a, V: View, E: Entries<V>> {
    reader: &'t mut CellReader<'a, V>,
    entries: E,
    query: &'t CellIndexQuery,
    page: CellPage,
    /// The access step of the index.
    step: AccessStep,
    /// Entries that were stepped over.
    passed: usize,
}

impl<V: View, E: Entries<V>> Taker for EntryTaker<'_, '_, V, E> {
    fn state(&self) -> PageState {
        let bytes_read = self.reader.bytes_read() + self.step.bytes_read;
        let (limits, page) = (&self.query.limits, &self.page);
        let is_full = self.passed >= ENTRIES_PASSED_MAX
            || is_full(limits, page.rows.len(), page.evaluated, bytes_read);
        if is_full { PageState::Full } else { PageState::Open }
    }

    fn take(&mut self, raw: &RawRow) -> Result<Took> {
        self.step.bytes_read += raw.key.len() as u64;
        let place = self.entries.place(self.reader, raw)?;
        let Some(place) = place.filter(|place| is_asked_for(self.query, place)) else {
            self.passed += 1;
            self.step.keys_peeked += 1;
            return Ok(Took::Counted);
        };
        self.step.rows_read += 1;
        let limits = &self.query.limits;
        if let Some(entry) = self.entries.fetch(self.reader, place, raw, limits.statics)? {
            let before = self.page.rows.len();
            self.reader.take(limits, &mut self.page, entry);
            self.step.rows_returned += (self.page.rows.len() - before) as u64;
        }
        Ok(Took::Counted)
    }
}

/// Entries of an index of cells.
struct OfCells<'i>(&'i IndexLayout);

impl<V: View> Entries<V> for OfCells<'_> {
    fn place(&mut self, reader: &CellReader<'_, V>, raw: &RawRow) -> Result<Option<Place>> {
        let is_over = Head::parse(&raw.head)?.expires_at.is_some_and(|at| at <= reader.now);
        let place = self.0.place_of(&reader.layout.keys, &raw.key)?;
        Ok((!is_over).then_some(place))
    }

    fn fetch(
        &mut self,
        reader: &mut CellReader<'_, V>,
        place: Place,
        raw: &RawRow,
        with_statics: bool,
    ) -> Result<Option<CellEntry>> {
        reader.fetch(self.0, place, &raw.key, with_statics)
    }
}

impl<V: View> CellReader<'_, V> {
    fn query_index(self, query: &CellIndexQuery) -> Result<CellPage> {
        let (layout, name) = (self.layout, &self.table.schema.name);
        let index = layout.indexes.iter().find(|index| index.schema.name == query.index);
        check_readable(name, query, index.map(|index| index.schema.state))?;
        let Some(index) = index else { return Ok(CellPage::default()) };
        let range = entry_range(index, query, layout.keys.packs)?;
        let Some(places) = RowPlaces::of(self.table, layout, index, query)? else {
            return self.query_entries(query, &index.prefix, range, OfCells(index));
        };
        let mut moved = query.clone();
        moved.limits.start = query.limits.start.as_ref().map(|own| {
            let moved = own.moved_to(&places.rows, &self.table.former_ids());
            places.entry_of(moved.as_ref().unwrap_or(own))
        });
        let mut page = self.query_entries(&moved, &index.prefix, range, OfCells(index))?;
        page.cursor = page.cursor.map(|own| places.row_of(own));
        Ok(page)
    }

    /// Reads one page of the entries in a range of keys that begin with `prefix`.
    pub(crate) fn query_entries(
        mut self,
        query: &CellIndexQuery,
        prefix: &Bytes,
        whole: KeyRange,
        entries: impl Entries<V>,
    ) -> Result<CellPage> {
        let limits = &query.limits;
        let (start, rows_max) = (limits.start.as_ref(), limits.rows_max);
        let former_ids = self.table.former_ids();
        let page = PageRange { prefix, former_ids, whole, descending: false, start, rows_max };
        let range = page.range()?;
        let mut step = AccessStep::new(&self.table.schema.name.name, Some(&query.index));
        step.ranges.push(range.clone());
        let (view, found) = (self.view, CellPage::default());
        let mut taker =
            EntryTaker { reader: &mut self, entries, query, page: found, step, passed: 0 };
        let end = page.read(view, range, &mut taker)?;
        let EntryTaker { page: mut found, step, .. } = taker;
        found.cursor = end.cursor;
        found.report.steps.extend([step, self.into_step()]);
        Ok(found)
    }

    /// Reads what an entry leads to.
    fn fetch(
        &mut self,
        index: &IndexLayout,
        place: Place,
        entry_key: &[u8],
        with_statics: bool,
    ) -> Result<Option<CellEntry>> {
        let Some(clustering) = &place.clustering else {
            let statics = self.statics(&place.partition)?;
            if !self.still_holds(index, &place, entry_key, &statics)? {
                return Ok(None);
            }
            return Ok(Some(CellEntry {
                partition: place.partition,
                clustering: None,
                row: LiveRow::default(),
                statics: Some(statics),
            }));
        };
        let Some(row) = self.look(&place.partition, clustering)? else { return Ok(None) };
        if !self.still_holds(index, &place, entry_key, &row)? {
            return Ok(None);
        }
        let statics = if with_statics { Some(self.statics(&place.partition)?) } else { None };
        Ok(Some(CellEntry {
            partition: place.partition,
            clustering: place.clustering,
            row,
            statics,
        }))
    }

    /// Tells whether a row still has the term that led to it. Only a deletion that is still being
    /// purged can have taken it away without its entry.
    fn still_holds(
        &self,
        index: &IndexLayout,
        place: &Place,
        entry_key: &[u8],
        row: &LiveRow,
    ) -> Result<bool> {
        if !self.has_purges() {
            return Ok(true);
        }
        let cells = row.cells.iter().map(|cell| {
            let key = CellKey { column: cell.column, path: cell.path.clone() };
            let content = Content::Live { value: cell.value.clone(), expiry: cell.expiry };
            (key, Cell { timestamp: cell.timestamp, content })
        });
        let cells: BTreeMap<_, _> = cells.collect();
        let row = CellRow { liveness: row.inserted, cells, ..CellRow::default() };
        let held = entries(self.layout, index, place, &row)?;
        Ok(held.contains_key(chunk_key(entry_key, 0).as_slice()))
    }
}

/// Exchanges positions among the entries of one term for those of their rows, and back.
///
/// Both have one order, so a read goes on where it was when the index that it uses is dropped, or
/// another is created and used instead.
struct RowPlaces {
    /// The beginning of the entries of the term.
    entries: Bytes,
    /// The beginning of the rows of the table.
    rows: Bytes,
}

impl RowPlaces {
    /// Returns the places of a query; `None` where entries lie in another order than rows, or lead to
    /// whole partitions.
    fn of(
        table: &Table,
        layout: &CellsLayout,
        index: &IndexLayout,
        query: &CellIndexQuery,
    ) -> Result<Option<Self>> {
        let is_static =
            |id: u32| table.schema.columns.iter().any(|own| own.id == id && own.is_static);
        let leads_to_rows = match index.schema.target {
            CellIndexTarget::PartitionColumn(_) => false,
            CellIndexTarget::SortColumn(_) => true,
            CellIndexTarget::Column(id)
            | CellIndexTarget::Keys(id)
            | CellIndexTarget::Values(id)
            | CellIndexTarget::Entries(id) => !is_static(id),
        };
        if !leads_to_rows || query.terms.equal.len() != index.terms.len() {
            return Ok(None);
        }
        let of_term = CellIndexQuery { partition: None, tokens: ALL_TOKENS, ..query.clone() };
        let entries = entry_range(index, &of_term, layout.keys.packs)?.start;
        Ok(Some(Self { entries, rows: layout.keys.prefix.clone() }))
    }

    fn entry_of(&self, cursor: &Cursor) -> Cursor {
        exchange(cursor, &self.rows, &self.entries)
    }

    fn row_of(&self, cursor: Cursor) -> Cursor {
        exchange(&cursor, &self.entries, &self.rows)
    }
}

/// All tokens.
const ALL_TOKENS: (Bound<i64>, Bound<i64>) = (Bound::Unbounded, Bound::Unbounded);

/// Returns a position whose key begins with `to` instead of `from`, if it begins so.
fn exchange(cursor: &Cursor, from: &Bytes, to: &Bytes) -> Cursor {
    match cursor.row_key().strip_prefix(from.as_ref()) {
        Some(rest) => Cursor::behind([to.as_ref(), rest].concat().into()),
        None => cursor.clone(),
    }
}

/// Checks that an index is there and complete, given its state if it is there.
///
/// # Errors
///
/// * [`ErrorKind::NotFound`], [`ErrorKind::Invalid`]: it is not.
pub(crate) fn check_readable(
    table: &TableName,
    query: &CellIndexQuery,
    state: Option<IndexState>,
) -> Result<()> {
    match state {
        Some(IndexState::Public) => Ok(()),
        Some(_) => Err(Error::invalid(format!(
            "index {} is not ready to be read; wait until it is built",
            query.index
        ))),
        None => Err(Error::new(
            ErrorKind::NotFound,
            format!("table {table} has no index {}", query.index),
        )),
    }
}

fn entry_range(index: &IndexLayout, query: &CellIndexQuery, packs: Packs) -> Result<KeyRange> {
    let fold = index.schema.fold;
    let range = if fold.is_none() {
        span_range(&index.terms, index.prefix.to_vec(), &query.terms, packs)?
    } else {
        // Of folded terms only equality means something.
        let folded = |term: &ClusteringValue| {
            term.as_ref().map(|term| Bytes::from(fold.apply(term).into_owned()))
        };
        let equal = query.terms.equal.iter().map(folded).collect();
        let terms = Span { equal, ..query.terms.clone() };
        span_range(&index.terms, index.prefix.to_vec(), &terms, packs)?
    };
    let is_equal = query.terms.equal.len() == index.terms.len();
    if !is_equal {
        return Ok(range);
    }
    if let Some(partition) = &query.partition {
        let mut key = range.start.to_vec();
        put_partition(&mut key, partition, packs);
        return Ok(KeyRange::prefix(key));
    }
    Ok(token_range(&range.start, query.tokens))
}

fn is_asked_for(query: &CellIndexQuery, place: &Place) -> bool {
    match &query.partition {
        Some(partition) => place.partition == *partition,
        None => std::ops::RangeBounds::contains(&query.tokens, &token(&place.partition)),
    }
}
