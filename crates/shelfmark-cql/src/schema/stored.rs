//! Tables of CQL as tables of the engine.
//!
//! What it is not: the engine's own checks of a schema.
//!
//! Invariant: a part of a key that is stored never changes its bytes. User types in keys get their new
//! fields at the end, where those that are not there are not written.

use shelfmark_cql_protocol::CqlError;
use shelfmark_cql_types::{CqlType, key_type};
use shelfmark_engine::Share;
use shelfmark_model::{
    CellIndex, CellIndexTarget, Column as StoredColumn, ColumnType, Direction, IndexState,
    KeyColumn, KeyType, SortColumn, TableName, TableSchema,
};

use super::record::encode_table;
use super::{Column, ColumnKind, Index, IndexTarget, Table};

/// Returns the engine's name of a table.
pub(crate) fn stored_name(table: &Table) -> TableName {
    TableName::new(&*table.keyspace, &*table.name)
}

/// Returns the engine's schema of a new table.
pub(crate) fn stored_schema(table: &Table) -> TableSchema {
    let partition =
        table.partition_columns().iter().map(|own| KeyColumn::new(&*own.name, key_type(&own.kind)));
    let mut schema = TableSchema::of_cells(stored_name(table), partition.collect());
    if let Some(cells) = &mut schema.cells {
        cells.packs_long_keys = true;
    }
    schema.sort = table
        .clustering_columns()
        .iter()
        .map(|own| {
            let direction =
                if own.descending { Direction::Descending } else { Direction::Ascending };
            SortColumn::clustering(&*own.name, key_type(&own.kind), direction)
        })
        .collect();
    update_stored(table, &mut schema);
    schema
}

/// Brings what may change of a table's schema up to date: columns, options, the attachment.
pub(crate) fn update_stored(table: &Table, schema: &mut TableSchema) {
    for (own, stored) in table.partition_columns().iter().zip(&mut schema.partition) {
        stored.name = own.name.to_string();
    }
    for (own, stored) in table.clustering_columns().iter().zip(&mut schema.sort) {
        stored.name = own.name.to_string();
        grow(&mut stored.key_type, &clustering_type(own));
    }
    schema.columns = table.other_columns().iter().map(stored_column).collect();
    schema.options.gc_grace_seconds = u32::try_from(table.options.gc_grace_seconds).unwrap_or(0);
    Share::put(share_of(table), schema);
    if let Some(cells) = &mut schema.cells {
        cells.attachment = encode_table(table).into();
        cells.revived.clone_from(&table.revived);
        for stored in &mut cells.indexes {
            let wanted = index_terms(table, &stored.name);
            for (term, wanted) in stored.terms.iter_mut().zip(&wanted) {
                grow(term, wanted);
            }
        }
    }
}

/// Returns the grant of a table to other faces. They know no masks, so a masked table is theirs only
/// where its own option says so.
fn share_of(table: &Table) -> Option<Share> {
    let own = Share::of_word(&table.options.share);
    if own.is_none() && table.has_masks() { Some(Share::None) } else { own }
}

fn clustering_type(column: &Column) -> KeyType {
    KeyType::Kinded(Box::new(key_type(&column.kind)))
}

/// Returns the types of the terms of an index of this name; none if there is none.
fn index_terms(table: &Table, name: &str) -> Vec<KeyType> {
    let index = table.indexes.iter().find(|own| own.name == name);
    index.and_then(|own| stored_index(table, own).ok()).map(|own| own.terms).unwrap_or_default()
}

/// Adds the fields that user types in a stored key have got.
fn grow(stored: &mut KeyType, wanted: &KeyType) {
    match (stored, wanted) {
        (KeyType::Record(own), KeyType::Record(all)) => {
            own.iter_mut().zip(all).for_each(|(own, wanted)| grow(own, wanted));
            own.extend(all.iter().skip(own.len()).cloned());
        }
        (KeyType::Tuple(own), KeyType::Tuple(all)) => {
            own.iter_mut().zip(all).for_each(|(own, wanted)| grow(own, wanted));
        }
        (KeyType::List(own), KeyType::List(wanted))
        | (KeyType::Set(own), KeyType::Set(wanted))
        | (KeyType::Kinded(own), KeyType::Kinded(wanted)) => grow(own, wanted),
        (KeyType::Map(key, value), KeyType::Map(wanted_key, wanted_value)) => {
            grow(key, wanted_key);
            grow(value, wanted_value);
        }
        _ => {}
    }
}

/// Tells whether the stored keys and index terms of a table can hold its columns' types as they are
/// now.
pub(crate) fn keeps_up(table: &Table) -> bool {
    let Some(stored) = &table.stored else { return true };
    let mut schema = stored.schema.clone();
    update_stored(table, &mut schema);
    let keys = table.clustering_columns().iter().zip(&schema.sort);
    let indexes = schema.cells.iter().flat_map(|cells| &cells.indexes);
    keys.into_iter().all(|(own, stored)| stored.key_type == clustering_type(own))
        && indexes.into_iter().all(|own| own.terms == index_terms(table, &own.name))
}

pub(super) fn stored_column(column: &Column) -> StoredColumn {
    let column_type = match &column.kind {
        CqlType::Native(shelfmark_cql_types::Native::Counter) => ColumnType::Counter,
        CqlType::List { element, frozen: false } => ColumnType::List(key_type(element)),
        CqlType::Set { element, frozen: false } => ColumnType::Set(key_type(element)),
        CqlType::Map { key, value, frozen: false } => {
            ColumnType::Map(key_type(key), key_type(value))
        }
        // A field is a cell whose path is the field's place.
        CqlType::User { frozen: false, .. } => ColumnType::Map(KeyType::Bytes, KeyType::Bytes),
        ty => ColumnType::Value(key_type(ty)),
    };
    StoredColumn {
        name: column.name.to_string(),
        id: column.id,
        column_type,
        is_static: column.role == ColumnKind::Static,
    }
}

/// Returns the engine's form of an index, to be built.
///
/// # Errors
///
/// * `Invalid`: the column is not there, or the target does not fit it.
pub(crate) fn stored_index(table: &Table, index: &Index) -> Result<CellIndex, CqlError> {
    let refuse = || {
        CqlError::invalid(format!(
            "Undefined column name {} in table {}.{}",
            index.column, table.keyspace, table.name
        ))
    };
    let column = table.column(&index.column).ok_or_else(refuse)?;
    let one = |ty: &CqlType| vec![key_type(ty)];
    let id = column.id;
    let (target, terms) = match (column.role, index.target, &column.kind) {
        (ColumnKind::PartitionKey, _, ty) => (CellIndexTarget::PartitionColumn(id), one(ty)),
        (ColumnKind::Clustering, _, ty) => (CellIndexTarget::SortColumn(id), one(ty)),
        (_, IndexTarget::Values | IndexTarget::Value, CqlType::Set { element, frozen: false })
        | (_, IndexTarget::Keys, CqlType::Set { element, frozen: false }) => {
            (CellIndexTarget::Keys(id), one(element))
        }
        (_, IndexTarget::Values | IndexTarget::Value, CqlType::List { element, frozen: false }) => {
            (CellIndexTarget::Values(id), one(element))
        }
        (
            _,
            IndexTarget::Values | IndexTarget::Value,
            CqlType::Map { value, frozen: false, .. },
        ) => (CellIndexTarget::Values(id), one(value)),
        (_, IndexTarget::Keys, CqlType::Map { key, .. }) => (CellIndexTarget::Keys(id), one(key)),
        (_, IndexTarget::Entries, CqlType::Map { key, value, .. }) => {
            let mut terms = one(key);
            terms.extend(one(value));
            (CellIndexTarget::Entries(id), terms)
        }
        (_, _, ty) => (CellIndexTarget::Column(id), one(ty)),
    };
    Ok(CellIndex {
        name: index.name.clone(),
        target,
        terms,
        fold: index.fold(),
        state: IndexState::Building,
    })
}
