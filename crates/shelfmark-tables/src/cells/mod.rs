//! Rows of cells: columns and collection elements that carry a write time and perhaps an expiry.
//!
//! A row of cells is what all writes to one key add up to, in whatever order they arrive: merging is
//! commutative, associative and idempotent, and a test holds it to that. What it is not: a language.
//! Values and keys are plain serialisations (CQL's wire forms) that the engine does not look into,
//! except where it needs their order: in clustering columns and in the terms of indexes.
//!
//! # How a face uses it
//!
//! * **Catalogue**: `Engine::change_catalogue` makes any number of changes in one commit,
//!   of namespaces and tables; each may carry an opaque attachment. A table is declared by
//!   [`shelfmark_model::TableSchema::of_cells`]; its clustering columns are made with
//!   [`shelfmark_model::SortColumn::clustering`], its columns are numbered by the face and a number
//!   is never used twice in one table. `Engine::catalogue_version` moves with each change.
//! * **Writes**: `Engine::submit_cells` takes any number of [`Mutation`]s, of any tables
//!   and partitions, as one commit; `Engine::submit_cells_if` decides on rows of one partition
//!   in the same serializable step, which also serves what must read before it writes (setting a
//!   list's element by position).
//! * **Reads**: `Engine::get_cells`, `Engine::query_cells`,
//!   `Engine::scan_cells`, `Engine::query_cell_index`. Rows come with the live
//!   cells alone ([`shelfmark_records::cells::LiveRow`]), with timestamps and expiries. `Engine::show_cells` shows
//!   the values of a partition's rows where they lie, to be encoded at once.
//! * A view is a table of its own, declared with [`shelfmark_model::ViewSchema`] in one change with
//!   its name in the base's `views`; it is read like any table and written by its base alone.
//!
//! # Invariants
//!
//! * A dead cell stays in its row until the grace period is over, so that a late write with an older
//!   timestamp stays dead; deletions of rows, spans and partitions leave tombstones for the same reason.
//! * Entries of indexes and rows of views change in the commit of the row that they follow from.
//! * An insert that says all of a row and is later than anything in it is written without reading it;
//!   `high_water` knows how late that is.
//! * Writers of one row exclude each other, and whoever deletes a span or decides on a condition
//!   excludes all writers of the partition, from reading until the commit is queued.

mod add_within;
mod apply;
mod backfill;
mod beside;
mod blind;
mod check;
mod delete;
mod derive;
mod estimate;
mod find;
mod high_water;
mod index_read;
mod keep;
mod page;
mod patch;
mod purging;
mod query;
mod request;
mod scan;
mod show;
mod state;
mod sweep;
mod tombstones;
mod transact;
mod write;

pub(crate) use apply::apply;
pub(crate) use backfill::resume;
pub use check::{Cells, StoredCells, due_hash, stored_high_water};
pub use estimate::CellEstimate;
pub(crate) use find::{Found as FoundRow, Target};
pub(crate) use high_water::{Renewal, WrittenStripes};
pub(crate) use index_read::{Entries, check_readable};
pub(crate) use keep::Collect;
pub(crate) use page::CellReader;
pub use page::{CellGet, CellGot};
pub use request::{
    CellChange, CellEntry, CellFilter, CellIndexQuery, CellLimits, CellOperation, CellPage,
    CellQuery, CellScan, ConditionalRead, Decision, Mutation, PartitionView,
};
pub use show::{CellSink, CellsShown, ShownRow};
pub(crate) use state::{PartitionLocks, TableState, UniqueMicros};
pub use tombstones::{Laid, put_range_tombstone};
pub(crate) use transact::{CellsWritten, lock_written, renew_high_waters};
pub(crate) use write::renew_high_water;
pub use write::{CellCompletion, CellWrites};
