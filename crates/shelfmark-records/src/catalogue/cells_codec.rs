//! The part of a schema that only tables of cells have, as maps, and back.
//!
//! Names are part of the format, as in the rest of a schema.

use bytes::Bytes;
use shelfmark_model::{
    CellIndex, CellIndexTarget, CellsSchema, IndexState, Revived, TableName, TextFold, Value,
    ViewComparison, ViewPart, ViewSchema, ViewTest,
};

use super::key_type::{key_type_from_text, key_type_to_text};
use super::record::{damaged, number, unsigned};
use super::schema_codec::{Map, each, list, map, text};
use crate::error::Result;

pub(crate) fn cells_to_map(cells: &CellsSchema) -> Map {
    let mut map = map([
        ("attachment", Value::Bytes(cells.attachment.clone())),
        ("indexes", list(&cells.indexes, index_to_map)),
        ("views", list(&cells.views, name_to_map)),
        ("dropped_columns", Value::Bool(cells.has_dropped_columns)),
    ]);
    // What few tables have is left out of the others.
    if !cells.revived.is_empty() {
        map.insert("revived".to_owned(), list(&cells.revived, revived_to_map));
    }
    if cells.packs_long_keys {
        map.insert("packs_long_keys".to_owned(), Value::Bool(true));
    }
    if let Some(view) = &cells.view_of {
        map.insert("view_of".to_owned(), Value::Map(view_to_map(view)));
    }
    map
}

pub(crate) fn cells_from_map(map: &Map) -> Result<CellsSchema> {
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
        revived: each_if_any(map.get("revived"), revived_from_map)?,
        packs_long_keys: map.get("packs_long_keys") == Some(&Value::Bool(true)),
    })
}

fn each_if_any<T>(value: Option<&Value>, read: impl Fn(&Map) -> Result<T>) -> Result<Vec<T>> {
    if value.is_none() { Ok(Vec::new()) } else { each(value, read) }
}

fn revived_to_map(own: &Revived) -> Map {
    map([
        ("column", number(u64::from(own.column))),
        ("dropped_at", Value::Int(own.dropped_at_micros)),
    ])
}

fn revived_from_map(map: &Map) -> Result<Revived> {
    let Some(Value::Int(dropped_at_micros)) = map.get("dropped_at") else { return Err(damaged()) };
    Ok(Revived { column: narrow(map.get("column"))?, dropped_at_micros: *dropped_at_micros })
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
    let mut map = map([
        ("name", index.name.as_str().into()),
        ("target", target.into()),
        ("at", number(u64::from(at))),
        ("terms", Value::List(terms)),
        ("state", state_to_text(index.state).into()),
    ]);
    let fold = index.fold;
    let folds =
        [("lower_case", fold.lower_case), ("normalize", fold.normalize), ("ascii", fold.ascii)];
    for (name, _) in folds.into_iter().filter(|(_, is_set)| *is_set) {
        map.insert(name.to_owned(), Value::Bool(true));
    }
    map
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
        fold: TextFold {
            lower_case: map.get("lower_case") == Some(&Value::Bool(true)),
            normalize: map.get("normalize") == Some(&Value::Bool(true)),
            ascii: map.get("ascii") == Some(&Value::Bool(true)),
        },
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
    if !view.tests.is_empty() {
        map.insert("tests".to_owned(), list(&view.tests, test_to_map));
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
        tests: each_if_any(map.get("tests"), test_from_map)?,
        state: state_from_text(text(map.get("state"))?)?,
    })
}

const COMPARISONS: [(&str, ViewComparison); 5] = [
    ("among", ViewComparison::Among),
    ("below", ViewComparison::Below),
    ("up_to", ViewComparison::UpTo),
    ("above", ViewComparison::Above),
    ("from", ViewComparison::From),
];

fn test_to_map(test: &ViewTest) -> Map {
    let comparison = COMPARISONS.iter().find(|(_, own)| *own == test.comparison);
    let tuples = test
        .values
        .iter()
        .map(|tuple| Value::List(tuple.iter().map(|value| Value::Bytes(value.clone())).collect()));
    map([
        ("parts", list(&test.parts, part_to_map)),
        ("comparison", comparison.map_or("", |(name, _)| *name).into()),
        ("values", Value::List(tuples.collect())),
    ])
}

fn test_from_map(map: &Map) -> Result<ViewTest> {
    let name = text(map.get("comparison"))?;
    let comparison = COMPARISONS.iter().find(|(own, _)| *own == name).ok_or_else(damaged)?;
    let Some(Value::List(tuples)) = map.get("values") else { return Err(damaged()) };
    let tuple = |value: &Value| -> Result<Vec<Bytes>> {
        let Value::List(values) = value else { return Err(damaged()) };
        let values = values.iter().map(|value| match value {
            Value::Bytes(bytes) => Ok(bytes.clone()),
            _ => Err(damaged()),
        });
        values.collect()
    };
    Ok(ViewTest {
        parts: each(map.get("parts"), part_from_map)?,
        comparison: comparison.1,
        values: tuples.iter().map(tuple).collect::<Result<_>>()?,
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

pub(crate) fn state_to_text(state: IndexState) -> &'static str {
    match state {
        IndexState::Building => "building",
        IndexState::Public => "public",
        IndexState::Dropping => "dropping",
    }
}

pub(crate) fn state_from_text(text: &str) -> Result<IndexState> {
    match text {
        "building" => Ok(IndexState::Building),
        "public" => Ok(IndexState::Public),
        "dropping" => Ok(IndexState::Dropping),
        _ => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use shelfmark_model::KeyType;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let test = |comparison| ViewTest {
            parts: vec![ViewPart::SortColumn(0), ViewPart::PartitionColumn(1)],
            comparison,
            values: vec![vec![Bytes::from_static(b"a"), Bytes::new()], vec![]],
        };
        let cells = CellsSchema {
            attachment: Bytes::from_static(b"own"),
            indexes: vec![CellIndex {
                name: "i".to_owned(),
                target: CellIndexTarget::Keys(7),
                terms: vec![KeyType::Text],
                fold: TextFold { lower_case: true, normalize: false, ascii: true },
                state: IndexState::Building,
            }],
            views: vec![TableName::new("ks", "v")],
            view_of: Some(ViewSchema {
                base: TableName::new("ks", "t"),
                partition: vec![ViewPart::Column(1)],
                sort: vec![ViewPart::SortColumn(0)],
                columns: Some(vec![3]),
                tests: COMPARISONS.iter().map(|(_, comparison)| test(*comparison)).collect(),
                state: IndexState::Public,
            }),
            has_dropped_columns: true,
            revived: vec![Revived { column: 4, dropped_at_micros: -5 }],
            packs_long_keys: true,
        };
        assert_eq!(cells_from_map(&cells_to_map(&cells)).unwrap(), cells);
        let plain = CellsSchema::default();
        let map = cells_to_map(&plain);
        for name in ["revived", "packs_long_keys"] {
            assert!(!map.contains_key(name), "stores of before have no {name}");
        }
        assert_eq!(cells_from_map(&map).unwrap(), plain);
    }
}
