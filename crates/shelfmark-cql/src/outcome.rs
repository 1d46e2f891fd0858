//! What the protocol side and the statement side hand each other: requests one way, outcomes the
//! other.
//!
//! Invariant: nothing here knows a version of the protocol.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use shelfmark_engine::budget::{Client, SHARE_FREE_BYTES, Share};
use shelfmark_engine::weight::Weight;

use crate::auth::User;
use crate::error::CqlError;
use crate::limits::{ANSWER_SIZE_BYTES_MAX, SPOOLED_FROM_BYTES};
use crate::statement::Plan;
use crate::trace::TraceLog;
use crate::types::CqlType;

/// How many replicas a request asks for. A single store satisfies every level.
///
/// Source: native protocol specification v5, section 3, read 2026-11.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u16)]
#[allow(missing_docs, reason = "the protocol's own names")]
pub enum Consistency {
    Any = 0,
    #[default]
    One = 1,
    Two = 2,
    Three = 3,
    Quorum = 4,
    All = 5,
    LocalQuorum = 6,
    EachQuorum = 7,
    Serial = 8,
    LocalSerial = 9,
    LocalOne = 10,
}

impl Consistency {
    /// Returns the level of this number.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::Any,
            1 => Self::One,
            2 => Self::Two,
            3 => Self::Three,
            4 => Self::Quorum,
            5 => Self::All,
            6 => Self::LocalQuorum,
            7 => Self::EachQuorum,
            8 => Self::Serial,
            9 => Self::LocalSerial,
            10 => Self::LocalOne,
            _ => return None,
        })
    }

    /// Returns its name, as messages have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "ANY",
            Self::One => "ONE",
            Self::Two => "TWO",
            Self::Three => "THREE",
            Self::Quorum => "QUORUM",
            Self::All => "ALL",
            Self::LocalQuorum => "LOCAL_QUORUM",
            Self::EachQuorum => "EACH_QUORUM",
            Self::Serial => "SERIAL",
            Self::LocalSerial => "LOCAL_SERIAL",
            Self::LocalOne => "LOCAL_ONE",
        }
    }
}

/// A bound value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundValue {
    /// Deletes, or compares as null.
    Null,
    /// Leaves the column alone.
    Unset,
    /// The serialised value; may be empty.
    Bytes(Bytes),
}

/// The bound values of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// One for each marker, in order.
    Positional(Vec<BoundValue>),
    /// By the markers' names.
    Named(Vec<(String, BoundValue)>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Positional(Vec::new())
    }
}

/// Everything a request says beside its statement.
#[derive(Debug, Clone, Default)]
pub struct RequestOptions {
    /// The keyspace of names that have none: the request's own, else the connection's.
    pub keyspace: Option<Arc<str>>,
    /// Who asks; `None` when nobody has to log in.
    pub user: Option<User>,
    /// The level.
    pub consistency: Consistency,
    /// The level of a condition.
    pub serial_consistency: Option<Consistency>,
    /// The values of the markers.
    pub values: Values,
    /// Most rows of the page; `None` for all.
    pub page_size: Option<u32>,
    /// Where the page begins: what [`ResultRows::paging`] held. Its integrity is checked, its
    /// meaning is the executor's.
    pub paging: Option<Bytes>,
    /// The client's timestamp in microseconds, below `USING TIMESTAMP`.
    pub timestamp: Option<i64>,
    /// The time that expiry is judged by, in seconds since the epoch; tests of clients use it.
    pub now_in_seconds: Option<i32>,
    /// Whether the thread that runs it serves connections: a read that turns out long is given up
    /// there and run again elsewhere. Only the connection sets it.
    pub is_inline: bool,
    /// Where what is done is noted, if a trace is wanted.
    pub trace: Option<TraceLog>,
    /// Whose part of the memory budget the answer draws from; without one it draws from none.
    pub client: Option<Client>,
    /// Where answers are kept that are too long for memory, if there is such a place.
    pub spools: Option<Arc<dyn Spools>>,
}

/// A column of a result, or a marker.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    /// The keyspace of its table.
    pub keyspace: Arc<str>,
    /// Its table.
    pub table: Arc<str>,
    /// Its name, as in `SELECT`; of a marker the column's, or such as `[limit]` and `[ttl]`.
    pub name: Arc<str>,
    /// Its type.
    pub kind: CqlType,
}

/// Room that is made when a result has more than one row.
const ROOM_BYTES: usize = 16 * 1024;

/// A file that holds the beginning of a long answer; gone when it is dropped.
pub trait Spool: Send + Sync + std::fmt::Debug {
    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// * The operating system's error, or that there is no room; the answer is given up.
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()>;

    /// Reads bytes at `offset`; fewer than fit only at the end.
    ///
    /// # Errors
    ///
    /// * The operating system's error; the connection is given up.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize>;
}

/// A place for [`Spool`]s.
pub trait Spools: Send + Sync + std::fmt::Debug {
    /// Creates an empty one.
    ///
    /// # Errors
    ///
    /// * The operating system's error; the answer is given up.
    fn create(&self) -> std::io::Result<Box<dyn Spool>>;
}

/// The beginning of a long answer.
#[derive(Debug)]
pub(crate) struct Spooled {
    pub(crate) file: Box<dyn Spool>,
    pub(crate) bytes: u64,
}

/// Rows as they go over the wire: cell after cell, each with its length in front.
///
/// Rows of an answer for a client draw from its part of the memory budget, and go to a [`Spool`]
/// where they are many; both happen in `RowBuffer::check`.
#[derive(Debug, Default)]
pub struct RowBuffer {
    bytes: BytesMut,
    rows: u32,
    share: Option<Share>,
    spools: Option<Arc<dyn Spools>>,
    spooled: Option<Spooled>,
}

impl RowBuffer {
    /// Creates the buffer of an answer to a request.
    pub(crate) fn of(options: &RequestOptions) -> Self {
        Self {
            share: options.client.as_ref().map(Client::share),
            spools: options.spools.clone(),
            ..Self::default()
        }
    }

    /// Accounts for the rows that were ended so far. To be called between rows, as often as a
    /// megabyte may have been written.
    ///
    /// # Errors
    ///
    /// * `Overloaded`: the memory budget has no room for them; `Invalid`: the answer is longer than
    ///   the protocol can say.
    pub(crate) fn check(&mut self) -> Result<(), CqlError> {
        if self.bytes.len() <= SHARE_FREE_BYTES {
            return Ok(());
        }
        if self.bytes.len() >= SPOOLED_FROM_BYTES
            && let Some(spools) = &self.spools
        {
            let failed = |error: std::io::Error| {
                CqlError::overloaded(format!("There is no room to keep this answer in: {error}"))
            };
            if self.spooled.is_none() {
                self.spooled = Some(Spooled { file: spools.create().map_err(failed)?, bytes: 0 });
            }
            if let Some(spooled) = &mut self.spooled {
                spooled.file.append(&self.bytes).map_err(failed)?;
                spooled.bytes += self.bytes.len() as u64;
                self.bytes.clear();
            }
        }
        if self.size_bytes() > ANSWER_SIZE_BYTES_MAX {
            return Err(CqlError::invalid(format!(
                "The answer is longer than {ANSWER_SIZE_BYTES_MAX} bytes; read it page by page"
            )));
        }
        let held = self.bytes.capacity();
        if self.share.as_mut().is_none_or(|share| share.cover(held)) {
            return Ok(());
        }
        Err(CqlError::overloaded(
            "The memory budget has no room for this answer; read it page by page or come again later",
        ))
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
        let length = value.map(|value| i32::try_from(value.len()));
        if let (Some(value), Some(Ok(length))) = (value, length) {
            self.bytes.put_i32(length);
            self.bytes.put_slice(value);
        } else {
            self.bytes.put_i32(-1);
        }
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
    pub(crate) fn back_to(&mut self, written: Written) {
        self.bytes.truncate(written.bytes);
        self.rows = written.rows;
    }

    /// Returns how many rows were ended.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns the bytes so far that do not lie in a [`Spool`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// How much was written into a [`RowBuffer`].
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
    /// The columns; shared with [`PreparedStatement::result`] where there is one.
    pub columns: Arc<[ColumnSpec]>,
    /// The rows.
    pub rows: RowBuffer,
    /// Where the next page begins; `None` when this was the last.
    pub paging: Option<Bytes>,
}

/// What happened to a part of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It is another now.
    Updated,
    /// It is gone.
    Dropped,
}

/// Which part of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTarget {
    /// A keyspace.
    Keyspace,
    /// A table or view.
    Table,
    /// A user type.
    Type,
    /// A function.
    Function,
    /// An aggregate.
    Aggregate,
}

/// A change of the schema: answered to whoever asked, and sent to whoever registered for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// What happened.
    pub kind: ChangeKind,
    /// To which part.
    pub target: ChangeTarget,
    /// In which keyspace.
    pub keyspace: String,
    /// The name; empty for a keyspace.
    pub name: String,
    /// The types of a function's or aggregate's arguments, as CQL text.
    pub arguments: Vec<String>,
}

/// What a statement led to.
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
    /// What it led to.
    pub outcome: Outcome,
    /// Sentences for the client, such as about large batches.
    pub warnings: Vec<String>,
}

impl From<Outcome> for Answered {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, warnings: Vec::new() }
    }
}

/// Called once with the answer: before the call returns, or from another thread as soon as the
/// write is durable. Does not block.
pub type Answer = Box<dyn FnOnce(Result<Answered, CqlError>) + Send>;

/// A statement that was parsed and planned.
#[derive(Debug)]
pub struct PreparedStatement {
    /// The markers in order: one for each `?` or `:name`, wherever it stands.
    pub markers: Arc<[ColumnSpec]>,
    /// Which markers make the partition key, in key order; empty if they do not make all of it.
    pub pk_indices: Vec<u16>,
    /// The columns of its rows; empty if it answers none. Of a conditional write: `[applied]` only.
    pub result: Arc<[ColumnSpec]>,
    /// Whether it is a conditional write.
    pub conditional: bool,
    /// Whether a name in it has no keyspace, so that it means another thing elsewhere.
    pub needs_keyspace: bool,
    /// How much work it may be.
    pub weight: Weight,
    /// What the executor made of it.
    pub plan: Arc<Plan>,
}

/// How a batch is kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchKind {
    /// All or nothing.
    Logged,
    /// Statement by statement; ours are all or nothing too.
    Unlogged,
    /// Of counters only.
    Counter,
}

/// One statement of a batch.
#[derive(Debug, Clone)]
pub struct BatchEntry {
    /// The statement.
    pub statement: Arc<PreparedStatement>,
    /// Its values.
    pub values: Values,
}

/// A BATCH request.
#[derive(Debug, Clone)]
pub struct BatchRequest {
    /// How it is kept together.
    pub kind: BatchKind,
    /// Its statements; may be none.
    pub entries: Vec<BatchEntry>,
}
