//! A table of cells as a table of items: its schema, its keys, its rows.
//!
//! Columns become attributes of the same name; what is null is absent. Static columns are no
//! attributes of an item and are not shown. `docs/compat-dynamodb.md` has the table of types.
//!
//! Invariant: a row and its item have the same key, and one item is one row.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::serial::serialise;
use shelfmark_model::{
    Column, ColumnType, Item, Key, KeyColumn, KeyType, SortColumn, TableName, TableSchema, Value,
};
use shelfmark_records::cells::{ClusteringValue, LiveRow, Place};

use super::grant::Share;
use super::value::{attribute_of, raw_of};
use crate::catalogue::{Table, blank_table};
use crate::cells::CellOperation;
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
    columns: Vec<Column>,
}

impl ItemsOfCells {
    /// Returns the table of items that a table of cells is.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: its key does not fit.
    pub(super) fn table(base: &Arc<Table>, grant: Share) -> Result<Table> {
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

    /// Returns the key of the row of an item, without chunk.
    pub(crate) fn row_key(&self, key: &Key) -> Result<Vec<u8>> {
        let keys = &self.base.cells()?.keys;
        let partition = keys.partition(&self.partition(&key.partition)?)?;
        Ok(keys.row_of(partition, &self.clustering(&key.sort)?)?)
    }

    /// Returns the key attributes of the row at a key without chunk.
    pub(crate) fn key_item(&self, row_key: &[u8]) -> Result<Item> {
        let Place { partition, clustering } = self.base.cells()?.keys.parse(row_key)?;
        let mut item = Item::new();
        self.put_key(&mut item, &partition, clustering.as_deref().unwrap_or_default())?;
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
            let value = value.as_deref().unwrap_or_default();
            item.set(name.as_str(), attribute_of(key_type, value)?);
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

    /// Returns what makes a row of `old` one of `new`: of a whole item every column is written, else
    /// those that differ.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: an attribute is no column, or is of a type that its column
    ///   does not take. The message says which.
    pub(super) fn operations(
        &self,
        old: Option<&Item>,
        new: &Item,
        is_whole: bool,
    ) -> Result<Vec<CellOperation>> {
        let is_key = |name: &str| {
            name == self.partition.0 || self.sort.as_ref().is_some_and(|(own, _)| name == own)
        };
        let is_column = |name: &str| self.columns.iter().any(|own| own.name == name);
        if let Some((name, _)) = new.iter().find(|(name, _)| !is_key(name) && !is_column(name)) {
            return Err(Error::invalid(format!(
                "table {} has no column {name} that an item can have; add it with ALTER TABLE, or \
                 leave the attribute out",
                self.base.schema.name
            )));
        }
        let mut operations = Vec::new();
        for column in self.columns.iter().filter(|own| !is_key(&own.name)) {
            let (was, is) = (old.and_then(|old| old.get(&column.name)), new.get(&column.name));
            if was == is && (is.is_none() || !is_whole) {
                continue;
            }
            match (was, is) {
                (Some(was), Some(is)) if !is_whole => changes(column, was, is, &mut operations)?,
                _ => operations.push(operation(column, is)?),
            }
        }
        Ok(operations)
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

/// Returns the type without null and empty, which clustering columns also hold and an item's key
/// does not.
fn plain(key_type: &KeyType) -> &KeyType {
    match key_type {
        KeyType::Kinded(inner) => inner,
        other => other,
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
                let name = super::value::name_of(&attribute_of(keys, &cell.path)?);
                map.insert(name, attribute_of(values, &cell.value)?);
            }
            Value::Map(map)
        }
    };
    Ok(Some(value))
}

/// Appends what makes an attribute another one: of sets and maps the elements that differ, so
/// that others keep their timestamps and what others write to them stays.
fn changes(
    column: &Column,
    was: &Value,
    is: &Value,
    operations: &mut Vec<CellOperation>,
) -> Result<()> {
    let whole = operation(column, Some(is))?;
    let (
        CellOperation::Overwrite { column: id, elements },
        Ok(CellOperation::Overwrite { elements: old, .. }),
    ) = (&whole, operation(column, Some(was)))
    else {
        operations.push(whole);
        return Ok(());
    };
    let old: BTreeMap<&Bytes, &Bytes> = old.iter().map(|(path, value)| (path, value)).collect();
    let new: BTreeMap<&Bytes, &Bytes> =
        elements.iter().map(|(path, value)| (path, value)).collect();
    for path in old.keys().filter(|path| !new.contains_key(*path)) {
        operations.push(CellOperation::DeleteElement { column: *id, path: (*path).clone() });
    }
    for (path, value) in new.iter().filter(|(path, value)| old.get(*path) != Some(*value)) {
        let (path, value) = ((*path).clone(), (*value).clone());
        operations.push(CellOperation::SetElement { column: *id, path, value });
    }
    Ok(())
}

/// Returns what gives a column the value of an attribute.
fn operation(column: &Column, value: Option<&Value>) -> Result<CellOperation> {
    let id = column.id;
    let name = &column.name;
    let wrong = |what: &str| Err(Error::invalid(format!("column {name} takes {what}")));
    let members = |values: &[Value], inner: &KeyType| -> Result<Vec<Bytes>> {
        values.iter().map(|value| raw_of(name, inner, value)).collect()
    };
    Ok(match (&column.column_type, value) {
        (ColumnType::Counter, _) => {
            return wrong("no value from an item: it is a counter, which CQL's UPDATE adds to");
        }
        (ColumnType::Value(_), None | Some(Value::Null)) => CellOperation::Delete { column: id },
        (_, None | Some(Value::Null)) => CellOperation::Clear { column: id },
        (ColumnType::Value(key_type), Some(value)) => {
            CellOperation::Set { column: id, value: raw_of(name, key_type, value)? }
        }
        (ColumnType::List(inner), Some(Value::List(values))) => {
            CellOperation::OverwriteList { column: id, values: members(values, inner)? }
        }
        (ColumnType::Set(inner), Some(Value::Set(values) | Value::List(values))) => {
            let paths = members(values, inner)?;
            let elements = paths.into_iter().map(|path| (path, Bytes::new())).collect();
            CellOperation::Overwrite { column: id, elements }
        }
        (ColumnType::Map(keys, values), Some(Value::Map(map))) => {
            let element = |(key, value): (&String, &Value)| {
                let mut path = Vec::new();
                serialise(keys, &super::value::key_of_name(name, keys, key)?, &mut path)?;
                Ok((Bytes::from(path), raw_of(name, values, value)?))
            };
            let elements: Vec<(Bytes, Bytes)> = map.iter().map(element).collect::<Result<_>>()?;
            let mut paths: Vec<&Bytes> = elements.iter().map(|(path, _)| path).collect();
            paths.sort_unstable();
            if paths.windows(2).any(|pair| pair.first() == pair.last()) {
                return wrong("a map whose names are different keys; two of these are one key");
            }
            CellOperation::Overwrite { column: id, elements }
        }
        (ColumnType::List(_), _) => return wrong("a list"),
        (ColumnType::Set(_), _) => return wrong("a set or a list"),
        (ColumnType::Map(..), _) => return wrong("a map"),
    })
}
