//! Derives the index entries and the rows of views that a row of cells has, in the same commit.
//!
//! Both are worked out from the row before and the row after and differ only where those do. An
//! entry or a row of a view carries the expiry that unmakes it; readers look at it.

use std::collections::BTreeMap;

use bytes::Bytes;
use shelfmark_records::cells::{
    CellRow, ENTRY_KEY_BYTES_MAX, IndexLayout, entries_of_any_length, entry_value, is_entry,
    view_row,
};

use super::find::{Found, Target};
use crate::catalogue::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::rows::put_stored;

/// Puts and deletes what follows from a row.
pub(super) fn follow(target: &Target<'_>, found: &Found, after: &CellRow) -> Result<()> {
    for index in target.layout.kept_indexes() {
        let old = match &found.stored {
            Some(stored) => entries_of_any_length(target.layout, index, &found.place, stored)?,
            None => BTreeMap::new(),
        };
        let new = entries_of_any_length(target.layout, index, &found.place, after)?;
        let mut buffer = target.writer.buffer.borrow_mut();
        for key in old.keys().filter(|key| is_entry(key) && !new.contains_key(*key)) {
            buffer.delete(key.clone());
        }
        for (key, ends) in new.iter().filter(|(key, ends)| old.get(*key) != Some(*ends)) {
            // What was there before the index may stay; what is written must be found by it.
            if is_entry(key) {
                buffer.put(key.clone(), entry_value(*ends));
            } else if !old.contains_key(key) {
                return Err(too_long(index, key));
            }
        }
    }
    for view in target.views {
        follow_view(target, found, after, view)?;
    }
    Ok(())
}

fn too_long(index: &IndexLayout, key: &Bytes) -> Error {
    let message = format!(
        "Cannot index a value in index {}: with the key of its row it takes {} bytes (maximum allowed \
         size={ENTRY_KEY_BYTES_MAX})",
        index.schema.name,
        key.len()
    );
    Error::new(ErrorKind::LimitExceeded, message)
}

fn follow_view(target: &Target<'_>, found: &Found, after: &CellRow, view: &Table) -> Result<()> {
    let old = match &found.stored {
        Some(stored) => view_row(target.layout, view.cells()?, &found.place, stored)?,
        None => None,
    };
    let new = view_row(target.layout, view.cells()?, &found.place, after)?;
    if old == new {
        return Ok(());
    }
    let mut buffer = target.writer.buffer.borrow_mut();
    let mut old_chunks = Vec::new();
    if let Some((key, row)) = old {
        let stored = row.encode();
        if new.as_ref().is_some_and(|(new_key, _)| *new_key == key) {
            old_chunks = stored.chunks;
        } else {
            put_stored(&mut buffer, &key, &stored.chunks, None, true);
        }
    }
    if let Some((key, row)) = new {
        put_stored(&mut buffer, &key, &old_chunks, Some(row.encode()), true);
    }
    Ok(())
}
