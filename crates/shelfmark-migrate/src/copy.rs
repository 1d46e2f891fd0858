//! Copies keys in their order; a page is read while the one before it is committed.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use bytes::Bytes;
use shelfmark_store::{Row, Write};

use crate::error::{Error, Result};
use crate::mark;
use crate::patience::commit;
use crate::rows::Rows;
use crate::translation::Translation;
use crate::{Phase, Progress, Side};

/// Pages that are read ahead.
const PAGES_AHEAD: usize = 2;

/// Copies from `next` on; returns how many keys were put.
pub(crate) fn run(
    from: &Side<'_>,
    to: &Side<'_>,
    translation: &Translation,
    next: Bytes,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(PAGES_AHEAD);
        let rows = Rows::from(from.store, next);
        let reader = scope.spawn(move || read(rows, &sender));
        let copied = write(from, to, translation, &receiver, progress);
        // The reader ends when nobody takes its pages.
        drop(receiver);
        let read = reader.join().unwrap_or_else(|_| {
            Err(Error::Refused("reading the source ended without an answer".to_owned()))
        });
        let copied = copied?;
        read?;
        commit(to, &[mark::at(from, None)])?;
        Ok(copied)
    })
}

fn read(mut rows: Rows<'_>, pages: &SyncSender<Vec<Row>>) -> Result<()> {
    loop {
        let page = rows.next_page()?;
        if page.is_empty() || pages.send(page).is_err() {
            return Ok(());
        }
    }
}

fn write(
    from: &Side<'_>,
    to: &Side<'_>,
    translation: &Translation,
    pages: &Receiver<Vec<Row>>,
    progress: &mut dyn FnMut(Progress),
) -> Result<u64> {
    let mut done = Progress { phase: Phase::Copying, keys: 0, bytes: 0 };
    let mut copied = 0;
    for page in pages {
        let Some(last) = page.last().map(|row| row.key.clone()) else { continue };
        let mut writes = Vec::with_capacity(page.len() + 1);
        for row in page {
            done.keys += 1;
            done.bytes += (row.key.len() + row.value.len()) as u64;
            if let Some(value) = translation.value_of(&row.key, row.value)? {
                check_key(to, &row.key)?;
                writes.push(Write::Put { key: row.key, value });
            }
        }
        copied += writes.len() as u64;
        let next: Bytes = [&last[..], &[0]].concat().into();
        writes.push(mark::at(from, Some(next)));
        commit(to, &writes)?;
        progress(done);
    }
    Ok(copied)
}

/// Refuses a key that the target cannot hold, with what to do.
pub(crate) fn check_key(to: &Side<'_>, key: &Bytes) -> Result<()> {
    let longest = to.store.caps().key_size_bytes_max;
    if key.len() <= longest {
        return Ok(());
    }
    let what = Translation::named(key);
    Err(Error::Refused(format!(
        "a key of {what} is {} bytes long, and {} takes {longest} at most; delete the row, or give its \
         table a shorter key",
        key.len(),
        to.name
    )))
}
