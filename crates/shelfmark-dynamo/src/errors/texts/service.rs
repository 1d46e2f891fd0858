//! Texts about the service itself, and about what this server does not do.

use std::fmt::Display;

/// Words an unsupported feature; *ours*. Tools look for the words "is not supported".
pub(crate) fn not_supported(what: impl Display) -> String {
    format!("{what} is not supported by this server")
}

/// Source: DynamoDB Local; the service itself sends none.
pub(crate) const UNKNOWN_OPERATION: &str = "An unknown operation was requested.";
pub(crate) const INTERNAL: &str = "The request processing has failed because of an unknown error";
pub(crate) const UNAVAILABLE: &str = "The service cannot take this request at the moment";
/// The text for a store that takes no writes; the reason names files of the server, so it stands in
/// the log alone.
pub(crate) const READ_ONLY: &str = "The service takes no writes at the moment, because its disk is \
     full or a write to it failed: free space on the server or restart it; its log says more";
pub(crate) const BUSY: &str = "The level of configured provisioned throughput for the table was \
     exceeded. Consider increasing your provisioning level with the UpdateTable API.";
