//! Operations on the cells of a row as changes of the attributes of an item.
//!
//! Invariant: what a write leaves in an item is what DynamoDB's own calls could have put there: sets
//! are not empty, numbers have at most 38 digits and the spelling without zeros at their end.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_model::{Column, ColumnType, Item, KeyType, Value};

use super::super::value::{attribute_for_item, name_of_raw, plain, set_or_list};
use super::{CellsOfItems, check_number, elements};
use crate::cells::CellOperation;
use crate::error::{Error, ErrorKind, Result};

/// Deepest nesting of an attribute's value.
///
/// Source: DynamoDB Developer Guide, "Quotas", 32 levels, read 2026-11.
const DEPTH_MAX: usize = 32;

impl CellsOfItems {
    /// Applies operations to an item. Those on the column of the other attributes come first, so that
    /// columns set beside it stay.
    pub(super) fn apply_to(&self, item: &mut Item, operations: &[CellOperation]) -> Result<()> {
        let mut by_column: BTreeMap<u32, Vec<&CellOperation>> = BTreeMap::new();
        for operation in operations {
            by_column.entry(column_of(operation)).or_default().push(operation);
        }
        if let Some(others) = &self.columns.others
            && let Some(operations) = by_column.remove(&others.column)
        {
            operations.into_iter().try_for_each(|own| self.set_others(item, own))?;
        }
        for (id, operations) in by_column {
            let column = self.columns.numbered(id);
            let column = column.ok_or_else(|| Error::invalid("the table has no such column"))?;
            let old = item.remove(&column.name);
            let old = self.kept(column, old, &operations)?;
            if let Some(value) = changed(column, old, &operations)? {
                item.set(column.name.as_str(), checked(&column.name, value, 1)?);
            }
        }
        Ok(())
    }

    /// Returns what operations on a collection go on from.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::Invalid`]: it does not fit its column, so nobody saw what would be added to.
    fn kept(
        &self,
        column: &Column,
        old: Option<Value>,
        operations: &[&CellOperation],
    ) -> Result<Option<Value>> {
        let begins_anew = matches!(
            operations.first(),
            Some(
                CellOperation::Clear { .. }
                    | CellOperation::Overwrite { .. }
                    | CellOperation::OverwriteList { .. }
                    | CellOperation::Set { .. }
                    | CellOperation::Delete { .. }
            )
        );
        // Null is no value of a collection, and what is replaced need not fit.
        let old = old.filter(|own| *own != Value::Null && !begins_anew);
        match old {
            Some(own) if self.columns.cells_of(column, &own).is_none() => {
                Err(Error::invalid(format!(
                    "attribute {} does not fit its column; set the column as a whole",
                    column.name
                )))
            }
            old => Ok(old),
        }
    }

    /// Replaces the attributes that are shown in the column of the others.
    fn set_others(&self, item: &mut Item, operation: &CellOperation) -> Result<()> {
        let Some(own) = &self.columns.others else { return Ok(()) };
        let text = match operation {
            CellOperation::Set { value, .. } => std::str::from_utf8(value)
                .map_err(|_| Error::invalid("the text of the other attributes is not UTF-8"))?,
            CellOperation::Delete { .. } => "",
            _ => return Err(Error::invalid("the other attributes are written as one text")),
        };
        let given = match text {
            "" => Item::new(),
            text => own.text.attributes(text).map_err(|why| {
                Error::invalid(format!("the text of the other attributes cannot be read: {why}"))
            })?,
        };
        let is_key = |name: &str| self.base.schema.is_key(name);
        for (name, value) in given.iter() {
            if is_key(name) || self.has_column(name, value) {
                return Err(Error::invalid(format!(
                    "attribute {name} has a column of its own; write it there, and leave it out of \
                     the text of the other attributes"
                )));
            }
        }
        let shown: Vec<_> = item
            .iter()
            .filter(|(name, value)| !is_key(name) && !self.has_column(name, value))
            .map(|(name, _)| name.clone())
            .collect();
        shown.iter().for_each(|name| drop(item.remove(name)));
        for (name, value) in given.iter() {
            item.set(name.clone(), checked(name, value.clone(), 1)?);
        }
        Ok(())
    }
}

fn column_of(operation: &CellOperation) -> u32 {
    match operation {
        CellOperation::Set { column, .. }
        | CellOperation::Delete { column }
        | CellOperation::SetElement { column, .. }
        | CellOperation::DeleteElement { column, .. }
        | CellOperation::Clear { column }
        | CellOperation::Overwrite { column, .. }
        | CellOperation::OverwriteList { column, .. }
        | CellOperation::Append { column, .. }
        | CellOperation::Prepend { column, .. }
        | CellOperation::Add { column, .. } => *column,
    }
}

/// Returns what an attribute that fits its column becomes; `None` removes it.
fn changed(
    column: &Column,
    old: Option<Value>,
    operations: &[&CellOperation],
) -> Result<Option<Value>> {
    match &column.column_type {
        ColumnType::Value(key_type) => value(column, key_type, operations),
        ColumnType::Counter => Err(unknown(column)),
        ColumnType::Set(inner) => {
            let members = match old {
                Some(Value::Set(members) | Value::List(members)) => members,
                _ => Vec::new(),
            };
            set(column, inner, members, operations)
        }
        ColumnType::Map(keys, values) => {
            let entries = match old {
                Some(Value::Map(entries)) => entries,
                _ => BTreeMap::new(),
            };
            map(column, (keys, values), entries, operations)
        }
        ColumnType::List(inner) => {
            let values = match old {
                Some(Value::List(values)) => values,
                _ => Vec::new(),
            };
            list(column, inner, values, operations)
        }
    }
}

fn unknown(column: &Column) -> Error {
    Error::invalid(format!("column {} of a table of items has no such operation", column.name))
}

fn value(
    column: &Column,
    key_type: &KeyType,
    operations: &[&CellOperation],
) -> Result<Option<Value>> {
    match operations.last() {
        Some(CellOperation::Set { value, .. }) => attribute(column, key_type, value).map(Some),
        Some(CellOperation::Delete { .. }) => Ok(None),
        _ => Err(unknown(column)),
    }
}

/// Returns the attribute of a plain serialisation.
fn attribute(column: &Column, key_type: &KeyType, raw: &[u8]) -> Result<Value> {
    check_not_empty(column, key_type, raw)?;
    attribute_for_item(plain(key_type), raw)
}

fn check_not_empty(column: &Column, key_type: &KeyType, raw: &[u8]) -> Result<()> {
    if raw.is_empty() && !matches!(plain(key_type), KeyType::Text | KeyType::Bytes) {
        return Err(Error::invalid(format!(
            "column {} takes no empty value: its attribute would have none of the column's type",
            column.name
        )));
    }
    Ok(())
}

fn set(
    column: &Column,
    inner: &KeyType,
    mut members: Vec<Value>,
    operations: &[&CellOperation],
) -> Result<Option<Value>> {
    for operation in operations {
        match operation {
            CellOperation::SetElement { path, .. } => {
                let member = attribute(column, inner, path)?;
                if !members.iter().any(|own| own.equals(&member)) {
                    members.push(member);
                }
            }
            CellOperation::DeleteElement { path, .. } => {
                let member = attribute(column, inner, path)?;
                members.retain(|own| !own.equals(&member));
            }
            CellOperation::Clear { .. } => members.clear(),
            CellOperation::Overwrite { elements, .. } => {
                let given = elements.iter().map(|(path, _)| attribute(column, inner, path));
                members = given.collect::<Result<_>>()?;
            }
            _ => return Err(unknown(column)),
        }
    }
    Ok((!members.is_empty()).then(|| set_or_list(members)))
}

fn map(
    column: &Column,
    (keys, values): (&KeyType, &KeyType),
    mut entries: BTreeMap<String, Value>,
    operations: &[&CellOperation],
) -> Result<Option<Value>> {
    let name = |path: &Bytes| {
        check_not_empty(column, keys, path)?;
        name_of_raw(keys, path)
    };
    for operation in operations {
        match operation {
            CellOperation::SetElement { path, value, .. } => {
                entries.insert(name(path)?, attribute(column, values, value)?);
            }
            CellOperation::DeleteElement { path, .. } => drop(entries.remove(&name(path)?)),
            CellOperation::Clear { .. } => entries.clear(),
            CellOperation::Overwrite { elements, .. } => {
                let given = elements
                    .iter()
                    .map(|(path, value)| Ok((name(path)?, attribute(column, values, value)?)));
                entries = given.collect::<Result<_>>()?;
            }
            _ => return Err(unknown(column)),
        }
    }
    Ok((!entries.is_empty()).then_some(Value::Map(entries)))
}

/// Elements keep the paths that they were read under until all operations are done.
fn list(
    column: &Column,
    inner: &KeyType,
    values: Vec<Value>,
    operations: &[&CellOperation],
) -> Result<Option<Value>> {
    let mut elements: Vec<(Bytes, Value)> = Vec::with_capacity(values.len());
    for (at, value) in values.into_iter().enumerate() {
        let path =
            elements::raw(&column.name, inner, &value).map(|raw| elements::list_path(at, &raw));
        elements.push((path.unwrap_or_default(), value));
    }
    let given = |values: &[Bytes]| -> Result<Vec<(Bytes, Value)>> {
        values.iter().map(|raw| Ok((Bytes::new(), attribute(column, inner, raw)?))).collect()
    };
    for operation in operations {
        match operation {
            CellOperation::SetElement { path, value, .. } => {
                let value = attribute(column, inner, value)?;
                let found = elements.iter_mut().find(|(own, _)| own == path);
                let (_, place) = found.ok_or_else(|| {
                    Error::new(
                        ErrorKind::Conflict,
                        format!(
                            "list {} was changed meanwhile; read it and try again",
                            column.name
                        ),
                    )
                })?;
                *place = value;
            }
            CellOperation::DeleteElement { path, .. } => elements.retain(|(own, _)| own != path),
            CellOperation::Clear { .. } => elements.clear(),
            CellOperation::OverwriteList { values, .. } => elements = given(values)?,
            CellOperation::Append { values, .. } => elements.extend(given(values)?),
            CellOperation::Prepend { values, .. } => drop(elements.splice(0..0, given(values)?)),
            _ => return Err(unknown(column)),
        }
    }
    let values: Vec<Value> = elements.into_iter().map(|(_, value)| value).collect();
    Ok((!values.is_empty()).then_some(Value::List(values)))
}

/// Returns a value as items have it, and refuses what they do not have.
fn checked(name: &str, value: Value, depth: usize) -> Result<Value> {
    if depth > DEPTH_MAX {
        return Err(Error::invalid(format!(
            "attribute {name} is nested deeper than {DEPTH_MAX} levels"
        )));
    }
    let inner = |value: Value| checked(name, value, depth + 1);
    Ok(match value {
        Value::Number(number) => {
            let value = Value::Number(number.normalized());
            check_number(name, &value)?;
            value
        }
        Value::Set(members) if members.is_empty() => {
            return Err(Error::invalid(format!(
                "attribute {name} holds an empty set, which items do not have"
            )));
        }
        Value::Set(members) => Value::set(members.into_iter().map(inner).collect::<Result<_>>()?),
        Value::List(values) => Value::List(values.into_iter().map(inner).collect::<Result<_>>()?),
        Value::Map(entries) => {
            let entry = |(key, value)| Ok((key, inner(value)?));
            Value::Map(entries.into_iter().map(entry).collect::<Result<_>>()?)
        }
        other => other,
    })
}
