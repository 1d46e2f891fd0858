//! Limits of the server, each with its source.

use std::time::Duration;

/// Largest request body, before and after decompression.
///
/// Source: DynamoDB API, 16 MB per request, read 2026-11.
pub const BODY_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Connections served at once over all ports. Fewer where the process may not have that many open
/// files, or that much memory. A port has three quarters of them, an address half of those.
///
/// Source: ours.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Connections that are served however little memory there is.
///
/// Source: ours.
pub const CONNECTIONS_MIN: usize = 128;

/// The memory that goes with a connection.
///
/// Source: ours; its buffers, and what requests and answers have for nothing.
pub const CONNECTION_SIZE_BYTES: usize = 64 * 1024;

/// Connections of a port that were accepted and have no place yet; more wait in the system's queue.
///
/// Source: ours.
pub const ENTERING_MAX: usize = 64;

/// How long a connection waits for a place while all others are busy, and how often it looks.
///
/// Source: ours; clients give up after some 5 s.
pub const PLACE_TIME_MAX: Duration = Duration::from_secs(4);
/// See [`PLACE_TIME_MAX`].
pub const PLACE_LOOK_PERIOD: Duration = Duration::from_millis(50);

/// How long a request waits for room in the memory budget, and how often it looks.
///
/// Source: ours; the SDKs retry what is refused.
pub const ROOM_TIME_MAX: Duration = Duration::from_secs(3);
/// See [`ROOM_TIME_MAX`].
pub const ROOM_LOOK_PERIOD: Duration = Duration::from_millis(10);

/// How many times its length a body takes while it is read and answered.
///
/// Source: ours; an item's values, and the commit that they become.
pub const BODY_TIMES: usize = 4;

/// What each value of a body takes beside its text, once it is read.
///
/// Source: ours; an attribute value, its place in a list and its number.
pub const BODY_PART_SIZE_BYTES: usize = 160;

/// Bodies below this are not looked through for how many values they hold.
///
/// Source: ours; what such a body becomes is less than a megabyte.
pub const BODY_COUNTED_SIZE_BYTES: usize = 32 * 1024;

/// Requests that wait for a thread of the pool; more are refused.
///
/// Source: ours; what two processors do in a few seconds, which is as long as clients wait.
pub const POOL_QUEUE_MAX: usize = 2_048;

/// Threads for requests that wait, where the store may wait for its reads.
///
/// Source: ours; of 2 ms each, 128,000 reads a second.
pub const POOL_WAITING_MAX: usize = 256;

/// Pieces of short work of all connections that the threads of the sockets have at once.
///
/// Source: ours; a few milliseconds of two processors, and as many as keep a dozen busy.
pub const SHARED_MAX: usize = 16;

/// By how much less the threads of heavy requests are worth than those that serve connections, as the
/// system counts it, from 0 to 19.
///
/// Source: ours; where both want a processor, a tenth of it.
pub const HEAVY_NICENESS: i32 = 10;

/// How long a thread of the pool that has nothing to do is kept.
///
/// Source: ours; it costs its stack and nothing else.
pub const POOL_IDLE_TIME_MAX: Duration = Duration::from_secs(10);

/// How long what has begun in the pool may run on once the connections have ended.
///
/// Source: ours; with [`DRAIN_TIME_MAX`] less than orchestrators wait.
pub const POOL_STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// Requests of a connection after which others have their turn, where they come one behind the other.
///
/// Source: ours; about a millisecond of small ones.
pub const TURN_REQUESTS_MAX: usize = 16;

/// How many times its length a compressed body may hold.
///
/// Source: the deflate format: 258 bytes take two bits at least.
pub const GZIP_GROWTH_MAX: usize = 1_032;

/// Bytes of all answers that lie in files because they are too long for memory.
///
/// Source: ours; two of the longest.
pub const SPOOLED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Free space below which no answer goes to a file.
///
/// Source: ours; twice what the store refuses writes at.
pub const SPOOL_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;

/// How long a client may take over a request's head, and be silent between requests.
///
/// Source: ours; the SDKs keep idle connections for 60 s and less.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(75);

/// As [`HEAD_TIME_MAX`], where two thirds of the places are taken, so that clients who say nothing
/// cannot keep the others out for long.
///
/// Source: ours; a client that means it has its request ready.
pub const CROWDED_HEAD_TIME_MAX: Duration = Duration::from_secs(5);

/// How long a client may take over a request's body.
///
/// Source: ours; 16 MB in this time are 280 KB/s.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(60);

/// As [`BODY_TIME_MAX`], of a client that has not proved yet who it is.
///
/// Source: ours; 16 MB in this time are 1.7 MB/s.
pub const STRANGER_BODY_TIME_MAX: Duration = Duration::from_secs(10);

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

/// How long a connection that is over is kept, so that its client, who may still be sending, gets its
/// last answer.
///
/// Source: ours; the rest of a request of 64 MiB comes in this time over a gigabit.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(2);

/// How much of what such a client is still sending is taken.
///
/// Source: ours; four times what a request may have.
pub const LINGER_SIZE_BYTES_MAX: usize = 64 * 1024 * 1024;

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
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(15);

/// How long a CQL client may send nothing in the middle of a request, or a client of either face take
/// nothing of an answer.
///
/// Source: ours.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(60);

/// How long a CQL client may be silent between requests.
///
/// Source: ours; drivers send a heartbeat every 30 s.
pub const SILENCE_TIME_MAX: Duration = Duration::from_secs(1_800);

/// Bytes that are read of a busy connection at once, where we read it.
///
/// Source: ours; some hundred small requests of CQL.
pub const READ_SIZE_BYTES: usize = 64 * 1024;

/// As [`READ_SIZE_BYTES`], of a connection that has said nothing for a while.
///
/// Source: ours; a usual request.
pub const IDLE_READ_SIZE_BYTES: usize = 2 * 1024;

/// The times of connections with HTTP. Tests shorten them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// As [`HEAD_TIME_MAX`].
    pub head_max: Duration,
    /// As [`BODY_TIME_MAX`].
    pub body_max: Duration,
    /// As [`STRANGER_BODY_TIME_MAX`].
    pub stranger_body_max: Duration,
    /// As [`STALL_TIME_MAX`].
    pub stall_max: Duration,
    /// As [`CONNECTION_TIME_MAX`].
    pub connection_max: Duration,
    /// As [`DRAIN_TIME_MAX`].
    pub drain_max: Duration,
}

impl Times {
    /// Returns the times of a connection that comes into a crowd.
    pub(crate) fn in_a_crowd(self) -> Self {
        Self { head_max: self.head_max.min(CROWDED_HEAD_TIME_MAX), ..self }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head_max: HEAD_TIME_MAX,
            body_max: BODY_TIME_MAX,
            stranger_body_max: STRANGER_BODY_TIME_MAX,
            stall_max: STALL_TIME_MAX,
            connection_max: CONNECTION_TIME_MAX,
            drain_max: DRAIN_TIME_MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_into_a_crowd_has_less_time() {
        let times = Times::default();
        let late = Times { head_max: CROWDED_HEAD_TIME_MAX, ..times };
        assert_eq!(times.in_a_crowd(), late);
        let short = Times { head_max: Duration::from_millis(1), ..times };
        assert_eq!(short.in_a_crowd(), short);
    }
}
