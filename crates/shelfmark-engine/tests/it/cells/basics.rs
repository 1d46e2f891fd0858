//! Writing and reading cells: which write wins, what a deletion hides, what expires.

use std::cell::Cell;
use std::net::Ipv4Addr;
use std::sync::Arc;

use shelfmark_engine::budget::{Budget, Room};
use shelfmark_engine::{
    CellChange, CellFilter, CellGet, CellLimits, CellOperation, CellQuery, CellScan,
    ConditionalRead, Decision, ErrorKind, Span, SpanBound, SweepPosition,
};

use super::{
    A, B, COUNTER, GRACE_SECONDS, LIST, MAP, STATIC, as_text, bytes, from, insert, int, key,
    mutation, name_of, schema, set, text, update,
};
use crate::drivers::{START_SECONDS, on_every_driver, patiently};

#[test]
fn the_later_write_wins_in_whatever_order_they_come() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        bed.cells(vec![update(&table, "p", key(1, "x"), 20, vec![set(A, "new"), set(B, "b")])]);
        bed.cells(vec![update(&table, "p", key(1, "x"), 10, vec![set(A, "old")])]);
        assert_eq!(bed.value(&table, "p", key(1, "x"), A).unwrap(), "new");
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        assert_eq!((row.cells.len(), row.cell(B).unwrap().timestamp), (2, 20));
        assert!(row.inserted.is_none());
        bed.cells(vec![update(
            &table,
            "p",
            key(1, "x"),
            30,
            vec![CellOperation::Delete { column: A }, CellOperation::Delete { column: B }],
        )]);
        assert!(bed.row(&table, "p", key(1, "x")).is_none(), "an updated row goes with its cells");
        bed.cells(vec![insert(&table, "p", key(1, "x"), 5, vec![])]);
        assert!(bed.row(&table, "p", key(1, "x")).is_some(), "an inserted one stays");
    });
}

#[test]
fn what_is_deleted_stays_dead_for_late_writes() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let write = |c: i32, at: i64| update(&table, "p", key(c, "x"), at, vec![set(A, "v")]);
        bed.cells((0..6).map(|c| write(c, 10)).collect());
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeleteRow(key(0, "x")))]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeleteSpan(from(4)))]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["1/x", "2/x", "3/x"]);
        bed.cells(vec![write(0, 15), write(5, 20), write(7, 19)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["1/x", "2/x", "3/x"]);
        bed.cells(vec![write(0, 21), write(5, 21)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), true), ["5/x", "3/x", "2/x", "1/x", "0/x"]);
        // An older deletion of more takes what is older, and leaves the later tombstones.
        bed.cells(vec![mutation(&table, "p", 12, CellChange::DeletePartition)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["0/x", "5/x"]);
        bed.cells(vec![write(2, 12), write(3, 13), write(4, 20), write(6, 14)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["0/x", "3/x", "5/x"]);
    });
}

#[test]
fn marks_are_forgotten_after_the_grace_period() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let write = |at: i64| update(&table, "p", key(1, "x"), at, vec![set(A, "v")]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        bed.cells(vec![mutation(&table, "q", 20, CellChange::DeleteRow(key(1, "x")))]);
        bed.seconds(u64::from(GRACE_SECONDS));
        let mut position = SweepPosition::default();
        bed.sweep(&mut position, 100).unwrap();
        bed.cells(vec![write(10)]);
        assert!(bed.row(&table, "p", key(1, "x")).is_none(), "not yet over");
        bed.seconds(2);
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        bed.cells(vec![write(10)]);
        assert!(bed.row(&table, "p", key(1, "x")).is_some());
    });
}

#[test]
fn a_longer_grace_period_holds_for_what_was_deleted_before() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let write = |pk: &str| update(&table, pk, key(1, "x"), 10, vec![set(A, "v")]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        bed.cells(vec![mutation(&table, "q", 20, CellChange::DeleteRow(key(1, "x")))]);
        bed.cells(vec![update(
            &table,
            "r",
            key(1, "x"),
            20,
            vec![CellOperation::Delete { column: A }],
        )]);
        let longer = 3 * GRACE_SECONDS;
        bed.alter_options(&table.schema.name, |options| options.gc_grace_seconds = longer).unwrap();
        let mut position = SweepPosition::default();
        bed.seconds(u64::from(GRACE_SECONDS) + 2);
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        bed.cells(vec![write("p"), write("q"), write("r")]);
        for pk in ["p", "q", "r"] {
            assert!(bed.row(&table, pk, key(1, "x")).is_none(), "{pk}: not yet over");
        }
        bed.seconds(u64::from(longer));
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        bed.cells(vec![write("p"), write("q"), write("r")]);
        for pk in ["p", "q", "r"] {
            assert!(bed.row(&table, pk, key(1, "x")).is_some(), "{pk}");
        }
    });
}

#[test]
fn statics_belong_to_the_partition() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let statics = |value: &str, at: i64| {
            mutation(&table, "p", at, CellChange::Statics(vec![set(STATIC, value)]))
        };
        bed.cells(vec![statics("one", 10)]);
        let limits = CellLimits { statics: true, ..CellLimits::default() };
        let query = |span: Span| CellQuery {
            partition: bytes("p"),
            span,
            limits: limits.clone(),
            ..CellQuery::default()
        };
        let rows = |span: Span| {
            let page = patiently(|| bed.engine.query_cells(&table, &query(span.clone()))).unwrap();
            let rows = page.rows.iter().map(|entry| {
                let statics = entry.statics.as_ref().unwrap();
                let value = statics.cell(STATIC).map(|cell| as_text(&cell.value));
                (name_of(entry.clustering.as_deref()), value)
            });
            rows.collect::<Vec<_>>()
        };
        let some = |value: &str| Some(value.to_owned());
        assert_eq!(rows(Span::all()), [("-".to_owned(), some("one"))], "statics alone are one row");
        assert_eq!(rows(from(0)), [], "but not of a slice");
        bed.cells(vec![insert(&table, "p", key(1, "x"), 10, vec![])]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeleteRow(key(1, "x")))]);
        bed.cells(vec![insert(&table, "p", key(2, "x"), 30, vec![])]);
        bed.cells(vec![statics("two", 40)]);
        assert_eq!(rows(Span::all()), [("2/x".to_owned(), some("two"))]);
        let scan = CellScan { limits: limits.clone(), ..CellScan::default() };
        let page = patiently(|| bed.engine.scan_cells(&table, &scan)).unwrap();
        assert_eq!(page.rows.len(), 1);
        assert_eq!(page.report.rows_read(), 1, "dead rows and statics are no rows");
        bed.cells(vec![mutation(&table, "p", 35, CellChange::DeletePartition)]);
        assert_eq!(rows(Span::all()), [("-".to_owned(), some("two"))]);
        bed.cells(vec![mutation(&table, "p", 40, CellChange::DeletePartition)]);
        assert_eq!(rows(Span::all()), []);
    });
}

#[test]
fn cells_and_rows_expire() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let mut short = insert(&table, "p", key(1, "x"), 10, vec![set(A, "short")]);
        short.ttl_seconds = Some(100);
        bed.cells(vec![short]);
        bed.cells(vec![update(&table, "p", key(1, "x"), 11, vec![set(B, "long")])]);
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        let expiry = row.cell(A).unwrap().expiry.unwrap();
        assert_eq!((expiry.ttl_seconds, expiry.at_seconds), (100, START_SECONDS + 100));
        bed.seconds(99);
        assert!(bed.value(&table, "p", key(1, "x"), A).is_some());
        bed.seconds(1);
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        assert!(row.cell(A).is_none() && row.inserted.is_none() && row.cell(B).is_some());
        // The expired cell is a dead one until the grace is over: an older write stays dead.
        bed.cells(vec![update(&table, "p", key(1, "x"), 9, vec![set(A, "late")])]);
        assert!(bed.value(&table, "p", key(1, "x"), A).is_none());
        bed.seconds(u64::from(GRACE_SECONDS) + 1);
        let mut position = SweepPosition::default();
        while bed.sweep(&mut position, 100).unwrap() > 0 {}
        bed.cells(vec![update(&table, "p", key(1, "x"), 9, vec![set(A, "late")])]);
        assert_eq!(bed.value(&table, "p", key(1, "x"), A).unwrap(), "late");
    });
}

#[test]
fn collections_are_cells_of_their_own() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let put = |path: &str, value: &str, at: i64| {
            let operation =
                CellOperation::SetElement { column: MAP, path: bytes(path), value: bytes(value) };
            update(&table, "p", key(1, "x"), at, vec![operation])
        };
        let elements = |column: u32| -> Vec<(String, String)> {
            let row = bed.row(&table, "p", key(1, "x")).unwrap_or_default();
            let cells = row.elements(column).iter();
            cells.map(|cell| (as_text(&cell.path), as_text(&cell.value))).collect()
        };
        let pair = |path: &str, value: &str| (path.to_owned(), value.to_owned());
        bed.cells(vec![put("k", "1", 10), put("", "empty key", 10)]);
        assert_eq!(elements(MAP), [pair("", "empty key"), pair("k", "1")]);
        let overwrite =
            CellOperation::Overwrite { column: MAP, elements: vec![(bytes("n"), bytes("2"))] };
        bed.cells(vec![update(&table, "p", key(1, "x"), 20, vec![overwrite])]);
        bed.cells(vec![put("late", "x", 19), put("k", "3", 21)]);
        assert_eq!(elements(MAP), [pair("k", "3"), pair("n", "2")]);
        let gone = CellOperation::DeleteElement { column: MAP, path: bytes("k") };
        bed.cells(vec![update(&table, "p", key(1, "x"), 22, vec![gone])]);
        assert_eq!(elements(MAP), [pair("n", "2")]);
        let values = |values: &[&str]| values.iter().map(|value| bytes(value)).collect();
        let list = |operation: CellOperation| {
            bed.cells(vec![update(&table, "p", key(1, "x"), 30, vec![operation])]);
        };
        list(CellOperation::OverwriteList { column: LIST, values: values(&["c", "d"]) });
        list(CellOperation::Prepend { column: LIST, values: values(&["a", "b"]) });
        list(CellOperation::Append { column: LIST, values: values(&["e", "f"]) });
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        let found: String = row.elements(LIST).iter().map(|cell| as_text(&cell.value)).collect();
        assert_eq!(found, "abcdef");
    });
}

#[test]
fn counters_add_up_and_begin_anew_when_deleted() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let add = |delta: i64| {
            let operation = CellOperation::Add { column: COUNTER, delta };
            bed.cells(vec![update(&table, "p", key(1, "x"), 1, vec![operation])]);
        };
        let count = || {
            let row = bed.row(&table, "p", key(1, "x"))?;
            Some(i64::from_be_bytes(row.cell(COUNTER)?.value.as_ref().try_into().unwrap()))
        };
        add(5);
        add(-2);
        assert_eq!(count(), Some(3));
        let now = i64::try_from(START_SECONDS).unwrap() * 1_000_000 + 5_000_000;
        bed.cells(vec![mutation(&table, "p", now, CellChange::DeleteRow(key(1, "x")))]);
        assert_eq!(count(), None);
        add(7);
        assert_eq!(count(), Some(7));
        // It counts from behind its deletion: an older one does not concern it.
        bed.cells(vec![mutation(&table, "p", now - 1, CellChange::DeleteRow(key(1, "x")))]);
        assert_eq!(count(), Some(7));
    });
}

#[test]
fn keys_are_in_the_order_of_their_types_and_directions() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let empty = vec![text(""), text("e")];
        let null = vec![None, text("n")];
        let mut keys: Vec<_> = [(2, "a"), (-1, "a"), (2, "b"), (10, "a"), (2, "ab")]
            .into_iter()
            .map(|(c, d)| key(c, d))
            .collect();
        keys.extend([empty, null]);
        bed.cells(keys.into_iter().map(|key| insert(&table, "p", key, 1, vec![])).collect());
        let all = ["null/n", "empty/e", "-1/a", "2/b", "2/ab", "2/a", "10/a"];
        assert_eq!(bed.keys(&table, "p", Span::all(), false), all);
        let mut reversed = all;
        reversed.reverse();
        assert_eq!(bed.keys(&table, "p", Span::all(), true), reversed);
        assert_eq!(bed.keys(&table, "p", Span::equal(vec![int(2)]), false), ["2/b", "2/ab", "2/a"]);
        let bound =
            |value: &str, included: bool| Some(SpanBound { values: vec![text(value)], included });
        let span = |lower, upper| Span { equal: vec![int(2)], lower, upper };
        let keys = |span: Span| bed.keys(&table, "p", span, false);
        assert_eq!(keys(span(bound("a", false), bound("b", true))), ["2/b", "2/ab"]);
        assert_eq!(keys(span(bound("a", true), bound("b", false))), ["2/ab", "2/a"]);
        assert_eq!(keys(span(None, bound("a", true))), ["2/a"]);
        let tuple = SpanBound { values: key(2, "a"), included: true };
        let mixed = Span { lower: Some(tuple), ..Span::default() };
        let query = CellQuery { partition: bytes("p"), span: mixed, ..CellQuery::default() };
        let refused = bed.engine.query_cells(&table, &query).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "two directions are no one range");
    });
}

#[test]
#[allow(clippy::too_many_lines, reason = "one reader, asked in every way")]
fn pages_go_on_where_they_ended() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let mut mutations = Vec::new();
        for partition in 0..7 {
            let pk = format!("p{partition}");
            mutations.push(mutation(&table, &pk, 1, CellChange::Statics(vec![set(STATIC, &pk)])));
            for c in 0..partition {
                mutations.push(insert(&table, &pk, key(c, "x"), 1, vec![set(A, "v")]));
            }
        }
        bed.cells(mutations);
        let read = |rows_max: usize, partition_rows_max: Option<usize>, reversed: bool| {
            let mut found = Vec::new();
            let mut limits = CellLimits {
                rows_max: Some(rows_max),
                partition_rows_max,
                statics: true,
                ..CellLimits::default()
            };
            loop {
                let page = if reversed {
                    let query = CellQuery {
                        partition: bytes("p6"),
                        reversed,
                        limits: limits.clone(),
                        ..CellQuery::default()
                    };
                    patiently(|| bed.engine.query_cells(&table, &query)).unwrap()
                } else {
                    let scan = CellScan { limits: limits.clone(), ..CellScan::default() };
                    patiently(|| bed.engine.scan_cells(&table, &scan)).unwrap()
                };
                assert!(page.rows.len() <= rows_max);
                found.extend(page.rows.iter().map(|entry| {
                    let statics = entry.statics.as_ref().unwrap().cell(STATIC).unwrap();
                    assert_eq!(statics.value, entry.partition, "each with its own statics");
                    let pk = as_text(&entry.partition);
                    format!("{pk}:{}", name_of(entry.clustering.as_deref()))
                }));
                match page.cursor {
                    Some(cursor) => {
                        let cursor = shelfmark_engine::Cursor::from_bytes(&cursor.to_bytes());
                        limits.start = Some(cursor.unwrap());
                    }
                    None => return found,
                }
            }
        };
        let whole = read(100, None, false);
        assert_eq!(whole.len(), 22, "21 rows, and a partition with statics alone");
        for rows_max in 1..6 {
            assert_eq!(read(rows_max, None, false), whole);
        }
        let mut per_partition = std::collections::HashMap::new();
        let limited: Vec<String> = whole
            .iter()
            .filter(|name| {
                let count = per_partition.entry(name[..2].to_owned()).or_insert(0);
                *count += 1;
                *count <= 3
            })
            .cloned()
            .collect();
        for rows_max in [1, 2, 3, 4, 100] {
            assert_eq!(read(rows_max, Some(3), false), limited, "pages of {rows_max}");
        }
        let backwards: Vec<String> = (0..6).rev().map(|c| format!("p6:{c}/x")).collect();
        for rows_max in 1..6 {
            assert_eq!(read(rows_max, None, true), backwards);
            assert_eq!(read(rows_max, Some(4), true), backwards[..4]);
        }
    });
}

#[test]
fn a_deletion_of_many_rows_hides_them_at_once_and_they_go_later() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        for start in (0..1400).step_by(200) {
            let rows = (start..start + 200)
                .map(|c| insert(&table, "p", key(c, "x"), 10, vec![set(A, "v")]));
            bed.cells(rows.collect());
        }
        bed.cells(vec![insert(&table, "p", key(700, "x"), 30, vec![set(B, "later")])]);
        bed.cells(vec![mutation(&table, "p", 20, CellChange::DeletePartition)]);
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["700/x"]);
        assert!(bed.row(&table, "p", key(3, "x")).is_none());
        let read = ConditionalRead {
            table: table.clone(),
            partition: bytes("p"),
            rows: vec![key(3, "x"), key(700, "x"), key(1399, "x")],
            statics: true,
            now: None,
        };
        let seen = patiently(|| {
            bed.engine.write_cells_if(read.clone(), |view| {
                let answer: Vec<bool> = view.rows.iter().map(Option::is_some).collect();
                Ok(Decision { mutations: vec![], answer })
            })
        });
        assert_eq!(seen.unwrap(), [false, true, false], "conditions do not see them either");
        bed.cells(vec![update(&table, "p", key(1200, "x"), 40, vec![set(B, "new")])]);
        let row = bed.row(&table, "p", key(1200, "x")).unwrap();
        assert!(row.inserted.is_none() && row.cell(A).is_none() && row.cell(B).is_some());
        while patiently(|| bed.engine.purge_deleted_cells()).unwrap() > 0 {}
        assert_eq!(bed.keys(&table, "p", Span::all(), false), ["700/x", "1200/x"]);
    });
}

#[test]
fn a_large_row_is_cut_and_comes_back() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let put = |n: u32, size: usize| CellOperation::SetElement {
            column: MAP,
            path: n.to_be_bytes().to_vec().into(),
            value: vec![b'v'; size].into(),
        };
        let operations = (0..40).map(|n| put(n, 10_000)).collect();
        bed.cells(vec![update(&table, "p", key(1, "x"), 10, operations)]);
        bed.cells(vec![update(&table, "p", key(1, "x"), 11, vec![put(20, 1)])]);
        let row = bed.row(&table, "p", key(1, "x")).unwrap();
        assert_eq!(row.elements(MAP).len(), 40);
        assert_eq!(row.elements(MAP)[20].value, "v");
        let clear = CellOperation::Clear { column: MAP };
        bed.cells(vec![update(&table, "p", key(1, "x"), 12, vec![clear, set(A, "small")])]);
        assert_eq!(bed.row(&table, "p", key(1, "x")).unwrap().cells.len(), 1);
        let all = bed.keys(&table, "p", Span::all(), true);
        assert_eq!(all, ["1/x"]);
    });
}

#[test]
fn rows_that_a_condition_looks_at_take_room_before_they_are_held() {
    const MIB: usize = 1024 * 1024;
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        for n in 0..10 {
            let long = CellOperation::Set { column: A, value: vec![b'v'; 100_000].into() };
            bed.cells(vec![insert(&table, "p", key(n, "x"), 10, vec![long])]);
        }
        let read = |rows: i32| ConditionalRead {
            table: table.clone(),
            partition: bytes("p"),
            rows: (0..rows).map(|n| key(n, "x")).collect(),
            statics: false,
            now: None,
        };
        let budget = Arc::new(Budget::new(2 * MIB));
        let client = |host| budget.client(Ipv4Addr::new(10, 0, 0, host).into(), true);
        let looked = Cell::new(0);
        let look = |rows| {
            let engine = bed.engine.within(Room::beside(&client(1), 0));
            patiently(|| {
                engine.write_cells_if(read(rows), |view| {
                    looked.set(view.rows.len());
                    Ok(Decision { mutations: vec![], answer: budget.taken() })
                })
            })
        };
        assert!(look(3).unwrap() > 3 * 100_000, "they are held while it is decided");
        assert_eq!((looked.get(), budget.taken()), (3, 0));
        let error = look(10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "one client never gets so much");
        let others = Room::beside(&client(2), 0);
        others.add(MIB).unwrap();
        let more = Room::beside(&client(3), 0);
        more.add(MIB / 2).unwrap();
        let engine = bed.engine.within(Room::beside(&client(1), 0));
        let busy = engine.write_cells_if(read(4), |_| {
            Ok(Decision { mutations: vec![], answer: looked.set(99) })
        });
        let error = busy.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Busy, "others may be done later");
        assert!(error.retry_after().is_some());
        assert_eq!(looked.get(), 3, "nothing was decided");
    });
}

#[test]
fn a_conditional_write_decides_and_writes_in_one_step() {
    on_every_driver(|bed| {
        let table = bed.create_table(schema("t")).unwrap();
        let threads = 4;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let table = &table;
                scope.spawn(move || {
                    for _ in 0..25 {
                        let read = ConditionalRead {
                            table: table.clone(),
                            partition: bytes("p"),
                            rows: vec![key(1, "x")],
                            statics: true,
                            now: None,
                        };
                        let one = || {
                            bed.engine.write_cells_if(read.clone(), |view| {
                                let row = view.rows[0].as_ref();
                                let value = row.and_then(|row| row.cell(A));
                                let count: u32 =
                                    value.map_or(0, |cell| as_text(&cell.value).parse().unwrap());
                                let (next, at) = ((count + 1).to_string(), i64::from(count) + 1);
                                let mutations =
                                    vec![update(table, "p", key(1, "x"), at, vec![set(A, &next)])];
                                Ok(Decision { mutations, answer: thread })
                            })
                        };
                        assert_eq!(patiently(one).unwrap(), thread);
                    }
                });
            }
        });
        assert_eq!(bed.value(&table, "p", key(1, "x"), A).unwrap(), "100");
    });
}

#[test]
fn rows_of_several_tables_are_read_at_one_moment_and_filters_choose() {
    on_every_driver(|bed| {
        let one = bed.create_table(schema("one")).unwrap();
        let other = bed.create_table(schema("other")).unwrap();
        let mut mutations: Vec<_> = (0..20)
            .map(|c| insert(&one, "p", key(c, "x"), 1, vec![set(A, &format!("{}", c % 4))]))
            .collect();
        mutations.push(insert(&other, "q", key(1, "y"), 1, vec![set(A, "there")]));
        mutations.push(mutation(&other, "q", 1, CellChange::Statics(vec![set(STATIC, "s")])));
        bed.cells(mutations);
        let get = |pk: &str, clustering| CellGet {
            partition: bytes(pk),
            clustering,
            statics: true,
            ..CellGet::default()
        };
        let gets = [
            (one.clone(), get("p", key(3, "x"))),
            (other.clone(), get("q", key(1, "y"))),
            (other.clone(), get("q", key(2, "y"))),
        ];
        let got = patiently(|| bed.engine.get_many_cells(&gets)).unwrap();
        let values: Vec<Option<String>> =
            got.iter().map(|got| Some(as_text(&got.row.as_ref()?.cell(A)?.value))).collect();
        assert_eq!(values, [Some("3".to_owned()), Some("there".to_owned()), None]);
        let statics = got[2].statics.as_ref().unwrap();
        assert_eq!(statics.cell(STATIC).unwrap().value, "s", "also of a row that is not there");
        assert!(!got[0].statics.as_ref().unwrap().exists());
        assert_eq!(*patiently(|| bed.engine.get_statics(&other, &bytes("q"))).unwrap(), **statics);
        let filter: CellFilter =
            Arc::new(|entry| entry.row.cell(A).is_some_and(|cell| cell.value == "1"));
        let limits =
            CellLimits { filter: Some(filter), rows_max: Some(2), ..CellLimits::default() };
        let query = CellQuery { partition: bytes("p"), limits, ..CellQuery::default() };
        let page = patiently(|| bed.engine.query_cells(&one, &query)).unwrap();
        assert_eq!((page.rows.len(), page.evaluated), (2, 6), "the limit counts what was kept");
        assert_eq!((page.report.rows_read(), page.report.rows_returned()), (6, 2));
        let (a, b) = (bed.engine.cell_timestamp(), bed.engine.cell_timestamp());
        assert!(a < b, "a timestamp is given once");
    });
}
