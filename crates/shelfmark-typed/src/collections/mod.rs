//! Small durable things that need no table of their own: cells with one value, and logs.
//!
//! All cells of a database are rows of its table `_cells`, all logs of `_logs`, each under its
//! name.

mod cell;
mod log;

use std::sync::Arc;

use shelfmark_engine::Table;
use shelfmark_model::{Direction, Item, Key, KeyColumn, KeyType, SortColumn, Value};

use crate::database::Database;
use crate::error::Result;
use crate::handle::{Handle, Shape, TableSettings};
use crate::record::Record;

pub use cell::Cell;
pub use log::LinearLog;

/// The partition key: the name of the cell or log.
const NAME: &str = "name";

fn open(database: &Database, table: &str, sort: Option<(&str, KeyType)>) -> Result<Arc<Handle>> {
    let name = KeyColumn::new(NAME, KeyType::Text);
    let sort = sort
        .into_iter()
        .map(|(name, key_type)| SortColumn::new(name, key_type, Direction::Ascending))
        .collect();
    let shape = Shape { face: "collections", partition: name, sort, fields: Vec::new() };
    Handle::open_any(database, table, shape, &TableSettings::unsplit())
}

/// Returns the item of a record under a key.
fn item_of<T: Record>(handle: &Handle, table: &Table, key: &Key, record: &T) -> Result<Item> {
    let names = table.schema.key_names().map(str::to_owned);
    let columns = names.zip(key.partition.iter().chain(&key.sort).cloned());
    Ok(handle.item(table, columns, record.to_item()?, None))
}

fn record_of<T: Record>(handle: &Handle, table: &Table, item: Item) -> Result<T> {
    T::from_item(handle.own(table, item).0)
}

fn key_of(name: &str, sort: Option<i64>) -> Key {
    Key { partition: vec![Value::text(name)], sort: sort.into_iter().map(Value::Int).collect() }
}
