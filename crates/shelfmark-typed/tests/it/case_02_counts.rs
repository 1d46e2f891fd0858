//! Case 2: the count is right after every kind of write.

use shelfmark_typed::{OrderedTable, Overwrite};

use crate::drivers::{n, on_every_driver};

#[test]
fn counts_are_right_after_creating_updates_renames_batches_and_deletes() {
    on_every_driver(|bed| {
        let table = bed.entities("t");
        let partition = table.partition("p");
        let check = |count: u64, what: &str| {
            assert_eq!(partition.count().unwrap(), count, "{what}");
            assert_eq!(partition.entities().count().unwrap(), count, "{what}");
            assert_eq!(table.count().unwrap(), count, "{what}");
        };
        assert_eq!(partition.update("a", |old| old.unwrap_or_default()).unwrap(), None);
        check(1, "an update that creates");
        partition.update("a", |old| old.unwrap_or_default().with("x", 1)).unwrap();
        check(1, "an update that changes");
        partition.put("b", n(1)).unwrap();
        partition.rename("a", "b", Overwrite::Replace).unwrap();
        check(1, "a rename onto an existing key");
        partition.batch_put([("c", n(1)), ("d", n(1)), ("c", n(2))]).unwrap();
        check(3, "a batch with a repeated key");
        partition.delete("nothing").unwrap();
        check(3, "deleting what is absent");
        assert_eq!(partition.remove("nothing").unwrap(), None);
        check(3, "removing what is absent");
        assert_eq!(partition.remove("d").unwrap().unwrap().sk, "d");
        check(2, "removing what is there");
        assert_eq!(partition.drop_all().unwrap(), 2);
        check(0, "dropping the partition");
    });
}

#[test]
fn an_ordered_table_counts_as_well() {
    on_every_driver(|bed| {
        let table: OrderedTable<(u32, u32), String> =
            OrderedTable::named(&bed.database, "t").unwrap();
        for a in 0..5 {
            for b in 0..5 {
                table.write(&(a, b), &"x".into()).unwrap();
                table.write(&(a, b), &"y".into()).unwrap();
            }
        }
        assert_eq!(table.count().unwrap(), 25);
        assert_eq!(table.prefix(3).unwrap().count().unwrap(), 5);
        assert_eq!(table.range((1, 3)..(3, 1)).unwrap().count().unwrap(), 8);
        assert_eq!(table.prefix(2).unwrap().delete().unwrap(), 5);
        assert_eq!(table.count().unwrap(), 20);
        bed.database
            .transact(|tx| {
                let table = tx.table(&table)?;
                table.write(&(9, 9), &"z".into())?;
                assert_eq!(table.count()?, 21);
                Ok(())
            })
            .unwrap();
        assert_eq!(table.count().unwrap(), 21);
    });
}
