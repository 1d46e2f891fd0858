//! The sizes of values in indexes of their columns, whichever face writes them.
//!
//! What an entry's key takes beside the value is looked at by the engine.

use shelfmark_cql_types::CqlType;

use super::IndexTarget;
use crate::limits::KEY_SIZE_BYTES_MAX;

/// Bytes that the composite of a map's key and value has beside them. Source: Cassandra 5.0,
/// `CollectionEntryIndex`, whose entries are composites: a length and an end for each.
const ENTRY_OVERHEAD_BYTES: usize = 6;

/// Returns the bytes that an index holds of an element of a collection.
pub(crate) fn element_size_bytes(
    kind: &CqlType,
    target: IndexTarget,
    path: usize,
    value: usize,
) -> usize {
    match target {
        IndexTarget::Keys => path,
        // The members of a set are its paths.
        IndexTarget::Values if matches!(kind, CqlType::Set { .. }) => path,
        IndexTarget::Entries => path + value + ENTRY_OVERHEAD_BYTES,
        _ => value,
    }
}

/// Refuses a value of `size` bytes that an index cannot hold. `table` is named with its keyspace.
///
/// # Errors
///
/// Returns the message for whoever wrote it.
pub(crate) fn check_indexed_size(
    size: usize,
    index: &str,
    table: &dyn std::fmt::Display,
    column: &str,
) -> Result<(), String> {
    if size < KEY_SIZE_BYTES_MAX {
        return Ok(());
    }
    Err(format!(
        "Cannot index value of size {size} for index {index} on {table}({column}) (maximum allowed \
         size={KEY_SIZE_BYTES_MAX})"
    ))
}
