//! What a store may answer at any time, and what becomes of it: conflicts and old moments are the
//! engine's to absorb, `Busy` and `Undetermined` reach the caller.

use std::sync::mpsc;
use std::time::Duration;

use shelfmark_engine::{
    Engine, Environment, Error, ErrorKind, Get, Once, Query, Result, SeededRandom, SweepPosition,
    Table, Token, Write,
};
use shelfmark_model::{
    Comparison, Condition, IndexKind, IndexSchema, Item, Key, KeyColumn, Operand, Path, Projected,
    TableName, TtlSource, Value,
};
use shelfmark_store::fault_injection::FaultOptions;

use crate::drivers::{Bed, START_SECONDS, meaner, patiently, plain};

/// Nothing but what a case asks for, and no late ends: it does the same each time.
fn calm(seed: u64) -> FaultOptions {
    FaultOptions {
        conflict: 0,
        busy: 0,
        undetermined: 0,
        late: 0,
        behind: 0,
        ..FaultOptions::new(seed)
    }
}

fn faults(bed: &Bed, are_on: bool) {
    bed.meanest.as_ref().unwrap().set_faults(are_on);
}

fn item(pk: &str, n: i64) -> Item {
    Item::new().with("pk", pk).with("sk", "x").with("n", Value::number(n))
}

fn read(bed: &Bed, table: &Table, pk: &str) -> Option<Item> {
    bed.engine.get(table, &Get::new(Key::pair(pk, "x"))).unwrap().item
}

fn is(attribute: &str, value: Option<Value>) -> Condition {
    let path = Path::attribute(attribute);
    match value {
        None => Condition::NotExists(path),
        Some(value) => {
            Condition::Compare(Comparison::Equal, Operand::Path(path), Operand::Value(value))
        }
    }
}

fn by_n(kind: IndexKind) -> IndexSchema {
    IndexSchema {
        name: "by_n".to_owned(),
        kind,
        partition: vec![KeyColumn::new("n", shelfmark_keycode::KeyType::Decimal)],
        sort: Vec::new(),
        projected: Projected::All,
        state: shelfmark_model::IndexState::Public,
    }
}

#[test]
fn a_busy_store_is_told_to_the_caller_once_and_nothing_is_written() {
    let bed = meaner(FaultOptions { busy: 1000, ..calm(1) });
    faults(&bed, false);
    let table = bed.engine.create_table(plain("t")).unwrap();
    faults(&bed, true);
    let busy = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert_eq!(error.retry_after(), Some(Duration::from_micros(20)));
    };
    busy(bed.engine.write(Write::put(&table, item("a", 1))).unwrap_err());
    busy(bed.engine.write(Write::put(&table, item("a", 1)).when(is("n", None))).unwrap_err());
    busy(bed.engine.transact(|tx| tx.write(&Write::put(&table, item("a", 1)))).unwrap_err());
    busy(bed.engine.create_table(plain("u")).unwrap_err());
    let (sender, receiver) = mpsc::channel();
    bed.engine.submit_all(
        vec![Write::put(&table, item("a", 1))],
        Box::new(move |outcome| sender.send(outcome).unwrap()),
    );
    busy(receiver.recv().unwrap().unwrap_err());
    assert!(receiver.recv().is_err(), "the completion is called once and then gone");
    // An answer that may rest on what is queued is not told before that is durable.
    let refused = Write::put(&table, item("b", 1)).when(is("n", Some(Value::number(7))));
    busy(bed.engine.write(refused).unwrap_err());
    faults(&bed, false);
    assert_eq!(bed.engine.scan(&table, &shelfmark_engine::Scan::default()).unwrap().count, 0);
}

#[test]
fn conflicts_of_nobody_are_absorbed_everywhere() {
    for seed in 0..10 {
        let bed = meaner(FaultOptions { conflict: 500, behind: 300, ..calm(seed) });
        let mut schema = plain("t").with_index(by_n(IndexKind::Unique));
        schema.options.ttl = Some(TtlSource::PerItem);
        let table = bed.engine.create_table(schema).unwrap();
        for n in 0..20 {
            let pk = format!("p{n}");
            let mut write = Write::put(&table, item(&pk, n)).when(is("n", None));
            write.expires_at = Some(START_SECONDS + 5);
            bed.engine.write(write).unwrap();
            bed.engine.transact(|tx| tx.write(&Write::put(&table, item(&pk, 100 + n)))).unwrap();
        }
        let name = &table.schema.name;
        let again = IndexSchema { name: "again".to_owned(), ..by_n(IndexKind::Secondary) };
        bed.engine.add_index(name, again).unwrap();
        bed.engine.alter_options(name, |options| options.change_log = true).unwrap();
        bed.engine.drop_index(name, "by_n").unwrap();
        let table = bed.engine.table(name).unwrap();
        let query = Query::partition(vec![Value::number(107)]).index("again");
        assert_eq!(bed.engine.query(&table, &query).unwrap().items, [item("p7", 107)]);
        bed.engine.drop_table(name).unwrap();
        assert_eq!(bed.engine.purge().unwrap(), 0);
        let injected = bed.meanest.as_ref().unwrap().injected();
        assert!(injected.conflicts > 20, "{injected:?}");
    }
}

#[test]
fn a_conflict_does_not_make_the_sweep_forget_an_item() {
    let bed = meaner(FaultOptions { conflict: 1000, ..calm(1) });
    faults(&bed, false);
    let mut schema = plain("t");
    schema.options.ttl = Some(TtlSource::Attribute("n".to_owned()));
    let table = bed.engine.create_table(schema).unwrap();
    let due = i64::try_from(START_SECONDS).unwrap() + 1;
    bed.put(&table, item("a", due));
    bed.seconds(2);
    let mut position = SweepPosition::default();
    faults(&bed, true);
    // It may say so or skip the item, but not lose it.
    let _ = bed.engine.sweep(&mut position, 10);
    faults(&bed, false);
    for _ in 0..2 {
        bed.engine.sweep(&mut position, 10).unwrap();
    }
    assert_eq!(read(&bed, &table, "a"), None);
}

#[test]
fn a_moment_that_is_too_old_is_told_to_readers_and_absorbed_by_writers() {
    let (mut told, mut absorbed) = (0, 0);
    for seed in 0..20 {
        let bed = meaner(FaultOptions { too_old: 300, ..calm(seed) });
        faults(&bed, false);
        let table = bed.engine.create_table(plain("t")).unwrap();
        faults(&bed, true);
        bed.engine.write(Write::put(&table, item("a", 1)).when(is("n", None))).unwrap();
        bed.engine
            .transact(|tx| {
                tx.get(&table, &Get::new(Key::pair("a", "x")))?;
                tx.write(&Write::put(&table, item("a", 2)))
            })
            .unwrap();
        bed.engine.alter_options(&table.schema.name, |options| options.change_log = true).unwrap();
        absorbed += bed.meanest.as_ref().unwrap().injected().too_old;
        match bed.engine.query(&table, &Query::partition(vec!["a".into()])) {
            Ok(page) => assert_eq!(page.items, [item("a", 2)]),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TooOld);
                told += 1;
            }
        }
    }
    assert!(told > 0 && absorbed > 10, "{told} {absorbed}");
}

/// Waits until everything submitted so far has ended, whatever its end is called.
fn settled(bed: &Bed) {
    faults(bed, false);
    bed.settle();
    faults(bed, true);
}

#[test]
fn an_unknown_end_is_told_and_reading_finds_it_out() {
    let (mut found, mut lost) = (0, 0);
    for seed in 0..10 {
        let bed = meaner(FaultOptions { undetermined: 400, conflict: 100, ..calm(seed) });
        faults(&bed, false);
        let table = bed.create_table(plain("t").with_index(by_n(IndexKind::Unique))).unwrap();
        let other = bed.create_table(plain("u")).unwrap();
        faults(&bed, true);
        let mut last = None;
        for n in 0..40 {
            let writes = vec![
                Write::put(&table, item("a", n)).when(is("n", last.map(Value::number))),
                Write::put(&other, item("a", n)),
            ];
            let outcome = if n % 2 == 0 {
                bed.engine.write_all(writes).map(|_| ())
            } else {
                bed.engine
                    .transact(|tx| writes.iter().try_for_each(|one| tx.write(one).map(|_| ())))
            };
            match outcome {
                Ok(()) => last = Some(n),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Undetermined);
                    settled(&bed);
                    let there = read(&bed, &table, "a") == Some(item("a", n));
                    // All or nothing, the index included.
                    assert_eq!(read(&bed, &other, "a") == Some(item("a", n)), there);
                    let query = Query::partition(vec![Value::number(n)]).index("by_n");
                    assert_eq!(bed.engine.query(&table, &query).unwrap().count == 1, there);
                    if there {
                        (found, last) = (found + 1, Some(n));
                    } else {
                        lost += 1;
                    }
                }
            }
            assert_eq!(read(&bed, &table, "a"), last.map(|n| item("a", n)));
        }
    }
    assert!(found > 20 && lost > 20, "{found} {lost}");
}

#[test]
fn a_token_makes_a_call_with_an_unknown_end_happen_once() {
    let mut repeated = 0;
    for seed in 0..10 {
        let bed = meaner(FaultOptions { undetermined: 400, conflict: 100, ..calm(seed) });
        faults(&bed, false);
        let table = bed.create_table(plain("t")).unwrap();
        bed.put(&table, item("a", 0));
        faults(&bed, true);
        for n in 1..=20 {
            let token = Token {
                token: format!("call {n}").into_bytes(),
                request_hash: 1,
                expires_at: START_SECONDS + 600,
            };
            // The condition fails if the call happens twice.
            let writes = || {
                let before = is("n", Some(Value::number(n - 1)));
                vec![Write::put(&table, item("a", n)).when(before)]
            };
            loop {
                match bed.engine.write_all_once(&token, writes()) {
                    Ok(Once::Written(_)) => break,
                    Ok(Once::Repeated) => {
                        repeated += 1;
                        break;
                    }
                    Ok(Once::Mismatch) => panic!("the request is the same"),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Undetermined),
                }
            }
            settled(&bed);
            assert_eq!(read(&bed, &table, "a"), Some(item("a", n)));
        }
    }
    assert!(repeated > 20, "{repeated}");
}

/// A second engine over the same store knows only what is stored.
fn stranger(bed: &Bed) -> Engine {
    let environment =
        Environment { clock: bed.clock.clone(), random: std::sync::Arc::new(SeededRandom::new(1)) };
    patiently(|| Engine::open(bed.engine.store().clone(), environment.clone())).unwrap()
}

#[test]
fn after_an_unknown_end_of_a_change_the_tables_are_what_the_store_says() {
    let mut unknown = 0;
    for seed in 0..20 {
        let bed = meaner(FaultOptions { undetermined: 400, ..calm(seed) });
        let name = TableName::new("test", "t");
        let mut random = shelfmark_store::random::SplitMix::new(seed);
        for round in 0..20 {
            let outcome: Result<()> = match random.below(5) {
                0 => bed.engine.create_table(plain("t")).map(|_| ()),
                1 => bed.engine.drop_table(&name),
                2 => bed.engine.add_index(&name, by_n(IndexKind::Secondary)).map(|_| ()),
                3 => bed.engine.drop_index(&name, "by_n").map(|_| ()),
                _ => {
                    let grace = |options: &mut shelfmark_model::TableOptions| {
                        options.gc_grace_seconds = round;
                    };
                    bed.engine.alter_options(&name, grace).map(|_| ())
                }
            };
            unknown +=
                usize::from(outcome.is_err_and(|error| error.kind() == ErrorKind::Undetermined));
            settled(&bed);
            faults(&bed, false);
            let (ours, theirs) = (bed.engine.table(&name), stranger(&bed).table(&name));
            match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => {
                    assert_eq!((ours.id, ours.version), (theirs.id, theirs.version));
                    assert_eq!(ours.schema, theirs.schema);
                    // What is written goes where a reader who knows only the store looks.
                    let (pk, n) = (format!("p{round}"), i64::from(round));
                    bed.put(ours, item(&pk, n));
                    assert_eq!(
                        stranger(&bed).get(theirs, &Get::new(Key::pair(pk, "x"))).unwrap().item,
                        Some(item(&format!("p{round}"), n))
                    );
                }
                (Err(ours), Err(theirs)) => assert_eq!(ours.kind(), theirs.kind()),
                _ => panic!("{ours:?} {theirs:?}"),
            }
            faults(&bed, true);
        }
    }
    assert!(unknown > 50, "{unknown}");
}
