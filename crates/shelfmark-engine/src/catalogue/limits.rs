//! Limits of stored schemas, shared by what writes them and what reads them.
//!
//! Invariant: nothing is committed that exceeds a limit at which reading stops.

/// Types of columns are nested at most this deep, with the wrappers that a face adds.
///
/// Keys hold [`shelfmark_keycode::KEY_DEPTH_MAX`] of these; the rest of the room is for columns that
/// are no keys, of which the engine looks into no value.
pub(super) const TYPE_DEPTH_MAX: usize = 128;

/// Bytes of the record of a table or a namespace.
pub(super) const RECORD_SIZE_BYTES_MAX: usize = 8 * 1024 * 1024;
