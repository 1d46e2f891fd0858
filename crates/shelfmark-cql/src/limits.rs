//! Limits of the CQL face, each with its source.

/// Longest body of an envelope, before and after decompression.
///
/// Source: native protocol specification v4, "2.5 length", read 2026-11: 256 MB.
pub const ENVELOPE_SIZE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest payload of a checksummed frame.
///
/// Source: native protocol specification v5, "2.2 frame payload", read 2026-11: 17 bits.
pub const FRAME_PAYLOAD_SIZE_BYTES_MAX: usize = 131_071;
