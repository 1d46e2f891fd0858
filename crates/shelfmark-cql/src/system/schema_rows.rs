//! The schema as rows.

use bytes::Bytes;

use shelfmark_cql_types::term::MaskArgument;
use shelfmark_cql_types::{CqlType, to_text};

use super::value::Cells;
use super::value::{
    bigint, blob_map, boolean, booleans, bytes, double, int, text, text_map, texts,
};
use crate::schema::{Column, ColumnKind, Keyspace, Schema, Table, TableOptions};

/// Returns the rows of a table of `system_schema`: what is stored.
pub(super) fn stored(name: &str, schema: &Schema, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let keyspaces = chosen(schema, partition).filter(|keyspace| !keyspace.is_virtual);
    match name {
        "keyspaces" => keyspaces.map(keyspace_row).collect(),
        "tables" => keyspaces.flat_map(tables).collect(),
        "columns" => keyspaces.flat_map(columns).collect(),
        "column_masks" => keyspaces.flat_map(column_masks).collect(),
        "dropped_columns" => keyspaces.flat_map(dropped_columns).collect(),
        "views" => keyspaces.flat_map(views).collect(),
        "types" => keyspaces.flat_map(types).collect(),
        "indexes" => keyspaces.flat_map(indexes).collect(),
        "functions" => keyspaces.flat_map(functions).collect(),
        "aggregates" => keyspaces.flat_map(aggregates).collect(),
        // Triggers cannot be made here.
        _ => Vec::new(),
    }
}

/// Returns the rows of a table of `system_virtual_schema`: what is computed.
pub(super) fn computed(name: &str, schema: &Schema, partition: Option<&[Bytes]>) -> Vec<Cells> {
    let keyspaces = chosen(schema, partition).filter(|keyspace| keyspace.is_virtual);
    match name {
        "keyspaces" => {
            keyspaces.map(|keyspace| vec![("keyspace_name", text(&keyspace.name))]).collect()
        }
        "tables" => keyspaces
            .flat_map(|keyspace| keyspace.tables.values())
            .map(|table| {
                let mut row = table_key(table, "table_name");
                row.push(("comment", text(&table.options.comment)));
                row
            })
            .collect(),
        _ => keyspaces.flat_map(columns).collect(),
    }
}

/// Returns the keyspace that is asked for, or all.
fn chosen<'s>(
    schema: &'s Schema,
    partition: Option<&[Bytes]>,
) -> impl Iterator<Item = &'s Keyspace> {
    let wanted = partition.and_then(|key| key.first()).map(|name| name.to_vec());
    let keyspaces = schema.keyspaces.values().map(|keyspace| &**keyspace);
    keyspaces.filter(move |keyspace| {
        wanted.as_ref().is_none_or(|wanted| keyspace.name.as_bytes() == wanted)
    })
}

fn table_key(table: &Table, name: &'static str) -> Cells {
    vec![("keyspace_name", text(&table.keyspace)), (name, text(&table.name))]
}

fn keyspace_row(keyspace: &Keyspace) -> Cells {
    vec![
        ("keyspace_name", text(&keyspace.name)),
        ("durable_writes", boolean(keyspace.durable_writes)),
        ("replication", text_map(&keyspace.replication)),
    ]
}

fn tables(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().filter(|table| !table.is_view()).map(|table| {
        let mut row = table_key(table, "table_name");
        row.push(("flags", texts(&table.flags.names())));
        options(table, &mut row);
        row
    })
}

fn views(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().filter_map(|table| {
        let view = table.view.as_ref()?;
        let mut row = table_key(table, "view_name");
        row.extend([
            ("base_table_id", bytes(&view.base_id)),
            ("base_table_name", text(&view.base)),
            ("include_all_columns", boolean(view.include_all_columns)),
            ("where_clause", text(&view.where_clause)),
        ]);
        options(table, &mut row);
        Some(row)
    })
}

fn options(table: &Table, row: &mut Cells) {
    let TableOptions {
        additional_write_policy,
        allow_auto_snapshot,
        bloom_filter_fp_chance,
        caching,
        cdc,
        comment,
        compaction,
        compression,
        memtable,
        crc_check_chance,
        default_time_to_live,
        extensions,
        gc_grace_seconds,
        incremental_backups,
        max_index_interval,
        memtable_flush_period_in_ms,
        min_index_interval,
        read_repair,
        // Ours: drivers know no such column.
        share: _,
        speculative_retry,
    } = &table.options;
    let extensions: Vec<(&str, &[u8])> =
        extensions.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    row.extend([
        ("id", bytes(&table.id)),
        ("additional_write_policy", text(additional_write_policy)),
        ("bloom_filter_fp_chance", double(*bloom_filter_fp_chance)),
        ("caching", text_map(caching)),
        ("comment", text(comment)),
        ("compaction", text_map(compaction)),
        ("compression", text_map(compression)),
        ("crc_check_chance", double(*crc_check_chance)),
        ("dclocal_read_repair_chance", double(0.0)),
        ("default_time_to_live", int(*default_time_to_live)),
        ("extensions", blob_map(&extensions)),
        ("gc_grace_seconds", int(*gc_grace_seconds)),
        ("max_index_interval", int(*max_index_interval)),
        ("memtable_flush_period_in_ms", int(*memtable_flush_period_in_ms)),
        ("min_index_interval", int(*min_index_interval)),
        ("read_repair", text(read_repair)),
        ("read_repair_chance", double(0.0)),
        ("speculative_retry", text(speculative_retry)),
    ]);
    // Said where it is not the default, as in Cassandra.
    let said = [
        ("allow_auto_snapshot", allow_auto_snapshot),
        ("incremental_backups", incremental_backups),
    ];
    row.extend(said.into_iter().filter(|(_, own)| !**own).map(|(name, own)| (name, boolean(*own))));
    if let Some(cdc) = cdc {
        row.push(("cdc", boolean(*cdc)));
    }
    // Tables with the only memtable there is say nothing, as in Cassandra.
    if memtable != "default" {
        row.push(("memtable", text(memtable)));
    }
}

fn columns(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().flat_map(|table| {
        let mut sorted: Vec<&Column> = table.columns.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        sorted.into_iter().map(|column| {
            let order = match (column.role, column.descending) {
                (ColumnKind::Clustering, true) => "desc",
                (ColumnKind::Clustering, false) => "asc",
                (ColumnKind::PartitionKey | ColumnKind::Static | ColumnKind::Regular, _) => "none",
            };
            let mut row = table_key(table, "table_name");
            row.extend([
                ("column_name", text(&column.name)),
                ("clustering_order", text(order)),
                ("column_name_bytes", bytes(column.name.as_bytes())),
                ("kind", text(column.role.name())),
                ("position", int(column.position())),
                ("type", text(&column.kind.to_string())),
            ]);
            row
        })
    })
}

fn column_masks(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().flat_map(|table| {
        let mut sorted: Vec<&Column> = table.columns.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        sorted.into_iter().filter_map(|column| {
            let mask = column.mask.as_ref()?;
            let arguments = || mask.arguments.iter();
            let kinds: Vec<String> = arguments().map(|own| own.ty.to_string()).collect();
            let value = |own: &MaskArgument| {
                own.value.as_ref().map_or_else(String::new, |value| to_text(&own.ty, value))
            };
            let values: Vec<String> = arguments().map(value).collect();
            let mut row = table_key(table, "table_name");
            row.extend([
                ("column_name", text(&column.name)),
                ("function_keyspace", text(mask.keyspace.as_deref().unwrap_or("system"))),
                ("function_name", text(&mask.function)),
                ("function_argument_types", texts(&kinds)),
                ("function_argument_values", texts(&values)),
                ("function_argument_nulls", booleans(arguments().map(|own| own.value.is_none()))),
            ]);
            Some(row)
        })
    })
}

fn dropped_columns(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().flat_map(|table| {
        let mut sorted: Vec<_> = table.dropped.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        sorted.into_iter().map(|column| {
            let mut row = table_key(table, "table_name");
            row.extend([
                ("column_name", text(&column.name)),
                ("dropped_time", bigint(column.dropped_at / 1_000)),
                ("kind", text(column.role.name())),
                ("type", text(&column.kind.to_string())),
            ]);
            row
        })
    })
}

fn types(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.types.values().map(|kind| {
        let names: Vec<&str> = kind.fields.iter().map(|(name, _)| &**name).collect();
        let kinds: Vec<String> = kind.fields.iter().map(|(_, kind)| kind.to_string()).collect();
        vec![
            ("keyspace_name", text(&kind.keyspace)),
            ("type_name", text(&kind.name)),
            ("field_names", texts(&names)),
            ("field_types", texts(&kinds)),
        ]
    })
}

/// Returns the text of a type of a function: tuples say that they are frozen.
fn type_text(ty: &CqlType) -> String {
    match ty {
        CqlType::Tuple(_) => ty.to_string(),
        other => crate::user_function::shown(other),
    }
}

fn type_texts<'t>(types: impl Iterator<Item = &'t CqlType>) -> Bytes {
    texts(&types.map(type_text).collect::<Vec<_>>())
}

fn functions(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.functions.iter().map(|own| {
        let names: Vec<&str> = own.arguments.iter().map(|(name, _)| &**name).collect();
        vec![
            ("keyspace_name", text(&own.keyspace)),
            ("function_name", text(&own.name)),
            ("argument_types", type_texts(own.arguments.iter().map(|(_, ty)| ty))),
            ("argument_names", texts(&names)),
            ("body", text(&own.body)),
            ("called_on_null_input", boolean(own.called_on_null)),
            ("language", text(&own.language)),
            ("return_type", text(&type_text(&own.returns))),
        ]
    })
}

fn aggregates(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.aggregates.iter().map(|own| {
        let mut row = vec![
            ("keyspace_name", text(&own.keyspace)),
            ("aggregate_name", text(&own.name)),
            ("argument_types", type_texts(own.arguments.iter())),
            ("return_type", text(&type_text(&own.returns))),
            ("state_func", text(&own.state_function)),
            ("state_type", text(&type_text(&own.state_type))),
        ];
        row.extend(own.final_function.as_ref().map(|last| ("final_func", text(last))));
        row.extend(own.initial_text().map(|initial| ("initcond", text(&initial))));
        row
    })
}

fn indexes(keyspace: &Keyspace) -> impl Iterator<Item = Cells> {
    keyspace.tables.values().flat_map(|table| {
        let mut sorted: Vec<_> = table.indexes.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        sorted.into_iter().map(|index| {
            let mut options = index.options.clone();
            options.push(("target".to_owned(), index.target_text()));
            if let Some(class) = &index.class {
                options.push(("class_name".to_owned(), class.clone()));
            }
            let mut row = table_key(table, "table_name");
            row.extend([
                ("index_name", text(&index.name)),
                ("kind", text(index.kind_name())),
                ("options", text_map(&options)),
            ]);
            row
        })
    })
}
