//! Items: rows whose attributes carry no metadata, as DynamoDB, entities and typed tables have them.
//!
//! One of the two kinds of rows; the other is `cells`. What both share (walking over rows, pages,
//! backfill, verification) is in `rows`, and how a write becomes a commit in `commit`.
//!
//! Invariant: what follows from an item (index entries, counts, due time, change log) changes in the
//! commit of the item.

mod apply;
mod backfill;
mod blind;
mod changes;
mod counts;
mod decode;
mod derive;
mod due_backfill;
mod expire;
mod get;
mod page;
mod query;
mod request;
mod row_memo;
mod stored;

pub(crate) use apply::{Applied, Before, Decided};
pub(crate) use apply::{apply, decide};
pub use apply::{encode, fits};
pub(crate) use backfill::build;
pub(crate) use blind::blind;
pub use changes::{ChangePosition, ItemChange};
pub use changes::{LogPage, LogStart, log_end, log_keys, read_log};
pub use derive::{partition_count_key, table_count_key};
pub use due_backfill::give_due_times;
pub use expire::Due;
pub(crate) use get::get;
pub use get::{Get, Got};
pub use page::ResultPage;
pub(crate) use query::segment_range;
pub use query::{Query, Scan, Segment};
pub(crate) use query::{query, scan};
pub use request::{Change, Returns, Write, Written};
pub(crate) use row_memo::RowMemo;
pub use stored::{Items, StoredItem};
