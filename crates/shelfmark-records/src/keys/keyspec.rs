//! Encodes and decodes the keys of one table, or of one of its indexes.
//!
//! An index entry's key is the index's own columns and then the base key, without the parts that
//! the index's columns already hold.

use std::borrow::Cow;

use bytes::Bytes;
use num_bigint::BigInt;
use shelfmark_keycode::{prefix_successor, put_bytes, take_bytes, token, token_bytes};
use shelfmark_model::serial::{deserialise_partition, serialise_partition};
use shelfmark_model::{
    Direction, IndexKind, IndexSchema, Item, Key, KeyColumn, KeyType, Placement, SortColumn,
    TableSchema, Text, Value,
};

use shelfmark_store::KeyRange;

use super::component::{put_component, take_component};
use super::row_key::RowKey;
use super::tree::{Tree, tree_key};
use crate::error::{Error, Result};

/// Between the partition key and the sort key: a row follows.
pub(super) const ROW: u8 = 1;

/// The key columns of a table or index, and the bytes that its keys begin with.
#[derive(Debug, Clone)]
pub struct KeySpec {
    /// `[tree][id]`.
    pub prefix: Bytes,
    placement: Placement,
    /// The columns of the partition key.
    pub partition: Vec<KeyColumn>,
    /// The columns of the sort key.
    pub sort: Vec<SortColumn>,
    /// The base key columns that an index entry ends with.
    base: Option<BaseKey>,
}

#[derive(Debug, Clone)]
struct BaseKey {
    /// `None`: the index has the same partition key.
    partition: Option<Vec<KeyColumn>>,
    sort: Vec<SortColumn>,
}

/// The columns of the key that was read last, and what the keys of a range mostly share with it.
#[derive(Default)]
pub struct KeyMemo {
    /// The bytes of a key up to the end of its partition key; empty before the first.
    bytes: Bytes,
    /// Number of the columns that belong to the partition key.
    partition: usize,
    /// Partition key, sort key, and the base key's columns of an index entry.
    pub columns: Vec<ReadColumn>,
}

/// A column of the key that was read last.
pub struct ReadColumn {
    /// Its name.
    pub name: Text,
    keeps_spelling: bool,
    /// Its value in the key.
    pub value: Value,
}

impl ReadColumn {
    fn new(name: &str, key_type: &KeyType, value: Value) -> Self {
        Self { name: name.into(), keeps_spelling: keeps_spelling(key_type), value }
    }

    /// Sets it in an item, unless the record had it in another spelling.
    pub fn set_unless_spelled(&self, item: &mut Item) {
        if self.keeps_spelling && item.get(&self.name).is_some_and(|own| own.equals(&self.value)) {
            return;
        }
        item.set(self.name.clone(), self.value.clone());
    }
}

/// The columns of a decoded key, by name.
pub struct KeyColumns<'s> {
    /// Names and values, in the order of the key.
    pub columns: Vec<(&'s str, Value)>,
}

impl KeySpec {
    /// Describes the keys of a table's rows.
    pub fn of_table(id: u64, schema: &TableSchema) -> Self {
        Self {
            prefix: tree_key(Tree::Rows, id).into(),
            placement: schema.placement,
            partition: schema.partition.clone(),
            sort: schema.sort.clone(),
            base: None,
        }
    }

    /// Describes the keys of an index's entries. Those of a unique index end with its own columns.
    pub fn of_index(id: u64, table: &TableSchema, index: &IndexSchema) -> Self {
        let held = |name: &str| {
            index.partition.iter().any(|column| column.name == name)
                || index.sort.iter().any(|column| column.name == name)
        };
        // What the index's columns hold need not be repeated, unless a hashed partition key keeps a
        // spelling (`1.0` beside `1.00`) that a sort column does not.
        let held_partition = table
            .partition
            .iter()
            .all(|column| held(&column.name) && !keeps_spelling(&column.key_type));
        let same_partition = index.partition == table.partition || held_partition;
        let base = BaseKey {
            partition: (!same_partition).then(|| table.partition.clone()),
            sort: table.sort.iter().filter(|column| !held(&column.name)).cloned().collect(),
        };
        Self {
            prefix: tree_key(Tree::Index, id).into(),
            placement: table.placement,
            partition: index.partition.clone(),
            sort: index.sort.clone(),
            base: (index.kind != IndexKind::Unique).then_some(base),
        }
    }

    /// Returns `[tree][id][placement][partition key]`.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a value does not fit its column, or is missing.
    pub fn partition_key(&self, values: &[Value]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.prefix.len() + 64);
        out.extend_from_slice(&self.prefix);
        put_partition(self.placement, &self.partition, values, &mut out)?;
        Ok(out)
    }

    /// Returns the range of the partitions whose key columns lie between two tuples of leading
    /// values, both included.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a value does not fit its column, or is missing.
    pub fn partitions_between(&self, lower: &[Value], upper: &[Value]) -> Result<KeyRange> {
        if self.placement == Placement::Hashed {
            return Err(Error::invalid(
                "partitions of a hashed table have no order; range over a table with ordered \
                 placement",
            ));
        }
        let bound = |values: &[Value]| {
            let mut key = self.prefix.to_vec();
            if values.len() > self.partition.len() {
                return Err(Error::invalid(
                    "a bound names more columns than the partition key has",
                ));
            }
            for (column, value) in self.partition.iter().zip(values) {
                put_component(&column.key_type, Direction::Ascending, value, &mut key)?;
            }
            Ok(key)
        };
        let end = prefix_successor(&bound(upper)?).map(Bytes::from);
        Ok(KeyRange { start: bound(lower)?.into(), end })
    }

    /// Returns the key of a row without its chunk.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a value does not fit its column, or is missing.
    pub fn row_key(&self, key: &Key) -> Result<Vec<u8>> {
        let mut out = self.partition_key(&key.partition)?;
        out.push(ROW);
        if key.sort.len() != self.sort.len() {
            return Err(Error::invalid(format!(
                "the sort key has {} columns, {} values were given",
                self.sort.len(),
                key.sort.len()
            )));
        }
        put_sort(&self.sort, &key.sort, &mut out)?;
        Ok(out)
    }

    /// Returns the key of the row of an item, without its chunk.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a key attribute is missing or of another type. The message names it.
    pub fn row_key_of(&self, item: &Item) -> Result<Vec<u8>> {
        let pick = |name: &str| {
            item.get(name)
                .ok_or_else(|| Error::invalid(format!("the item has no key attribute {name}")))
        };
        let mut out = match self.partition.as_slice() {
            [column] => self.partition_key(std::slice::from_ref(pick(&column.name)?))?,
            columns => {
                let values: Result<Vec<Value>> =
                    columns.iter().map(|column| pick(&column.name).cloned()).collect();
                self.partition_key(&values?)?
            }
        };
        out.push(ROW);
        for column in &self.sort {
            put_component(&column.key_type, column.direction, pick(&column.name)?, &mut out)?;
        }
        Ok(out)
    }

    /// Returns the key of an index entry for the item of base key `key`, or `None` if the item
    /// lacks an attribute of the index's key or has one of another type.
    ///
    /// # Errors
    ///
    /// * `Invalid`: a value does not fit its column, or is missing.
    pub fn entry_key(&self, table: &Self, key: &Key, item: &Item) -> Result<Option<Vec<u8>>> {
        let column = |name: &str| {
            let base = table
                .partition
                .iter()
                .map(|column| &column.name)
                .zip(&key.partition)
                .chain(table.sort.iter().map(|column| &column.name).zip(&key.sort))
                .find(|(own, _)| *own == name);
            base.map(|(_, value)| value).or_else(|| item.get(name)).cloned()
        };
        let partition: Option<Vec<Value>> =
            self.partition.iter().map(|own| column(&own.name)).collect();
        let sort: Option<Vec<Value>> = self.sort.iter().map(|own| column(&own.name)).collect();
        let (Some(partition), Some(sort)) = (partition, sort) else { return Ok(None) };
        // A value of another type leaves the item out of the index, as an absent one does.
        let Ok(mut out) = self.partition_key(&partition) else { return Ok(None) };
        out.push(ROW);
        if put_sort(&self.sort, &sort, &mut out).is_err() {
            return Ok(None);
        }
        if let Some(base) = &self.base {
            if base.partition.is_some() {
                put_partition_raw(table.placement, &table.partition, &key.partition, &mut out)?;
            }
            for own in &base.sort {
                let value =
                    column(&own.name).ok_or_else(|| Error::invalid("a key is incomplete"))?;
                put_component(&own.key_type, own.direction, &value, &mut out)?;
            }
        }
        Ok(Some(out))
    }

    /// Reads the columns back from a key without its chunk.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table or index.
    pub fn decode<'s>(&'s self, key: &[u8]) -> Result<KeyColumns<'s>> {
        let mut rest =
            key.strip_prefix(self.prefix.as_ref()).ok_or_else(|| damaged("another table"))?;
        let mut columns = Vec::with_capacity(self.partition.len() + self.sort.len() + 2);
        if self.placement == Placement::Hashed {
            rest = rest.get(8..).ok_or_else(|| damaged("no token"))?;
        }
        take_partition(self.placement, &self.partition, &mut rest, &mut columns)?;
        rest = rest.strip_prefix(&[ROW]).ok_or_else(|| damaged("no row"))?;
        take_sort(&self.sort, &mut rest, &mut columns)?;
        if let Some(base) = &self.base {
            if let Some(partition) = &base.partition {
                take_partition(self.placement, partition, &mut rest, &mut columns)?;
            }
            take_sort(&base.sort, &mut rest, &mut columns)?;
        }
        if rest.is_empty() { Ok(KeyColumns { columns }) } else { Err(damaged("bytes left over")) }
    }

    /// Parts bytes that begin with a partition key, as it lies behind tree and table id.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: they begin with none.
    pub fn split_partition<'k>(&self, own: &'k [u8]) -> Result<(&'k [u8], &'k [u8])> {
        let mut rest = own;
        if self.placement == Placement::Hashed {
            rest = rest.get(8..).ok_or_else(|| damaged("no token"))?;
        }
        take_partition(self.placement, &self.partition, &mut rest, &mut Vec::new())?;
        own.split_at_checked(own.len() - rest.len()).ok_or_else(|| damaged("no partition"))
    }

    /// Reads the columns of a key (without its chunk). Keys of one partition, one after the other,
    /// decode the partition key once.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: the key is none of this table or index.
    pub fn read(&self, key: &RowKey, memo: &mut KeyMemo) -> Result<()> {
        if memo.bytes.is_empty() || !key.starts_with(&memo.bytes) {
            *memo = self.read_partition(key)?;
        }
        let mut rest = key.get(memo.bytes.len()..).unwrap_or_default();
        rest = rest.strip_prefix(&[ROW]).ok_or_else(|| damaged("no row"))?;
        for (place, column) in (memo.partition..).zip(&self.sort) {
            let value = take_component(&column.key_type, column.direction, &mut rest)
                .map_err(|_| damaged("sort key"))?;
            match memo.columns.get_mut(place) {
                Some(known) => known.value = value,
                None => memo.columns.push(ReadColumn::new(&column.name, &column.key_type, value)),
            }
        }
        if let Some(base) = &self.base {
            memo.columns.truncate(memo.partition + self.sort.len());
            self.read_base(base, &mut rest, &mut memo.columns)?;
        }
        if rest.is_empty() { Ok(()) } else { Err(damaged("bytes left over")) }
    }

    fn read_base(
        &self,
        base: &BaseKey,
        rest: &mut &[u8],
        read: &mut Vec<ReadColumn>,
    ) -> Result<()> {
        let mut columns = Vec::new();
        if let Some(partition) = &base.partition {
            take_partition(self.placement, partition, rest, &mut columns)?;
        }
        take_sort(&base.sort, rest, &mut columns)?;
        read.extend(columns.into_iter().map(|(name, value)| ReadColumn {
            name: name.into(),
            keeps_spelling: true,
            value,
        }));
        Ok(())
    }

    /// Returns true if the key holds this column's value, but not the way it is spelled (the scale of
    /// a decimal): the record keeps it then.
    pub fn loses_spelling(&self, name: &str, value: &Value) -> bool {
        let base = self.base.as_ref();
        let mut sort = self.sort.iter().chain(base.map(|base| &base.sort).into_iter().flatten());
        let partition = base.and_then(|base| base.partition.as_ref()).into_iter().flatten();
        let mut partition = self.partition.iter().chain(partition);
        // The serialised partition key of a hashed table keeps it.
        let is_raw = self.placement == Placement::Hashed;
        let is_concerned = sort.any(|column| column.name == name)
            || !is_raw && partition.any(|column| column.name == name);
        is_concerned && !is_plainly_spelled(value)
    }

    fn read_partition(&self, key: &RowKey) -> Result<KeyMemo> {
        let mut rest =
            key.strip_prefix(self.prefix.as_ref()).ok_or_else(|| damaged("another table"))?;
        if self.placement == Placement::Hashed {
            rest = rest.get(8..).ok_or_else(|| damaged("no token"))?;
        }
        let mut columns = Vec::with_capacity(self.partition.len());
        take_partition(self.placement, &self.partition, &mut rest, &mut columns)?;
        let columns = self.partition.iter().zip(columns);
        let columns: Vec<ReadColumn> = columns
            .map(|(own, (_, value))| ReadColumn::new(&own.name, &own.key_type, value))
            .collect();
        let bytes = key.buffer().slice(..key.len() - rest.len());
        Ok(KeyMemo { bytes, partition: columns.len(), columns })
    }
}

/// Returns true if equal values of the type may be spelled differently.
fn keeps_spelling(key_type: &KeyType) -> bool {
    match key_type {
        KeyType::Decimal => true,
        KeyType::Tuple(fields) | KeyType::Record(fields) => fields.iter().any(keeps_spelling),
        KeyType::List(inner) | KeyType::Set(inner) | KeyType::Kinded(inner) => {
            keeps_spelling(inner)
        }
        KeyType::Map(key, value) => keeps_spelling(key) || keeps_spelling(value),
        _ => false,
    }
}

/// Returns true if a value has the one spelling that keys decode to.
fn is_plainly_spelled(value: &Value) -> bool {
    match value {
        Value::Number(number) if number.is_zero() => number.scale() == 0,
        Value::Number(number) => number.unscaled() % 10 != BigInt::ZERO,
        Value::List(values) | Value::Set(values) => values.iter().all(is_plainly_spelled),
        Value::Tuple(fields) => fields.iter().flatten().all(is_plainly_spelled),
        Value::Pairs(pairs) => {
            pairs.iter().all(|(key, value)| is_plainly_spelled(key) && is_plainly_spelled(value))
        }
        _ => true,
    }
}

/// Returns a stored key without its chunk number.
///
/// # Errors
///
/// * `Corrupt`: the key is none of this table or index.
#[inline]
pub fn without_chunk(key: &[u8]) -> Result<&[u8]> {
    // Chunk numbers below 128 take one byte, and the head, by which rows are found, is 0.
    match key.split_last() {
        Some((0, row)) => Ok(row),
        _ => Err(damaged("no head")),
    }
}

fn damaged(what: &str) -> Error {
    Error::corrupt(format!("a stored key cannot be read: {what}"))
}

fn put_partition(
    placement: Placement,
    columns: &[KeyColumn],
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    if placement == Placement::Hashed {
        out.extend_from_slice(&[0; 8]);
        let raw = raw_partition(columns, values)?;
        if let Some(place) = out.get_mut(start..start + 8) {
            place.copy_from_slice(&token_bytes(token(&raw)));
        }
        put_bytes(out, Direction::Ascending, &raw);
        return Ok(());
    }
    put_partition_raw(placement, columns, values, out)
}

/// Puts the partition key without its token.
fn put_partition_raw(
    placement: Placement,
    columns: &[KeyColumn],
    values: &[Value],
    out: &mut Vec<u8>,
) -> Result<()> {
    if placement == Placement::Hashed {
        put_bytes(out, Direction::Ascending, &raw_partition(columns, values)?);
        return Ok(());
    }
    if columns.len() != values.len() {
        return Err(Error::invalid(format!(
            "the partition key has {} columns, {} values were given",
            columns.len(),
            values.len()
        )));
    }
    for (column, value) in columns.iter().zip(values) {
        put_component(&column.key_type, Direction::Ascending, value, out)?;
    }
    Ok(())
}

fn raw_partition<'v>(columns: &[KeyColumn], values: &'v [Value]) -> Result<Cow<'v, [u8]>> {
    match (columns, values) {
        ([KeyColumn { key_type: KeyType::Text, .. }], [Value::Text(text)]) => {
            Ok(Cow::Borrowed(text.as_bytes()))
        }
        ([KeyColumn { key_type: KeyType::Bytes, .. }], [Value::Bytes(bytes)]) => {
            Ok(Cow::Borrowed(bytes))
        }
        _ => {
            let mut raw = Vec::new();
            serialise_partition(columns.iter().map(|column| &column.key_type), values, &mut raw)?;
            Ok(Cow::Owned(raw))
        }
    }
}

fn put_sort(columns: &[SortColumn], values: &[Value], out: &mut Vec<u8>) -> Result<()> {
    for (column, value) in columns.iter().zip(values) {
        put_component(&column.key_type, column.direction, value, out)?;
    }
    Ok(())
}

fn take_partition<'s>(
    placement: Placement,
    columns: &'s [KeyColumn],
    rest: &mut &[u8],
    out: &mut Vec<(&'s str, Value)>,
) -> Result<()> {
    if placement == Placement::Hashed {
        let raw = take_bytes(rest, Direction::Ascending).map_err(|_| damaged("no partition"))?;
        let values = deserialise_partition(columns.iter().map(|column| &column.key_type), &raw)
            .map_err(|_| damaged("partition key"))?;
        out.extend(columns.iter().map(|column| column.name.as_str()).zip(values));
        return Ok(());
    }
    for column in columns {
        let value = take_component(&column.key_type, Direction::Ascending, rest)
            .map_err(|_| damaged("partition key"))?;
        out.push((&column.name, value));
    }
    Ok(())
}

fn take_sort<'s>(
    columns: &'s [SortColumn],
    rest: &mut &[u8],
    out: &mut Vec<(&'s str, Value)>,
) -> Result<()> {
    for column in columns {
        let value = take_component(&column.key_type, column.direction, rest)
            .map_err(|_| damaged("sort key"))?;
        out.push((&column.name, value));
    }
    Ok(())
}
