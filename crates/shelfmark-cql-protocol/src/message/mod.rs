//! Bodies of requests decoded, bodies of answers encoded.
//!
//! What it is not: it keeps nothing between two messages and checks no order of them; a
//! session does.
//!
//! Invariant: a body says how long everything in it is, and each length is checked against what is
//! there before anything is taken or allocated.
//!
//! Source: native protocol specifications v3 to v5, sections 3 to 5 and 8, read 2026-11.

mod answer;
mod error;
mod metadata;
mod reader;
mod request;
mod writer;

pub use answer::{Prepared, ResultHead, event, prepared, result_head, server_event, supported};
pub use error::error;
pub use metadata::{ResultMetadataId, RowsMetadata, id as metadata_id};
pub(crate) use reader::{Malformed, Read, Reader};
pub use request::{Batch, BatchItem, BatchKind, Execute, Prepare, Query, QueryParameters, Request};
pub use writer::Write;

#[cfg(test)]
mod tests;
