//! A table of items used as a table of cells, on every driver.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{
    AnyWrite, AnyWrites, AttributesText, CatalogueChange, CellChange, CellGet, CellIndexQuery,
    CellLimits, CellOperation, CellQuery, CellScan, ClusteringValue, ConditionalRead, Cursor,
    Decision, ErrorKind, Get, Mutation, OtherAttributes, Scan, Share, SharedColumns, Span,
    SpanBound, StreamRange, Table, Write,
};
use shelfmark_keycode::{KeyType, token};
use shelfmark_model::{
    ChangeImages, Column, ColumnType, IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn,
    Projected, SortColumn, TableName, TableSchema, Value,
};
use shelfmark_store::random::SplitMix;
use shelfmark_testkit::seeds;

use crate::cells::{bytes, text};
use crate::drivers::{Bed, memory, on_every_driver, patiently};

const AGE: u32 = 1;
const TAGS: u32 = 2;
const LOG: u32 = 3;
const OTHERS: u32 = 9;

/// Attributes as the names and the texts of their values, one a line.
#[derive(Debug)]
struct Lines;

impl AttributesText for Lines {
    fn text(&self, attributes: &Item) -> String {
        let line =
            |(name, value): (&_, &Value)| format!("{name}={}", value.as_text().unwrap_or("?"));
        attributes.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn attributes(&self, text: &str) -> Result<Item, String> {
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').ok_or("no line without =")?;
            Ok((name.to_owned(), Value::text(value)))
        };
        text.lines().map(pair).collect()
    }
}

fn name() -> TableName {
    TableName::new("dynamodb", "people")
}

fn schema() -> TableSchema {
    let mut schema = TableSchema::new(name(), KeyColumn::new("pk", KeyType::Text))
        .with_sort("sk", KeyType::Text);
    schema.options.strict_index_keys = true;
    schema.options.item_size_bytes_max = Some(409_600);
    schema
}

fn by_age(projected: Projected) -> IndexSchema {
    IndexSchema {
        name: "by_age".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("age", KeyType::Decimal)],
        sort: vec![SortColumn::new("sk", KeyType::Text, shelfmark_model::Direction::Ascending)],
        projected,
        state: IndexState::Public,
    }
}

fn columns() -> SharedColumns {
    let column = |name: &str, id, column_type| Column {
        name: name.to_owned(),
        id,
        column_type,
        is_static: false,
    };
    SharedColumns {
        columns: vec![
            column("age", AGE, ColumnType::Value(KeyType::Decimal)),
            column("tags", TAGS, ColumnType::Set(KeyType::Text)),
            column("log", LOG, ColumnType::List(KeyType::Text)),
        ],
        others: Some(OtherAttributes { column: OTHERS, text: Arc::new(Lines) }),
        check: None,
    }
}

/// The table as items and as rows.
fn tables(bed: &Bed, schema: TableSchema) -> (Arc<Table>, Arc<Table>) {
    let items = bed.create_table(schema).unwrap();
    (items, rows(bed, Share::All))
}

fn rows(bed: &Bed, share: Share) -> Arc<Table> {
    bed.engine.sharing(share).shared_cells(&name(), |_| columns()).unwrap()
}

fn key(pk: &str, sk: &str) -> Key {
    Key::pair(pk, sk)
}

fn whole(pk: &str, sk: &str) -> Item {
    Item::new()
        .with("pk", pk)
        .with("sk", sk)
        .with("age", Value::number(36))
        .with("tags", Value::set(vec![Value::text("x"), Value::text("y")]))
        .with("log", Value::List(vec![Value::text("a"), Value::text("b")]))
        .with("city", "Paris")
}

fn item(bed: &Bed, table: &Table, pk: &str, sk: &str) -> Option<Item> {
    patiently(|| bed.engine.get(table, &Get::new(key(pk, sk)))).unwrap().item
}

fn mutation(table: &Arc<Table>, pk: &str, change: CellChange) -> Mutation {
    // Long past: timestamps play no part.
    Mutation {
        table: Arc::clone(table),
        partition: bytes(pk),
        change,
        timestamp: 1,
        ttl_seconds: None,
    }
}

fn row(
    table: &Arc<Table>,
    (pk, sk): (&str, &str),
    is_insert: bool,
    operations: Vec<CellOperation>,
) -> Mutation {
    mutation(table, pk, CellChange::Row { clustering: vec![text(sk)], is_insert, operations })
}

fn age(n: i64) -> CellOperation {
    let mut raw = 0_i32.to_be_bytes().to_vec();
    raw.extend_from_slice(&n.to_be_bytes());
    CellOperation::Set { column: AGE, value: raw.into() }
}

fn tag(member: &str) -> CellOperation {
    CellOperation::SetElement { column: TAGS, path: bytes(member), value: Bytes::new() }
}

fn decimal(n: i64) -> ClusteringValue {
    let CellOperation::Set { value, .. } = age(n) else { return None };
    Some(value)
}

/// The keys of rows that a read answers, page by page.
fn keys(read: impl Fn(Option<Cursor>) -> shelfmark_engine::CellPage) -> Vec<(Bytes, Bytes)> {
    let (mut found, mut start) = (Vec::new(), None);
    loop {
        let page = read(start);
        found.extend(page.rows.into_iter().map(|entry| {
            let sort = entry.clustering.unwrap().remove(0).unwrap();
            (entry.partition, sort)
        }));
        start = page.cursor;
        if start.is_none() {
            return found;
        }
    }
}

fn limits(start: Option<Cursor>) -> CellLimits {
    CellLimits { rows_max: Some(2), start, ..CellLimits::default() }
}

#[test]
fn an_item_is_a_row_and_every_attribute_is_shown_once() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed, schema());
        bed.put(&items, whole("p", "s").with("note", "n"));
        let get = |sk: &str| {
            let get =
                CellGet { partition: bytes("p"), clustering: vec![text(sk)], ..CellGet::default() };
            patiently(|| bed.engine.get_cells(&rows, &get)).unwrap().row
        };
        let found = get("s").unwrap();
        assert_eq!(found.cell(AGE).unwrap().value, bytes("\0\0\0\0$"));
        let tags: Vec<_> = found.elements(TAGS).iter().map(|own| own.path.clone()).collect();
        assert_eq!(tags, [bytes("x"), bytes("y")]);
        let log: Vec<_> = found.elements(LOG).iter().map(|own| own.value.clone()).collect();
        assert_eq!(log, [bytes("a"), bytes("b")]);
        assert_eq!(found.cell(OTHERS).unwrap().value, bytes("city=Paris\nnote=n"));
        assert_eq!(get("t"), None);
        // What does not fit its column is among the others.
        bed.put(&items, Item::new().with("pk", "p").with("sk", "t").with("age", "old"));
        let found = get("t").unwrap();
        assert_eq!(
            (found.cell(AGE), &found.cell(OTHERS).unwrap().value),
            (None, &bytes("age=old"))
        );
    });
}

#[test]
fn rows_are_read_by_spans_tokens_and_indexes_page_by_page() {
    on_every_driver(|bed| {
        for projected in [Projected::All, Projected::KeysOnly] {
            let (items, rows) = tables(bed, schema().with_index(by_age(projected)));
            let mut expected = Vec::new();
            for (pk, sk) in [("p", "a"), ("p", "b"), ("p", "c"), ("q", "a"), ("r", "b")] {
                bed.put(&items, whole(pk, sk));
                expected.push((bytes(pk), bytes(sk)));
            }
            let query = |span: Span, reversed| {
                keys(|start| {
                    let (partition, span) = (bytes("p"), span.clone());
                    let query = CellQuery { partition, span, reversed, limits: limits(start) };
                    patiently(|| bed.engine.query_cells(&rows, &query)).unwrap()
                })
            };
            let bound = |sk: &str, included| Some(SpanBound { values: vec![text(sk)], included });
            assert_eq!(query(Span::all(), false), expected[..3]);
            let above = Span { lower: bound("a", false), ..Span::default() };
            assert_eq!(query(above, true), [expected[2].clone(), expected[1].clone()]);
            let between = Span { lower: bound("a", true), upper: bound("c", false), equal: vec![] };
            assert_eq!(query(between, false), expected[..2]);
            let scan = |tokens| {
                keys(|start| {
                    let scan = CellScan { tokens, limits: limits(start) };
                    patiently(|| bed.engine.scan_cells(&rows, &scan)).unwrap()
                })
            };
            expected.sort_by_key(|(pk, sk)| (token(pk), sk.clone()));
            assert_eq!(scan((Bound::Unbounded, Bound::Unbounded)), expected);
            let of_p = Bound::Included(token(b"p"));
            let only_p = expected.iter().filter(|(pk, _)| *pk == bytes("p"));
            assert_eq!(scan((of_p, of_p)), only_p.cloned().collect::<Vec<_>>());
            let indexed = |terms: Span, partition: Option<Bytes>| {
                let mut found = keys(|start| {
                    let query = CellIndexQuery {
                        index: "by_age".to_owned(),
                        terms: terms.clone(),
                        partition: partition.clone(),
                        tokens: (Bound::Unbounded, Bound::Unbounded),
                        limits: limits(start),
                    };
                    let page = patiently(|| bed.engine.query_cell_index(&rows, &query)).unwrap();
                    let is_whole = page.rows.iter().all(|own| own.row.cell(OTHERS).is_some());
                    assert!(is_whole, "rows of an index are whole");
                    page
                });
                found.sort_by_key(|(pk, sk)| (token(pk), sk.clone()));
                found
            };
            assert_eq!(indexed(Span::equal(vec![decimal(36)]), None), expected);
            assert_eq!(indexed(Span::equal(vec![decimal(36)]), Some(bytes("q"))).len(), 1);
            assert_eq!(indexed(Span::equal(vec![decimal(36), text("b")]), None).len(), 2);
            assert_eq!(indexed(Span::equal(vec![decimal(35)]), None), []);
            bed.drop_table(&name()).unwrap();
        }
    });
}

#[test]
fn what_is_written_is_an_item_and_keeps_what_it_does_not_name() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed, schema());
        bed.put(&items, whole("p", "s"));
        bed.cells(vec![row(&rows, ("p", "s"), true, vec![age(7), tag("z")])]);
        let tags = ["x", "y", "z"].map(Value::text);
        let expected =
            whole("p", "s").with("age", Value::number(7)).with("tags", Value::set(tags.to_vec()));
        assert_eq!(item(bed, &items, "p", "s"), Some(expected));
        // What is absent loses nothing, and an insert is there without columns.
        bed.cells(vec![row(&rows, ("p", "t"), false, vec![CellOperation::Delete { column: AGE }])]);
        assert_eq!(item(bed, &items, "p", "t"), None);
        bed.cells(vec![row(&rows, ("p", "t"), true, vec![])]);
        assert_eq!(item(bed, &items, "p", "t"), Some(Item::new().with("pk", "p").with("sk", "t")));
        // Larger than one chunk, by every way of writing.
        let long = "é".repeat(50_000);
        let others = |text: String| CellOperation::Set { column: OTHERS, value: text.into() };
        let write = row(&rows, ("p", "t"), false, vec![others(format!("long={long}"))]);
        bed.cells(vec![write.clone()]);
        let found = item(bed, &items, "p", "t").unwrap();
        assert_eq!(found.get("long").and_then(Value::as_text), Some(long.as_str()));
        let too_long = row(
            &rows,
            ("p", "t"),
            false,
            vec![others(format!("long={long}{long}{long}{long}{long}"))],
        );
        let refused = patiently(|| bed.engine.write_cells(vec![too_long.clone()])).unwrap_err();
        assert!(refused.to_string().contains("the limit is 409600"), "{refused}");
        assert_eq!(bed.engine.verify().unwrap().findings, []);
    });
}

#[test]
fn what_items_do_not_have_is_refused() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed, schema());
        bed.put(&items, whole("p", "s").with("tags", "no set"));
        let refused = |mutation: Mutation, kind, why: &str| {
            let error = patiently(|| bed.engine.write_cells(vec![mutation.clone()])).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(why), "{error}");
        };
        let timed = |own: Mutation| Mutation { ttl_seconds: Some(5), ..own };
        let insert = |pk: &str, sk: &str| row(&rows, (pk, sk), true, vec![age(1)]);
        refused(timed(insert("p", "s")), ErrorKind::Invalid, "time to live");
        refused(insert("p", ""), ErrorKind::Invalid, "null or empty");
        refused(insert(&"p".repeat(2_049), "s"), ErrorKind::LimitExceeded, "at most 2048");
        refused(insert("p", &"s".repeat(1_025)), ErrorKind::LimitExceeded, "at most 1024");
        let statics = mutation(&rows, "p", CellChange::Statics(vec![age(1)]));
        refused(statics, ErrorKind::Invalid, "static");
        let misfit = row(&rows, ("p", "s"), false, vec![tag("z")]);
        refused(misfit, ErrorKind::Invalid, "does not fit");
        let moved = CellOperation::SetElement { column: LOG, path: bytes("?"), value: bytes("v") };
        refused(row(&rows, ("p", "s"), false, vec![moved]), ErrorKind::Conflict, "meanwhile");
        let twice = CellOperation::Set { column: OTHERS, value: bytes("pk=q") };
        refused(row(&rows, ("p", "s"), false, vec![twice]), ErrorKind::Invalid, "of its own");
        // Not granted, or granted for reading: also where a statement was planned before.
        let readable = self::rows(bed, Share::Read);
        let write = row(&readable, ("p", "s"), true, vec![age(1)]);
        refused(write, ErrorKind::Invalid, "reading alone");
        let of_nobody = bed.engine.sharing(Share::None).shared_cells(&name(), |_| columns());
        assert_eq!(of_nobody.unwrap_err().kind(), ErrorKind::NotFound);
        bed.alter_options(&name(), |own| Share::put_option(Some(Share::Read), &mut own.face))
            .unwrap();
        refused(insert("p", "s"), ErrorKind::Invalid, "reading alone");
        bed.drop_table(&name()).unwrap();
        refused(insert("p", "s"), ErrorKind::NotFound, "no table");
    });
}

#[test]
fn one_commit_and_one_transaction_hold_both_kinds() {
    on_every_driver(|bed| {
        let (items, rows) = tables(bed, schema());
        let own = TableName::new("ks", "own");
        let mut of_cells =
            TableSchema::of_cells(own.clone(), vec![KeyColumn::new("k", KeyType::Text)]);
        of_cells.columns = columns().columns;
        bed.change_catalogue(|| vec![CatalogueChange::CreateTable(of_cells.clone())]);
        let cells = bed.engine.table(&own).unwrap();
        let plain = |value: &str| {
            let value = CellOperation::Set { column: AGE, value: bytes(value) };
            let operations = vec![value];
            mutation(
                &cells,
                "k",
                CellChange::Row { clustering: vec![], is_insert: true, operations },
            )
        };
        let writes = vec![
            AnyWrite::Cells(plain("one")),
            AnyWrite::Cells(row(&rows, ("p", "s"), true, vec![age(1)])),
            AnyWrite::Item(Write::put(&items, whole("p", "t"))),
            AnyWrite::Cells(row(&rows, ("p", "t"), false, vec![age(2)])),
        ];
        let call = AnyWrites { writes, ..AnyWrites::default() };
        patiently(|| bed.engine.write_any(call.clone())).unwrap();
        let found = item(bed, &items, "p", "t").unwrap();
        assert_eq!(found, whole("p", "t").with("age", Value::number(2)));
        // A refused part leaves nothing of the others.
        let writes = vec![
            AnyWrite::Cells(plain("two")),
            AnyWrite::Cells(row(&rows, ("p", ""), true, vec![])),
        ];
        let call = AnyWrites { writes, ..AnyWrites::default() };
        assert!(patiently(|| bed.engine.write_any(call.clone())).is_err());
        let get = CellGet { partition: bytes("k"), ..CellGet::default() };
        let row_of = |table: &Table| patiently(|| bed.engine.get_cells(table, &get)).unwrap().row;
        assert_eq!(row_of(&cells).unwrap().cell(AGE).unwrap().value, bytes("one"));
        // A body sees its own writes, of either kind, and deletes a range of items.
        let all = CellQuery { partition: bytes("p"), ..CellQuery::default() };
        let seen = bed.transact(|tx| {
            tx.write_cells(&row(&rows, ("p", "u"), true, vec![age(3)]))?;
            let seen = tx.query_cells(&rows, &all)?.rows.len();
            tx.write_cells(&mutation(&rows, "p", CellChange::DeletePartition))?;
            Ok((seen, tx.query_cells(&rows, &all)?.rows.len()))
        });
        assert_eq!(seen.unwrap(), (3, 0));
        assert_eq!(item(bed, &items, "p", "s"), None);
    });
}

/// What the items are, worked out without the engine.
type Oracle = BTreeMap<(String, String), BTreeMap<&'static str, i64>>;

struct Model<'b> {
    bed: &'b Bed,
    items: Arc<Table>,
    rows: Arc<Table>,
    oracle: Oracle,
    random: SplitMix,
}

impl Model<'_> {
    fn pick(&mut self, prefix: &str) -> String {
        format!("{prefix}{}", self.random.below(3))
    }

    fn step(&mut self) {
        let (pk, sk, n) = (self.pick("p"), self.pick("s"), self.random.below(50).cast_signed());
        let place = (pk.clone(), sk.clone());
        let change = match self.random.below(8) {
            0 => {
                let item = Item::new().with("pk", pk.as_str()).with("sk", sk.as_str());
                self.bed.put(&self.items, item.with("x", Value::number(n)));
                self.oracle.insert(place, BTreeMap::from([("x", n)]));
                return;
            }
            1 => {
                self.bed.write(Write::delete(&self.items, key(&pk, &sk))).unwrap();
                self.oracle.remove(&place);
                return;
            }
            2 => return self.conditional(pk, sk, n),
            3 => {
                self.oracle.remove(&place);
                CellChange::DeleteRow(vec![text(&sk)])
            }
            4 => {
                self.oracle.retain(|(own, sort), _| *own != pk || *sort <= sk);
                let values = vec![text(&sk)];
                let lower = Some(SpanBound { values, included: false });
                CellChange::DeleteSpan(Span { lower, ..Span::default() })
            }
            5 => {
                if let Some(own) = self.oracle.get_mut(&place) {
                    own.remove("age");
                }
                let operations = vec![CellOperation::Delete { column: AGE }];
                CellChange::Row { clustering: vec![text(&sk)], is_insert: false, operations }
            }
            is_insert => {
                self.oracle.entry(place).or_default().insert("age", n);
                let (clustering, operations) = (vec![text(&sk)], vec![age(n)]);
                CellChange::Row { clustering, is_insert: is_insert == 6, operations }
            }
        };
        self.bed.cells(vec![mutation(&self.rows, &pk, change)]);
    }

    /// Adds to what is there, if something is.
    fn conditional(&mut self, pk: String, sk: String, n: i64) {
        let read = ConditionalRead {
            table: Arc::clone(&self.rows),
            partition: bytes(&pk),
            rows: vec![vec![text(&sk)]],
            statics: false,
            now: None,
        };
        let rows = Arc::clone(&self.rows);
        let is_there = patiently(|| {
            self.bed.engine.write_cells_if(read.clone(), |view| {
                let is_there = view.rows[0].is_some();
                let write = row(&rows, (&pk, &sk), false, vec![age(n)]);
                Ok(Decision {
                    mutations: vec![write].split_off(usize::from(!is_there)),
                    answer: is_there,
                })
            })
        });
        let own = self.oracle.get_mut(&(pk, sk));
        assert_eq!(is_there.unwrap(), own.is_some());
        if let Some(own) = own {
            own.insert("age", n);
        }
    }

    /// Both ways of reading say what the oracle does.
    fn check(&self) {
        let number = |value: &Value| match value {
            Value::Number(number) => number.to_string().parse().unwrap(),
            other => panic!("{other:?}"),
        };
        let items =
            patiently(|| self.bed.engine.scan(&self.items, &Scan::default())).unwrap().items;
        let of_items: Oracle = items
            .iter()
            .map(|item| {
                let part = |name| item.get(name).and_then(Value::as_text).unwrap().to_owned();
                let names = ["age", "x"].into_iter();
                let values = names.filter_map(|name| Some((name, number(item.get(name)?))));
                ((part("pk"), part("sk")), values.collect())
            })
            .collect();
        assert_eq!(of_items, self.oracle);
        let page =
            patiently(|| self.bed.engine.scan_cells(&self.rows, &CellScan::default())).unwrap();
        let utf8 = |raw: &Bytes| String::from_utf8(raw.to_vec()).unwrap();
        let of_rows: Vec<(String, String, Option<ClusteringValue>)> = page
            .rows
            .iter()
            .map(|entry| {
                let sort = entry.clustering.as_ref().unwrap()[0].as_ref().unwrap();
                let age = entry.row.cell(AGE).map(|cell| Some(cell.value.clone()));
                (utf8(&entry.partition), utf8(sort), age)
            })
            .collect();
        assert_eq!(of_rows.len(), self.oracle.len());
        for (pk, sk, found) in of_rows {
            let own = &self.oracle[&(pk, sk)];
            assert_eq!(found.is_some(), own.contains_key("age"));
        }
        assert_eq!(self.bed.engine.verify().unwrap().findings, []);
    }
}

fn model(bed: &Bed, seed: u64) {
    let (items, rows) = tables(bed, schema().with_index(by_age(Projected::KeysOnly)));
    let (oracle, random) = (Oracle::new(), SplitMix::new(seed));
    let mut model = Model { bed, items, rows, oracle, random };
    for step in 0..60 {
        model.step();
        if step % 15 == 0 {
            model.check();
        }
    }
    model.check();
}

#[test]
fn random_calls_of_both_kinds_agree_with_a_map() {
    on_every_driver(|bed| model(bed, 1));
    seeds::each(8, 1_000, |seed| model(&memory(), seed));
}

#[test]
fn what_is_written_as_cells_goes_to_the_change_stream() {
    on_every_driver(|bed| {
        let (_, rows) = tables(bed, schema());
        bed.patient(|engine| engine.start_stream(&name(), "s", ChangeImages::Both));
        for change in [
            row(&rows, ("p", "s"), true, vec![age(36)]),
            row(&rows, ("p", "s"), false, vec![age(36)]),
            row(&rows, ("p", "s"), false, vec![tag("x")]),
            mutation(&rows, "p", CellChange::DeletePartition),
            mutation(&rows, "p", CellChange::DeleteRow(vec![text("s")])),
        ] {
            patiently(|| bed.engine.write_cells(vec![change.clone()])).unwrap();
        }
        let shard = bed.engine.stream_shard(&name(), "s", 1).unwrap();
        let page = bed.engine.read_stream(&shard, StreamRange::Oldest, 10, usize::MAX).unwrap();
        let first = Item::new().with("pk", "p").with("sk", "s").with("age", Value::number(36));
        let second = first.clone().with("tags", Value::set(vec![Value::text("x")]));
        let seen: Vec<_> = page.changes.into_iter().map(|own| (own.old, own.new)).collect();
        let expected = [
            (None, Some(first.clone())),
            (Some(first), Some(second.clone())),
            (Some(second), None),
        ];
        assert_eq!(seen, expected);
    });
}
