//! Key ranges as people read them: the values that their bytes stand for.
//!
//! Decoded with the key codecs and the table's schema, not with the engine: what a report says was
//! read is checked by other eyes.

use shelfmark_engine::Table;
use shelfmark_keycode::{
    Direction, KeyType, KeyValue, decode, prefix_successor, take_bytes, take_ordered_varint,
};
use shelfmark_model::serial::deserialise_partition;
use shelfmark_model::{KeyColumn, Placement};
use shelfmark_store::KeyRange;

use super::shown;

/// The columns of a table's rows or of an index's entries, as far as their keys are ordered by them.
struct Columns<'t> {
    placement: Placement,
    partition: &'t [KeyColumn],
    sort: Vec<(&'t KeyType, Direction)>,
    id: u64,
}

/// A key, or the beginning of one.
struct Readable {
    parts: Vec<String>,
    /// Everything was read, so it is where a component ends.
    is_whole: bool,
}

pub(super) fn range(table: &Table, index: Option<&str>, range: &KeyRange) -> String {
    let columns = columns(table, index);
    let end = range.end.as_ref().map(|end| end.to_vec());
    if end.as_ref().is_some_and(|end| *end <= range.start.to_vec()) {
        return "nothing".to_owned();
    }
    if end == prefix_successor(&range.start) {
        let all = read(&columns, &range.start);
        return if all.parts.is_empty() {
            "everything".to_owned()
        } else {
            format!("{}…", text(&all))
        };
    }
    let start = bound(&columns, &range.start, ["from", "after"]);
    let end = end.map(|end| bound(&columns, &end, ["before", "to"])).unwrap_or_default();
    format!("{start} {end}")
}

/// A bound: the key itself, or that whose successor it is.
fn bound(columns: &Columns<'_>, key: &[u8], [at, behind]: [&str; 2]) -> String {
    let own = read(columns, key);
    if own.is_whole {
        return format!("{at} {}", text(&own));
    }
    let mut before = key.to_vec();
    if let Some(last) = before.last_mut() {
        *last = last.wrapping_sub(1);
    }
    let before = read(columns, &before);
    if before.is_whole {
        format!("{behind} {}", text(&before))
    } else {
        format!("{at} {}", text(&own))
    }
}

fn columns<'t>(table: &'t Table, index: Option<&str>) -> Columns<'t> {
    let schema = &table.schema;
    let (id, partition, sort) = match index.and_then(|name| table.index(name)) {
        None => (table.id, &schema.partition, &schema.sort),
        Some(index) => (index.id, &index.schema.partition, &index.schema.sort),
    };
    let mut sort: Vec<_> = sort.iter().map(|own| (&own.key_type, own.direction)).collect();
    if let Some(index) = index.and_then(|name| table.index(name)) {
        // The key of the item that an entry leads to, without what the index holds of it.
        let held = |name: &str| {
            index.schema.partition.iter().any(|own| own.name == name)
                || index.schema.sort.iter().any(|own| own.name == name)
        };
        let bytes = &KeyType::Bytes;
        let all_held = schema.partition.iter().all(|own| held(&own.name));
        if !all_held && schema.placement == Placement::Hashed {
            let single = match schema.partition.as_slice() {
                [own] if own.key_type == KeyType::Text => &own.key_type,
                _ => bytes,
            };
            sort.push((single, Direction::Ascending));
        } else if !all_held {
            sort.extend(schema.partition.iter().map(|own| (&own.key_type, Direction::Ascending)));
        }
        let base = schema.sort.iter().filter(|own| !held(&own.name));
        sort.extend(base.map(|own| (&own.key_type, own.direction)));
    }
    Columns { placement: schema.placement, partition, sort, id }
}

fn read(columns: &Columns<'_>, key: &[u8]) -> Readable {
    let mut parts = Vec::new();
    let mut rest = key.get(1..).unwrap_or_default();
    if take_ordered_varint(&mut rest).ok() != Some(columns.id) {
        return Readable { parts, is_whole: false };
    }
    let is_whole = read_columns(columns, &mut rest, &mut parts).is_some() && rest.is_empty();
    if !rest.is_empty() {
        parts.push(left_over(rest));
    }
    Readable { parts, is_whole }
}

fn read_columns(columns: &Columns<'_>, rest: &mut &[u8], parts: &mut Vec<String>) -> Option<()> {
    if rest.is_empty() {
        return Some(());
    }
    if columns.placement == Placement::Hashed {
        let after_token = rest.get(8..)?;
        let mut partition = after_token;
        if after_token.is_empty() {
            let token = u64::from_be_bytes(rest.get(..8)?.try_into().ok()?);
            parts.push(format!("token {token:#018x}"));
            *rest = after_token;
            return Some(());
        }
        let raw = take_bytes(&mut partition, Direction::Ascending).ok()?;
        let types = columns.partition.iter().map(|own| &own.key_type);
        parts.extend(deserialise_partition(types, &raw).ok()?.iter().map(shown::value));
        *rest = partition;
    } else {
        for column in columns.partition {
            if rest.is_empty() {
                return Some(());
            }
            parts.push(component(&column.key_type, Direction::Ascending, rest)?);
        }
    }
    match rest.split_first() {
        None => return Some(()),
        Some((1, after)) => *rest = after,
        Some(_) => return None,
    }
    for (key_type, direction) in &columns.sort {
        if rest.is_empty() {
            return Some(());
        }
        parts.push(component(key_type, *direction, rest)?);
    }
    Some(())
}

fn component(key_type: &KeyType, direction: Direction, rest: &mut &[u8]) -> Option<String> {
    Some(match decode(key_type, direction, rest).ok()? {
        KeyValue::Text(text) => format!("{text:?}"),
        KeyValue::I64(n) => n.to_string(),
        KeyValue::U32(n) => n.to_string(),
        KeyValue::Decimal(n) => n.to_string(),
        KeyValue::Bytes(bytes) => shown::hex(&bytes),
        other => format!("{other:?}"),
    })
}

/// The beginning of a component.
fn left_over(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => format!("{text:?}…"),
        _ => shown::hex(bytes),
    }
}

fn text(key: &Readable) -> String {
    format!("({})", key.parts.join(", "))
}
