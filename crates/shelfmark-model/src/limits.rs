//! Limits on data that hold for every face, each with its source.
//!
//! A face may be stricter (DynamoDB's 400 KB items are the DynamoDB face's own); none is looser.

/// Deepest nesting of lists, maps, sets and tuples in one value.
///
/// Source: ours; DynamoDB allows 32 levels, CQL and typed values need no more than twice that.
pub const VALUE_DEPTH_MAX: usize = 64;

/// Deepest nesting of a condition or of an update's right-hand side.
///
/// Source: ours; the recursion that evaluates it must not end the process. DynamoDB's 300 operators may all
/// stand inside each other.
pub const CONDITION_DEPTH_MAX: usize = 512;

/// Largest row, all chunks together, in bytes.
///
/// Source: ours; far above DynamoDB's 409,600 and within one commit of every driver.
pub const ROW_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes above which a shard of a typed table is split unless its settings say otherwise.
///
/// Source: ours. CanDB's partitions grow at 1.25 GB, DynamoDB's at 10 GB, both because a machine is
/// full then; a shard here is the unit of statistics and of spreading work, and a split reads it
/// twice, which takes a fraction of a second at this size.
pub const SHARD_BYTES_MAX_DEFAULT: u64 = 32 * 1024 * 1024;

/// Longest attribute or column name in bytes.
///
/// Source: DynamoDB API, attribute names up to 65,535 bytes, read 2026-11.
pub const NAME_SIZE_BYTES_MAX: usize = 65_535;

/// Most columns of a partition key, and of a sort key.
///
/// Source: ours; CQL knows no such limit, and public suites make keys of every word of its grammar.
pub const KEY_COLUMNS_MAX: usize = 256;

/// Most indexes on one table.
///
/// Source: DynamoDB allows 20 global and 5 local ones by default, read 2026-11; doubled.
pub const INDEXES_MAX: usize = 50;

/// Longest text or bytes in a partition column of an index, where a table is strict about them
/// ([`crate::TableOptions::strict_index_keys`]).
///
/// Source: DynamoDB Developer Guide, "Quotas", 2,048 bytes, read 2026-11.
pub const STRICT_PARTITION_COLUMN_BYTES_MAX: usize = 2_048;

/// Works as [`STRICT_PARTITION_COLUMN_BYTES_MAX`], in a sort column.
///
/// Source: the same, 1,024 bytes.
pub const STRICT_SORT_COLUMN_BYTES_MAX: usize = 1_024;
