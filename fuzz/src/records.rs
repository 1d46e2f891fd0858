//! Arbitrary bytes where the engine keeps its records: reads and writes must answer, never panic.
//!
//! Input: edits of a store that holds every kind of record, then nothing. All operations of the
//! engine are tried on what is left.
//!
//! What it is not: a check of answers. Damaged records may say anything; that they are refused as
//! corrupt is all that is asked.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use shelfmark_engine::{
    Change, Cursor, Engine, Error, ErrorKind, Get, Query, Scan, SweepPosition, Table, Token, Write,
};
use shelfmark_model::{
    Comparison, Condition, Decimal, Item, Key, Operand, Patch, PatchOperation, PatchValue, Path,
    Value,
};
use shelfmark_store::{Commit, Write as StoreWrite};

use crate::bed;
use crate::input::Input;

/// Most edits of one input.
const EDITS_MAX: usize = 16;

/// First bytes of keys go up to here; see `docs/format.md`, "Keys of the engine".
const TREES: usize = 11;

/// The rows of a store in which every table has items, and every tree has records.
static BASE: LazyLock<Vec<(Bytes, Bytes)>> = LazyLock::new(base);

fn base() -> Vec<(Bytes, Bytes)> {
    let clock = bed::clock();
    let store = bed::store(&clock);
    let engine = Engine::open(Arc::clone(&store), bed::environment(&clock)).expect("it is new");
    for table in bed::create_tables(&engine) {
        for n in 0..3 {
            let mut write = Write::put(&table, item(&table, n));
            write.expires_at = Some(bed::BEGIN_SECONDS + 10);
            engine.write(write).expect("the items are right");
        }
    }
    let table = engine.table(&bed::schemas()[0].name).expect("it was created");
    let large = item(&table, 3).with("a", "x".repeat(40_000)).with("b", "y".repeat(40_000));
    engine.write(Write::put(&table, large)).expect("it is not too large");
    let token = Token { token: b"token".to_vec(), request_hash: 1, expires_at: u64::MAX };
    engine.write_all_once(&token, Vec::new()).expect("nothing is written");
    bed::dump(&*store)
}

/// The items that the base has: the partition is the same for all but hashed numbers.
fn item(table: &Table, n: i64) -> Item {
    let mut list = Item::new()
        .with("u", format!("u{n}"))
        .with("n", Value::number(n))
        .with("v", Value::List(vec![Value::Bool(true), Value::set(vec![Value::number(n)])]))
        .with("w", Value::Map([("in".to_owned(), Value::Tuple(vec![None]))].into()));
    for (column, value) in table.schema.key_names().zip(key_values(table, n)) {
        list.set(column, value);
    }
    list
}

fn key_values(table: &Table, n: i64) -> Vec<Value> {
    let one_partition = Value::text("p");
    match table.schema.name.name.as_str() {
        "ordered" => {
            vec![one_partition, Value::number(n), Value::Bytes(Bytes::from_static(b"\0\xFF"))]
        }
        "expiring" => vec![Value::Number(Decimal::new(n.into(), 2).expect("it is short"))],
        _ => vec![one_partition, Value::text(format!("s{n}"))],
    }
}

fn key(table: &Table, n: i64) -> Key {
    let mut partition = key_values(table, n);
    let sort = partition.split_off(table.schema.partition.len());
    Key { partition, sort }
}

/// Runs one input: edits, each a byte for the kind and then what the kind needs; see `edited`.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut rows = BASE.clone();
    for _ in 0..EDITS_MAX {
        if input.is_empty() {
            break;
        }
        edited(&mut input, &mut rows);
    }
    let clock = bed::clock();
    let store = bed::store(&clock);
    let writes = rows.into_iter().map(|(key, value)| StoreWrite::Put { key, value }).collect();
    if store.commit(Commit::of(writes)).is_err() {
        // An empty value, or a key that is too long: nothing that a store would ever hold.
        return;
    }
    let Some(engine) = answered(Engine::open(store, bed::environment(&clock))) else { return };
    clock.advance(std::time::Duration::from_secs(u64::from(input.byte())));
    try_everything(&engine, &input);
}

/// Applies one edit: 0 replaces a value, 1 overwrites inside of one, 2 flips bits, 3 cuts, 4 drops
/// a row, 5 adds a row in a tree of a table, 6 adds a row anywhere, 7 adds a row behind a key.
fn edited(input: &mut Input<'_>, rows: &mut Vec<(Bytes, Bytes)>) {
    let kind = input.below(8);
    if kind == 5 || kind == 6 {
        let mut key = Vec::new();
        if kind == 5 {
            key = vec![u8::try_from(input.below(TREES)).unwrap_or(0), input.byte()];
        }
        key.extend_from_slice(input.bytes());
        rows.push((key.into(), Bytes::copy_from_slice(input.long_bytes())));
        return;
    }
    let row = input.below(rows.len());
    if kind == 4 {
        rows.remove(row);
        return;
    }
    let Some((key, value)) = rows.get_mut(row) else { return };
    let mut bytes = value.to_vec();
    match kind {
        0 => bytes = input.long_bytes().to_vec(),
        1 => {
            let at = usize::from(input.u16()).min(bytes.len());
            let new = input.bytes();
            let end = (at + new.len()).min(bytes.len());
            bytes.splice(at..end, new.iter().copied());
        }
        2 => {
            let (at, mask) = (usize::from(input.u16()), input.byte());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= mask;
            }
        }
        3 => bytes.truncate(usize::from(input.u16())),
        _ => {
            let longer = [&key[..], input.bytes()].concat();
            let value = Bytes::copy_from_slice(input.long_bytes());
            rows.push((longer.into(), value));
            return;
        }
    }
    *value = bytes.into();
}

/// Passes an answer on; an error must be one that a caller can do something about.
fn answered<T>(answer: Result<T, Error>) -> Option<T> {
    answer.inspect_err(|error| assert_ne!(error.kind(), ErrorKind::Internal, "{error}")).ok()
}

fn try_everything(engine: &Engine, input: &Input<'_>) {
    answered(engine.table_names(None, None, 100));
    for schema in bed::schemas() {
        let Some(table) = answered(engine.table(&schema.name)) else { continue };
        try_reads(engine, &table);
        try_cursor(engine, &table, input);
        try_writes(engine, &table);
        try_reads(engine, &table);
    }
    let mut position = SweepPosition::default();
    for _ in 0..3 {
        answered(engine.sweep(&mut position, 4));
    }
    let token = Token { token: b"token".to_vec(), request_hash: 2, expires_at: u64::MAX };
    answered(engine.write_all_once(&token, Vec::new()));
    for schema in bed::schemas() {
        answered(engine.drop_table(&schema.name));
    }
    answered(engine.purge());
}

fn try_reads(engine: &Engine, table: &Table) {
    for n in 0..4 {
        answered(engine.get(table, &Get::new(key(table, n))));
    }
    let indexes = table.indexes().iter().map(|index| Some(index.schema.name.clone()));
    for index in std::iter::once(None).chain(indexes) {
        for descending in [false, true] {
            let mut scan = Scan { index: index.clone(), descending, ..Scan::default() };
            scan.limit = Some(2);
            scan.peek = descending;
            // A cursor may not stand still, so pages end with the rows.
            for _ in 0..64 {
                let Some(page) = answered(engine.scan(table, &scan)) else { break };
                scan.start = page.cursor;
                if scan.start.is_none() {
                    break;
                }
            }
        }
        let partition = match &index {
            Some(name) if name != "local" => vec![Value::text("u1")],
            _ => key(table, 1).partition,
        };
        let mut query = Query::partition(partition);
        query.index = index;
        query.fetch_base = true;
        query.filter = Some(Condition::Compare(
            Comparison::Less,
            Operand::Path(Path::attribute("n")),
            Operand::Size(Path::attribute("v")),
        ));
        answered(engine.query(table, &query));
        answered(engine.query(table, &query.descending()));
    }
    answered(engine.count(table));
    answered(engine.count_partition(table, &key(table, 0).partition));
    answered(engine.shards(table, &key(table, 0).partition));
    answered(engine.changes(table, None, 100));
}

/// What is left of the input as a cursor.
fn try_cursor(engine: &Engine, table: &Table, input: &Input<'_>) {
    let Some(cursor) = answered(Cursor::from_bytes(input.clone().rest())) else { return };
    answered(table.cursor_key(None, &cursor));
    answered(engine.scan(table, &Scan { start: Some(cursor), ..Scan::default() }));
}

fn try_writes(engine: &Engine, table: &Arc<Table>) {
    let patch = |n: i64| {
        let operations = vec![
            PatchOperation::Add(Path::attribute("m"), Value::number(n)),
            PatchOperation::Set(Path::attribute("x"), PatchValue::value("y")),
        ];
        let (key, patch) = (key(table, n), Patch { operations });
        let mut write = Write::new(table, Change::Patch { key, patch, creates: true });
        write.returns = shelfmark_engine::Returns { old: true, new: true };
        write
    };
    answered(engine.write(patch(0)));
    answered(engine.write_all(vec![patch(1), Write::put(table, item(table, 2))]));
    answered(engine.write(Write::delete(table, key(table, 1))));
    answered(engine.write(Write::put(table, item(table, 5))));
    answered(engine.split_due(table));
    answered(engine.transact(|transaction| {
        transaction.scan(table, &Scan::default())?;
        transaction.write(&Write::delete(table, key(table, 0)))
    }));
}
