//! Expiry, change log, counts, dropping, many tables.

use std::sync::Arc;
use std::time::Duration;

use shelfmark_engine::{
    CatalogueChange, CellChange, Engine, ErrorKind, Get, SweepPosition, Token, Upkeep, Write,
};
use shelfmark_keycode::{Decimal, KeyType};
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, TableName, TableOptions,
    TableSchema, TtlSource, Value,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_store::{Commit, Store, Write as StoreWrite};

use crate::drivers::{START_SECONDS, keys, memory, on_every_driver, open, patiently, plain};

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

pub(crate) fn by_n() -> IndexSchema {
    IndexSchema {
        name: "by_n".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("n", KeyType::Decimal)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }
}

#[test]
fn expired_items_are_hidden_and_swept_with_their_traces() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        schema.options.exact_counts = true;
        schema.options.change_log = true;
        let table = bed.create_table(schema).unwrap();
        let mut write = Write::put(&table, item("a", 1));
        write.expires_at = Some(1_700_000_010);
        bed.write(write.clone()).unwrap();
        bed.write(Write::put(&table, item("b", 1))).unwrap();
        let get = Get::new(Key::pair("a", "x"));
        assert!(bed.engine.get(&table, &get).unwrap().item.is_some());
        bed.seconds(10);
        let hidden = bed.engine.get(&table, &get).unwrap();
        assert_eq!((hidden.item, hidden.report.rows_read()), (None, 0));
        let mut position = SweepPosition::default();
        assert_eq!(bed.sweep(&mut position, 100).unwrap(), 1);
        bed.settle();
        assert_eq!(bed.engine.count(&table).unwrap(), 1);
        let changes = bed.engine.changes(&table, None, 10).unwrap();
        assert!(changes.last().unwrap().expired);
        assert_eq!(bed.sweep(&mut position, 100).unwrap(), 0);
    });
}

fn expiring_by(attribute: &str) -> impl FnOnce(&mut TableOptions) + use<> {
    let source = TtlSource::Attribute(attribute.to_owned());
    move |options| options.ttl = Some(source)
}

#[test]
fn items_that_were_there_before_the_expiry_expire_too() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.indexes.push(by_n());
        schema.options.exact_counts = true;
        let table = bed.create_table(schema).unwrap();
        for n in 0..30 {
            bed.write(Write::put(&table, item(&format!("early {n}"), 1_700_000_005 + n))).unwrap();
        }
        bed.write(Write::put(&table, item("large", 1_700_000_005).with("x", "x".repeat(70_000))))
            .unwrap();
        bed.write(Write::put(&table, item("none", 1_700_000_005).with("n", "soon"))).unwrap();
        let table = patiently(|| bed.engine.alter_options(&table.schema.name, expiring_by("n")));
        let table = table.unwrap();
        assert_eq!(table.schema.options.ttl_pass, None);
        bed.settle();
        assert!(bed.engine.verify().unwrap().is_clean());
        bed.seconds(20);
        // A store that is busy, or a conflict, leaves some for the next call.
        for _ in 0..20 {
            bed.sweep(&mut SweepPosition::default(), 100).unwrap();
        }
        bed.settle();
        // Gone are those of the seconds 5 to 20, and the large one.
        assert_eq!(bed.engine.count(&table).unwrap(), 15);
        assert!(bed.engine.verify().unwrap().is_clean());
    });
}

#[test]
fn a_look_for_expiries_that_was_interrupted_is_ended() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        bed.write(Write::put(&table, item("a", 1_700_000_005))).unwrap();
        let name = &table.schema.name;
        // As a stop right behind the setting leaves it.
        patiently(|| {
            let change = |schema: &mut TableSchema| {
                expiring_by("n")(&mut schema.options);
                schema.options.ttl_pass = Some(1);
                Ok(())
            };
            let change = CatalogueChange::AlterTable(name.clone(), Box::new(change));
            bed.engine.change_catalogue(vec![change])
        })
        .unwrap();
        bed.seconds(20);
        assert_eq!(bed.sweep(&mut SweepPosition::default(), 100).unwrap(), 0);
        patiently(|| bed.engine.resume_all_indexes()).unwrap();
        for _ in 0..5 {
            bed.sweep(&mut SweepPosition::default(), 100).unwrap();
        }
        bed.settle();
        assert!(bed.engine.get(&table, &Get::new(Key::pair("a", "x"))).unwrap().item.is_none());
        assert_eq!(bed.engine.table(name).unwrap().schema.options.ttl_pass, None);
    });
}

#[test]
fn another_attribute_is_another_expiry() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
        let table = bed.create_table(schema).unwrap();
        let late = |pk: &str| item(pk, 1_700_000_005).with("late", Value::number(1_700_000_500));
        bed.write(Write::put(&table, late("a"))).unwrap();
        bed.write(Write::put(&table, item("b", 1_700_000_005))).unwrap();
        let name = &table.schema.name;
        patiently(|| bed.engine.alter_options(name, |options| options.ttl = None)).unwrap();
        bed.seconds(60);
        // They are due no longer, and what said so is dropped.
        let left = || {
            for _ in 0..5 {
                bed.sweep(&mut SweepPosition::default(), 100).unwrap();
            }
            bed.settle();
            let get = |pk| bed.engine.get(&table, &Get::new(Key::pair(pk, "x"))).unwrap().item;
            ["a", "b"].map(|pk| get(pk).is_some())
        };
        assert_eq!(left(), [true, true]);
        patiently(|| bed.engine.alter_options(name, expiring_by("late"))).unwrap();
        assert_eq!(left(), [true, true]);
        bed.seconds(500);
        assert_eq!(left(), [false, true]);
        patiently(|| bed.engine.alter_options(name, |options| options.ttl = None)).unwrap();
        patiently(|| bed.engine.alter_options(name, expiring_by("n"))).unwrap();
        assert_eq!(left(), [false, false]);
    });
}

#[test]
fn an_attribute_may_hold_the_expiry_and_the_item_stays_until_the_sweep() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
        let table = bed.create_table(schema).unwrap();
        bed.write(Write::put(&table, item("a", 1_700_000_005))).unwrap();
        bed.write(Write::put(&table, item("late", 1_700_000_005))).unwrap();
        bed.write(Write::put(&table, item("late", 1_700_000_900))).unwrap();
        bed.write(Write::put(&table, item("ancient", 5))).unwrap();
        bed.seconds(60);
        let get = |pk: &str| bed.engine.get(&table, &Get::new(Key::pair(pk, "x"))).unwrap().item;
        assert!(get("a").is_some());
        assert_eq!(bed.sweep(&mut SweepPosition::default(), 100).unwrap(), 1);
        bed.settle();
        assert!(get("a").is_none());
        assert!(get("late").is_some());
        assert!(get("ancient").is_some(), "values long past are no expiries");
    });
}

#[test]
fn any_number_that_is_a_second_says_when_an_item_expires() {
    let number =
        |unscaled: i64, scale| Value::Number(Decimal::new(unscaled.into(), scale).unwrap());
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
        let table = bed.create_table(schema).unwrap();
        let put = |pk: &str, n: Value| {
            bed.put(&table, Item::new().with("pk", pk).with("sk", "x").with("n", n));
        };
        put("integer", Value::Int(1_700_000_001));
        // Whole ones, however they are spelled; of a fraction the second that it is in.
        put("short", number(17_001, -5));
        put("long", number(170_000_000_200, 2));
        put("fraction", number(17_000_000_039, 1));
        let never = [
            Value::Int(-1),
            number(-1_700_000_001, 0),
            number(17, -40),
            Value::text("1700000001"),
            Value::Float(1_700_000_001.0),
        ];
        for (own, never) in never.into_iter().enumerate() {
            put(&format!("never {own}"), never);
        }
        let seconds: Vec<u64> = keys(bed, &[6])
            .iter()
            .map(|key| u64::from_be_bytes(key[1..9].try_into().unwrap()))
            .collect();
        assert_eq!(seconds, [1_700_000_001, 1_700_000_002, 1_700_000_003, 1_700_100_000]);
        bed.seconds(3);
        assert_eq!(bed.sweep(&mut SweepPosition::default(), 100).unwrap(), 3);
    });
}

#[test]
fn the_change_log_has_both_images_in_commit_order() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.change_log = true;
        let table = bed.create_table(schema).unwrap();
        bed.write(Write::put(&table, item("a", 1))).unwrap();
        bed.write_all(vec![Write::put(&table, item("a", 2)), Write::put(&table, item("b", 1))])
            .unwrap();
        bed.write(Write::put(&table, item("b", 1))).unwrap();
        bed.write(Write::delete(&table, Key::pair("a", "x"))).unwrap();
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
        let table = bed.create_table(schema).unwrap();
        for _ in 0..2 {
            for n in 0..10 {
                bed.write(Write::put(&table, item(&format!("p{}", n % 3), n))).unwrap();
            }
        }
        bed.write(Write::delete(&table, Key::pair("p0", "x"))).unwrap();
        bed.write(Write::delete(&table, Key::pair("p0", "x"))).unwrap();
        assert_eq!(bed.engine.count(&table).unwrap(), 2);
        assert_eq!(bed.engine.count_partition(&table, &["p1".into()]).unwrap(), 1);
        let plain = bed.create_table(plain("u")).unwrap();
        assert_eq!(bed.engine.count(&plain).unwrap_err().kind(), ErrorKind::Invalid);
    });
}

#[test]
fn dropped_tables_go_and_their_names_can_be_used_again() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        bed.write(Write::put(&table, item("a", 1))).unwrap();
        bed.drop_table(&table.schema.name).unwrap();
        let late = bed.write(Write::put(&table, item("b", 1))).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::NotFound);
        let again = bed.create_table(plain("t")).unwrap();
        assert_ne!(again.id, table.id, "ids are never used twice");
        assert_eq!(bed.engine.get(&again, &Get::new(Key::pair("a", "x"))).unwrap().item, None);
        assert_eq!(bed.purge().unwrap(), 0);
        let error = bed.create_table(plain("t")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    });
}

#[test]
fn names_are_listed_in_order_by_namespace() {
    on_every_driver(|bed| {
        for name in ["b", "a", "c"] {
            bed.create_table(plain(name)).unwrap();
        }
        let names = bed.engine.table_names(Some("test"), None, 2).unwrap();
        assert_eq!(names, [TableName::new("test", "a"), TableName::new("test", "b")]);
        let rest = bed.engine.table_names(Some("test"), names.last(), 10).unwrap();
        assert_eq!(rest, [TableName::new("test", "c")]);
        assert!(bed.engine.table_names(Some("tes"), None, 10).unwrap().is_empty());
    });
}

#[test]
fn a_purge_leaves_nothing_of_dropped_tables() {
    on_every_driver(|bed| {
        let before = keys(bed, &[]);
        let mut names = Vec::new();
        for n in 0..10 {
            let mut schema = plain(&format!("t{n}"));
            schema.options.exact_counts = true;
            schema.options.change_log = true;
            schema.options.shard_items_max = Some(1);
            schema.indexes.push(by_n());
            let table = bed.create_table(schema).unwrap();
            bed.put(&table, item("a", n));
            bed.put(&table, item("a", n).with("sk", "y"));
            names.push(table.schema.name.clone());
        }
        patiently(|| bed.engine.split_all_due()).unwrap();
        patiently(|| bed.engine.split_all_due()).unwrap();
        let cells = bed.create_table(crate::cells::schema("cells")).unwrap();
        bed.cells(vec![crate::cells::mutation(&cells, "p", 1, CellChange::DeletePartition)]);
        names.push(cells.schema.name.clone());
        for tree in [3, 4, 5, 8, 9] {
            assert!(!keys(bed, &[tree]).is_empty(), "tree {tree}");
        }
        let kept = bed.create_table(plain("kept")).unwrap();
        bed.put(&kept, item("a", 1));
        for name in &names {
            bed.drop_table(name).unwrap();
        }
        assert_eq!(bed.purge().unwrap(), 0);
        bed.settle();
        // The counters of ids and changes, the record of the table that was kept, those of the two
        // namespaces, the copies of all but the counter of changes, and its row; and what is due is
        // the sweep's to remove.
        let of_servers = keys(bed, &[1, 6]).len() + keys(bed, &[1, 7]).len();
        let left = keys(bed, &[]).len() - keys(bed, &[6]).len() - of_servers;
        assert_eq!(left, before.len() + 10);
        bed.seconds(100 * 86_400);
        bed.sweep(&mut SweepPosition::default(), 100).unwrap();
        bed.settle();
        assert!(keys(bed, &[6]).is_empty(), "of a table that is gone nothing is due");
        assert!(bed.engine.get(&kept, &Get::new(Key::pair("a", "x"))).unwrap().item.is_some());
    });
}

#[test]
fn a_purge_waits_for_snapshots_that_can_see_the_table() {
    on_every_driver(|bed| {
        let table = bed.create_table(plain("t")).unwrap();
        bed.put(&table, item("a", 1));
        let view = bed.engine.snapshot().unwrap();
        bed.drop_table(&table.schema.name).unwrap();
        assert_eq!(bed.purge().unwrap(), 1);
        let get = Get::new(Key::pair("a", "x"));
        assert_eq!(view.get(&table, &get).unwrap().item, Some(item("a", 1)));
        drop(view);
        assert_eq!(bed.purge().unwrap(), 0);
        assert!(keys(bed, &[2]).is_empty());
    });
}

#[test]
fn a_sweep_goes_on_until_nothing_is_due_or_its_limit_is_met() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        for n in 0..50 {
            let mut write = Write::put(&table, item(&format!("p{n}"), n));
            write.expires_at = Some(START_SECONDS + 1 + u64::try_from(n % 7).unwrap());
            bed.write(write).unwrap();
            let token = Token {
                token: format!("token {n}").into_bytes(),
                request_hash: 1,
                expires_at: START_SECONDS + if n < 40 { 1 } else { 1000 },
            };
            bed.write_all_once(&token, vec![]).unwrap();
        }
        bed.seconds(20);
        let mut position = SweepPosition::default();
        let mut removed = Vec::new();
        loop {
            let swept = bed.sweep(&mut position, 20).unwrap();
            bed.settle();
            assert!(swept <= 20, "{swept}");
            removed.push(swept);
            if swept < 20 {
                break;
            }
        }
        // What a sweep did before it was busy is done, and not told.
        let told = removed.iter().sum::<usize>();
        assert!(told == 90 || bed.meanest.is_some() && told < 90, "{removed:?}");
        assert_eq!(keys(bed, &[2]).len() + keys(bed, &[6]).len(), 0);
        assert_eq!(keys(bed, &[7]).len(), 10, "tokens that are not due stay");
    });
}

#[test]
fn a_sweep_asks_what_the_table_says_now() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
        let table = bed.create_table(schema).unwrap();
        let due = i64::try_from(START_SECONDS).unwrap() + 5;
        bed.put(&table, item("a", due));
        bed.alter_options(&table.schema.name, |options| options.ttl = None).unwrap();
        bed.seconds(60);
        let mut position = SweepPosition::default();
        assert_eq!(bed.sweep(&mut position, 100).unwrap(), 0);
        bed.settle();
        let get = Get::new(Key::pair("a", "x"));
        assert!(bed.engine.get(&table, &get).unwrap().item.is_some(), "nothing expires any more");
        assert!(keys(bed, &[6]).is_empty(), "of a due time that means nothing, nothing is left");
    });
}

#[test]
fn an_item_that_expired_long_ago_by_its_own_time_is_removed_all_the_same() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        let mut write = Write::put(&table, item("a", 1));
        write.expires_at = Some(START_SECONDS + 1);
        bed.write(write).unwrap();
        bed.seconds(10 * 366 * 86_400);
        assert_eq!(bed.sweep(&mut SweepPosition::default(), 100).unwrap(), 1);
        bed.settle();
        assert!(keys(bed, &[2]).is_empty());
    });
}

#[test]
fn a_sweep_goes_on_where_it_ended_and_begins_at_the_front_once_a_minute() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        let put = |pk: &str, second: u64| {
            let mut write = Write::put(&table, item(pk, 1));
            write.expires_at = Some(second);
            bed.write(write).unwrap();
        };
        let due = || {
            bed.settle();
            keys(bed, &[6]).len()
        };
        let mut position = SweepPosition::default();
        let mut sweep = || bed.sweep(&mut position, 100).unwrap();
        put("a", START_SECONDS);
        sweep();
        assert_eq!(due(), 0);
        // Behind the place where it goes on: not looked at, however often it sweeps.
        put("b", START_SECONDS - 10);
        put("c", START_SECONDS + 5);
        bed.seconds(10);
        sweep();
        sweep();
        assert_eq!(due(), 1, "what became due since is found");
        bed.seconds(49);
        sweep();
        assert_eq!(due(), 1);
        bed.seconds(1);
        sweep();
        assert_eq!(due(), 0);
    });
}

#[test]
fn an_item_is_in_the_queue_once_however_often_it_is_written() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.create_table(schema).unwrap();
        for second in [5, 9, 7] {
            let mut write = Write::put(&table, item("a", 1));
            write.expires_at = Some(START_SECONDS + second);
            bed.write(write).unwrap();
            assert_eq!(keys(bed, &[6]).len(), 1);
        }
        bed.put(&table, item("a", 2));
        assert_eq!(keys(bed, &[6]).len(), 0, "it expires no more");
    });
}

#[test]
fn a_clock_that_steps_back_has_a_sweep_begin_anew() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(Arc::new(ManualClock::at_micros(0))));
    let at = |second: u64| {
        let clock = Arc::new(ManualClock::at_micros(second * 1_000_000));
        open(Arc::clone(&store), &clock)
    };
    let late = at(START_SECONDS + 1_000);
    let mut position = SweepPosition::default();
    late.sweep(&mut position, 10).unwrap();
    late.sweep(&mut position, 10).unwrap();
    let mut schema = plain("t");
    schema.options.ttl = Some(TtlSource::PerItem);
    let early = at(START_SECONDS);
    let table = early.create_table(schema).unwrap();
    let mut write = Write::put(&table, item("a", 1));
    write.expires_at = Some(START_SECONDS - 5);
    early.write(write).unwrap();
    assert_eq!(early.sweep(&mut position, 10).unwrap(), 1);
}

#[test]
fn old_forms_of_a_table_are_read_by_what_it_says_now() {
    on_every_driver(|bed| {
        let mut schema = plain("t");
        schema.options.ttl = Some(TtlSource::PerItem);
        let old = bed.create_table(schema).unwrap();
        let mut write = Write::put(&old, item("a", 1));
        write.expires_at = Some(START_SECONDS + 1);
        bed.write(write).unwrap();
        bed.seconds(5);
        let gets = [(Arc::clone(&old), Get::new(Key::pair("a", "x")))];
        assert_eq!(bed.engine.get_many(&gets).unwrap()[0].item, None);
        bed.alter_options(&old.schema.name, |options| options.ttl = None).unwrap();
        assert_eq!(bed.engine.get_many(&gets).unwrap()[0].item, Some(item("a", 1)));
    });
}

#[test]
fn a_store_of_a_newer_format_is_not_opened() {
    let bed = memory();
    let newer =
        StoreWrite::Put { key: vec![1, 0].into(), value: vec![0, 0, 0, 0, 0, 0, 0, 4].into() };
    bed.engine.store().commit(Commit::of(vec![newer])).unwrap();
    let again = Engine::open(Arc::clone(bed.engine.store()), bed.engine.environment().clone());
    let refused = again.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
    assert!(refused.to_string().contains("use a newer build"), "{refused}");
}

#[test]
fn an_upkeep_does_all_that_is_due_until_it_is_stopped() {
    let bed = memory();
    let gone = bed.create_table(plain("gone")).unwrap();
    bed.put(&gone, item("a", 1));
    bed.drop_table(&gone.schema.name).unwrap();
    let mut schema = plain("t");
    schema.options.ttl = Some(TtlSource::PerItem);
    schema.options.shard_items_max = Some(4);
    let table = bed.create_table(schema).unwrap();
    for n in 0..10 {
        let mut write = Write::put(&table, item("a", n).with("sk", format!("{n}")));
        write.expires_at = (n == 9).then_some(START_SECONDS + 1);
        bed.write(write).unwrap();
    }
    bed.seconds(5);
    // As a stop while it was being built left it.
    bed.change_catalogue(|| {
        let add = |schema: &mut TableSchema| {
            schema.indexes.push(IndexSchema { state: IndexState::Building, ..by_n() });
            Ok(())
        };
        vec![CatalogueChange::AlterTable(TableName::new("test", "t"), Box::new(add))]
    });
    let cells = bed.create_table(crate::cells::schema("cells")).unwrap();
    for start in (0..600).step_by(200) {
        let rows = (start..start + 200)
            .map(|c| crate::cells::insert(&cells, "p", crate::cells::key(c, "x"), 10, vec![]));
        bed.cells(rows.collect());
    }
    bed.cells(vec![crate::cells::mutation(&cells, "p", 20, CellChange::DeletePartition)]);
    let mut upkeep = Upkeep::start(&bed.engine, Duration::from_millis(1)).unwrap();
    let is_done = || {
        let rows = keys(&bed, &[2]).len();
        // Nine items; two shards or more, with their map.
        let index = bed.engine.table(&table.schema.name).unwrap().schema.indexes[0].state;
        rows == 9
            && keys(&bed, &[6]).len() == 1
            && keys(&bed, &[9]).len() >= 3
            && (index, keys(&bed, &[3]).len()) == (IndexState::Public, 9)
    };
    for _ in 0..10_000 {
        if is_done() {
            break;
        }
        ThreadSleeper.sleep(Duration::from_millis(5));
    }
    assert!(is_done(), "{:?}", [2, 6, 9].map(|tree| keys(&bed, &[tree]).len()));
    upkeep.stop();
    bed.drop_table(&table.schema.name).unwrap();
    ThreadSleeper.sleep(Duration::from_millis(20));
    assert_eq!(keys(&bed, &[2]).len(), 9, "it has stopped");
}
