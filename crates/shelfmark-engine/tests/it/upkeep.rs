//! Expiry, change log, counts, dropping, many tables.

use shelfmark_engine::{ErrorKind, Get, SweepPosition, Write};
use shelfmark_model::{Item, Key, TableName, TtlSource, Value};

use crate::drivers::{on_every_driver, plain};

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

#[test]
fn expired_items_are_hidden_and_swept_with_their_traces() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        schema.options.exact_counts = true;
        schema.options.change_log = true;
        let table = bed.engine.create_table(schema).unwrap();
        let mut write = Write::put(&table, item("a", 1));
        write.expires_at = Some(1_700_000_010);
        bed.engine.write(write.clone()).unwrap();
        bed.engine.write(Write::put(&table, item("b", 1))).unwrap();
        let get = Get::new(Key::pair("a", "x"));
        assert!(bed.engine.get(&table, &get).unwrap().item.is_some());
        bed.seconds(10);
        let hidden = bed.engine.get(&table, &get).unwrap();
        assert_eq!((hidden.item, hidden.report.rows_read()), (None, 0));
        let mut position = SweepPosition::default();
        assert_eq!(bed.engine.sweep(&mut position, 100).unwrap(), 1);
        bed.engine.store().commit(shelfmark_store::Commit::default()).unwrap();
        assert_eq!(bed.engine.count(&table).unwrap(), 1);
        let changes = bed.engine.changes(&table, None, 10).unwrap();
        assert!(changes.last().unwrap().expired);
        assert_eq!(bed.engine.sweep(&mut position, 100).unwrap(), 0);
    });
}

#[test]
fn an_attribute_may_hold_the_expiry_and_the_item_stays_until_the_sweep() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
        let table = bed.engine.create_table(schema).unwrap();
        bed.engine.write(Write::put(&table, item("a", 1_700_000_005))).unwrap();
        bed.engine.write(Write::put(&table, item("late", 1_700_000_005))).unwrap();
        bed.engine.write(Write::put(&table, item("late", 1_700_000_900))).unwrap();
        bed.engine.write(Write::put(&table, item("ancient", 5))).unwrap();
        bed.seconds(60);
        let get = |pk: &str| bed.engine.get(&table, &Get::new(Key::pair(pk, "x"))).unwrap().item;
        assert!(get("a").is_some());
        assert_eq!(bed.engine.sweep(&mut SweepPosition::default(), 100).unwrap(), 1);
        bed.engine.store().commit(shelfmark_store::Commit::default()).unwrap();
        assert!(get("a").is_none());
        assert!(get("late").is_some());
        assert!(get("ancient").is_some(), "values long past are no expiries");
    });
}

#[test]
fn the_change_log_has_both_images_in_commit_order() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.change_log = true;
        let table = bed.engine.create_table(schema).unwrap();
        bed.engine.write(Write::put(&table, item("a", 1))).unwrap();
        bed.engine
            .write_all(vec![Write::put(&table, item("a", 2)), Write::put(&table, item("b", 1))])
            .unwrap();
        bed.engine.write(Write::put(&table, item("b", 1))).unwrap();
        bed.engine.write(Write::delete(&table, Key::pair("a", "x"))).unwrap();
        let changes = bed.engine.changes(&table, None, 100).unwrap();
        let seen: Vec<_> = changes.iter().map(|c| (c.old.clone(), c.new.clone())).collect();
        let expected = vec![
            (None, Some(item("a", 1))),
            (Some(item("a", 1)), Some(item("a", 2))),
            (None, Some(item("b", 1))),
            (Some(item("a", 2)), None),
        ];
        assert_eq!(seen, expected, "a write that changes nothing leaves no trace");
        assert!(changes.windows(2).all(|pair| pair[0].position < pair[1].position));
        let rest = bed.engine.changes(&table, Some(changes[1].position), 100).unwrap();
        assert_eq!(rest, changes[2..]);
    });
}

#[test]
fn counts_are_exact_and_refused_where_they_are_not_kept() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.exact_counts = true;
        let table = bed.engine.create_table(schema).unwrap();
        for _ in 0..2 {
            for n in 0..10 {
                bed.engine.write(Write::put(&table, item(&format!("p{}", n % 3), n))).unwrap();
            }
        }
        bed.engine.write(Write::delete(&table, Key::pair("p0", "x"))).unwrap();
        bed.engine.write(Write::delete(&table, Key::pair("p0", "x"))).unwrap();
        assert_eq!(bed.engine.count(&table).unwrap(), 2);
        assert_eq!(bed.engine.count_partition(&table, &["p1".into()]).unwrap(), 1);
        let plain = bed.engine.create_table(plain("u")).unwrap();
        assert_eq!(bed.engine.count(&plain).unwrap_err().kind(), ErrorKind::Invalid);
    });
}

#[test]
fn dropped_tables_go_and_their_names_can_be_used_again() {
    on_every_driver(|bed| {
        let table = bed.engine.create_table(plain("t")).unwrap();
        bed.engine.write(Write::put(&table, item("a", 1))).unwrap();
        bed.engine.drop_table(&table.schema.name).unwrap();
        let late = bed.engine.write(Write::put(&table, item("b", 1))).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::NotFound);
        let again = bed.engine.create_table(plain("t")).unwrap();
        assert_ne!(again.id, table.id, "ids are never used twice");
        assert_eq!(bed.engine.get(&again, &Get::new(Key::pair("a", "x"))).unwrap().item, None);
        assert_eq!(bed.engine.purge().unwrap(), 0);
        let error = bed.engine.create_table(plain("t")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    });
}

#[test]
fn names_are_listed_in_order_by_namespace() {
    on_every_driver(|bed| {
        for name in ["b", "a", "c"] {
            bed.engine.create_table(plain(name)).unwrap();
        }
        let names = bed.engine.table_names(Some("test"), None, 2).unwrap();
        assert_eq!(names, [TableName::new("test", "a"), TableName::new("test", "b")]);
        let rest = bed.engine.table_names(Some("test"), names.last(), 10).unwrap();
        assert_eq!(rest, [TableName::new("test", "c")]);
        assert!(bed.engine.table_names(Some("tes"), None, 10).unwrap().is_empty());
    });
}
