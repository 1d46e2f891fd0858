//! Stores to move between.

use std::sync::Arc;

use shelfmark_engine::{Engine, Environment, Get, SeededRandom, Table, Write};
use shelfmark_keycode::KeyType;
use shelfmark_migrate::{Error, Progress, Report, Side, migrate};
use shelfmark_model::{Item, Key, KeyColumn, TableName, TableSchema, Value};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::fault_injection::{FaultInjectingStore, FaultOptions};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{KeyRange, Store};

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(1_700_000_000_000_000))
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(clock()))
}

/// A store that several servers may share, and which takes keys of so many bytes.
pub(crate) fn shared(key_size_bytes_max: usize) -> Arc<dyn Store> {
    let options = FaultOptions { key_size_bytes_max, ..FaultOptions::new(3) };
    let store = FaultInjectingStore::new(memory(), options);
    store.set_faults(false);
    Arc::new(store)
}

pub(crate) fn engine(store: &Arc<dyn Store>) -> shelfmark_engine::Result<Engine> {
    let random = Arc::new(SeededRandom::new(7));
    Engine::open(Arc::clone(store), Environment { clock: clock(), random })
}

/// Creates a table of `rows` items with keys of `padding` bytes and more.
pub(crate) fn filled(store: &Arc<dyn Store>, rows: i64, padding: usize) -> Engine {
    let engine = engine(store).unwrap();
    let name = TableName::new("test", "books");
    let schema = TableSchema::new(name, KeyColumn::new("pk", KeyType::Text));
    let table = engine.create_table(schema).unwrap();
    for number in 0..rows {
        engine.write(Write::put(&table, item(number, padding))).unwrap();
    }
    engine
}

pub(crate) fn table(engine: &Engine) -> Arc<Table> {
    engine.table(&TableName::new("test", "books")).unwrap()
}

pub(crate) fn item(number: i64, padding: usize) -> Item {
    let text = "a text of some length, so that pages end before all of it was read ".repeat(8);
    Item::new().with("pk", key(number, padding)).with("text", Value::from(text))
}

fn key(number: i64, padding: usize) -> Value {
    Value::from(format!("{number:06}{}", "x".repeat(padding)))
}

/// Returns how many of the first `rows` items are there.
pub(crate) fn found(engine: &Engine, rows: i64) -> usize {
    let table = table(engine);
    let read = |number| engine.get(&table, &Get::new(Key::partition(key(number, 0)))).unwrap().item;
    (0..rows).filter(|number| read(*number) == Some(item(*number, 0))).count()
}

pub(crate) fn moved(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    mut progress: impl FnMut(Progress),
) -> Result<Report, Error> {
    let side = |store, name: &str| Side { store, name: name.to_owned() };
    migrate(&side(&**from, "here"), &side(&**to, "there"), &mut progress)
}

/// Returns all keys and values.
pub(crate) fn content(store: &Arc<dyn Store>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut rows = Vec::new();
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page =
            store.snapshot().unwrap().scan(&range, Default::default(), Default::default()).unwrap();
        rows.extend(page.rows.into_iter().map(|row| (row.key.to_vec(), row.value.to_vec())));
        rest = page.next;
    }
    rows
}
