//! Backups, restores, exports and imports.
//!
//! Source: answers of the service that open-source emulators assert, read 2026-11, where nothing else is
//! said.

/// The text for an ARN that is none of a backup; *ours*.
pub(crate) const INVALID_BACKUP_ARN: &str = "Invalid BackupArn";
/// The text for a change while a backup is being made; *ours*, after the Developer Guide.
pub(crate) const BACKUP_IS_MADE: &str = "Continuous backups cannot be changed while a backup of the \
     table is being created";
/// The text for a restore without its source; *ours*.
pub(crate) const RESTORE_SOURCE_REQUIRED: &str = "One or more parameter values were invalid: One of \
     SourceTableName and SourceTableArn is required";
/// The text for a restore without its time; *ours*.
pub(crate) const RESTORE_TIME_REQUIRED: &str = "One or more parameter values were invalid: One of \
     UseLatestRestorableTime and RestoreDateTime is required";
/// The text for a restore with two times; *ours*.
pub(crate) const RESTORE_TIME_TWICE: &str = "One or more parameter values were invalid: \
     UseLatestRestorableTime and RestoreDateTime exclude each other";
/// Source: API reference, "RestoreTableToPointInTime", errors, read 2026-11.
pub(crate) const RESTORE_TIME_INVALID: &str = "An invalid restore time was specified. RestoreDateTime \
     must be between EarliestRestorableDateTime and LatestRestorableDateTime.";

pub(crate) fn backup_not_found(arn: &str) -> String {
    format!("Backup not found: {arn}")
}

pub(crate) fn backup_in_use(arn: &str) -> String {
    format!("Backup is being used by another operation: {arn}")
}

pub(crate) fn recovery_is_off(table: &str) -> String {
    format!("Point in time recovery is not enabled for table '{table}'")
}

/// Words a table that is being restored or imported.
pub(crate) fn table_is_created(table: &str) -> String {
    format!("Attempt to change a resource which is still in use: Table is being created: {table}")
}

/// Words a table that is being backed up; *ours*, after the words above.
pub(crate) fn table_is_backed_up(table: &str) -> String {
    format!("Attempt to change a resource which is still in use: Table is being backed up: {table}")
}

/// Words an index that a restore asks for and the source does not have so; *ours*.
pub(crate) fn index_not_in_source(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Index {index} of the override does not match an \
         index of the source table"
    )
}

/// The text for an export or import on a server without buckets; *ours*.
pub(crate) const NO_BUCKETS: &str = "This server has no buckets: exports and imports need a folder for \
     them, which is not supported without the setting --buckets DIR of shelfmark serve";
/// The text for a prefix that leads out of its bucket, or that no object can have; *ours*.
pub(crate) const PREFIX_IS_NO_KEY: &str = "One or more parameter values were invalid: S3Prefix consists \
     of parts between slashes, none of which is empty, a dot or two dots";
/// Source: API reference, "ExportTableToPointInTime", errors, read 2026-11.
pub(crate) const EXPORT_TIME_INVALID: &str = "The specified ExportTime is outside of the point in time \
     recovery window.";
/// Source: the same.
pub(crate) const EXPORT_TOKEN_USED: &str = "There was a conflict when writing to the specified S3 bucket: ClientToken was used for another export";
/// The text for a token of another import; *ours*, after the words above.
pub(crate) const IMPORT_TOKEN_USED: &str =
    "There was a conflict when importing: ClientToken was used for another import";
pub(crate) const INVALID_NEXT_TOKEN: &str = "Invalid NextToken";
pub(crate) const BUCKET_PATTERN: &str =
    r"satisfy regular expression pattern: ^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$";
pub(crate) const DELIMITER_PATTERN: &str = r"satisfy regular expression pattern: [,;:|\t ]";

/// Words a bucket that is not there; *ours*, after S3's words.
pub(crate) fn no_such_bucket(bucket: &str) -> String {
    format!("The specified bucket does not exist: {bucket}")
}

pub(crate) fn export_not_found(arn: &str) -> String {
    format!("Export not found: {arn}")
}

pub(crate) fn import_not_found(arn: &str) -> String {
    format!("Import not found: {arn}")
}
