//! Computes capacity units, which show what an operation would have cost, for
//! `ReturnConsumedCapacity`.
//!
//! Computed only when a request asks. Writes cost what the larger of the two images of an item
//! does; an index costs what changes in its entry; reads cost what was read before filter and
//! projection, rounded once per page. A transaction costs twice, on the table alone.
//!
//! Source: DynamoDB Developer Guide, "Capacity unit consumption", and the project's reference,
//! section 10, read 2026-11.

use std::collections::BTreeMap;

use shelfmark_engine::{AccessReport, Table};
use shelfmark_model::{IndexSchema, Item, Projected, Value, attribute_size_bytes};

use crate::json::Writer;
use crate::limits::{READ_UNIT_BYTES, VECTOR_CHARGE_BYTES_MIN, WRITE_UNIT_BYTES};
use crate::table::{Meta, key_letter, vector_indexes, written_size_bytes};

/// The level of detail of `ReturnConsumedCapacity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Detail {
    #[default]
    None,
    Total,
    Indexes,
}

impl Detail {
    /// Parses `ReturnConsumedCapacity`, whose values the shape has checked.
    pub(crate) fn of(value: Option<&str>) -> Self {
        match value {
            Some("TOTAL") => Self::Total,
            Some("INDEXES") => Self::Indexes,
            _ => Self::None,
        }
    }

    pub(crate) fn is_wanted(self) -> bool {
        self != Self::None
    }
}

/// The kind of operation: in a transaction units cost twice as much and are shown apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Purpose {
    #[default]
    Plain,
    TransactionRead,
    TransactionWrite,
}

/// Capacity units consumed on one table.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Consumed {
    table: f64,
    local: BTreeMap<String, f64>,
    global: BTreeMap<String, f64>,
    /// Bytes that were written to vector indexes; they are no part of the units.
    vectors: BTreeMap<String, usize>,
    purpose: Purpose,
}

/// Returns the units for this many bytes; at least one.
fn units(bytes: usize, unit_bytes: usize) -> f64 {
    let units = bytes.div_ceil(unit_bytes).max(1);
    f64::from(u32::try_from(units).unwrap_or(u32::MAX))
}

/// Returns the units for reading this many bytes at once.
pub(crate) fn read_units(bytes: usize, consistent: bool) -> f64 {
    units(bytes, READ_UNIT_BYTES) * if consistent { 1.0 } else { 0.5 }
}

impl Consumed {
    /// Counts a read of the table.
    pub(crate) fn read(bytes: usize, consistent: bool) -> Self {
        Self { table: read_units(bytes, consistent), ..Self::default() }
    }

    /// Counts a transactional read of one item.
    pub(crate) fn transaction_read(bytes: usize) -> Self {
        let table = 2.0 * read_units(bytes, true);
        Self { table, purpose: Purpose::TransactionRead, ..Self::default() }
    }

    /// Counts the page of a query or scan: the index and what was fetched from the table.
    pub(crate) fn page(report: &AccessReport, local: Option<bool>, consistent: bool) -> Self {
        let mut consumed = Self::default();
        for step in &report.steps {
            let bytes = usize::try_from(step.bytes_read).unwrap_or(usize::MAX);
            match (&step.index, local) {
                (Some(index), Some(local)) => {
                    let arm = if local { &mut consumed.local } else { &mut consumed.global };
                    *arm.entry(index.clone()).or_default() += read_units(bytes, consistent);
                }
                // Items fetched behind index entries are read, and rounded, one by one.
                (None, Some(_)) => {
                    let rows = u32::try_from(step.rows_read).unwrap_or(u32::MAX);
                    if rows > 0 {
                        let each = bytes.div_ceil(usize::try_from(rows).unwrap_or(1));
                        consumed.table += f64::from(rows) * read_units(each, consistent);
                    }
                }
                (_, None) => consumed.table += read_units(bytes, consistent),
            }
        }
        consumed
    }

    /// Counts a write that turned one image of an item into another.
    pub(crate) fn write(table: &Table, old: Option<&Item>, new: Option<&Item>) -> Self {
        let size = |item: Option<&Item>| item.map_or(0, |item| written_size_bytes(table, item));
        let mut consumed =
            Self { table: units(size(old).max(size(new)), WRITE_UNIT_BYTES), ..Self::default() };
        consumed.vectors = vector_bytes(table, old, new);
        if table.schema.indexes.is_empty() {
            return consumed;
        }
        for index in &table.schema.indexes {
            let change = entry_change(table, index, old, new);
            if change > 0.0 {
                let local = Meta::is_local_in(table, &index.name);
                let arm = if local { &mut consumed.local } else { &mut consumed.global };
                arm.insert(index.name.clone(), change);
            }
        }
        consumed
    }

    /// Counts a write that was refused: the larger of the item that is there and the one that it
    /// carried. Indexes are not written.
    pub(crate) fn refused_write(
        table: &Table,
        there: Option<&Item>,
        carried: Option<&Item>,
    ) -> Self {
        let size = |item: Option<&Item>| item.map_or(0, |item| written_size_bytes(table, item));
        let bytes = size(there).max(size(carried));
        Self { table: units(bytes, WRITE_UNIT_BYTES), ..Self::default() }
    }

    /// Converts the units of a write to those of a write in a transaction.
    pub(crate) fn in_transaction(mut self) -> Self {
        self.table *= 2.0;
        self.purpose = Purpose::TransactionWrite;
        self
    }

    /// Adds the units that another operation on the same table consumed.
    pub(crate) fn add(&mut self, other: Self) {
        self.table += other.table;
        self.purpose = other.purpose;
        for (name, units) in other.local {
            *self.local.entry(name).or_default() += units;
        }
        for (name, units) in other.global {
            *self.global.entry(name).or_default() += units;
        }
        for (name, bytes) in other.vectors {
            *self.vectors.entry(name).or_default() += bytes;
        }
    }

    fn total(&self) -> f64 {
        self.table + self.local.values().sum::<f64>() + self.global.values().sum::<f64>()
    }

    /// Writes the structure `ConsumedCapacity`.
    pub(crate) fn put(&self, out: &mut Writer, table: &str, detail: Detail) {
        out.object(|out| {
            out.name("TableName").text(table);
            self.put_units(out, self.total());
            if detail != Detail::Indexes {
                return;
            }
            out.name("Table").object(|out| self.put_units(out, self.table));
            for (name, arm) in
                [("LocalSecondaryIndexes", &self.local), ("GlobalSecondaryIndexes", &self.global)]
            {
                if arm.is_empty() {
                    continue;
                }
                out.name(name).object(|out| {
                    for (index, units) in arm {
                        out.name(index).object(|out| out.name("CapacityUnits").fraction(*units));
                    }
                });
            }
            if !self.vectors.is_empty() {
                out.name("VectorIndexes").object(|out| {
                    for (index, bytes) in &self.vectors {
                        let bytes = u32::try_from(*bytes).map_or(f64::MAX, f64::from);
                        out.name(index)
                            .object(|out| out.name("VectorWriteRequestBytes").fraction(bytes));
                    }
                });
            }
        });
    }

    fn put_units(&self, out: &mut Writer, units: f64) {
        out.name("CapacityUnits").fraction(units);
        match self.purpose {
            Purpose::Plain => {}
            Purpose::TransactionRead => out.name("ReadCapacityUnits").fraction(units),
            Purpose::TransactionWrite => out.name("WriteCapacityUnits").fraction(units),
        }
    }
}

/// Capacity units consumed per table, for operations over several.
#[derive(Debug, Default)]
pub(crate) struct ConsumedByTable {
    tables: BTreeMap<String, Consumed>,
}

impl ConsumedByTable {
    pub(crate) fn add(&mut self, table: &str, consumed: Consumed) {
        match self.tables.get_mut(table) {
            Some(found) => found.add(consumed),
            None => {
                self.tables.insert(table.to_owned(), consumed);
            }
        }
    }

    /// Adds units to a table that has some already.
    pub(crate) fn add_to(&mut self, table: &str, consumed: Consumed) {
        if let Some(found) = self.tables.get_mut(table) {
            found.add(consumed);
        }
    }

    /// Writes the member `ConsumedCapacity`, if the request wants it.
    pub(crate) fn put(&self, out: &mut Writer, detail: Detail) {
        if !detail.is_wanted() {
            return;
        }
        out.name("ConsumedCapacity").list(|out| {
            for (table, consumed) in &self.tables {
                consumed.put(out, table, detail);
            }
        });
    }
}

/// Returns the bytes that a write sends to each vector index whose entry it changes.
fn vector_bytes(table: &Table, old: Option<&Item>, new: Option<&Item>) -> BTreeMap<String, usize> {
    let mut bytes = BTreeMap::new();
    for (name, index) in vector_indexes(&table.schema) {
        let entry = |item: Option<&Item>| item.and_then(|item| index.entry_bytes(table, item));
        let is_held = |name: &str| *name == index.attribute || index.holds(table, name);
        let part = |item: Option<&Item>| -> Vec<_> {
            let item = item.into_iter().flatten().filter(|(name, _)| is_held(name));
            item.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let changed = match (entry(old), entry(new)) {
            (_, Some(now)) if part(old) != part(new) => Some(now),
            (Some(before), None) => Some(before),
            _ => None,
        };
        bytes.extend(changed.map(|changed| (name, changed.max(VECTOR_CHARGE_BYTES_MIN))));
    }
    bytes
}

/// Returns the units of what changes in one index: nothing for an unchanged entry, both entries if
/// it moves.
fn entry_change(table: &Table, index: &IndexSchema, old: Option<&Item>, new: Option<&Item>) -> f64 {
    let old = old.and_then(|item| Entry::of(table, index, item));
    let new = new.and_then(|item| Entry::of(table, index, item));
    match (old, new) {
        (None, None) => 0.0,
        (Some(entry), None) | (None, Some(entry)) => units(entry.size, WRITE_UNIT_BYTES),
        (Some(old), Some(new)) if !same(&old.key, &new.key) => {
            units(old.size, WRITE_UNIT_BYTES) + units(new.size, WRITE_UNIT_BYTES)
        }
        (Some(old), Some(new)) if same(&old.attributes, &new.attributes) => 0.0,
        (Some(old), Some(new)) => units(old.size.max(new.size), WRITE_UNIT_BYTES),
    }
}

/// The size and key of an index entry, as its cost depends on them.
struct Entry<'i> {
    key: Vec<(&'i str, &'i Value)>,
    attributes: Vec<(&'i str, &'i Value)>,
    size: usize,
}

impl<'i> Entry<'i> {
    /// Returns the entry of an item, if it has one.
    fn of(table: &'i Table, index: &'i IndexSchema, item: &'i Item) -> Option<Self> {
        let partition = index.partition.iter().map(|column| (&column.name, &column.key_type));
        let sort = index.sort.iter().map(|column| (&column.name, &column.key_type));
        let key: Vec<(&str, &Value)> = partition
            .chain(sort)
            .map(|(name, key_type)| {
                let value = item.get(name)?;
                let fits = crate::errors::type_name(value) == key_letter(key_type);
                fits.then_some((name.as_str(), value))
            })
            .collect::<Option<_>>()?;
        let is_key =
            |name: &str| table.schema.is_key(name) || key.iter().any(|(own, _)| *own == name);
        let attributes: Vec<(&str, &Value)> = item
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| match &index.projected {
                Projected::All => true,
                Projected::KeysOnly => is_key(name),
                Projected::Include(names) => is_key(name) || names.iter().any(|own| own == name),
            })
            .collect();
        let size = attributes.iter().map(|(name, value)| attribute_size_bytes(name, value)).sum();
        Some(Self { key, attributes, size })
    }
}

fn same(one: &[(&str, &Value)], two: &[(&str, &Value)]) -> bool {
    one.len() == two.len()
        && one.iter().zip(two).all(|((a, one), (b, two))| a == b && one.equals(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_whole_and_at_least_one() {
        for (bytes, expected) in [(0, 1.0), (1, 1.0), (1_024, 1.0), (1_025, 2.0), (409_600, 400.0)]
        {
            assert_eq!(units(bytes, WRITE_UNIT_BYTES), expected, "{bytes}");
        }
        assert_eq!(read_units(4_097, true), 2.0);
        assert_eq!(read_units(4_097, false), 1.0);
        assert_eq!(read_units(0, false), 0.5);
    }
}
