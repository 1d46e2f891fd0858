//! A table of cells as a table of items: its schema, its keys, its rows.
//!
//! Columns become attributes of the same name; what is null is absent. Static columns are no
//! attributes of an item and are not shown. `docs/compat-dynamodb.md` has the table of types.
//!
//! Invariant: a row and its item have the same key, and one item is one row.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::serial::deserialise;
use shelfmark_model::{
    Column, ColumnType, Item, Key, KeyColumn, KeyType, SortColumn, TableName, TableSchema, Value,
};
use shelfmark_records::cells::{ClusteringValue, LiveRow, Place};

use super::check::ColumnChecks;
use super::grant::Share;
use super::value::{attribute_of, plain, raw_of};
use crate::catalogue::{Table, blank_table};
use crate::error::{Error, Result};

/// A table of cells that is seen as one of items.
#[derive(Debug)]
pub(crate) struct ItemsOfCells {
    /// The table of cells.
    pub(crate) base: Arc<Table>,
    pub(crate) grant: Share,
    partition: (String, KeyType),
    sort: Option<(String, KeyType)>,
    /// Those that are no statics.
    pub(super) columns: Vec<Column>,
    /// Knows what the owner's columns take.
    pub(super) checks: Option<Arc<dyn ColumnChecks>>,
}

impl ItemsOfCells {
    /// Returns the table of items that a table of cells is.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: its key does not fit.
    pub(super) fn table(
        base: &Arc<Table>,
        grant: Share,
        checks: Option<Arc<dyn ColumnChecks>>,
    ) -> Result<Table> {
        let own = &base.schema;
        let ([partition], [] | [_]) = (own.partition.as_slice(), own.sort.as_slice()) else {
            return Err(Error::invalid(format!(
                "table {} cannot be used as a table of items: its key has {} partition columns and \
                 {} clustering columns, and an item's key has one and at most one",
                own.name,
                own.partition.len(),
                own.sort.len()
            )));
        };
        if *plain(&partition.key_type) == KeyType::Decimal {
            return Err(Error::invalid(format!(
                "table {} cannot be used as a table of items: a decimal of its partition column {} \
                 has several spellings, each a partition of its own, and an item's number has one",
                own.name, partition.name
            )));
        }
        let TableName { namespace, name } = &own.name;
        let mut schema = TableSchema::new(
            TableName::new(&**namespace, format!("{namespace}.{name}")),
            KeyColumn::new(&*partition.name, key_type(own, &partition.name, &partition.key_type)?),
        );
        for sort in &own.sort {
            let key_type = key_type(own, &sort.name, plain(&sort.key_type))?;
            schema.sort.push(SortColumn::new(&*sort.name, key_type, sort.direction));
        }
        schema.options.face = own.options.face.clone();
        let mapping = Self {
            base: Arc::clone(base),
            grant,
            checks,
            partition: (partition.name.clone(), partition.key_type.clone()),
            sort: own.sort.first().map(|own| (own.name.clone(), plain(&own.key_type).clone())),
            columns: own.columns.iter().filter(|own| !own.is_static).cloned().collect(),
        };
        Ok(Table { mapped: Some(mapping), ..blank_table(schema, base.id) })
    }

    /// Returns the partition key of an item in its plain serialisation.
    pub(super) fn partition(&self, values: &[Value]) -> Result<Bytes> {
        let [value] = values else {
            return Err(Error::invalid("the partition key has one column"));
        };
        let (name, key_type) = &self.partition;
        raw_of(name, key_type, value)
    }

    /// Returns what the keys of an item's partition begin with.
    pub(crate) fn partition_prefix(&self, values: &[Value]) -> Result<Vec<u8>> {
        Ok(self.base.cells()?.keys.partition(&self.partition(values)?)?)
    }

    /// Returns the clustering key of an item's sort key.
    pub(super) fn clustering(&self, values: &[Value]) -> Result<Vec<ClusteringValue>> {
        match (&self.sort, values) {
            (None, []) => Ok(Vec::new()),
            (Some((name, key_type)), [value]) => Ok(vec![Some(raw_of(name, key_type, value)?)]),
            _ => Err(Error::invalid("the sort key does not fit the table's clustering key")),
        }
    }

    /// Returns true if two keys of items are those of one row.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a value is none of its column.
    pub(crate) fn is_one_row(&self, a: &Key, b: &Key) -> Result<bool> {
        Ok(self.partition(&a.partition)? == self.partition(&b.partition)?
            && self.clustering(&a.sort)? == self.clustering(&b.sort)?)
    }

    /// Returns the columns of a row's key with their plain serialisations.
    pub(super) fn key_parts<'k>(
        &'k self,
        partition: &'k Bytes,
        clustering: &'k [ClusteringValue],
    ) -> Vec<(&'k str, &'k [u8])> {
        let sort = self.sort.iter().zip(clustering);
        let sort = sort.filter_map(|((name, _), raw)| Some((name.as_str(), raw.as_deref()?)));
        std::iter::once((self.partition.0.as_str(), &**partition)).chain(sort).collect()
    }

    /// Returns the key of a row, without chunk, from a position that [`Self::position`] gave.
    pub(crate) fn row_key(&self, position: &Key) -> Result<Vec<u8>> {
        let damaged = || Error::invalid("the position does not fit the table's key");
        let keys = &self.base.cells()?.keys;
        let [partition] = position.partition.as_slice() else { return Err(damaged()) };
        let (name, key_type) = &self.partition;
        let partition = position_raw(name, key_type, partition)?.ok_or_else(damaged)?;
        let clustering = match (&self.sort, position.sort.as_slice()) {
            (None, []) => Vec::new(),
            (Some((name, key_type)), [value]) => vec![position_raw(name, key_type, value)?],
            _ => return Err(damaged()),
        };
        Ok(keys.row_of(keys.partition(&partition)?, &clustering)?)
    }

    /// Returns the key attributes of the row at a key without chunk, from which the key can be made
    /// again: what no attribute stands for is given as its bytes.
    pub(crate) fn position(&self, row_key: &[u8]) -> Result<Item> {
        let Place { partition, clustering } = self.base.cells()?.keys.parse(row_key)?;
        let clustering = clustering.unwrap_or_default();
        let mut item = Item::new();
        self.put_key(&mut item, &partition, &clustering)?;
        let (name, key_type) = &self.partition;
        // Tokens are those of the bytes, so the same number in other bytes is another partition.
        if item.get(name).and_then(|own| raw_of(name, key_type, own).ok()).as_ref()
            != Some(&partition)
        {
            item.set(name.as_str(), Value::Bytes(partition));
        }
        if let (Some((name, key_type)), [Some(raw)]) = (&self.sort, clustering.as_slice()) {
            let again = item.get(name).and_then(|own| raw_of(name, key_type, own).ok());
            let is_same = |again: Bytes| {
                again == raw
                    || deserialise(key_type, &again).ok() == deserialise(key_type, raw).ok()
            };
            if !again.is_some_and(is_same) {
                item.set(name.as_str(), Value::Bytes(raw.clone()));
            }
        }
        Ok(item)
    }

    fn put_key(
        &self,
        item: &mut Item,
        partition: &[u8],
        clustering: &[ClusteringValue],
    ) -> Result<()> {
        let (name, key_type) = &self.partition;
        item.set(name.as_str(), attribute_of(key_type, partition)?);
        if let (Some((name, key_type)), [value]) = (&self.sort, clustering) {
            let value = match value {
                Some(raw) => attribute_of(key_type, raw)?,
                // Of compact tables rows may lack it.
                None => Value::Null,
            };
            item.set(name.as_str(), value);
        }
        Ok(())
    }

    /// Returns the item that a row is.
    pub(super) fn item(
        &self,
        partition: &[u8],
        clustering: &[ClusteringValue],
        row: &LiveRow,
    ) -> Result<Item> {
        let mut item = Item::new();
        self.put_key(&mut item, partition, clustering)?;
        for column in &self.columns {
            if let Some(value) = value_of(column, row)? {
                item.set(column.name.as_str(), value);
            }
        }
        Ok(item)
    }

    /// Returns true if a column is a counter.
    pub(super) fn has_counters(&self) -> bool {
        self.columns.iter().any(|own| own.column_type == ColumnType::Counter)
    }

    /// Returns true if an attribute is part of the key.
    pub(super) fn is_key(&self, name: &str) -> bool {
        name == self.partition.0 || self.sort.as_ref().is_some_and(|(own, _)| name == own)
    }
}

/// Returns the type that a key column has in a table of items.
fn key_type(schema: &TableSchema, column: &str, key_type: &KeyType) -> Result<KeyType> {
    match key_type {
        KeyType::Text => Ok(KeyType::Text),
        KeyType::Bytes => Ok(KeyType::Bytes),
        KeyType::I8
        | KeyType::I16
        | KeyType::I32
        | KeyType::I64
        | KeyType::Integer
        | KeyType::Decimal => Ok(KeyType::Decimal),
        _ => Err(Error::invalid(format!(
            "table {} cannot be used as a table of items: its key column {column} is neither text \
             nor a whole or decimal number nor a blob",
            schema.name
        ))),
    }
}

/// Returns the attribute that a column of a row is; `None` if it is null.
fn value_of(column: &Column, row: &LiveRow) -> Result<Option<Value>> {
    let cells = row.elements(column.id);
    if cells.is_empty() {
        return Ok(None);
    }
    let value = match &column.column_type {
        ColumnType::Value(key_type) => match row.cell(column.id) {
            Some(cell) => attribute_of(key_type, &cell.value)?,
            None => return Ok(None),
        },
        ColumnType::Counter => match row.cell(column.id) {
            Some(cell) => attribute_of(&KeyType::I64, &cell.value)?,
            None => return Ok(None),
        },
        ColumnType::List(inner) => {
            let members = cells.iter().map(|cell| attribute_of(inner, &cell.value));
            Value::List(members.collect::<Result<_>>()?)
        }
        ColumnType::Set(inner) => {
            let members: Result<Vec<Value>> =
                cells.iter().map(|cell| attribute_of(inner, &cell.path)).collect();
            super::value::set_or_list(members?)
        }
        ColumnType::Map(keys, values) => {
            let mut map = BTreeMap::new();
            for cell in cells {
                let name = super::value::name_of_raw(keys, &cell.path)?;
                map.insert(name, attribute_of(values, &cell.value)?);
            }
            Value::Map(map)
        }
    };
    Ok(Some(value))
}

/// Returns the plain serialisation of a value of a position; `None` for null.
fn position_raw(column: &str, key_type: &KeyType, value: &Value) -> Result<ClusteringValue> {
    match (key_type, value) {
        (_, Value::Null) => Ok(None),
        (KeyType::Bytes, value) => raw_of(column, key_type, value).map(Some),
        (_, Value::Bytes(raw)) => {
            deserialise(key_type, raw)?;
            Ok(Some(raw.clone()))
        }
        (_, value) => raw_of(column, key_type, value).map(Some),
    }
}
