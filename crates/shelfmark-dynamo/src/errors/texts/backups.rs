//! Backups, restores, exports and imports.
//!
//! Source: answers of the service that open-source emulators assert, read 2026-11, where nothing else is
//! said.

/// The text for an ARN that is none of a backup, as the service was seen to use it in October 2026.
pub(crate) const INVALID_BACKUP_ARN: &str = "Invalid Backup ARN";
/// Words a starting place of ListBackups of another region; of another account alike.
pub(crate) const BACKUPS_START_ELSEWHERE: &str =
    "Invalid Request: The supplied ExclusiveStartBackupArn does not match the region";
/// The text for a number of days without continuous backups; seen as above.
pub(crate) const RECOVERY_DAYS_UNEXPECTED: &str = "Invalid Request: Cannot specify RecoveryPeriodInDays \
     when disabling point-in-time recovery.";
/// The text for a range of times without an end behind its begin; seen as above.
pub(crate) const BACKUP_TIMES_TURNED: &str = "One or more parameter values were invalid: Time range lower \
     bound must be less than or equal to upper bound";
/// The text for a change while a backup is being made; *ours*, after the Developer Guide.
pub(crate) const BACKUP_IS_MADE: &str = "Continuous backups cannot be changed while a backup of the \
     table is being created";
// Restores in the words that the service was seen to use in October 2026.
pub(crate) const RESTORE_SOURCE_REQUIRED: &str =
    "The parameter 'TableName' is required but was not present in the request";
pub(crate) const RESTORE_SOURCE_TWICE: &str =
    "Invalid Request: Must provide exactly one of: sourceTableArn, sourceTableName";
pub(crate) const RESTORE_TIME_REQUIRED: &str = "Invalid Request: Either one of RestoreDateTime or \
     UseLatestRestorableTime must be specified, but not both";
pub(crate) const RESTORE_TIME_TWICE: &str = "Invalid Request: Both RestoreDateTime and \
     UseLatestRestorableTime cannot be set for point-in-time restore request. Please specify either \
     RestoreDateTime time or UseLatestRestorableTime";
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

/// Words an index that a restore asks for and the source does not have so.
pub(crate) fn index_not_in_source(index: &str) -> String {
    format!(
        "Invalid Request: Index {index} does not match a secondary index that existed in the source \
         table and cannot be created during the restore operation"
    )
}

pub(crate) const RESTORE_UNITS_REQUIRED: &str = "Invalid Request: Must override \
     ProvisionedThroughput if BillingMode is overridden to PROVISIONED";
pub(crate) const RESTORE_UNITS_WITHOUT_MODE: &str =
    "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED";
pub(crate) const RESTORE_UNITS_FORBIDDEN: &str = "Invalid Request: Cannot override \
     ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST";

/// Words units of an index of a table that is to be paid per request.
pub(crate) fn restored_index_units_forbidden(index: &str) -> String {
    format!("{RESTORE_UNITS_FORBIDDEN} for index {index}")
}

/// Words an index that is told, without units, of a table that is to have them.
pub(crate) fn restored_index_units_required(index: &str) -> String {
    format!("Invalid Request: Must specify provisioned throughput for index {index}")
}

/// Words a maximum of a table that is to be provisioned.
pub(crate) fn restored_on_demand_forbidden(which: &str) -> String {
    format!(
        "Invalid Request: Cannot override {which} for OnDemandThroughput unless BillingModeOverride is \
         PAY_PER_REQUEST"
    )
}

/// Words a maximum that is none. Source: one of both members that are 0.
pub(crate) const RESTORE_ON_DEMAND_OUT_OF_RANGE: &str = "Invalid Request: Requested \
     MaxReadRequestUnits for OnDemandThroughput is outside of valid range";

/// The text for an export or import on a server without buckets; *ours*.
pub(crate) const NO_BUCKETS: &str = "This server has no buckets: exports and imports need a folder for \
     them, which is not supported without the setting --buckets DIR of shelfmark serve";
/// The text for a prefix that leads out of its bucket, or that no object can have; *ours*.
pub(crate) const PREFIX_IS_NO_KEY: &str = "One or more parameter values were invalid: S3Prefix consists \
     of parts between slashes, none of which is empty, a dot or two dots";
// Exports and imports in the words that the service was seen to use in October 2026.
pub(crate) const EXPORT_TIME_INVALID: &str = "Export Time is invalid";
pub(crate) const EXPORT_TOKEN_USED: &str =
    "Export conflict: Duplicate request detected with conflicting parameters";
pub(crate) const IMPORT_TOKEN_USED: &str =
    "Import conflict: Duplicate request detected with conflicting parameters";
pub(crate) const EXPORT_WINDOW_REQUIRED: &str = "Invalid Request: Incremental Export Specification \
     expected when export type is set as Incremental Export";
pub(crate) const EXPORT_WINDOW_OF_FULL: &str = "Invalid Request: When Export Type is Full Export , \
     Incremental Export Specification should not be provided";
pub(crate) const EXPORT_TYPE_REQUIRED: &str = "Invalid Request: Export Type expected to be Incremental \
     Export when incremental export specification is provided";
pub(crate) const EXPORT_FROM_REQUIRED: &str =
    "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification";
pub(crate) const EXPORT_WINDOW_TOO_SHORT: &str =
    "Difference between export period from time and export period to time is less than 15 minutes";
/// The text for a span of more than a day; *ours*, after the words above.
pub(crate) const EXPORT_WINDOW_TOO_LONG: &str =
    "Difference between export period from time and export period to time is greater than 24 hours";
pub(crate) const KMS_KEY_UNEXPECTED: &str =
    "Invalid Request: KMS Key Id is not supported for this encryption type";
pub(crate) const FILTER_IS_EMPTY: &str =
    "Invalid Request: Invalid FilterSpecification: The specification can not be empty";
pub(crate) const TABLE_ARN_IS_NONE: &str =
    "One or more parameter values were invalid: tableArn is not a valid ARN";
pub(crate) const TABLE_ARN_INVALID: &str = "Invalid Request: Table ARN is invalid.";
pub(crate) const ACCESS_IS_DENIED: &str = "Access is denied";
pub(crate) const INVALID_EXPORT_ARN: &str = "Invalid Export ARN";
pub(crate) const INVALID_IMPORT_ARN: &str = "Invalid Import ARN";
pub(crate) const EXPORT_ELSEWHERE: &str = "Export not found: Invalid export arn";
/// The text for an import of another region; *ours*, after the words above.
pub(crate) const IMPORT_ELSEWHERE: &str = "Import not found: Invalid import arn";
pub(crate) const ITEMS_WERE_REFUSED: &str = "Some of the items failed validation checks and were not \
     imported. Please check CloudWatch error logs for more details.";
pub(crate) const ACCOUNT_PATTERN: &str = "satisfy regular expression pattern: [0-9]{12}";

pub(crate) fn export_from_too_early(second: &str) -> String {
    format!(
        "Incremental export period from time cannot be less than the table creation time : {second}"
    )
}

pub(crate) fn export_to_too_late(second: &str) -> String {
    format!("Incremental export period to time cannot be greater than the current time : {second}")
}

pub(crate) fn invalid_next_token(token: &str) -> String {
    format!("Invalid Request: Provided nextToken is invalid: {token}")
}

/// Words options that the format has not.
pub(crate) fn input_options_unexpected(format: &str) -> String {
    format!("Invalid Request: Unsupported InputFormatOptions for the given input format: {format}.")
}

pub(crate) const TOKEN_PATTERN: &str = r"satisfy regular expression pattern: ^[^\$]+$";
pub(crate) const BUCKET_PATTERN: &str =
    r"satisfy regular expression pattern: ^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$";
pub(crate) const DELIMITER_PATTERN: &str = r"satisfy regular expression pattern: [,;:|\t ]";

/// Words a bucket that is not there; *ours*, after S3's words.
pub(crate) fn no_such_bucket(bucket: &str) -> String {
    format!("The specified bucket does not exist: {bucket}")
}

pub(crate) fn export_not_found(arn: &str) -> String {
    format!("Export not found: Export not found: {arn}")
}

pub(crate) fn import_not_found(arn: &str) -> String {
    format!("Import not found: Import not found: {arn}")
}
