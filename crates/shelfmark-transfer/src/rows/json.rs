//! Rows as JSON, a line each, as `SELECT JSON` shows them; nulls are left out.
//!
//! A value that JSON would change (a NaN, a value of no bytes) is `{"$bytes": "0x…"}`, as the protocol has
//! it. With stamps a line has a member `$cells`: `{"v": {"writetime": 1700000000000000, "ttl": 60}}`.
//!
//! Invariant: what was written reads back with the same bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use shelfmark_cql_protocol::types::{CqlType, Native};
use shelfmark_cql_types::{from_json, from_text, json_column_name, parse_json, put_json_name};
use shelfmark_cql_types::{to_json, validate};

use super::table::{Role, RowTable};
use super::{Row, Stamp};

/// The member with write times and expiries.
const CELLS: &str = "$cells";
/// The member that stands for a value's bytes.
const BYTES: &str = "$bytes";

#[derive(Serialize, Deserialize)]
struct CellStamp {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    writetime: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl: Option<i32>,
}

#[derive(Deserialize)]
struct AsBytes {
    #[serde(rename = "$bytes")]
    bytes: String,
}

/// Writes a row as a line, without its end.
pub(super) fn put_line(table: &RowTable, row: &Row, out: &mut String) {
    out.push('{');
    let mut is_first = true;
    let mut begin = |out: &mut String| {
        if !std::mem::take(&mut is_first) {
            out.push_str(", ");
        }
    };
    for (column, cell) in table.columns.iter().zip(&row.cells) {
        let Some(bytes) = cell else { continue };
        begin(out);
        put_json_name(&column.name, out);
        out.push_str(": ");
        out.push_str(&value(&column.kind, bytes));
    }
    let stamps = table.columns.iter().zip(&row.stamps).zip(&row.cells);
    let stamps: BTreeMap<&str, CellStamp> = stamps
        .filter(|((_, stamp), cell)| cell.is_some() && !stamp.is_empty())
        .map(|((column, stamp), _)| {
            (column.name.as_str(), CellStamp { writetime: stamp.written, ttl: stamp.ttl })
        })
        .collect();
    if !stamps.is_empty() {
        begin(out);
        out.push_str(&format!("\"{CELLS}\": "));
        out.push_str(&serde_json::to_string(&stamps).unwrap_or_default());
    }
    out.push('}');
}

fn value(kind: &CqlType, bytes: &Bytes) -> String {
    let json = to_json(kind, Some(bytes));
    let is_same = || {
        let read = parse_json(&json).and_then(|json| from_json(kind, &json));
        read.is_ok_and(|read| read.as_deref() == Some(&**bytes))
    };
    // Most types have one form; the others are looked at again.
    if (is_plain(kind) && !bytes.is_empty()) || is_same() {
        return json;
    }
    format!(
        "{{\"{BYTES}\": \"0x{}\"}}",
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    )
}

fn is_plain(kind: &CqlType) -> bool {
    use Native::{Bigint, Blob, Int, Smallint, Text, Timeuuid, Tinyint, Uuid, Varint};
    let native = |own: &Native| {
        matches!(own, Bigint | Blob | Int | Smallint | Text | Timeuuid | Tinyint | Uuid | Varint)
    };
    matches!(kind, CqlType::Native(own) if native(own))
}

/// Parses a line.
///
/// # Errors
///
/// * What is wrong with it, as a message.
pub(super) fn row_of(table: &RowTable, line: &str) -> Result<Row, String> {
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_str(line).map_err(|error| format!("it is no JSON: {error}"))?;
    let mut row = Row { cells: vec![None; table.columns.len()], stamps: Vec::new() };
    for (name, json) in members {
        if name == CELLS {
            row.stamps = stamps(table, json.get())?;
            continue;
        }
        let name = json_column_name(&name);
        let place = table.place(&name).ok_or_else(|| format!("the table has no column {name}"))?;
        let kind = table.columns.get(place).map(|own| &own.kind);
        let parsed = kind.map(|kind| parsed(kind, json.get())).transpose();
        if let Some(cell) = row.cells.get_mut(place) {
            *cell = parsed.map_err(|why| format!("{name}: {why}"))?.flatten();
        }
    }
    check_key(table, &row)?;
    Ok(row)
}

/// Refuses a row without its whole partition key.
pub(super) fn check_key(table: &RowTable, row: &Row) -> Result<(), String> {
    let mut keys = table.columns.iter().zip(&row.cells);
    let missing = keys.find(|(own, cell)| own.role == Role::Partition && cell.is_none());
    match missing {
        Some((column, _)) => Err(format!("the column {} of the key is not there", column.name)),
        None => Ok(()),
    }
}

fn parsed(kind: &CqlType, text: &str) -> Result<Option<Bytes>, String> {
    if text.starts_with('{')
        && let Ok(own) = serde_json::from_str::<AsBytes>(text)
    {
        let digits = own.bytes.strip_prefix("0x").unwrap_or(&own.bytes);
        let bytes = from_text(&CqlType::Native(Native::Blob), digits);
        let bytes = bytes.map_err(|error| error.to_string())?;
        validate(kind, &bytes).map_err(|error| error.to_string())?;
        return Ok(Some(bytes.into()));
    }
    let json = parse_json(text).map_err(|error| error.to_string())?;
    let value = from_json(kind, &json).map_err(|error| error.to_string())?;
    Ok(value.map(Bytes::from))
}

fn stamps(table: &RowTable, text: &str) -> Result<Vec<Stamp>, String> {
    let mut all = vec![Stamp::default(); table.columns.len()];
    let found: BTreeMap<String, CellStamp> =
        serde_json::from_str(text).map_err(|error| format!("{CELLS}: {error}"))?;
    for (name, own) in found {
        let place =
            table.place(&name).ok_or_else(|| format!("{CELLS}: there is no column {name}"))?;
        if let Some(stamp) = all.get_mut(place) {
            *stamp = Stamp { written: own.writetime, ttl: own.ttl };
        }
    }
    Ok(all)
}
