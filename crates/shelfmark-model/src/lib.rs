//! Values, items, schemas, conditions and patches: the data model of all faces.
//!
//! Pure: no files, no wire forms, no clock. A face translates its own language into these types,
//! the engine executes them.
//!
//! Invariant: nothing here panics on data from outside, and every recursion over a value or an
//! expression is bounded by [`limits`].

mod condition;
mod error;
mod item;
mod key;
pub mod limits;
mod patch;
mod path;
mod projection;
mod schema;
pub mod serial;
mod size;
pub mod text;
mod value;

pub use condition::{Comparison, Condition, Operand};
pub use error::{Error, ErrorKind, Result};
pub use item::{Attributes, Item};
pub use key::{Key, SortBound, SortCondition};
pub use patch::{Patch, PatchOperation, PatchProblem, PatchValue};
pub use path::{Path, Step};
pub use projection::Projection;
pub use schema::{
    CellIndex, CellIndexTarget, CellsSchema, ChangeImages, ChangeStream, Column, ColumnType,
    History, IndexKind, IndexSchema, IndexState, KeyColumn, OpenShard, Placement, Projected,
    Revived, RowKind, SortColumn, StreamShard, TableName, TableOptions, TableSchema, TextFold,
    TtlSource, ViewComparison, ViewPart, ViewSchema, ViewTest,
};
pub use size::{attribute_size_bytes, item_size_bytes, value_size_bytes};
pub use value::{Text, Value, ValueKind};

pub use shelfmark_keycode::{Decimal, Direction, KeyType, KeyValue};
