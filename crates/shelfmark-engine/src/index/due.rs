//! Giving due times to the items that were there before they began to expire by an attribute.
//!
//! A pass over the rows in pieces, each one commit that validates the rows it read. What it is not:
//! the only one who gives them. Writers do from the moment the setting is made, so a row that is
//! written meanwhile is theirs.
//!
//! Invariant: a pass ends when the setting that began it has changed: whoever changed it began
//! another.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_store::{Commit, Direction, KeyRange, Snapshot, Write as StoreWrite};

use super::{enter, patiently};
use crate::catalogue::{Table, put_table_name};
use crate::codec::{Head, with_expiry};
use crate::engine::Inner;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::after_row;
use crate::read::{RawRow, RowScan, chunk_key};
use crate::shards::{self, stored_bytes};
use crate::write::{due_key_of, expiry};

/// Rows looked at per commit.
const ROWS_PER_COMMIT: usize = 256;

/// A piece ends with the row that brings its writes to this many bytes.
const BYTES_PER_COMMIT: usize = 1024 * 1024;

/// What is written for some rows.
#[derive(Default)]
struct Piece {
    validate: Vec<Bytes>,
    writes: Vec<StoreWrite>,
    bytes: usize,
    /// Key of the last row, without chunk.
    last: Option<Bytes>,
}

/// Gives every item of the table the due time that its attribute says. Returns the table's form
/// after that, or the present one if another pass has begun.
///
/// # Errors
///
/// * [`ErrorKind::NotFound`]: the table was dropped.
pub(crate) fn give_due_times(inner: &Inner, table: &Table) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    let pass = table.schema.options.ttl_pass;
    let bytes_max = (inner.store.caps().commit_size_bytes_max / 2).min(BYTES_PER_COMMIT);
    let mut rest = KeyRange::prefix(table.key.prefix.clone());
    loop {
        let snapshot = inner.store.snapshot()?;
        let piece = match read(table, &*snapshot, &rest, bytes_max) {
            Err(error) if error.kind() == ErrorKind::TooOld => continue,
            piece => piece?,
        };
        let Some(last) = piece.last else { break };
        let commit = Commit {
            base: Some(snapshot),
            validate: piece.validate,
            writes: piece.writes,
            ..Commit::default()
        };
        let is_entered = commit.writes.is_empty()
            || match enter(inner, commit, || current(inner, table)) {
                Err(error) if error.kind() == ErrorKind::Invalid => {
                    return inner.catalogue.table(name);
                }
                entered => entered?,
            };
        if is_entered {
            rest = after_row(&rest, &last, false);
        }
    }
    patiently(|| {
        inner.catalogue.alter(name, |schema| {
            if schema.options.ttl_pass == pass {
                schema.options.ttl_pass = None;
            }
            Ok(())
        })
    })
}

/// Returns the current form of the table while the pass goes on.
fn current(inner: &Inner, table: &Table) -> Result<Arc<Table>> {
    let name = &table.schema.name;
    let current = inner.catalogue.table(name)?;
    if current.id != table.id {
        return Err(Error::new(ErrorKind::NotFound, format!("table {name} was dropped")));
    }
    if current.schema.options.ttl_pass != table.schema.options.ttl_pass {
        return Err(Error::invalid(format!("table {name} expires otherwise by now")));
    }
    Ok(current)
}

/// Looks at the first rows of a range, up to the one that brings what is written to `bytes_max`.
fn read(
    table: &Table,
    snapshot: &dyn Snapshot,
    range: &KeyRange,
    bytes_max: usize,
) -> Result<Piece> {
    let mut rows = RowScan::new(&snapshot, range.clone(), Direction::Ascending, ROWS_PER_COMMIT);
    let mut piece = Piece::default();
    for _ in 0..ROWS_PER_COMMIT {
        let Some(row) = rows.next_row()? else { break };
        piece.add(table, snapshot, &row)?;
        piece.last = Some(row.key.to_bytes());
        if piece.bytes >= bytes_max {
            break;
        }
    }
    Ok(piece)
}

impl Piece {
    fn add(&mut self, table: &Table, snapshot: &dyn Snapshot, row: &RawRow) -> Result<()> {
        let had = Head::parse(&row.head)?.expires_at;
        let item = table.decode_whole(row)?;
        let has = expiry(table, &item, None);
        if had.is_none() && has.is_none() {
            return Ok(());
        }
        let head_key = Bytes::from(chunk_key(&row.key, 0));
        self.validate.push(head_key.clone());
        if had != has {
            let head = with_expiry(&row.head, has)?;
            let grown = stored_bytes(&row.key, &head, &row.chunks)
                - stored_bytes(&row.key, &row.head, &row.chunks);
            let partition = table.key_of(&item)?.partition;
            if let Some(added) = shards::added(snapshot, table, &partition, &row.key, grown)? {
                self.validate.push(added.map_key);
                self.writes.push(added.write);
            }
            self.put(head_key, head);
            let old = had.map(|second| due_key_of(table, &row.key, second));
            self.writes.extend(old.map(|key| StoreWrite::Delete { key }));
        }
        // Also where the head says it already: a sweep may have dropped the due time while items
        // did not expire.
        if let Some(second) = has {
            let mut name = Vec::new();
            put_table_name(&mut name, &table.schema.name);
            self.put(due_key_of(table, &row.key, second), name.into());
        }
        Ok(())
    }

    fn put(&mut self, key: Bytes, value: Bytes) {
        self.bytes += key.len() + value.len();
        self.writes.push(StoreWrite::Put { key, value });
    }
}
