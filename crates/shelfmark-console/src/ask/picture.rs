//! The picture of an answer: each table and index that it read, with the ranges on its key line.

use std::collections::BTreeMap;

use bytes::Bytes;
use maud::{Markup, html};
use shelfmark_engine::{AccessReport, AccessStep, Engine, Owner, Table};
use shelfmark_keycode::take_ordered_varint;
use shelfmark_model::TableName;
use shelfmark_store::KeyRange;

use crate::Console;
use crate::fault::Result;
use crate::figures::{bytes, count, length};
use crate::key_line::{Effort, LineKeys, Picture, Touched, measure};
use crate::limits::{ANSWER_LINES_MAX, ANSWER_RANGES_MAX, NAMESPACES_MAX};

/// The reads of one table or index, all steps together.
struct Read<'r> {
    table: &'r str,
    index: Option<&'r str>,
    ranges: Vec<KeyRange>,
    left_out: usize,
    read: u64,
    returned: u64,
    size: u64,
}

/// Shows what was read, in the order it was first read.
pub(super) fn shown(console: &Console, report: &AccessReport) -> Result<Markup> {
    let reads = together(report);
    let more = reads.len().saturating_sub(ANSWER_LINES_MAX);
    let pictures = reads
        .iter()
        .take(ANSWER_LINES_MAX)
        .map(|(prefix, read)| line(console, prefix, read))
        .collect::<Result<Vec<Markup>>>()?;
    Ok(html! {
        @for picture in &pictures { (picture) }
        @if more > 0 { p class="soft" { (more) " more tables and indexes were read." } }
    })
}

fn together(report: &AccessReport) -> Vec<(Bytes, Read<'_>)> {
    let mut reads: Vec<(Bytes, Read<'_>)> = Vec::new();
    let mut places: BTreeMap<Bytes, usize> = BTreeMap::new();
    for step in &report.steps {
        let Some(prefix) = step.ranges.first().and_then(|range| tree_of(&range.start)) else {
            continue;
        };
        let place = *places.entry(prefix.clone()).or_insert_with(|| {
            reads.push((prefix, empty(step)));
            reads.len() - 1
        });
        if let Some((_, read)) = reads.get_mut(place) {
            let room = ANSWER_RANGES_MAX.saturating_sub(read.ranges.len());
            read.ranges.extend(step.ranges.iter().take(room).cloned());
            read.left_out += step.ranges.len().saturating_sub(room);
            read.read += step.rows_read;
            read.returned += step.rows_returned;
            read.size += step.bytes_read;
        }
    }
    reads
}

fn empty(step: &AccessStep) -> Read<'_> {
    Read {
        table: &step.table,
        index: step.index.as_deref(),
        ranges: Vec::new(),
        left_out: 0,
        read: 0,
        returned: 0,
        size: 0,
    }
}

/// Returns the bytes that all keys of a key's table or index begin with: its tree and its number.
fn tree_of(key: &Bytes) -> Option<Bytes> {
    let mut rest = key.get(1..)?;
    take_ordered_varint(&mut rest).ok()?;
    Some(key.slice(..key.len() - rest.len()))
}

fn line(console: &Console, prefix: &Bytes, read: &Read<'_>) -> Result<Markup> {
    let found = table_of(&console.engine, prefix, read)?;
    let keys = match &found {
        Some((table, id)) => keys_of(console, table, *id, prefix),
        None => LineKeys::other(prefix.clone()),
    };
    let line = measure(&**console.engine.store(), &keys, &keys.whole(), Effort::BESIDE)?;
    let place = match read.index {
        Some(index) => format!("index {index} of {}", read.table),
        None => format!("table {}", read.table),
    };
    let ranges = length(read.ranges.len() + read.left_out);
    let picture = Picture {
        label: format!("{ranges} ranges read on the keys of {place}"),
        line: &line,
        keys: &keys,
        zoom: None,
        touched: Touched { ranges: &read.ranges },
    };
    Ok(html! {
        figure class="read" {
            figcaption {
                @match &found {
                    Some((table, _)) => { a href=(crate::tables::address(&table.schema.name)) { (place) } }
                    None => { (place) }
                }
                ": " (count(ranges)) (if ranges == 1 { " range, " } else { " ranges, " })
                (count(read.read)) " read, " (count(read.returned)) " kept, " (bytes(read.size))
            }
            (picture.svg())
        }
    })
}

/// Finds the table that a step read.
pub(super) fn table_of_step(
    console: &Console,
    step: &AccessStep,
) -> Result<Option<std::sync::Arc<Table>>> {
    let prefix = step.ranges.first().and_then(|range| tree_of(&range.start));
    let Some(prefix) = prefix else { return Ok(None) };
    let found = table_of(&console.engine, &prefix, &empty(step))?;
    Ok(found.map(|(table, _)| table))
}

/// Finds the table whose rows or entries begin with these bytes, and the number of its index.
fn table_of(
    engine: &Engine,
    prefix: &Bytes,
    read: &Read<'_>,
) -> Result<Option<(std::sync::Arc<Table>, u64)>> {
    let mut rest = prefix.get(1..).unwrap_or_default();
    let Ok(id) = take_ordered_varint(&mut rest) else { return Ok(None) };
    // A report names a table as its face does: perhaps with its keyspace.
    let parted = read.table.split_once('.');
    let parted = parted.map(|(namespace, name)| TableName::new(namespace, name));
    let namespaces = engine.namespaces()?.into_iter().take(NAMESPACES_MAX);
    let bare = namespaces.map(|own| TableName::new(own.name, read.table));
    for name in parted.into_iter().chain(bare) {
        let Ok(table) = engine.table(&name) else { continue };
        let is_index = read.index.is_some();
        let holds = match is_index {
            true => table.indexes().iter().any(|index| index.id == id),
            false => table.id == id,
        };
        let is_cells = is_index && Owner::of_table(&table.schema) == Owner::Cql;
        if holds || is_cells {
            return Ok(Some((table, id)));
        }
    }
    Ok(None)
}

fn keys_of(console: &Console, table: &Table, id: u64, prefix: &Bytes) -> LineKeys {
    if table.id == id {
        let name = &table.schema.name;
        let schema = table.schema.cells.as_ref().map(|_| console.cql.executor().schema());
        let columns = schema.and_then(|own| own.table(&name.namespace, &name.name).cloned());
        return LineKeys::of_table(table, columns);
    }
    match table.indexes().iter().find(|index| index.id == id) {
        Some(index) => LineKeys::of_index(table, id, &index.schema),
        None => LineKeys::other(prefix.clone()),
    }
}
