//! Schemas as items, and back.
//!
//! Names of members and of enumeration values are part of the format: they may be added to, never
//! changed.

use std::collections::BTreeMap;

use shelfmark_model::{
    Column, ColumnType, Direction, IndexKind, IndexSchema, Item, KeyColumn, Placement, Projected,
    RowKind, SortColumn, TableName, TableOptions, TableSchema, TtlSource, Value,
};

use super::cells_codec::{cells_from_map, cells_to_map, state_from_text, state_to_text};
use super::key_type::{key_type_from_text, key_type_to_text};
use super::record::{damaged, number, unsigned};
use super::streams_codec::{
    history_from_map, history_to_map, shard_from_map, shard_to_map, stream_from_map, stream_to_map,
};
use crate::error::Result;

pub(crate) type Map = BTreeMap<String, Value>;

/// Writes a schema.
pub(crate) fn schema_to_item(schema: &TableSchema) -> Item {
    let item = Item::new()
        .with("namespace", schema.name.namespace.as_str())
        .with("name", schema.name.name.as_str())
        .with("partition", list(&schema.partition, key_column_to_map))
        .with("sort", list(&schema.sort, sort_column_to_map))
        .with(
            "placement",
            match schema.placement {
                Placement::Hashed => "hashed",
                Placement::Ordered => "ordered",
            },
        )
        .with(
            "rows",
            match schema.rows {
                RowKind::Items => "items",
                RowKind::Cells => "cells",
            },
        )
        .with("columns", list(&schema.columns, column_to_map))
        .with("indexes", list(&schema.indexes, index_to_map))
        .with("options", Value::Map(options_to_map(&schema.options)));
    match &schema.cells {
        Some(cells) => item.with("cells", Value::Map(cells_to_map(cells))),
        None => item,
    }
}

/// Reads a schema.
pub(crate) fn schema_from_item(item: &Item) -> Result<TableSchema> {
    let get = |name: &str| item.get(name);
    let Some(Value::Map(options)) = get("options") else { return Err(damaged()) };
    Ok(TableSchema {
        name: TableName::new(text(get("namespace"))?, text(get("name"))?),
        partition: each(get("partition"), key_column_from_map)?,
        sort: each(get("sort"), sort_column_from_map)?,
        placement: match text(get("placement"))? {
            "hashed" => Placement::Hashed,
            "ordered" => Placement::Ordered,
            _ => return Err(damaged()),
        },
        rows: match text(get("rows"))? {
            "items" => RowKind::Items,
            "cells" => RowKind::Cells,
            _ => return Err(damaged()),
        },
        columns: each(get("columns"), column_from_map)?,
        indexes: each(get("indexes"), index_from_map)?,
        options: options_from_map(options)?,
        cells: match get("cells") {
            Some(Value::Map(cells)) => Some(Box::new(cells_from_map(cells)?)),
            None => None,
            Some(_) => return Err(damaged()),
        },
    })
}

pub(crate) fn list<T>(values: &[T], write: impl Fn(&T) -> Map) -> Value {
    Value::List(values.iter().map(|value| Value::Map(write(value))).collect())
}

pub(crate) fn each<T>(value: Option<&Value>, read: impl Fn(&Map) -> Result<T>) -> Result<Vec<T>> {
    let Some(Value::List(values)) = value else { return Err(damaged()) };
    values
        .iter()
        .map(|value| match value {
            Value::Map(map) => read(map),
            _ => Err(damaged()),
        })
        .collect()
}

pub(crate) fn text(value: Option<&Value>) -> Result<&str> {
    value.and_then(Value::as_text).ok_or_else(damaged)
}

pub(crate) fn map<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn key_column_to_map(column: &KeyColumn) -> Map {
    map([
        ("name", column.name.as_str().into()),
        ("type", key_type_to_text(&column.key_type).into()),
    ])
}

fn key_column_from_map(map: &Map) -> Result<KeyColumn> {
    let key_type = key_type_from_text(text(map.get("type"))?)?;
    Ok(KeyColumn::new(text(map.get("name"))?, key_type))
}

fn sort_column_to_map(column: &SortColumn) -> Map {
    map([
        ("name", column.name.as_str().into()),
        ("type", key_type_to_text(&column.key_type).into()),
        ("descending", Value::Bool(column.direction == Direction::Descending)),
    ])
}

fn sort_column_from_map(map: &Map) -> Result<SortColumn> {
    let direction = match map.get("descending") {
        Some(Value::Bool(true)) => Direction::Descending,
        _ => Direction::Ascending,
    };
    let key_type = key_type_from_text(text(map.get("type"))?)?;
    Ok(SortColumn::new(text(map.get("name"))?, key_type, direction))
}

fn column_to_map(column: &Column) -> Map {
    let (kind, types) = match &column.column_type {
        ColumnType::Value(inner) => ("value", vec![inner]),
        ColumnType::List(inner) => ("list", vec![inner]),
        ColumnType::Set(inner) => ("set", vec![inner]),
        ColumnType::Map(key, value) => ("map", vec![key, value]),
        ColumnType::Counter => ("counter", Vec::new()),
    };
    let types = types.into_iter().map(|inner| key_type_to_text(inner).into()).collect();
    map([
        ("name", column.name.as_str().into()),
        ("id", number(u64::from(column.id))),
        ("kind", kind.into()),
        ("types", Value::List(types)),
        ("static", Value::Bool(column.is_static)),
    ])
}

fn column_from_map(map: &Map) -> Result<Column> {
    let Some(Value::List(types)) = map.get("types") else { return Err(damaged()) };
    let inner = |position: usize| key_type_from_text(text(types.get(position))?);
    Ok(Column {
        name: text(map.get("name"))?.to_owned(),
        id: u32::try_from(unsigned(map.get("id"))?).map_err(|_| damaged())?,
        column_type: match text(map.get("kind"))? {
            "value" => ColumnType::Value(inner(0)?),
            "list" => ColumnType::List(inner(0)?),
            "set" => ColumnType::Set(inner(0)?),
            "map" => ColumnType::Map(inner(0)?, inner(1)?),
            "counter" => ColumnType::Counter,
            _ => return Err(damaged()),
        },
        is_static: map.get("static") == Some(&Value::Bool(true)),
    })
}

fn index_to_map(index: &IndexSchema) -> Map {
    let projected = match &index.projected {
        Projected::All => Value::text("all"),
        Projected::KeysOnly => Value::text("keys"),
        Projected::Include(names) => {
            Value::List(names.iter().map(|name| name.as_str().into()).collect())
        }
    };
    map([
        ("name", index.name.as_str().into()),
        ("unique", Value::Bool(index.kind == IndexKind::Unique)),
        ("partition", list(&index.partition, key_column_to_map)),
        ("sort", list(&index.sort, sort_column_to_map)),
        ("projected", projected),
        ("state", state_to_text(index.state).into()),
    ])
}

fn index_from_map(map: &Map) -> Result<IndexSchema> {
    Ok(IndexSchema {
        name: text(map.get("name"))?.to_owned(),
        kind: match map.get("unique") {
            Some(Value::Bool(true)) => IndexKind::Unique,
            _ => IndexKind::Secondary,
        },
        partition: each(map.get("partition"), key_column_from_map)?,
        sort: each(map.get("sort"), sort_column_from_map)?,
        projected: match map.get("projected") {
            Some(Value::List(names)) => Projected::Include(
                names
                    .iter()
                    .map(|name| text(Some(name)).map(str::to_owned))
                    .collect::<Result<_>>()?,
            ),
            Some(Value::Text(text)) if text == "keys" => Projected::KeysOnly,
            _ => Projected::All,
        },
        state: state_from_text(text(map.get("state"))?)?,
    })
}

fn options_to_map(options: &TableOptions) -> Map {
    let mut map = map([
        ("exact_counts", options.exact_counts.into()),
        ("change_log", options.change_log.into()),
        ("strict_index_keys", options.strict_index_keys.into()),
        ("gc_grace_seconds", number(u64::from(options.gc_grace_seconds))),
        ("face", Value::Map(options.face.clone())),
    ]);
    match &options.ttl {
        Some(TtlSource::Attribute(name)) => {
            map.insert("ttl_attribute".to_owned(), name.as_str().into());
        }
        Some(TtlSource::PerItem) => {
            map.insert("ttl_per_item".to_owned(), Value::Bool(true));
        }
        None => {}
    }
    if let Some(stream) = &options.stream {
        map.insert("stream".to_owned(), Value::Map(stream_to_map(stream)));
    }
    if let Some(shard) = &options.stream_shard {
        map.insert("stream_shard".to_owned(), Value::Map(shard_to_map(shard)));
    }
    if let Some(history) = &options.history {
        map.insert("history".to_owned(), Value::Map(history_to_map(history)));
    }
    if options.dormant {
        map.insert("dormant".to_owned(), Value::Bool(true));
    }
    if let Some(pass) = options.ttl_pass {
        map.insert("ttl_pass".to_owned(), number(pass));
    }
    if let Some(items) = options.shard_items_max {
        map.insert("shard_items_max".to_owned(), number(items));
    }
    if let Some(bytes) = options.shard_bytes_max {
        map.insert("shard_bytes_max".to_owned(), number(bytes));
    }
    if let Some(pass) = options.shard_pass {
        map.insert("shard_pass".to_owned(), number(pass));
    }
    if let Some(bytes) = options.item_size_bytes_max {
        map.insert("item_size_bytes_max".to_owned(), number(bytes));
    }
    if let Some(levels) = options.value_depth_max {
        map.insert("value_depth_max".to_owned(), number(levels));
    }
    map
}

fn options_from_map(map: &Map) -> Result<TableOptions> {
    let flag = |name: &str| map.get(name) == Some(&Value::Bool(true));
    let optional = |name: &str| map.get(name).map(|value| unsigned(Some(value))).transpose();
    let ttl = match map.get("ttl_attribute") {
        Some(name) => Some(TtlSource::Attribute(text(Some(name))?.to_owned())),
        None => flag("ttl_per_item").then_some(TtlSource::PerItem),
    };
    let inner = |name: &str| match map.get(name) {
        Some(Value::Map(inner)) => Ok(Some(inner)),
        Some(_) => Err(damaged()),
        None => Ok(None),
    };
    let stream = inner("stream")?.map(stream_from_map).transpose()?.map(Box::new);
    let history = inner("history")?.map(history_from_map).transpose()?.map(Box::new);
    let stream_shard = inner("stream_shard")?.map(shard_from_map).transpose()?.map(Box::new);
    Ok(TableOptions {
        exact_counts: flag("exact_counts"),
        change_log: flag("change_log"),
        stream,
        stream_shard,
        history,
        dormant: flag("dormant"),
        strict_index_keys: flag("strict_index_keys"),
        ttl,
        ttl_pass: optional("ttl_pass")?,
        shard_items_max: optional("shard_items_max")?,
        shard_bytes_max: optional("shard_bytes_max")?,
        shard_pass: optional("shard_pass")?,
        item_size_bytes_max: optional("item_size_bytes_max")?,
        value_depth_max: optional("value_depth_max")?,
        gc_grace_seconds: u32::try_from(unsigned(map.get("gc_grace_seconds"))?)
            .map_err(|_| damaged())?,
        face: match map.get("face") {
            Some(Value::Map(face)) => face.clone(),
            _ => return Err(damaged()),
        },
    })
}
