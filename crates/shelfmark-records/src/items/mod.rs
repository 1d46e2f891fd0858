//! Rows of items as bytes: values, records and their chunks, entries of change logs.
//!
//! Drawn byte by byte in `docs/format.md`, section "Rows". Versioned by the first byte of each
//! record.

mod change;
mod record;
mod value;

pub use change::{
    ChangeRecord, DecodedChange, change_parts, change_time, decode_change, encode_change,
};
pub use record::CHUNK_SIZE_BYTES;
pub use record::{Head, Record, RecordKind, Stored, encode as encode_record, kind_of, with_expiry};
pub use value::prefixed;

#[cfg(test)]
mod tests;
