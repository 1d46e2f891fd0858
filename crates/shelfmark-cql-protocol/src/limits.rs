//! Limits of the protocol, each with its source.

/// Longest body of an envelope, before and after decompression.
///
/// Source: native protocol specification v4, "2.5 length", read 2026-11: 256 MB.
pub const ENVELOPE_SIZE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest payload of a checksummed frame.
///
/// Source: native protocol specification v5, "2.2 frame payload", read 2026-11: 17 bits.
pub const FRAME_PAYLOAD_SIZE_BYTES_MAX: usize = 131_071;

/// Longest rows of one answer.
///
/// Source: native protocol specification v4, "2.5 length", read 2026-11: a signed number of 32 bits;
/// 1 MiB is left to what stands before the rows.
pub const ANSWER_SIZE_BYTES_MAX: u64 = (1 << 31) - (1 << 20);

/// Bytes of a long answer that are read from its file at once.
///
/// Source: ours; eight frames of version 5.
pub const SPOOL_READ_SIZE_BYTES: usize = 8 * FRAME_PAYLOAD_SIZE_BYTES_MAX;
