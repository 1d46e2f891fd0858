//! Tables of one kind of row used as tables of the other: what lets faces share tables.
//!
//! A table of cells whose key is one partition column and at most one clustering column, of text,
//! numbers or bytes, is also a table of items: `Engine::shared_items` gives it in that form,
//! and reads and writes of items take it like any other. A table of items is also one of cells:
//! `Engine::shared_cells`. What it is not: a copy. There is one table, its rows keep their
//! kind, and what an item cannot say (timestamps, expiries of cells) stays with its owner's calls.
//!
//! Invariant: what is written through a mapping is what the table's own face would have written, in
//! the same commit with whatever else the commit holds.

mod cells;
mod change;
mod check;
mod grant;
mod mapping;
mod read;
mod share;
mod typed;
mod value;
mod write;

pub(crate) use cells::CellsOfItems;
pub use cells::{AttributesText, OtherAttributes, SharedColumns};
pub use check::{ColumnCheck, ColumnChecks, ItemCheck, ItemChecks};
pub use grant::Share;
pub(crate) use mapping::ItemsOfCells;
pub(crate) use typed::ItemsOfTyped;
pub use typed::{FieldKind, declare_fields, declared_fields};
pub(crate) use write::apply;
