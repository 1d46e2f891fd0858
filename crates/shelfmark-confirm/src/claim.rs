//! Computes the range that a certificate claims, as bytes: its symbolic text with the values of one
//! call in its holes, encoded with the key codecs.
//!
//! What it is not: it asks no engine. The layout of keys is that of `docs/format.md`, written down
//! here once more, so that engine and claim are two opinions.

use std::collections::BTreeMap;

use shelfmark_design::Range;
use shelfmark_design::trial::{Form, KeyValue, Layout, TableForm};
use shelfmark_keycode::{
    Direction, encode, put_bytes, put_text, put_text_prefix, token, token_bytes,
};
use shelfmark_model::serial::serialise_partition;
use shelfmark_model::{KeyType, KeyValue as Coded, Value};
use shelfmark_store::KeyRange;

use crate::bench::direction;
use crate::item::{WHOLE, key_type, key_value};

/// The byte between the partition key and the sort key of a row.
const ROW: u8 = 1;

/// Returns the range of bytes that `range` claims for one call; `prefix` begins all keys of the
/// table.
pub(crate) fn bytes(
    layout: &Layout,
    table: usize,
    prefix: &[u8],
    range: &Range,
    holes: &BTreeMap<String, KeyValue>,
) -> Result<KeyRange, String> {
    let form = layout.tables.get(table).ok_or("no such table")?;
    if form.name != range.table {
        return Err(format!("the range claimed is in {}, read was {}", range.table, form.name));
    }
    if range.partition.is_empty() && form.partition > 0 {
        return Ok(KeyRange::prefix(prefix.to_vec()));
    }
    let mut base = prefix.to_vec();
    put_partition(layout, form, range, holes, &mut base)?;
    base.push(ROW);
    let column_at = |at: usize| form.columns.get(at).ok_or("a column too many");
    for (at, text) in (form.partition..).zip(&range.equal) {
        let column = column_at(at)?;
        put(column.form, direction(column.desc), &filled(text, holes)?, &mut base)?;
    }
    if range.ends.is_empty() {
        return Ok(KeyRange::prefix(base));
    }
    let column = column_at(form.partition + range.equal.len())?;
    let mut claimed = KeyRange::prefix(base.clone());
    for end in &range.ends {
        let value = filled(&end.value, holes)?;
        // Behind all that begins with a text lies what begins with the next one.
        let (kind, value) = match (end.kind.as_str(), &value) {
            ("after", KeyValue::Text(text)) if !end.whole => match next(text) {
                Some(next) => ("from", KeyValue::Text(next)),
                None => ("after", value),
            },
            ("through", KeyValue::Text(text)) if !end.whole => match next(text) {
                Some(next) => ("before", KeyValue::Text(next)),
                None => ("through", value),
            },
            (kind, _) => (kind, value),
        };
        let mut whole = base.clone();
        put(column.form, direction(column.desc), &value, &mut whole)?;
        // What begins with the value: the value itself, unless it is only how texts begin.
        let all = match &value {
            KeyValue::Text(text) if !end.whole => {
                let mut begun = base.clone();
                put_text_prefix(&mut begun, direction(column.desc), text);
                KeyRange::prefix(begun)
            }
            _ => KeyRange::prefix(whole.clone()),
        };
        let one = KeyRange::prefix(whole);
        narrow(&mut claimed, kind, column.desc, &one, &all)?;
    }
    Ok(claimed)
}

/// Returns the smallest text above all that begin with this one, if there is one.
pub(crate) fn next(text: &str) -> Option<String> {
    let last = text.char_indices().rev().find(|(_, char)| *char != char::MAX)?;
    let head = text.get(..last.0)?;
    (last.1..=char::MAX).nth(1).map(|char| format!("{head}{char}"))
}

/// Narrows the range at one end. `one` is where the value itself lies, `all` where everything lies
/// that begins with it; descending columns lie the other way round.
fn narrow(
    range: &mut KeyRange,
    kind: &str,
    desc: bool,
    one: &KeyRange,
    all: &KeyRange,
) -> Result<(), String> {
    let behind = |range: &KeyRange| range.end.clone().unwrap_or_default();
    match (kind, desc) {
        ("begins", _) => *range = all.clone(),
        ("from", false) => range.start = one.start.clone(),
        ("from", true) => range.end = Some(behind(one)),
        ("after", false) => range.start = behind(all),
        ("after", true) => range.end = Some(all.start.clone()),
        ("to", false) => range.end = Some(behind(one)),
        ("to", true) => range.start = one.start.clone(),
        ("before", false) => range.end = Some(one.start.clone()),
        ("before", true) => range.start = behind(one),
        ("through", false) => range.end = Some(behind(all)),
        ("through", true) => range.start = all.start.clone(),
        _ => return Err(format!("unknown end {kind}")),
    }
    Ok(())
}

fn put_partition(
    layout: &Layout,
    form: &TableForm,
    range: &Range,
    holes: &BTreeMap<String, KeyValue>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let mut columns: Vec<(Form, KeyValue)> = Vec::new();
    for (column, text) in form.columns.iter().take(form.partition).zip(&range.partition) {
        columns.push((column.form, filled(text, holes)?));
    }
    if form.partition == 0 {
        columns.push((Form::Text, KeyValue::Text(WHOLE.to_owned())));
    }
    if layout.ordered {
        for (form, value) in &columns {
            put(*form, Direction::Ascending, value, out)?;
        }
        return Ok(());
    }
    let types: Vec<KeyType> = columns.iter().map(|(form, _)| key_type(*form)).collect();
    let values: Result<Vec<Value>, String> =
        columns.iter().map(|(form, value)| key_value(*form, value)).collect();
    let mut raw = Vec::new();
    serialise_partition(types.iter(), &values?, &mut raw).map_err(|error| error.to_string())?;
    out.extend_from_slice(&token_bytes(token(&raw)));
    put_bytes(out, Direction::Ascending, &raw);
    Ok(())
}

fn put(
    form: Form,
    direction: Direction,
    value: &KeyValue,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let coded = match key_value(form, value)? {
        Value::Text(text) => {
            put_text(out, direction, &text);
            return Ok(());
        }
        Value::Bytes(bytes) => {
            put_bytes(out, direction, &bytes);
            return Ok(());
        }
        Value::Uuid(bytes) => Coded::Uuid(bytes),
        Value::Bool(bit) => Coded::Bool(bit),
        Value::Int(n) => Coded::I64(n),
        Value::Timestamp(n) => Coded::Timestamp(n),
        // The key layer counts days from the smallest date.
        Value::Date(days) => Coded::Date(days.cast_unsigned() ^ (1 << 31)),
        other => return Err(format!("{other:?} is in no key")),
    };
    encode(&key_type(form), direction, &coded, out).map_err(|error| error.to_string())
}

/// Returns the text of a column with its holes filled; a typed column is one hole.
fn filled(text: &str, holes: &BTreeMap<String, KeyValue>) -> Result<KeyValue, String> {
    if let Some(value @ KeyValue::Native(_)) = holes.get(text) {
        return Ok(value.clone());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let hole = holes.iter().filter(|(name, _)| tail.starts_with(name.as_str()));
        match hole.max_by_key(|(name, _)| name.len()) {
            Some((name, KeyValue::Text(value))) => {
                out.push_str(value);
                rest = tail.get(name.len()..).unwrap_or("");
            }
            Some((name, KeyValue::Native(_))) => return Err(format!("{name} stands in a text")),
            None => {
                out.push('<');
                rest = tail.get(1..).unwrap_or("");
            }
        }
    }
    out.push_str(rest);
    Ok(KeyValue::Text(out))
}

/// Returns true if both ranges are the same; all empty ranges are.
pub(crate) fn same(claimed: &KeyRange, touched: &KeyRange) -> bool {
    claimed == touched || (claimed.is_empty() && touched.is_empty())
}

/// Formats a range for people to compare.
pub(crate) fn show(range: &KeyRange) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let end = range.end.as_ref().map_or_else(|| "the end".to_owned(), |end| hex(end));
    format!("{}..{end}", hex(&range.start))
}
