//! Removes an item whose due time has come.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::items::Head;
use shelfmark_records::keys::chunk_key;

use super::apply::{apply, expiry};
use super::request::Write;
use crate::catalogue::Table;
use crate::commit::Writer;
use crate::error::Result;
use crate::rows::read_row;
use crate::tables::Tables;

/// A due time that was found in the queue.
pub struct Due<'a> {
    /// Its own key.
    pub key: &'a [u8],
    /// The row, without chunk.
    pub row_key: &'a [u8],
    /// Second since the Unix epoch at which the row was to expire.
    pub second: u64,
    /// So long ago that it is no expiry.
    pub is_ignored: bool,
}

impl Tables {
    /// Deletes a row if it is still due, with all that follows from it; otherwise only the due time,
    /// of which nothing is left to do. Tells whether the row was deleted; `None` if others were
    /// faster every time, so that it is still to be done.
    ///
    /// Not waited for: a sweep that does not find it done does it again, and the due time stays as
    /// long as that is not certain.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Corrupt`]: the row cannot be read. Run `verify`.
    /// * Those of the store.
    pub fn expire_row(&self, table: &Arc<Table>, due: &Due<'_>) -> Result<Option<bool>> {
        let head_key = chunk_key(due.row_key, 0);
        self.submit_unwatched(table, || {
            let _latched = self.latches.lock([head_key.as_slice()]);
            let writer = Writer { expiring: true, ..self.gated_writer()? };
            let is_due =
                !due.is_ignored && expires_at(&writer, table, due.row_key)? == Some(due.second);
            if is_due {
                let key = table.key_of(&table.key_item(due.row_key)?)?;
                apply(&writer, table, &Write::delete(table, key))?;
            }
            writer.buffer.borrow_mut().delete(Bytes::copy_from_slice(due.key));
            Ok(self.queue_unwatched(writer.into_commit())?.then_some(is_due))
        })
    }
}

/// Returns when a row expires, as it is now and by the table's settings as they are now.
fn expires_at(writer: &Writer, table: &Table, row_key: &[u8]) -> Result<Option<u64>> {
    let Some(row) = read_row(&writer.buffer, row_key)? else { return Ok(None) };
    let item = table.decode_whole(&row)?;
    let given = Head::parse(&row.head)?.expires_at;
    Ok(expiry(table, &item, given))
}
