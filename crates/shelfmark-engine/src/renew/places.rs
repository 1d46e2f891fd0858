//! Keyspaces that lie in another face's namespace: stores of builds whose namespaces had no owners may
//! hold such.
//!
//! The keyspace moves, for nothing outside its own records knows its name: its tables get names in a
//! namespace of their own, under the ids that they have, so no row is touched.
//!
//! Invariant: due times name the new tables before these are there, so that what interrupts this is
//! done again from the beginning and loses no expiry.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::TableName;
use shelfmark_records::catalogue::keys::put_table_name;
use shelfmark_records::keys::Tree;
use shelfmark_store::KeyRange;
use shelfmark_tables::Result;
use shelfmark_tables::catalogue::Owner;
use shelfmark_tables::rows::{Moment, Walk};

use super::pen::{Pen, persistently};
use super::{Mended, Teller};
use crate::inner::Inner;

/// Moves every keyspace that shares its name with another face into a namespace of its own.
pub(super) fn separate(inner: &Inner, tell: &mut Teller<'_>) -> Result<()> {
    for (from, tables) in crowded(inner)? {
        let to = free_name(inner, &from)?;
        rename_due_times(inner, &tables, &to)?;
        persistently(|| inner.catalogue.move_keyspace(&from, &tables, &to))?;
        tell(Mended::KeyspaceMoved { from, to, tables: tables.len() });
    }
    Ok(())
}

/// Returns the namespaces in which tables of CQL lie though they are another's, with those tables.
fn crowded(inner: &Inner) -> Result<BTreeMap<String, BTreeMap<u64, TableName>>> {
    let mut owners: BTreeMap<String, BTreeSet<Owner>> = BTreeMap::new();
    let mut keyspaces: BTreeMap<String, BTreeMap<u64, TableName>> = BTreeMap::new();
    for name in inner.catalogue.names(None, None, usize::MAX)? {
        // One that cannot be read is told by whoever uses it.
        let Ok(table) = inner.catalogue.table(&name) else { continue };
        let owner = Owner::of_table(&table.schema);
        owners.entry(name.namespace.clone()).or_default().insert(owner);
        if owner == Owner::Cql {
            keyspaces.entry(name.namespace.clone()).or_default().insert(table.id, name);
        }
    }
    for own in inner.catalogue.namespaces(Owner::Cql)? {
        owners.entry(own.name.clone()).or_default().insert(Owner::Cql);
        keyspaces.entry(own.name).or_default();
    }
    keyspaces.retain(|name, _| match Owner::of_reserved_name(name) {
        Some(owner) => owner != Owner::Cql,
        None => owners.get(name).is_some_and(|owners| owners.contains(&Owner::Typed)),
    });
    Ok(keyspaces)
}

fn free_name(inner: &Inner, from: &str) -> Result<String> {
    let mut number = 1_u32;
    loop {
        let name = match number {
            1 => format!("{from}_cql"),
            _ => format!("{from}_cql{number}"),
        };
        let is_free = inner.catalogue.names(Some(&name), None, 1)?.is_empty()
            && inner.catalogue.namespace(&name).is_err();
        if is_free {
            return Ok(name);
        }
        number += 1;
    }
}

/// Has the due times of tables name them as they will be called.
fn rename_due_times(inner: &Inner, tables: &BTreeMap<u64, TableName>, to: &str) -> Result<()> {
    let moment = Moment::take(&inner.store)?;
    let mut walk = Walk::over(KeyRange::prefix(vec![Tree::Due as u8]));
    let mut pen = Pen::new(inner);
    while let Some(row) = walk.next(&moment)? {
        // Behind the tree stands the second.
        let mut rest = row.key.get(9..).unwrap_or_default();
        let Ok(id) = take_ordered_varint(&mut rest) else { continue };
        if let Some(name) = tables.get(&id) {
            let mut value = Vec::new();
            put_table_name(&mut value, &TableName::new(to, &*name.name));
            pen.put(row.key, Bytes::from(value))?;
        }
    }
    pen.end()
}
