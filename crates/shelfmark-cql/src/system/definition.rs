//! The definitions of the system tables.

use md5::{Digest as _, Md5};
use shelfmark_cql_types::CqlType;

use crate::schema::{Column, ColumnKind, Table, TableId};

/// The types that system tables use.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Bigint,
    Blob,
    Boolean,
    Double,
    Inet,
    Int,
    Text,
    Timestamp,
    Timeuuid,
    Uuid,
    TextSet,
    TextMap,
    TruncationMap,
    FrozenTextMap,
    FrozenBlobMap,
    FrozenTextSet,
    FrozenTextList,
    FrozenBooleanList,
}

impl Kind {
    fn cql(self) -> CqlType {
        let text_map = || CqlType::map(CqlType::Text, CqlType::Text);
        match self {
            Self::Bigint => CqlType::Bigint,
            Self::Blob => CqlType::Blob,
            Self::Boolean => CqlType::Boolean,
            Self::Double => CqlType::Double,
            Self::Inet => CqlType::Inet,
            Self::Int => CqlType::Int,
            Self::Text => CqlType::Text,
            Self::Timestamp => CqlType::Timestamp,
            Self::Timeuuid => CqlType::Timeuuid,
            Self::Uuid => CqlType::Uuid,
            Self::TextSet => CqlType::set(CqlType::Text),
            Self::TextMap => text_map(),
            Self::TruncationMap => CqlType::map(CqlType::Uuid, CqlType::Blob),
            Self::FrozenTextMap => text_map().freeze(),
            Self::FrozenBlobMap => CqlType::map(CqlType::Text, CqlType::Blob).freeze(),
            Self::FrozenTextSet => CqlType::set(CqlType::Text).freeze(),
            Self::FrozenTextList => CqlType::list(CqlType::Text).freeze(),
            Self::FrozenBooleanList => CqlType::list(CqlType::Boolean).freeze(),
        }
    }
}

type Columns = &'static [(&'static str, Kind)];

/// A system table.
#[derive(Debug)]
pub(super) struct Definition {
    keyspace: &'static str,
    name: &'static str,
    /// Partition key.
    key: Columns,
    /// Clustering key, ascending.
    clustering: Columns,
    /// The other columns, in any order.
    others: &'static [Columns],
    comment: &'static str,
}

impl Definition {
    /// Returns the table.
    pub(super) fn table(&self) -> Table {
        let part = |columns: Columns, role| {
            columns.iter().map(move |(name, kind)| Column::new(name, kind.cql(), role))
        };
        let mut columns: Vec<Column> = part(self.key, ColumnKind::PartitionKey).collect();
        columns.extend(part(self.clustering, ColumnKind::Clustering));
        let mut others: Vec<Column> = Vec::new();
        for group in self.others {
            others.extend(part(group, ColumnKind::Regular));
        }
        others.sort_by(|a, b| a.name.cmp(&b.name));
        columns.extend(others);
        for (id, column) in (0..).zip(&mut columns) {
            column.id = id;
        }
        Table::new_virtual(
            self.keyspace,
            self.name,
            id(self.keyspace, self.name),
            columns,
            self.comment,
        )
    }
}

/// Returns the id of a system table: the hash of its name, as Cassandra takes it.
pub(super) fn id(keyspace: &str, name: &str) -> TableId {
    let mut id: TableId = Md5::new().chain_update(keyspace).chain_update(name).finalize().into();
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut id;
    *version = *version & 0x0F | 0x30;
    *variant = *variant & 0x3F | 0x80;
    id
}

use Kind::{
    Bigint, Blob, Boolean, Double, FrozenBlobMap, FrozenBooleanList, FrozenTextList, FrozenTextMap,
    FrozenTextSet, Inet, Int, Text, TextMap, TextSet, Timestamp, Timeuuid, TruncationMap, Uuid,
};

const KEYSPACE: Columns = &[("keyspace_name", Text)];

const COLUMN: Columns = &[
    ("clustering_order", Text),
    ("column_name_bytes", Blob),
    ("kind", Text),
    ("position", Int),
    ("type", Text),
];

/// The options that tables and views share.
const OPTIONS: Columns = &[
    ("additional_write_policy", Text),
    ("allow_auto_snapshot", Boolean),
    ("bloom_filter_fp_chance", Double),
    ("caching", FrozenTextMap),
    ("cdc", Boolean),
    ("comment", Text),
    ("compaction", FrozenTextMap),
    ("compression", FrozenTextMap),
    ("crc_check_chance", Double),
    ("dclocal_read_repair_chance", Double),
    ("default_time_to_live", Int),
    ("extensions", FrozenBlobMap),
    ("gc_grace_seconds", Int),
    ("id", Uuid),
    ("incremental_backups", Boolean),
    ("max_index_interval", Int),
    ("memtable", Text),
    ("memtable_flush_period_in_ms", Int),
    ("min_index_interval", Int),
    ("read_repair", Text),
    ("read_repair_chance", Double),
    ("speculative_retry", Text),
];

/// Every system table.
pub(super) const ALL: &[Definition] = &[
    Definition {
        keyspace: "system",
        name: "local",
        key: &[("key", Text)],
        clustering: &[],
        others: &[&[
            ("bootstrapped", Text),
            ("broadcast_address", Inet),
            ("broadcast_port", Int),
            ("cluster_name", Text),
            ("cql_version", Text),
            ("data_center", Text),
            ("gossip_generation", Int),
            ("host_id", Uuid),
            ("listen_address", Inet),
            ("listen_port", Int),
            ("native_protocol_version", Text),
            ("partitioner", Text),
            ("rack", Text),
            ("release_version", Text),
            ("rpc_address", Inet),
            ("rpc_port", Int),
            ("schema_version", Uuid),
            ("tokens", TextSet),
            ("truncated_at", TruncationMap),
        ]],
        comment: "information about the local node",
    },
    Definition {
        keyspace: "system",
        name: "peers",
        key: &[("peer", Inet)],
        clustering: &[],
        others: &[&[
            ("data_center", Text),
            ("host_id", Uuid),
            ("preferred_ip", Inet),
            ("rack", Text),
            ("release_version", Text),
            ("rpc_address", Inet),
            ("schema_version", Uuid),
            ("tokens", TextSet),
        ]],
        comment: "information about known peers in the cluster",
    },
    Definition {
        keyspace: "system",
        name: "peers_v2",
        key: &[("peer", Inet)],
        clustering: &[("peer_port", Int)],
        others: &[&[
            ("data_center", Text),
            ("host_id", Uuid),
            ("native_address", Inet),
            ("native_port", Int),
            ("preferred_ip", Inet),
            ("preferred_port", Int),
            ("rack", Text),
            ("release_version", Text),
            ("schema_version", Uuid),
            ("tokens", TextSet),
        ]],
        comment: "information about known peers in the cluster",
    },
    Definition {
        keyspace: "system",
        name: "built_views",
        key: KEYSPACE,
        clustering: &[("view_name", Text)],
        others: &[&[("status_replicated", Boolean)]],
        comment: "built views",
    },
    Definition {
        keyspace: "system",
        name: "size_estimates",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("range_start", Text), ("range_end", Text)],
        others: &[&[("mean_partition_size", Bigint), ("partitions_count", Bigint)]],
        comment: "per-table primary range size estimates, table is deprecated in favor of table_estimates",
    },
    Definition {
        keyspace: "system",
        name: "prepared_statements",
        key: &[("prepared_id", Blob)],
        clustering: &[],
        others: &[&[("logged_keyspace", Text), ("query_string", Text)]],
        comment: "prepared statements",
    },
    Definition {
        keyspace: "system",
        name: "IndexInfo",
        key: &[("table_name", Text)],
        clustering: &[("index_name", Text)],
        others: &[&[("value", Blob)]],
        comment: "built column indexes",
    },
    Definition {
        keyspace: "system_schema",
        name: "keyspaces",
        key: KEYSPACE,
        clustering: &[],
        others: &[&[("durable_writes", Boolean), ("replication", FrozenTextMap)]],
        comment: "keyspace definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "tables",
        key: KEYSPACE,
        clustering: &[("table_name", Text)],
        others: &[OPTIONS, &[("flags", FrozenTextSet)]],
        comment: "table definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "columns",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("column_name", Text)],
        others: &[COLUMN],
        comment: "column definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "column_masks",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("column_name", Text)],
        others: &[&[
            ("function_argument_nulls", FrozenBooleanList),
            ("function_argument_types", FrozenTextList),
            ("function_argument_values", FrozenTextList),
            ("function_keyspace", Text),
            ("function_name", Text),
        ]],
        comment: "column dynamic data masks",
    },
    Definition {
        keyspace: "system_schema",
        name: "dropped_columns",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("column_name", Text)],
        others: &[&[("dropped_time", Timestamp), ("kind", Text), ("type", Text)]],
        comment: "dropped column registry",
    },
    Definition {
        keyspace: "system_schema",
        name: "triggers",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("trigger_name", Text)],
        others: &[&[("options", FrozenTextMap)]],
        comment: "trigger definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "views",
        key: KEYSPACE,
        clustering: &[("view_name", Text)],
        others: &[
            OPTIONS,
            &[
                ("base_table_id", Uuid),
                ("base_table_name", Text),
                ("include_all_columns", Boolean),
                ("where_clause", Text),
            ],
        ],
        comment: "view definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "types",
        key: KEYSPACE,
        clustering: &[("type_name", Text)],
        others: &[&[("field_names", FrozenTextList), ("field_types", FrozenTextList)]],
        comment: "user defined type definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "functions",
        key: KEYSPACE,
        clustering: &[("function_name", Text), ("argument_types", FrozenTextList)],
        others: &[&[
            ("argument_names", FrozenTextList),
            ("body", Text),
            ("called_on_null_input", Boolean),
            ("language", Text),
            ("return_type", Text),
        ]],
        comment: "user defined function definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "aggregates",
        key: KEYSPACE,
        clustering: &[("aggregate_name", Text), ("argument_types", FrozenTextList)],
        others: &[&[
            ("final_func", Text),
            ("initcond", Text),
            ("return_type", Text),
            ("state_func", Text),
            ("state_type", Text),
        ]],
        comment: "user defined aggregate definitions",
    },
    Definition {
        keyspace: "system_schema",
        name: "indexes",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("index_name", Text)],
        others: &[&[("kind", Text), ("options", FrozenTextMap)]],
        comment: "secondary index definitions",
    },
    Definition {
        keyspace: "system_virtual_schema",
        name: "keyspaces",
        key: KEYSPACE,
        clustering: &[],
        others: &[],
        comment: "virtual keyspace definitions",
    },
    Definition {
        keyspace: "system_virtual_schema",
        name: "tables",
        key: KEYSPACE,
        clustering: &[("table_name", Text)],
        others: &[&[("comment", Text)]],
        comment: "virtual table definitions",
    },
    Definition {
        keyspace: "system_virtual_schema",
        name: "columns",
        key: KEYSPACE,
        clustering: &[("table_name", Text), ("column_name", Text)],
        others: &[COLUMN],
        comment: "virtual column definitions",
    },
    Definition {
        keyspace: "system_auth",
        name: "roles",
        key: &[("role", Text)],
        clustering: &[],
        others: &[&[
            ("can_login", Boolean),
            ("is_superuser", Boolean),
            ("member_of", TextSet),
            ("salted_hash", Text),
        ]],
        comment: "role definitions",
    },
    Definition {
        keyspace: "system_auth",
        name: "role_members",
        key: &[("role", Text)],
        clustering: &[("member", Text)],
        others: &[],
        comment: "role memberships lookup table",
    },
    Definition {
        keyspace: "system_auth",
        name: "role_permissions",
        key: &[("role", Text)],
        clustering: &[("resource", Text)],
        others: &[&[("permissions", TextSet)]],
        comment: "permissions granted to db roles",
    },
    Definition {
        keyspace: "system_traces",
        name: "sessions",
        key: &[("session_id", Uuid)],
        clustering: &[],
        others: &[&[
            ("client", Inet),
            ("command", Text),
            ("coordinator", Inet),
            ("coordinator_port", Int),
            ("duration", Int),
            ("parameters", TextMap),
            ("request", Text),
            ("started_at", Timestamp),
        ]],
        comment: "tracing sessions",
    },
    Definition {
        keyspace: "system_traces",
        name: "events",
        key: &[("session_id", Uuid)],
        clustering: &[("event_id", Timeuuid)],
        others: &[&[
            ("activity", Text),
            ("source", Inet),
            ("source_elapsed", Int),
            ("source_port", Int),
            ("thread", Text),
        ]],
        comment: "tracing events",
    },
];
