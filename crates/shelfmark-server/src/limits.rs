//! Limits of the server, each with its source.

use std::time::Duration;

/// Largest request body, before and after decompression.
///
/// Source: DynamoDB API, 16 MB per request, read 2026-11.
pub const BODY_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Connections served at once over all ports; more wait in the system's queue.
///
/// Source: ours; below the usual limit of 1,024 open files.
pub const CONNECTIONS_MAX: usize = 900;

/// How long a client may take over a request's head, and be silent between requests.
///
/// Source: ours; the SDKs keep idle connections for 60 s and less.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(75);

/// How long a client may take over a request's body.
///
/// Source: ours; 16 MB in this time are 280 KB/s.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(60);

/// How long a connection may last, however busy it is. The answer that is under way then is the last
/// one; clients connect anew.
///
/// Source: ours; so that a client that never goes, or never takes its answer, holds its place for
/// no longer than this.
pub const CONNECTION_TIME_MAX: Duration = Duration::from_secs(3600);

/// How long open requests may take to end after the server was asked to stop.
///
/// Source: ours; orchestrators commonly kill after 30 s.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// Answers smaller than this are not compressed.
///
/// Source: what the service does, as the tests of an open-source server record it, read 2026-11.
pub const COMPRESSED_SIZE_BYTES_MIN: usize = 4096;

/// Longest request head.
///
/// Source: ours; credentials and target take 1 KiB, long session tokens a few more.
pub const HEAD_SIZE_BYTES_MAX: usize = 64 * 1024;

/// How long a CQL client may take over the handshake and the login.
///
/// Source: ours; drivers give up after 5 to 10 s.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(30);

/// How long a CQL client may send nothing in the middle of a request, or take nothing of an answer.
///
/// Source: ours.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(60);

/// How long a CQL client may be silent between requests.
///
/// Source: ours; drivers send a heartbeat every 30 s.
pub const SILENCE_TIME_MAX: Duration = Duration::from_secs(1_800);

/// Bytes that are read of a CQL connection at once.
///
/// Source: ours; some hundred small requests.
pub const READ_SIZE_BYTES: usize = 64 * 1024;

/// The times of connections with HTTP. Tests shorten them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// As [`HEAD_TIME_MAX`].
    pub head_max: Duration,
    /// As [`BODY_TIME_MAX`].
    pub body_max: Duration,
    /// As [`CONNECTION_TIME_MAX`].
    pub connection_max: Duration,
    /// As [`DRAIN_TIME_MAX`].
    pub drain_max: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head_max: HEAD_TIME_MAX,
            body_max: BODY_TIME_MAX,
            connection_max: CONNECTION_TIME_MAX,
            drain_max: DRAIN_TIME_MAX,
        }
    }
}
