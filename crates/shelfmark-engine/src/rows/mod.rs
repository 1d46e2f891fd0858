//! Rows in the store, whatever their kind: views, walks, cursors, online backfill.
//!
//! What it is not: the meaning of a row. What a record says and what follows from it is decided by its
//! kind, in `items` or in `cells`.

mod backfill;
mod cursor;
mod kind;
mod moment;
mod online;
mod page;
mod scan;
mod view;
mod walk;

pub(crate) use backfill::{
    Backfill, Chunk, QueuedChunk, backfill, commit_chunk, patiently, queue_chunk, wait_for,
};
pub use cursor::Cursor;
pub(crate) use kind::{Entry, IndexRange, RowKind};
pub(crate) use moment::Moment;
pub(crate) use online::{add, remove, renew, resume, resume_all};
pub(crate) use page::{PageRange, PageState, Taker, Took};
pub(crate) use scan::{RawRow, RowScan, chunk_count, put_stored, read_row};
pub(crate) use view::{Validated, View};
pub(crate) use walk::{Found, Walk, damage};
