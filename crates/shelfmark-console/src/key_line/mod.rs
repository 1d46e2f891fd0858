//! The key line: the keys of a table in their order, as stretches of partitions and rows by size.
//!
//! * `keys`: the columns of keys as text; `draw`: draws the stretches, with the ranges that a request
//!   touched. They are found by [`shelfmark_admin::key_line`].
//!
//! What it is not: a count. A large table is sampled, so its figures are estimates and are shown as such.

mod draw;
mod keys;

use shelfmark_store::{KeyRange, Store};

pub(crate) use draw::{Picture, Touched};
pub(crate) use keys::LineKeys;
pub(crate) use shelfmark_admin::key_line::{Effort, Line};

use crate::fault::Result;

/// Measures a range of a table's keys.
pub(crate) fn measure(
    store: &dyn Store,
    keys: &LineKeys,
    range: &KeyRange,
    effort: Effort,
) -> Result<Line> {
    Ok(shelfmark_admin::key_line::measure(store, &keys.stored, range, effort)?)
}
