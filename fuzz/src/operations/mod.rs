//! Sequences of operations on the engine, each answer compared with a plain map's.
//!
//! Input: operations until it is used up, each a byte for the kind, a byte for the table, then what
//! it needs. See `Run::operation`.

mod make;
mod oracle;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{
    AccessReport, Cursor, Engine, Error, ErrorKind, Get, ItemChange, Once, Query, Refusal, Scan,
    Segment, SweepPosition, Table, Token, Transaction, Write, Written,
};
use shelfmark_model::{Item, Key, SortCondition, Value};
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock as _, ManualClock};

use crate::bed;
use crate::input::Input;
use oracle::{End, Row, Rows, apply, is_shown, meets, place};

/// Most operations of one input.
const OPERATIONS_MAX: usize = 64;

/// Most pages of one read: more than there are items.
const PAGES_MAX: usize = 400;

/// Runs one input.
pub fn run(data: &[u8]) {
    let clock = bed::clock();
    let store = bed::store(&clock);
    let engine = Engine::open(Arc::clone(&store), bed::environment(&clock)).expect("it is new");
    let tables = bed::create_tables(&engine);
    let oracle = vec![Rows::default(); tables.len()];
    let mut run = Run { clock, store, engine, tables, oracle, tokens: BTreeMap::new() };
    let mut input = Input::new(data);
    for _ in 0..OPERATIONS_MAX {
        if input.is_empty() {
            break;
        }
        run.operation(&mut input);
    }
    run.check_everything();
}

struct Run {
    clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    engine: Engine,
    tables: Vec<Arc<Table>>,
    /// What the tables hold, in the same order.
    oracle: Vec<Rows>,
    /// Tokens used, with the hash of their request and their expiry.
    tokens: BTreeMap<u8, (u64, u64)>,
}

impl Run {
    fn now(&self) -> u64 {
        self.clock.now_seconds()
    }

    /// Does one operation: 0, 1 write, 2 several writes, 3 get, 4 query, 5 scan, 6 query an index,
    /// 7 let time pass, 8 sweep, 9 transaction, 10 writes with a token, 11 open anew, 12 look at
    /// everything, 13 split shards.
    fn operation(&mut self, input: &mut Input<'_>) {
        let kind = input.below(14);
        let number = input.below(self.tables.len());
        let table = Arc::clone(&self.tables[number]);
        match kind {
            0 | 1 => {
                let write = make::write(input, &table);
                let ends = self.expected(&[(number, write.clone())]);
                let answer = self.engine.write(write).map(|written| vec![written]);
                self.settle(answer, ends);
            }
            2 => {
                let writes = self.writes(input, number);
                let ends = self.expected(&writes);
                let answer = self.engine.write_all(only(writes));
                self.settle(answer, ends);
            }
            3 => self.get(&table, number, &make::key(input, &table)),
            4 => self.query(input, &table, number),
            5 => self.scan(input, &table, number),
            6 => self.query_indexes(&table, number, &make::text(input), input.flag()),
            7 => self.clock.advance(Duration::from_secs(u64::from(input.byte()))),
            8 => self.sweep(),
            9 => self.transaction(input, number),
            10 => self.once(input, number),
            11 => {
                let environment = bed::environment(&self.clock);
                self.engine =
                    Engine::open(Arc::clone(&self.store), environment).expect("the store is whole");
                let name = |table: &Arc<Table>| self.engine.table(&table.schema.name);
                self.tables =
                    self.tables.iter().map(name).collect::<Result<_, _>>().expect("tables stay");
            }
            12 => self.check_everything(),
            _ => {
                self.engine.split_due(&table).expect("nobody is in the way");
            }
        }
    }

    /// Several writes: each a byte for the table, then as one.
    fn writes(&self, input: &mut Input<'_>, number: usize) -> Vec<(usize, Write)> {
        (0..input.below(5))
            .map(|_| {
                let number = if input.flag() { input.below(self.tables.len()) } else { number };
                (number, make::write(input, &self.tables[number]))
            })
            .collect()
    }

    /// Returns how writes that happen together end, each, and what the tables hold then.
    fn expected(&self, writes: &[(usize, Write)]) -> (Vec<End>, Vec<Rows>) {
        let mut after = self.oracle.clone();
        let mut ends = Vec::with_capacity(writes.len());
        for (number, write) in writes {
            ends.push(apply(&mut after[*number], &self.tables[*number], write, self.now()));
        }
        (ends, after)
    }

    /// Compares an answer with what was expected, and takes over what the tables hold then.
    fn settle(&mut self, answer: Result<Vec<Written>, Error>, expected: (Vec<End>, Vec<Rows>)) {
        let (ends, after) = expected;
        match answer {
            Ok(written) => {
                assert_eq!(written.len(), ends.len());
                for (written, end) in written.iter().zip(&ends) {
                    check_written(written, end);
                }
                self.oracle = after;
            }
            Err(error) => check_refused(&error, &ends),
        }
    }

    fn get(&self, table: &Table, number: usize, key: &Key) {
        let got = self.engine.get(table, &Get::new(key.clone())).expect("the key fits");
        let expected = self.row(table, number, key);
        assert_eq!(got.item, expected, "{key:?}");
        let rows = u64::from(got.item.is_some());
        assert_eq!((got.report.rows_read(), got.report.rows_returned()), (rows, rows));
    }

    fn row(&self, table: &Table, number: usize, key: &Key) -> Option<Item> {
        let place = place(table, key).expect("the key fits");
        let row = self.oracle[number].rows.get(&place)?;
        is_shown(table, row, self.now()).then(|| row.item.clone())
    }

    /// Returns the rows that readers see.
    fn shown(&self, table: &Table, number: usize) -> Vec<&Row> {
        let rows = self.oracle[number].rows.values();
        rows.filter(|row| is_shown(table, row, self.now())).collect()
    }

    fn query(&self, input: &mut Input<'_>, table: &Table, number: usize) {
        let partition = make::partition(input, table);
        let condition = make::sort_condition(input, table);
        let mut query = Query::partition(partition.clone()).sort(condition.clone());
        query.descending = input.flag();
        query.limit = Some(input.below(6)).filter(|limit| *limit > 0);
        query.filter = input.flag().then(|| make::condition(input, 1));
        query.peek = input.flag();
        let Some(mut expected) = self.partition(table, number, &partition, &condition) else {
            let error = self.engine.query(table, &query).expect_err("it cannot be asked");
            assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            return;
        };
        let evaluated = expected.len();
        if query.descending {
            expected.reverse();
        }
        if let Some(filter) = &query.filter {
            expected.retain(|item| filter.holds(item));
        }
        let mut found = Vec::new();
        let mut report = AccessReport::default();
        let mut pages = 0;
        loop {
            let page = self.engine.query(table, &query).expect("it can be asked");
            assert_eq!(page.count, page.items.len());
            assert!(query.limit.is_none_or(|limit| page.evaluated <= limit));
            found.extend(page.items);
            report.extend(page.report);
            let Some(cursor) = page.cursor else { break };
            query.start = Some(Cursor::from_bytes(&cursor.to_bytes()).expect("it was one"));
            pages += 1;
            assert!(pages < PAGES_MAX, "the pages do not end");
        }
        assert_eq!(found, expected, "{condition:?}");
        let read = (report.rows_read(), report.rows_returned());
        assert_eq!(read, (count(evaluated), count(expected.len())), "rows read and returned");
    }

    /// Returns the items of a partition that meet a condition, in order; nothing if that cannot be
    /// asked.
    fn partition(
        &self,
        table: &Table,
        number: usize,
        partition: &[Value],
        condition: &SortCondition,
    ) -> Option<Vec<Item>> {
        // Also on an empty partition, a wrong condition is wrong.
        let columns = &table.schema.sort;
        let nothing = |column: &shelfmark_model::SortColumn| {
            make::key_value(&mut Input::new(&[]), &column.key_type)
        };
        meets(columns, &columns.iter().map(nothing).collect::<Vec<_>>(), condition)?;
        let of = |key: &Key| place(table, key).map(|(partition, _)| partition);
        let key = |key: &Key| Key { partition: key.partition.clone(), sort: Vec::new() };
        let wanted = of(&Key { partition: partition.to_vec(), sort: Vec::new() });
        let rows = self.shown(table, number).into_iter();
        let rows = rows.filter(|row| of(&key(&row.key)) == wanted);
        let kept = rows.filter(|row| meets(columns, &row.key.sort, condition) == Some(true));
        Some(kept.map(|row| row.item.clone()).collect())
    }

    /// Every item is in one of the segments, once, partition by partition.
    fn scan(&self, input: &mut Input<'_>, table: &Table, number: usize) {
        let total = u32::try_from(1 + input.below(4)).unwrap_or(1);
        let descending = input.flag();
        let limit = Some(input.below(6)).filter(|limit| *limit > 0);
        let mut found = Vec::new();
        for segment in 0..total {
            let segment = (total > 1).then_some(Segment { number: segment, total });
            let mut scan = Scan { segment, descending, limit, ..Scan::default() };
            let mut part = Vec::new();
            for pages in 0.. {
                assert!(pages < PAGES_MAX, "the pages do not end");
                let page = self.engine.scan(table, &scan).expect("tables can be scanned");
                part.extend(page.items);
                scan.start = page.cursor;
                if scan.start.is_none() {
                    break;
                }
            }
            if descending {
                part.reverse();
            }
            found.extend(part);
        }
        let mut partitions: Vec<Vec<u8>> = Vec::new();
        let mut sorted = BTreeMap::new();
        for item in found {
            let key = table.key_of(&item).expect("items have their keys");
            let (partition, sort) = place(table, &key).expect("items have their keys");
            if partitions.last() != Some(&partition) {
                assert!(!partitions.contains(&partition), "a partition lies in two places");
                partitions.push(partition.clone());
            }
            if let Some(((last, before), _)) = sorted.last_key_value()
                && *last == partition
            {
                assert!(*before < sort, "the partition is out of order");
            }
            assert!(sorted.insert((partition, sort), item).is_none(), "an item came twice");
        }
        let rows = self.oracle[number].rows.iter();
        let shown = rows.filter(|(_, row)| is_shown(table, row, self.now()));
        let expected: BTreeMap<_, _> =
            shown.map(|(place, row)| (place.clone(), row.item.clone())).collect();
        assert_eq!(sorted, expected);
    }

    /// Asks each index of the table for one key.
    fn query_indexes(&self, table: &Table, number: usize, text: &str, descending: bool) {
        for index in table.indexes() {
            let schema = &index.schema;
            let column = &schema.partition[0].name;
            let has_text = |item: &Item| item.get(column).and_then(Value::as_text) == Some(text);
            let mut rows = self.shown(table, number);
            rows.retain(|row| has_text(&row.item));
            if let Some(sort) = schema.sort.first() {
                // Entries without a number are not there; the largest number comes first.
                let bytes = |row: &Row| {
                    oracle::component(&sort.key_type, sort.direction, row.item.get(&sort.name)?)
                };
                rows.retain(|row| bytes(row).is_some());
                rows.sort_by_key(|row| (bytes(row), place(table, &row.key)));
            }
            if descending {
                rows.reverse();
            }
            let mut query = Query::partition(vec![text.into()]).index(&schema.name);
            query.descending = descending;
            for fetch_base in [true, false] {
                query.fetch_base = fetch_base;
                let page = self.engine.query(table, &query).expect("the index is there");
                let expected: Vec<Item> = rows
                    .iter()
                    .map(|row| {
                        if fetch_base {
                            row.item.clone()
                        } else {
                            projected(table, row, &schema.name)
                        }
                    })
                    .collect();
                assert_eq!(page.items, expected, "index {} for {text:?}", schema.name);
            }
        }
    }

    fn sweep(&mut self) {
        let mut position = SweepPosition::default();
        let mut rounds = 0;
        while self.engine.sweep(&mut position, 3).expect("the store is whole") == 3 {
            rounds += 1;
            assert!(rounds < PAGES_MAX, "the sweep does not end");
        }
        let now = self.now();
        for (rows, table) in self.oracle.iter_mut().zip(&self.tables) {
            oracle::sweep(rows, table, now);
        }
        self.tokens.retain(|_, (_, expires_at)| *expires_at > now);
    }

    /// Writes and reads in a transaction that is kept or given up.
    fn transaction(&mut self, input: &mut Input<'_>, number: usize) {
        let keeps = input.flag();
        let writes = self.writes(input, number);
        let outcome = self.engine.transact(|transaction| {
            // The body may run again: each run begins with what there was.
            let mut after = self.oracle.clone();
            for (number, write) in &writes {
                self.step(transaction, &mut after[*number], *number, write)?;
            }
            if keeps { Ok(after) } else { Err(Error::invalid("given up")) }
        });
        match outcome {
            Ok(after) => self.oracle = after,
            Err(error) => {
                let wrong = [ErrorKind::Invalid, ErrorKind::LimitExceeded].contains(&error.kind());
                assert!(wrong, "{:?}: {error}", error.kind());
            }
        }
    }

    /// One write of a transaction, and a look at what the transaction sees then.
    fn step(
        &self,
        transaction: &Transaction<'_>,
        rows: &mut Rows,
        number: usize,
        write: &Write,
    ) -> Result<(), Error> {
        let table = &self.tables[number];
        let end = apply(rows, table, write, self.now());
        match transaction.write(write) {
            Ok(written) => check_written(&written, &end),
            // The table is made ready for large rows, and the body runs again.
            Err(error) if error.kind() == ErrorKind::Conflict => return Err(error),
            Err(error) => {
                check_refused(&error, std::slice::from_ref(&end));
                if error.failures().is_empty() {
                    return Err(error);
                }
            }
        }
        let page = transaction.scan(table, &Scan::default())?;
        let shown = rows.rows.values().filter(|row| is_shown(table, row, self.now())).count();
        assert_eq!(page.items.len(), shown, "a transaction sees its own writes");
        for item in page.items {
            let place = table.key_of(&item).ok().and_then(|key| place(table, &key));
            let expected = place.and_then(|place| rows.rows.get(&place)).map(|row| &row.item);
            assert_eq!(Some(&item), expected);
        }
        Ok(())
    }

    /// Writes at most once per token.
    fn once(&mut self, input: &mut Input<'_>, number: usize) {
        let name = input.byte() & 3;
        let request_hash = u64::from(input.byte() & 1);
        let expires_at = self.now() + u64::from(input.byte());
        let writes = self.writes(input, number);
        let expected = self.expected(&writes);
        let token = Token { token: vec![name], request_hash, expires_at };
        let answer = self.engine.write_all_once(&token, only(writes));
        let known = self.tokens.get(&name).filter(|(_, expires_at)| *expires_at > self.now());
        match (known, answer) {
            (Some((hash, _)), Ok(once)) => {
                let same = *hash == request_hash;
                assert_eq!(once, if same { Once::Repeated } else { Once::Mismatch });
            }
            (None, Ok(Once::Written(written))) => {
                self.settle(Ok(written), expected);
                self.tokens.insert(name, (request_hash, expires_at));
            }
            (None, Err(error)) => self.settle(Err(error), expected),
            (Some(_), Err(error)) => {
                // A call that is wrong in itself may be told so before the token is looked at.
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
            }
            (None, Ok(once)) => panic!("{once:?} of a token that was never used"),
        }
    }

    /// Compares everything that there is.
    fn check_everything(&self) {
        for (number, table) in self.tables.iter().enumerate() {
            self.scan(&mut Input::new(&[]), table, number);
            let rows = &self.oracle[number].rows;
            for row in rows.values() {
                self.get(table, number, &row.key);
                for column in ["u", "pk"] {
                    if let Some(text) = row.item.get(column).and_then(Value::as_text) {
                        self.query_indexes(table, number, text, false);
                    }
                }
            }
            if table.schema.options.exact_counts {
                assert_eq!(self.engine.count(table).expect("it counts"), count(rows.len()));
                self.check_shards(table, number);
            }
            if table.schema.options.change_log {
                self.check_log(table, number);
            }
        }
    }

    fn check_shards(&self, table: &Table, number: usize) {
        let mut partitions: BTreeMap<Vec<u8>, (Vec<Value>, u64)> = BTreeMap::new();
        for ((partition, _), row) in &self.oracle[number].rows {
            let fresh = || (row.key.partition.clone(), 0);
            partitions.entry(partition.clone()).or_insert_with(fresh).1 += 1;
        }
        for (partition, items) in partitions.values() {
            let counted = self.engine.count_partition(table, partition).expect("it counts");
            assert_eq!(counted, *items, "{partition:?}");
            let shards = self.engine.shards(table, partition).expect("it has shards");
            assert_eq!(shards.iter().map(|shard| shard.items).sum::<u64>(), *items);
            for pair in shards.windows(2) {
                assert_eq!(pair[0].upper, pair[1].lower, "shards follow each other");
            }
        }
    }

    fn check_log(&self, table: &Table, number: usize) {
        let mut changes: Vec<ItemChange> = Vec::new();
        loop {
            let after = changes.last().map(|change| change.position);
            let more = self.engine.changes(table, after, 7).expect("there is a log");
            if more.is_empty() {
                break;
            }
            assert!(more.first().map(|first| first.position) > after, "the log goes back");
            changes.extend(more);
        }
        let found: Vec<oracle::Logged> =
            changes.into_iter().map(|change| (change.old, change.new, change.expired)).collect();
        let mut expected = self.oracle[number].log.clone();
        // One sweep takes what is due in the order of its own: compare what it took as a set.
        let mut found = found;
        for log in [&mut found, &mut expected] {
            for run in log.chunk_by_mut(|one, other| one.2 && other.2) {
                run.sort_by_key(|(old, _, _)| format!("{old:?}"));
            }
        }
        assert_eq!(found, expected);
    }
}

fn only(writes: Vec<(usize, Write)>) -> Vec<Write> {
    writes.into_iter().map(|(_, write)| write).collect()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn check_written(written: &Written, end: &End) {
    let End::Done { old, new } = end else { panic!("written, yet {end:?} was expected") };
    assert_eq!((&written.old, &written.new), (old, new));
}

/// An error names each write that is refused, and only those.
fn check_refused(error: &Error, ends: &[End]) {
    if ends.contains(&End::Invalid) {
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        return;
    }
    // A long text may be too long for the key of an index.
    if error.kind() == ErrorKind::LimitExceeded {
        return;
    }
    let refused = |end: &&End| !matches!(end, End::Done { .. });
    let expected: Vec<&End> = ends.iter().filter(refused).collect();
    let found: Vec<End> = error
        .failures()
        .iter()
        .map(|failure| match &failure.refusal {
            Refusal::ConditionFailed(old) => End::ConditionFailed(old.clone()),
            Refusal::Patch(_) => End::PatchRefused,
            Refusal::NotUnique(_) => End::NotUnique,
            other => panic!("{other:?} was not expected"),
        })
        .collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{error}");
    assert!(!expected.is_empty(), "nothing is wrong, yet: {:?}: {error}", error.kind());
}

/// Returns what an entry of an index shows.
fn projected(table: &Table, row: &Row, index: &str) -> Item {
    let extra: &[&str] = match index {
        "unique" => return row.item.clone(),
        "by_u" => &["u", "n", "v"],
        _ => &[],
    };
    let wanted = |name: &str| table.schema.is_key(name) || extra.contains(&name);
    row.item.clone().into_iter().filter(|(name, _)| wanted(name)).collect()
}
