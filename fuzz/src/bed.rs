//! An engine in memory whose time and randomness are fixed, and the tables that targets use.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{Engine, Environment, SeededRandom, Table};
use shelfmark_model::{
    Direction, IndexKind, IndexSchema, IndexState, KeyColumn, KeyType, Placement, Projected,
    SortColumn, TableName, TableSchema, TtlSource,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::{Direction as Way, KeyRange, ScanLimits, Store};

/// Second since the Unix epoch at which every input begins.
pub(crate) const BEGIN_SECONDS: u64 = 1_700_000_000;

/// Returns a clock that shows [`BEGIN_SECONDS`].
#[must_use]
pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at_micros(BEGIN_SECONDS * 1_000_000))
}

/// Returns time and randomness that are the same for every input.
#[must_use]
pub(crate) fn environment(clock: &Arc<ManualClock>) -> Environment {
    Environment { clock: Arc::clone(clock) as _, random: Arc::new(SeededRandom::new(7)) }
}

/// Returns an empty store in memory.
#[must_use]
pub(crate) fn store(clock: &Arc<ManualClock>) -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(Arc::clone(clock) as _))
}

/// Creates every table of [`schemas`].
pub(crate) fn create_tables(engine: &Engine) -> Vec<Arc<Table>> {
    let schemas = schemas().into_iter();
    schemas.map(|schema| engine.create_table(schema).expect("the schemas are right")).collect()
}

/// Returns every row of a store.
#[must_use]
pub(crate) fn dump(store: &dyn Store) -> Vec<(Bytes, Bytes)> {
    let snapshot = store.snapshot().expect("the store is open");
    let mut rows = Vec::new();
    let mut rest = Some(KeyRange::all());
    while let Some(range) = rest {
        let page = snapshot
            .scan(&range, Way::Ascending, ScanLimits::default())
            .expect("memory can be read");
        rows.extend(page.rows.into_iter().map(|row| (row.key, row.value)));
        rest = page.next;
    }
    rows
}

/// Returns the schemas of the tables that targets use: between them every kind of key, placement,
/// index and option.
#[must_use]
pub(crate) fn schemas() -> Vec<TableSchema> {
    vec![plain(), ordered(), expiring(), logged()]
}

fn named(name: &str, partition: KeyType) -> TableSchema {
    TableSchema::new(TableName::new("fuzz", name), KeyColumn::new("pk", partition))
}

/// Hashed, text and text, nothing else: its puts are blind.
fn plain() -> TableSchema {
    named("plain", KeyType::Text).with_sort("sk", KeyType::Text)
}

/// In key order, with several columns of both directions, exact counts, and shards.
fn ordered() -> TableSchema {
    let mut schema = named("ordered", KeyType::Text);
    schema.placement = Placement::Ordered;
    schema.sort = vec![
        SortColumn::new("sk", KeyType::Decimal, Direction::Descending),
        SortColumn::new("sk2", KeyType::Bytes, Direction::Ascending),
    ];
    schema.options.exact_counts = true;
    schema.options.shard_items_max = Some(4);
    schema.options.shard_bytes_max = Some(4_000);
    schema
}

/// Hashed by a number that keeps its spelling, with expiries of single items and a unique index.
fn expiring() -> TableSchema {
    let mut schema = named("expiring", KeyType::Decimal).with_index(IndexSchema {
        name: "unique".to_owned(),
        kind: IndexKind::Unique,
        partition: vec![KeyColumn::new("u", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    });
    schema.options.ttl = Some(TtlSource::PerItem);
    schema
}

/// With two secondary indexes, a change log, and expiries by an attribute.
fn logged() -> TableSchema {
    let index =
        |name: &str, partition: &str, sort: Vec<SortColumn>, projected: Projected| IndexSchema {
            name: name.to_owned(),
            kind: IndexKind::Secondary,
            partition: vec![KeyColumn::new(partition, KeyType::Text)],
            sort,
            projected,
            state: IndexState::Public,
        };
    let by_n = vec![SortColumn::new("n", KeyType::Decimal, Direction::Descending)];
    let mut schema = named("logged", KeyType::Text)
        .with_sort("sk", KeyType::Text)
        .with_index(index("by_u", "u", by_n, Projected::Include(vec!["v".to_owned()])))
        .with_index(index("local", "pk", Vec::new(), Projected::KeysOnly));
    schema.options.change_log = true;
    schema.options.ttl = Some(TtlSource::Attribute("t".to_owned()));
    schema
}
