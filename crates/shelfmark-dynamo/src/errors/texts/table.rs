//! Tables, indexes, tags and expiry.

use crate::table::Throughput;

pub(crate) const TABLE_NOT_FOUND: &str = "Requested resource not found";
pub(crate) const TABLE_NAME_REQUIRED: &str =
    "The parameter 'TableName' is required but was not present in the request";
pub(crate) const KEY_WITHOUT_DEFINITION: &str =
    "Invalid KeySchema: Some index key attribute have no definition";
pub(crate) const DELETION_PROTECTED: &str = "Resource cannot be deleted as it is currently \
     protected against deletion. Disable deletion protection first.";
pub(crate) const UNITS_FORBIDDEN: &str = "One or more parameter values were invalid: Neither \
     ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST";
pub(crate) const UNITS_REQUIRED: &str = "One or more parameter values were invalid: \
     ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is \
     PROVISIONED";
/// The text of UpdateTable for a table that is to be provisioned without units. Source: a second
/// implementation that was compared with the service (dynalite), read 2026-11.
pub(crate) const UNITS_REQUIRED_NOW: &str = "One or more parameter values were invalid: \
     ProvisionedThroughput must be specified when BillingMode is PROVISIONED";
/// Source: an answer of the service in an issue of a provisioning tool, read 2026-11.
pub(crate) const TABLE_CLASS_BESIDE_OTHERS: &str = "One or more parameter values were invalid: \
     TableClass modification must be the only operation in the request";
/// Source: as above.
pub(crate) const ENCRYPTION_AES256: &str =
    "One or more parameter values were invalid: SSEType AES256 is not supported";
pub(crate) const KEY_NAMES_EQUAL: &str =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";
pub(crate) const FIRST_KEY_IS_NO_HASH: &str =
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
pub(crate) const SECOND_KEY_IS_NO_RANGE: &str =
    "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type";
/// The text for HASH keys of an index behind RANGE keys; *ours*, of the service's only some words are known.
pub(crate) const KEY_COLUMNS_OUT_OF_ORDER: &str = "Invalid KeySchema: All HASH key elements must precede \
     the RANGE key elements";
/// The text for a fifth key of one type; *ours*.
pub(crate) const KEY_COLUMNS_TOO_MANY: &str = "One or more parameter values were invalid: Index \
     KeySchema must have at most 4 HASH keys and at most 4 RANGE keys";
pub(crate) const LOCAL_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of LocalSecondaryIndexes is empty";
pub(crate) const GLOBAL_INDEXES_EMPTY: &str =
    "One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty";
pub(crate) const LOCAL_INDEX_NEEDS_RANGE: &str = "One or more parameter values were invalid: \
     Table KeySchema does not have a range key, which is required when specifying a \
     LocalSecondaryIndex";
pub(crate) const LOCAL_INDEXES_TOO_MANY: &str = "One or more parameter values were invalid: \
     Number of LocalSecondaryIndexes exceeds per-table limit of 5";
pub(crate) const GLOBAL_INDEXES_TOO_MANY: &str = "One or more parameter values were invalid: \
     GlobalSecondaryIndex count exceeds the per-table limit of 20";
pub(crate) const PROJECTED_TOO_MANY: &str = "One or more parameter values were invalid: The \
     number of projected attributes of all indexes exceeds the per-table limit of 100";
pub(crate) const UNKNOWN_PROJECTION: &str =
    "One or more parameter values were invalid: Unknown ProjectionType: null";
pub(crate) const NON_KEY_ATTRIBUTES_MISSING: &str = "One or more parameter values were invalid: \
     ProjectionType is INCLUDE, but NonKeyAttributes is not specified";
pub(crate) const KEY_NAME_TOO_LONG: &str = "One or more parameter values were invalid: Size of \
     key attribute name has exceeded the maximum size limit of 255 bytes";
// Texts of UpdateTable, up to the actions on indexes, and further below: answers of the service,
// collected by others in October 2026.
pub(crate) const NOTHING_TO_UPDATE: &str = "At least one of ProvisionedThroughput, BillingMode, \
     UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, \
     MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, \
     DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required";
pub(crate) const ENCRYPTION_BESIDE_OTHERS: &str = "One or more parameter values were invalid: \
     Server-Side Encryption modification must be the only operation in the request";
pub(crate) const PROTECTION_BESIDE_OTHERS: &str = "One or more parameter values were invalid: \
     DeletionProtection modification must be the only operation in the request";
pub(crate) const WARM_BESIDE_OTHERS: &str = "One or more parameter values were invalid: \
     WarmThroughput must be the only operation in the request";
pub(crate) const INDEX_BESIDE_WARM: &str = "One or more parameter values were invalid: Create global \
     secondary index cannot be specified when updating WarmThroughput";
pub(crate) const ON_DEMAND_BESIDE_OTHERS: &str = "One or more parameter values were invalid: \
     OnDemandThroughput can only be combined with BillingMode in an UpdateTable request";
pub(crate) const INDEX_BESIDE_UNITS: &str = "One or more parameter values were invalid: You cannot \
     create or delete index while updating table IOPS";
pub(crate) const INDEX_UPDATES_EMPTY: &str =
    "One or more parameter values were invalid: List of GlobalSecondaryIndexUpdates is empty";
pub(crate) const ENCRYPTION_OFF_WITH_KIND: &str =
    "One or more parameter values were invalid: SSEType can not be specified if Enabled is false";
pub(crate) const ENCRYPTION_OFF_WITH_KEY: &str = "One or more parameter values were invalid: \
     KMSMasterKeyId can not be specified if Enabled is false";
pub(crate) const ENCRYPTION_KEY_WITHOUT_KIND: &str = "One or more parameter values were invalid: \
     SSEType KMS is required if KMSMasterKeyId is specified";
pub(crate) const ENCRYPTION_IS_DEFAULT: &str =
    "One or more parameter values were invalid: Table is already encrypted by default";
pub(crate) const ENCRYPTION_UNCHANGED: &str = "One or more parameter values were invalid: Table is \
     already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to \
     change Master Key";
pub(crate) const INDEX_EXISTS: &str = "Attempting to create an index which already exists";
pub(crate) const ONE_INDEX_CHANGE: &str = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table";
pub(crate) const ONE_INDEX_ACTION: &str = "One or more parameter values were invalid: Only one \
     global secondary index action is allowed per GlobalSecondaryIndexUpdate object";
pub(crate) const NO_INDEX_ACTION: &str = "One or more parameter values were invalid: One of \
     GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
     GlobalSecondaryIndexUpdate.Delete must not be null";

pub(crate) const ARN_MISSING: &str = "Invalid TableArn";
pub(crate) const TAGS_EMPTY: &str = "Atleast one Tag needs to be provided as Input.";
pub(crate) const TAG_KEYS_EMPTY: &str = "Atleast one Tag Key needs to be provided as Input.";
/// Words an action that a key's policy does not allow. Source: the service's words, read 2026-11.
pub(crate) fn not_authorized(account: &str, user: &str, action: &str, resource: &str) -> String {
    format!(
        "User: arn:aws:iam::{account}:user/{user} is not authorized to perform: dynamodb:{action} on \
         resource: {resource} because no identity-based policy allows the dynamodb:{action} action"
    )
}

pub(crate) fn table_not_found(name: &str) -> String {
    format!("Requested resource not found: Table: {name} not found")
}

/// Words a table of another face; *ours*: the service has none.
pub(crate) fn table_of_another_face(name: &str) -> String {
    format!(
        "Table {name} belongs to another face, which alone changes it; its items can be used here"
    )
}

pub(crate) fn backup_table_not_found(name: &str) -> String {
    format!("Table not found: {name}")
}

pub(crate) fn resource_not_found(arn: &str) -> String {
    format!("Requested resource not found: ResourceArn: {arn} not found")
}

pub(crate) fn table_exists(name: &str) -> String {
    format!("Table already exists: {name}")
}

pub(crate) fn index_not_found(name: &str) -> String {
    format!("The table does not have the specified index: {name}")
}

/// Words an index of UpdateTable that is not there.
pub(crate) fn index_missing_in_table(name: &str, table: &str) -> String {
    format!("Requested resource not found: Index {name} for table {table}")
}

/// Words a local index that is to be changed as a global one; `what` is `delete` or `update`.
pub(crate) fn index_is_local(what: &str, name: &str) -> String {
    format!("Cannot {what} an index that is not a GlobalSecondaryIndex: {name}")
}

/// Words an index that is to be made without definitions of its key.
pub(crate) fn definitions_missing(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: AttributeDefinitions is not specified for \
         index: {index}"
    )
}

/// Words the units of an index of a table that is paid per request and that UpdateTable is to make.
pub(crate) fn created_index_units_forbidden(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits \
         can be specified for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

/// Words an index that UpdateTable makes or changes without units, of a table that is provisioned.
pub(crate) fn index_needs_both_units(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Both ReadCapacityUnits and WriteCapacityUnits must \
         be specified for index: {index}"
    )
}

/// Words an update of an index of a table that is paid per request that says nothing, or tells units.
pub(crate) fn index_update_empty(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: The only Updates for index: {index} when \
         TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
    )
}

pub(crate) fn index_is_building(name: &str) -> String {
    format!("Cannot read from backfilling global secondary index: {name}")
}

/// Words a maximum of a table that is paid per request and that is neither -1 nor at least 1.
///
/// Source: an answer to a table with a maximum of 0, in an issue of a provisioning tool, read 2026-11;
/// for indexes *ours*, alike.
pub(crate) fn on_demand_out_of_range(which: &str, of: &str) -> String {
    format!(
        "One or more parameter values were invalid: Requested {which} for OnDemandThroughput for {of} \
         is outside of valid range"
    )
}

/// Words a maximum of a table that is provisioned. Source: a capture of the service, in an issue of an
/// emulator, read 2026-11; so is the other wording of CreateTable.
pub(crate) fn on_demand_forbidden(which: &str) -> String {
    format!(
        "One or more parameter values were invalid: {which} for OnDemandThroughput cannot be \
         specified when the table BillingMode is PROVISIONED"
    )
}

/// Words a maximum of a new table that is provisioned.
pub(crate) fn created_on_demand_forbidden(which: &str) -> String {
    format!(
        "One or more parameter values were invalid: {which} for OnDemandThroughput cannot be \
         specified when table BillingMode is PROVISIONED."
    )
}

/// Words a warm throughput, of `Read` or `Write`, below what is paid per request begins with.
pub(crate) fn warm_below_initial(which: &str, of: &str) -> String {
    format!(
        "{WARM}{which}UnitsPerSecond for WarmThroughput for {of} is lower than initial throughput \
         for OnDemand. See: \
         https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
    )
}

/// Words a warm throughput, of `Read` or `Write`, below the units that are provisioned.
pub(crate) fn warm_below_units(which: &str, of: &str) -> String {
    format!(
        "{WARM}{which}UnitsPerSecond for WarmThroughput for {of} is lower than \
         {which}CapacityUnits of ProvisionedThroughput"
    )
}

/// Words a warm throughput, of `Read` or `Write`, below the one of now.
pub(crate) fn warm_below_current(which: &str, of: &str) -> String {
    format!(
        "{WARM}{which}UnitsPerSecond for WarmThroughput for {of} is lower than current \
         WarmThroughput, decreasing WarmThroughput is not supported"
    )
}

/// Begins the texts on warm throughput.
///
/// Source of all: answers that others collected, October 2026.
const WARM: &str = "One or more parameter values were invalid: Requested ";

pub(crate) const TABLE_CLASS_INVALID: &str = "Invalid table-class parameter provided. Please try \
     again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].";

pub(crate) fn units_out_of_bounds(value: i64, which: &str) -> String {
    format!("Given value {value} for {which} is out of bounds")
}

pub(crate) fn keys_undefined(keys: &[&str], definitions: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Some index key attributes are not defined in \
         AttributeDefinitions. Keys: [{}], AttributeDefinitions: [{}]",
        keys.join(", "),
        definitions.join(", ")
    )
}

pub(crate) fn definitions_unused(keys: &[&str], definitions: &[&str]) -> String {
    format!(
        "One or more parameter values were invalid: Some AttributeDefinitions are not used. \
         AttributeDefinitions: [{}], keys used: [{}]",
        definitions.join(", "),
        keys.join(", ")
    )
}

pub(crate) const DEFINITIONS_DO_NOT_MATCH: &str = "One or more parameter values were invalid: \
     Number of attributes in KeySchema does not exactly match number of attributes defined in \
     AttributeDefinitions";

/// Words an attribute that a new index would give another type.
pub(crate) fn attribute_redefined(existing: &str, new: &str) -> String {
    format!(
        "One or more parameter values were invalid: Attributes cannot be redefined. Please check \
         that your attribute has the same type as previously defined. Existing schema: {existing} \
         New schema: {new}"
    )
}

/// Shows a key attribute as the message on attributes of another type does.
pub(crate) fn key_element_of_schema(name: &str, letter: &str, role: &str) -> String {
    format!("Schema:[SchemaElement: key{{{name}:{letter}:{role}}}]")
}

pub(crate) fn definition_twice(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Duplicate AttributeName in \
         AttributeDefinitions: {name}"
    )
}

pub(crate) fn local_index_without_range(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: Index KeySchema does not have a range key for \
         index: {index}"
    )
}

pub(crate) fn local_index_hash(index: &str, own: &str, table: &str) -> String {
    format!(
        "One or more parameter values were invalid: Index KeySchema does not have the same \
         leading hash key as table KeySchema for index: {index}. index hash key: {own}, table \
         hash key: {table}"
    )
}

pub(crate) fn index_name_twice(name: &str) -> String {
    format!("One or more parameter values were invalid: Duplicate index name: {name}")
}

/// Words two changes of one index in a request. Source: as that of [`UNITS_REQUIRED_NOW`].
pub(crate) fn index_changed_twice(name: &str) -> String {
    format!(
        "One or more parameter values were invalid: Only one global secondary index update per index is \
         allowed simultaneously. Index: {name}"
    )
}

pub(crate) fn non_key_attributes(projection: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProjectionType is {projection}, but \
         NonKeyAttributes is specified"
    )
}

pub(crate) fn index_units_forbidden(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProvisionedThroughput should not be specified \
         for index: {index} when BillingMode is PAY_PER_REQUEST"
    )
}

/// Words a throughput that does not change; `what` is `the table` or `the index` with its name.
pub(crate) fn units_unchanged(what: &str, units: Throughput) -> String {
    let Throughput { read, write } = units;
    format!(
        "The provisioned throughput for {what} will not change. The requested value equals the \
         current value. Current ReadCapacityUnits provisioned for {kind}: {read}. Requested \
         ReadCapacityUnits: {read}. Current WriteCapacityUnits provisioned for {kind}: {write}. \
         Requested WriteCapacityUnits: {write}. Refer to the Amazon DynamoDB Developer Guide for \
         current limits and how to request higher limits.",
        kind = if what == "the table" { what } else { "the index" },
    )
}

/// Words a new index without units, of a table that is provisioned.
pub(crate) fn index_units_missing(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProvisionedThroughput is not specified for index: \
         {index}"
    )
}

/// Words a maximum of a new index of a table that is provisioned.
pub(crate) fn index_on_demand_forbidden(which: &str, index: &str) -> String {
    format!(
        "One or more parameter values were invalid: {which} for OnDemandThroughput for index: {index} \
         cannot be specified when table BillingMode is PROVISIONED."
    )
}

pub(crate) fn index_units_required(index: &str) -> String {
    format!(
        "One or more parameter values were invalid: ProvisionedThroughput must be specified for \
         index: {index}"
    )
}

pub(crate) const TAGS_TOO_MANY: &str =
    "Number of Tags exceed the current limit for the provided ResourceArn";
pub(crate) const TTL_ENABLED: &str = "TimeToLive is already enabled";
pub(crate) const TTL_DISABLED: &str = "TimeToLive is already disabled";

/// Words a key with letters that a tag may not have.
pub(crate) fn tag_key_invalid(key: &str) -> String {
    format!("The Tag Key provided is invalid, Key: {key}")
}

/// Words a value with letters that a tag may not have.
pub(crate) fn tag_value_invalid(value: &str) -> String {
    format!("The Tag Value provided is invalid, Value: {value}")
}

pub(crate) fn tag_reserved(key: &str) -> String {
    format!("Tag Key cannot be prefixed with aws:, Key: {key}")
}

pub(crate) fn tag_twice(key: &str) -> String {
    format!("Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
}

pub(crate) fn ttl_attribute(name: &str) -> String {
    format!("TimeToLive is active on a different AttributeName: current AttributeName is {name}")
}

pub(crate) fn tag_of_share(word: &str) -> String {
    format!(
        "One or more parameter values were invalid: The value of tag shelfmark:share is none, read or \
         all, not {word}"
    )
}
