//! An in-memory engine with the tables of one schema, and a log of its reads.
//!
//! Invariant: every read that a plan makes is in the log, with the engine's own report of it.

use std::cell::RefCell;
use std::sync::Arc;

use shelfmark_design::trial::{Ask, Image, KeyValue, Layout, Limit, Shelf};
use shelfmark_engine::{
    AccessReport, Engine, Environment, Get, Query, ResultPage, Scan, SeededRandom, Table,
    Transaction, Write,
};
use shelfmark_model::{
    Direction, IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, KeyType, Placement,
    Projected, SortBound, SortColumn, SortCondition, TableName, TableSchema, Value,
};
use shelfmark_store::clock::SystemClock;
use shelfmark_store::memory::MemoryStore;

use crate::item::{WHOLE, WHOLE_COLUMN, column_name, image, item, key_type, key_value, key_values};

/// The namespace of the tables.
const NAMESPACE: &str = "confirm";

/// An engine with the tables of a schema.
pub(crate) struct Bench {
    pub(crate) layout: Layout,
    engine: Engine,
    /// The tables by their position in the layout; of an index the table that it belongs to.
    tables: Vec<Arc<Table>>,
}

/// One read with the engine's access report.
pub(crate) struct Access {
    pub(crate) ask: Ask,
    pub(crate) report: AccessReport,
}

/// A session of a plan: on the engine itself, or in a transaction.
pub(crate) struct Session<'b> {
    bench: &'b Bench,
    transaction: Option<&'b Transaction<'b>>,
    log: RefCell<Vec<Access>>,
}

impl Bench {
    /// Creates the tables on a new in-memory engine.
    pub(crate) fn new(layout: Layout, seed: u64) -> Result<Self, String> {
        let clock = Arc::new(SystemClock::new());
        let store = Arc::new(MemoryStore::new(Arc::<SystemClock>::clone(&clock)));
        let environment = Environment { clock, random: Arc::new(SeededRandom::new(seed)) };
        let engine = Engine::open(store, environment).map_err(text)?;
        let mut created: Vec<Option<Arc<Table>>> = Vec::new();
        for (at, form) in layout.tables.iter().enumerate() {
            let table = match form.base {
                Some(_) => None,
                None => Some(engine.create_table(schema(&layout, at)).map_err(text)?),
            };
            created.push(table);
        }
        let of = |(at, table): (usize, &Option<Arc<Table>>)| {
            let base = layout.tables.get(at).and_then(|form| form.base);
            table.clone().or_else(|| created.get(base?).cloned().flatten())
        };
        let tables: Option<Vec<Arc<Table>>> = created.iter().enumerate().map(of).collect();
        let tables = tables.ok_or("an index belongs to no table")?;
        Ok(Self { layout, engine, tables })
    }

    /// Loads rows.
    pub(crate) fn load(&self, images: &[Image]) -> Result<(), String> {
        let writes: Result<Vec<Write>, String> = images
            .iter()
            .map(|image| Ok(Write::put(self.table(image.table)?, item(&self.layout, image)?)))
            .collect();
        self.engine.write_all(writes?).map_err(text)?;
        Ok(())
    }

    /// Returns every row of every table, in the order of tables and keys.
    pub(crate) fn dump(&self) -> Result<Vec<Image>, String> {
        let mut images = Vec::new();
        for (at, form) in self.layout.tables.iter().enumerate() {
            if form.base.is_some() {
                continue;
            }
            let page = self.engine.scan(self.table(at)?, &Scan::default()).map_err(text)?;
            for found in &page.items {
                images.push(image(&self.layout, at, found)?);
            }
        }
        Ok(sorted(images))
    }

    /// Returns the number of entries of each index.
    pub(crate) fn entries(&self) -> Result<Vec<usize>, String> {
        let count = |(at, form): (usize, &shelfmark_design::trial::TableForm)| {
            if form.base.is_none() {
                return Ok(0);
            }
            let scan = Scan { index: Some(form.name.clone()), ..Scan::default() };
            Ok(self.engine.scan(self.table(at)?, &scan).map_err(text)?.items.len())
        };
        self.layout.tables.iter().enumerate().map(count).collect()
    }

    /// Returns the prefix of all keys of a table or index, as the engine reports it.
    pub(crate) fn prefix(&self, table: usize) -> Result<Vec<u8>, String> {
        let scan = Scan { index: self.index_name(table), limit: Some(1), ..Scan::default() };
        let page = self.engine.scan(self.table(table)?, &scan).map_err(text)?;
        let range = page.report.steps.first().and_then(|step| step.ranges.first());
        range.map(|range| range.start.to_vec()).ok_or_else(|| "a scan without a range".to_owned())
    }

    /// Returns a session on the engine itself.
    pub(crate) fn session(&self) -> Session<'_> {
        Session { bench: self, transaction: None, log: RefCell::default() }
    }

    /// Runs `body` in one transaction, which its error rolls back.
    pub(crate) fn transact(
        &self,
        body: impl Fn(&Session<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let outcome = RefCell::new(Ok(()));
        let done = self.engine.transact(|transaction| {
            let session =
                Session { bench: self, transaction: Some(transaction), log: RefCell::default() };
            let found = body(&session);
            let failed = found.is_err();
            *outcome.borrow_mut() = found;
            if failed {
                return Err(shelfmark_engine::Error::invalid("the plan cannot go on"));
            }
            Ok(())
        });
        outcome.into_inner()?;
        done.map_err(text)
    }

    fn table(&self, at: usize) -> Result<&Arc<Table>, String> {
        self.tables.get(at).ok_or_else(|| "no such table".to_owned())
    }

    fn index_name(&self, at: usize) -> Option<String> {
        let form = self.layout.tables.get(at)?;
        form.base.map(|_| form.name.clone())
    }
}

/// Sorts rows in the order of tables and keys.
pub(crate) fn sorted(mut images: Vec<Image>) -> Vec<Image> {
    images.sort_by(|a, b| (a.table, &a.key).cmp(&(b.table, &b.key)));
    images
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Returns the engine's schema of a table with its indexes.
fn schema(layout: &Layout, at: usize) -> TableSchema {
    let name = layout.tables.get(at).map_or("", |form| form.name.as_str());
    let (partition, sort) = key_columns(layout, at);
    let first = partition.first().cloned();
    let first = first.unwrap_or_else(|| KeyColumn::new(WHOLE_COLUMN, KeyType::Text));
    let mut schema = TableSchema::new(TableName::new(NAMESPACE, name), first);
    schema.partition = partition;
    schema.sort = sort;
    schema.placement = if layout.ordered { Placement::Ordered } else { Placement::Hashed };
    for (index, form) in layout.tables.iter().enumerate() {
        if form.base == Some(at) {
            let (partition, sort) = key_columns(layout, index);
            schema.indexes.push(IndexSchema {
                name: form.name.clone(),
                kind: IndexKind::Secondary,
                partition,
                sort,
                projected: Projected::All,
                state: IndexState::Public,
            });
        }
    }
    schema
}

/// Returns the key columns; a table that is one run of keys has a single constant partition.
fn key_columns(layout: &Layout, at: usize) -> (Vec<KeyColumn>, Vec<SortColumn>) {
    let (mut partition, mut sort) = (Vec::new(), Vec::new());
    let Some(form) = layout.tables.get(at) else { return (partition, sort) };
    for (number, column) in form.columns.iter().enumerate() {
        let (name, key) = (column_name(layout, at, number), key_type(column.form));
        if number < form.partition {
            partition.push(KeyColumn::new(name, key));
        } else {
            sort.push(SortColumn::new(name, key, direction(column.desc)));
        }
    }
    if partition.is_empty() {
        partition.push(KeyColumn::new(WHOLE_COLUMN, KeyType::Text));
    }
    (partition, sort)
}

pub(crate) fn direction(desc: bool) -> Direction {
    if desc { Direction::Descending } else { Direction::Ascending }
}

impl Session<'_> {
    /// Returns the reads so far.
    pub(crate) fn log(self) -> Vec<Access> {
        self.log.into_inner()
    }

    fn get(&self, ask: &Ask, partition: Vec<Value>, sort: Vec<Value>) -> Result<Vec<Item>, String> {
        let table = self.bench.table(ask.table)?;
        let get = Get::new(Key { partition, sort });
        let got = match self.transaction {
            Some(transaction) => transaction.get(table, &get),
            None => self.bench.engine.get(table, &get),
        };
        let got = got.map_err(text)?;
        self.log.borrow_mut().push(Access { ask: ask.clone(), report: got.report });
        Ok(got.item.into_iter().collect())
    }

    fn page(&self, ask: &Ask, page: ResultPage) -> Vec<Item> {
        self.log.borrow_mut().push(Access { ask: ask.clone(), report: page.report });
        page.items
    }

    fn scan(&self, ask: &Ask) -> Result<Vec<Item>, String> {
        let table = self.bench.table(ask.table)?;
        let scan = Scan {
            index: self.bench.index_name(ask.table),
            descending: ask.desc,
            limit: ask.limit,
            ..Scan::default()
        };
        let page = match self.transaction {
            Some(transaction) => transaction.scan(table, &scan),
            None => self.bench.engine.scan(table, &scan),
        };
        Ok(self.page(ask, page.map_err(text)?))
    }

    fn query(
        &self,
        ask: &Ask,
        partition: Vec<Value>,
        sort: SortCondition,
    ) -> Result<Vec<Item>, String> {
        let table = self.bench.table(ask.table)?;
        let mut query = Query::partition(partition).sort(sort);
        query.index = self.bench.index_name(ask.table);
        query.descending = ask.desc;
        query.limit = ask.limit;
        let page = match self.transaction {
            Some(transaction) => transaction.query(table, &query),
            None => self.bench.engine.query(table, &query),
        };
        Ok(self.page(ask, page.map_err(text)?))
    }

    fn items(&self, ask: &Ask) -> Result<Vec<Item>, String> {
        let layout = &self.bench.layout;
        let form = layout.tables.get(ask.table).ok_or("no such table")?;
        let mut values = key_values(layout, ask.table, &ask.bound)?;
        let open = ask.prefix.is_none() && ask.low == Limit::Open && ask.high == Limit::Open;
        if values.is_empty() && open && form.partition > 0 {
            return self.scan(ask);
        }
        if values.len() < form.partition {
            return Err(format!("the partition of {} is not known", form.name));
        }
        let equal = values.split_off(form.partition);
        let partition = if values.is_empty() { vec![Value::text(WHOLE)] } else { values };
        if ask.point {
            return self.get(ask, partition, equal);
        }
        let column = form.columns.get(ask.bound.len());
        let bound = |limit: &Limit| -> Result<SortBound, String> {
            let (value, included) = match limit {
                Limit::Open => return Ok(SortBound::Unbounded),
                Limit::Included(value) => (value, true),
                Limit::Excluded(value) => (value, false),
            };
            let value = key_value(column.ok_or("no column is left for the range")?.form, value)?;
            Ok(if included { SortBound::Included(value) } else { SortBound::Excluded(value) })
        };
        let sort = match &ask.prefix {
            Some(prefix) => {
                SortCondition::BeginsWith { equal, prefix: Value::text(prefix.clone()) }
            }
            None if open => SortCondition::Equal(equal),
            None => {
                SortCondition::Range { equal, lower: bound(&ask.low)?, upper: bound(&ask.high)? }
            }
        };
        self.query(ask, partition, sort)
    }

    fn write(&self, write: &Write) -> Result<(), String> {
        match self.transaction {
            Some(transaction) => transaction.write(write).map_err(text)?,
            None => self.bench.engine.write(write.clone()).map_err(text)?,
        };
        Ok(())
    }
}

impl Shelf for Session<'_> {
    fn read(&self, ask: &Ask) -> Result<Vec<Image>, String> {
        if ask.limit == Some(0) {
            return Ok(Vec::new());
        }
        let layout = &self.bench.layout;
        let base = layout.tables.get(ask.table).and_then(|form| form.base).unwrap_or(ask.table);
        self.items(ask)?.iter().map(|item| image(layout, base, item)).collect()
    }

    fn put(&self, row: &Image) -> Result<(), String> {
        let item = item(&self.bench.layout, row)?;
        self.write(&Write::put(self.bench.table(row.table)?, item))
    }

    fn remove(&self, table: usize, key: &[KeyValue]) -> Result<(), String> {
        let form = self.bench.layout.tables.get(table).ok_or("no such table")?;
        let mut values = key_values(&self.bench.layout, table, key)?;
        let sort = values.split_off(form.partition.min(values.len()));
        let partition = if values.is_empty() { vec![Value::text(WHOLE)] } else { values };
        self.write(&Write::delete(self.bench.table(table)?, Key { partition, sort }))
    }
}
