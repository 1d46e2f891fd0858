//! The interface of plans to rows: the evaluator's own map, or an engine behind the same calls.
//!
//! Invariant: an implementation gives the rows of a range in the order of its keys, and what was put
//! is found by the next call.

use std::collections::BTreeMap;

use super::rows::{KeyValue, Row, Rows};
use shelfmark_design_language::model::schema::{FamilyId, Schema, TableId};
use shelfmark_design_language::model::{ColumnPath, Value};
use shelfmark_design_language::syntax::tree::BoundKind;
use shelfmark_design_language::target::profile;

/// The columns of a key.
pub type Key = Vec<KeyValue>;

/// One end of a range; `whole` ends are values, others are how texts begin.
#[derive(Debug, Clone)]
pub struct End {
    /// The kind of the end.
    pub kind: BoundKind,
    /// The value or the beginning of a text.
    pub value: KeyValue,
    /// True if it is a whole value, false for the beginning of texts.
    pub whole: bool,
}

/// One read of the store, with the values of its terms.
#[derive(Debug, Clone)]
pub struct RangeAsk {
    /// The number of the read in the plan, from 0.
    pub step: usize,
    /// The table or index it is in.
    pub table: TableId,
    /// True if it is a point read.
    pub point: bool,
    /// The leading columns of the key.
    pub bound: Key,
    /// The ends on the column after those.
    pub ends: Vec<End>,
    /// True if it is read from its end.
    pub desc: bool,
    /// The largest number of rows.
    pub limit: Option<usize>,
    /// The values of the holes in the step's ranges, by their names in certificates.
    pub holes: BTreeMap<String, KeyValue>,
}

/// Reads the rows of ranges.
pub trait Reader {
    /// Returns the rows of a range, in the direction and up to the limit asked for.
    ///
    /// # Errors
    ///
    /// Why the store refused, as a message. Nothing is known of its answer.
    fn range(&self, ask: &RangeAsk) -> Result<Vec<Row>, String>;
}

/// Stores rows that writes change.
pub trait Holder {
    /// Returns the rows of a family whose attributes have these values.
    ///
    /// # Errors
    ///
    /// Why the store refused, as a message. Nothing is known of its answer.
    fn matching(
        &self,
        family: FamilyId,
        wanted: &[(ColumnPath, Value)],
    ) -> Result<Vec<(Key, Row)>, String>;

    /// Returns the row of a key.
    ///
    /// # Errors
    ///
    /// Why the store refused, as a message. Nothing is known of its answer.
    fn get(&self, table: TableId, key: &Key) -> Result<Option<Row>, String>;

    /// Puts a row, replacing an existing one.
    ///
    /// # Errors
    ///
    /// Why the store refused, as a message. Nothing is known of its answer.
    fn put(&mut self, table: TableId, key: Key, row: Row) -> Result<(), String>;

    /// Removes the row of a key.
    ///
    /// # Errors
    ///
    /// Why the store refused, as a message. Nothing is known of its answer.
    fn remove(&mut self, table: TableId, key: &Key) -> Result<(), String>;
}

/// Rows of a map with the schema that orders them.
pub struct Plain<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The rows.
    pub rows: &'a Rows,
}

impl Plain<'_> {
    fn is_scattered(&self, ask: &RangeAsk) -> bool {
        let partition = self.schema.tables.get(ask.table).map_or(0, |table| table.partition);
        ask.bound.len() < partition
            && profile(&self.schema.target).is_some_and(|target| !target.ordered)
    }
}

impl Reader for Plain<'_> {
    fn range(&self, ask: &RangeAsk) -> Result<Vec<Row>, String> {
        let mut found: Vec<Row> = self
            .rows
            .in_order(self.schema, ask.table)
            .into_iter()
            .filter(|(key, _)| {
                key.iter().zip(&ask.bound).all(|(a, b)| a == b)
                    && key.get(ask.bound.len()).is_none_or(|value| {
                        ask.ends.iter().all(|end| within(end.kind, value, &end.value, end.whole))
                    })
            })
            .map(|(_, row)| row.clone())
            .collect();
        if self.is_scattered(ask) {
            // Partitions lie by a hash: in no order that a plan may rely on.
            found.reverse();
        }
        if ask.desc {
            found.reverse();
        }
        if let Some(limit) = ask.limit {
            found.truncate(limit);
        }
        Ok(found)
    }
}

/// Returns true if a column lies within one end; `whole` ends are values, others are how texts begin.
pub fn within(kind: BoundKind, value: &KeyValue, end: &KeyValue, whole: bool) -> bool {
    let begins = match (value, end) {
        (KeyValue::Text(value), KeyValue::Text(end)) if !whole => value.starts_with(end.as_str()),
        _ => value == end,
    };
    match kind {
        BoundKind::Begins => begins,
        BoundKind::From => value >= end,
        BoundKind::After => value > end && !begins,
        BoundKind::To => value <= end,
        BoundKind::Before => value < end,
        BoundKind::Through => value <= end || begins,
    }
}

impl Holder for Rows {
    fn matching(
        &self,
        family: FamilyId,
        wanted: &[(ColumnPath, Value)],
    ) -> Result<Vec<(Key, Row)>, String> {
        let fits = |row: &Row| {
            row.family == family
                && wanted.iter().all(|(path, value)| row.values.get(path) == Some(value))
        };
        let all = self.tables.values().flatten();
        Ok(all.filter(|(_, row)| fits(row)).map(|(key, row)| (key.clone(), row.clone())).collect())
    }

    fn get(&self, table: TableId, key: &Key) -> Result<Option<Row>, String> {
        Ok(self.tables.get(&table).and_then(|rows| rows.get(key)).cloned())
    }

    fn put(&mut self, table: TableId, key: Key, row: Row) -> Result<(), String> {
        self.tables.entry(table).or_default().insert(key, row);
        Ok(())
    }

    fn remove(&mut self, table: TableId, key: &Key) -> Result<(), String> {
        if let Some(rows) = self.tables.get_mut(&table) {
            rows.remove(key);
        }
        Ok(())
    }
}
