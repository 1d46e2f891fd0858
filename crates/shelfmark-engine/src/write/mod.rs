//! Writing: what a write asks, how it is applied, and what it derives.

mod apply;
mod blind;
mod derive;
mod request;

pub(crate) use apply::{Applied, Writer, apply, expiry, put_stored};
pub(crate) use blind::blind;
pub(crate) use derive::{due_key_of, entry_record, partition_count_key, table_count_key};
pub use request::{Change, Returns, Write, Written};
