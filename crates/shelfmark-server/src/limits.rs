//! Limits of the server, each with its source.

use std::time::Duration;

/// Largest request body, before and after decompression.
///
/// Source: DynamoDB API, 16 MB per request, read 2026-11.
pub const BODY_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Largest body of a request to the console.
///
/// Source: ours; a model with its samples, or one large item.
pub const CONSOLE_BODY_SIZE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Connections served at once over all ports. Fewer where the process may not have that many open
/// files, or that much memory. A port has three quarters of them, an address four fifths of those.
///
/// Source: ours; with 20,000 files, which systems commonly allow, an address has ten thousand.
pub const CONNECTIONS_MAX: usize = 32_000;

/// Time in which a connection that has asked nothing yet does not count as idle: its request may be there,
/// unread.
///
/// Source: ours; the longest that a burst of all connections there may be takes to be accepted.
pub const CONNECTION_NEW_TIME: Duration = Duration::from_secs(1);

/// Connections that are served however little memory there is.
///
/// Source: ours.
pub const CONNECTIONS_MIN: usize = 128;

/// Memory that is counted for a connection.
///
/// Source: ours; its buffers, and what requests and answers have for nothing.
pub const CONNECTION_SIZE_BYTES: usize = 64 * 1024;

/// Connections of a port that were accepted and have no slot yet; more wait in the system's queue.
///
/// Source: ours.
pub const ENTERING_MAX: usize = 64;

/// Connections of a port that wait in the system's queue; a client that finds it full tries again after a
/// second. The system may allow fewer.
///
/// Source: ours; a burst of all connections there may be, nearly.
pub const CONNECTIONS_WAITING_MAX: u32 = 4096;

/// Time that a connection waits for a slot while all others are busy.
///
/// Source: ours; clients give up after some 5 s.
pub const SLOT_TIME_MAX: Duration = Duration::from_secs(4);
/// Interval at which a waiting connection checks for a slot.
pub const SLOT_POLL_PERIOD: Duration = Duration::from_millis(50);

/// Time that a request waits for memory in the budget.
///
/// Source: ours; the SDKs retry what is refused.
pub const MEMORY_TIME_MAX: Duration = Duration::from_secs(3);
/// Interval at which a waiting request checks for memory.
pub const MEMORY_POLL_PERIOD: Duration = Duration::from_millis(10);

/// Memory that a body takes while it is read and answered, as a multiple of its length.
///
/// Source: ours; an item's values, and the commit that they become.
pub const BODY_TIMES: usize = 4;

/// Memory that each value of a parsed body takes beside its text.
///
/// Source: ours; an attribute value, its slot in a list and its number.
pub const BODY_PART_SIZE_BYTES: usize = 160;

/// Counts the values of a body only from this size on.
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

/// Long requests that have begun, as a multiple of the threads that do something. Most of them stand in
/// line for their next turn, with their thread and what they have made so far.
///
/// Source: ours; as many long reads of one client as make others of its address wait are four times more.
pub const POOL_BEGUN_TIMES: usize = 4;

/// Turns after which a long request stands in line with other long ones, and no longer with those that may
/// end soon.
///
/// Source: ours; a read of a megabyte a turn.
pub const POOL_SHORT_TURNS_MAX: usize = 16;

/// Logins that are checked at once.
///
/// Source: ours; each computes for some 50 ms, and strangers ask for them.
pub const POOL_LOGINS_MAX: usize = 2;

/// Pieces of short work of all connections that the threads of the sockets have at once.
///
/// Source: ours; a few milliseconds of two processors, and as many as keep a dozen busy.
pub const SHARED_MAX: usize = 16;

/// By how much less the threads of heavy requests are worth than those that serve connections, as the
/// system counts it, from 0 to 19.
///
/// Source: ours; where both want a processor, a tenth of it.
pub const HEAVY_NICENESS: i32 = 10;

/// Time for which an idle thread of the pool is kept.
///
/// Source: ours; it costs its stack and nothing else.
pub const POOL_IDLE_TIME_MAX: Duration = Duration::from_secs(10);

/// Time that running work of the pool has to end once the connections have ended.
///
/// Source: ours; with [`DRAIN_TIME_MAX`] less than orchestrators wait.
pub const POOL_STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// Requests of a connection after which it yields to others, where requests follow each other at
/// once.
///
/// Source: ours; about a millisecond of small ones.
pub const TURN_REQUESTS_MAX: usize = 16;

/// Largest ratio of a body's decompressed size to its compressed size.
///
/// Source: the deflate format: 258 bytes take two bits at least.
pub const GZIP_GROWTH_MAX: usize = 1_032;

/// Most bytes of all answers that are spooled to files because they are too long for memory.
///
/// Source: ours; two of the longest.
pub const SPOOLED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// Free space below which no answer goes to a file.
///
/// Source: ours; twice what the store refuses writes at.
pub const SPOOL_FREE_BYTES_MIN: u64 = 512 * 1024 * 1024;

/// Time between two wakes of the thread that waits for the sockets, if nothing else wakes it.
///
/// Source: ours; shorter than the times that requests are given, so that setting these wakes nobody.
pub const TICK_PERIOD: Duration = Duration::from_secs(1);

/// Time that a client has to send a request's head, or may be silent between requests.
///
/// Source: ours; the SDKs keep idle connections for 60 s and less.
pub const HEAD_TIME_MAX: Duration = Duration::from_secs(75);

/// Works as [`HEAD_TIME_MAX`], where two thirds of the slots are taken, so that silent clients
/// cannot keep the others out for long.
///
/// Source: ours; a client that means it has its request ready.
pub const CROWDED_HEAD_TIME_MAX: Duration = Duration::from_secs(5);

/// Time that a client has to send a request's body.
///
/// Source: ours; 16 MB in this time are 280 KB/s.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(60);

/// Works as [`BODY_TIME_MAX`], for a client that is not authenticated yet.
///
/// Source: ours; 16 MB in this time are 1.7 MB/s.
pub const UNAUTHENTICATED_BODY_TIME_MAX: Duration = Duration::from_secs(10);

/// Longest time that a connection may last, however busy it is. The answer that is under way then
/// is the last one; clients connect anew.
///
/// Source: ours; so that a client that never goes, or never takes its answer, holds its slot for
/// no longer than this.
pub const CONNECTION_TIME_MAX: Duration = Duration::from_secs(3600);

/// Requests of one connection of HTTP/2 at once; further ones wait at the client.
///
/// Source: ours; as many as fill a group of commits.
pub const HTTP2_STREAMS_MAX: u32 = 64;

/// Bytes of bodies that a client may send before they are asked for: for a request, and for all of a
/// connection of HTTP/2.
///
/// Source: ours; of RFC 9113 65,535 each, which a body of 16 MB would wait for too often.
pub const HTTP2_STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// Works as [`HTTP2_STREAM_WINDOW_BYTES`] for all requests of a connection.
pub const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 512 * 1024;

/// Longest head of a request of HTTP/2; with [`HTTP2_STREAMS_MAX`] it bounds what a connection holds.
///
/// Source: ours; credentials and target take 1 KiB, long session tokens a few more.
pub const HTTP2_HEAD_SIZE_BYTES_MAX: u32 = 16 * 1024;

/// Memory of a connection of HTTP/2: its window and the heads of all requests that it may send at once.
///
/// Source: the limits above.
pub const HTTP2_CONNECTION_SIZE_BYTES: usize = HTTP2_CONNECTION_WINDOW_BYTES as usize
    + HTTP2_STREAMS_MAX as usize * HTTP2_HEAD_SIZE_BYTES_MAX as usize;

/// Requests of a connection that a client may give up before their answers; one more and the connection
/// ends, so that nobody has work begun without end by resetting its requests.
///
/// Source: ours; clients give up where an answer takes too long, which is rare.
pub const ABANDONED_REQUESTS_MAX: usize = 200;

/// Time that open requests have to end after the server was asked to stop.
///
/// Source: ours; orchestrators commonly kill after 30 s.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// Time for which a closed connection lingers, so that its client, who may still be sending, gets
/// its last answer.
///
/// Source: ours; the rest of a request of 64 MiB comes in this time over a gigabit.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(2);

/// Most bytes that are read of a lingering client.
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

/// Time that a CQL client has for the handshake and the login.
///
/// Source: ours; drivers give up after 5 to 10 s.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(15);

/// Time after which a CQL client that sends nothing in the middle of a request, or a client of
/// either face that reads nothing of an answer, is disconnected.
///
/// Source: ours.
pub const STALL_TIME_MAX: Duration = Duration::from_secs(60);

/// Time that a CQL client may be silent between requests.
///
/// Source: ours; drivers send a heartbeat every 30 s.
pub const SILENCE_TIME_MAX: Duration = Duration::from_secs(1_800);

/// Size of one read from a busy connection.
///
/// Source: ours; some hundred small requests of CQL.
pub const READ_SIZE_BYTES: usize = 64 * 1024;

/// Size of one read from a connection that has been silent for a while.
///
/// Source: ours; a usual request.
pub const IDLE_READ_SIZE_BYTES: usize = 2 * 1024;

/// The time limits of connections with HTTP; tests shorten them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// Works as [`HEAD_TIME_MAX`].
    pub head_max: Duration,
    /// Works as [`BODY_TIME_MAX`].
    pub body_max: Duration,
    /// Works as [`UNAUTHENTICATED_BODY_TIME_MAX`].
    pub unauthenticated_body_max: Duration,
    /// Works as [`STALL_TIME_MAX`].
    pub stall_max: Duration,
    /// Works as [`CONNECTION_TIME_MAX`].
    pub connection_max: Duration,
    /// Works as [`DRAIN_TIME_MAX`].
    pub drain_max: Duration,
}

impl Times {
    /// Returns the time limits of a connection that is accepted while slots are scarce.
    pub(crate) fn in_a_crowd(self) -> Self {
        Self { head_max: self.head_max.min(CROWDED_HEAD_TIME_MAX), ..self }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head_max: HEAD_TIME_MAX,
            body_max: BODY_TIME_MAX,
            unauthenticated_body_max: UNAUTHENTICATED_BODY_TIME_MAX,
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
