//! Case 9: transactions: own writes, abort, access, retries with equal random numbers, and the
//! rules of forked reads.

use shelfmark_typed::{ErrorKind, OrderedTable};

use crate::drivers::{Bed, n, on_every_driver};

fn table(bed: &Bed, name: &str) -> OrderedTable<u32, i64> {
    OrderedTable::named(&bed.database, name).unwrap()
}

#[test]
fn a_transaction_reads_its_own_writes() {
    on_every_driver(|bed| {
        let (a, entities) = (table(bed, "a"), bed.entities("e"));
        a.write(&1, &1).unwrap();
        bed.database
            .transact(|tx| {
                let (a, entities) = (tx.table(&a)?, tx.entities(&entities)?);
                a.write(&1, &10)?;
                a.write(&2, &20)?;
                assert_eq!((a.read(&1)?, a.try_read(&2)?), (10, Some(20)));
                assert_eq!(a.to_stream().descending().to_vec()?, [(2, 20), (1, 10)]);
                assert_eq!(a.get_many(&[2, 3])?, [Some(20), None]);
                a.delete(&1)?;
                assert_eq!(a.min_key()?, Some(2));
                // Over partitions of another kind of table, too.
                entities.partition("p").put("s", n(1))?;
                entities.partition("q").put("s", n(2))?;
                assert_eq!(entities.partitions(None, 10)?, ["p", "q"]);
                Ok(())
            })
            .unwrap();
        assert_eq!(a.to_stream().to_vec().unwrap(), [(2, 20)]);
        assert!(entities.partition("q").exists("s").unwrap());
    });
}

#[test]
fn an_abort_leaves_both_tables_unchanged() {
    on_every_driver(|bed| {
        let (a, b) = (table(bed, "a"), table(bed, "b"));
        let body = |tx: &shelfmark_typed::Tx<'_>| {
            tx.table(&a)?.write(&1, &1)?;
            tx.table(&b)?.write(&1, &1)?;
            tx.abort::<()>("never mind")
        };
        let error = bed.database.transact(body).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Aborted, "never mind"));
        assert_eq!(bed.database.transact_or_abort(body).unwrap(), None);
        // `read` of what is absent aborts as well.
        let error = bed
            .database
            .transact(|tx| {
                tx.table(&a)?.write(&2, &2)?;
                tx.table(&b)?.read(&9)
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(a.is_empty().unwrap() && b.is_empty().unwrap());
    });
}

#[test]
fn access_from_an_unassigned_environment_is_refused() {
    on_every_driver(|bed| {
        let stranger = bed.registry.environment("stranger").unwrap();
        assert_eq!(
            stranger.database("default").map(|_| ()).unwrap_err().kind(),
            ErrorKind::Restricted
        );
        bed.registry.assign("default", "stranger").unwrap();
        let database = stranger.database("default").unwrap();
        let own: OrderedTable<u32, i64> = OrderedTable::named(&database, "a").unwrap();
        own.write(&1, &1).unwrap();
        bed.registry.unassign("default", "stranger").unwrap();
        let refused = [
            own.read(&1).map(|_| ()),
            own.write(&1, &2),
            own.to_stream().to_vec().map(|_| ()),
            database.transact(|_| Ok(())),
            OrderedTable::<u32, i64>::named(&database, "b").map(|_| ()),
        ];
        for outcome in refused {
            assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Restricted);
        }
        assert_eq!(table(bed, "a").read(&1).unwrap(), 1, "the other environment goes on");
        // A transaction reaches one database only.
        let other = bed.registry.environment("default").unwrap().create_database("other").unwrap();
        let foreign: OrderedTable<u32, i64> = OrderedTable::named(&other, "a").unwrap();
        let error = bed.database.transact(|tx| tx.table(&foreign)?.write(&1, &1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restricted);
    });
}

#[test]
fn retries_see_equal_random_numbers() {
    on_every_driver(|bed| {
        let a = table(bed, "a");
        let mut drawn = Vec::new();
        bed.database
            .transact(|tx| {
                drawn.push((tx.random(), tx.random()));
                let old = tx.table(&a)?.try_read(&1)?.unwrap_or(0);
                if drawn.len() <= 2 {
                    // Someone else is faster, twice.
                    std::thread::scope(|scope| {
                        scope.spawn(|| a.write(&1, &(old + 100))).join().unwrap()
                    })?;
                }
                tx.table(&a)?.write(&1, &(old + 1))
            })
            .unwrap();
        assert_eq!(drawn.len(), 3);
        assert!(drawn.iter().all(|numbers| *numbers == drawn[0]), "{drawn:?}");
        assert_ne!(drawn[0].0, drawn[0].1);
        assert_eq!(a.read(&1).unwrap(), 201);
    });
}

#[test]
fn forked_reads_keep_their_rules_in_a_transaction() {
    on_every_driver(|bed| {
        let (a, b) = (table(bed, "a"), table(bed, "b"));
        a.write(&1, &1).unwrap();
        b.write(&1, &5).unwrap();
        let mut kept = None;
        bed.database
            .transact(|tx| {
                let (one, five) = (tx.fork_read(&a, &1)?, tx.fork_read(&b, &1)?);
                // Not awaited yet: it sees this write.
                tx.table(&a)?.write(&1, &2)?;
                assert_eq!(tx.await_read(&one)?, 2);
                // Awaited: fixed.
                tx.table(&a)?.write(&1, &3)?;
                assert_eq!(tx.await_read(&one)?, 2);
                assert_eq!(tx.try_await_read(&five)?, Some(5));
                kept = Some(one);
                Ok(())
            })
            .unwrap();
        let kept = kept.unwrap();
        let error = bed.database.transact(|tx| tx.await_read(&kept)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Restricted, "only in the block that forked it");
        // A failing await fails the block, whatever the body makes of it.
        let error = bed
            .database
            .transact(|tx| {
                tx.table(&a)?.write(&7, &7)?;
                let absent = tx.fork_read(&a, &9)?;
                assert_eq!(tx.try_await_read(&absent)?, None);
                assert!(tx.await_read(&absent).is_err());
                Ok(())
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(a.try_read(&7).unwrap(), None);
    });
}

#[test]
fn forked_reads_of_a_batch_go_together() {
    on_every_driver(|bed| {
        let a = table(bed, "a");
        let names: OrderedTable<String, String> =
            OrderedTable::named(&bed.database, "names").unwrap();
        a.write(&1, &1).unwrap();
        names.write(&"x".into(), &"X".into()).unwrap();
        bed.database
            .batch_read(|batch| {
                let one = batch.fork_read(&a, &1)?;
                let name = batch.fork_read(&names, &"x".into())?;
                let absent = batch.fork_read(&a, &2)?;
                assert_eq!(batch.rounds(), 0, "nothing is read before the first await");
                assert_eq!(batch.await_read(&one)?, 1);
                a.write(&1, &2)?;
                names.write(&"x".into(), &"Y".into())?;
                assert_eq!(batch.await_read(&name)?, "X", "one moment");
                assert_eq!(batch.try_await_read(&absent)?, None);
                assert_eq!(batch.await_read(&one)?, 1);
                assert_eq!(batch.rounds(), 1);
                Ok(())
            })
            .unwrap();
        let error = bed
            .database
            .batch_read(|batch| {
                let absent = batch.fork_read(&a, &2)?;
                Ok(batch.await_read(&absent).is_err())
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}
