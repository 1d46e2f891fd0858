//! Limits of the CQL face, each with its source.

use std::time::Duration;

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

/// Longest value of a key column, and one more than the longest that an index holds.
///
/// Source: Cassandra 5.0, `FBUtilities.MAX_UNSIGNED_SHORT`.
pub(crate) const KEY_SIZE_BYTES_MAX: usize = 65_535;

/// The time that messages name for a call of a user's function that takes too many steps.
///
/// Source: Cassandra's `user_defined_functions_fail_timeout`, read 2026-11; here steps are counted.
pub const FUNCTION_TIME_TEXT_MS: u32 = 1_500;

/// The steps of all calls of users' functions for one request, or one page of it; see the interpreter's
/// `STEPS_MAX` for those of one call.
///
/// Source: ours; about ten seconds, Cassandra's `range_request_timeout`.
pub const FUNCTION_STEPS_MAX: u64 = 200_000_000;

/// The time that messages name for it.
///
/// Source: Cassandra 5.0, `range_request_timeout`; here steps are counted.
pub const FUNCTIONS_TIME_TEXT_MS: u32 = 10_000;

/// Steps of users' functions after which a request lets others have their turn.
///
/// Source: ours; about 50 milliseconds.
pub const FUNCTION_STEPS_PER_TURN: u64 = 1_000_000;

/// Steps that a call of a user's function takes beside those of its body.
///
/// Source: ours; what values of usual size take to be converted.
pub const FUNCTION_CALL_STEPS: u64 = 16;

/// Bytes of arguments and results of users' functions that are converted in a step.
///
/// Source: ours; a list of numbers, measured at about 5 nanoseconds a byte.
pub const FUNCTION_BYTES_PER_STEP: usize = 8;

/// The memory that a byte of an argument may take as a value of a function.
///
/// Source: ours; a list of numbers has 8 bytes an element, and the interpreter 32, twice over.
pub const FUNCTION_VALUE_TIMES: usize = 8;

/// Bytes of the bodies of all functions of a keyspace, which are one record, with
/// [`FUNCTION_OVERHEAD_BYTES`] for each.
///
/// Source: ours; a change of the keyspace writes them anew.
pub const FUNCTION_BODIES_SIZE_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of a function in its keyspace's record beside its body.
///
/// Source: ours; its names and types, measured at about 200 bytes.
pub const FUNCTION_OVERHEAD_BYTES: usize = 256;

/// Prepared statements that are kept; those unused for longest go first.
///
/// Source: ours; Cassandra keeps as many as fit 1/256 of its heap.
pub const PREPARED_STATEMENTS_MAX: usize = 10_000;

/// Bytes of all prepared statements that are kept, as [`planned_bytes`] has them; those unused for
/// longest go first. Fewer where the memory budget is small.
///
/// Source: ours; ten thousand usual statements take about 60 MB.
pub const PREPARED_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Prepared statements may take the memory budget divided by this.
///
/// Source: ours.
pub const PREPARED_PART: usize = 8;

/// The memory that a part of a statement takes once it is planned.
///
/// Source: ours; measured on long lists at about 300 bytes.
pub const STATEMENT_PART_SIZE_BYTES: usize = 512;

/// Returns about how many bytes a statement takes while it is parsed and once it is planned: much
/// more than its text where it has many parts.
#[must_use]
pub fn planned_bytes(text: &str) -> usize {
    let begins_part = |pair: &&[u8]| matches!(pair, [b',' | b'(', _] | [b' ', b'!'..=u8::MAX]);
    let parts = text.as_bytes().windows(2).filter(begins_part).count();
    text.len() + parts * STATEMENT_PART_SIZE_BYTES
}

/// Longest text of a statement that can be prepared.
///
/// Source: ours; Cassandra refuses what would not fit its cache of 10 MB or more.
pub const PREPARED_TEXT_SIZE_BYTES_MAX: usize = 1024 * 1024;

/// Traces that are kept for clients to read; the oldest go first.
///
/// Source: ours; drivers read them within seconds.
pub const TRACES_MAX: usize = 1_000;

/// Bytes that they take; the oldest go first.
///
/// Source: ours; a usual one takes about 2 KiB.
pub const TRACES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Seconds after which a trace is gone.
///
/// Source: Cassandra 5.0, `trace_type_query_ttl`: a day.
pub const TRACE_AGE_SECONDS_MAX: u64 = 86_400;

/// Steps of one trace; how many more there were, its last step says.
///
/// Source: ours; an `IN` list or a scan without pages reads in many steps.
pub const TRACE_STEPS_MAX: usize = 256;

/// Bytes of the text of a step or a parameter of a trace; what is longer is cut.
///
/// Source: ours.
pub const TRACE_TEXT_BYTES_MAX: usize = 2 * 1024;

/// Bound values that a trace shows.
///
/// Source: ours.
pub const TRACE_VALUES_MAX: usize = 64;

/// Key ranges of one step that a trace shows.
///
/// Source: ours.
pub const TRACE_RANGES_MAX: usize = 4;

/// Bytes of a key that a trace shows.
///
/// Source: ours.
pub const TRACE_RANGE_BYTES_MAX: usize = 64;

/// Bytes of what a connection says of itself in STARTUP that are kept for `system_views.clients`.
///
/// Source: ours; drivers send about 200, and strangers send it too.
pub const CLIENT_OPTIONS_BYTES_MAX: usize = 4 * 1024;

/// Longest user name and password.
///
/// Source: ours; bcrypt looks at 72 bytes of a password.
pub const CREDENTIAL_SIZE_BYTES_MAX: usize = 1024;

/// Roles of which it is remembered what they may do.
///
/// Source: Cassandra 5.0, `permissions_cache_max_entries`, is 1,000 roles and resources.
pub const ROLES_REMEMBERED_MAX: usize = 1_000;

/// Changes of roles and permissions that go into one commit.
///
/// Source: ours; dropping a role or table that more than these depend on takes several commits.
pub const GRANTS_PER_COMMIT_MAX: usize = 1_000;

/// The memory that a waiting request takes beside its bytes.
///
/// Source: ours; a plan, its values and its place in the queues, measured at about 400 bytes.
pub const REQUEST_OVERHEAD_BYTES: usize = 512;

/// The memory, as [`REQUEST_OVERHEAD_BYTES`], of a request that waits for a thread of the pool.
///
/// Source: ours; with it a connection has no more of them under way than its part of memory bears.
pub const HEAVY_OVERHEAD_BYTES: usize = 16 * 1024;

/// Rows of an answer in memory from which on they go to a file, where there is one.
///
/// Source: ours; pages of usual size stay in memory.
pub const SPOOLED_FROM_BYTES: usize = 4 * 1024 * 1024;

/// Rows of an answer in memory from which on they go to a file that some of them are in already.
///
/// Source: ours; many such answers wait for their turn at once.
pub const SPOOLED_PIECE_BYTES: usize = 1024 * 1024;

/// Bytes of a page of a caller who gets whole pages over the console's port.
///
/// Source: ours; a page of the other face, a few times.
pub const TRUSTED_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes of rows after which one read of the engine ends and the next one begins.
///
/// Source: ours.
pub const READ_SIZE_BYTES_MAX: usize = 1024 * 1024;

/// Requests that are read of one connection before others have their turn.
///
/// Source: ours; about a millisecond of small ones.
pub const TURN_REQUESTS_MAX: usize = 32;

/// The limit of [`TURN_REQUESTS_MAX`] in time: two threads get around two hundred connections in some
/// ten milliseconds.
///
/// Source: ours.
pub const TURN_TIME_MAX: Duration = Duration::from_micros(100);

/// The limit of [`TURN_REQUESTS_MAX`] in bytes of the requests' bodies.
///
/// Source: ours; about a millisecond.
pub const TURN_SIZE_BYTES_MAX: usize = 64 * 1024;

/// Reads of pages of one connection that are shared out among the threads of the sockets; no more
/// requests are read meanwhile.
///
/// Source: ours; as many as keep a few cores busy, so that others need not wait behind hundreds.
pub const SHARED_MAX: usize = 8;

/// Requests of one connection that wait for a thread of the pool or have one; no more requests are
/// read meanwhile.
///
/// Source: ours; so that one connection does not fill the pool's queue.
pub const POOLED_MAX: usize = 256;

/// Most keys that the values of one statement's `IN` lists may name, multiplied over all columns.
///
/// Source: ours; Cassandra 5.0 guards it by `in_select_cartesian_product_fail_threshold`, which is
/// off by default.
pub const COMBINATIONS_MAX: usize = 65_536;

/// Most bytes that those keys may come to.
///
/// Source: ours; 1 KiB for each of [`COMBINATIONS_MAX`], four times over in memory.
pub const COMBINATIONS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of data from which on a batch over several partitions is warned of.
///
/// Source: Cassandra 5.0, `batch_size_warn_threshold`: 5 KiB.
pub const BATCH_SIZE_BYTES_WARNED: u64 = 5 * 1024;

/// Bytes of data above which a batch over several partitions is refused.
///
/// Source: Cassandra 5.0, `batch_size_fail_threshold`: 50 KiB.
pub const BATCH_SIZE_BYTES_MAX: u64 = 50 * 1024;

/// Partitions of an unlogged batch above which it is warned of.
///
/// Source: Cassandra 5.0, `unlogged_batch_across_partitions_warn_threshold`: 10.
pub const UNLOGGED_BATCH_PARTITIONS_WARNED: usize = 10;

/// Most bytes of data that one statement or batch may write.
///
/// Source: Cassandra 5.0, `max_mutation_size`: half of `commitlog_segment_size`, 16 MiB; of a batch
/// in one partition Cassandra measures nothing else.
pub const MUTATION_SIZE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Doublings of work per hash of a password that a role may bring along: about a second for each attempt
/// to log in. Source: ours; Cassandra takes 31, which is days.
pub const HASH_COST_MAX: u32 = 14;
