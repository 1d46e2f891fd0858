//! The part of a schema that only tables of cells have, as maps, and back.
//!
//! Names are part of the format, as in the rest of a schema.

use shelfmark_model::{
    CellIndex, CellIndexTarget, CellsSchema, IndexState, TableName, Value, ViewPart, ViewSchema,
};

use super::key_type::{key_type_from_text, key_type_to_text};
use super::record::{damaged, number, unsigned};
use super::schema_codec::{Map, each, list, map, text};
use crate::error::Result;

pub(super) fn cells_to_map(cells: &CellsSchema) -> Map {
    let mut map = map([
        ("attachment", Value::Bytes(cells.attachment.clone())),
        ("indexes", list(&cells.indexes, index_to_map)),
        ("views", list(&cells.views, name_to_map)),
        ("dropped_columns", Value::Bool(cells.has_dropped_columns)),
    ]);
    if let Some(view) = &cells.view_of {
        map.insert("view_of".to_owned(), Value::Map(view_to_map(view)));
    }
    map
}

pub(super) fn cells_from_map(map: &Map) -> Result<CellsSchema> {
    let Some(Value::Bytes(attachment)) = map.get("attachment") else { return Err(damaged()) };
    Ok(CellsSchema {
        attachment: attachment.clone(),
        indexes: each(map.get("indexes"), index_from_map)?,
        views: each(map.get("views"), name_from_map)?,
        view_of: match map.get("view_of") {
            Some(Value::Map(view)) => Some(view_from_map(view)?),
            None => None,
            Some(_) => return Err(damaged()),
        },
        has_dropped_columns: map.get("dropped_columns") == Some(&Value::Bool(true)),
    })
}

fn name_to_map(name: &TableName) -> Map {
    map([("namespace", name.namespace.as_str().into()), ("name", name.name.as_str().into())])
}

fn name_from_map(map: &Map) -> Result<TableName> {
    Ok(TableName::new(text(map.get("namespace"))?, text(map.get("name"))?))
}

fn index_to_map(index: &CellIndex) -> Map {
    let (target, at) = match index.target {
        CellIndexTarget::Column(at) => ("column", at),
        CellIndexTarget::Keys(at) => ("keys", at),
        CellIndexTarget::Values(at) => ("values", at),
        CellIndexTarget::Entries(at) => ("entries", at),
        CellIndexTarget::PartitionColumn(at) => ("partition", at),
        CellIndexTarget::SortColumn(at) => ("sort", at),
    };
    let terms = index.terms.iter().map(|term| key_type_to_text(term).into()).collect();
    map([
        ("name", index.name.as_str().into()),
        ("target", target.into()),
        ("at", number(u64::from(at))),
        ("terms", Value::List(terms)),
        ("state", state_to_text(index.state).into()),
    ])
}

fn index_from_map(map: &Map) -> Result<CellIndex> {
    let at = narrow(map.get("at"))?;
    let Some(Value::List(terms)) = map.get("terms") else { return Err(damaged()) };
    Ok(CellIndex {
        name: text(map.get("name"))?.to_owned(),
        target: match text(map.get("target"))? {
            "column" => CellIndexTarget::Column(at),
            "keys" => CellIndexTarget::Keys(at),
            "values" => CellIndexTarget::Values(at),
            "entries" => CellIndexTarget::Entries(at),
            "partition" => CellIndexTarget::PartitionColumn(at),
            "sort" => CellIndexTarget::SortColumn(at),
            _ => return Err(damaged()),
        },
        terms: terms
            .iter()
            .map(|term| key_type_from_text(text(Some(term))?))
            .collect::<Result<_>>()?,
        state: state_from_text(text(map.get("state"))?)?,
    })
}

fn view_to_map(view: &ViewSchema) -> Map {
    let mut map = map([
        ("base", Value::Map(name_to_map(&view.base))),
        ("partition", list(&view.partition, part_to_map)),
        ("sort", list(&view.sort, part_to_map)),
        ("state", state_to_text(view.state).into()),
    ]);
    if let Some(columns) = &view.columns {
        let columns = columns.iter().map(|id| number(u64::from(*id))).collect();
        map.insert("columns".to_owned(), Value::List(columns));
    }
    map
}

fn view_from_map(map: &Map) -> Result<ViewSchema> {
    let Some(Value::Map(base)) = map.get("base") else { return Err(damaged()) };
    Ok(ViewSchema {
        base: name_from_map(base)?,
        partition: each(map.get("partition"), part_from_map)?,
        sort: each(map.get("sort"), part_from_map)?,
        columns: match map.get("columns") {
            Some(Value::List(columns)) => {
                Some(columns.iter().map(|id| narrow(Some(id))).collect::<Result<_>>()?)
            }
            None => None,
            Some(_) => return Err(damaged()),
        },
        state: state_from_text(text(map.get("state"))?)?,
    })
}

fn part_to_map(part: &ViewPart) -> Map {
    let (source, at) = match part {
        ViewPart::PartitionColumn(at) => ("partition", *at),
        ViewPart::SortColumn(at) => ("sort", *at),
        ViewPart::Column(at) => ("column", *at),
    };
    map([("source", source.into()), ("at", number(u64::from(at)))])
}

fn part_from_map(map: &Map) -> Result<ViewPart> {
    let at = narrow(map.get("at"))?;
    match text(map.get("source"))? {
        "partition" => Ok(ViewPart::PartitionColumn(at)),
        "sort" => Ok(ViewPart::SortColumn(at)),
        "column" => Ok(ViewPart::Column(at)),
        _ => Err(damaged()),
    }
}

fn narrow(value: Option<&Value>) -> Result<u32> {
    u32::try_from(unsigned(value)?).map_err(|_| damaged())
}

pub(super) fn state_to_text(state: IndexState) -> &'static str {
    match state {
        IndexState::Building => "building",
        IndexState::Public => "public",
        IndexState::Dropping => "dropping",
    }
}

pub(super) fn state_from_text(text: &str) -> Result<IndexState> {
    match text {
        "building" => Ok(IndexState::Building),
        "public" => Ok(IndexState::Public),
        "dropping" => Ok(IndexState::Dropping),
        _ => Err(damaged()),
    }
}
