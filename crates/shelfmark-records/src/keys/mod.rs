//! Keys of the store: the trees, and the keys of rows and index entries.
//!
//! Drawn byte by byte in `docs/format.md`, section "Keys of the engine":
//! `[tree][table id][placement][partition key][0 = header, 1 = row][sort key][chunk]`.
//!
//! Invariant: one partition is one contiguous range, one sort-key range inside it too, and so is a
//! whole table.

mod chunk;
mod component;
mod keyspec;
mod range;
mod row_key;
mod strict;
mod tree;

pub use chunk::chunk_key;
pub(crate) use component::{put_component, take_component};
pub use keyspec::{KeyColumns, KeyMemo, KeySpec, ReadColumn, without_chunk};
pub use range::{after_row, sort_range};
pub use row_key::RowKey;
pub use strict::{is_left_out, misfit};
pub use tree::{Tree, tree_key, tree_range};
