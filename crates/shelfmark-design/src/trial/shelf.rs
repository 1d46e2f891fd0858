//! The interface of a store to trials, in terms of keys and values.

use std::collections::BTreeMap;

pub use shelfmark_design_language::model::Value;
pub use shelfmark_design_prove::eval::rows::KeyValue;

/// A row of a base table as it is stored, with its entries in the indexes of that table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The index of the table in the layout.
    pub table: usize,
    /// Its key, column by column.
    pub key: Vec<KeyValue>,
    /// The row family that it belongs to.
    pub family: usize,
    /// Its attributes by their paths.
    pub values: BTreeMap<String, Value>,
    /// Lists and counts that it keeps, by name.
    pub kept: BTreeMap<String, Value>,
    /// Its key in each index that has it.
    pub entries: BTreeMap<usize, Vec<KeyValue>>,
}

/// One end of a range.
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
    /// The number of the read in the plan, from 0.
    pub step: usize,
    /// The index of the table in the layout.
    pub table: usize,
    /// True if it is a point read: `bound` is a whole key.
    pub point: bool,
    /// Values of the leading key columns; none reads the whole table.
    pub bound: Vec<KeyValue>,
    /// The beginning of the column after those, when that is the only condition on it.
    pub prefix: Option<String>,
    /// Smallest values of the column after `bound`.
    pub low: Limit,
    /// Largest values of it.
    pub high: Limit,
    /// True to read from the last key to the first.
    pub desc: bool,
    /// Rows at most.
    pub limit: Option<usize>,
    /// The values of the holes in the certificate's range in this call, by their names there.
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

    /// Puts a row, with its entries in the indexes.
    ///
    /// # Errors
    ///
    /// As [`Shelf::read`].
    fn put(&self, image: &Image) -> Result<(), String>;

    /// Removes a row, if it exists, and its entries in the indexes.
    ///
    /// # Errors
    ///
    /// As [`Shelf::read`].
    fn remove(&self, table: usize, key: &[KeyValue]) -> Result<(), String>;
}
