//! Reads and writes JSON without building a tree between the bytes and the values.
//!
//! A request is read once, from front to back, straight into what the operation needs: the
//! [`Reader`] is pulled, so a member that nobody asks for is skipped without being built, and an
//! attribute value becomes a [`shelfmark_model::Value`] in one step. It is a reader of our own
//! because the service tells three things apart that a general one mixes: a body that is no JSON,
//! a member of the wrong JSON type (both `SerializationException`), and an attribute value that is
//! wrong in itself, which is a `ValidationException` reported only after everything else about the
//! shape is known to be right.
//!
//! Invariant: reading recurses at most [`crate::limits::JSON_DEPTH_MAX`] deep, allocates no more
//! than the body justifies, and accepts exactly the JSON of RFC 8259.

mod attribute;
mod attributes_text;
mod blob;
mod encode;
mod number;
mod reader;
mod scan;
mod strict;
mod wording;
mod writer;

pub use attributes_text::AttributesJson;

pub(crate) use attribute::{Attributes, Checked};
pub(crate) use blob::put as put_base64;
pub(crate) use encode::{put_item, put_value};
pub(crate) use number::{NumberFault, parameter as parameter_number, plain};
pub(crate) use reader::Reader;
pub(crate) use strict::missing_member;
pub(crate) use wording::Wording;
pub(crate) use writer::Writer;

#[cfg(test)]
mod tests;
