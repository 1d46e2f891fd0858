//! A table of cells used as a table of items, on every driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::{
    AnyWrite, AnyWrites, CatalogueChange, CellChange, CellGet, Change, ErrorKind, Get, Mutation,
    Once, Query, Scan, Segment, Share, Table, Write,
};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    Column, ColumnType, Condition, Decimal, Direction, IndexState, Item, Key, KeyColumn, Patch,
    PatchOperation, PatchValue, Path, SortBound, SortColumn, SortCondition, Step, TableName,
    TableSchema, Value, ViewPart, ViewSchema,
};

use crate::cells::{as_text, bytes, mutation, set, update};
use crate::drivers::{Bed, on_every_driver, patiently, plain};

const NAME: u32 = 1;
const AGE: u32 = 2;
const TAGS: u32 = 3;
const NOTES: u32 = 4;
const LOG: u32 = 5;
const SEEN: u32 = 6;
const PLACE: u32 = 7;
const HITS: u32 = 8;
const STATIC: u32 = 9;
const RATIO: u32 = 10;
const COUNTS: u32 = 11;

fn schema(name: &str, sort: KeyType, direction: Direction) -> TableSchema {
    let column = |name: &str, id: u32, column_type: ColumnType, is_static: bool| Column {
        name: name.to_owned(),
        id,
        column_type,
        is_static,
    };
    let value = ColumnType::Value;
    let partition = vec![KeyColumn::new("user", KeyType::Text)];
    let mut schema = TableSchema::of_cells(TableName::new("ks", name), partition);
    schema.sort = vec![SortColumn::clustering("at", sort, direction)];
    let pair = KeyType::Tuple(vec![KeyType::I32, KeyType::Text]);
    schema.columns = vec![
        column("name", NAME, value(KeyType::Text), false),
        column("age", AGE, value(KeyType::I32), false),
        column("tags", TAGS, ColumnType::Set(KeyType::Text), false),
        column("notes", NOTES, ColumnType::Map(KeyType::Text, KeyType::I64), false),
        column("log", LOG, ColumnType::List(KeyType::CqlUuid), false),
        column("seen", SEEN, value(KeyType::Date), false),
        column("place", PLACE, value(pair), false),
        column("ratio", RATIO, value(KeyType::F32), false),
        column("counts", COUNTS, ColumnType::Map(KeyType::I32, KeyType::I64), false),
        column("owner", STATIC, value(KeyType::Text), true),
    ];
    schema
}

fn tables(bed: &Bed, schema: TableSchema) -> (Arc<Table>, Arc<Table>) {
    let name = schema.name.clone();
    bed.change_catalogue(|| vec![CatalogueChange::CreateTable(schema.clone())]);
    let items = bed.engine.sharing(Share::All).shared_items(&name).unwrap();
    (bed.engine.table(&name).unwrap(), items)
}

fn events(bed: &Bed) -> (Arc<Table>, Arc<Table>) {
    tables(bed, schema("events", KeyType::I32, Direction::Descending))
}

fn whole() -> Item {
    let uuid = "30313233-3435-3637-3839-616263646566";
    let notes = [("a".to_owned(), Value::number(1)), ("b".to_owned(), Value::number(-2))];
    Item::new()
        .with("user", "u")
        .with("at", Value::number(7))
        .with("name", "Ada")
        .with("age", Value::number(36))
        .with("tags", Value::set(vec![Value::text("x"), Value::text("y")]))
        .with("notes", Value::Map(notes.into()))
        .with("log", Value::List(vec![Value::text(uuid), Value::text(uuid)]))
        .with("seen", Value::text("2026-11-23"))
        .with("place", Value::List(vec![Value::number(3), Value::Null]))
}

fn key(at: i64) -> Key {
    Key { partition: vec!["u".into()], sort: vec![Value::number(at)] }
}

fn item(bed: &Bed, table: &Table, at: i64) -> Option<Item> {
    patiently(|| bed.engine.get(table, &Get::new(key(at)))).unwrap().item
}

fn clustering(at: i32) -> Vec<Option<Bytes>> {
    vec![Some(Bytes::copy_from_slice(&at.to_be_bytes()))]
}

#[test]
fn an_item_is_a_row_and_comes_back_as_it_was() {
    on_every_driver(|bed| {
        let (rows, items) = events(bed);
        bed.put(&items, whole());
        assert_eq!(item(bed, &items, 7), Some(whole()));
        // The row as its own face reads it.
        let get =
            CellGet { partition: bytes("u"), clustering: clustering(7), ..CellGet::default() };
        let row = patiently(|| bed.engine.get_cells(&rows, &get)).unwrap().row.unwrap();
        assert_eq!(row.cell(AGE).unwrap().value, bytes("\0\0\0$"));
        assert_eq!(row.elements(TAGS).len(), 2);
        assert!(row.inserted.is_some());
        // A shorter item takes the other columns away.
        let short = Item::new().with("user", "u").with("at", Value::number(7));
        bed.put(&items, short.clone());
        assert_eq!(item(bed, &items, 7), Some(short));
        bed.write(Write::delete(&items, key(7))).unwrap();
        assert_eq!(item(bed, &items, 7), None);
        bed.settle();
        bed.check_sound();
    });
}

#[test]
fn what_is_acknowledged_is_there_whatever_timestamps_the_row_has() {
    on_every_driver(|bed| {
        let (rows, items) = events(bed);
        let far = 9_000_000_000_000_000;
        let set = |value: &str| crate::cells::set(NAME, value);
        let future = |at: i64, value| update(&rows, "u", clustering(7), at, vec![set(value)]);
        bed.cells(vec![future(far, "later")]);
        bed.put(&items, whole());
        assert_eq!(item(bed, &items, 7), Some(whole()));
        bed.write(Write::delete(&items, key(7))).unwrap();
        assert_eq!(item(bed, &items, 7), None);
        bed.put(&items, whole());
        assert_eq!(item(bed, &items, 7), Some(whole()));
        // The neighbour: what is later than all of it wins, as it does for its own face.
        bed.cells(vec![future(far * 2, "last")]);
        assert_eq!(item(bed, &items, 7).unwrap().get("name"), Some(&Value::text("last")));
        // Nothing follows the latest timestamp that there is.
        bed.cells(vec![future(i64::MAX, "end")]);
        let refused = bed.write(Write::put(&items, whole())).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    });
}

#[test]
fn conditions_patches_and_images_are_those_of_items() {
    on_every_driver(|bed| {
        let (_, items) = events(bed);
        let absent = Condition::NotExists(Path::attribute("user"));
        let once = Write::put(&items, whole()).when(absent.clone());
        bed.write(once.clone()).unwrap();
        let refused = bed.write(once).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConditionFailed);
        let patch = Patch {
            operations: vec![
                PatchOperation::Set(Path::attribute("age"), PatchValue::value(Value::number(37))),
                PatchOperation::Remove(Path::attribute("tags")),
            ],
        };
        let change = Change::Patch { key: key(7), patch, creates: true };
        let mut write = Write::new(&items, change).returning_old();
        write.returns.new = true;
        let written = bed.write(write.clone()).unwrap();
        assert_eq!(written.old, Some(whole()));
        let wanted = whole().with("age", Value::number(37));
        let mut wanted = wanted;
        wanted.remove("tags");
        assert_eq!(written.new, Some(wanted.clone()));
        assert_eq!(item(bed, &items, 7), Some(wanted));
        // What is absent is created.
        if let Change::Patch { key: own, .. } = &mut write.change {
            *own = key(8);
        }
        bed.write(write).unwrap();
        assert_eq!(item(bed, &items, 8).unwrap().get("age"), Some(&Value::number(37)));
        bed.settle();
        bed.check_sound();
    });
}

#[test]
fn what_a_column_does_not_take_is_refused_by_its_name() {
    on_every_driver(|bed| {
        let (_, items) = events(bed);
        let cases = [
            ("other", Value::text("x"), "no column other"),
            ("owner", Value::text("x"), "no column owner"),
            ("age", Value::text("x"), "column age"),
            ("age", Value::number(3_000_000_000), "column age"),
            ("seen", Value::text("2026-02-30"), "column seen"),
            ("tags", Value::number(1), "column tags takes a set or a list"),
            ("notes", Value::List(vec![]), "column notes takes a map"),
            ("log", Value::List(vec![Value::text("no uuid")]), "column log"),
            ("place", Value::List(vec![Value::number(1)]), "column place"),
            ("ratio", Value::Number(Decimal::new(1.into(), -100).unwrap()), "column ratio"),
            ("counts", Value::Map([("1", 1), ("01", 2)].map(named).into()), "one key"),
        ];
        for (name, value, message) in cases {
            let refused = bed.write(Write::put(&items, whole().with(name, value))).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Invalid, "{name}");
            assert!(refused.to_string().contains(message), "{refused}");
        }
        let outside = whole().with("at", Value::number(3_000_000_000));
        assert_eq!(bed.write(Write::put(&items, outside)).unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(item(bed, &items, 7), None);
    });
}

#[test]
fn queries_and_scans_go_in_the_order_of_the_rows_page_by_page() {
    on_every_driver(|bed| {
        let (_, items) = events(bed);
        for at in 0..10 {
            bed.put(&items, whole().with("at", Value::number(at)));
        }
        let of = |query: &Query| {
            let page = patiently(|| bed.engine.query(&items, query)).unwrap();
            let at = |item: &Item| item.get("at").unwrap().to_owned();
            (page.items.iter().map(at).collect::<Vec<_>>(), page)
        };
        let numbers = |own: &[i64]| own.iter().map(|n| Value::number(*n)).collect::<Vec<_>>();
        let all = Query::partition(vec!["u".into()]);
        assert_eq!(of(&all).0, numbers(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]));
        assert_eq!(of(&all.clone().descending().limit(2)).0, numbers(&[0, 1]));
        let between = all.clone().sort(SortCondition::Range {
            equal: vec![],
            lower: SortBound::Included(Value::number(3)),
            upper: SortBound::Excluded(Value::number(6)),
        });
        let (found, page) = of(&between);
        assert_eq!(found, numbers(&[5, 4, 3]));
        assert_eq!((page.report.rows_read(), page.report.rows_returned()), (3, 3));
        let equal = all.clone().sort(SortCondition::Equal(vec![Value::number(4)]));
        assert_eq!(of(&equal).0, numbers(&[4]));
        // From page to page, by the key that a client sends back.
        let mut seen = Vec::new();
        let mut query = all.clone().limit(3);
        loop {
            let (found, page) = of(&query);
            seen.extend(found);
            let Some(cursor) = page.cursor else { break };
            let key = items.cursor_key(None, &cursor).unwrap();
            query.start = Some(items.cursor_behind(None, &key).unwrap());
        }
        assert_eq!(seen, numbers(&[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]));
        // A filter is looked at behind the limit.
        let mut filtered = all.limit(4);
        filtered.filter = Some(Condition::NotExists(Path::attribute("name")));
        let (_, page) = of(&filtered);
        assert_eq!((page.evaluated, page.count, page.cursor.is_some()), (4, 0, true));
        let scan = |scan: &Scan| patiently(|| bed.engine.scan(&items, scan)).unwrap();
        assert_eq!(scan(&Scan::default()).count, 10);
        let parts = (0..3).map(|number| {
            let segment = Some(Segment { number, total: 3 });
            scan(&Scan { segment, ..Scan::default() }).count
        });
        assert_eq!(parts.sum::<usize>(), 10);
    });
}

#[test]
fn texts_that_begin_alike_are_one_range() {
    on_every_driver(|bed| {
        let (_, items) = tables(bed, schema("posts", KeyType::Text, Direction::Ascending));
        for at in ["a", "ab", "ab#1", "ab#2", "ac", "b"] {
            bed.put(&items, whole().with("at", at));
        }
        let query = Query::partition(vec!["u".into()]).sort(SortCondition::begins_with("ab"));
        let page = patiently(|| bed.engine.query(&items, &query)).unwrap();
        assert_eq!((page.count, page.report.rows_read()), (3, 3));
    });
}

#[test]
fn one_commit_over_items_cells_and_items_that_are_rows() {
    on_every_driver(|bed| {
        let (rows, items) = events(bed);
        let own = bed.create_table(plain("items")).unwrap();
        let writes = |condition: Option<Condition>| {
            let mut guarded = Write::put(&items, whole());
            guarded.condition = condition;
            vec![
                AnyWrite::Item(Write::put(&own, Item::new().with("pk", "p").with("sk", "s"))),
                AnyWrite::Cells(name_of(&rows, "Bea")),
                AnyWrite::Item(guarded),
            ]
        };
        // The row exists by then, for the second write made it.
        let absent = Condition::NotExists(Path::attribute("user"));
        let call = |writes: Vec<AnyWrite>| {
            patiently(|| {
                bed.engine.write_any(AnyWrites { writes: writes.clone(), ..Default::default() })
            })
        };
        let refused = call(writes(Some(absent))).unwrap_err();
        assert_eq!(refused.failures().iter().map(|own| own.position).collect::<Vec<_>>(), [2]);
        assert_eq!(bed.engine.get(&own, &Get::new(Key::pair("p", "s"))).unwrap().item, None);
        assert!(
            matches!(call(writes(None)).unwrap(), Once::Written(written) if written.len() == 2)
        );
        assert_eq!(item(bed, &items, 7), Some(whole()));
        bed.settle();
        bed.check_sound();
    });
}

fn name_of(rows: &Arc<Table>, name: &str) -> Mutation {
    update(rows, "u", clustering(7), 5, vec![crate::cells::set(NAME, name)])
}

#[test]
fn what_is_not_granted_is_not_there_or_not_written() {
    on_every_driver(|bed| {
        let (_, items) = events(bed);
        bed.put(&items, whole());
        let name = TableName::new("ks", "events");
        let of = |share| bed.engine.sharing(share).shared_items(&name);
        assert_eq!(of(Share::None).unwrap_err().kind(), ErrorKind::NotFound);
        let readable = of(Share::Read).unwrap();
        assert_eq!(item(bed, &readable, 7), Some(whole()));
        for write in [Write::put(&readable, whole()), Write::delete(&readable, key(7))] {
            assert_eq!(bed.write(write).unwrap_err().kind(), ErrorKind::Invalid);
        }
        // A table's own word counts more than the server's.
        let change = |schema: &mut TableSchema| Share::put(Some(Share::None), schema);
        bed.change_catalogue(|| {
            let mut table = bed.engine.table(&name).unwrap().schema.clone();
            change(&mut table);
            vec![CatalogueChange::AlterTable(
                name.clone(),
                Box::new(move |own| {
                    own.options = table.options.clone();
                    Ok(())
                }),
            )]
        });
        assert_eq!(of(Share::All).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_view_grants_what_its_base_does() {
    on_every_driver(|bed| {
        let of = |grant: Option<Share>| {
            let mut base = schema("bare", KeyType::I32, Direction::Ascending);
            base.sort.clear();
            base.columns.retain(|own| !own.is_static);
            Share::put(grant, &mut base);
            let partition = vec![KeyColumn::new("name", KeyType::Text)];
            let mut view = TableSchema::of_cells(TableName::new("ks", "by_name"), partition);
            view.sort = vec![SortColumn::clustering("user", KeyType::Text, Direction::Ascending)];
            view.cells.as_mut().unwrap().view_of = Some(ViewSchema {
                base: base.name.clone(),
                partition: vec![ViewPart::Column(NAME)],
                sort: vec![ViewPart::PartitionColumn(0)],
                columns: None,
                tests: Vec::new(),
                state: IndexState::Public,
            });
            bed.change_catalogue(|| {
                vec![
                    CatalogueChange::CreateTable(base.clone()),
                    CatalogueChange::CreateTable(view.clone()),
                ]
            });
            let found = bed.engine.sharing(Share::All).shared_items(&view.name).map(drop);
            bed.engine.drop_table(&view.name).unwrap();
            bed.engine.drop_table(&base.name).unwrap();
            found.map_err(|error| error.kind())
        };
        assert_eq!(of(None), Ok(()));
        assert_eq!(of(Some(Share::None)), Err(ErrorKind::NotFound));
    });
}

#[test]
fn a_key_that_no_item_has_is_named() {
    on_every_driver(|bed| {
        let of = |schema: TableSchema| {
            let name = schema.name.clone();
            bed.change_catalogue(|| vec![CatalogueChange::CreateTable(schema.clone())]);
            bed.engine.sharing(Share::All).shared_items(&name)
        };
        let by_uuid = schema("by_uuid", KeyType::CqlTimeUuid, Direction::Ascending);
        let refused = of(by_uuid).unwrap_err();
        assert!(refused.to_string().contains("key column at"), "{refused}");
        let mut wide = schema("wide", KeyType::I32, Direction::Ascending);
        wide.sort.push(SortColumn::clustering("more", KeyType::Text, Direction::Ascending));
        let refused = of(wide).unwrap_err();
        assert!(refused.to_string().contains("2 clustering columns"), "{refused}");
        // A counter is shown and not written.
        let mut counting = schema("counting", KeyType::I32, Direction::Ascending);
        counting.columns = vec![Column {
            name: "hits".to_owned(),
            id: HITS,
            column_type: ColumnType::Counter,
            is_static: false,
        }];
        let items = of(counting.clone()).unwrap();
        let rows = bed.engine.table(&counting.name).unwrap();
        let add = shelfmark_engine::CellOperation::Add { column: HITS, delta: 3 };
        bed.cells(vec![update(&rows, "u", clustering(7), 1, vec![add])]);
        assert_eq!(item(bed, &items, 7).unwrap().get("hits"), Some(&Value::number(3)));
        let hits = Item::new().with("user", "u").with("at", Value::number(7));
        let refused = bed.write(Write::put(&items, hits.with("hits", Value::number(9))));
        assert!(refused.unwrap_err().to_string().contains("counter"));
        // Nor deleted: what adds to it later would begin at nothing, or not be seen.
        let refused = bed.write(Write::delete(&items, key(7)));
        assert!(refused.unwrap_err().to_string().contains("counter"));
        // One decimal has several partitions.
        let mut by_decimal = schema("by_decimal", KeyType::I32, Direction::Ascending);
        by_decimal.partition = vec![KeyColumn::new("n", KeyType::Decimal)];
        let refused = of(by_decimal).unwrap_err();
        assert!(refused.to_string().contains("partition column n"), "{refused}");
    });
}

#[test]
fn what_others_write_to_a_collection_stays() {
    on_every_driver(|bed| {
        let (rows, items) = events(bed);
        bed.put(&items, whole());
        let before = timestamps(bed, &rows);
        let patched = |operations: Vec<PatchOperation>| {
            let change = Change::Patch { key: key(7), patch: Patch { operations }, creates: true };
            bed.write(Write::new(&items, change)).unwrap();
            timestamps(bed, &rows)
        };
        let note = |name: &str| Path {
            attribute: "notes".to_owned(),
            steps: vec![Step::Name(name.to_owned())],
        };
        let tags = |tags: &[&str]| Value::set(tags.iter().map(|own| Value::text(*own)).collect());
        let after = patched(vec![
            PatchOperation::Set(note("b"), PatchValue::value(Value::number(-2))),
            PatchOperation::Set(note("c"), PatchValue::value(Value::number(6))),
            PatchOperation::Add(Path::attribute("tags"), tags(&["y", "z"])),
        ]);
        let stays = |after: &BTreeMap<_, i64>, id: u32, path: &str| {
            let key = (id, path.to_owned());
            before.get(&key) == after.get(&key)
        };
        let names: Vec<&str> = after.keys().map(|(_, path)| path.as_str()).collect();
        assert_eq!(names, ["x", "y", "z", "a", "b", "c"]);
        // What is not named keeps its time, so a write of another face that is later than it stays.
        assert!(stays(&after, NOTES, "a") && stays(&after, TAGS, "x"), "{after:?}");
        // What is named is written anew, also where its value stays.
        assert!(!stays(&after, NOTES, "b") && !stays(&after, TAGS, "y"), "{after:?}");
        // An attribute that is named as a whole is written element by element.
        let more = Value::Map([("a", 1), ("c", 6)].map(named).into());
        let after = patched(vec![
            PatchOperation::Set(Path::attribute("notes"), PatchValue::value(more)),
            PatchOperation::Set(Path::attribute("tags"), PatchValue::value(tags(&["x"]))),
        ]);
        let names: Vec<&str> = after.keys().map(|(_, path)| path.as_str()).collect();
        assert_eq!(names, ["x", "a", "c"]);
        assert!(!stays(&after, NOTES, "a") && !stays(&after, TAGS, "x"), "{after:?}");
    });
}

fn named((name, n): (&str, i64)) -> (String, Value) {
    (name.to_owned(), Value::number(n))
}

/// Returns the time of each element of the set and the map of a row.
fn timestamps(bed: &Bed, rows: &Arc<Table>) -> BTreeMap<(u32, String), i64> {
    let get = CellGet { partition: bytes("u"), clustering: clustering(7), ..CellGet::default() };
    let row = patiently(|| bed.engine.get_cells(rows, &get)).unwrap().row.unwrap();
    let cells = row.elements(TAGS).iter().chain(row.elements(NOTES));
    cells.map(|cell| ((cell.column, as_text(&cell.path)), cell.timestamp)).collect()
}

#[test]
fn a_partition_of_statics_alone_ends_no_page() {
    on_every_driver(|bed| {
        let (rows, items) = events(bed);
        let statics = |partition: &str| {
            mutation(&rows, partition, 5, CellChange::Statics(vec![set(STATIC, "Ada")]))
        };
        bed.cells(["a", "b", "c", "d", "e"].map(statics).into());
        bed.put(&items, whole());
        let (mut found, mut start) = (0, None);
        loop {
            let scan = Scan { limit: Some(1), start, peek: true, ..Scan::default() };
            let page = patiently(|| bed.engine.scan(&items, &scan)).unwrap();
            found += page.count;
            // The key to go on from is one of an item, or there is none.
            assert!(page.cursor.is_none() || page.count == 1, "{page:?}");
            start = page.cursor;
            if start.is_none() {
                break;
            }
        }
        assert_eq!(found, 1);
    });
}
