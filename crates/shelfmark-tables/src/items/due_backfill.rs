//! The backfill of due times, for items that were there before they began to expire by an attribute.
//!
//! What it is not: the only one who gives them. Writers do from the moment the setting is made.
//!
//! Invariant: a backfill ends when the setting that began it has changed: whoever changed it began
//! another.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::catalogue::keys::put_table_name;
use shelfmark_records::items::{Head, with_expiry};
use shelfmark_records::keys::chunk_key;

use super::apply::expiry;
use super::derive::due_key_of;
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Backfill, Chunk, RawRow, backfill, patiently};
use crate::shards::{add_bytes, stored_bytes};
use crate::tables::Tables;

struct DueBackfill<'a> {
    tables: &'a Tables,
    table: &'a Table,
}

/// Gives every item of the table the due time that its attribute says. Returns the table's form
/// after that, or the present one if another backfill has begun.
///
/// # Errors
///
/// * [`ErrorKind::NotFound`]: the table was dropped.
pub fn give_due_times(tables: &Tables, table: &Table) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    let pass = table.schema.options.ttl_pass;
    match backfill(tables, &DueBackfill { tables, table }) {
        Err(error) if error.kind() == ErrorKind::Invalid => return tables.catalogue.table(name),
        filled => filled?,
    }
    patiently(|| {
        tables.catalogue.alter(name, |schema| {
            if schema.options.ttl_pass == pass {
                schema.options.ttl_pass = None;
            }
            Ok(())
        })
    })
}

impl Backfill for DueBackfill<'_> {
    fn rows_prefix(&self) -> Bytes {
        self.table.key.prefix.clone()
    }

    fn enter(&self, chunk: &Chunk, row: &RawRow) -> Result<()> {
        let table = self.table;
        let had = Head::parse(&row.head)?.expires_at;
        let item = table.decode_whole(row)?;
        let has = expiry(table, &item, None);
        if had.is_none() && has.is_none() {
            return Ok(());
        }
        chunk.validate(row);
        if had != has {
            let head = with_expiry(&row.head, has)?;
            let grown = stored_bytes(&row.key, &head, &row.chunks)
                - stored_bytes(&row.key, &row.head, &row.chunks);
            let partition = table.key_of(&item)?.partition;
            add_bytes(&chunk.buffer, table, &partition, &row.key, grown)?;
            chunk.put(chunk_key(&row.key, 0), head);
            if let Some(second) = had {
                chunk.buffer.borrow_mut().delete(due_key_of(table, &row.key, second));
            }
        }
        // Also where the head says it already: a sweep may have dropped the due time while items
        // did not expire.
        if let Some(second) = has {
            let mut name = Vec::new();
            put_table_name(&mut name, &table.schema.name);
            chunk.put(due_key_of(table, &row.key, second), name);
        }
        Ok(())
    }

    fn current(&self) -> Result<Arc<Table>> {
        let name = &self.table.schema.name;
        let current = self.tables.catalogue.table(name)?;
        if current.id != self.table.id {
            return Err(Error::new(ErrorKind::NotFound, format!("table {name} was dropped")));
        }
        if current.schema.options.ttl_pass != self.table.schema.options.ttl_pass {
            return Err(Error::invalid(format!("table {name} expires otherwise by now")));
        }
        Ok(current)
    }
}
