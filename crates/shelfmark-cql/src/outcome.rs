//! Options of requests and outcomes of statements: the values that session and executor exchange.
//!
//! Invariant: nothing here knows a version of the protocol.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::{Bytes, BytesMut};
use shelfmark_cql_protocol::limits::ANSWER_SIZE_BYTES_MAX;
use shelfmark_cql_protocol::{
    ColumnSpec, Consistency, CqlError, SchemaChange, Spooled, Spools, Values,
};
use shelfmark_cql_types::put_cell;
use shelfmark_engine::budget::{Client, NoRoom, SHARE_FREE_BYTES, Share};

use crate::auth::User;
use crate::limits::{SPOOLED_FROM_BYTES, SPOOLED_PIECE_BYTES};
use crate::trace_recorder::TraceRecorder;
use crate::watch::Reads;

/// Everything a request says beside its statement.
#[derive(Debug, Clone, Default)]
pub struct RequestOptions {
    /// The keyspace of names that have none: the request's own, else the connection's.
    pub keyspace: Option<Arc<str>>,
    /// The role of the client; `None` when nobody has to log in.
    pub user: Option<User>,
    /// The level.
    pub consistency: Consistency,
    /// The level of a condition.
    pub serial_consistency: Option<Consistency>,
    /// The values of the markers.
    pub values: Values,
    /// Most rows of the page; `None` for all.
    pub page_size: Option<u32>,
    /// The position where the page begins: what [`ResultRows::paging`] held. Its integrity is
    /// checked, its meaning is the executor's.
    pub paging: Option<Bytes>,
    /// The client's timestamp in microseconds, below `USING TIMESTAMP`.
    pub timestamp: Option<i64>,
    /// The time that expiry is judged by, in seconds since the epoch; tests of clients use it.
    pub now_in_seconds: Option<i32>,
    /// True if the thread that runs it serves connections: a read that turns out long is given up
    /// there and run again elsewhere. Only the connection sets it.
    pub is_inline: bool,
    /// The trace of the request, if one is wanted.
    pub trace: Option<TraceRecorder>,
    /// Notes of what is read for it, if somebody watches.
    pub reads: Option<Reads>,
    /// Bytes after which a page ends although it has fewer rows; for callers that hold whole pages in
    /// memory.
    pub page_bytes_max: Option<usize>,
    /// Whose part of the memory budget the answer draws from; without one it draws from none.
    pub client: Option<Client>,
    /// Bytes that the request itself holds of that part.
    pub held_bytes: usize,
    /// The factory of files for answers that are too long for memory, if there is one.
    pub spools: Option<Arc<dyn Spools>>,
    /// True if a failed condition shows masked columns through their masks. Only the executor sets it.
    pub masks: bool,
    /// Set once the client has gone: a long read ends then.
    pub has_gone: Arc<AtomicBool>,
}

impl RequestOptions {
    /// Returns the refusal of something that would take so many bytes of memory, for which there is no room.
    pub(crate) fn no_room(&self, what: &str, bytes: usize) -> CqlError {
        let whole = bytes.saturating_add(self.held_bytes);
        no_room(self.client.as_ref(), what, whole, "come again later")
    }
}

/// Returns the refusal of a request that takes so many bytes of memory in all: who can never get them is
/// told so, and everybody else `what_then`.
pub(crate) fn no_room(
    client: Option<&Client>,
    what: &str,
    bytes: usize,
    what_then: &str,
) -> CqlError {
    match client.map(|client| (client.no_room(bytes), client.most())) {
        Some((NoRoom::Ever, most)) => CqlError::invalid(format!(
            "The memory budget never has room for {what}: it takes {bytes} bytes, and one client gets \
             {most}; send or ask for less at once, or raise --memory-limit"
        )),
        _ => CqlError::overloaded(format!("The memory budget has no room for {what}; {what_then}")),
    }
}

/// An answer goes to a file before it takes what a client has of the memory budget, divided by this.
const SPOOLED_PART: usize = 8;

/// Room that is made when a result has more than one row.
const ROOM_BYTES: usize = 16 * 1024;

/// Rows as they go over the wire: cell after cell, each with its length in front.
///
/// Rows of an answer for a client draw from its part of the memory budget, and go to a [`Spool`](crate::Spool)
/// where they are many; both happen in `RowBuffer::check`.
#[derive(Debug, Default)]
pub struct RowBuffer {
    bytes: BytesMut,
    rows: u32,
    share: Option<Share>,
    /// Whose share it is, and what the request holds beside it.
    client: Option<(Client, usize)>,
    spools: Option<Arc<dyn Spools>>,
    spooled: Option<Spooled>,
}

impl RowBuffer {
    /// Creates the buffer of an answer to a request.
    pub(crate) fn of(options: &RequestOptions) -> Self {
        Self {
            share: options.client.as_ref().map(Client::share),
            client: options.client.clone().map(|client| (client, options.held_bytes)),
            spools: options.spools.clone(),
            ..Self::default()
        }
    }

    /// Accounts for what was written so far. To be called as often as a megabyte may have been written.
    /// Returns true if that is a moment to let others have their turn: some megabytes went to a file.
    ///
    /// # Errors
    ///
    /// * `Overloaded`: the memory budget has no room for them; `Invalid`: the answer is longer than
    ///   the protocol can say.
    pub(crate) fn check(&mut self) -> Result<bool, CqlError> {
        if self.bytes.len() <= SHARE_FREE_BYTES {
            return Ok(false);
        }
        let is_kept = self.is_to_be_spooled() && self.spool()?;
        if self.size_bytes() > ANSWER_SIZE_BYTES_MAX {
            return Err(CqlError::invalid(format!(
                "The answer is longer than {ANSWER_SIZE_BYTES_MAX} bytes; read it page by page"
            )));
        }
        let held = self.bytes.capacity();
        if self.share.as_mut().is_none_or(|share| share.cover(held)) {
            return Ok(is_kept);
        }
        let (client, beside) =
            self.client.as_ref().map_or((None, 0), |(own, held)| (Some(own), *held));
        let then = "read it page by page or come again later";
        Err(no_room(client, "this answer", held.saturating_add(beside), then))
    }

    /// Returns true if what is in memory goes to a file when it is accounted for.
    pub(crate) fn is_to_be_spooled(&self) -> bool {
        self.spools.is_some() && self.bytes.len() >= self.spooled_from()
    }

    /// Returns the number of bytes in memory from which on they go to a file, where there is one.
    fn spooled_from(&self) -> usize {
        if self.spooled.is_some() {
            // What waits for its turn holds little meanwhile.
            return SPOOLED_PIECE_BYTES;
        }
        let most = self.client.as_ref().map_or(usize::MAX, |(client, _)| client.most());
        SPOOLED_FROM_BYTES.min(most / SPOOLED_PART)
    }

    /// Moves the bytes to the file of this answer. Returns false if there are no files.
    fn spool(&mut self) -> Result<bool, CqlError> {
        let Some(spools) = &self.spools else { return Ok(false) };
        let failed = |error: std::io::Error| {
            CqlError::overloaded(format!("There is no room to keep this answer in: {error}"))
        };
        let spooled = match &mut self.spooled {
            Some(spooled) => spooled,
            none => none.insert(Spooled { file: spools.create().map_err(failed)?, bytes: 0 }),
        };
        spooled.file.append(&self.bytes).map_err(failed)?;
        spooled.bytes += self.bytes.len() as u64;
        if self.bytes.capacity() > 2 * SPOOLED_PIECE_BYTES {
            self.bytes = BytesMut::new();
        } else {
            self.bytes.clear();
        }
        Ok(true)
    }

    /// Returns the length of all rows in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64 + self.spooled.as_ref().map_or(0, |spooled| spooled.bytes)
    }

    /// Takes what the rows hold of the budget, and what of them lies in a file.
    pub(crate) fn take_parts(&mut self) -> (Option<Share>, Option<Spooled>) {
        (self.share.take().filter(|share| share.taken() > 0), self.spooled.take())
    }

    /// Takes the bytes that do not lie in a file.
    pub(crate) fn take_bytes(&mut self) -> Bytes {
        self.bytes.split().freeze()
    }

    /// Appends a cell of the row that is being written. Cells over 2 GiB become null; the engine
    /// holds none.
    pub fn cell(&mut self, value: Option<&[u8]>) {
        put_cell(value, &mut self.bytes);
    }

    /// Returns the bytes to which the next cell is appended.
    pub(crate) fn cells(&mut self) -> &mut BytesMut {
        &mut self.bytes
    }

    /// Ends a row, which has as many cells as the result has columns.
    pub fn end_row(&mut self) {
        self.rows = self.rows.saturating_add(1);
        if self.rows == 2 {
            // More are coming: growing in small steps would copy the first ones often.
            self.bytes.reserve(ROOM_BYTES);
        }
    }

    /// Appends a row.
    pub fn row<'a>(&mut self, cells: impl IntoIterator<Item = Option<&'a [u8]>>) {
        cells.into_iter().for_each(|cell| self.cell(cell));
        self.end_row();
    }

    /// Returns how much was written so far, to come back to.
    pub(crate) fn written(&self) -> Written {
        Written { bytes: self.bytes.len(), rows: self.rows }
    }

    /// Takes back what was written since.
    pub(crate) fn truncate_to(&mut self, written: Written) {
        self.bytes.truncate(written.bytes);
        self.rows = written.rows;
    }

    /// Returns how many rows were ended.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the bytes so far that do not lie in a [`Spool`](crate::Spool).
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The length of a [`RowBuffer`] at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    bytes: usize,
    rows: u32,
}

impl Written {
    pub(crate) fn rows(self) -> u32 {
        self.rows
    }

    pub(crate) fn bytes(self) -> usize {
        self.bytes
    }
}

/// A page of rows.
#[derive(Debug)]
pub struct ResultRows {
    /// The columns; shared with [`PreparedStatement::result`](crate::PreparedStatement::result) where there is one.
    pub columns: Arc<[ColumnSpec]>,
    /// The rows.
    pub rows: RowBuffer,
    /// The position of the next page; `None` when this was the last.
    pub paging: Option<Bytes>,
}

/// The result of a statement.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing to say.
    Void,
    /// Rows.
    Rows(ResultRows),
    /// `USE`: the connection's keyspace from now on.
    SetKeyspace(String),
    /// The schema is another now. Something that was there already answers `Void`.
    SchemaChange(SchemaChange),
}

/// A statement's whole answer.
#[derive(Debug)]
pub struct Answered {
    /// The outcome.
    pub outcome: Outcome,
    /// Sentences for the client, such as about large batches.
    pub warnings: Vec<String>,
    /// Names the further changes of the schema beside that of the outcome: clients are told of each.
    pub beside: Vec<SchemaChange>,
}

impl From<Outcome> for Answered {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, warnings: Vec::new(), beside: Vec::new() }
    }
}

/// Called once with the answer: before the call returns, or from another thread as soon as the
/// write is durable. Does not block.
pub type Answer = Box<dyn FnOnce(Result<Answered, CqlError>) + Send>;
