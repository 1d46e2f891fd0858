//! The limits of shards that a table declares, checked when its schema changes.

use shelfmark_model::TableSchema;

use crate::catalogue::Table;
use crate::error::{Error, Result};

/// Refuses limits that no shard can keep, and has a table whose bytes begin to count look for those
/// of its items from before.
///
/// # Errors
///
/// * [`crate::ErrorKind::Invalid`]: a limit is 0.
pub(crate) fn check_limits(old: Option<&Table>, schema: &mut TableSchema) -> Result<()> {
    let had = old.map(|old| &old.schema.options);
    let options = &schema.options;
    // A table of an earlier build keeps what it has.
    if options.shard_items_max == Some(0) && had.is_none_or(|had| had.shard_items_max != Some(0)) {
        return Err(no_limit(schema, "shard_items_max", "an item"));
    }
    if options.shard_bytes_max == Some(0) {
        return Err(no_limit(schema, "shard_bytes_max", "a byte"));
    }
    let begins =
        options.shard_bytes_max.is_some() && had.is_some_and(|had| had.shard_bytes_max.is_none());
    schema.options.shard_pass = match old {
        _ if options.shard_bytes_max.is_none() => None,
        Some(old) if begins => Some(old.version + 1),
        Some(_) => options.shard_pass,
        None => None,
    };
    Ok(())
}

fn no_limit(schema: &TableSchema, name: &str, least: &str) -> Error {
    Error::invalid(format!(
        "table {}: `{name}` is 0, but a shard holds {least} at least",
        schema.name
    ))
}
