//! The bytes that the engine writes: keys, rows of items, rows of cells, records of the catalogue.
//!
//! Everything here is a function of its arguments: keys and records are made of schemas and values,
//! and taken apart again. What it is not: it reads no store and keeps nothing in memory; which key is
//! read when, and what is written together, is the engine's.
//!
//! Invariant: every decoder takes arbitrary bytes and answers an error, never a panic. What this
//! build writes, and what every build since the first format wrote, is read back as it was.
//!
//! Drawn byte by byte in `docs/format.md`.

mod error;

pub mod catalogue;
pub mod cells;
pub mod items;
pub mod keys;
pub mod shards;
pub mod varint;

pub use error::{Error, ErrorKind, KeyPart, Misfit, Result};
