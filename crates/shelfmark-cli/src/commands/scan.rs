//! `shelfmark scan`: items in key order, one JSON object a line.

use std::io::{BufWriter, Write as _};

use anyhow::bail;
use shelfmark_engine::{Cursor, Engine, Query, ResultPage, Table};
use shelfmark_model::{KeyColumn, SortBound, SortColumn, SortCondition, Value};

use crate::arguments::Scan;
use crate::json::{PlainItem, key_value};
use crate::store::{items, with_engine};

/// Items per page, which bounds the memory of a long scan.
const PAGE_ITEMS: usize = 1_000;

pub(crate) fn run(scan: &Scan) -> anyhow::Result<()> {
    with_engine(&scan.data.data, |engine| {
        let table = items(engine, &scan.data.data, &scan.table)?;
        let mut out = BufWriter::new(std::io::stdout().lock());
        let (mut left, mut cursor) = (scan.limit, None);
        let (mut read, mut returned) = (0, 0);
        while left > 0 {
            let page = page(engine, &table, scan, left.min(PAGE_ITEMS), cursor)?;
            for item in &page.items {
                writeln!(out, "{}", serde_json::to_string(&PlainItem(item))?)?;
            }
            left -= page.items.len().min(left);
            read += page.report.rows_read();
            returned += page.report.rows_returned();
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        out.flush()?;
        if cursor.is_some() {
            anstream::eprintln!("there is more: --limit {} was reached", scan.limit);
        }
        if scan.explain {
            anstream::eprintln!("range: {}", range(scan, &table)?);
            anstream::eprintln!("rows read: {read}, rows returned: {returned}");
        }
        Ok(())
    })
}

fn page(
    engine: &Engine,
    table: &Table,
    scan: &Scan,
    limit: usize,
    start: Option<Cursor>,
) -> anyhow::Result<ResultPage> {
    if scan.partition.is_empty() {
        let request = shelfmark_engine::Scan {
            index: scan.index.clone(),
            descending: scan.desc,
            limit: Some(limit),
            start,
            ..shelfmark_engine::Scan::default()
        };
        return Ok(engine.scan(table, &request)?);
    }
    let (partition, sort) = key_columns(table, scan.index.as_deref())?;
    if scan.partition.len() != partition.len() {
        let names: Vec<&str> = partition.iter().map(|own| own.name.as_str()).collect();
        bail!("the partition key is: {}", names.join(", "));
    }
    let values = partition
        .iter()
        .zip(&scan.partition)
        .map(|(column, text)| key_value(&column.key_type, text))
        .collect::<anyhow::Result<Vec<Value>>>()?;
    let mut query = Query::partition(values).sort(condition(scan, sort)?).limit(limit);
    query.index.clone_from(&scan.index);
    query.descending = scan.desc;
    query.start = start;
    Ok(engine.query(table, &query)?)
}

/// Formats the key range that was read.
fn range(scan: &Scan, table: &Table) -> anyhow::Result<String> {
    let mut text = table.schema.name.name.clone();
    if let Some(index) = &scan.index {
        text = format!("{text}.{index}");
    }
    if scan.partition.is_empty() {
        return Ok(format!("all of {text}"));
    }
    let (_, sort) = key_columns(table, scan.index.as_deref())?;
    let values: Vec<String> = scan.partition.iter().map(|value| format!("{value:?}")).collect();
    text = format!("{text} ({})", values.join(", "));
    if let Some(column) = sort.first() {
        let name = &column.name;
        text += &match (&scan.prefix, &scan.from, &scan.to) {
            (Some(prefix), _, _) => format!(", {name} begins with {prefix:?}"),
            (None, Some(from), Some(to)) => format!(", {name} from {from:?} through {to:?}"),
            (None, Some(from), None) => format!(", {name} from {from:?}"),
            (None, None, Some(to)) => format!(", {name} through {to:?}"),
            (None, None, None) => String::new(),
        };
    }
    Ok(if scan.desc { format!("{text}, from the last") } else { text })
}

fn key_columns<'t>(
    table: &'t Table,
    index: Option<&str>,
) -> anyhow::Result<(&'t [KeyColumn], &'t [SortColumn])> {
    let Some(name) = index else { return Ok((&table.schema.partition, &table.schema.sort)) };
    match table.schema.index(name) {
        Some(index) => Ok((&index.partition, &index.sort)),
        None => bail!("table {} has no index {name}", table.schema.name),
    }
}

fn condition(scan: &Scan, sort: &[SortColumn]) -> anyhow::Result<SortCondition> {
    if scan.prefix.is_none() && scan.from.is_none() && scan.to.is_none() {
        return Ok(SortCondition::all());
    }
    let Some(column) = sort.first() else { bail!("the table has no sort key") };
    if let Some(prefix) = &scan.prefix {
        return Ok(SortCondition::begins_with(key_value(&column.key_type, prefix)?));
    }
    let bound = |text: &Option<String>| match text {
        None => Ok(SortBound::Unbounded),
        Some(text) => key_value(&column.key_type, text).map(SortBound::Included),
    };
    let (lower, upper) = (bound(&scan.from)?, bound(&scan.to)?);
    Ok(SortCondition::Range { equal: Vec::new(), lower, upper })
}
