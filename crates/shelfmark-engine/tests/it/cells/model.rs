//! Random mutations against an oracle that looks at all of them anew for every answer.
//!
//! The oracle keeps no rows. Of each cell it takes, of all writes that were made, the one that wins,
//! so the order in which they came cannot matter to it; the engine must come to the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use shelfmark_engine::{
    CellChange, CellIndexQuery, CellLimits, CellOperation, CellQuery, CellScan, ErrorKind, LiveRow,
    Mutation, Span, SpanBound, SweepPosition, Table,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{CellIndex, CellIndexTarget, IndexState, TableName, TableSchema, TextFold};
use shelfmark_store::fault_injection::FaultOptions;
use shelfmark_store::random::SplitMix;
use shelfmark_testkit::seeds;

use super::derived::view;
use super::{A, B, MAP, STATIC, as_text, bytes, int, key, mutation, name_of, schema, text};
use crate::drivers::{Bed, meaner, memory, on_every_driver, patiently};

const PARTITIONS: [&str; 2] = ["p", "q"];
const COLUMNS: i32 = 4;
const ROWS: [&str; 2] = ["x", "y"];

/// Where a cell or a row is: partition, clustering key as text; `-` for the statics.
type Place = (String, String);

/// Live cells: timestamp and value, by column and path.
type Cells = BTreeMap<(u32, String), (i64, String)>;

/// How one write of a cell ranks among those of its timestamp, and what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    at: i64,
    /// Plain, expiring, dead.
    rank: u8,
    expires: u64,
    value: String,
}

#[derive(Debug, Clone)]
enum Deleted {
    Row(Place),
    Span(String, i32, i32),
    Partition(String),
}

#[derive(Debug, Default)]
struct Oracle {
    cells: Vec<(Place, u32, String, Said)>,
    cleared: Vec<(Place, u32, i64)>,
    inserted: Vec<(Place, i64, u64)>,
    deleted: Vec<(Deleted, i64)>,
}

impl Oracle {
    fn note(&mut self, mutation: &Mutation, now: u64) {
        let pk = as_text(&mutation.partition);
        let at = mutation.timestamp;
        let expires =
            mutation.ttl_seconds.map_or(u64::MAX, |ttl| now.saturating_add(u64::from(ttl)));
        match &mutation.change {
            CellChange::Row { clustering, is_insert, operations } => {
                let place = (pk, name_of(Some(clustering)));
                if *is_insert {
                    self.inserted.push((place.clone(), at, expires));
                }
                operations.iter().for_each(|own| self.operation(&place, own, at, expires, now));
            }
            CellChange::Statics(operations) => {
                let place = (pk, "-".to_owned());
                operations.iter().for_each(|own| self.operation(&place, own, at, expires, now));
            }
            CellChange::DeleteRow(clustering) => {
                self.deleted.push((Deleted::Row((pk, name_of(Some(clustering)))), at));
            }
            CellChange::DeleteSpan(span) => {
                let bound = |bound: &Option<SpanBound>| {
                    let bytes = bound.as_ref().unwrap().values[0].clone().unwrap();
                    i32::from_be_bytes(bytes.as_ref().try_into().unwrap())
                };
                self.deleted.push((Deleted::Span(pk, bound(&span.lower), bound(&span.upper)), at));
            }
            CellChange::DeletePartition => self.deleted.push((Deleted::Partition(pk), at)),
        }
    }

    fn operation(
        &mut self,
        place: &Place,
        operation: &CellOperation,
        at: i64,
        expires: u64,
        now: u64,
    ) {
        let mut say = |column: u32, path: &[u8], said: Said| {
            self.cells.push((place.clone(), column, as_text(path), said));
        };
        let live = |value: &[u8]| Said {
            at,
            rank: u8::from(expires != u64::MAX),
            expires,
            value: as_text(value),
        };
        let dead = || Said { at, rank: 2, expires: now, value: String::new() };
        match operation {
            CellOperation::Set { column, value } => say(*column, &[], live(value)),
            CellOperation::Delete { column } => say(*column, &[], dead()),
            CellOperation::SetElement { column, path, value } => say(*column, path, live(value)),
            CellOperation::DeleteElement { column, path } => say(*column, path, dead()),
            CellOperation::Clear { column } => self.cleared.push((place.clone(), *column, at)),
            CellOperation::Overwrite { column, elements } => {
                elements.iter().for_each(|(path, value)| say(*column, path, live(value)));
                self.cleared.push((place.clone(), *column, at - 1));
            }
            other => panic!("not part of the model: {other:?}"),
        }
    }

    fn deleted_up_to(&self, place: &Place) -> i64 {
        let covers = |deleted: &Deleted| match deleted {
            Deleted::Row(row) => row == place,
            Deleted::Partition(pk) => *pk == place.0,
            Deleted::Span(pk, first, last) => {
                let c = place.1.split_once('/').and_then(|(c, _)| c.parse::<i32>().ok());
                *pk == place.0 && c.is_some_and(|c| (*first..=*last).contains(&c))
            }
        };
        let covering = self.deleted.iter().filter(|(deleted, _)| covers(deleted));
        covering.map(|(_, at)| *at).max().unwrap_or(i64::MIN)
    }

    /// The live cells of a place; `None` if it does not exist.
    fn row(&self, place: &Place, now: u64) -> Option<Cells> {
        let deleted = self.deleted_up_to(place);
        let mut winners: BTreeMap<(u32, String), &Said> = BTreeMap::new();
        for (own, column, path, said) in &self.cells {
            let cleared = self.cleared.iter().filter(|(p, c, _)| (p, c) == (place, column));
            let cleared = cleared.map(|(_, _, at)| *at).max().unwrap_or(i64::MIN);
            if own != place || said.at <= deleted.max(cleared) {
                continue;
            }
            let winner = winners.entry((*column, path.clone())).or_insert(said);
            *winner = (*winner).max(said);
        }
        let live = winners.into_iter().filter(|(_, said)| said.rank < 2 && said.expires > now);
        let cells: BTreeMap<_, _> =
            live.map(|(key, said)| (key, (said.at, said.value.clone()))).collect();
        let markers = self.inserted.iter().filter(|(own, at, _)| own == place && *at > deleted);
        let is_inserted =
            markers.map(|(_, at, expires)| (*at, *expires != u64::MAX, *expires)).max();
        let is_inserted = is_inserted.is_some_and(|(_, _, expires)| expires > now);
        (is_inserted || !cells.is_empty()).then_some(cells)
    }

    fn places() -> impl Iterator<Item = Place> {
        PARTITIONS.into_iter().flat_map(|pk| {
            (0..COLUMNS).flat_map(move |c| {
                ROWS.into_iter().map(move |d| (pk.to_owned(), format!("{c}/{d}")))
            })
        })
    }

    /// Every row that exists, by place.
    fn rows(&self, now: u64) -> BTreeMap<Place, Cells> {
        Self::places().filter_map(|place| Some((place.clone(), self.row(&place, now)?))).collect()
    }
}

fn random_mutation(random: &mut SplitMix, table: &Arc<Table>) -> Mutation {
    let pk = PARTITIONS[random.index(2)];
    let at = 1 + i64::try_from(random.below(10)).unwrap();
    let c = i32::try_from(random.below(4)).unwrap();
    let clustering = key(c, ROWS[random.index(2)]);
    let change = match random.below(20) {
        0 => CellChange::DeletePartition,
        1..=2 => CellChange::DeleteRow(clustering),
        3..=4 => {
            let bound = |c: i32| Some(SpanBound { values: vec![int(c)], included: true });
            let last = c + i32::try_from(random.below(3)).unwrap();
            CellChange::DeleteSpan(Span { equal: vec![], lower: bound(c), upper: bound(last) })
        }
        5..=6 => CellChange::Statics(vec![random_plain(random, STATIC)]),
        _ => {
            let operations = (0..random.index(3)).map(|_| random_operation(random)).collect();
            CellChange::Row { clustering, is_insert: random.chance(400), operations }
        }
    };
    let ttl = [5, 20, 50][random.index(3)];
    Mutation { ttl_seconds: random.chance(250).then_some(ttl), ..mutation(table, pk, at, change) }
}

fn random_plain(random: &mut SplitMix, column: u32) -> CellOperation {
    let value = bytes(["", "red", "blue", "green"][random.index(4)]);
    if random.chance(200) {
        return CellOperation::Delete { column };
    }
    CellOperation::Set { column, value }
}

fn random_operation(random: &mut SplitMix) -> CellOperation {
    let path = bytes(["", "k", "l"][random.index(3)]);
    let value = bytes(["1", "2"][random.index(2)]);
    match random.below(8) {
        0..=2 => random_plain(random, A),
        3 => random_plain(random, B),
        4..=5 => CellOperation::SetElement { column: MAP, path, value },
        6 => match random.chance(500) {
            true => CellOperation::Clear { column: MAP },
            false => CellOperation::DeleteElement { column: MAP, path },
        },
        _ => CellOperation::Overwrite { column: MAP, elements: vec![(path, value)] },
    }
}

fn cells_of(row: &LiveRow) -> Cells {
    row.cells
        .iter()
        .map(|cell| ((cell.column, as_text(&cell.path)), (cell.timestamp, as_text(&cell.value))))
        .collect()
}

fn indexed() -> TableSchema {
    let index = |name: &str, target, term| CellIndex {
        name: name.to_owned(),
        target,
        terms: vec![term],
        fold: TextFold::default(),
        state: IndexState::Public,
    };
    let mut schema = schema("t");
    schema.cells.as_mut().unwrap().indexes = vec![
        index("by_a", CellIndexTarget::Column(A), KeyType::Text),
        index("by_static", CellIndexTarget::Column(STATIC), KeyType::Text),
        index("by_key", CellIndexTarget::Keys(MAP), KeyType::Text),
        index("by_value", CellIndexTarget::Values(MAP), KeyType::Text),
        index("by_c", CellIndexTarget::SortColumn(0), KeyType::I32),
        index("by_pk", CellIndexTarget::PartitionColumn(0), KeyType::Text),
    ];
    schema
}

/// Compares everything that can be read with the oracle.
fn compare(bed: &Bed, table: &Table, oracle: &Oracle, now: u64, seed: u64) {
    let limits = CellLimits { statics: true, rows_max: Some(3), ..CellLimits::default() };
    let expected = oracle.rows(now);
    let mut found = BTreeMap::new();
    let mut scan = CellScan { limits: limits.clone(), ..CellScan::default() };
    loop {
        let page = patiently(|| bed.engine.scan_cells(table, &scan)).unwrap();
        for entry in &page.rows {
            let pk = as_text(&entry.partition);
            let statics = oracle.row(&(pk.clone(), "-".to_owned()), now).unwrap_or_default();
            assert_eq!(cells_of(entry.statics.as_ref().unwrap()), statics, "seed {seed}");
            let place = (pk.clone(), name_of(entry.clustering.as_deref()));
            if entry.clustering.is_none() {
                assert!(expected.keys().all(|(own, _)| *own != pk), "seed {seed}: {pk} has rows");
                assert!(!statics.is_empty());
            } else {
                assert!(found.insert(place, cells_of(&entry.row)).is_none(), "seed {seed}: twice");
            }
        }
        match page.cursor {
            Some(cursor) => scan.limits.start = Some(cursor),
            None => break,
        }
    }
    assert_eq!(found, expected, "seed {seed}");
    for pk in PARTITIONS {
        let query = CellQuery { partition: bytes(pk), ..CellQuery::default() };
        let page = patiently(|| bed.engine.query_cells(table, &query)).unwrap();
        let rows = page.rows.iter().filter(|entry| entry.clustering.is_some()).count();
        assert_eq!(rows, expected.keys().filter(|(own, _)| own == pk).count(), "seed {seed}");
        assert_eq!(page.report.rows_read(), page.rows.iter().map(|_| 1).sum::<u64>());
    }
    compare_indexes(bed, table, oracle, now, seed);
}

fn compare_indexes(bed: &Bed, table: &Table, oracle: &Oracle, now: u64, seed: u64) {
    let rows = oracle.rows(now);
    let hits = |index: &str, term| -> BTreeSet<Place> {
        let query = CellIndexQuery {
            index: index.to_owned(),
            terms: Span::equal(vec![term]),
            partition: None,
            tokens: (Bound::Unbounded, Bound::Unbounded),
            limits: CellLimits::default(),
        };
        let page = patiently(|| bed.engine.query_cell_index(table, &query)).unwrap();
        let name = |entry: &shelfmark_engine::CellEntry| {
            (as_text(&entry.partition), name_of(entry.clustering.as_deref()))
        };
        let names: BTreeSet<Place> = page.rows.iter().map(name).collect();
        assert_eq!(names.len(), page.rows.len(), "seed {seed}: each row once");
        names
    };
    let holding = |holds: &dyn Fn(&Place, &Cells) -> bool| {
        rows.iter()
            .filter(|(place, row)| holds(place, row))
            .map(|(place, _)| place.clone())
            .collect()
    };
    for value in ["", "red", "blue", "green"] {
        let has = |column: u32, row: &Cells| {
            row.get(&(column, String::new())).is_some_and(|(_, own)| own == value)
        };
        let expected: BTreeSet<Place> = holding(&|_, row| has(A, row));
        assert_eq!(hits("by_a", text(value)), expected, "seed {seed}: {value}");
        let statics = PARTITIONS.iter().map(|pk| ((*pk).to_owned(), "-".to_owned()));
        let expected: BTreeSet<Place> = statics
            .filter(|place| oracle.row(place, now).is_some_and(|row| has(STATIC, &row)))
            .collect();
        assert_eq!(hits("by_static", text(value)), expected, "seed {seed}: {value}");
    }
    for path in ["", "k", "l"] {
        let expected: BTreeSet<Place> =
            holding(&|_, row| row.contains_key(&(MAP, path.to_owned())));
        assert_eq!(hits("by_key", text(path)), expected, "seed {seed}: {path}");
    }
    for value in ["1", "2"] {
        let expected: BTreeSet<Place> = holding(&|_, row| {
            row.iter().any(|((column, _), (_, own))| *column == MAP && own == value)
        });
        assert_eq!(hits("by_value", text(value)), expected, "seed {seed}: {value}");
    }
    for pk in PARTITIONS {
        let mut expected: BTreeSet<Place> = holding(&|place, _| place.0 == pk);
        // Statics have an entry of their own, for the partition may have nothing else.
        let statics = (pk.to_owned(), "-".to_owned());
        if oracle.row(&statics, now).is_some() {
            expected.insert(statics);
        }
        assert_eq!(hits("by_pk", text(pk)), expected, "seed {seed}: {pk}");
    }
    for c in 0..COLUMNS {
        let expected: BTreeSet<Place> = holding(&|place, _| place.1.starts_with(&format!("{c}/")));
        assert_eq!(hits("by_c", int(c)), expected, "seed {seed}: {c}");
    }
}

fn compare_view(bed: &Bed, view: &Table, oracle: &Oracle, now: u64, seed: u64) {
    let expected: BTreeSet<(String, Place, Option<String>)> = oracle
        .rows(now)
        .into_iter()
        .filter_map(|(place, row)| {
            let (_, a) = row.get(&(A, String::new()))?;
            let b = row.get(&(B, String::new())).map(|(_, value)| value.clone());
            // An empty value is a partition key here, which of a table of its own it is not.
            Some((a.clone(), place, b))
        })
        .collect();
    let page = patiently(|| bed.engine.scan_cells(view, &CellScan::default())).unwrap();
    let found = page.rows.iter().map(|entry| {
        let [d, c, pk] = entry.clustering.as_deref().unwrap() else { panic!("three columns") };
        let place = name_of(Some(&[c.clone(), d.clone()]));
        let b = entry.row.cell(B).map(|cell| as_text(&cell.value));
        (as_text(&entry.partition), (as_text(pk.as_ref().unwrap()), place), b)
    });
    assert_eq!(found.collect::<BTreeSet<_>>(), expected, "seed {seed}: the view");
}

/// Writes the same again as long as nobody knows whether it was written: that changes nothing.
fn write(bed: &Bed, batch: &[Mutation]) {
    loop {
        match bed.try_cells(batch.to_vec()) {
            Err(error) if error.kind() == ErrorKind::Undetermined => {}
            ended => return ended.unwrap(),
        }
    }
}

fn run(bed: &Bed, seed: u64, name: &str) {
    let faults = |on: bool| bed.meanest.iter().for_each(|meanest| meanest.set_faults(on));
    faults(false);
    let mut random = SplitMix::new(seed);
    let mut schema = indexed();
    schema.name = TableName::new("ks", name);
    let table = bed.create_table(schema).unwrap();
    let mut view = view(IndexState::Public);
    view.name = TableName::new("ks", format!("{name}_view"));
    if let Some(own) = view.cells.as_mut().and_then(|cells| cells.view_of.as_mut()) {
        own.base = table.schema.name.clone();
    }
    let view = bed.create_table(view).unwrap();
    faults(true);
    let mut oracle = Oracle::default();
    let now = || bed.engine.environment().clock.now_seconds();
    let mut written = Vec::new();
    for _ in 0..12 {
        let batch: Vec<Mutation> =
            (0..1 + random.index(6)).map(|_| random_mutation(&mut random, &table)).collect();
        batch.iter().for_each(|mutation| oracle.note(mutation, now()));
        write(bed, &batch);
        written.extend(batch);
        compare(bed, &table, &oracle, now(), seed);
        compare_view(bed, &view, &oracle, now(), seed);
    }
    // The same again in another order changes nothing.
    for _ in 0..8 {
        let again = written[random.index(written.len())].clone();
        write(bed, &[again]);
    }
    compare(bed, &table, &oracle, now(), seed);
    bed.check_sound();
    let mut position = SweepPosition::default();
    for seconds in [5, 15, 30, 100] {
        bed.seconds(seconds);
        compare(bed, &table, &oracle, now(), seed);
        compare_view(bed, &view, &oracle, now(), seed);
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        bed.check_sound();
    }
    // What is forgotten after the grace was dead before.
    bed.seconds(u64::from(super::GRACE_SECONDS) + 10);
    while bed.sweep(&mut position, 100).unwrap() > 0 {}
    compare(bed, &table, &oracle, now(), seed);
    compare_view(bed, &view, &oracle, now(), seed);
    bed.check_sound();
}

#[test]
fn random_mutations_come_to_what_an_oracle_says() {
    seeds::each(60, 3_000, |seed| run(&memory(), seed, "t"));
}

#[test]
fn random_mutations_come_to_the_same_on_every_driver() {
    on_every_driver(|bed| {
        seeds::each(4, 100, |seed| run(bed, 1_000 + seed, &format!("t{seed}")));
    });
}

#[test]
fn random_mutations_come_to_the_same_when_nobody_knows_how_writes_end() {
    seeds::each(6, 200, |seed| {
        let options = FaultOptions::new(seed);
        let options = FaultOptions { conflict: 100, busy: 50, undetermined: 100, ..options };
        run(&meaner(options), 2_000 + seed, "t");
    });
}
