//! Tables of the typed layer as other faces read them: entities, and ordered tables.
//!
//! Their keys and names stand in the catalogue, and their values say of what kind they are. An entity
//! has two texts as its key. An ordered table is one partition whose number is always 0, shown as
//! `shelf`; the parts of its key are the sort key, in their own order and direction. What one face
//! cannot say as a key it does not show: the error names the part and why.
//!
//! What it is not: a way to write. The typed layer splits partitions, keeps indexes of its own and runs
//! hooks behind its writes.
//!
//! Invariant: what is read lies in the order of the table's keys, so no token says where it is.

mod attributes;
mod fields;
mod items;
mod key;

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_model::serial::serialise;
use shelfmark_model::{Item, Key, KeyColumn, TableName, TableSchema, Value};

pub use fields::{FieldKind, declare_fields, declared_fields};
pub(super) use key::{Form, Part};

use crate::catalogue::{Owner, Table, blank_table};
use crate::error::{Error, Result};

/// The place of the word for the kind of a typed table among its options.
const KIND: &str = "typed";

/// The words of the kinds that other faces may see.
const SHOWN_KINDS: [&str; 2] = ["entities", "ordered"];

/// The partition column of an ordered table: one byte, always zero.
const SHELF: &str = "_shelf";

/// The name that other faces see of it; with `_` behind it where a part of the key has that name.
const SHELF_SHOWN: &str = "shelf";

/// Returns true if a table of the typed layer may be seen by other faces; names that begin with `_`
/// are its own.
pub(super) fn is_shown(schema: &TableSchema) -> bool {
    let kind = schema.options.face.get(KIND).and_then(|own| own.as_text());
    Owner::of_table(schema) == Owner::Typed
        && kind.is_some_and(|kind| SHOWN_KINDS.contains(&kind))
        && !schema.name.name.starts_with('_')
}

/// A typed table in the form in which another kind of face reads it.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(super) base: Arc<Table>,
    /// The partition key, which is one column.
    pub(super) partition: Part,
    pub(super) sort: Vec<Part>,
}

/// A typed table that is seen as one of items.
#[derive(Debug)]
pub(crate) struct ItemsOfTyped(Typed);

impl ItemsOfTyped {
    /// Returns the table of items that a typed table is.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a part of its key is no key of an item.
    pub(super) fn table(base: &Arc<Table>) -> Result<Table> {
        let typed = Typed::of(base, Form::Items)?;
        let TableName { namespace, name } = &base.schema.name;
        let schema = typed.schema(TableName::new(&**namespace, format!("{namespace}.{name}")));
        Ok(Table { readable: Some(Self(typed)), ..blank_table(schema, base.id) })
    }

    pub(crate) fn base(&self) -> &Arc<Table> {
        &self.0.base
    }
}

impl Typed {
    /// Returns the form of a table.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: a part of its key has no such form. The message says which.
    pub(super) fn of(base: &Arc<Table>, form: Form) -> Result<Self> {
        let own = &base.schema;
        let [KeyColumn { name, key_type }] = own.partition.as_slice() else {
            return Err(Error::invalid(format!(
                "table {} has a partition key of several columns",
                own.name
            )));
        };
        let mut shown = if name == SHELF { SHELF_SHOWN.to_owned() } else { name.clone() };
        while own.sort.iter().any(|own| own.name == shown) {
            shown.push('_');
        }
        let part = |stored: &str, shown: &str, key_type| {
            Part::of(form, stored, shown, key_type).map_err(|why| {
                Error::invalid(format!(
                    "table {} cannot be read here: part {shown} of its key {why}",
                    own.name
                ))
            })
        };
        let sort = own.sort.iter().map(|own| part(&own.name, &own.name, &own.key_type));
        Ok(Self {
            partition: part(name, &shown, key_type)?,
            sort: sort.collect::<Result<_>>()?,
            base: Arc::clone(base),
        })
    }

    /// Returns the partition key of an ordered table as a face of cells sees it.
    pub(super) fn only_partition(&self) -> Option<Bytes> {
        let mut raw = Vec::new();
        let is_only = self.partition.stored == SHELF;
        is_only.then(|| serialise(&self.partition.shown_type, &Value::Int(0), &mut raw).ok())??;
        Some(raw.into())
    }

    /// Returns the key of a stored item as it is shown, and its other attributes.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Invalid`]: the item has no such key.
    pub(super) fn apart(&self, mut item: Item) -> Result<(Key, Item)> {
        let Self { base, partition, sort } = self;
        let mut take = |part: &Part| match item.remove(&part.stored) {
            Some(value) => Ok(part.show(value)),
            None => Err(Error::invalid(format!("an item has no key part {}", part.stored))),
        };
        let key = Key {
            partition: vec![take(partition)?],
            sort: sort.iter().map(take).collect::<Result<_>>()?,
        };
        let is_key =
            |name: &str| partition.shown == name || sort.iter().any(|part| part.shown == name);
        Ok((key, attributes::shown(item, |name| base.schema.is_key(name), is_key)))
    }

    /// Returns the schema that a face sees under `name`.
    pub(super) fn schema(&self, name: TableName) -> TableSchema {
        let Self { base, partition, sort } = self;
        let mut schema = base.schema.clone();
        schema.name = name;
        schema.partition = vec![KeyColumn::new(&*partition.shown, partition.shown_type.clone())];
        for (column, part) in schema.sort.iter_mut().zip(sort) {
            column.key_type = part.shown_type.clone();
        }
        schema.indexes.clear();
        schema
    }
}

/// Returns the refusal to write a typed table from another face.
pub(super) fn read_alone(base: &Table) -> Error {
    Error::invalid(format!(
        "table {} belongs to typed tables: it is read here and written there",
        base.schema.name
    ))
}
