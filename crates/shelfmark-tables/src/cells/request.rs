//! Requests to a table of cells, and their answers: mutations and reads.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_records::cells::{ClusteringValue, LiveRow, Span, Timestamp};

use crate::catalogue::Table;
use crate::report::AccessReport;
use crate::rows::Cursor;

/// One change of one partition: cells written or deleted at one timestamp.
#[derive(Debug, Clone)]
pub struct Mutation {
    /// The table.
    pub table: Arc<Table>,
    /// The partition key in its plain serialisation: one column as it is, several as a composite
    /// (`[u16 length][bytes][00]` each).
    pub partition: Bytes,
    /// The change of the partition.
    pub change: CellChange,
    /// Microseconds since the Unix epoch; a later one wins.
    pub timestamp: Timestamp,
    /// Values that are set, and the row's marker, expire after this many seconds.
    pub ttl_seconds: Option<u32>,
}

impl Mutation {
    /// Returns true if it adds to counters of one row, and nothing else.
    pub(crate) fn only_adds(&self) -> bool {
        match &self.change {
            CellChange::Row { is_insert: false, operations, .. }
            | CellChange::Statics(operations) => {
                !operations.is_empty()
                    && operations.iter().all(|own| matches!(own, CellOperation::Add { .. }))
            }
            _ => false,
        }
    }

    /// Tells whether it only takes away: such a write is done also where room is short.
    pub(crate) fn is_deletion(&self) -> bool {
        let takes_away = |operation: &CellOperation| match operation {
            CellOperation::Delete { .. }
            | CellOperation::DeleteElement { .. }
            | CellOperation::Clear { .. } => true,
            CellOperation::Overwrite { elements, .. } => elements.is_empty(),
            CellOperation::OverwriteList { values, .. } => values.is_empty(),
            _ => false,
        };
        match &self.change {
            CellChange::Row { is_insert, operations, .. } => {
                !is_insert && operations.iter().all(takes_away)
            }
            CellChange::Statics(operations) => operations.iter().all(takes_away),
            CellChange::DeleteRow(_) | CellChange::DeleteSpan(_) | CellChange::DeletePartition => {
                true
            }
        }
    }
}

/// A change that a [`Mutation`] makes to its partition.
#[derive(Debug, Clone)]
pub enum CellChange {
    /// Cells of a row.
    Row {
        /// The clustering key of the row: one value per clustering column.
        clustering: Vec<ClusteringValue>,
        /// The row is inserted: it exists from now on, though all its cells may be null.
        is_insert: bool,
        /// The operations on its cells.
        operations: Vec<CellOperation>,
    },
    /// Static cells.
    Statics(Vec<CellOperation>),
    /// A row is deleted.
    DeleteRow(Vec<ClusteringValue>),
    /// All rows of a span are deleted; statics stay.
    DeleteSpan(Span),
    /// All rows of the partition and its statics are deleted.
    DeletePartition,
}

impl CellChange {
    /// Tells whether it deletes a range of rows.
    pub(crate) fn is_of_range(&self) -> bool {
        matches!(self, Self::DeleteSpan(_) | Self::DeletePartition)
    }
}

/// An operation on one column of a row. Columns are named by number ([`shelfmark_model::Column`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellOperation {
    /// A plain column gets a value (its plain serialisation; no bytes are CQL's empty value).
    Set {
        /// The column.
        column: u32,
        /// The value.
        value: Bytes,
    },
    /// A plain column becomes null.
    Delete {
        /// The column.
        column: u32,
    },
    /// An element of a collection, or a field of a UDT, gets a value.
    SetElement {
        /// The column.
        column: u32,
        /// The serialised key of a map or member of a set, the place in a list, or the field.
        path: Bytes,
        /// The value; of no bytes for a set.
        value: Bytes,
    },
    /// An element goes away.
    DeleteElement {
        /// The column.
        column: u32,
        /// As in `SetElement`.
        path: Bytes,
    },
    /// A collection is deleted, with all elements written up to the timestamp.
    Clear {
        /// The column.
        column: u32,
    },
    /// A set, map or UDT is replaced: what was written before the timestamp goes away.
    Overwrite {
        /// The column.
        column: u32,
        /// Paths and values.
        elements: Vec<(Bytes, Bytes)>,
    },
    /// A list is replaced.
    OverwriteList {
        /// The column.
        column: u32,
        /// Its elements in order.
        values: Vec<Bytes>,
    },
    /// Elements are put behind those of a list.
    Append {
        /// The column.
        column: u32,
        /// In order.
        values: Vec<Bytes>,
    },
    /// Elements are put before those of a list; the block keeps its order.
    Prepend {
        /// The column.
        column: u32,
        /// In order.
        values: Vec<Bytes>,
    },
    /// A counter is added to. What was deleted starts at zero; the mutation's timestamp and expiry
    /// play no part.
    Add {
        /// The column.
        column: u32,
        /// The amount that is added.
        delta: i64,
    },
}

/// Decides which of the rows read are answered.
pub type CellFilter = Arc<dyn Fn(&CellEntry) -> bool + Send + Sync>;

/// The limits of a read of rows of cells, and what comes back with them.
#[derive(Clone, Default)]
pub struct CellLimits {
    /// Most rows answered on this page.
    pub rows_max: Option<usize>,
    /// Most rows answered per partition; the rest of it is stepped over.
    pub partition_rows_max: Option<usize>,
    /// The page ends with the row at which this many bytes of cells were read.
    pub bytes_max: Option<usize>,
    /// The cursor from which the read goes on.
    pub start: Option<Cursor>,
    /// Give each row the statics of its partition.
    pub statics: bool,
    /// The filter that decides which of the rows read are answered; none means all.
    pub filter: Option<CellFilter>,
    /// The second since the Unix epoch that expiries are compared with; the clock's by default.
    pub now: Option<u64>,
}

/// A read of one partition of a table of cells.
#[derive(Clone, Default)]
pub struct CellQuery {
    /// The partition key in its plain serialisation.
    pub partition: Bytes,
    /// The span of rows that are read.
    pub span: Span,
    /// From the last to the first, in the order of the store.
    pub reversed: bool,
    /// The limits of the read.
    pub limits: CellLimits,
}

/// A read of a table of cells in the order of tokens.
#[derive(Clone)]
pub struct CellScan {
    /// Tokens of the partitions that are read.
    pub tokens: (Bound<i64>, Bound<i64>),
    /// The limits of the read.
    pub limits: CellLimits,
}

impl Default for CellScan {
    fn default() -> Self {
        Self { tokens: (Bound::Unbounded, Bound::Unbounded), limits: CellLimits::default() }
    }
}

/// A read of an index of cells, in the order of terms, then of tokens.
#[derive(Clone)]
pub struct CellIndexQuery {
    /// The index.
    pub index: String,
    /// The terms that are read: plain serialisations; two components for entries of a map.
    pub terms: Span,
    /// Only rows of this partition.
    pub partition: Option<Bytes>,
    /// Only rows of partitions with these tokens.
    pub tokens: (Bound<i64>, Bound<i64>),
    /// The limits of the read.
    pub limits: CellLimits,
}

/// One row of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct CellEntry {
    /// The partition key in its plain serialisation.
    pub partition: Bytes,
    /// The clustering key. `None` stands for the statics of a partition: of one without rows, when a
    /// partition or table is read; of the partition found, when an index on a static column is.
    pub clustering: Option<Vec<ClusteringValue>>,
    /// The row's live cells; none where `clustering` is `None`.
    pub row: LiveRow,
    /// The live statics of the partition, if they were asked for.
    pub statics: Option<Arc<LiveRow>>,
}

/// One page of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellPage {
    /// The rows that were kept, in order.
    pub rows: Vec<CellEntry>,
    /// The number of rows that were evaluated.
    pub evaluated: usize,
    /// The cursor of the next page; `None` when the range is done. A page may be empty and have
    /// one.
    pub cursor: Option<Cursor>,
    /// The cost of the page.
    pub report: AccessReport,
}

/// Rows of one partition that a conditional write rests on.
#[derive(Debug, Clone)]
pub struct ConditionalRead {
    /// The table.
    pub table: Arc<Table>,
    /// The partition key in its plain serialisation.
    pub partition: Bytes,
    /// The clustering keys of the rows.
    pub rows: Vec<Vec<ClusteringValue>>,
    /// Read the statics of the partition as well.
    pub statics: bool,
    /// The second since the Unix epoch that expiries are compared with; the clock's by default.
    pub now: Option<u64>,
}

/// A view of one partition at one moment, on which a condition is decided.
#[derive(Debug, Clone)]
pub struct PartitionView {
    /// Its live statics; empty if it has none, or they were not asked for.
    pub statics: LiveRow,
    /// The rows asked for, in their order; `None` for one that does not exist.
    pub rows: Vec<Option<LiveRow>>,
    /// The second since the Unix epoch that they are live at.
    pub now: u64,
}

/// A decision: the mutations that are written, and the answer once they are durable.
#[derive(Debug, Clone)]
pub struct Decision<T> {
    /// Mutations of the partition that was read; none if the condition did not hold.
    pub mutations: Vec<Mutation>,
    /// The answer that `Engine::write_cells_if` returns.
    pub answer: T,
}
