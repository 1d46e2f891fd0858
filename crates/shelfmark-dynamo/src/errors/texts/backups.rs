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
