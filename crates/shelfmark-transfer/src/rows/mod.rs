//! Rows of CQL tables, read from and written to a server by its own protocol.
//!
//! What it is not: the engine, and a driver. Tables are read by ranges of tokens, page by page, and written by
//! prepared statements in batches, as any client does it.
//!
//! Invariant: a row's fixed form, from which checksums are made, is its columns by name with the bytes that
//! the protocol has for them; nulls are left out, as they are no cells.

mod counters;
mod json;
mod migrate;
mod peer;
mod put;
mod range;
mod table;
mod text;
mod transfer;

pub use migrate::{RowMigration, RowsMigrated, migrate_rows};
pub use peer::{ConnectCql, CqlPeer, PeerFailure};
pub use put::RowPutter;
pub use range::RowSource;
pub use table::{Column, Role, RowTable};
pub use text::field_of;
pub use transfer::{
    RowExport, RowForm, RowImport, RowsExported, export_rows, import_rows, row_records_of,
};

use bytes::Bytes;

use crate::sums::Sums;

/// The time at which a cell was written, and the time that is left to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Microseconds since the Unix epoch, if they are known.
    pub written: Option<i64>,
    /// Seconds that are left, if it ends.
    pub ttl: Option<i32>,
}

/// A row: its cells in the order of the table's columns, with their stamps if they were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The values.
    pub cells: Vec<Option<Bytes>>,
    /// The stamps; none, or as many as cells.
    pub stamps: Vec<Stamp>,
}

impl Row {
    /// Adds the row in its fixed form.
    pub(crate) fn add_to(&self, table: &RowTable, sums: &mut Sums) {
        let mut form = Vec::with_capacity(128);
        for at in table.by_name() {
            let (Some(column), Some(Some(cell))) = (table.columns.get(*at), self.cells.get(*at))
            else {
                continue;
            };
            for part in [column.name.as_bytes(), cell] {
                form.extend_from_slice(&(part.len() as u64).to_be_bytes());
                form.extend_from_slice(part);
            }
        }
        sums.add(&form);
    }
}
