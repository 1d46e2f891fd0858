//! Encodes the structure `TableDescription`.

use std::collections::BTreeSet;

use shelfmark_engine::{SavedTable, Table};
use shelfmark_model::{
    ChangeImages, IndexSchema, IndexState, KeyColumn, Projected, SortColumn, TableSchema,
};

use crate::face::Face;
use crate::json::Writer;
use crate::options::FaceOptions;
use crate::sizes::Sizes;
use crate::streams::{stream_arn, view_type_of};
use crate::table::{
    Billing, IndexMeta, Meta, Throughput, VectorIndex, index_arn, key_letter, table_arn,
    vector_indexes,
};

/// A table with its status and sizes, ready to be described.
struct Described<'a> {
    options: &'a FaceOptions,
    table: &'a Table,
    meta: Meta,
    status: &'a str,
    sizes: &'a Sizes,
}

/// Writes the description of a table.
pub(crate) fn put(
    out: &mut Writer,
    options: &FaceOptions,
    table: &Table,
    status: &str,
    sizes: &Sizes,
) {
    let schema = &table.schema;
    let described = Described { options, table, meta: Meta::of(table), status, sizes };
    let meta = &described.meta;
    let name = &schema.name.name;
    out.object(|out| {
        put_definitions(out, table);
        out.name("TableName").text(name);
        put_key_schema(out, &schema.partition, &schema.sort);
        out.name("TableStatus").text(status);
        put_seconds(out.name("CreationDateTime"), meta.created_ms);
        put_throughput(out, meta.throughput);
        sizes.table.put(out, "TableSizeBytes");
        out.name("TableArn").text(&table_arn(options, name));
        out.name("TableId").text(&meta.id);
        put_billing(out, meta);
        put_indexes(out, &described, true);
        put_indexes(out, &described, false);
        put_vectors(out, &described);
        put_stream(out, &described);
        put_restored(out, &described);
        put_encryption(out, meta);
        put_on_demand(out, meta.on_demand);
        put_warm(out, meta.warm_now());
        put_class(out, meta);
        out.name("DeletionProtectionEnabled").boolean(meta.deletion_protection);
        if let Some(mode) = &meta.settings_replication {
            out.name("GlobalTableSettingsReplicationMode").text(mode);
        }
    });
}

/// Writes the description of a table that is deleted: what it was made of is not among it.
pub(crate) fn put_deleted(out: &mut Writer, face: &Face, table: &Table, sizes: &Sizes) {
    let meta = Meta::of(table);
    let options = &face.options;
    let described = Described { options, table, meta, status: "DELETING", sizes };
    let (meta, name) = (&described.meta, &table.schema.name.name);
    out.object(|out| {
        out.name("TableName").text(name);
        out.name("TableStatus").text(described.status);
        put_throughput(out, meta.throughput);
        sizes.table.put(out, "TableSizeBytes");
        out.name("TableArn").text(&table_arn(options, name));
        out.name("TableId").text(&meta.id);
        put_billing(out, meta);
        put_stream(out, &described);
        put_class(out, meta);
        out.name("DeletionProtectionEnabled").boolean(meta.deletion_protection);
    });
}

/// Writes the class of a table that was ever given one, and when it changed last.
fn put_class(out: &mut Writer, meta: &Meta) {
    let Some(class) = &meta.table_class else { return };
    out.name("TableClassSummary").object(|out| {
        out.name("TableClass").text(class);
        if meta.table_class_ms > 0 {
            put_seconds(out.name("LastUpdateDateTime"), meta.table_class_ms);
        }
    });
}

/// Writes the stream of a table, and which one was its latest if it is off.
fn put_stream(out: &mut Writer, described: &Described<'_>) {
    let schema = &described.table.schema;
    if let Some(stream) = &schema.options.stream {
        out.name("StreamSpecification").object(|out| put_stream_settings(out, stream.images));
    }
    if let Some(label) = &described.meta.latest_stream {
        let arn = stream_arn(described.options, &schema.name.name, label);
        out.name("LatestStreamArn").text(&arn);
        out.name("LatestStreamLabel").text(label);
    }
}

fn put_stream_settings(out: &mut Writer, images: ChangeImages) {
    out.name("StreamEnabled").boolean(true);
    out.name("StreamViewType").text(view_type_of(images));
}

/// Writes what a table is restored from, or was.
fn put_restored(out: &mut Writer, described: &Described<'_>) {
    let Some(restored) = &described.meta.restored else { return };
    out.name("RestoreSummary").object(|out| {
        if let Some(arn) = &restored.backup_arn {
            out.name("SourceBackupArn").text(arn);
        }
        out.name("SourceTableArn").text(&restored.table_arn);
        put_seconds(out.name("RestoreDateTime"), restored.at_ms);
        out.name("RestoreInProgress").boolean(described.status == "CREATING");
    });
}

/// Writes `SourceTableDetails` of a backup: the table as it was. `size` is items and bytes.
pub(crate) fn put_source(out: &mut Writer, face: &Face, schema: &TableSchema, size: (u64, u64)) {
    let meta = Meta::read(&schema.options.face);
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    out.name("TableName").text(&schema.name.name);
    out.name("TableId").text(&meta.id);
    out.name("TableArn").text(&table_arn(&face.options, &schema.name.name));
    out.name("TableSizeBytes").integer(whole(size.1));
    put_key_schema(out, &schema.partition, &schema.sort);
    put_seconds(out.name("TableCreationDateTime"), meta.created_ms);
    put_units(out, meta.throughput);
    put_on_demand(out, meta.on_demand);
    out.name("ItemCount").integer(whole(size.0));
    out.name("BillingMode").text(meta.billing.name());
}

/// Writes `TableCreationParameters` of an import.
pub(crate) fn put_parameters(out: &mut Writer, schema: &TableSchema) {
    let meta = Meta::read(&schema.options.face);
    out.name("TableName").text(&schema.name.name);
    put_schema_definitions(out, schema);
    put_key_schema(out, &schema.partition, &schema.sort);
    out.name("BillingMode").text(meta.billing.name());
    if meta.billing == Billing::Provisioned {
        put_units(out, meta.throughput);
    }
    put_on_demand(out, meta.on_demand);
    put_index_infos(out, schema, &meta, false, |out, own| {
        if own.throughput != Throughput::default() {
            put_units(out, own.throughput);
        }
        put_on_demand(out, own.on_demand);
    });
}

/// Writes `SourceTableFeatureDetails` of a backup: indexes, stream, encryption and time to live as they were.
pub(crate) fn put_features(out: &mut Writer, saved: &SavedTable) {
    let schema = &saved.schema;
    let meta = Meta::read(&schema.options.face);
    put_index_infos(out, schema, &meta, true, |_, _| ());
    // Of a table that is paid per request both units are zero, as in its description.
    put_index_infos(out, schema, &meta, false, |out, own| {
        put_units(out, own.throughput);
        put_on_demand(out, own.on_demand);
    });
    put_vector_infos(out, &meta);
    if let Some(images) = saved.streamed {
        out.name("StreamDescription").object(|out| put_stream_settings(out, images));
    }
    put_encryption(out, &meta);
    if let Some(attribute) = &saved.expires_by {
        out.name("TimeToLiveDescription").object(|out| {
            out.name("TimeToLiveStatus").text("ENABLED");
            out.name("AttributeName").text(attribute);
        });
    }
}

/// Writes the indexes of a schema that are local, or those that are global, each with what `put_own`
/// writes of its settings.
fn put_index_infos(
    out: &mut Writer,
    schema: &TableSchema,
    meta: &Meta,
    local: bool,
    put_own: impl Fn(&mut Writer, &IndexMeta),
) {
    let is_meant = |index: &&IndexSchema| meta.is_local(&index.name) == local;
    let mut indexes = schema.indexes.iter().filter(is_meant).peekable();
    if indexes.peek().is_none() {
        return;
    }
    let member = if local { "LocalSecondaryIndexes" } else { "GlobalSecondaryIndexes" };
    out.name(member).list(|out| {
        for index in indexes {
            out.object(|out| {
                out.name("IndexName").text(&index.name);
                put_key_schema(out, &index.partition, &index.sort);
                out.name("Projection").object(|out| put_projection(out, &index.projected));
                let own = meta.indexes.get(&index.name).cloned().unwrap_or_default();
                put_own(out, &own);
            });
        }
    });
}

fn put_units(out: &mut Writer, throughput: Throughput) {
    out.name("ProvisionedThroughput").object(|out| {
        out.name("ReadCapacityUnits").integer(throughput.read);
        out.name("WriteCapacityUnits").integer(throughput.write);
    });
}

/// Writes the billing mode of a table, unless it has always been provisioned.
fn put_billing(out: &mut Writer, meta: &Meta) {
    // Records of builds that did not remember the moment of the change.
    let since = match (meta.billing, meta.per_request_ms) {
        (Billing::Provisioned, 0) => return,
        (Billing::PayPerRequest, 0) => meta.created_ms,
        (_, since) => since,
    };
    out.name("BillingModeSummary").object(|out| {
        out.name("BillingMode").text(meta.billing.name());
        put_seconds(out.name("LastUpdateToPayPerRequestDateTime"), since);
    });
}

/// Writes a time as seconds since the Unix epoch, with milliseconds behind the point.
pub(crate) fn put_seconds(out: &mut Writer, milliseconds: i64) {
    let (seconds, rest) = (milliseconds.div_euclid(1_000), milliseconds.rem_euclid(1_000));
    out.number_text(&format!("{seconds}.{rest:03}"));
}

/// Writes what was asked for encryption; the server's files are as its folder's disk keeps them.
fn put_encryption(out: &mut Writer, meta: &Meta) {
    let Some(key) = &meta.encryption_key else { return };
    out.name("SSEDescription").object(|out| {
        out.name("Status").text("ENABLED");
        out.name("SSEType").text("KMS");
        out.name("KMSMasterKeyArn").text(key);
    });
}

/// Writes the warm throughput of a table or index, which is available at once.
fn put_warm(out: &mut Writer, warm: Throughput) {
    out.name("WarmThroughput").object(|out| {
        out.name("ReadUnitsPerSecond").integer(warm.read);
        out.name("WriteUnitsPerSecond").integer(warm.write);
        out.name("Status").text("ACTIVE");
    });
}

fn put_definitions(out: &mut Writer, table: &Table) {
    put_schema_definitions(out, &table.schema);
}

fn put_schema_definitions(out: &mut Writer, schema: &TableSchema) {
    let partitions = schema.indexes.iter().flat_map(|index| &index.partition);
    let sorts = schema.indexes.iter().flat_map(|index| &index.sort);
    let vectors = vector_indexes(schema);
    let searched = vectors.values().flat_map(|index| &index.schema);
    let searched = searched.map(|own| (own.name.as_str(), own.letter.as_str()));
    let columns: BTreeSet<(&str, &str)> = schema
        .partition
        .iter()
        .chain(partitions)
        .map(|column| (column.name.as_str(), key_letter(&column.key_type)))
        .chain(
            schema
                .sort
                .iter()
                .chain(sorts)
                .map(|column| (column.name.as_str(), key_letter(&column.key_type))),
        )
        .chain(searched)
        .collect();
    out.name("AttributeDefinitions").list(|out| {
        for (name, letter) in columns {
            out.object(|out| {
                out.name("AttributeName").text(name);
                out.name("AttributeType").text(letter);
            });
        }
    });
}

/// Writes a key as `KeySchema`.
pub(crate) fn put_key_schema(out: &mut Writer, partition: &[KeyColumn], sort: &[SortColumn]) {
    let hash = partition.iter().map(|column| (&column.name, "HASH"));
    let range = sort.iter().map(|column| (&column.name, "RANGE"));
    out.name("KeySchema").list(|out| {
        for (name, key_type) in hash.chain(range) {
            out.object(|out| {
                out.name("AttributeName").text(name);
                out.name("KeyType").text(key_type);
            });
        }
    });
}

fn put_throughput(out: &mut Writer, throughput: Throughput) {
    out.name("ProvisionedThroughput").object(|out| {
        out.name("NumberOfDecreasesToday").integer(0);
        out.name("ReadCapacityUnits").integer(throughput.read);
        out.name("WriteCapacityUnits").integer(throughput.write);
    });
}

fn put_on_demand(out: &mut Writer, caps: Throughput) {
    if caps == Throughput::default() {
        return;
    }
    out.name("OnDemandThroughput").object(|out| {
        for (name, value) in
            [("MaxReadRequestUnits", caps.read), ("MaxWriteRequestUnits", caps.write)]
        {
            if value != 0 {
                out.name(name).integer(value);
            }
        }
    });
}

fn put_indexes(out: &mut Writer, described: &Described<'_>, local: bool) {
    let mut indexes = described
        .table
        .schema
        .indexes
        .iter()
        .filter(|index| described.meta.is_local(&index.name) == local)
        .peekable();
    if indexes.peek().is_none() {
        return;
    }
    let member = if local { "LocalSecondaryIndexes" } else { "GlobalSecondaryIndexes" };
    out.name(member).list(|out| {
        for index in indexes {
            out.object(|out| put_index(out, described, index));
        }
    });
}

fn put_index(out: &mut Writer, described: &Described<'_>, index: &IndexSchema) {
    let meta = described.meta.indexes.get(&index.name).cloned().unwrap_or_default();
    out.name("IndexName").text(&index.name);
    put_key_schema(out, &index.partition, &index.sort);
    out.name("Projection").object(|out| put_projection(out, &index.projected));
    if !meta.local {
        let status = match index.state {
            IndexState::Building => "CREATING",
            IndexState::Public if described.status == "UPDATING" => "ACTIVE",
            // An index that comes with its table is as far as it is.
            IndexState::Public => described.status,
            IndexState::Dropping => "DELETING",
        };
        out.name("IndexStatus").text(status);
        if index.state == IndexState::Building {
            out.name("Backfilling").boolean(true);
        }
        put_throughput(out, meta.throughput);
        put_on_demand(out, meta.on_demand);
        put_warm(out, meta.warm_now(described.meta.billing));
    }
    let size = described.sizes.indexes.get(&index.name).copied().unwrap_or_default();
    size.put(out, "IndexSizeBytes");
    let table = &described.table.schema.name.name;
    out.name("IndexArn").text(&index_arn(described.options, table, &index.name));
}

fn put_vectors(out: &mut Writer, described: &Described<'_>) {
    if described.meta.vectors.is_empty() {
        return;
    }
    out.name("VectorIndexes").list(|out| {
        for (name, index) in &described.meta.vectors {
            out.object(|out| put_vector(out, described, name, index));
        }
    });
}

/// Writes the vector indexes of a schema as they were created.
fn put_vector_infos(out: &mut Writer, meta: &Meta) {
    if meta.vectors.is_empty() {
        return;
    }
    out.name("VectorIndexes").list(|out| {
        for (name, index) in &meta.vectors {
            out.object(|out| {
                out.name("IndexName").text(name);
                put_vector_settings(out, index);
            });
        }
    });
}

fn put_vector(out: &mut Writer, described: &Described<'_>, name: &str, index: &VectorIndex) {
    out.name("IndexName").text(name);
    put_vector_settings(out, index);
    let status = if described.status == "CREATING" { "CREATING" } else { "ACTIVE" };
    out.name("IndexStatus").text(status);
    let size = described.sizes.vectors.get(name).copied().unwrap_or_default();
    size.put(out, "IndexSizeBytes");
    let table = &described.table.schema.name.name;
    out.name("IndexArn").text(&index_arn(described.options, table, name));
}

/// Writes what a vector index was created with.
fn put_vector_settings(out: &mut Writer, index: &VectorIndex) {
    out.name("VectorAttribute").object(|out| out.name("AttributeName").text(&index.attribute));
    if !index.schema.is_empty() {
        out.name("SearchSchema").list(|out| {
            for attribute in &index.schema {
                out.object(|out| {
                    out.name("AttributeName").text(&attribute.name);
                    let role = if attribute.is_hash { "HASH" } else { "INLINE_FILTER" };
                    out.name("SearchSchemaElementType").text(role);
                });
            }
        });
    }
    out.name("Projection").object(|out| put_projection(out, &index.projected));
    let dimensions = i64::try_from(index.dimensions).unwrap_or(i64::MAX);
    out.name("Dimensions").integer(dimensions);
    out.name("DistanceFunction").text(index.distance.name());
}

fn put_projection(out: &mut Writer, projected: &Projected) {
    let (name, names) = match projected {
        Projected::All => ("ALL", None),
        Projected::KeysOnly => ("KEYS_ONLY", None),
        Projected::Include(names) => ("INCLUDE", Some(names)),
    };
    out.name("ProjectionType").text(name);
    if let Some(names) = names {
        out.name("NonKeyAttributes").list(|out| names.iter().for_each(|name| out.text(name)));
    }
}
