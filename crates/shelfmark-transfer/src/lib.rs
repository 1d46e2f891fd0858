//! Data in and out: tables as files and back, and tables of live servers, counted and compared.
//!
//! Rows go through the faces' own requests: over whatever connection the caller hands in, to a face in this
//! process or to a server. So one code exports a folder, a running server and a service elsewhere, and what a
//! table's rules refuse is refused here, too.
//!
//! What it is not: a copy of a store, which `shelfmark-migrate` makes key by key, and a backup, which is of
//! one moment. It has no socket.
//!
//! # Parts
//!
//! * [`items`]: tables of DynamoDB: their definitions, parallel scans, batches, and the forms of items.
//! * [`rows`]: tables of CQL: their columns, ranges of tokens, batches, and the forms of rows.
//! * [`input`], [`output`]: files.
//! * [`walk`](mod@walk): reads a source's parts at once; [`feed`](mod@feed) keeps records by many threads.
//! * [`Sums`]: counts and checksums that do not depend on an order.
//!
//! Invariant: memory is bounded by threads and pages, never by rows; a transfer that is called again goes on
//! where it ended, and its sums are those of all calls.

mod control;
pub mod delimited;
mod error;
mod export;
pub mod feed;
pub mod input;
pub mod items;
mod migration;
pub mod output;
mod position;
pub mod rows;
mod sums;
pub mod walk;

pub use control::{Control, Progress, Rate};
pub use error::{Error, ErrorKind, Result};
pub use migration::{MigratedTable, Step, Told};
pub use position::PositionFile;
pub use sums::Sums;
