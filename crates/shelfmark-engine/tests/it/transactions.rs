//! Transactions: all or nothing, over tables, retried with the same random numbers.

use std::sync::{Arc, Mutex};

use shelfmark_engine::{AccessReport, ErrorKind, Get, Once, Query, Scan, Token, Write};
use shelfmark_model::{Condition, Item, Key, Path, Value};

use crate::drivers::{on_every_driver, patiently, plain};

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

fn number(item: Option<&Item>) -> i64 {
    let text = format!("{:?}", item.and_then(|item| item.get("n")));
    (0..10_000).find(|n| text == format!("{:?}", Some(&Value::number(*n)))).unwrap_or(-1)
}

#[test]
fn a_refused_write_takes_the_others_with_it() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        bed.write(Write::put(&table, item("a", 1))).unwrap();
        let absent = Condition::NotExists(Path::attribute("pk"));
        let writes = vec![
            Write::put(&table, item("b", 2)),
            Write::put(&table, item("a", 2)).when(absent.clone()),
            Write::put(&table, item("c", 2)).when(Condition::Not(Box::new(absent))),
        ];
        let error = bed.write_all(writes).unwrap_err();
        let positions: Vec<usize> =
            error.failures().iter().map(|failure| failure.position).collect();
        assert_eq!(positions, [1, 2]);
        assert_eq!(bed.engine.get(&table, &Get::new(Key::pair("b", "x"))).unwrap().item, None);
    });
}

#[test]
fn concurrent_increments_are_all_counted() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let other = bed.create_table(plain("u")).unwrap();
        bed.write(Write::put(&table, item("a", 0))).unwrap();
        bed.write(Write::put(&other, item("a", 0))).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        bed.transact(|tx| {
                            for table in [&table, &other] {
                                let got = tx.get(table, &Get::new(Key::pair("a", "x")))?;
                                let n = number(got.item.as_ref()) + 1;
                                tx.write(&Write::put(table, item("a", n)))?;
                            }
                            Ok(())
                        })
                        .unwrap();
                    }
                });
            }
        });
        for table in [&table, &other] {
            let got = bed.engine.get(table, &Get::new(Key::pair("a", "x"))).unwrap();
            assert_eq!(number(got.item.as_ref()), 100);
        }
    });
}

#[test]
fn an_aborted_transaction_leaves_nothing_and_reads_its_own_writes() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let outcome = bed.transact(|tx| {
            tx.write(&Write::put(&table, item("a", 1)))?;
            let seen = tx.get(&table, &Get::new(Key::pair("a", "x")))?;
            assert_eq!(number(seen.item.as_ref()), 1);
            let page = tx.query(&table, &shelfmark_engine::Query::partition(vec!["a".into()]))?;
            assert_eq!(page.count, 1);
            Err::<(), _>(shelfmark_engine::Error::invalid("stop"))
        });
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Invalid);
        assert_eq!(bed.engine.get(&table, &Get::new(Key::pair("a", "x"))).unwrap().item, None);
    });
}

#[test]
fn every_run_of_a_body_sees_the_same_random_numbers() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let mut drawn = Vec::new();
        patiently(|| {
            drawn.clear();
            bed.engine.transact(|tx| {
                drawn.push((tx.random(), tx.random()));
                let got = tx.get(&table, &Get::new(Key::pair("a", "x")))?;
                if drawn.len() == 1 {
                    // Someone else is faster once.
                    bed.put(&table, item("a", 5));
                }
                let n = number(got.item.as_ref());
                tx.write(&Write::put(&table, item("a", n + 1)))?;
                Ok(())
            })
        })
        .unwrap();
        // The meanest driver may have had it run more often.
        assert!(drawn.len() == 2 || bed.meanest.is_some() && drawn.len() > 2);
        assert!(drawn.iter().all(|run| *run == drawn[0]));
        assert_ne!(drawn[0].0, drawn[0].1, "the numbers of a run are not the same");
        let got = bed.engine.get(&table, &Get::new(Key::pair("a", "x"))).unwrap();
        assert_eq!(number(got.item.as_ref()), 6);
    });
}

#[test]
fn a_token_makes_a_repeated_call_harmless() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let expires_at = 1_700_000_600;
        let token = Token { token: b"one".to_vec(), request_hash: 1, expires_at };
        let writes = || vec![Write::put(&table, item("a", 1))];
        let once = bed.write_all_once(&token, writes()).unwrap();
        assert!(matches!(once, Once::Written(_)));
        bed.write(Write::put(&table, item("a", 7))).unwrap();
        assert_eq!(bed.write_all_once(&token, writes()).unwrap(), Once::Repeated);
        let got = bed.engine.get(&table, &Get::new(Key::pair("a", "x"))).unwrap();
        assert_eq!(number(got.item.as_ref()), 7);
        let other = Token { request_hash: 2, ..token.clone() };
        assert_eq!(bed.write_all_once(&other, writes()).unwrap(), Once::Mismatch);
        bed.seconds(601);
        assert!(matches!(bed.write_all_once(&other, writes()).unwrap(), Once::Written(_)));
    });
}

#[test]
fn a_put_that_did_not_look_leaves_no_chunk_of_a_row_that_came_meanwhile() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let large =
            (0..3).fold(item("a", 1), |large, n| large.with(format!("a{n}"), "x".repeat(40_000)));
        let mut runs = 0;
        bed.transact(|tx| {
            runs += 1;
            tx.write(&Write::put(&table, item("a", 2)))?;
            if runs == 1 {
                bed.put(&table, large.clone());
            }
            Ok(())
        })
        .unwrap();
        let page = bed.engine.scan(&table, &shelfmark_engine::Scan::default()).unwrap();
        assert_eq!(page.items, [item("a", 2)]);
    });
}

/// Two on call, and each may leave as long as the other stays: counted by a range.
#[test]
fn of_two_who_count_a_range_one_goes_on() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        for round in 0..20 {
            let day = format!("day {round}");
            for who in ["ann", "bob"] {
                let item = Item::new().with("pk", day.as_str()).with("sk", who);
                bed.write(Write::put(&table, item)).unwrap();
            }
            let leave = |who: &'static str| {
                bed.transact(|tx| {
                    let on_call = Query::partition(vec![Value::text(day.as_str())]);
                    if tx.query(&table, &on_call)?.count > 1 {
                        tx.write(&Write::delete(&table, Key::pair(day.as_str(), who)))?;
                    }
                    Ok(())
                })
                .unwrap();
            };
            std::thread::scope(|scope| {
                scope.spawn(|| leave("ann"));
                scope.spawn(|| leave("bob"));
            });
            let left = Query::partition(vec![Value::text(day.as_str())]);
            assert_eq!(bed.engine.query(&table, &left).unwrap().count, 1, "{}", bed.name);
        }
    });
}

/// Write skew in one thread: another transaction commits between the read and the write.
#[test]
fn an_empty_range_stays_empty_until_the_commit() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        let other = bed.create_table(plain("u")).unwrap();
        let empty = Query::partition(vec![Value::text("a")]);
        let scan = Scan::default();
        for by_scan in [false, true] {
            let mut runs = 0;
            let seen = bed
                .transact(|tx| {
                    runs += 1;
                    let seen = match by_scan {
                        false => tx.query(&table, &empty)?.count,
                        true => tx.scan(&table, &scan)?.count,
                    };
                    if runs == 1 {
                        let key = if by_scan { "b" } else { "a" };
                        // A transaction that reads a range as well, and writes into this one.
                        bed.transact(|tx| {
                            tx.query(&other, &empty)?;
                            tx.write(&Write::put(&table, item(key, 1))).map(drop)
                        })?;
                    }
                    tx.write(&Write::put(&other, item("z", 1)))?;
                    Ok(seen)
                })
                .unwrap();
            assert_eq!((runs > 1, seen), (true, 1 + usize::from(by_scan)), "{}", bed.name);
        }
    });
}

/// What lies beside a range that was read is no conflict.
#[test]
fn neighbours_of_a_range_do_not_disturb() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        if !bed.engine.store().caps().validates_ranges {
            return;
        }
        let mut runs = 0;
        bed.transact(|tx| {
            runs += 1;
            tx.query(&table, &Query::partition(vec![Value::text("a")]))?;
            bed.write(Write::put(&table, item("b", runs)))?;
            tx.write(&Write::put(&table, item("c", 1))).map(drop)
        })
        .unwrap();
        assert_eq!(runs, 1, "{}", bed.name);
    });
}

/// Whoever waits inside of a transaction for somebody outside is delayed, not stopped for good.
#[test]
fn a_body_that_writes_outside_of_itself_ends() {
    let bed = crate::drivers::memory();
    let table = bed.create_table(plain("t")).unwrap();
    let mut runs = 0;
    let ended = bed.engine.transact(|tx| {
        runs += 1;
        let got = tx.get(&table, &Get::new(Key::pair("a", "x")))?;
        if runs <= 4 {
            bed.engine.write(Write::put(&table, item("a", runs)))?;
        }
        tx.write(&Write::put(&table, item("a", number(got.item.as_ref()) + 100))).map(drop)
    });
    ended.unwrap();
    let got = bed.engine.get(&table, &Get::new(Key::pair("a", "x"))).unwrap();
    assert_eq!((runs, number(got.item.as_ref())), (5, 104));
}

#[test]
fn what_a_transaction_reads_and_writes_is_reported() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        bed.put(&table, item("a", 5));
        let told: Arc<Mutex<Vec<AccessReport>>> = Arc::default();
        let into = Arc::clone(&told);
        let engine = bed.engine.observed(move |report| into.lock().unwrap().push(report.clone()));
        patiently(|| {
            told.lock().unwrap().clear();
            engine.transact(|tx| {
                tx.get(&table, &Get::new(Key::pair("a", "x")))?;
                tx.query(&table, &shelfmark_engine::Query::partition(vec!["a".into()]))?;
                tx.write(&Write::put(&table, item("a", 6)))?;
                Ok(())
            })
        })
        .unwrap();
        let told = told.lock().unwrap();
        let [got, queried, _written] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((got.rows_read(), queried.rows_read()), (1, 1), "{told:?}");
    });
}
