//! Change streams.

pub(crate) const INVALID_STREAM_ARN: &str = "Invalid StreamArn";
pub(crate) const INVALID_ITERATOR: &str = "Invalid ShardIterator";
/// The text for a number that no record and no shard has; *ours*.
pub(crate) const INVALID_SEQUENCE_NUMBER: &str =
    "Invalid SequenceNumber: it is none of a record of this shard";
/// The text for a position without its number; *ours*.
pub(crate) const SEQUENCE_NUMBER_REQUIRED: &str = "SequenceNumber must be specified for \
     ShardIteratorType AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER";
/// The text for a number that nothing asks for; *ours*.
pub(crate) const SEQUENCE_NUMBER_FORBIDDEN: &str = "SequenceNumber must not be specified for \
     ShardIteratorType TRIM_HORIZON, LATEST or AT_TIMESTAMP";
/// The text for a moment that is missing; *ours*.
pub(crate) const TIMESTAMP_REQUIRED: &str =
    "Timestamp must be specified for ShardIteratorType AT_TIMESTAMP";
/// The text for a moment that is still to come; *ours*. That it is refused: API reference,
/// "GetShardIterator", read 2026-11.
pub(crate) const TIMESTAMP_IN_THE_FUTURE: &str = "Invalid Timestamp: it is in the future";
/// The text for a filter without its shard; *ours*.
pub(crate) const SHARD_FILTER_INCOMPLETE: &str = "ShardFilter needs both Type and ShardId";
/// Source: API reference, "GetRecords", errors, read 2026-11.
pub(crate) const ITERATOR_EXPIRED: &str = "The shard iterator has expired and can no longer be \
     used to retrieve stream records. A shard iterator expires 15 minutes after it is retrieved";
/// Source: the same.
pub(crate) const TRIMMED: &str =
    "The operation attempted to read past the oldest stream record in a shard";

pub(crate) const CREATED_STREAM_NEEDS_VIEW: &str = "One or more parameter values were invalid: \
     Table is being created with a stream enabled, UpdateViewType is required";
pub(crate) const CREATED_STREAM_HAS_NO_VIEW: &str = "One or more parameter values were invalid: \
     Table is being created with a stream disabled, UpdateViewType should not be specified";
pub(crate) const STREAM_NEEDS_VIEW: &str = "One or more parameter values were invalid: If stream \
     is being enabled then UpdateViewType is required";
pub(crate) const STREAM_HAS_NO_VIEW: &str = "One or more parameter values were invalid: If stream \
     is being disabled, then UpdateViewType must not be specified";
pub(crate) const STREAM_BESIDE_UNITS: &str = "One or more parameter values were invalid: You cannot \
     modify stream status while updating table IOPS";
pub(crate) const STREAM_BESIDE_INDEXES: &str = "One or more parameter values were invalid: You \
     cannot create or delete index while changing stream status";

pub(crate) fn stream_is_on(table: &str) -> String {
    format!("Table already has an enabled stream: TableName: {table}")
}

pub(crate) fn stream_is_off(table: &str) -> String {
    format!("Table has no stream to disable: TableName: {table}")
}

pub(crate) fn stream_not_found(arn: &str) -> String {
    format!("Requested resource not found: Stream: {arn} not found")
}

pub(crate) fn shard_not_found(id: &str, arn: &str) -> String {
    format!("Requested resource not found: Shard: {id} in Stream: {arn} not found")
}
