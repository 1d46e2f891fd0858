//! Verification of schema changes: what one would write is read back before it is committed.
//!
//! What it is not: the checks that a statement itself makes, with Cassandra's words. This is the last
//! one, by the code that reads the schema when the server starts.
//!
//! Invariant: nothing is committed that this build cannot load.

use std::collections::BTreeMap;
use std::sync::Arc;

use shelfmark_cql_protocol::{Consistency, Result, invalid};
use shelfmark_cql_types::{TYPE_DEPTH_MAX, TYPE_PARTS_MAX, check_limits, refresh};
use shelfmark_engine::CatalogueChange;
use shelfmark_model::TableName;

use crate::engine_error::from_engine;
use crate::schema::{Keyspace, Schema, damaged, decode_keyspace, decode_table};

/// Reads back what the changes write.
///
/// # Errors
///
/// * `Invalid`: a type would be over the limits, in the changed keyspace or in a table of it.
/// * `Server`: a record could not be read; a defect of the code that wrote it.
pub(super) fn verify(changes: &mut [CatalogueChange<'static>], schema: &Schema) -> Result<()> {
    let mut changed: BTreeMap<String, Arc<Keyspace>> = BTreeMap::new();
    for change in changes.iter() {
        if let CatalogueChange::CreateNamespace { name, attachment }
        | CatalogueChange::AlterNamespace { name, attachment } = change
        {
            let keyspace = decode_keyspace(name, attachment)?;
            check_keyspace(&keyspace, schema)?;
            changed.insert(name.clone(), Arc::new(keyspace));
        }
    }
    let keyspace = |name: &TableName| {
        let found = changed.get(&name.namespace).or_else(|| schema.keyspace(&name.namespace));
        found.ok_or_else(|| damaged(&format!("keyspace {}", name.namespace)))
    };
    for change in changes {
        match change {
            CatalogueChange::CreateTable(stored) => {
                decode_table(keyspace(&stored.name)?, stored, None)?;
            }
            CatalogueChange::AlterTable(name, change) => {
                let table = schema.table(&name.namespace, &name.name);
                let Some(old) = table.and_then(|own| own.stored.as_ref()) else { continue };
                // Changes of schemas follow from the statement alone: made twice they are the same.
                let mut stored = old.schema.clone();
                change(&mut stored).map_err(|error| from_engine(&error, Consistency::One, None))?;
                decode_table(keyspace(name)?, &stored, None)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks the types of a changed keyspace, and its tables with them.
fn check_keyspace(keyspace: &Keyspace, schema: &Schema) -> Result<()> {
    let too_large = |what: &str| {
        invalid(format!(
            "{what} would be nested more deeply than {TYPE_DEPTH_MAX} levels or made of more than {TYPE_PARTS_MAX} types"
        ))
    };
    let old = schema.keyspace(&keyspace.name);
    let known = |name: &String| old.is_some_and(|own| own.damage.types.contains_key(name));
    if let Some(name) = keyspace.damage.types.keys().find(|name| !known(name)) {
        return too_large(&format!("type {}.{name}", keyspace.name));
    }
    for table in old.into_iter().flat_map(|own| own.tables.values()) {
        for column in &table.columns {
            if check_limits(&refresh(&column.kind, &keyspace.types)).is_err() {
                let what = format!("column {} of table {}", column.name, table.full_name());
                return too_large(&what);
            }
        }
    }
    Ok(())
}

/// Refuses statements about a table or keyspace whose record cannot be read, except that it is
/// dropped.
pub(super) fn check_readable(keyspace: &str, table: Option<&str>, schema: &Schema) -> Result<()> {
    let Some(found) = schema.keyspace(keyspace) else { return Ok(()) };
    if found.damage.record {
        return Err(damaged(&format!("keyspace {keyspace}")));
    }
    match table.filter(|name| found.damage.tables.contains(*name)) {
        Some(name) => Err(damaged(&format!("table {keyspace}.{name}"))),
        None => Ok(()),
    }
}
