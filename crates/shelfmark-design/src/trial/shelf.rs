//! What a store is asked and what it holds, in terms of keys and values.

use std::collections::BTreeMap;

pub use shelfmark_design_language::model::Value;
pub use shelfmark_design_prove::eval::rows::KeyValue;

/// A row of a base table as it is stored, with its places in the indexes of that table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The table, by its place in the layout.
    pub table: usize,
    /// Its key, column by column.
    pub key: Vec<KeyValue>,
    /// Which row family it is of.
    pub family: usize,
    /// Its attributes by their paths.
    pub values: BTreeMap<String, Value>,
    /// Lists and counts that it keeps, by name.
    pub kept: BTreeMap<String, Value>,
    /// Its key in each index that has it.
    pub entries: BTreeMap<usize, Vec<KeyValue>>,
}

/// Where a range ends on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// Nowhere.
    Open,
    /// At this value, which belongs to it.
    Included(KeyValue),
    /// At this value, which does not.
    Excluded(KeyValue),
}

/// One read of a store.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Which read of the plan, from 0.
    pub step: usize,
    /// The table or index, by its place in the layout.
    pub table: usize,
    /// Whether it is a point read: `bound` is a whole key.
    pub point: bool,
    /// Values of the leading key columns; none reads the whole table.
    pub bound: Vec<KeyValue>,
    /// How the column after those begins, when that is all that is asked of it.
    pub prefix: Option<String>,
    /// Smallest values of the column after `bound`.
    pub low: Limit,
    /// Largest values of it.
    pub high: Limit,
    /// From the last key to the first.
    pub desc: bool,
    /// Rows at most.
    pub limit: Option<usize>,
    /// What the holes of the certificate's range stand for in this call, as it prints them.
    pub holes: BTreeMap<String, KeyValue>,
}

/// A store that holds the rows of one schema.
pub trait Shelf {
    /// Reads rows in the order of the keys. Those of an index are the rows of its table.
    ///
    /// # Errors
    ///
    /// What the store says. The run ends with it.
    fn read(&self, ask: &Ask) -> Result<Vec<Image>, String>;

    /// Puts a row, with its places in the indexes.
    ///
    /// # Errors
    ///
    /// As [`Shelf::read`].
    fn put(&self, image: &Image) -> Result<(), String>;

    /// Removes a row if it is there, and its places in the indexes.
    ///
    /// # Errors
    ///
    /// As [`Shelf::read`].
    fn remove(&self, table: usize, key: &[KeyValue]) -> Result<(), String>;
}
