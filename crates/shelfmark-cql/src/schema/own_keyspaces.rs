//! The keyspaces that are the server's own, by name.

/// Returns true if Cassandra computes the tables of this keyspace, too.
pub(crate) fn is_virtual(keyspace: &str) -> bool {
    matches!(keyspace, "system_virtual_schema" | "system_views")
}

/// Returns true if a keyspace is the server's own.
pub(crate) fn is_system(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "system_schema"
            | "system_auth"
            | "system_traces"
            | "system_virtual_schema"
            | "system_views"
            | "system_distributed"
    )
}
