//! The operations on cells that make a row of one item a row of another.
//!
//! Invariant: what a write names is written anew, with the time and the expiry of that write, whether
//! its value is another one or not; what it does not name keeps its own.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use shelfmark_model::serial::serialise;
use shelfmark_model::{Column, ColumnType, Item, KeyType, Patch, PatchOperation, Step, Value};

use super::mapping::ItemsOfCells;
use super::value::{key_of_name, raw_of};
use crate::cells::CellOperation;
use crate::error::{Error, Result};
use crate::items::Change;

/// The part of an attribute that a write names.
enum Named {
    Nothing,
    /// Elements of a set or map, by their paths.
    Elements(BTreeSet<Bytes>),
    Whole,
}

impl ItemsOfCells {
    /// Returns what makes a row of `old` one of `new`: of a whole item every column is written, of a
    /// patch those that it names.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: an attribute is no column, or is of a type that its column
    ///   does not take. The message says which.
    pub(super) fn operations(
        &self,
        old: Option<&Item>,
        new: &Item,
        change: &Change,
    ) -> Result<Vec<CellOperation>> {
        let is_column = |name: &str| self.columns.iter().any(|own| own.name == name);
        let unknown = new.iter().find(|(name, _)| !self.is_key(name) && !is_column(name));
        if let Some((name, _)) = unknown {
            return Err(Error::invalid(format!(
                "table {} has no column {name} that an item can have; add it with ALTER TABLE, or \
                 leave the attribute out",
                self.base.schema.name
            )));
        }
        let mut operations = Vec::new();
        for column in self.columns.iter().filter(|own| !self.is_key(&own.name)) {
            let (was, is) = (old.and_then(|old| old.get(&column.name)), new.get(&column.name));
            let named = match change {
                Change::Patch { patch, .. } => named(column, patch, is)?,
                _ => Named::Whole,
            };
            match (was, is, named) {
                (None, None, _) => {}
                (was, is, Named::Nothing) if was == is => {}
                (Some(was), Some(is), Named::Elements(paths)) => {
                    changes(column, was, is, &paths, &mut operations)?;
                }
                (_, is, _) => operations.push(operation(column, is)?),
            }
        }
        Ok(operations)
    }

    /// Checks the key and the cells that a write puts into a row.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a column does not take its value. The message says why.
    pub(super) fn check_values(
        &self,
        key: &[(&str, &[u8])],
        operations: &[CellOperation],
    ) -> Result<()> {
        let Some(checks) = &self.checks else { return Ok(()) };
        let schema = &self.base.schema;
        let check = checks.of_table(schema).ok_or_else(|| {
            Error::corrupt(format!("the columns of table {} cannot be read", schema.name))
        })?;
        let one = |column: &str, path: &[u8], value: &[u8]| {
            check
                .check(column, path, value)
                .map_err(|why| Error::invalid(format!("column {column} does not take this: {why}")))
        };
        key.iter().try_for_each(|(column, value)| one(column, &[], value))?;
        let name = |id: u32| {
            let found = schema.columns.iter().find(|own| own.id == id);
            found.map_or("", |own| own.name.as_str())
        };
        operations.iter().try_for_each(|operation| match operation {
            CellOperation::Set { column, value } => one(name(*column), &[], value),
            CellOperation::SetElement { column, path, value } => one(name(*column), path, value),
            CellOperation::Overwrite { column, elements } => {
                let column = name(*column);
                elements.iter().try_for_each(|(path, value)| one(column, path, value))
            }
            CellOperation::OverwriteList { column, values } => {
                let column = name(*column);
                values.iter().try_for_each(|value| one(column, &[], value))
            }
            _ => Ok(()),
        })
    }
}

/// Returns what a patch names of a column, which becomes `is`.
fn named(column: &Column, patch: &Patch, is: Option<&Value>) -> Result<Named> {
    let mut paths = BTreeSet::new();
    let mut is_named = false;
    let elements = |value: &Value| -> Result<Vec<Bytes>> {
        Ok(match operation(column, Some(value))? {
            CellOperation::Overwrite { elements, .. } => {
                elements.into_iter().map(|(path, _)| path).collect()
            }
            _ => Vec::new(),
        })
    };
    for own in &patch.operations {
        let (PatchOperation::Set(path, _)
        | PatchOperation::Remove(path)
        | PatchOperation::Add(path, _)
        | PatchOperation::Subtract(path, _)) = own;
        if path.attribute != column.name {
            continue;
        }
        is_named = true;
        match (&column.column_type, own, path.steps.first()) {
            (ColumnType::Map(keys, _), _, Some(Step::Name(name))) => {
                paths.insert(map_path(column, keys, name)?);
            }
            (ColumnType::Set(_), PatchOperation::Add(_, value), None) => {
                paths.extend(elements(value)?);
            }
            (ColumnType::Set(_), PatchOperation::Subtract(..), None) => {}
            // Element by element all the same: one that another face adds meanwhile stays.
            (ColumnType::Set(_) | ColumnType::Map(..), PatchOperation::Set(..), None) => {
                paths.extend(is.map(elements).transpose()?.into_iter().flatten());
            }
            _ => return Ok(Named::Whole),
        }
    }
    Ok(if is_named { Named::Elements(paths) } else { Named::Nothing })
}

/// Appends what makes an attribute another one: of sets and maps the elements that differ or are
/// named, so that others keep their timestamps and what others write to them stays.
fn changes(
    column: &Column,
    was: &Value,
    is: &Value,
    named: &BTreeSet<Bytes>,
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
    let is_written =
        |path: &Bytes, value: &Bytes| named.contains(path) || old.get(path) != Some(&value);
    for (path, value) in new.iter().filter(|(path, value)| is_written(path, value)) {
        let (path, value) = ((*path).clone(), (*value).clone());
        operations.push(CellOperation::SetElement { column: *id, path, value });
    }
    Ok(())
}

/// Returns the path of an entry of a map.
fn map_path(column: &Column, keys: &KeyType, name: &str) -> Result<Bytes> {
    let mut path = Vec::new();
    serialise(keys, &key_of_name(&column.name, keys, name)?, &mut path)?;
    Ok(path.into())
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
                Ok((map_path(column, keys, key)?, raw_of(name, values, value)?))
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
