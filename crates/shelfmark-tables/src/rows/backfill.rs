//! Backfills indexes, views and due times from rows that were there before them.
//!
//! An index, a view, or the due times of a table are begun in three steps: writers keep them
//! (*building*), the rows that were there before are entered chunk by chunk, readers may use them
//! (*public*). Each chunk is one commit, bounded in rows and bytes, that validates the rows it read:
//! a row that is written meanwhile is its writer's, the commit conflicts, and the chunk is entered
//! again. What it is not: the decision what follows from a row. That is its kind's ([`Backfill`]).
//!
//! Invariant: nothing is entered once the table, or what is filled, was dropped, so a purge leaves
//! nothing behind.

use std::cell::RefCell;
use std::sync::{Arc, PoisonError, mpsc};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_records::keys::after_row;
use shelfmark_records::keys::chunk_key;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::txn::Transaction as Buffer;
use shelfmark_store::{
    Commit, Committed, Direction, ErrorKind as StoreErrorKind, KeyRange, Snapshot,
};

use super::scan::{RawRow, RowScan};
use crate::catalogue::Table;
use crate::error::{ErrorKind, Result};
use crate::tables::Tables;

/// Rows of one chunk.
const ROWS_PER_CHUNK: usize = 256;

/// A chunk ends with the row whose writes reach this many bytes.
const BYTES_PER_CHUNK: usize = 1024 * 1024;

/// The number of times a busy store is asked again to end what was begun.
const BUSY_MAX: usize = 1000;

/// The time that is waited when a busy store does not say.
const WAIT: Duration = Duration::from_millis(1);

/// Something that is filled from the rows of a table.
pub(crate) trait Backfill {
    /// Returns what all keys of the table's rows begin with.
    fn rows_prefix(&self) -> Bytes;

    /// Puts what follows from one row. Nothing is put for a row that was not validated.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::AlreadyExists`]: two rows have one key of a unique index.
    fn enter(&self, chunk: &Chunk, row: &RawRow) -> Result<()>;

    /// Returns the current form of the table, which still has what is filled.
    ///
    /// # Errors
    ///
    /// * [`ErrorKind::NotFound`]: it was dropped. The backfill ends with this error.
    fn current(&self) -> Result<Arc<Table>>;
}

/// The writes that follow from some rows, and the rows that they rest on.
pub(crate) struct Chunk {
    /// Reads through it are validated.
    pub(crate) buffer: RefCell<Buffer>,
}

impl Chunk {
    /// Has the commit fail if the row was written since it was read.
    pub(crate) fn validate(&self, row: &RawRow) {
        self.buffer.borrow().validate(&chunk_key(&row.key, 0));
    }

    pub(crate) fn put(&self, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        self.buffer.borrow_mut().put(key, value);
    }
}

/// Enters all rows of a table. Returns once what follows from every row is there.
///
/// # Errors
///
/// * Those of [`Backfill::enter`] and [`Backfill::current`].
/// * [`ErrorKind::Closed`]: the upkeep of the engine is being stopped; what was entered stays.
/// * Those of the store; what was entered stays.
pub(crate) fn backfill(tables: &Tables, filled: &impl Backfill) -> Result<()> {
    let mut rest = KeyRange::prefix(filled.rows_prefix());
    loop {
        tables.builds.check_not_stopping()?;
        let chunk = match read_chunk(tables, filled, tables.store.snapshot()?, &rest) {
            Err(error) if error.kind() == ErrorKind::TooOld => continue,
            chunk => chunk?,
        };
        let Some((commit, last)) = chunk else { return Ok(()) };
        if commit.writes.is_empty() || commit_chunk(tables, commit, || filled.current())? {
            rest = after_row(&rest, &last, false);
        }
    }
}

/// Reads the first rows of a range. Returns what follows from them, and the key of the last one;
/// `None` if the range is empty.
fn read_chunk(
    tables: &Tables,
    filled: &impl Backfill,
    snapshot: Arc<dyn Snapshot>,
    range: &KeyRange,
) -> Result<Option<(Commit, Bytes)>> {
    let bytes_max = (tables.store.caps().commit_size_bytes_max / 2).min(BYTES_PER_CHUNK);
    let chunk = Chunk { buffer: RefCell::new(Buffer::new(Arc::clone(&snapshot))) };
    let view = &*snapshot;
    let mut rows = RowScan::new(&view, range.clone(), Direction::Ascending, ROWS_PER_CHUNK);
    let mut last = None;
    for _ in 0..ROWS_PER_CHUNK {
        let Some(row) = rows.next_row()? else { break };
        filled.enter(&chunk, &row)?;
        last = Some(row.key.to_bytes());
        if chunk.buffer.borrow().written_bytes() >= bytes_max {
            break;
        }
    }
    Ok(last.map(|last| (chunk.buffer.into_inner().into_commit(), last)))
}

/// Commits a chunk while the `current` form of the table has what is filled; `false` if the chunk
/// must be read and entered again.
///
/// # Errors
///
/// * Those of `current`: what is filled is gone.
/// * Those of the store.
pub fn commit_chunk(
    tables: &Tables,
    commit: Commit,
    current: impl Fn() -> Result<Arc<Table>>,
) -> Result<bool> {
    queue_chunk(tables, commit, current)?.wait()
}

/// A chunk that is being committed.
pub struct QueuedChunk {
    queued: shelfmark_store::Result<mpsc::Receiver<shelfmark_store::Result<Committed>>>,
}

/// Begins to commit a chunk as [`commit_chunk`] does.
///
/// # Errors
///
/// * As [`commit_chunk`].
pub fn queue_chunk(
    tables: &Tables,
    commit: Commit,
    current: impl Fn() -> Result<Arc<Table>>,
) -> Result<QueuedChunk> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let done = Box::new(move |outcome| {
        // The receiver waits until it is told.
        let _ = sender.send(outcome);
    });
    let queued = loop {
        let current = current()?;
        let _gate = current.shared.gate.read().unwrap_or_else(PoisonError::into_inner);
        if !current.is_retired() {
            // While the gate is held what is filled is not dropped.
            break tables.store.submit(commit, done);
        }
    };
    Ok(QueuedChunk { queued: queued.map(|_| receiver) })
}

impl QueuedChunk {
    /// Waits for the end of the commit; `false` if the chunk must be read and entered again.
    ///
    /// # Errors
    ///
    /// * [`crate::ErrorKind::Undetermined`]: the commit ended without an answer. Read and enter the
    ///   chunk again.
    /// * Those of the store.
    pub fn wait(self) -> Result<bool> {
        let outcome = self.queued.and_then(|receiver| {
            receiver.recv().unwrap_or_else(|_| {
                let lost = "the commit ended without an answer";
                Err(shelfmark_store::Error::new(StoreErrorKind::Undetermined, lost))
            })
        });
        let Err(error) = outcome else { return Ok(true) };
        match error.kind() {
            // If an unknown end was a good one, the same entries are put again.
            StoreErrorKind::Conflict | StoreErrorKind::TooOld | StoreErrorKind::Undetermined => {
                Ok(false)
            }
            StoreErrorKind::Busy => {
                wait_for(error.retry_after());
                Ok(false)
            }
            _ => Err(error.into()),
        }
    }
}

/// Makes a change again while the store is busy: a caller who was told so could not begin again.
///
/// # Errors
///
/// * What `change` returned, unless it was that the store is busy.
pub fn patiently<T>(mut change: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..BUSY_MAX {
        match change() {
            Err(error) if error.kind() == ErrorKind::Busy => wait_for(error.retry_after()),
            ended => return ended,
        }
    }
    change()
}

/// Waits as long as a store that is busy asks for.
pub fn wait_for(asked: Option<Duration>) {
    ThreadSleeper.sleep(asked.unwrap_or(WAIT));
}
