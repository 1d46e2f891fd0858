//! The limits of bodies: of their text, and of what one call may take.
//!
//! What it is not: settings. A body that needs more than this is no function of one row.
//!
//! Invariant: nothing that a body can say makes a call take more than these.

/// The longest body, in bytes.
pub const BODY_SIZE_BYTES_MAX: usize = 64 * 1024;

/// The deepest nesting of blocks, parentheses, operators and chained calls.
pub const DEPTH_MAX: usize = 64;

/// The steps of one call: each expression and statement is one, work on long values more.
pub const STEPS_MAX: u64 = 10_000_000;

/// The memory that one call may ask for, in bytes; what is given back does not count.
pub const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The longest integer of any size, in bits.
pub const INTEGER_BITS_MAX: u64 = 1024 * 1024;
