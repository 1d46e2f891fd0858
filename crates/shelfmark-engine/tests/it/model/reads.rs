//! Queries and scans, asked whole and page by page, and compared with the oracle's answer.

use std::sync::Arc;

use shelfmark_engine::{Cursor, Engine, Error, ErrorKind, Query, ResultPage, Scan, Segment, Table};
use shelfmark_model::{Condition, Item, Placement, SortColumn, Value};

use super::answer::{Expected, aligned, check_page, is_valid, of_index, of_table, sort_condition};
use super::oracle::Oracle;
use super::plan::PlannedCondition;
use super::spec::{IndexSpec, Spec};
use super::step::{QueryPick, Reading, ScanPick};

/// Anything that answers queries: the engine, or a transaction.
type QueryWith<'a> = &'a dyn Fn(&Table, &Query) -> shelfmark_engine::Result<ResultPage>;

pub(super) fn number(table: u8, specs: &[Spec]) -> usize {
    usize::from(table) % specs.len()
}

/// The index that a pick names, if any, and whether the table has it.
fn picked<'s>(
    oracle: &Oracle,
    specs: &'s [Spec],
    table: usize,
    index: u8,
) -> (Option<&'s IndexSpec>, bool) {
    let Some(at) = usize::from(index).checked_sub(1) else { return (None, true) };
    match specs[table].indexes.get(at) {
        None => (None, true),
        Some(index) => (Some(index), oracle.tables[table].indexes[at]),
    }
}

fn filter(reading: &Reading) -> Option<Condition> {
    PlannedCondition::of(reading.filter).map(|filter| filter.to_engine())
}

/// Reads page after page, and checks each.
fn walk(
    rows: &[Expected],
    bases: Option<&[Item]>,
    reading: &Reading,
    mut read: impl FnMut(Option<Cursor>) -> ResultPage,
) {
    let (mut at, mut cursor) = (0, None);
    loop {
        let page = read(cursor);
        at = check_page(&page, rows, bases, reading, at);
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(at, rows.len());
}

/// Asks one query, unlimited and then page by page.
pub(super) fn query(
    ask: QueryWith<'_>,
    oracle: &Oracle,
    specs: &[Spec],
    tables: &[Arc<Table>],
    pick: &QueryPick,
) {
    let table = number(pick.table, specs);
    let (spec, handle, reading) = (&specs[table], &tables[table], &pick.reading);
    let (index, is_there) = picked(oracle, specs, table, pick.index);
    let (columns, partitions, sorts) = match index {
        None => (&spec.schema.sort, &spec.partitions, &spec.sorts),
        Some(index) => (&index.schema.sort, &index.partitions, &index.sorts),
    };
    let partition = &partitions[usize::from(pick.partition) % partitions.len()];
    let condition = sort_condition(columns, sorts, &pick.sort);
    let mut base = Query::partition(partition.clone()).sort(condition.clone());
    base.index = index.map(|index| index.schema.name.clone());
    base.descending = reading.descending;
    let whole = match ask(handle, &base) {
        Ok(page) => page.items,
        Err(error) => {
            let expected = if is_there { ErrorKind::Invalid } else { ErrorKind::NotFound };
            assert_eq!(error.kind(), expected, "{error}");
            assert!(!is_there || !is_valid(columns, &condition), "{error}");
            return;
        }
    };
    assert!(is_there && is_valid(columns, &condition), "{condition:?}");
    let within = Some((partition.as_slice(), &condition));
    let rows = match index {
        None => {
            let mut rows = of_table(oracle, specs, table, within);
            if reading.descending {
                rows.reverse();
            }
            let items: Vec<Item> = rows.iter().map(|row| row.item.clone()).collect();
            assert_eq!(whole, items);
            rows
        }
        Some(index) => {
            let rows = of_index(oracle, specs, table, &index.schema, within);
            aligned(rows, &whole, Some(columns), reading.descending)
        }
    };
    let bases: Option<Vec<Item>> = (pick.fetch_base && index.is_some())
        .then(|| rows.iter().filter_map(|row| oracle.get(specs, table, &row.key)).collect());
    let mut query = Query { filter: filter(reading), fetch_base: pick.fetch_base, ..base };
    query.limit = reading.limit.map(usize::from);
    query.bytes_max = reading.bytes_max.map(|max| usize::from(max) + 1);
    (query.peek, query.count_only) = (reading.peek, reading.count_only);
    walk(&rows, bases.as_deref(), reading, |cursor| {
        ask(handle, &Query { start: cursor, ..query.clone() }).unwrap()
    });
}

/// Scans a table or index, unlimited, page by page, and segment by segment.
pub(super) fn scan(
    engine: &Engine,
    oracle: &Oracle,
    specs: &[Spec],
    tables: &[Arc<Table>],
    pick: &ScanPick,
) {
    let table = number(pick.table, specs);
    let (spec, handle, reading) = (&specs[table], &tables[table], &pick.reading);
    let (index, is_there) = picked(oracle, specs, table, pick.index);
    let partitions = pick.partitions.filter(|_| index.is_none()).map(|(lower, upper, is_short)| {
        let bound = |pick: u8| {
            let values = &spec.partitions[usize::from(pick) % spec.partitions.len()];
            if is_short { values[..1].to_vec() } else { values.clone() }
        };
        (bound(lower), bound(upper))
    });
    let base = Scan {
        index: index.map(|index| index.schema.name.clone()),
        partitions: partitions.clone(),
        descending: reading.descending,
        ..Scan::default()
    };
    let whole = match engine.scan(handle, &base) {
        Ok(page) => page.items,
        Err(error) => {
            check_scan_error(&error, is_there, partitions.is_some(), spec);
            return;
        }
    };
    let rows = match index {
        None => table_rows(oracle, specs, table, partitions.as_ref(), &whole, reading.descending),
        Some(index) => {
            let rows = of_index(oracle, specs, table, &index.schema, None);
            aligned(rows, &whole, None::<&[SortColumn]>, reading.descending)
        }
    };
    let mut scan = Scan { filter: filter(reading), ..base.clone() };
    scan.limit = reading.limit.map(usize::from);
    scan.bytes_max = reading.bytes_max.map(|max| usize::from(max) + 1);
    (scan.peek, scan.count_only) = (reading.peek, reading.count_only);
    walk(&rows, None, reading, |cursor| {
        engine.scan(handle, &Scan { start: cursor, ..scan.clone() }).unwrap()
    });
    if pick.segments > 1 {
        let total = u32::from(pick.segments);
        let part = |number| {
            let segment = Some(Segment { number, total });
            engine.scan(handle, &Scan { segment, ..base.clone() }).unwrap().items
        };
        let mut parts: Vec<Vec<Item>> = (0..total).map(part).collect();
        if reading.descending {
            parts.reverse();
        }
        assert_eq!(parts.concat(), whole);
    }
}

fn check_scan_error(error: &Error, index_is_there: bool, is_ranged: bool, spec: &Spec) {
    match error.kind() {
        ErrorKind::NotFound => assert!(!index_is_there, "{error}"),
        ErrorKind::Invalid => {
            assert!(is_ranged && spec.schema.placement == Placement::Hashed, "{error}");
        }
        _ => panic!("{error}"),
    }
}

fn table_rows(
    oracle: &Oracle,
    specs: &[Spec],
    table: usize,
    partitions: Option<&(Vec<Value>, Vec<Value>)>,
    whole: &[Item],
    descending: bool,
) -> Vec<Expected> {
    let mut rows = of_table(oracle, specs, table, None);
    if let Some((lower, upper)) = partitions {
        let tuple = |values: &[Value]| Value::List(values.to_vec());
        rows.retain(|row| {
            let own = tuple(&row.key.partition[..lower.len()]);
            own.total_cmp(&tuple(lower)).is_ge() && own.total_cmp(&tuple(upper)).is_le()
        });
    }
    if descending {
        rows.reverse();
    }
    let items: Vec<Item> = rows.iter().map(|row| row.item.clone()).collect();
    assert_eq!(whole, items);
    rows
}
