//! Reading: single items, queries of one partition, scans of a table.
//!
//! Every read goes over a [`View`]: a snapshot, or a transaction with its own writes on top.

mod changes;
mod counts;
mod cursor;
mod get;
mod page;
mod query;
mod rows;
mod view;

pub use changes::{ChangePosition, ItemChange};
pub use cursor::Cursor;
pub(crate) use get::read_row;
pub use get::{Get, Got};
pub(crate) use get::{chunk_key, get};
pub use page::ResultPage;
pub use query::{Query, Scan, Segment};
pub(crate) use query::{query, scan};
pub(crate) use rows::{RawRow, RowScan, chunk_count};
pub(crate) use view::{Validated, View};
