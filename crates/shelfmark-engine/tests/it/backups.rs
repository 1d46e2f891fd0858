//! Backups, histories and restores against a model: what is restored is what was there at the moment.

use std::collections::BTreeMap;
use std::time::Duration;

use shelfmark_engine::{Backup, BackupKeeper, Engine, ErrorKind, Get, Moment, Query, Scan, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{IndexSchema, Item, Key, KeyColumn, TableName, TableSchema, Value};
use shelfmark_store::clock::Clock as _;
use shelfmark_store::random::SplitMix;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};

use crate::drivers::{Bed, forgetful, on_every_driver, patiently, plain, restless};

type State = BTreeMap<String, Item>;

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

fn schema(table: &str) -> TableSchema {
    let mut schema = plain(table);
    schema.indexes = vec![IndexSchema {
        name: "by_n".to_owned(),
        partition: vec![KeyColumn::new("n", KeyType::Decimal)],
        ..index()
    }];
    schema
}

/// With an index, or without one: then writes need not look at what was there.
fn source(seed: u64) -> TableSchema {
    if seed.is_multiple_of(2) { schema("t") } else { plain("t") }
}

fn index() -> IndexSchema {
    IndexSchema {
        name: String::new(),
        kind: shelfmark_model::IndexKind::Secondary,
        partition: Vec::new(),
        sort: Vec::new(),
        projected: shelfmark_model::Projected::All,
        state: shelfmark_model::IndexState::Public,
    }
}

/// Makes the table `t` with so many random writes.
fn filled(bed: &Bed, schema: TableSchema, seed: u64, writes: usize) -> (SplitMix, State) {
    let (mut random, mut state) = (SplitMix::new(seed), State::new());
    bed.create_table(schema).unwrap();
    for _ in 0..writes {
        write(bed, "t", &mut random, &mut state);
    }
    (random, state)
}

/// Does one random write, and the same to the model.
///
/// In a table without an index they are small, so that they need not look.
fn write(bed: &Bed, table: &str, random: &mut SplitMix, state: &mut State) {
    let table = bed.engine.table(&name(table)).unwrap();
    let pk = format!("k{}", random.next_u64() % 24);
    if random.next_u64().is_multiple_of(4) {
        let key = Key { partition: vec![Value::text(&pk)], sort: vec![Value::text("x")] };
        bed.write(Write::delete(&table, key)).unwrap();
        state.remove(&pk);
        return;
    }
    let mut item = Item::new().with("pk", pk.as_str()).with("sk", "x");
    item.set("draw", Value::number(i64::try_from(random.next_u64() % 1_000_000).unwrap()));
    item.set("n", Value::number(i64::try_from(random.next_u64() % 5).unwrap()));
    if random.next_u64().is_multiple_of(3) && !table.schema.indexes.is_empty() {
        // More than one chunk, of another number each time.
        let bytes = 50_000 + random.next_u64() % 150_000;
        item.set("large", Value::text("v".repeat(usize::try_from(bytes).unwrap())));
        item.set("larger", Value::text("w".repeat(60_000)));
    }
    bed.write(Write::put(&table, item.clone())).unwrap();
    state.insert(pk, item);
}

fn state_of(engine: &Engine, table: &str) -> State {
    let table = engine.table(&name(table)).unwrap();
    let mut state = State::new();
    let mut scan = Scan::default();
    loop {
        let page = engine.scan(&table, &scan).unwrap();
        for item in page.items {
            state.insert(item.get("pk").unwrap().as_text().unwrap().to_owned(), item);
        }
        match page.cursor {
            Some(cursor) => scan.start = Some(cursor),
            None => break,
        }
    }
    // The index says the same, where there is one.
    for n in 0..if table.schema.indexes.is_empty() { 0 } else { 5 } {
        let query =
            Query { index: Some("by_n".to_owned()), ..Query::partition(vec![Value::number(n)]) };
        let found = engine.query(&table, &query).unwrap().items;
        let expected = state.values().filter(|item| item.get("n") == Some(&Value::number(n)));
        assert_eq!(found.len(), expected.count(), "index by_n of {n}");
    }
    state
}

fn keep(engine: &Engine, bytes: u64) {
    patiently(|| engine.keep_backups(&mut BackupKeeper::default(), bytes, &|| false)).unwrap();
}

fn complete(bed: &Bed, backup: &Backup) -> Backup {
    for _ in 0..10_000 {
        keep(&bed.engine, 100_000);
        let found = bed.engine.backup(&backup.table, &backup.id).unwrap().unwrap();
        if found.is_complete {
            return found;
        }
    }
    panic!("the backup is never complete");
}

/// Restores a backup and returns what the new table has; the table is dropped then.
fn restored(
    bed: &Bed,
    begin: impl Fn(&Engine, TableSchema) -> shelfmark_engine::Result<()>,
) -> State {
    patiently(|| begin(&bed.engine, schema("restored"))).unwrap();
    let table = bed.engine.table(&name("restored")).unwrap();
    assert!(Engine::is_being_filled(&table));
    let get = Get::new(Key { partition: vec![Value::text("k1")], sort: vec![Value::text("x")] });
    assert_eq!(bed.engine.get(&table, &get).unwrap_err().kind(), ErrorKind::NotFound);
    let put = Write::put(&table, Item::new().with("pk", "k1").with("sk", "x"));
    assert_eq!(
        patiently(|| bed.engine.write(put.clone()).map(drop).or_else(|error| match error.kind() {
            ErrorKind::Busy => Err(error),
            kind => {
                assert_eq!(kind, ErrorKind::NotFound);
                Ok(())
            }
        }))
        .unwrap(),
        ()
    );
    for _ in 0..10_000 {
        keep(&bed.engine, 100_000);
        if !Engine::is_being_filled(&bed.engine.table(&name("restored")).unwrap()) {
            let state = state_of(&bed.engine, "restored");
            bed.drop_table(&name("restored")).unwrap();
            return state;
        }
    }
    panic!("the restore never ends");
}

fn seeds() -> Vec<u64> {
    match std::env::var("SHELFMARK_SEED").ok().and_then(|seed| seed.trim().parse().ok()) {
        Some(seed) => vec![seed],
        None if std::env::var_os("SHELFMARK_LONG").is_some() => (1..60).collect(),
        None => vec![1, 2, 3, 4],
    }
}

#[test]
fn a_backup_shows_one_moment_of_a_table_that_is_written_to() {
    for seed in seeds() {
        eprintln!("SHELFMARK_SEED={seed}");
        on_every_driver(|bed| {
            let (mut random, mut state) = filled(bed, source(seed), seed, 50);
            let backup = patiently(|| bed.engine.begin_backup(&name("t"), "nightly")).unwrap();
            let mut states = vec![state.clone()];
            let mut is_complete = false;
            while !is_complete {
                for _ in 0..random.next_u64() % 4 {
                    write(bed, "t", &mut random, &mut state);
                    states.push(state.clone());
                }
                // Mostly a row at a time.
                let most = if random.next_u64().is_multiple_of(8) { 100_000 } else { 1 };
                keep(&bed.engine, most);
                let found = bed.engine.backup(&name("t"), &backup.id).unwrap().unwrap();
                is_complete = found.is_complete;
            }
            for _ in 0..10 {
                write(bed, "t", &mut random, &mut state);
            }
            // It outlives its table, and the history is gone with the work.
            assert_eq!(bed.engine.table(&name("t")).unwrap().schema.options.history, None);
            bed.drop_table(&name("t")).unwrap();
            let found = bed.engine.backup(&name("t"), &backup.id).unwrap().unwrap();
            let back =
                restored(bed, |engine, schema| engine.restore_backup(&found, schema).map(drop));
            assert!(states.contains(&back), "it was never so");
            patiently(|| bed.engine.delete_backup(&found)).unwrap();
            assert_eq!(bed.engine.backup(&name("t"), &backup.id).unwrap(), None);
            bed.settle();
            assert!(bed.engine.verify().unwrap().is_clean(), "{:?}", bed.engine.verify());
        });
    }
}

#[test]
fn a_table_is_restored_to_any_moment_that_is_kept() {
    for seed in seeds() {
        eprintln!("SHELFMARK_SEED={seed}");
        on_every_driver(|bed| {
            let (mut random, mut state) = filled(bed, source(seed), seed, 10);
            patiently(|| bed.engine.start_continuous_backups(&name("t"), 1)).unwrap();
            while moments(bed).earliest_micros.is_none() {
                write(bed, "t", &mut random, &mut state);
                keep(&bed.engine, 1 + random.next_u64() % 200_000);
            }
            // Each state with the last microsecond of it.
            let mut states = Vec::new();
            for _ in 0..30 {
                bed.seconds(1 + random.next_u64() % 9_000);
                states.push((bed.clock.now_micros() - 1, state.clone()));
                write(bed, "t", &mut random, &mut state);
                if random.next_u64().is_multiple_of(4) {
                    keep(&bed.engine, 300_000);
                }
            }
            bed.seconds(1);
            states.push((bed.clock.now_micros(), state.clone()));
            keep(&bed.engine, u64::MAX);
            let earliest = moments(bed).earliest_micros.unwrap();
            let table = bed.engine.table(&name("t")).unwrap();
            let (gone, kept): (Vec<_>, Vec<_>) =
                states.into_iter().partition(|(at, _)| *at < earliest);
            assert!(!gone.is_empty() && kept.len() > 3, "{} and {}", gone.len(), kept.len());
            for (at, _) in gone.iter().rev().take(2) {
                let moment = Moment::At(*at);
                let refused = patiently_kind(bed, |engine| {
                    engine.restore_to_moment(&table, moment, schema("restored")).map(drop)
                });
                assert_eq!(refused, Some(ErrorKind::TooOld));
            }
            for (at, expected) in [&kept[0], &kept[1], &kept[kept.len() / 2], &kept[kept.len() - 1]]
            {
                let moment = Moment::At(*at);
                let back = restored(bed, |engine, schema| {
                    engine.restore_to_moment(&table, moment, schema).map(drop)
                });
                assert!(back == *expected, "restored to {at}");
            }
            // What went into the copy does not come back with more days.
            patiently(|| bed.engine.start_continuous_backups(&name("t"), 35)).unwrap();
            let earliest = moments(bed).earliest_micros.unwrap();
            for (at, expected) in gone.iter().filter(|(at, _)| *at >= earliest) {
                let moment = Moment::At(*at);
                let back = restored(bed, |engine, schema| {
                    engine.restore_to_moment(&table, moment, schema).map(drop)
                });
                assert!(back == *expected, "restored to {at}, which is kept again");
            }
            write(bed, "t", &mut random, &mut state);
            let back = restored(bed, |engine, schema| {
                engine.restore_to_moment(&table, Moment::Latest, schema).map(drop)
            });
            assert!(back == state, "restored to now");
            bed.settle();
            assert!(bed.engine.verify().unwrap().is_clean(), "{:?}", bed.engine.verify());
        });
    }
}

fn moments(bed: &Bed) -> shelfmark_engine::Continuous {
    let table = bed.engine.table(&name("t")).unwrap();
    bed.engine.continuous_backups(&table).unwrap().unwrap()
}

fn patiently_kind(
    bed: &Bed,
    call: impl Fn(&Engine) -> shelfmark_engine::Result<()>,
) -> Option<ErrorKind> {
    loop {
        match call(&bed.engine) {
            Err(error) if error.kind() == ErrorKind::Busy => {}
            outcome => return outcome.err().map(|error| error.kind()),
        }
    }
}

#[test]
fn the_latest_moment_is_restored_while_the_first_copy_is_made() {
    for seed in seeds() {
        eprintln!("SHELFMARK_SEED={seed}");
        on_every_driver(|bed| {
            let (mut random, mut state) = filled(bed, source(seed), seed, 30);
            patiently(|| bed.engine.start_continuous_backups(&name("t"), 1)).unwrap();
            // In the history, and in the copy before it: what is later must not be undone by them.
            for _ in 0..10 {
                write(bed, "t", &mut random, &mut state);
            }
            assert_eq!(moments(bed).earliest_micros, None);
            let table = bed.engine.table(&name("t")).unwrap();
            let begin = |moment: Moment| {
                bed.engine.restore_to_moment(&table, moment, schema("restored")).map(drop)
            };
            let now = Moment::At(bed.clock.now_micros());
            assert_eq!(patiently_kind(bed, |_| begin(now)), Some(ErrorKind::TooOld));
            patiently(|| begin(Moment::Latest)).unwrap();
            // It is the table as of one moment from now on.
            let mut states = vec![state.clone()];
            let is_filled =
                || !Engine::is_being_filled(&bed.engine.table(&name("restored")).unwrap());
            for turn in 0..10_000 {
                if is_filled() {
                    break;
                }
                for _ in 0..if turn < 20 { 10 } else { 0 } {
                    write(bed, "t", &mut random, &mut state);
                    states.push(state.clone());
                }
                keep(&bed.engine, 1 + random.next_u64() % 200_000);
            }
            assert!(is_filled() && states.contains(&state_of(&bed.engine, "restored")));
            bed.settle();
            assert!(bed.engine.verify().unwrap().is_clean(), "{:?}", bed.engine.verify());
        });
    }
}

#[test]
fn a_restore_that_waits_for_a_first_copy_ends_with_it() {
    on_every_driver(|bed| {
        let _ = filled(bed, schema("t"), 6, 20);
        patiently(|| bed.engine.start_continuous_backups(&name("t"), 1)).unwrap();
        let table = bed.engine.table(&name("t")).unwrap();
        patiently(|| bed.engine.restore_to_moment(&table, Moment::Latest, schema("v"))).unwrap();
        patiently(|| bed.engine.stop_continuous_backups(&name("t"))).unwrap();
        for _ in 0..3 {
            keep(&bed.engine, u64::MAX);
        }
        assert_eq!(bed.engine.table(&name("v")).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn whoever_begins_work_does_not_wait_for_all_that_is_done() {
    on_every_driver(|bed| {
        bed.create_table(plain("t")).unwrap();
        let table = bed.engine.table(&name("t")).unwrap();
        for number in 0..60 {
            let item = Item::new().with("pk", format!("{number}")).with("sk", "x");
            let item = item.with("large", Value::text("v".repeat(200_000)));
            bed.write(Write::put(&table, item)).unwrap();
        }
        let first = patiently(|| bed.engine.begin_backup(&name("t"), "first")).unwrap();
        std::thread::scope(|scope| {
            let began = std::cell::OnceCell::new();
            let begin = || patiently(|| bed.engine.begin_backup(&name("t"), "second"));
            let should_stop = || {
                began.get_or_init(|| scope.spawn(begin));
                // The other one has the time to come and wait.
                ThreadSleeper.sleep(Duration::from_millis(20));
                false
            };
            let mut keeper = BackupKeeper::default();
            patiently(|| bed.engine.keep_backups(&mut keeper, u64::MAX, &should_stop)).unwrap();
            assert!(keeper.has_more(), "it is called again for what it left");
            let found = bed.engine.backup(&first.table, &first.id).unwrap().unwrap();
            assert!(!found.is_complete, "it was done to the end");
            began.into_inner().unwrap().join().unwrap().unwrap();
        });
        complete(bed, &first);
    });
}

#[test]
fn work_goes_on_after_a_restart_at_any_point() {
    for pieces in 0..40 {
        let mut bed = restless();
        let (mut random, mut state) = filled(&bed, schema("t"), pieces, 20);
        bed.engine.start_continuous_backups(&name("t"), 35).unwrap();
        let backup = bed.engine.begin_backup(&name("t"), "nightly").unwrap();
        for _ in 0..pieces / 2 {
            keep(&bed.engine, 1);
        }
        bed.reopen();
        let before = state.clone();
        write(&bed, "t", &mut random, &mut state);
        let backup = complete(&bed, &backup);
        assert_eq!(moments(&bed).days, 35);
        bed.engine.restore_backup(&backup, schema("copy")).unwrap();
        for _ in 0..pieces {
            keep(&bed.engine, 1);
        }
        bed.reopen();
        while Engine::is_being_filled(&bed.engine.table(&name("copy")).unwrap()) {
            keep(&bed.engine, 100_000);
        }
        let copy = state_of(&bed.engine, "copy");
        assert!(copy == state || copy == before, "{pieces} pieces");
        assert!(bed.engine.verify().unwrap().is_clean());
    }
}

#[test]
fn a_moment_that_was_held_for_too_long_is_another_one_then() {
    let bed = restless();
    let (mut random, mut state) = filled(&bed, schema("t"), 12, 40);
    let first = state.clone();
    let backup = bed.engine.begin_backup(&name("t"), "one").unwrap();
    // Whoever writes has nothing logged for the backup.
    assert_eq!(bed.engine.table(&name("t")).unwrap().schema.options.history, None);
    for _ in 0..5 {
        keep(&bed.engine, 1);
        write(&bed, "t", &mut random, &mut state);
    }
    assert_ne!(first, state);
    bed.seconds(25 * 3_600);
    let backup = complete(&bed, &backup);
    assert_eq!(backup.items, state.len() as u64, "what was copied before does not count");
    let back = restored(&bed, |engine, schema| engine.restore_backup(&backup, schema).map(drop));
    assert!(back == state, "a mixture of moments");
    assert!(bed.engine.verify().unwrap().is_clean());
    // Nothing is held for what has ended.
    assert_eq!(bed.engine.store().stats().snapshots_open, 0);
}

#[test]
fn rows_of_a_moment_that_was_lost_with_its_process_are_not_in_the_copy_of_the_next() {
    let bed = forgetful();
    let (_, state) = filled(&bed, plain("t"), 13, 60);
    let backup = bed.engine.begin_backup(&name("t"), "one").unwrap();
    // The rows are there, and the ledger knows of none.
    bed.engine.keep_backups(&mut BackupKeeper::default(), u64::MAX, &|| false).unwrap_err();
    let table = bed.engine.table(&name("t")).unwrap();
    for pk in state.keys() {
        let key = Key { partition: vec![Value::text(pk)], sort: vec![Value::text("x")] };
        bed.write(Write::delete(&table, key)).unwrap();
    }
    // As after a restart: another engine holds no moment.
    let engine = crate::drivers::open(std::sync::Arc::clone(bed.engine.store()), &bed.clock);
    for _ in 0..10 {
        let _ = engine.keep_backups(&mut BackupKeeper::default(), u64::MAX, &|| false);
    }
    let found = engine.backup(&backup.table, &backup.id).unwrap().unwrap();
    assert!(found.is_complete);
    engine.restore_backup(&found, plain("copy")).unwrap();
    for _ in 0..10 {
        let _ = engine.keep_backups(&mut BackupKeeper::default(), u64::MAX, &|| false);
    }
    let page = engine.scan(&engine.table(&name("copy")).unwrap(), &Scan::default()).unwrap();
    assert!(page.items.is_empty(), "a mixture of moments");
}

#[test]
fn rows_that_were_written_and_not_told_of_are_written_over() {
    let bed = forgetful();
    let (mut random, mut state) = filled(&bed, schema("t"), 11, 60);
    let (mut failures, mut states) = (0, vec![state.clone()]);
    let mut keep = |bed: &Bed, bytes| {
        let kept =
            patiently(|| bed.engine.keep_backups(&mut BackupKeeper::default(), bytes, &|| false));
        if let Err(error) = kept {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            failures += 1;
        }
    };
    let backup = patiently(|| bed.engine.begin_backup(&name("t"), "one")).unwrap();
    let backup = loop {
        keep(&bed, 200_000);
        // Rows that were copied change, and with them the numbers of their chunks.
        for _ in 0..6 {
            write(&bed, "t", &mut random, &mut state);
            states.push(state.clone());
        }
        let found = bed.engine.backup(&backup.table, &backup.id).unwrap().unwrap();
        if found.is_complete {
            break found;
        }
    };
    bed.engine.restore_backup(&backup, schema("copy")).unwrap();
    while Engine::is_being_filled(&bed.engine.table(&name("copy")).unwrap()) {
        keep(&bed, 200_000);
    }
    assert!(failures >= 2, "{failures}");
    assert!(states.contains(&state_of(&bed.engine, "copy")), "it is no moment's");
    assert!(bed.engine.verify().unwrap().is_clean());
}

#[test]
fn a_keeper_says_that_more_is_to_be_done_at_once() {
    on_every_driver(|bed| {
        let _ = filled(bed, schema("t"), 5, 20);
        let backup = patiently(|| bed.engine.begin_backup(&name("t"), "one")).unwrap();
        let mut keeper = BackupKeeper::default();
        patiently(|| bed.engine.keep_backups(&mut keeper, 1, &|| false)).unwrap();
        assert!(keeper.has_more());
        for _ in 0..100 {
            patiently(|| bed.engine.keep_backups(&mut keeper, u64::MAX, &|| false)).unwrap();
            assert!(!keeper.has_more());
            if bed.engine.backup(&backup.table, &backup.id).unwrap().unwrap().is_complete {
                return;
            }
        }
        panic!("the backup is never complete");
    });
}

#[test]
fn a_dropped_table_stays_as_a_backup_for_35_days() {
    on_every_driver(|bed| {
        let (_, state) = filled(bed, schema("t"), 3, 20);
        let backup =
            patiently(|| bed.engine.drop_table_keeping_backup(&name("t"), "t$gone")).unwrap();
        assert!(backup.is_complete && backup.is_of_dropped);
        assert_eq!(backup.items, state.len() as u64);
        assert_eq!(bed.engine.table(&name("t")).unwrap_err().kind(), ErrorKind::NotFound);
        bed.settle();
        let back = restored(bed, |engine, schema| engine.restore_backup(&backup, schema).map(drop));
        assert!(back == state);
        bed.seconds(34 * 24 * 3_600);
        keep(&bed.engine, u64::MAX);
        assert_eq!(bed.engine.backup(&name("t"), &backup.id).unwrap().as_ref(), Some(&backup));
        bed.seconds(24 * 3_600);
        keep(&bed.engine, u64::MAX);
        assert_eq!(bed.engine.backups("test", None, None, 10).unwrap(), []);
        // A table of the same name is another one.
        bed.create_table(schema("t")).unwrap();
        assert!(state_of(&bed.engine, "t").is_empty());
        assert!(bed.engine.verify().unwrap().is_clean(), "{:?}", bed.engine.verify());
    });
}

#[test]
fn a_restore_whose_source_goes_away_leaves_nothing() {
    on_every_driver(|bed| {
        let (mut random, mut state) = filled(bed, schema("t"), 4, 20);
        let backup = patiently(|| bed.engine.begin_backup(&name("t"), "one")).unwrap();
        let refused = patiently_kind(bed, |engine| engine.delete_backup(&backup));
        assert_eq!(refused, Some(ErrorKind::Conflict), "it is being made");
        assert!(bed.engine.is_backed_up_now(&name("t")).unwrap());
        bed.drop_table(&name("t")).unwrap();
        keep(&bed.engine, u64::MAX);
        assert_eq!(bed.engine.backup(&name("t"), &backup.id).unwrap(), None, "nothing to copy");

        bed.create_table(schema("u")).unwrap();
        for _ in 0..20 {
            write(bed, "u", &mut random, &mut state);
        }
        let backup = patiently(|| bed.engine.begin_backup(&name("u"), "two")).unwrap();
        let backup = complete(bed, &backup);
        patiently(|| bed.engine.restore_backup(&backup, schema("v"))).unwrap();
        let refused = patiently_kind(bed, |engine| engine.delete_backup(&backup));
        assert_eq!(refused, Some(ErrorKind::Conflict), "it is being restored");
        let exists =
            patiently_kind(bed, |engine| engine.restore_backup(&backup, schema("u")).map(drop));
        assert_eq!(exists, Some(ErrorKind::AlreadyExists));
        keep(&bed.engine, u64::MAX);
        assert!(!Engine::is_being_filled(&bed.engine.table(&name("v")).unwrap()));
    });
}

#[test]
fn a_copy_of_a_store_makes_the_same_store_on_any_driver() {
    on_every_driver(|bed| {
        let mut random = SplitMix::new(5);
        bed.create_table(schema("t")).unwrap();
        let mut state = State::new();
        bed.patient(|engine| engine.start_continuous_backups(&name("t"), 3));
        bed.patient(|engine| {
            engine.start_stream(&name("t"), "first", shelfmark_model::ChangeImages::Both)
        });
        for _ in 0..20 {
            write(bed, "t", &mut random, &mut state);
        }
        let backup =
            complete(bed, &patiently(|| bed.engine.begin_backup(&name("t"), "b")).unwrap());
        patiently(|| bed.engine.begin_backup(&name("t"), "unfinished")).unwrap();
        bed.settle();
        let mut file = Vec::new();
        let copied = patiently(|| {
            file.clear();
            bed.engine.write_store_copy(&mut file)
        });
        let copied = copied.unwrap();
        let other = crate::drivers::memory();
        let open = |bytes: &[u8]| {
            let clock: std::sync::Arc<dyn shelfmark_store::clock::Clock> = other.clock.clone();
            let store = shelfmark_store::memory::MemoryStore::new(std::sync::Arc::clone(&clock));
            let environment = bed.engine.environment().clone();
            Engine::restore_store_copy(std::sync::Arc::new(store), environment, &mut &bytes[..])
        };
        let (engine, restored) = open(&file).unwrap();
        assert_eq!(restored, copied);
        assert!(state_of(&engine, "t") == state);
        let options = engine.table(&name("t")).unwrap().schema.options.clone();
        assert_eq!((options.stream, options.history), (None, None));
        assert_eq!(engine.backups("test", None, None, 10).unwrap(), std::slice::from_ref(&backup));
        assert!(engine.verify().unwrap().is_clean(), "{:?}", engine.verify());
        engine.restore_backup(&backup, schema("back")).unwrap();
        keep(&engine, u64::MAX);
        assert!(state_of(&engine, "back") == state);
        // Cut or changed anywhere it is refused.
        for place in (0..file.len()).step_by(file.len() / 40 + 1) {
            let kind = |bytes: &[u8]| open(bytes).err().map(|error| error.kind());
            assert_eq!(kind(&file[..place]), Some(ErrorKind::Corrupt), "cut at {place}");
            let mut changed = file.clone();
            changed[place] ^= 1;
            assert_eq!(kind(&changed), Some(ErrorKind::Corrupt), "changed at {place}");
        }
        let full = Engine::restore_store_copy(
            std::sync::Arc::clone(engine.store()),
            bed.engine.environment().clone(),
            &mut &file[..],
        );
        assert_eq!(full.err().map(|error| error.kind()), Some(ErrorKind::Invalid));
    });
}

/// Writes into the table on each piece of a copy that it takes.
struct WritingSink<'b> {
    copy: Vec<u8>,
    engine: &'b Engine,
    table: std::sync::Arc<shelfmark_engine::Table>,
    number: i64,
}

impl std::io::Write for WritingSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for _ in 0..20 {
            self.number += 1;
            let item = large(self.number);
            let write = shelfmark_engine::Write::put(&self.table, item);
            self.engine.write(write).map_err(std::io::Error::other)?;
        }
        self.copy.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn large(number: i64) -> shelfmark_model::Item {
    let key = ("k".to_owned(), shelfmark_model::Value::Int(number));
    let blob = shelfmark_model::Value::text("x".repeat(5_000));
    [key, ("v".to_owned(), blob)].into_iter().collect()
}

/// Copies a store of 4 MB while more than ten times the bound of snapshots is written to it.
#[test]
fn a_copy_of_a_folder_is_one_moment_however_much_is_written_meanwhile() {
    use shelfmark_store::clock::{Clock, SystemClock};
    use shelfmark_store::embedded::{EmbeddedStore, Options};
    let folder = tempfile::tempdir().unwrap();
    let clock: std::sync::Arc<dyn Clock> = std::sync::Arc::new(SystemClock::new());
    let options = Options {
        snapshot_bytes_max: 50_000,
        memory_table_bytes: 256 * 1024,
        durability: shelfmark_store::Durability::Interval(std::time::Duration::from_millis(1)),
        ..Options::default()
    };
    let store = EmbeddedStore::open(&folder.path().join("store"), options, clock.clone()).unwrap();
    let random = std::sync::Arc::new(shelfmark_engine::SeededRandom::new(1));
    let environment = shelfmark_engine::Environment { clock: clock.clone(), random };
    let engine = Engine::open(std::sync::Arc::new(store), environment.clone()).unwrap();
    let key = shelfmark_model::KeyColumn::new("k", shelfmark_keycode::KeyType::I64);
    let table = engine.create_table(shelfmark_model::TableSchema::new(name("t"), key)).unwrap();
    for number in 1..=800 {
        engine.write(shelfmark_engine::Write::put(&table, large(number))).unwrap();
    }
    let mut sink = WritingSink { copy: Vec::new(), engine: &engine, table, number: 800 };
    engine.write_store_copy(&mut sink).unwrap();
    assert!(sink.number > 850, "{}", sink.number);
    let back = shelfmark_store::memory::MemoryStore::new(clock);
    let back =
        Engine::restore_store_copy(std::sync::Arc::new(back), environment, &mut &sink.copy[..]);
    let back = back.unwrap().0;
    let found = back.verify().unwrap();
    assert!(found.is_clean(), "{:?}", found.findings);
    assert_eq!(found.rows, 800);
    engine.store().close().unwrap();
}
