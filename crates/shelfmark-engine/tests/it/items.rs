//! Items: puts, patches, deletes, queries and scans.

use std::net::Ipv4Addr;
use std::sync::Arc;

use shelfmark_engine::budget::{Budget, Room};
use shelfmark_engine::{Change, Cursor, ErrorKind, Get, Query, Scan, Segment, Table, Write};
use shelfmark_keycode::{Decimal, KeyType};
use shelfmark_model::limits::VALUE_DEPTH_MAX;
use shelfmark_model::{
    Comparison, Condition, Item, Key, KeyColumn, Operand, Patch, Path, SortBound, SortCondition,
    TableName, TableSchema, Value,
};

use crate::drivers::{Bed, on_every_driver, patiently, plain};

fn item(pk: &str, sk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", sk).with("n", Value::number(n))
}

fn sort_keys(items: &[Item]) -> Vec<&str> {
    items.iter().filter_map(|item| item.get("sk")?.as_text()).collect()
}

fn filled(bed: &Bed, keys: &[(&str, &str)]) -> std::sync::Arc<shelfmark_engine::Table> {
    let table = bed.create_table(plain("t")).unwrap();
    for (n, (pk, sk)) in (0..).zip(keys) {
        bed.write(Write::put(&table, item(pk, sk, n))).unwrap();
    }
    table
}

#[test]
fn an_item_comes_back_with_its_keys() {
    on_every_driver(|bed| {
        let table = filled(bed, &[("a", "1")]);
        let got = bed.engine.get(&table, &Get::new(Key::pair("a", "1"))).unwrap();
        assert_eq!(got.item, Some(item("a", "1", 0)));
        assert_eq!((got.report.rows_read(), got.report.rows_returned()), (1, 1));
        let absent = bed.engine.get(&table, &Get::new(Key::pair("a", "2"))).unwrap();
        assert_eq!((absent.item, absent.report.rows_read()), (None, 0));
    });
}

#[test]
fn a_failed_condition_changes_nothing_and_gives_the_old_item_back() {
    on_every_driver(|bed| {
        let table = filled(bed, &[("a", "1")]);
        let absent = Condition::NotExists(Path::attribute("pk"));
        let mut write = Write::put(&table, item("a", "1", 9)).when(absent.clone());
        write.old_on_refusal = true;
        let error = bed.write(write).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConditionFailed);
        assert_eq!(
            error.failures()[0].refusal,
            shelfmark_engine::Refusal::ConditionFailed(Some(item("a", "1", 0)))
        );
        bed.write(Write::put(&table, item("a", "2", 9)).when(absent)).unwrap();
    });
}

#[test]
fn items_that_come_back_take_room_before_they_are_held() {
    on_every_driver(|bed| {
        let table = filled(bed, &[]);
        let long = |n: usize| {
            let value = "x".repeat(50_000);
            item("a", &n.to_string(), 0).with("long", value.as_str())
        };
        for n in 0..10 {
            bed.write(Write::put(&table, long(n))).unwrap();
        }
        let absent = Condition::NotExists(Path::attribute("pk"));
        let writes = |count: usize, tells: bool| -> Vec<Write> {
            let write = |n| {
                let own = Write::put(&table, long(n)).when(absent.clone());
                Write { old_on_refusal: tells, ..own }
            };
            (0..count).map(write).collect()
        };
        let budget = Arc::new(Budget::new(2 << 20));
        let client = budget.client(Ipv4Addr::LOCALHOST.into(), true);
        let room = Room::beside(&client, 0);
        let engine = bed.engine.within(Arc::clone(&room));
        let ask = |count, tells| patiently(|| engine.write_all(writes(count, tells))).unwrap_err();
        let error = ask(4, true);
        assert_eq!((error.kind(), error.failures().len()), (ErrorKind::ConditionFailed, 4));
        assert!(budget.taken() > 4 * 50_000, "they are held until they were answered");
        assert_eq!(ask(10, true).kind(), ErrorKind::LimitExceeded, "one client never gets so much");
        assert_eq!(ask(10, false).kind(), ErrorKind::ConditionFailed, "nothing comes back");
        drop((engine, room));
        assert_eq!(budget.taken(), 0);
    });
}

#[test]
fn a_patch_creates_changes_and_answers_both_images() {
    on_every_driver(|bed| {
        let table = filled(bed, &[]);
        let key = Key::pair("a", "1");
        for n in 1..=3 {
            let patch = Patch {
                operations: vec![shelfmark_model::PatchOperation::Add(
                    Path::attribute("n"),
                    Value::number(1),
                )],
            };
            let change = Change::Patch { key: key.clone(), patch, creates: true };
            let mut write = Write::new(&table, change);
            write.returns = shelfmark_engine::Returns { old: true, new: true };
            let written = bed.write(write).unwrap();
            assert_eq!(written.new, Some(item("a", "1", n)));
            assert_eq!(written.old, (n > 1).then(|| item("a", "1", n - 1)));
        }
    });
}

#[test]
fn a_query_reads_what_it_returns_in_both_directions() {
    on_every_driver(|bed| {
        let keys = ["chat#1", "chat#~2", "chat#é", "chats#1", "chat"].map(|sk| ("u", sk));
        let table = filled(bed, &keys);
        filled_other_partitions(bed, &table);
        let query = Query::partition(vec!["u".into()]).sort(SortCondition::begins_with("chat#"));
        let page = bed.engine.query(&table, &query).unwrap();
        assert_eq!(sort_keys(&page.items), ["chat#1", "chat#~2", "chat#é"]);
        assert_eq!((page.report.rows_read(), page.report.rows_returned()), (3, 3));
        let page = bed.engine.query(&table, &query.descending().limit(1)).unwrap();
        assert_eq!(sort_keys(&page.items), ["chat#é"]);
        assert_eq!(page.report.rows_read(), 1);
        let between = Query::partition(vec!["u".into()]).sort(SortCondition::Range {
            equal: vec![],
            lower: SortBound::Excluded("chat".into()),
            upper: SortBound::Included("chat#~2".into()),
        });
        let page = bed.engine.query(&table, &between).unwrap();
        assert_eq!(sort_keys(&page.items), ["chat#1", "chat#~2"]);
        let inverted = Query::partition(vec!["u".into()]).sort(SortCondition::between("z", "a"));
        assert!(bed.engine.query(&table, &inverted).unwrap().items.is_empty());
    });
}

fn filled_other_partitions(bed: &Bed, table: &std::sync::Arc<shelfmark_engine::Table>) {
    for pk in ["t", "u\0", "v"] {
        bed.write(Write::put(table, item(pk, "chat#1", 0))).unwrap();
    }
}

#[test]
fn pages_join_without_loss_and_survive_the_loss_of_their_row() {
    on_every_driver(|bed| {
        let names: Vec<String> = (0..25).map(|n| format!("k{n:02}")).collect();
        let keys: Vec<(&str, &str)> = names.iter().map(|sk| ("p", sk.as_str())).collect();
        let table = filled(bed, &keys);
        for descending in [false, true] {
            let mut query = Query::partition(vec!["p".into()]).limit(4);
            query.descending = descending;
            query.filter = Some(Condition::Compare(
                Comparison::NotEqual,
                Operand::Path(Path::attribute("n")),
                Operand::Value(Value::number(7)),
            ));
            let mut seen = Vec::new();
            loop {
                let page = bed.engine.query(&table, &query).unwrap();
                assert!(page.evaluated <= 4);
                seen.extend(sort_keys(&page.items).into_iter().map(str::to_owned));
                let Some(cursor) = page.cursor else { break };
                if let Some(last) = seen.last() {
                    bed.write(Write::delete(&table, Key::pair("p", last.as_str()))).unwrap();
                }
                query.start = Some(Cursor::from_bytes(&cursor.to_bytes()).unwrap());
            }
            let mut expected: Vec<String> = names.clone();
            expected.remove(7);
            if descending {
                expected.reverse();
            }
            assert_eq!(seen, expected);
            for (n, (pk, sk)) in (0..).zip(&keys) {
                bed.write(Write::put(&table, item(pk, sk, n))).unwrap();
            }
        }
    });
}

#[test]
fn segments_share_a_table_out_and_every_item_is_in_one() {
    on_every_driver(|bed| {
        let names: Vec<String> = (0..40).map(|n| format!("p{n}")).collect();
        let keys: Vec<(&str, &str)> = names.iter().map(|pk| (pk.as_str(), "x")).collect();
        let table = filled(bed, &keys);
        let whole = bed.engine.scan(&table, &Scan::default()).unwrap();
        assert_eq!(whole.count, 40);
        let mut joined = Vec::new();
        for number in 0..7 {
            let segment = Some(Segment { number, total: 7 });
            joined.extend(
                bed.engine.scan(&table, &Scan { segment, ..Scan::default() }).unwrap().items,
            );
        }
        assert_eq!(joined, whole.items);
    });
}

#[test]
fn large_items_are_chunked_replaced_and_deleted_whole() {
    on_every_driver(|bed| {
        let table = filled(bed, &[("p", "a"), ("p", "c")]);
        let mut large = item("p", "b", 1);
        for n in 0..6 {
            large.set(format!("a{n}"), "x".repeat(40_000));
        }
        bed.write(Write::put(&table, large.clone())).unwrap();
        for descending in [false, true] {
            let mut query = Query::partition(vec!["p".into()]);
            query.descending = descending;
            let page = bed.engine.query(&table, &query).unwrap();
            assert_eq!(page.items.len(), 3);
            assert_eq!(page.items[1], large);
            assert_eq!(page.report.rows_read(), 3, "chunks are no rows");
        }
        bed.write(Write::put(&table, item("p", "b", 2))).unwrap();
        let got = bed.engine.get(&table, &Get::new(Key::pair("p", "b"))).unwrap();
        assert_eq!(got.item, Some(item("p", "b", 2)));
        let page = bed.engine.query(&table, &Query::partition(vec!["p".into()])).unwrap();
        assert_eq!(page.items.len(), 3, "no chunk is left behind");
    });
}

#[test]
fn a_wrong_key_is_a_clear_error() {
    on_every_driver(|bed| {
        let table = filled(bed, &[]);
        let error = bed.write(Write::put(&table, Item::new().with("pk", "a"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("sk"), "{error}");
        let error =
            bed.engine.get(&table, &Get::new(Key::pair(Value::number(1), "x"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let long = "x".repeat(70_000);
        let error = bed.write(Write::put(&table, item(&long, "x", 1))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    });
}

#[test]
fn a_page_without_room_still_holds_an_item() {
    on_every_driver(|bed| {
        let table = filled(bed, &[("p", "a"), ("p", "b"), ("p", "c")]);
        let mut query = Query::partition(vec!["p".into()]);
        query.bytes_max = Some(0);
        let mut seen = Vec::new();
        loop {
            let page = bed.engine.query(&table, &query).unwrap();
            assert!(page.items.len() <= 1);
            seen.extend(sort_keys(&page.items).into_iter().map(str::to_owned));
            query.start = page.cursor;
            if query.start.is_none() {
                break;
            }
        }
        assert_eq!(seen, ["a", "b", "c"]);
    });
}

#[test]
fn only_what_has_a_beginning_can_begin_with_something() {
    on_every_driver(|bed| {
        let schema =
            TableSchema::new(TableName::new("test", "typed"), KeyColumn::new("pk", KeyType::Text));
        let numbers = bed.create_table(schema.with_sort("sk", KeyType::I64)).unwrap();
        let texts = filled(bed, &[]);
        let refused = |table: &Table, prefix: Value| {
            let query = Query::partition(vec!["p".into()]).sort(SortCondition::begins_with(prefix));
            assert_eq!(bed.engine.query(table, &query).unwrap_err().kind(), ErrorKind::Invalid);
        };
        refused(&numbers, "1".into());
        refused(&texts, Value::Bytes("a".into()));
        refused(&texts, Value::number(1));
    });
}

#[test]
fn a_patch_leaves_the_key_alone() {
    on_every_driver(|bed| {
        let table = filled(bed, &[("a", "1")]);
        for (patch, is_fine) in [
            (Patch::set("sk", "2"), false),
            (Patch::default().and_remove("pk"), false),
            (Patch::set("sk", "1").and_set("n", Value::number(7)), true),
        ] {
            let change = Change::Patch { key: Key::pair("a", "1"), patch, creates: true };
            match bed.write(Write::new(&table, change)) {
                Ok(_) => assert!(is_fine),
                Err(error) => assert_eq!((error.kind(), is_fine), (ErrorKind::Invalid, false)),
            }
        }
        let whole = bed.engine.scan(&table, &Scan::default()).unwrap();
        assert_eq!(whole.items, [item("a", "1", 7)]);
    });
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.change_log = true;
        let table = bed.create_table(schema).unwrap();
        let nested =
            |levels: usize| (1..levels).fold(Value::Null, |value, _| Value::List(vec![value]));
        for (levels, is_fine) in [(VALUE_DEPTH_MAX, true), (VALUE_DEPTH_MAX + 1, false)] {
            let deep = item("a", "1", 1).with("deep", nested(levels));
            let patch = Patch::set("deep", nested(levels));
            let change = Change::Patch { key: Key::pair("a", "2"), patch, creates: true };
            for write in [Write::put(&table, deep), Write::new(&table, change)] {
                match bed.write(write) {
                    Ok(_) => assert!(is_fine),
                    Err(error) => {
                        assert_eq!((error.kind(), is_fine), (ErrorKind::LimitExceeded, false));
                    }
                }
            }
        }
        assert_eq!(bed.engine.scan(&table, &Scan::default()).unwrap().count, 2);
        assert_eq!(bed.engine.changes(&table, None, 10).unwrap().len(), 2);
    });
}

#[test]
fn what_no_commit_can_hold_is_refused_before_anything_is_queued() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.change_log = true;
        for name in ["i1", "i2", "i3"] {
            schema.indexes.push(shelfmark_model::IndexSchema {
                name: name.to_owned(),
                kind: shelfmark_model::IndexKind::Secondary,
                partition: vec![KeyColumn::new("tag", KeyType::Text)],
                sort: vec![],
                projected: shelfmark_model::Projected::All,
                state: shelfmark_model::IndexState::Public,
            });
        }
        let table = bed.create_table(schema).unwrap();
        // The row, three entries and a change: more than 64 MiB together.
        let bytes = Value::Bytes(vec![7; 15 << 20].into());
        let large = item("a", "1", 1).with("tag", "x").with("bytes", bytes);
        let error = bed.write(Write::put(&table, large.clone())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        let error = bed.transact(|tx| tx.write(&Write::put(&table, large.clone()))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        // An entry's key is as long as the attributes that it is made of.
        let long = item("a", "1", 1).with("tag", "x".repeat(66_000));
        let error = bed.write(Write::put(&table, long)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        bed.settle();
        assert!(bed.engine.scan(&table, &Scan::default()).unwrap().items.is_empty());
        assert!(bed.engine.changes(&table, None, 1).unwrap().is_empty());
        // One that fits, with all that follows from it.
        let bytes = Value::Bytes(vec![7; 2 << 20].into());
        let fits = item("a", "1", 1).with("tag", "x").with("bytes", bytes);
        bed.put(&table, fits.clone());
        let query = Query::partition(vec!["x".into()]).index("i2");
        assert_eq!(bed.engine.query(&table, &query).unwrap().items, std::slice::from_ref(&fits));
        assert_eq!(bed.engine.changes(&table, None, 9).unwrap()[0].new, Some(fits));
        bed.write(Write::delete(&table, Key::pair("a", "1"))).unwrap();
        let kept: usize = [2, 3].map(|tree| crate::drivers::keys(bed, &[tree]).len()).iter().sum();
        assert_eq!(kept, 0, "no chunk is left behind");
    });
}

#[test]
fn a_unique_key_is_taken_over_with_all_chunks_of_the_expired_entry() {
    on_every_driver(|bed| {
        let mut schema = plain("t").with_index(shelfmark_model::IndexSchema {
            name: "unique".to_owned(),
            kind: shelfmark_model::IndexKind::Unique,
            partition: vec![KeyColumn::new("tag", KeyType::Text)],
            sort: vec![],
            projected: shelfmark_model::Projected::All,
            state: shelfmark_model::IndexState::Public,
        });
        schema.options.ttl = Some(shelfmark_model::TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        let tagged = |sk: &str| item("a", sk, 1).with("tag", "x");
        let mut large = Write::put(&table, tagged("1").with("text", "t".repeat(200_000)));
        large.expires_at = Some(crate::drivers::START_SECONDS + 5);
        bed.write(large).unwrap();
        assert_eq!(crate::drivers::keys(bed, &[3]).len(), 6, "a head and five chunks");
        bed.seconds(5);
        bed.put(&table, tagged("2"));
        assert_eq!(crate::drivers::keys(bed, &[3]).len(), 1, "a head");
        bed.sweep(&mut shelfmark_engine::SweepPosition::default(), 10).unwrap();
        bed.settle();
        let query = Query::partition(vec!["x".into()]).index("unique");
        assert_eq!(bed.engine.query(&table, &query).unwrap().items, [tagged("2")]);
    });
}

#[test]
fn rows_of_many_shapes_are_read_as_each_by_itself() {
    on_every_driver(|bed| {
        let schema =
            TableSchema::new(TableName::new("app", "shapes"), KeyColumn::new("m", KeyType::Text))
                .with_sort("n", KeyType::Decimal);
        let table = bed.create_table(schema).unwrap();
        let mut written = Vec::new();
        for n in 0..60_i64 {
            // Attributes before, between and behind the key's names; of some rows the record has the
            // key's number too, since it is spelled otherwise.
            let spelled = Value::Number(Decimal::new((n * 10).into(), 1).unwrap());
            let sort = if n % 5 == 0 { spelled } else { Value::number(n) };
            let mut item = Item::new().with("m", "p").with("n", sort);
            for (bit, name) in ["a", "b", "mm", "nn", "z"].into_iter().enumerate() {
                if (n / 3) >> bit & 1 == 1 {
                    item.set(name, format!("{name} of {n}, which is longer than a short text"));
                }
            }
            bed.write(Write::put(&table, item.clone())).unwrap();
            written.push(item);
        }
        bed.settle();
        let query = Query::partition(vec!["p".into()]);
        let mut read = bed.engine.query(&table, &query).unwrap().items;
        assert_eq!(read, written);
        read.reverse();
        assert_eq!(bed.engine.query(&table, &query.descending()).unwrap().items, read);
    });
}
