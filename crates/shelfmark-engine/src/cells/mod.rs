//! Rows of cells: columns and collection elements that carry a write time and perhaps an expiry.
//!
//! A row of cells is what all writes to one key add up to, in whatever order they arrive: merging is
//! commutative, associative and idempotent, and a test holds it to that. What it is not: a language.
//! Values and keys are plain serialisations (CQL's wire forms) that the engine does not look into,
//! except where it needs their order: in clustering columns and in the terms of indexes.
//!
//! # How a face uses it
//!
//! * **Catalogue**: [`crate::Engine::change_catalogue`] makes any number of changes in one commit,
//!   of namespaces and tables; each may carry an opaque attachment. A table is declared by
//!   [`shelfmark_model::TableSchema::of_cells`]; its clustering columns are made with
//!   [`shelfmark_model::SortColumn::clustering`], its columns are numbered by the face and a number
//!   is never used twice in one table. [`crate::Engine::catalogue_version`] moves with each change.
//! * **Writes**: [`crate::Engine::submit_cells`] takes any number of [`Mutation`]s, of any tables
//!   and partitions, as one commit; [`crate::Engine::submit_cells_if`] decides on rows of one partition
//!   in the same serializable step, which also serves what must read before it writes (setting a
//!   list's element by position).
//! * **Reads**: [`crate::Engine::get_cells`], [`crate::Engine::query_cells`],
//!   [`crate::Engine::scan_cells`], [`crate::Engine::query_cell_index`]. Rows come with the live
//!   cells alone ([`LiveRow`]), with timestamps and expiries. [`crate::Engine::show_cells`] shows
//!   the values of a partition's rows where they lie, to be encoded at once.
//! * A view is a table of its own, declared with [`shelfmark_model::ViewSchema`] in one change with
//!   its name in the base's `views`; it is read like any table and written by its base alone.
//!
//! # Invariants
//!
//! * A dead cell stays in its row until the grace period is over, so that a late write with an older
//!   timestamp stays dead; deletions of rows, spans and partitions leave marks for the same reason.
//! * Entries of indexes and rows of views change in the commit of the row that they follow from.
//! * An insert that says all of a row and is later than anything in it is written without reading it;
//!   `lease` knows how late that is.
//! * Writers of one row exclude each other, and whoever deletes a span or decides on a condition
//!   excludes all writers of the partition, from reading until the commit is queued.

mod apply;
mod backfill;
mod blind;
mod check;
mod codec;
mod delete;
mod derive;
mod engine;
mod estimate;
mod find;
mod index_read;
mod keep;
mod keys;
mod layout;
mod lease;
mod marks;
mod merge;
mod page;
mod patch;
mod purging;
mod query;
mod raw;
mod renew;
mod request;
mod row;
mod scan;
mod show;
mod state;
mod sweep;
mod transact;
#[cfg(test)]
mod view;
mod view_test;

use std::collections::BTreeMap;

use bytes::Bytes;

pub(crate) use apply::apply;
pub(crate) use backfill::resume;
pub(crate) use check::{Cells, MarkKind, StoredCells, due_hash, due_key, stored_lease};
pub(crate) use codec::chunk_count;
pub(crate) use engine::renew_lease;
pub use engine::{CellCompletion, CellWrites};
pub use estimate::CellEstimate;
pub(crate) use find::{Found as FoundRow, Target};
pub(crate) use index_read::{Entries, check_readable};
pub(crate) use keep::Collect;
pub(crate) use keys::Place;
pub(crate) use layout::CellsLayout;
pub(crate) use lease::{Renewal, StoredLease, WrittenStripes};
pub(crate) use page::CellReader;
pub use page::{CellGet, CellGot};
pub use raw::ClusteringValue;
pub(crate) use renew::{CellsSeen, correct_lease, correct_marks};
pub use request::{
    CellChange, CellEntry, CellFilter, CellIndexQuery, CellLimits, CellOperation, CellPage,
    CellQuery, CellScan, ConditionalRead, Decision, Mutation, PartitionView, Span, SpanBound,
};
pub use row::{LiveCell, LiveRow};
pub use show::{CellSink, CellsShown, ShownRow};
pub(crate) use state::{PartitionLocks, TableState, UniqueMicros};
pub(crate) use transact::{CellsWritten, lock_written, renew_leases};

/// Microseconds since the Unix epoch, as a client or the server wrote them. Later wins.
pub type Timestamp = i64;

/// Which cell: a column, and for an element of a collection its place in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellKey {
    /// The column's number.
    pub(crate) column: u32,
    /// Empty for a plain column; the serialised element key (set, map) or position (list).
    pub(crate) path: Bytes,
}

/// When something stops being there, and after how many seconds it was meant to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expiry {
    /// As it was asked for.
    pub ttl_seconds: u32,
    /// Second since the Unix epoch: from then on it is gone.
    pub at_seconds: u64,
}

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value, perhaps for a time only. It may have zero bytes: that is CQL's empty value.
    Live { value: Bytes, expiry: Option<Expiry> },
    /// Deleted, at this second since the Unix epoch.
    Dead { at_seconds: u64 },
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) timestamp: Timestamp,
    pub(crate) content: Content,
}

/// A deletion of everything that was written up to a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deletion {
    pub(crate) timestamp: Timestamp,
    /// Second since the Unix epoch at which it happened.
    pub(crate) at_seconds: u64,
}

/// That the row was inserted: it exists though all its cells may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// When it was inserted.
    pub timestamp: Timestamp,
    /// When that is over.
    pub expiry: Option<Expiry>,
}

/// A row of cells, or the statics of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CellRow {
    pub(crate) liveness: Option<Liveness>,
    /// A deletion of the whole row.
    pub(crate) deletion: Option<Deletion>,
    /// Deletions of whole collections, by column.
    pub(crate) collections: BTreeMap<u32, Deletion>,
    pub(crate) cells: BTreeMap<CellKey, Cell>,
}

pub(crate) fn has_expired(expiry: Option<Expiry>, now_seconds: u64) -> bool {
    expiry.is_some_and(|expiry| expiry.at_seconds <= now_seconds)
}

#[cfg(test)]
mod tests;
