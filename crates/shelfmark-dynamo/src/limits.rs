//! The limits of DynamoDB, each with its source.
//!
//! Read 2026-11 from the service model of botocore 1.44 and the Developer Guide's "Quotas in Amazon
//! DynamoDB", unless a line says otherwise. Those marked *ours* bound work that AWS bounds in ways
//! that are not published.

use shelfmark_model::limits::{STRICT_PARTITION_COLUMN_BYTES_MAX, STRICT_SORT_COLUMN_BYTES_MAX};

/// Largest request body in bytes. Source: API reference, "Request size", 16 MB.
pub const REQUEST_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Read units per second that a table that is paid per request is warm for, and the least that can be
/// asked for there. Of others it is what they have provisioned. Source: Developer Guide, "Warm
/// throughput", and issues of a provisioning tool, read 2026-11.
pub const WARM_READ_UNITS_MIN: i64 = 12_000;
/// Write units per second that such a table is warm for. Source: the same.
pub const WARM_WRITE_UNITS_MIN: i64 = 4_000;

/// Largest item in bytes, attribute names included. Source: quotas, 400 KB.
pub const ITEM_SIZE_BYTES_MAX: usize = 409_600;

/// Largest partition key value in bytes. Source: quotas.
pub const HASH_KEY_SIZE_BYTES_MAX: usize = STRICT_PARTITION_COLUMN_BYTES_MAX;

/// Largest sort key value in bytes. Source: quotas.
pub const RANGE_KEY_SIZE_BYTES_MAX: usize = STRICT_SORT_COLUMN_BYTES_MAX;

/// Shortest name of a table or index in characters. Source: quotas.
pub const NAME_CHARS_MIN: usize = 3;

/// Longest name of a table or index in characters. Source: quotas.
pub const NAME_CHARS_MAX: usize = 255;

/// Longest `TableName` in characters when it may be an ARN. Source: service model.
pub const TABLE_ARN_CHARS_MAX: usize = 1_024;

/// Longest attribute name in bytes. Source: quotas, 64 KB.
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 65_535;

/// Longest name of a key attribute, and of an attribute projected into an index. Source: quotas.
pub const KEY_NAME_BYTES_MAX: usize = 255;

/// Deepest nesting of lists and maps; a scalar attribute is level 1. Source: quotas, 32 levels.
pub const VALUE_DEPTH_MAX: usize = 32;

/// Deepest nesting of a JSON body. *Ours*: an item at its deepest needs about 70.
pub const JSON_DEPTH_MAX: usize = 128;

/// Longest expression in bytes, before names are substituted. Source: quotas, 4 KB.
pub const EXPRESSION_SIZE_BYTES_MAX: usize = 4_096;

/// Most operators and functions in one expression. Source: quotas, 300.
pub const EXPRESSION_OPERATORS_MAX: usize = 300;

/// Deepest nesting of parentheses and calls inside an operand. *Ours*; the parser of operands
/// recurses. Conditions nest as deep as the number of operators lets them.
pub const EXPRESSION_DEPTH_MAX: usize = 100;

/// Most operands of `IN`. Source: quotas.
pub const IN_OPERANDS_MAX: usize = 100;

/// Longest statement of PartiQL in characters. Source: service model.
pub const STATEMENT_CHARS_MAX: usize = 8_192;

/// Most statements of BatchExecuteStatement. Source: service model.
pub const BATCH_STATEMENTS_MAX: usize = 25;

/// Longest token of a next page of a statement in characters. Source: service model.
pub const NEXT_TOKEN_CHARS_MAX: usize = 32_768;

/// Most values of `IN` on a partition key in a statement. Source: Developer Guide, "PartiQL
/// arithmetic, comparison, and logical operators".
pub const IN_HASH_VALUES_MAX: usize = 50;

/// Most items on one page of a statement with `IN` on a partition key. Source: the same.
pub const IN_PAGE_ITEMS_MAX: usize = 10;

/// Most partitions that a statement names in all its alternatives. *Ours*: as many as an `IN` may
/// name otherwise.
pub const PARTITION_READS_MAX: usize = 100;

/// Longest `#name` or `:value` in bytes. Source: quotas.
pub const PLACEHOLDER_BYTES_MAX: usize = 255;

/// Largest sum of names, or of values, that replace placeholders, in bytes. Source: quotas, 2 MB.
pub const PLACEHOLDERS_SIZE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Largest list index in a document path. *Ours*: an item of 400 KB has fewer elements.
pub const LIST_INDEX_MAX: usize = 4_000_000;

/// Bytes of items after which a page of Query or Scan ends, before the filter. Source: quotas, 1 MB.
pub const PAGE_SIZE_BYTES_MAX: usize = 1024 * 1024;

/// Most segments of a parallel scan. Source: service model.
pub const SCAN_SEGMENTS_MAX: i64 = 1_000_000;

/// Most keys of BatchGetItem. Source: service model.
pub const BATCH_GET_KEYS_MAX: usize = 100;

/// Bytes of items after which BatchGetItem leaves the rest unprocessed. Source: quotas, 16 MB.
pub const BATCH_GET_SIZE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most requests of BatchWriteItem. Source: service model.
pub const BATCH_WRITE_REQUESTS_MAX: usize = 25;

/// Largest size of one commit of a batch in bytes, each item counted once for its table and once
/// per index. *Ours*: a quarter of what the smallest driver takes.
pub const BATCH_COMMIT_SIZE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Most items of a transaction. Source: service model.
pub const TRANSACTION_ITEMS_MAX: usize = 100;

/// Largest transaction in bytes. Source: quotas, 4 MB.
pub const TRANSACTION_SIZE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest client request token in characters. Source: service model.
pub const REQUEST_TOKEN_CHARS_MAX: usize = 36;

/// Time for which a client request token is remembered, in seconds. Source: API reference, 10
/// minutes.
pub const REQUEST_TOKEN_SECONDS: u64 = 600;

/// Most global indexes of a table. Source: quotas, 20 by default.
pub const GLOBAL_INDEXES_MAX: usize = 20;

/// Most local indexes of a table. Source: quotas, 5.
pub const LOCAL_INDEXES_MAX: usize = 5;

/// Most attributes of each kind in the key of a global index. Source: Developer Guide,
/// "Multi-attribute keys", November 2025.
pub const INDEX_KEY_COLUMNS_MAX: usize = 4;

/// Most attributes projected into one index. Source: service model.
pub const NON_KEY_ATTRIBUTES_MAX: usize = 20;

/// Most attributes projected into all indexes of a table. Source: quotas.
pub const PROJECTED_ATTRIBUTES_MAX: usize = 100;

/// Most names on one page of ListTables. Source: service model.
pub const LIST_TABLES_MAX: usize = 100;

/// Most tags of a table. Source: quotas.
pub const TAGS_MAX: usize = 50;

/// Longest tag key in characters. Source: service model.
pub const TAG_KEY_CHARS_MAX: usize = 128;

/// Longest tag value in characters. Source: service model.
pub const TAG_VALUE_CHARS_MAX: usize = 256;

/// Largest provisioned throughput. Source: observed, "is out of bounds" above it.
pub const THROUGHPUT_MAX: i64 = 1_000_000_000_000;

/// Most problems of a request's shape that are reported together. Source: observed.
pub const SHAPE_PROBLEMS_MAX: usize = 10;

/// Bytes of one write capacity unit. Source: Developer Guide, "Capacity units".
pub const WRITE_UNIT_BYTES: usize = 1_024;

/// Bytes of one read capacity unit. Source: Developer Guide, "Capacity units".
pub const READ_UNIT_BYTES: usize = 4_096;

/// Most names of tables in the policy of a key.
///
/// Source: ours; each is compared with the name of every table of a request.
pub const TABLE_PATTERNS_MAX: usize = 1_000;

/// Shortest ARN of a stream in characters. Source: service model of streams.
pub const STREAM_ARN_CHARS_MIN: usize = 37;
/// Longest ARN of a stream in characters. Source: the same.
pub const STREAM_ARN_CHARS_MAX: usize = 1_024;

/// Shortest id of a shard in characters. Source: service model of streams.
pub const SHARD_ID_CHARS_MIN: usize = 28;
/// Longest id of a shard in characters. Source: the same.
pub const SHARD_ID_CHARS_MAX: usize = 65;

/// Shortest sequence number in characters. Source: service model of streams.
pub const SEQUENCE_NUMBER_CHARS_MIN: usize = 21;
/// Longest sequence number in characters. Source: the same.
pub const SEQUENCE_NUMBER_CHARS_MAX: usize = 40;

/// Longest shard iterator in characters. Source: service model of streams.
pub const ITERATOR_CHARS_MAX: usize = 2_048;
/// Time after which a shard iterator is refused, in milliseconds. Source: API reference,
/// "GetShardIterator", 15 minutes.
pub const ITERATOR_AGE_MS_MAX: i64 = 15 * 60 * 1_000;

/// Most streams of one page of ListStreams. Source: API reference, "ListStreams", 100.
pub const STREAMS_PAGE_MAX: usize = 100;
/// Most shards of one page of DescribeStream. Source: API reference, "DescribeStream", 100.
pub const SHARDS_PAGE_MAX: usize = 100;

/// Most records of one answer of GetRecords. Source: API reference, "GetRecords", 1,000.
pub const RECORDS_MAX: usize = 1_000;
/// Bytes of changes at which one answer of GetRecords ends. Source: the same, 1 MB.
pub const RECORDS_BYTES_MAX: usize = 1_024 * 1_024;

/// Longest ARN of a resource in characters. Source: service model.
pub const RESOURCE_ARN_CHARS_MAX: usize = 1_283;
/// Longest revision of a resource policy in characters. Source: service model.
pub const REVISION_CHARS_MAX: usize = 255;
/// Largest resource policy in bytes. Source: API reference, "PutResourcePolicy", 20 KB.
pub const POLICY_BYTES_MAX: usize = 20_480;
/// Most Kinesis destinations of a table that are remembered. *Ours*: each is one that failed.
pub const DESTINATIONS_MAX: usize = 16;

/// Fewest and most characters of a backup's ARN. Source: service model.
pub const BACKUP_ARN_CHARS_MIN: usize = 37;
/// See [`BACKUP_ARN_CHARS_MIN`].
pub const BACKUP_ARN_CHARS_MAX: usize = 1_024;

/// Most backups on a page. Source: service model.
pub const BACKUPS_PAGE_MAX: usize = 100;

/// Most days for which a table can be restored to any moment, and the number without another. Source:
/// service model.
pub const RECOVERY_DAYS_MAX: i64 = 35;

/// Most characters of a bucket's name. Source: service model.
pub const BUCKET_NAME_CHARS_MAX: usize = 255;

/// Most characters of what the keys of objects begin with. Source: service model.
pub const BUCKET_PREFIX_CHARS_MAX: usize = 1_024;

/// Most characters of the name of a key for encryption. Source: service model.
pub const KMS_KEY_CHARS_MAX: usize = 2_048;

/// Least and most seconds of an incremental export. Source: Developer Guide, "Requesting a table export in
/// DynamoDB", read 2026-11.
pub const EXPORT_WINDOW_SECONDS_MIN: i64 = 15 * 60;
/// See [`EXPORT_WINDOW_SECONDS_MIN`].
pub const EXPORT_WINDOW_SECONDS_MAX: i64 = 24 * 3_600;

/// Most names of columns of an import. Source: service model.
pub const CSV_HEADERS_MAX: usize = 255;

/// Most characters of one of them. Source: service model.
pub const CSV_HEADER_CHARS_MAX: usize = 65_536;

/// Most exports or imports on a page. Source: service model.
pub const TRANSFERS_PAGE_MAX: usize = 25;

/// Fewest characters of a token of ListImports. Source: service model.
pub const IMPORT_TOKEN_CHARS_MIN: usize = 112;

/// Fewest bytes that a vector search, or a write to a vector index, is charged with. Source: the
/// service's answers in a public suite.
pub const VECTOR_CHARGE_BYTES_MIN: usize = 1_024;

/// Most dimensions of a vector. Source: service model, `SearchVectorList`.
pub const VECTOR_DIMENSIONS_MAX: usize = 4_096;

/// Most items that a vector search returns. Source: Developer Guide, "Troubleshooting vector
/// indexes".
pub const TOP_K_MAX: usize = 100;

/// Most vector indexes of a table. Source: the service's answer in a public suite.
pub const VECTOR_INDEXES_MAX: usize = 5;

/// Most filters of a search schema. Source: quotas.
pub const INLINE_FILTERS_MAX: usize = 18;

/// Milliseconds that DescribeTable counts before it answers with the last count. *Ours*.
pub const SIZES_WAIT_MS_MAX: u64 = 200;

/// Milliseconds that DescribeTable counts before it answers with a part, where there is no last count.
/// *Ours*: a part says little, and whoever asks waits for one answer.
pub const SIZES_FIRST_WAIT_MS_MAX: u64 = 2_500;

/// Times the duration of a count that a table rests before it is counted again unasked-for. *Ours*: a
/// count then takes a tenth of one processor at most, at a low priority.
pub const SIZES_REST_FACTOR: u64 = 9;

/// Most tables whose sizes are remembered. *Ours*.
pub const SIZES_KNOWN_MAX: usize = 4_096;

/// Longest id of an access key in characters. Source: API reference of IAM, "AccessKey", 128.
pub const ACCESS_KEY_ID_CHARS_MAX: usize = 128;

/// Longest name of a region in characters. *Ours*; the longest of AWS has 14.
pub const REGION_CHARS_MAX: usize = 64;

/// Most characters of a request that a message shows. *Ours*.
pub const SHOWN_CHARS_MAX: usize = 4_096;

/// Most credentials whose scopes are remembered. *Ours*.
pub const CREDENTIALS_KNOWN_MAX: usize = 1_024;
