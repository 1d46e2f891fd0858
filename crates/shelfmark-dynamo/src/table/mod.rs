//! The face's view of a table beyond the engine's: names, keys as clients spell them, and the
//! settings that only clients of DynamoDB see.
//!
//! Which of the engine's namespaces they are in is the scope's to say ([`ScopedEngine`]). What the engine has no word for
//! (billing, tags, which index is local) lies in the table's own record, in
//! `TableOptions::face`, so it is as durable as the table.

mod arn;
mod keys;
mod meta;
mod paths;
mod target;
mod tools;
mod vector_values;
mod vectors;

pub(crate) use arn::{encryption_key_arn, index_arn, name_of, table_arn};
pub(crate) use keys::{
    check_attribute_name, check_attribute_names, check_item, check_key_name, check_not_empty,
    check_put_key, check_updated_values, check_value, first_index_of, is_empty, key_letter,
    key_type_of, read_key,
};
pub(crate) use meta::{Billing, IndexMeta, Meta, Restored, SHARE_TAG, Throughput};
pub(crate) use paths::{check_key_paths, of_condition, of_patch, projected};
pub(crate) use target::Target;
pub(crate) use tools::{Insights, StoredPolicy, ToolSettings};
pub use vector_values::VectorIndexChecks;
pub(crate) use vector_values::{as_kept, search_vector};
pub(crate) use vectors::{
    Distance, SearchAttribute, VectorIndex, refuse_query, vector_indexes, written_size_bytes,
};

use std::sync::Arc;

use shelfmark_engine::{Engine, ErrorKind, Table};
use shelfmark_model::TableName;

use crate::errors::{Error, Exception, Result, texts};
use crate::scope::ScopedEngine;

/// Finds the table of an operation on items: one of DynamoDB's, or `keyspace.table` of another face
/// that shares it.
pub(crate) fn find(engine: &ScopedEngine, name: &str) -> Result<Arc<Table>> {
    find_or(engine, name, |_| texts::TABLE_NOT_FOUND.to_owned())
}

/// Finds the table of an operation on tables; the error names it.
pub(crate) fn find_named(engine: &ScopedEngine, name: &str) -> Result<Arc<Table>> {
    find_or(engine, name, texts::table_not_found)
}

/// Works as [`find_named`], for operations that change the table itself.
///
/// # Errors
///
/// * ValidationException: it is another face's.
pub(crate) fn find_own(engine: &ScopedEngine, name: &str) -> Result<Arc<Table>> {
    own(find_named(engine, name)?)
}

/// Refuses a table of another face, and one that is not whole yet.
pub(crate) fn own(table: Arc<Table>) -> Result<Arc<Table>> {
    if Engine::is_being_filled(&table) {
        let text = texts::table_is_created(&table.schema.name.name);
        return Err(Error::new(Exception::ResourceInUse, text));
    }
    match table.is_shared() {
        false => Ok(table),
        true => Err(Error::validation(texts::table_of_another_face(&table.schema.name.name))),
    }
}

/// Finds a table by a name or ARN; `text` says that it is not there.
pub(crate) fn find_or(
    engine: &ScopedEngine,
    name: &str,
    text: impl FnOnce(&str) -> String,
) -> Result<Arc<Table>> {
    if !engine.is_place_of(name) {
        return Err(Error::new(Exception::ResourceNotFound, text(name_of(name))));
    }
    let name = name_of(name);
    let own = engine.table(&engine.table_name(name));
    let found = match (own, name.split_once('.')) {
        (Err(error), Some((keyspace, table))) if error.kind() == ErrorKind::NotFound => {
            engine.shared_items(&TableName::new(keyspace, table))
        }
        (own, _) => own,
    };
    found.map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            return Error::new(Exception::ResourceNotFound, text(name));
        }
        error.into()
    })
}
