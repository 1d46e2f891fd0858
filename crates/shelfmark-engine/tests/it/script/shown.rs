//! Answers as text.

use std::fmt::Write as _;

use shelfmark_engine::{AccessReport, Cursor, Error, Refusal, ResultPage, Table, Written};
use shelfmark_model::{Item, Value};

use super::keys;
use super::runner::{Script, table_name};

pub(super) fn value(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(self::value).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(bool) => bool.to_string(),
        Value::Int(n) => format!("{n}i"),
        Value::Number(n) if n.scale() > 0 => {
            // With the zeros that it was written with.
            let digits = n.unscaled().magnitude().to_string();
            let scale = usize::try_from(n.scale()).unwrap();
            let padded = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = padded.split_at(padded.len() - scale);
            let sign = if n.unscaled().sign() == num_bigint::Sign::Minus { "-" } else { "" };
            format!("{sign}{whole}.{fraction}")
        }
        Value::Number(n) => n.to_string(),
        // Long ones show what they are by their length.
        Value::Text(text) if text.len() > 100 => format!("text of {} bytes", text.len()),
        Value::Text(text) => format!("{text:?}"),
        Value::Bytes(bytes) => hex(bytes),
        Value::List(values) => format!("[{}]", list(values)),
        Value::Set(values) => format!("<{}>", list(values)),
        Value::Map(map) => {
            let pairs = map.iter().map(|(name, value)| format!("{name}: {}", self::value(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}"),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |out, byte| format!("{out}{byte:02X}"))
}

pub(super) fn item(item: &Item) -> String {
    let pairs = item.iter().map(|(name, value)| format!("{name}: {}", self::value(value)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
}

/// What was read, a line for each step.
pub(super) fn report(script: &Script, report: &AccessReport) -> String {
    let mut out = String::new();
    for step in &report.steps {
        let table = script.bed.engine.table(&table_name(&step.table));
        let ranges: Vec<String> = match &table {
            Ok(table) => {
                let range = |range| keys::range(table, step.index.as_deref(), range);
                step.ranges.iter().map(range).collect()
            }
            Err(_) => vec!["a dropped table".to_owned()],
        };
        let index = step.index.as_ref().map(|name| format!(".{name}")).unwrap_or_default();
        let peeked = match step.keys_peeked {
            0 => String::new(),
            peeked => format!(", {peeked} peeked"),
        };
        let ranges = if ranges.is_empty() { "nothing".to_owned() } else { ranges.join(" and ") };
        writeln!(
            out,
            "  {}{index} {ranges}: {} read, {} returned, {} bytes{peeked}",
            step.table, step.rows_read, step.rows_returned, step.bytes_read
        )
        .unwrap();
    }
    out
}

pub(super) fn written(script: &Script, written: &Written) -> String {
    let mut out = match written.existed {
        None => "done blindly".to_owned(),
        Some(true) => "done, was there".to_owned(),
        Some(false) => "done, was absent".to_owned(),
    };
    let (before, after) = (written.size_before_bytes, written.size_after_bytes);
    write!(out, ", {before} -> {after} bytes").unwrap();
    if let Some(shard) = written.grown_shard.filter(|grown| grown.items > 0) {
        write!(out, ", shard {}", shard.shard).unwrap();
    }
    out.push('\n');
    if let Some(old) = &written.old {
        writeln!(out, "old {}", item(old)).unwrap();
    }
    if let Some(new) = &written.new {
        writeln!(out, "new {}", item(new)).unwrap();
    }
    // A blind write read nothing, and says nothing of it.
    if written.existed.is_some() { out + &report(script, &written.report) } else { out }
}

pub(super) fn page(
    script: &Script,
    table: &Table,
    index: Option<&str>,
    page: &ResultPage,
) -> String {
    let mut out: String = page.items.iter().map(|one| item(one) + "\n").collect();
    if page.items.len() != page.count || page.count != page.evaluated {
        writeln!(out, "{} of {} evaluated", page.count, page.evaluated).unwrap();
    }
    out.push_str(&report(script, &page.report));
    if let Some(next) = &page.next_key {
        writeln!(out, "  next {}", item(next)).unwrap();
    }
    if let Some(cursor) = &page.cursor {
        writeln!(out, "  cursor behind {}", cursor_key(table, index, cursor)).unwrap();
    }
    out
}

pub(super) fn cursor_key(table: &Table, index: Option<&str>, cursor: &Cursor) -> String {
    item(&table.cursor_key(index, cursor).unwrap())
}

pub(super) fn error(error: &Error) -> String {
    let mut out = format!("{:?}: {error}\n", error.kind());
    for failure in error.failures() {
        let refusal = match &failure.refusal {
            Refusal::ConditionFailed(None) => "its condition failed".to_owned(),
            Refusal::ConditionFailed(Some(old)) => {
                format!("its condition failed, the item is {}", item(old))
            }
            other => format!("{other:?}"),
        };
        writeln!(out, "  write {}: {refusal}", failure.position).unwrap();
    }
    out
}
