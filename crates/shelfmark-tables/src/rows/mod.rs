//! Rows in the store, whatever their kind: views, walks, cursors, online backfill.
//!
//! What it is not: the meaning of a row. What a record says and what follows from it is decided by its
//! kind, in `items` or in `cells`.

mod backfill;
mod builds;
mod cursor;
mod kind;
mod moment;
mod online;
mod page;
mod scan;
mod view;
mod walk;

pub(crate) use backfill::Chunk;
pub(crate) use backfill::{Backfill, backfill};
pub use backfill::{QueuedChunk, commit_chunk, patiently, queue_chunk, wait_for};
pub use builds::Builds;
pub use cursor::Cursor;
pub use kind::{Entry, IndexRange, RowKind};
pub use moment::Moment;
pub use online::{add, remove, renew, resume, resume_all};
pub(crate) use page::{PageRange, PageState, Taker, Took};
pub use scan::{RawRow, RowScan, chunk_count, put_stored, read_row};
pub(crate) use view::Validated;
pub use view::View;
pub use walk::{Found, Walk, damage};
