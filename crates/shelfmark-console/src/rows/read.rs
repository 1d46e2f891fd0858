//! Reads a page of rows, of items and of cells alike, with the access report of the read.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value as Json, json};
use shelfmark_admin::http::Request;
use shelfmark_cql as cql;
use shelfmark_cql::{BoundValue, Outcome, RequestOptions, Values};
use shelfmark_cql_types::{maybe_quote, to_literal};
use shelfmark_engine::{AccessReport, AttributesText as _, Cursor, Query, ResultPage, Scan};
use shelfmark_model::Item;
use shelfmark_store::KeyRange;

use super::key_form::{Comparison, KeyForm};
use super::typed;
use super::value::{cut, value_text};

use crate::Console;
use crate::fault::{Fault, Result};
use crate::limits::{ROWS_PAGE, ROWS_PAGE_BYTES_MAX};
use crate::tables::Found;

/// A cell of a row: the name of its attribute or column, and its text.
pub(super) type Shown = (String, String);

/// A row as the list shows it.
pub(super) struct ListedRow {
    /// Names the row: DynamoDB's JSON of its key, or the bytes of its key columns.
    pub(super) key: Json,
    /// Its attributes or columns.
    pub(super) cells: Vec<Shown>,
}

/// A page of rows.
#[derive(Default)]
pub(super) struct RowsPage {
    pub(super) rows: Vec<ListedRow>,
    /// The position at which the next page begins, if there may be one.
    pub(super) next: Option<String>,
    /// The position at which the page before it ends, if there may be one.
    pub(super) previous: Option<String>,
    pub(super) report: AccessReport,
    pub(super) took: Duration,
}

/// The page that is wanted.
pub(super) struct Wanted<'a> {
    pub(super) form: &'a KeyForm,
    /// From the last key to the first.
    pub(super) descending: bool,
    /// Behind this position; empty for the beginning.
    pub(super) cursor: &'a str,
    /// The page before the position, not the one behind it.
    pub(super) back: bool,
}

/// Reads a page.
pub(super) fn read(
    console: &Console,
    found: &Found,
    wanted: &Wanted<'_>,
    request: &Request,
) -> Result<RowsPage> {
    if !wanted.form.is_empty() {
        wanted.form.check(&found.table)?;
    }
    let begun = console.now();
    let mut page = match &found.cql {
        Some(table) => cells(console, table, wanted, request)?,
        None => items(console, found, wanted)?,
    };
    page.took = console.now().saturating_sub(begun);
    Ok(page)
}

/// Returns the range of stored keys that a form names, or `None` for all of the table.
pub(crate) fn key_range(
    console: &Console,
    found: &Found,
    form: &KeyForm,
) -> Result<Option<KeyRange>> {
    if form.is_empty() {
        return Ok(None);
    }
    let wanted = Wanted { form, descending: false, cursor: "", back: false };
    let request = Request::get("/");
    let page = read(console, found, &wanted, &request)?;
    let step = page.report.steps.into_iter().next();
    Ok(step.and_then(|step| step.ranges.into_iter().next()))
}

fn cursor(text: &str) -> Result<Option<Vec<u8>>> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = |_| Fault::bad("the position is none that a page gave; begin again");
    hex::decode(text).map(Some).map_err(wrong)
}

fn items(console: &Console, found: &Found, wanted: &Wanted<'_>) -> Result<RowsPage> {
    let table = &found.table;
    let start = cursor(wanted.cursor)?.map(|bytes| Cursor::from_bytes(&bytes)).transpose()?;
    let descending = wanted.descending != wanted.back;
    // One more says whether there is another page.
    let (limit, bytes_max) = (Some(ROWS_PAGE + 1), Some(ROWS_PAGE_BYTES_MAX));
    let has_start = start.is_some();
    let mut read: ResultPage = if wanted.form.is_empty() {
        let scan = Scan { descending, limit, bytes_max, start, ..Scan::default() };
        console.engine.scan(table, &scan)?
    } else {
        let values = wanted.form.partition_values(table)?;
        let query = Query::partition(values).sort(wanted.form.condition(table)?);
        let query = Query { descending, limit, bytes_max, start, ..query };
        console.engine.query(table, &query)?
    };
    let has_more =
        read.items.len() > ROWS_PAGE || read.cursor.is_some() && read.items.len() < ROWS_PAGE;
    read.items.truncate(ROWS_PAGE);
    if wanted.back {
        read.items.reverse();
    }
    let position = |item: Option<&Item>| {
        let cursor = item.and_then(|item| table.cursor_behind(None, item).ok());
        cursor.map(|cursor| hex::encode(cursor.to_bytes()))
    };
    let (first, last) = (position(read.items.first()), position(read.items.last()));
    let (before, behind) = if wanted.back { (has_more, true) } else { (has_start, has_more) };
    Ok(RowsPage {
        previous: first.filter(|_| before),
        next: last.filter(|_| behind),
        rows: read.items.iter().map(|item| item_row(found, item)).collect(),
        report: read.report,
        took: Duration::ZERO,
    })
}

fn item_row(found: &Found, item: &Item) -> ListedRow {
    let schema = &found.table.schema;
    let key: Item = item
        .iter()
        .filter(|(name, _)| schema.is_key(name))
        .map(|(name, value)| (name.as_str(), value.clone()))
        .collect();
    let key = shelfmark_dynamo::AttributesJson.text(&key);
    let cells = item.iter().map(|(name, value)| (name.to_string(), value_text(value))).collect();
    ListedRow { key: serde_json::from_str(&key).unwrap_or(Json::Null), cells }
}

/// Returns options for a statement, and the place where its access reports are collected.
pub(crate) fn observed(
    console: &Console,
    values: Vec<Bytes>,
    request: &Request,
) -> (RequestOptions, Arc<Mutex<AccessReport>>) {
    let report = Arc::new(Mutex::new(AccessReport::default()));
    let own = Arc::clone(&report);
    let observer = move |step: &AccessReport| {
        shelfmark_engine::locks::lock(&own).extend(step.clone());
    };
    let environment = console.engine.environment();
    let options = RequestOptions {
        values: Values::Positional(values.into_iter().map(BoundValue::Bytes).collect()),
        trace: Some(cql::TraceRecorder::telling(environment, Arc::new(observer))),
        has_gone: Arc::clone(&request.has_gone),
        ..RequestOptions::default()
    };
    (options, report)
}

fn cells(
    console: &Console,
    table: &cql::Table,
    wanted: &Wanted<'_>,
    request: &Request,
) -> Result<RowsPage> {
    let (text, values) = statement(table, wanted)?;
    let (options, report) = observed(console, values, request);
    let rows_max = u32::try_from(ROWS_PAGE).ok();
    let options = RequestOptions {
        page_size: rows_max,
        page_bytes_max: Some(ROWS_PAGE_BYTES_MAX),
        paging: cursor(wanted.cursor)?.map(Bytes::from),
        ..options
    };
    let answered = console.cql.ask(&text, options)?;
    let Outcome::Rows(rows) = answered.outcome else {
        return Err(Fault::failed("the statement answered no rows"));
    };
    let keys = table.partition_count + table.clustering_count;
    let listed = wire_rows(rows.rows.bytes(), rows.columns.len()).map(|row| {
        let key = row.iter().take(keys).map(|cell| cell.as_ref().map(hex::encode));
        let shown = table.columns.iter().zip(&row).filter_map(|(column, cell)| {
            let text = to_literal(&column.kind, Some(cell.as_deref()?));
            Some((column.name.to_string(), cut(text)))
        });
        ListedRow { key: json!(key.collect::<Vec<_>>()), cells: shown.collect() }
    });
    let rows_read = listed.collect();
    let report = std::mem::take(&mut *shelfmark_engine::locks::lock(&report));
    Ok(RowsPage {
        rows: rows_read,
        next: rows.paging.map(hex::encode),
        previous: None,
        report,
        took: Duration::ZERO,
    })
}

/// Takes the rows of an answer apart: cells, each with its length in front.
pub(crate) fn wire_rows(
    mut rest: &[u8],
    columns: usize,
) -> impl Iterator<Item = Vec<Option<Bytes>>> {
    std::iter::from_fn(move || {
        if rest.is_empty() || columns == 0 {
            return None;
        }
        (0..columns).map(|_| take_cell(&mut rest)).collect()
    })
}

fn take_cell(rest: &mut &[u8]) -> Option<Option<Bytes>> {
    let (length, behind) = rest.split_first_chunk::<4>()?;
    let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
        *rest = behind;
        return Some(None);
    };
    let (cell, behind) = behind.split_at_checked(length)?;
    *rest = behind;
    Some(Some(Bytes::copy_from_slice(cell)))
}

/// Returns a row of cells by the bytes of its key.
pub(crate) fn cells_of(
    console: &Console,
    table: &cql::Table,
    key: &[Bytes],
    request: &Request,
) -> Result<Option<Vec<Option<Bytes>>>> {
    let columns = table.columns.iter().take(key.len());
    let conditions: Vec<String> =
        columns.map(|column| format!("{} = ?", maybe_quote(&column.name))).collect();
    let text = format!("SELECT * FROM {} WHERE {}", table.full_name(), conditions.join(" AND "));
    let (options, _) = observed(console, key.to_vec(), request);
    match console.cql.ask(&text, options)?.outcome {
        Outcome::Rows(rows) => Ok(wire_rows(rows.rows.bytes(), rows.columns.len()).next()),
        _ => Ok(None),
    }
}

/// Returns the statement of a page and the values of its markers.
fn statement(table: &cql::Table, wanted: &Wanted<'_>) -> Result<(String, Vec<Bytes>)> {
    let mut text = format!("SELECT * FROM {}", table.full_name());
    let form = wanted.form;
    if form.is_empty() {
        if wanted.descending {
            return Err(Fault::bad(
                "CQL reads a whole table forwards; name a partition to read it backwards",
            ));
        }
        return Ok((text, Vec::new()));
    }
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    let mut add = |name: &str, sign: &str, value: Bytes| {
        conditions.push(format!("{} {sign} ?", maybe_quote(name)));
        values.push(value);
    };
    for (column, text) in table.partition_columns().iter().zip(&form.partition) {
        add(&column.name, "=", typed::cell(&column.name, &column.kind, text)?);
    }
    let filled = form.filled();
    for (at, (column, text)) in
        table.clustering_columns().iter().zip(&form.sort).take(filled).enumerate()
    {
        let (name, kind) = (&column.name, &column.kind);
        let value = typed::cell(name, kind, text)?;
        if at + 1 < filled {
            add(name, "=", value);
            continue;
        }
        match form.comparison {
            Comparison::Equal => add(name, "=", value),
            Comparison::From => add(name, ">=", value),
            Comparison::Above => add(name, ">", value),
            Comparison::UpTo => add(name, "<=", value),
            Comparison::Below => add(name, "<", value),
            Comparison::Between => {
                add(name, ">=", value);
                if !form.upper.is_empty() {
                    add(name, "<=", typed::cell(name, kind, &form.upper)?);
                }
            }
            Comparison::Begins => {
                add(name, ">=", value);
                if let Some(after) = typed::text_after(text) {
                    add(name, "<", typed::cell(name, kind, &after)?);
                }
            }
        }
    }
    text.push_str(" WHERE ");
    text.push_str(&conditions.join(" AND "));
    if let (true, Some(first)) = (wanted.descending, table.clustering_columns().first()) {
        let way = if first.descending { "ASC" } else { "DESC" };
        text.push_str(&format!(" ORDER BY {} {way}", maybe_quote(&first.name)));
    }
    Ok((text, values))
}
