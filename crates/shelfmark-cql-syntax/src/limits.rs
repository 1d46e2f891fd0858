//! Limits of the parser.

/// The longest text in bytes: the native protocol's largest envelope, 256 MB.
pub const TEXT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The greatest depth of nested types, terms and selectors, an operator of a chain such as `1 + 2 +
/// 3` counting as one level. Cassandra has no number for it; its parser ends with a stack overflow.
/// Ours is far above what people write and far below what a thread's stack holds.
pub const DEPTH_MAX: usize = 100;
