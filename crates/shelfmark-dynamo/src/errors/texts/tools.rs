//! Texts about what infrastructure tools use: policies, ARNs of resources, destinations, global
//! tables.
//!
//! Source: answers of the service collected by others in October 2026.

pub(crate) const POLICY_TOO_LARGE: &str =
    "One or more parameter values were invalid: Maximum policy size of 20480 bytes exceeded";
pub(crate) const POLICY_IS_NO_JSON: &str = "One or more parameter values were invalid: Invalid \
     policy document: This policy contains invalid Json";
/// Words a policy that is JSON and no policy.
pub(crate) fn policy_is_none(why: &str) -> String {
    format!("One or more parameter values were invalid: Invalid policy document: {why}")
}

pub(crate) const DESTINATION_FAILED: &str = "User does not have a permission to use kinesis stream";
pub(crate) const DESTINATION_NOT_ACTIVE: &str = "Table is not in a valid state to enable Kinesis \
     Streaming Destination: KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.";
pub(crate) const DESTINATION_WITHOUT_CHANGE: &str = "Streaming destination cannot be updated with \
     given parameters: UpdateKinesisStreamingConfiguration cannot be null or contain only null values";
/// The text for more destinations than a table remembers; *ours*.
pub(crate) const DESTINATIONS_TOO_MANY: &str =
    "Subscriber limit exceeded: the table has too many Kinesis streaming destinations";

pub(crate) fn destination_not_updated(table: &str, arn: &str) -> String {
    format!(
        "Table is not in a valid state to enable Kinesis Streaming Destination: Kinesis streaming is \
         not in ACTIVE state. Updates are only allowed in ACTIVE state. TableName: {table}, kdsArn: \
         {arn}"
    )
}

const POLICY_NOT_FOUND: &str = "Resource-based policy not found for the provided ResourceArn: ";

pub(crate) fn policy_not_found(arn: &str) -> String {
    format!("{POLICY_NOT_FOUND}{arn}")
}

pub(crate) fn policy_is_there(table: &str, revision: &str) -> String {
    format!(
        "{POLICY_NOT_FOUND}Requested policy update expecting none to be present for table {table}, but \
         a policy exists with revision id {revision}."
    )
}

pub(crate) fn policy_is_another(table: &str, expected: &str, revision: &str) -> String {
    format!(
        "{POLICY_NOT_FOUND}Requested update for policy with revision id {expected}, but the policy \
         associated to target table {table} has revision id {revision}."
    )
}

pub(crate) fn policy_is_gone(table: &str, expected: &str) -> String {
    format!(
        "{POLICY_NOT_FOUND}Requested update for policy with revision id {expected}, but table {table} \
         has no associated policy."
    )
}

pub(crate) fn arn_without_scheme(arn: &str) -> String {
    format!("One or more parameter values were invalid: ARNs must start with 'arn:': {arn}")
}

pub(crate) fn arn_of_something_else(arn: &str) -> String {
    format!(
        "One or more parameter values were invalid: Provided Arn is not a DynamoDB resource arn: {arn}"
    )
}

pub(crate) fn arn_of_no_table(arn: &str) -> String {
    format!(
        "One or more parameter values were invalid: Invalid resource arn provided, only table or \
         stream is accepted. Provided resource arn: {arn}"
    )
}

/// Words the ARN of a resource of another region, in the operations on tags.
pub(crate) fn tagged_elsewhere(arn: &str) -> String {
    format!("Invalid TableArn: Invalid ResourceArn provided as input {arn}")
}

/// Words the ARN of a resource of another region, in the operations on policies.
pub(crate) fn arn_elsewhere(arn: &str) -> String {
    format!("One or more parameter values were invalid: Invalid resource Arn: {arn}")
}

/// Words the ARN of a resource of another account, in the operations on policies.
pub(crate) const POLICY_OF_ANOTHER_ACCOUNT: &str = "This action is only supported by accounts that \
     match the resource owner\u{2019}s account.";

/// Words a stream of a table whose policy is asked for and that is not there.
pub(crate) fn labelled_stream_not_found(label: &str, table: &str) -> String {
    format!("Requested resource not found: Stream: {label} not found for Table: {table}")
}

/// Words an index whose insights are asked for and that is not there.
pub(crate) fn insights_of_no_index(index: &str, table: &str) -> String {
    format!("Requested resource not found: Index: {index} not found for table: {table}")
}

pub(crate) const GLOBAL_TABLES_OF_2017: &str = "DynamoDB global tables version 2017.11.29 is not \
     supported. We recommend using DynamoDB global tables version 2019.11.21, instead of version \
     2017.11.29 (Legacy).";

pub(crate) const REPLICA_IN_THE_LOCAL_REGION: &str = "Cannot add or delete the local region through \
     ReplicaUpdates. Use CreateTable, DeleteTable, or UpdateTable as required.";

pub(crate) fn no_global_table(name: &str) -> String {
    format!("Global table with name: '{name}' does not exist.")
}

pub(crate) fn settings_replication(mode: &str) -> String {
    format!(
        "Value '{mode}' at 'GlobalTableSettingsReplicationMode' failed to satisfy constraint: Only \
         ENABLED and DISABLED settings replication are supported for a Regional Table."
    )
}
