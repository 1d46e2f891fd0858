//! Limits of the CQL face, each with its source.

/// Longest body of an envelope, before and after decompression.
///
/// Source: native protocol specification v4, "2.5 length", read 2026-11: 256 MB.
pub const ENVELOPE_SIZE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest payload of a checksummed frame.
///
/// Source: native protocol specification v5, "2.2 frame payload", read 2026-11: 17 bits.
pub const FRAME_PAYLOAD_SIZE_BYTES_MAX: usize = 131_071;

/// Requests of one connection that may wait for their answers; no more are read meanwhile.
///
/// Source: native protocol specification v3, "2.3 stream", read 2026-11: ids 0 to 32,767.
pub const REQUESTS_PENDING_MAX: usize = 32_768;

/// Bytes of requests of one connection that may wait for their answers; no more are read meanwhile.
///
/// Source: ours; one request of any allowed size always gets in.
pub const REQUEST_BYTES_PENDING_MAX: usize = 32 * 1024 * 1024;

/// Bytes of answers that may wait for one client to take them; no more requests are read meanwhile.
///
/// Source: ours; one answer of any size always gets in.
pub const ANSWER_BYTES_PENDING_MAX: usize = 16 * 1024 * 1024;

/// Prepared statements that are kept; those unused for longest go first.
///
/// Source: ours; Cassandra keeps as many as fit 1/256 of its heap.
pub const PREPARED_STATEMENTS_MAX: usize = 10_000;

/// Bytes of text of all prepared statements that are kept; those unused for longest go first.
///
/// Source: ours; what a statement becomes takes up to some fifty times the room of its text.
pub const PREPARED_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest text of a statement that can be prepared.
///
/// Source: ours; Cassandra refuses what would not fit its cache of 10 MB or more.
pub const PREPARED_TEXT_SIZE_BYTES_MAX: usize = 1024 * 1024;

/// Traces that are kept for clients to read.
///
/// Source: ours; Cassandra keeps them for a day, drivers read them within seconds.
pub const TRACES_MAX: usize = 1_000;

/// Longest user name and password.
///
/// Source: ours; bcrypt looks at 72 bytes of a password.
pub const CREDENTIAL_SIZE_BYTES_MAX: usize = 1024;

/// From this size on a request needs room that all connections share.
///
/// Source: ours.
pub const LARGE_REQUEST_SIZE_BYTES: usize = 1024 * 1024;

/// Bytes of large requests that may be on their way over all connections; whoever comes with one
/// more is told to come again.
///
/// Source: ours; two requests of the longest length.
pub const LARGE_REQUESTS_BYTES_MAX: usize = 512 * 1024 * 1024;
