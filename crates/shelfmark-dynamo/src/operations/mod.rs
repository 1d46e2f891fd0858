//! Lists DynamoDB's operations and runs them by name; each has its code in a file of its own.
//!
//! In such a file `parse` reads the request and checks its shape, `run` does the work on the
//! engine, `encode` writes the answer. Operations on the service itself are together in `service`.
//!
//! Writes end in a callback, so that no thread waits for a sync. Reads of pages keep within an
//! allowance on the thread they begin on, and go on at the pool; everything else answers at once.
//!
//! An operation that is not here answers `UnknownOperationException`, which tools take for "not
//! supported" and go on.

mod access;
mod attribute_uses;
mod backups;
mod batch_execute_statement;
mod batch_get_item;
mod batch_write_item;
mod collections;
mod contributor_insights;
mod create_table;
mod delete_item;
mod delete_table;
mod describe_stream;
mod describe_table;
mod execute_statement;
mod execute_transaction;
mod fingerprint;
mod for_a_while;
mod get_item;
mod get_records;
mod get_shard_iterator;
mod global_tables;
mod item_write;
mod key_range;
mod kinesis_destination;
mod list_streams;
mod list_tables;
mod listing;
mod paging;
mod put_item;
mod query;
mod read_request;
mod resource;
mod resource_policy;
mod scan;
mod search_vectors;
mod selection;
mod service;
mod single_reads;
mod statement_read;
mod statement_request;
mod statement_write;
mod table_request;
mod table_schema;
mod tags;
mod time_to_live;
mod transact_get_items;
mod transact_write_items;
mod transfers;
mod update_charge;
mod update_item;
mod update_parts;
mod update_table;
mod vector_requests;
mod write_request;

use shelfmark_engine::weight::{Allowance, Weight};

use crate::errors::{Error, Exception, Result, texts};
use crate::face::{Done, Face, RequestHead};
use crate::reply::Answered;

/// The supported operations, by name.
pub const OPERATIONS: [&str; 61] = [
    "BatchExecuteStatement",
    "BatchGetItem",
    "BatchWriteItem",
    "CreateBackup",
    "CreateGlobalTable",
    "CreateTable",
    "DeleteBackup",
    "DeleteItem",
    "DeleteResourcePolicy",
    "DeleteTable",
    "DescribeBackup",
    "DescribeContinuousBackups",
    "DescribeContributorInsights",
    "DescribeEndpoints",
    "DescribeExport",
    "DescribeGlobalTable",
    "DescribeGlobalTableSettings",
    "DescribeImport",
    "DescribeKinesisStreamingDestination",
    "DescribeLimits",
    "DescribeStream",
    "DescribeTable",
    "DescribeTableReplicaAutoScaling",
    "DescribeTimeToLive",
    "DisableKinesisStreamingDestination",
    "EnableKinesisStreamingDestination",
    "ExecuteStatement",
    "ExecuteTransaction",
    "ExportTableToPointInTime",
    "GetItem",
    "GetRecords",
    "GetResourcePolicy",
    "GetShardIterator",
    "ImportTable",
    "ListBackups",
    "ListContributorInsights",
    "ListExports",
    "ListGlobalTables",
    "ListImports",
    "ListStreams",
    "ListTables",
    "ListTagsOfResource",
    "PutItem",
    "PutResourcePolicy",
    "Query",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "Scan",
    "SearchVectors",
    "TagResource",
    "TransactGetItems",
    "TransactWriteItems",
    "UntagResource",
    "UpdateContinuousBackups",
    "UpdateContributorInsights",
    "UpdateGlobalTable",
    "UpdateGlobalTableSettings",
    "UpdateItem",
    "UpdateKinesisStreamingDestination",
    "UpdateTable",
    "UpdateTimeToLive",
];

/// The operations on streams, which have a target of their own.
const STREAM_OPERATIONS: [&str; 4] =
    ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];

/// Tells whether there is an operation of this name.
pub(crate) fn is_known(operation: &str) -> bool {
    OPERATIONS.contains(&operation)
}

/// Returns true if the operation is one on streams.
pub(crate) fn is_of_streams(operation: &str) -> bool {
    STREAM_OPERATIONS.contains(&operation)
}

/// Answers one operation.
pub(crate) fn run(
    face: &Face,
    head: &RequestHead<'_>,
    operation: &str,
    (body, allowance): (&[u8], Allowance),
    done: Done,
) {
    if let Some(policy) = head.policy
        && let Err(error) = access::check(&face.options, policy, operation, body)
    {
        return done.answer(Err(error));
    }
    match operation {
        "BatchExecuteStatement" => {
            batch_execute_statement::start(face, head, body, allowance, done)
        }
        "BatchGetItem" => batch_get_item::start(face, body, allowance, done),
        "BatchWriteItem" => batch_write_item::start(face, body, done),
        "DeleteItem" => delete_item::start(face, body, done),
        "DescribeTable" => describe_table::start(face, body, allowance, done),
        "ExecuteStatement" => execute_statement::start(face, body, allowance, done),
        "ExecuteTransaction" => execute_transaction::start(face, body, allowance, done),
        "PutItem" => put_item::start(face, body, done),
        "Query" => query::start(face, body, allowance, done),
        "TransactGetItems" => transact_get_items::start(face, body, allowance, done),
        "TransactWriteItems" => transact_write_items::start(face, body, done),
        "UpdateItem" => update_item::start(face, body, done),
        "UpdateTable" => update_table::start(face, body, allowance, done),
        "ListBackups" => done.answer(backups::list(face, head, body)),
        "ListExports" => done.answer(transfers::list_exports(face, head, body)),
        "ListImports" => done.answer(transfers::list_imports(face, head, body)),
        "ListContributorInsights" => {
            done.answer(contributor_insights::list(face, head, body));
        }
        "ListStreams" => done.answer(list_streams::answer(face, head, body)),
        "ListTables" => done.answer(list_tables::answer(face, head, body)),
        "DescribeEndpoints" => done.answer(service::describe_endpoints(face, head, body)),
        _ => done.answer(answer(face, operation, body)),
    }
}

/// Answers an operation that writes no items.
fn answer(face: &Face, operation: &str, body: &[u8]) -> Result<Answered> {
    match operation {
        "CreateTable" => create_table::answer(face, body),
        "DeleteTable" => delete_table::answer(face, body),
        "DescribeLimits" => service::describe_limits(body),
        "DescribeStream" => describe_stream::answer(face, body),
        "DescribeTimeToLive" => time_to_live::describe(face, body),
        "GetItem" => get_item::answer(face, body),
        "GetRecords" => get_records::answer(face, body),
        "GetShardIterator" => get_shard_iterator::answer(face, body),
        "ListTagsOfResource" => tags::list(face, body),
        "Scan" => scan::answer(face, body),
        "SearchVectors" => search_vectors::answer(face, body),
        "TagResource" => tags::tag(face, body),
        "UntagResource" => tags::untag(face, body),
        "UpdateTimeToLive" => time_to_live::update(face, body),
        _ => match answer_on_backups(face, operation, body) {
            Some(answered) => answered,
            None => answer_to_tools(face, operation, body),
        },
    }
}

/// Answers an operation on backups, if it is one.
fn answer_on_backups(face: &Face, operation: &str, body: &[u8]) -> Option<Result<Answered>> {
    Some(match operation {
        "CreateBackup" => backups::create(face, body),
        "DeleteBackup" => backups::delete(face, body),
        "DescribeBackup" => backups::describe(face, body),
        "DescribeContinuousBackups" => backups::describe_continuous(face, body),
        "DescribeExport" => transfers::describe_export(face, body),
        "DescribeImport" => transfers::describe_import(face, body),
        "ExportTableToPointInTime" => transfers::start_export(face, body),
        "ImportTable" => transfers::start_import(face, body),
        "RestoreTableFromBackup" => backups::from_backup(face, body),
        "RestoreTableToPointInTime" => backups::to_point_in_time(face, body),
        "UpdateContinuousBackups" => backups::update_continuous(face, body),
        _ => return None,
    })
}

/// Answers an operation that infrastructure tools ask for.
fn answer_to_tools(face: &Face, operation: &str, body: &[u8]) -> Result<Answered> {
    match operation {
        "DeleteResourcePolicy" => resource_policy::delete(face, body),
        "DescribeContributorInsights" => contributor_insights::describe(face, body),
        "CreateGlobalTable" => global_tables::create(body),
        "DescribeGlobalTable" => global_tables::describe(body),
        "DescribeGlobalTableSettings" => global_tables::describe_settings(body),
        "DescribeKinesisStreamingDestination" => kinesis_destination::describe(face, body),
        "DescribeTableReplicaAutoScaling" => global_tables::describe_scaling(body),
        "DisableKinesisStreamingDestination" => kinesis_destination::disable(face, body),
        "EnableKinesisStreamingDestination" => kinesis_destination::enable(face, body),
        "GetResourcePolicy" => resource_policy::get(face, body),
        "ListGlobalTables" => global_tables::list(body),
        "PutResourcePolicy" => resource_policy::put(face, body),
        "UpdateContributorInsights" => contributor_insights::update(face, body),
        "UpdateGlobalTable" => global_tables::update(body),
        "UpdateGlobalTableSettings" => global_tables::update_settings(body),
        "UpdateKinesisStreamingDestination" => kinesis_destination::update(face, body),
        _ => Err(Error::new(Exception::UnknownOperation, texts::UNKNOWN_OPERATION)),
    }
}

/// Returns the weight of an operation, whatever the size of its request.
pub(crate) fn weight(operation: &str) -> Weight {
    match operation {
        "BatchExecuteStatement"
        | "BatchGetItem"
        | "DescribeStream"
        | "DescribeTable"
        | "ExecuteStatement"
        | "ExecuteTransaction"
        | "GetRecords"
        | "GetShardIterator"
        | "ListBackups"
        | "ListContributorInsights"
        | "ListExports"
        | "ListImports"
        | "ListStreams"
        | "Query"
        | "TransactGetItems" => Weight::Page,
        "Scan" | "SearchVectors" => Weight::Heavy,
        // They wait for other writers of the table; to build an index reads all of it.
        "CreateBackup"
        | "CreateTable"
        | "DeleteBackup"
        | "DeleteResourcePolicy"
        | "DeleteTable"
        | "EnableKinesisStreamingDestination"
        | "ExportTableToPointInTime"
        | "ImportTable"
        | "PutResourcePolicy"
        | "RestoreTableFromBackup"
        | "RestoreTableToPointInTime"
        | "TagResource"
        | "UntagResource"
        | "UpdateContinuousBackups"
        | "UpdateContributorInsights"
        | "UpdateTable"
        | "UpdateTimeToLive" => Weight::Waiting,
        _ => Weight::Light,
    }
}
