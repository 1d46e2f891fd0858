//! Terms: what the text says becomes something that can be evaluated for every execution.
//!
//! A term is prepared once against what receives it (a column, an argument, a limit) and evaluated
//! with the values of the markers and, in a selection, with a row.
//!
//! Invariant: whatever is evaluated is null, unset, or a valid value of the type it was prepared
//! for.

mod assign;
mod column_mask;
mod eval;
mod expression;
mod prepare;
mod scope;
mod text;

pub use assign::{known_type, preferred, test, test_literal};
pub use column_mask::{ColumnMask, MaskArgument};
pub use eval::{EvalContext, ResolvedPath, RowView};
pub use expression::{Expr, MetadataKind, MetadataPath, UnsetField};
pub use prepare::{ambiguous, prepare, prepare_literal as prepare_literal_as, prepare_marker};
pub use scope::{BindMarkers, KeyedTable, Receiver, Scope, spelled_argument};
pub use text::{literal_text, term_text};
