//! A table of items as a table of cells: its schema, its keys, its rows.
//!
//! Key attributes are key columns, and the columns that a face declares stand for attributes of the
//! same name. What is not declared, or does not fit its column, is shown in one column as text, so
//! that nothing is hidden. `docs/compat-cql.md` has the table of types.
//!
//! What it is not: a second table. There is one, its rows stay items, and they have no timestamps, no
//! expiries of cells and no statics.
//!
//! Invariant: an item and its row have the same key in the store, byte by byte.

mod elements;
mod granted;
mod index;
mod operation;
mod row;
mod typed_rows;
mod write;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use shelfmark_keycode::number::check_dynamo_number;
use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};
use shelfmark_model::serial::deserialise;
use shelfmark_model::{Column, Item, Key, KeyType, TableSchema, Value};
use shelfmark_records::cells::ClusteringValue;

use super::check::{ColumnCheck, ItemChecks};
use super::grant::Share;
use super::typed::{Form, Typed, is_shown};
use crate::catalogue::{Table, blank_table};
use crate::error::{Error, ErrorKind, Result};

/// The attributes of a table of items that a face sees as columns.
#[derive(Debug, Clone, Default)]
pub struct SharedColumns {
    /// The columns; each stands for the attribute of its name. Key columns are not among them.
    pub columns: Vec<Column>,
    /// The column of all other attributes, which are one text. Without it they are not seen.
    pub others: Option<OtherAttributes>,
    /// The check of the columns' values, where they take less than the engine's types.
    pub check: Option<Arc<dyn ColumnCheck>>,
}

/// The column that shows the attributes for which there is no column.
#[derive(Debug, Clone)]
pub struct OtherAttributes {
    /// Its number.
    pub column: u32,
    /// The form in which they are written as text.
    pub text: Arc<dyn AttributesText>,
}

/// Writes attributes as text, and reads them back. The engine knows no such form itself.
pub trait AttributesText: Send + Sync + fmt::Debug {
    /// Returns the text of attributes.
    fn text(&self, attributes: &Item) -> String;

    /// Returns the attributes of a text.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the text.
    fn attributes(&self, text: &str) -> std::result::Result<Item, String>;
}

/// A table of items that is seen as one of cells.
#[derive(Debug)]
pub(crate) struct CellsOfItems {
    /// The table of items.
    pub(crate) base: Arc<Table>,
    /// The grant of tables that have none of their own.
    share: Share,
    columns: Arc<Declared>,
    /// Set for a table of the typed layer, whose keys lie in their own order.
    typed: Option<Typed>,
    /// Knows what the owner takes, beyond what the engine looks at.
    checks: Option<Arc<dyn ItemChecks>>,
}

/// The columns of a mapping, found by number and by name.
#[derive(Debug, Clone)]
struct Declared {
    /// In the order of their numbers.
    columns: Vec<Column>,
    /// Their places.
    places: HashMap<String, usize>,
    others: Option<OtherAttributes>,
    check: Option<Arc<dyn ColumnCheck>>,
}

impl Declared {
    fn of(mut given: SharedColumns) -> Self {
        let mut columns = std::mem::take(&mut given.columns);
        columns.sort_unstable_by_key(|own| own.id);
        let places = columns.iter().enumerate().map(|(at, own)| (own.name.clone(), at));
        let SharedColumns { others, check, .. } = given;
        Self { places: places.collect(), columns, others, check }
    }

    fn named(&self, name: &str) -> Option<&Column> {
        self.columns.get(*self.places.get(name)?)
    }

    /// Returns the cells of an attribute in its column; `None` if it does not fit.
    fn cells_of(&self, column: &Column, value: &Value) -> Option<Vec<elements::Element>> {
        let cells = elements::of_value(column, value)?;
        let fits = |check: &Arc<dyn ColumnCheck>| {
            cells.iter().all(|(path, raw)| check.check(&column.name, path, raw).is_ok())
        };
        self.check.as_ref().is_none_or(fits).then_some(cells)
    }

    fn numbered(&self, id: u32) -> Option<&Column> {
        let at = self.columns.binary_search_by_key(&id, |own| own.id).ok()?;
        self.columns.get(at)
    }
}

impl CellsOfItems {
    /// Returns the table of cells that a table of items is.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it is a typed table with a key that no table of cells has.
    fn table(
        base: &Arc<Table>,
        share: Share,
        columns: Arc<Declared>,
        checks: Option<Arc<dyn ItemChecks>>,
    ) -> Result<Table> {
        let typed = is_shown(&base.schema).then(|| Typed::of(base, Form::Cells)).transpose()?;
        let shown = typed.as_ref().map(|own| own.schema(base.schema.name.clone()));
        let own = shown.as_ref().unwrap_or(&base.schema);
        let mut schema = TableSchema::of_cells(own.name.clone(), own.partition.clone());
        schema.sort.clone_from(&own.sort);
        schema.columns.clone_from(&columns.columns);
        let mut table = blank_table(schema, base.id);
        if let (Some(cells), [partition]) = (&mut table.cells, own.partition.as_slice()) {
            cells.keys.partition_type = Some(partition.key_type.clone());
            cells.is_of_items = true;
        }
        let mapping = Self { base: Arc::clone(base), share, columns, typed, checks };
        Ok(Table { items: Some(mapping), ..table })
    }

    /// Returns the key of an item from the key of its row.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: a value is none of its type, or one that no item has in its key.
    /// * [`ErrorKind::LimitExceeded`]: a value is too long.
    fn key(&self, partition: &[u8], clustering: &[ClusteringValue]) -> Result<Key> {
        let schema = &self.base.schema;
        let [column] = schema.partition.as_slice() else {
            return Err(Error::invalid("the partition key of such a table has one column"));
        };
        let size_max = STRICT_PARTITION_COLUMN_BYTES_MAX;
        let partition = key_value(&column.name, &column.key_type, partition, size_max)?;
        let mut sort = Vec::with_capacity(schema.sort.len());
        for (column, value) in schema.sort.iter().zip(clustering) {
            let value = value.as_deref().unwrap_or_default();
            let size_max = STRICT_SORT_COLUMN_BYTES_MAX;
            sort.push(key_value(&column.name, &column.key_type, value, size_max)?);
        }
        Ok(Key { partition: vec![partition], sort })
    }

    /// Returns the key attributes of a row as an item.
    fn key_item(&self, key: &Key) -> Item {
        let names = self.base.schema.key_names().map(str::to_owned);
        names.zip(key.partition.iter().chain(&key.sort).cloned()).collect()
    }
}

/// Reads a value of a key, and refuses what an item cannot have there.
fn key_value(name: &str, key_type: &KeyType, raw: &[u8], size_max: usize) -> Result<Value> {
    if raw.is_empty() {
        return Err(Error::invalid(format!(
            "key column {name} of a table of items may not be null or empty"
        )));
    }
    if raw.len() > size_max && *key_type != KeyType::Decimal {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!(
                "key column {name} has {} bytes; in a table of items it has at most {size_max}",
                raw.len()
            ),
        ));
    }
    let value = deserialise(key_type, raw)?;
    check_number(name, &value)?;
    Ok(match value {
        Value::Number(number) => Value::Number(number.normalized()),
        value => value,
    })
}

/// Refuses numbers that items do not have: those with more than 38 digits, too large or too small.
fn check_number(name: &str, value: &Value) -> Result<()> {
    let Value::Number(number) = value else { return Ok(()) };
    check_dynamo_number(number).map_err(|error| {
        Error::invalid(format!("column {name} takes the numbers that items have: {error}"))
    })
}

impl Table {
    /// Returns the raw partition key in the one spelling that items have.
    pub(crate) fn items_base(&self) -> Option<&Arc<Self>> {
        self.items.as_ref().map(|mapping| &mapping.base)
    }

    /// Returns the number of the column of the other attributes, if it is a table of items that is seen
    /// as one of cells and has one.
    #[must_use]
    pub fn others_column(&self) -> Option<u32> {
        Some(self.items.as_ref()?.columns.others.as_ref()?.column)
    }

    /// Returns the one partition key that all rows have, if it is an ordered table that is seen as one of
    /// cells; in its plain serialisation.
    #[must_use]
    pub fn only_partition(&self) -> Option<Bytes> {
        let typed = self.items.as_ref()?.typed.as_ref()?;
        typed.only_partition()
    }

    /// Returns true if it is a table of items that is seen as one of cells, and lies in the order of its
    /// keys rather than of tokens.
    #[must_use]
    pub fn is_in_key_order(&self) -> bool {
        self.typed_rows().is_some()
    }

    /// Returns the same table without the column of the other attributes, for reads that do not look at
    /// it: nothing is written as text for them.
    #[must_use]
    pub fn without_others(&self) -> Option<Arc<Self>> {
        self.others_column()?;
        let mapping = self.items.as_ref()?;
        let columns = Declared { others: None, ..(*mapping.columns).clone() };
        let checks = mapping.checks.clone();
        let table = CellsOfItems::table(&mapping.base, mapping.share, Arc::new(columns), checks);
        table.ok().map(Arc::new)
    }
}
