//! Rows as bytes: values, records and their chunks.
//!
//! Drawn byte by byte in `docs/format.md`, section "Rows". Versioned by the first byte of each
//! record. Every decoder takes arbitrary bytes and answers an error, never a panic.

mod record;
mod value;
mod varint;

pub(crate) use record::CHUNK_SIZE_BYTES;
pub(crate) use record::{
    Head, Record, RecordKind, Stored, encode as encode_record, encode_whole, kind_of,
};
#[cfg(test)]
pub(crate) use value::decode_value;
pub(crate) use value::{decode_nesting, encode_value};
pub(crate) use varint::{Reader, put_varint, unzigzag, zigzag};

#[cfg(test)]
mod tests;
