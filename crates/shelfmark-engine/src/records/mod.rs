//! Rows as bytes: values, records and their chunks.
//!
//! Drawn byte by byte in `docs/format.md`, section "Rows". Versioned by the first byte of each
//! record. Every decoder takes arbitrary bytes and answers an error, never a panic.

mod change;
mod record;
mod value;
mod varint;

pub(crate) use change::{ChangeRecord, DecodedChange, change_parts, decode_change, encode_change};
pub(crate) use record::CHUNK_SIZE_BYTES;
pub(crate) use record::{
    Head, Record, RecordKind, Stored, encode as encode_record, kind_of, with_expiry,
};
pub(crate) use value::prefixed;
#[cfg(test)]
pub(crate) use value::{decode_value, encode_value};
pub(crate) use varint::{Reader, put_varint, unzigzag, zigzag};

#[cfg(test)]
mod tests;
