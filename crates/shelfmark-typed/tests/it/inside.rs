//! What a transaction's body may not do: use handles from outside of it.

use shelfmark_typed::{Cell, ErrorKind, LinearLog, OrderedTable, Result};

use crate::drivers::{Bed, n, on_every_driver};

fn table(bed: &Bed, name: &str) -> OrderedTable<u32, i64> {
    OrderedTable::named(&bed.database, name).unwrap()
}

/// The call of measured line 10: the outer handle touches the key that the transaction touched.
#[test]
fn an_outer_handle_in_a_body_is_refused_and_nothing_is_written() {
    on_every_driver(|bed| {
        let t = table(bed, "t");
        let ended = bed.database.transact(|tx| {
            tx.table(&t)?.write(&1, &1)?;
            t.write(&1, &2)
        });
        let error = ended.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restricted);
        assert!(error.to_string().contains("tx.table"), "{error}");
        assert_eq!(t.try_read(&1).unwrap(), None);
        // The right handle beside it.
        bed.database.transact(|tx| tx.table(&t)?.write(&1, &2)).unwrap();
        assert_eq!(t.read(&1).unwrap(), 2);
    });
}

#[test]
fn every_call_of_an_outer_handle_is_refused() {
    on_every_driver(|bed| {
        let (t, entities) = (table(bed, "t"), bed.entities("e"));
        let cell: Cell<i64> = Cell::named(&bed.database, "c", 0).unwrap();
        let log: LinearLog<i64> = LinearLog::named(&bed.database, "l").unwrap();
        t.write(&1, &1).unwrap();
        let snapshot = t.snapshot().unwrap();
        bed.database
            .transact(|tx| {
                let refused = |name: &str, ended: Result<()>| {
                    let kind = ended.err().map(|error| error.kind());
                    assert_eq!(kind, Some(ErrorKind::Restricted), "{name}");
                };
                refused("try_read", t.try_read(&1).map(drop));
                refused("get_many", t.get_many(&[1]).map(drop));
                refused("range", t.to_stream().to_vec().map(drop));
                refused("count", t.count().map(drop));
                refused("write", t.write(&1, &2));
                refused("write_many", t.write_many([(&1, &2)]));
                refused("delete", t.delete(&1));
                refused("insert", t.insert(1, &2).map(drop));
                refused("pop", t.pop_first().map(drop));
                refused("update", t.update(&1, |_| Ok(None)).map(drop));
                refused("range delete", t.to_stream().delete().map(drop));
                refused("entity", entities.partition("p").put("s", n(1)).map(drop));
                refused("entities", entities.partitions(None, 1).map(drop));
                refused("cell", cell.read().map(drop));
                refused("log", log.add(&1).map(drop));
                refused("transaction", bed.database.transact(|_| Ok(())));
                refused(
                    "batch",
                    bed.database.batch_read(|batch| {
                        let read = batch.fork_read(&t, &1)?;
                        batch.await_read(&read).map(drop)
                    }),
                );
                // One moment that was asked for by name is read as it was.
                assert_eq!(snapshot.read(&1)?, 1);
                assert_eq!(tx.table(&t)?.read(&1)?, 1);
                Ok(())
            })
            .unwrap();
        assert_eq!(t.read(&1).unwrap(), 1);
    });
}

/// Other threads and other stores are none of the transaction's business.
#[test]
fn others_are_not_disturbed() {
    on_every_driver(|bed| {
        let t = table(bed, "t");
        on_every_driver(|other| {
            let elsewhere = table(other, "t");
            bed.database
                .transact(|tx| {
                    elsewhere.write(&1, &1)?;
                    std::thread::scope(|scope| scope.spawn(|| t.write(&9, &9)).join().unwrap())?;
                    tx.table(&t)?.write(&1, &1)
                })
                .unwrap();
            assert_eq!(elsewhere.read(&1).unwrap(), 1);
        });
        assert_eq!((t.read(&1).unwrap(), t.read(&9).unwrap()), (1, 9));
    });
}

/// Measured line 11: two count a range and write where it is empty.
#[test]
fn of_two_who_find_a_range_empty_one_writes() {
    on_every_driver(|bed| {
        let table: OrderedTable<(u32, u32), u32> = OrderedTable::named(&bed.database, "t").unwrap();
        for round in 0..25 {
            std::thread::scope(|scope| {
                for who in 0..2 {
                    let table = &table;
                    scope.spawn(move || {
                        bed.database.transact(|tx| {
                            let table = tx.table(table)?;
                            if table.prefix(round)?.count()? == 0 {
                                table.write(&(round, who), &who)?;
                            }
                            Ok(())
                        })
                    });
                }
            });
            assert_eq!(table.prefix(round).unwrap().count().unwrap(), 1, "round {round}");
        }
    });
}
