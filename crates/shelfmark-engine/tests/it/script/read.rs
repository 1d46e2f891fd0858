//! Calls that read.

use std::fmt::Write as _;
use std::sync::Arc;

use shelfmark_engine::{Get, Got, Query, ResultPage, Scan, Segment, Table, Transaction};
use shelfmark_keycode::KeyType;
use shelfmark_model::{Item, Projection, SortBound, SortCondition, Value};

use super::arguments::Args;
use super::runner::{Answer, Script};
use super::{literal, logic, shown, write};
use crate::drivers::START_SECONDS;

fn projection(args: &mut Args) -> Answer<Projection> {
    let paths = args.all("path");
    if paths.is_empty() {
        return Ok(Projection::All);
    }
    Ok(Projection::Paths(paths.iter().map(|path| logic::path(path)).collect::<Answer<_>>()?))
}

fn got(script: &Script, got: &Got) -> String {
    let item = got.item.as_ref().map_or("absent".to_owned(), shown::item);
    format!("{item}\n{}", shown::report(script, &got.report))
}

fn the_get(script: &Script, args: &mut Args) -> Answer<(Arc<Table>, Get)> {
    let table = script.table(args)?;
    let projection = projection(args)?;
    Ok((Arc::clone(&table), Get { key: write::key(&table, args)?, projection }))
}

pub(super) fn get(script: &mut Script, args: &mut Args) -> Answer<String> {
    let view = args.take("at");
    let (table, get) = the_get(script, args)?;
    let answer = match view {
        None => script.bed.engine.get(&table, &get)?,
        Some(name) => script.views.get(&name).ok_or("no such snapshot")?.get(&table, &get)?,
    };
    Ok(got(script, &answer))
}

pub(super) fn get_in(script: &Script, tx: &Transaction<'_>, args: &mut Args) -> Answer<String> {
    let (table, get) = the_get(script, args)?;
    Ok(got(script, &tx.get(&table, &get)?))
}

/// `begins=…`; or `eq=…` any number of times, then `from`/`after` and `to`/`before`; several
/// `from` or `to` are bounds of tuples.
fn sort(columns: &[&KeyType], args: &mut Args) -> Answer<SortCondition> {
    let values = |offset: usize, texts: Vec<String>| -> Answer<Vec<Value>> {
        let types = columns.iter().skip(offset).copied().chain(std::iter::repeat(&KeyType::Text));
        texts.iter().zip(types).map(|(text, own)| literal::of_type(own, text)).collect()
    };
    let equal = values(0, args.all("eq"))?;
    let offset = equal.len();
    if let Some(prefix) = args.take("begins") {
        let prefix = match columns.get(offset) {
            Some(KeyType::Bytes) => literal::whole(&prefix)?,
            _ => Value::text(prefix),
        };
        return Ok(SortCondition::BeginsWith { equal, prefix });
    }
    let mut bound = |included: &str, excluded: &str| -> Answer<Option<(Vec<Value>, bool)>> {
        let (at, beyond) = (args.all(included), args.all(excluded));
        Ok(match (at.is_empty(), beyond.is_empty()) {
            (true, true) => None,
            (false, _) => Some((values(offset, at)?, true)),
            (true, false) => Some((values(offset, beyond)?, false)),
        })
    };
    let (lower, upper) = (bound("from", "after")?, bound("to", "before")?);
    if lower.is_none() && upper.is_none() {
        return Ok(SortCondition::Equal(equal));
    }
    if [&lower, &upper].into_iter().flatten().any(|(values, _)| values.len() > 1) {
        return Ok(SortCondition::TupleRange { lower, upper });
    }
    let one = |bound: Option<(Vec<Value>, bool)>| match bound {
        None => SortBound::Unbounded,
        Some((mut values, true)) => SortBound::Included(values.remove(0)),
        Some((mut values, false)) => SortBound::Excluded(values.remove(0)),
    };
    Ok(SortCondition::Range { equal, lower: one(lower), upper: one(upper) })
}

/// Takes `start=last`: the cursor that was given last.
fn start(script: &Script, args: &mut Args) -> Answer<Option<shelfmark_engine::Cursor>> {
    match args.take("start").as_deref() {
        None => Ok(None),
        Some("last") => {
            let cursor = script.cursor.as_ref().ok_or("no page gave a cursor")?;
            Ok(Some(shelfmark_engine::Cursor::from_bytes(&cursor.to_bytes())?))
        }
        Some(_) => Err("a read starts at `last`".into()),
    }
}

fn the_query(script: &Script, args: &mut Args) -> Answer<(Arc<Table>, Query)> {
    let table = script.table(args)?;
    let index = args.take("index");
    let schema = &table.schema;
    let found = index.as_ref().and_then(|name| schema.index(name));
    let (partition, sorted) = match found {
        None => (&schema.partition, &schema.sort),
        Some(index) => (&index.partition, &index.sort),
    };
    let mut values = Vec::new();
    for column in partition {
        if let Some(text) = args.take(&column.name) {
            values.push(literal::of_type(&column.key_type, &text)?);
        }
    }
    let types: Vec<&KeyType> = sorted.iter().map(|column| &column.key_type).collect();
    let query = Query {
        index,
        sort: sort(&types, args)?,
        descending: args.flag("desc"),
        limit: args.number("limit")?,
        bytes_max: args.number("bytes")?,
        filter: args.take("filter").map(|text| logic::condition(&text)).transpose()?,
        projection: projection(args)?,
        start: start(script, args)?,
        count_only: args.flag("count"),
        fetch_base: args.flag("base"),
        peek: args.flag("peek"),
        ..Query::partition(values)
    };
    Ok((Arc::clone(&table), query))
}

fn page(script: &mut Script, table: &Table, index: Option<&str>, page: ResultPage) -> String {
    let shown = shown::page(script, table, index, &page);
    script.cursor = page.cursor.or(script.cursor.take());
    shown
}

pub(super) fn query(script: &mut Script, args: &mut Args) -> Answer<String> {
    let view = args.take("at");
    let (table, query) = the_query(script, args)?;
    let answer = match view {
        None => script.bed.engine.query(&table, &query)?,
        Some(name) => script.views.get(&name).ok_or("no such snapshot")?.query(&table, &query)?,
    };
    Ok(page(script, &table, query.index.as_deref(), answer))
}

pub(super) fn query_in(
    script: &mut Script,
    tx: &Transaction<'_>,
    args: &mut Args,
) -> Answer<String> {
    let (table, query) = the_query(script, args)?;
    let answer = tx.query(&table, &query)?;
    Ok(page(script, &table, query.index.as_deref(), answer))
}

/// As a query, with `segment=2/4` (the third of four) and `low`/`high`, values of the partition
/// key's columns.
fn the_scan(script: &Script, args: &mut Args) -> Answer<(Arc<Table>, Scan)> {
    let table = script.table(args)?;
    let segment = match args.take("segment") {
        None => None,
        Some(text) => {
            let (number, total) = text.split_once('/').ok_or("a segment is 1/4")?;
            Some(Segment { number: number.parse()?, total: total.parse()? })
        }
    };
    let types = table.schema.partition.iter().map(|column| &column.key_type);
    let values = |texts: Vec<String>| -> Answer<Vec<Value>> {
        texts.iter().zip(types.clone()).map(|(text, own)| literal::of_type(own, text)).collect()
    };
    let (low, high) = (values(args.all("low"))?, values(args.all("high"))?);
    let partitions = (!low.is_empty() || !high.is_empty()).then_some((low, high));
    let scan = Scan {
        index: args.take("index"),
        segment,
        partitions,
        descending: args.flag("desc"),
        limit: args.number("limit")?,
        bytes_max: args.number("bytes")?,
        filter: args.take("filter").map(|text| logic::condition(&text)).transpose()?,
        projection: projection(args)?,
        start: start(script, args)?,
        count_only: args.flag("count"),
        fetch_base: args.flag("base"),
        peek: args.flag("peek"),
    };
    Ok((Arc::clone(&table), scan))
}

pub(super) fn scan(script: &mut Script, args: &mut Args) -> Answer<String> {
    let view = args.take("at");
    let (table, scan) = the_scan(script, args)?;
    let answer = match view {
        None => script.bed.engine.scan(&table, &scan)?,
        Some(name) => script.views.get(&name).ok_or("no such snapshot")?.scan(&table, &scan)?,
    };
    Ok(page(script, &table, scan.index.as_deref(), answer))
}

pub(super) fn scan_in(
    script: &mut Script,
    tx: &Transaction<'_>,
    args: &mut Args,
) -> Answer<String> {
    let (table, scan) = the_scan(script, args)?;
    let answer = tx.scan(&table, &scan)?;
    Ok(page(script, &table, scan.index.as_deref(), answer))
}

/// Makes the position behind an item, there or not, that of the next read with `start=last`.
pub(super) fn cursor(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = script.table(args)?;
    let index = args.take("index");
    let mut item = Item::new();
    let schema = &table.schema;
    let columns = schema
        .partition
        .iter()
        .map(|own| (&own.name, &own.key_type))
        .chain(schema.sort.iter().map(|own| (&own.name, &own.key_type)));
    let columns: Vec<_> = columns.collect();
    for (name, text) in args.attributes() {
        let value = match columns.iter().find(|(own, _)| **own == name) {
            Some((_, own)) => literal::of_type(own, &text)?,
            None => literal::whole(&text)?,
        };
        item.set(name, value);
    }
    let cursor = table.cursor_behind(index.as_deref(), &item)?;
    let shown = shown::cursor_key(&table, index.as_deref(), &cursor);
    script.cursor = Some(cursor);
    Ok(format!("  cursor behind {shown}\n"))
}

fn partition(table: &Table, args: &mut Args) -> Answer<Vec<Value>> {
    let mut values = Vec::new();
    for column in &table.schema.partition {
        if let Some(text) = args.take(&column.name) {
            values.push(literal::of_type(&column.key_type, &text)?);
        }
    }
    Ok(values)
}

pub(super) fn count(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = script.table(args)?;
    let partition = partition(&table, args)?;
    let count = match partition.is_empty() {
        true => script.bed.engine.count(&table)?,
        false => script.bed.engine.count_partition(&table, &partition)?,
    };
    Ok(format!("{count}\n"))
}

/// `changes TABLE [limit=N] [more=true]`: those after the last one shown.
pub(super) fn changes(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = script.table(args)?;
    let after = script.change.filter(|_| args.flag("more"));
    let limit = args.number("limit")?.unwrap_or(100);
    let changes = script.bed.engine.changes(&table, after, limit)?;
    let mut out = String::new();
    let mut last = None;
    for change in &changes {
        let shown = |item: &Option<Item>| item.as_ref().map_or("absent".to_owned(), shown::item);
        // The numbers of commits differ from driver to driver; which changes share one does not.
        let together = last == Some(change.position.commit);
        last = Some(change.position.commit);
        let second = change.at_micros / 1_000_000 - START_SECONDS;
        let how = if change.expired { " expired" } else { "" };
        let mark = if together { "+" } else { "-" };
        writeln!(out, "{mark} at {second}{how}: {}", shown(&change.old))?;
        writeln!(out, "    -> {}", shown(&change.new))?;
        script.change = Some(change.position);
    }
    Ok(out)
}

pub(super) fn shards(script: &mut Script, args: &mut Args) -> Answer<String> {
    let table = script.table(args)?;
    let partition = partition(&table, args)?;
    let shards = script.bed.engine.shards(&table, &partition)?;
    let bound = |values: &Option<Vec<Value>>| match values {
        None => "the end".to_owned(),
        Some(values) => values.iter().map(shown::value).collect::<Vec<_>>().join(", "),
    };
    let line = |shard: &shelfmark_engine::Shard| {
        let (lower, upper) = (bound(&shard.lower), bound(&shard.upper));
        format!("shard {}: {lower} to {upper}, {} items\n", shard.id, shard.items)
    };
    Ok(shards.iter().map(line).collect())
}
