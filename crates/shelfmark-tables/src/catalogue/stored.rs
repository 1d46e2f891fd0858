//! Decodes stored keys and records of the catalogue into tables, for verifying and salvage.
//!
//! What it is not: the catalogue in use, which remembers tables and changes them; that is `mod` and
//! `change`.

use bytes::Bytes;
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::{TableName, TableSchema};
use shelfmark_records::catalogue::TableRecord;
use shelfmark_records::catalogue::keys::{section, take_table_name};

use super::table::{Table, index_names};
use crate::error::{Error, Result};

/// The purpose of a key of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredKey {
    /// The counter of ids.
    NextId,
    /// A table's record.
    Table(TableName),
    /// An id whose keys are garbage.
    Dropped(u64),
    /// Another section.
    Other,
}

/// Reads a key of the catalogue.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the key cannot be read. Run `verify`.
pub fn stored_key(key: &[u8]) -> Result<StoredKey> {
    let damaged = || Error::corrupt("a key of the catalogue is damaged");
    let (section, mut rest) = key.get(1..).and_then(<[u8]>::split_first).ok_or_else(damaged)?;
    Ok(match *section {
        section::NEXT_ID => StoredKey::NextId,
        section::TABLES => StoredKey::Table(take_table_name(rest)?),
        section::DROPPED => {
            StoredKey::Dropped(take_ordered_varint(&mut rest).map_err(|_| damaged())?)
        }
        _ => StoredKey::Other,
    })
}

/// Returns a table of this schema and id that is in no store.
pub fn blank_table(schema: TableSchema, id: u64) -> Table {
    let index_ids = index_names(&schema).iter().map(|_| 0).collect();
    Table::of(TableRecord {
        id,
        origin: id,
        version: 1,
        index_ids,
        chunked: true,
        ranged: false,
        schema,
    })
}

/// Reads a table's record.
///
/// # Errors
///
/// * [`crate::ErrorKind::Corrupt`]: the record cannot be read. Run `verify`.
pub fn stored_table(record: &Bytes) -> Result<Table> {
    Ok(Table::of(TableRecord::decode(record)?))
}
