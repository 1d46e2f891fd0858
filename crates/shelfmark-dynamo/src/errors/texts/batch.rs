//! Batches and transactions.

pub(crate) const BATCH_GET_TOO_MANY: &str = "Too many items requested for the BatchGetItem call";
pub(crate) const BATCH_WRITE_TOO_MANY: &str =
    "Too many items requested for the BatchWriteItem call";
pub(crate) const ONE_ACTION: &str =
    "TransactItems can only contain one of Check, Put, Update or Delete";
/// Source: one of two answers that a public suite takes, captures of October 2026.
pub(crate) const NO_ACTION: &str =
    "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request";
pub(crate) const ITEM_TWICE: &str =
    "Transaction request cannot include multiple operations on one item";
/// The text for a transaction that is too large; the request's items count, not those stored.
pub(crate) const TRANSACTION_TOO_LARGE: &str =
    "Member must satisfy constraint: [Transaction payload size cannot exceed 4 MB]";
pub(crate) const TRANSACTION_CONFLICT: &str = "Transaction is ongoing for the item";
pub(crate) const TOKEN_MISMATCH: &str =
    "The provided client request token was used with different parameters";

pub(crate) fn transaction_cancelled(codes: &[&str]) -> String {
    format!(
        "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]",
        codes.join(", ")
    )
}

pub(crate) const RETURN_VALUES_OLD_ONLY: &str = "ReturnValues can only be ALL_OLD or NONE";
pub(crate) const NO_WRITE_REQUESTS: &str =
    "The requestItems parameter is required for BatchWriteItem";
