//! The structure `TableDescription`.

use std::collections::BTreeSet;

use shelfmark_engine::{Engine, Scan, Table};
use shelfmark_model::{IndexSchema, IndexState, KeyColumn, Projected, SortColumn};

use crate::errors::Result;
use crate::face::Face;
use crate::json::Writer;
use crate::limits::PAGE_SIZE_BYTES_MAX;
use crate::table::{Billing, IndexMeta, Meta, Throughput, index_arn, key_letter, table_arn};

/// How many items a table has, and how large they are together.
///
/// Exact for tables up to one page; of larger ones it is what the first page holds. AWS refreshes
/// its figures every six hours, so nobody can rely on them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    items: usize,
    bytes: u64,
}

impl Size {
    /// Measures a table. Cost: one page.
    pub(crate) fn of(engine: &Engine, table: &Table) -> Result<Self> {
        let bytes_max = Some(PAGE_SIZE_BYTES_MAX);
        let scan = Scan { count_only: true, bytes_max, ..Scan::default() };
        let page = engine.scan(table, &scan)?;
        Ok(Self { items: page.count, bytes: page.report.bytes_read() })
    }
}

/// Writes the description of a table.
pub(crate) fn put(out: &mut Writer, face: &Face, table: &Table, status: &str, size: Size) {
    let schema = &table.schema;
    let meta = Meta::of(table);
    let name = &schema.name.name;
    out.object(|out| {
        put_definitions(out, table);
        out.name("TableName").text(name);
        put_key_schema(out, &schema.partition, &schema.sort);
        out.name("TableStatus").text(status);
        put_seconds(out.name("CreationDateTime"), meta.created_ms);
        put_throughput(out, meta.throughput);
        out.name("TableSizeBytes").integer(i64::try_from(size.bytes).unwrap_or(i64::MAX));
        out.name("ItemCount").count(size.items);
        out.name("TableArn").text(&table_arn(&face.options, name));
        out.name("TableId").text(&meta.id);
        if meta.billing == Billing::PayPerRequest {
            out.name("BillingModeSummary").object(|out| {
                out.name("BillingMode").text(meta.billing.name());
                put_seconds(out.name("LastUpdateToPayPerRequestDateTime"), meta.created_ms);
            });
        }
        put_indexes(out, face, table, &meta, true, status);
        put_indexes(out, face, table, &meta, false, status);
        put_on_demand(out, meta.on_demand);
        if let Some(class) = &meta.table_class {
            out.name("TableClassSummary").object(|out| out.name("TableClass").text(class));
        }
        out.name("DeletionProtectionEnabled").boolean(meta.deletion_protection);
    });
}

/// Writes a moment as seconds since the Unix epoch, with milliseconds behind the point.
pub(crate) fn put_seconds(out: &mut Writer, milliseconds: i64) {
    let (seconds, rest) = (milliseconds.div_euclid(1_000), milliseconds.rem_euclid(1_000));
    out.number_text(&format!("{seconds}.{rest:03}"));
}

fn put_definitions(out: &mut Writer, table: &Table) {
    let schema = &table.schema;
    let partitions = schema.indexes.iter().flat_map(|index| &index.partition);
    let sorts = schema.indexes.iter().flat_map(|index| &index.sort);
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

fn put_key_schema(out: &mut Writer, partition: &[KeyColumn], sort: &[SortColumn]) {
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

fn put_indexes(
    out: &mut Writer,
    face: &Face,
    table: &Table,
    meta: &Meta,
    local: bool,
    table_status: &str,
) {
    let mut indexes =
        table.schema.indexes.iter().filter(|index| meta.is_local(&index.name) == local).peekable();
    if indexes.peek().is_none() {
        return;
    }
    let member = if local { "LocalSecondaryIndexes" } else { "GlobalSecondaryIndexes" };
    out.name(member).list(|out| {
        for index in indexes {
            let own = meta.indexes.get(&index.name).cloned().unwrap_or_default();
            // Indexes that come with their table are as far as it is.
            let status = if table_status == "UPDATING" { "ACTIVE" } else { table_status };
            put_index(out, face, table, index, &own, status);
        }
    });
}

fn put_index(
    out: &mut Writer,
    face: &Face,
    table: &Table,
    index: &IndexSchema,
    meta: &IndexMeta,
    public_status: &str,
) {
    out.object(|out| {
        out.name("IndexName").text(&index.name);
        put_key_schema(out, &index.partition, &index.sort);
        out.name("Projection").object(|out| put_projection(out, &index.projected));
        if !meta.local {
            let status = match index.state {
                IndexState::Building => "CREATING",
                IndexState::Public => public_status,
                IndexState::Dropping => "DELETING",
            };
            out.name("IndexStatus").text(status);
            if index.state == IndexState::Building {
                out.name("Backfilling").boolean(true);
            }
            put_throughput(out, meta.throughput);
        }
        out.name("IndexSizeBytes").integer(0);
        out.name("ItemCount").integer(0);
        let arn = index_arn(&face.options, &table.schema.name.name, &index.name);
        out.name("IndexArn").text(&arn);
    });
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
