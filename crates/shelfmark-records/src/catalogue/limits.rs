//! Limits of stored schemas, shared by what writes them and what reads them.
//!
//! Invariant: nothing is committed that exceeds a limit at which reading stops.

use shelfmark_keycode::KEY_DEPTH_MAX;

/// Levels of parentheses in the text of a type: each of its levels may be kinded, which is no level
/// of its own for [`KEY_DEPTH_MAX`].
pub(crate) const TYPE_LEVELS_MAX: usize = 2 * KEY_DEPTH_MAX;

/// Bytes of the record of a table or a namespace.
pub const RECORD_SIZE_BYTES_MAX: usize = 8 * 1024 * 1024;
