//! What comes between two steps of a call, made to come there: changes of the catalogue, other
//! writers, another server.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use shelfmark_engine::{Engine, Error, ErrorKind, Get, Query, SweepPosition, Table, Token, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, TableName, TableOptions,
    TtlSource, Value,
};
use shelfmark_store::clock::ManualClock;
use shelfmark_store::{Error as StoreError, ErrorKind as StoreErrorKind, Store};

use crate::drivers::{open, plain};
use crate::watched::Watched;

const CATALOGUE: u8 = 1;
const ROWS: u8 = 2;
const INDEX: u8 = 3;
const DUE: u8 = 6;
const TOKENS: u8 = 7;

fn item(sk: &str) -> Item {
    Item::new().with("pk", "p").with("sk", sk).with("tag", "rust")
}

fn by_tag() -> IndexSchema {
    IndexSchema {
        name: "by_tag".to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("tag", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::KeysOnly,
        state: IndexState::Public,
    }
}

fn name() -> TableName {
    plain("t").name
}

struct Bed {
    store: Arc<Watched>,
    clock: Arc<ManualClock>,
    engine: Engine,
    table: Arc<Table>,
}

fn bed() -> Bed {
    let clock = Arc::new(ManualClock::at_micros(0));
    let store = Watched::new(&clock);
    let engine = open(Arc::clone(&store) as Arc<dyn Store>, &clock);
    let table = engine.create_table(plain("t")).unwrap();
    engine.write(Write::put(&table, item("a"))).unwrap();
    Bed { store, clock, engine, table }
}

impl Bed {
    /// Another server over the same store.
    fn other(&self) -> Engine {
        open(Arc::clone(&self.store) as Arc<dyn Store>, &self.clock)
    }
}

/// Does something in a thread of its own, and goes on before it has ended if it has to wait.
fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (told, ended) = channel();
    shelfmark_store::threads::spawn("beside", move || {
        // The test may have failed and gone.
        let _ = told.send(work());
    })
    .unwrap();
    std::thread::park_timeout(Duration::from_millis(200));
    ended
}

type Writing = fn(&Engine, &Arc<Table>) -> Result<(), Error>;

/// Ways of writing an item: blind, with a look, with another one, in a transaction.
const WRITES: [Writing; 4] = [
    |engine, table| engine.write(Write::put(table, item("b"))).map(drop),
    |engine, table| {
        let mut write = Write::put(table, item("b"));
        write.returns.old = true;
        engine.write(write).map(drop)
    },
    |engine, table| {
        engine.write_all(["b", "c"].map(|sk| Write::put(table, item(sk))).into()).map(drop)
    },
    |engine, table| engine.transact(|tx| tx.write(&Write::put(table, item("b"))).map(drop)),
];

#[test]
fn a_write_that_waits_for_a_change_of_its_table_is_of_the_new_form() {
    for write in WRITES {
        for drops in [false, true] {
            let Bed { store, engine, table, .. } = bed();
            let (sender, receiver) = channel();
            let (other, old) = (engine.clone(), Arc::clone(&table));
            // While the change is being committed a writer comes, with the form that still stands.
            store.before_commit_to(CATALOGUE, move || {
                sender.send(beside(move || write(&other, &old))).unwrap();
                Ok(())
            });
            match drops {
                true => engine.drop_table(&name()).unwrap(),
                false => drop(engine.alter_options(&name(), |own| own.change_log = true).unwrap()),
            }
            let outcome = receiver.recv().unwrap().recv().unwrap();
            if drops {
                assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
                continue;
            }
            outcome.unwrap();
            let table = engine.table(&name()).unwrap();
            assert!(!engine.changes(&table, None, 10).unwrap().is_empty(), "it was logged");
        }
    }
}

#[test]
fn a_transaction_whose_table_is_dropped_before_its_end_writes_nothing() {
    let Bed { engine, table, .. } = bed();
    let error = engine
        .transact(|tx| {
            tx.write(&Write::put(&table, item("b")))?;
            if engine.table(&name()).is_ok() {
                engine.drop_table(&name())?;
            }
            Ok(())
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_change_of_a_table_waits_for_writes_that_were_planned_before() {
    let Bed { store, engine, table, .. } = bed();
    let (sender, receiver) = channel();
    let other = engine.clone();
    // A writer has looked; its table goes, with all its keys.
    store.after_get_of(ROWS, move || {
        let dropped = beside(move || {
            other.drop_table(&name()).unwrap();
            other.purge().unwrap()
        });
        sender.send(dropped).unwrap();
    });
    let mut write = Write::put(&table, item("b"));
    write.returns.old = true;
    engine.write(write).unwrap();
    assert_eq!(receiver.recv().unwrap().recv().unwrap(), 0);
    assert_eq!(engine.verify().unwrap().findings, [], "a row of a table that is gone");
}

#[test]
fn the_first_large_row_waits_for_puts_that_did_not_look() {
    let Bed { store, engine, table, .. } = bed();
    let (sender, receiver) = channel();
    let (other, old) = (engine.clone(), Arc::clone(&table));
    store.before_commit_to(ROWS, move || {
        let large = item("a").with("text", "x".repeat(200_000));
        sender.send(beside(move || other.write(Write::put(&old, large)).map(drop))).unwrap();
        Ok(())
    });
    // Of the row that it replaces it knows no chunks.
    engine.write(Write::put(&table, item("a"))).unwrap();
    receiver.recv().unwrap().recv().unwrap().unwrap();
    assert_eq!(engine.verify().unwrap().findings, []);
}

#[test]
fn a_read_whose_form_is_retired_meanwhile_is_done_again() {
    let Bed { store, engine, .. } = bed();
    let table = engine.add_index(&name(), by_tag()).unwrap();
    let other = engine.clone();
    store.after_scan_of(INDEX, move || drop(other.drop_index(&name(), "by_tag").unwrap()));
    let query = Query::partition(vec!["rust".into()]).index("by_tag");
    assert_eq!(engine.query(&table, &query).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_body_that_refuses_waits_for_what_it_has_seen() {
    let Bed { store, engine, table, .. } = bed();
    store.take();
    let refused = engine.transact(|tx| {
        tx.get(&table, &Get::new(Key::pair("p", "a")))?;
        Err::<(), _>(Error::invalid("no"))
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(store.take().waits, 1, "what was read may not be durable yet");
}

#[test]
fn two_servers_do_not_overwrite_each_others_changes() {
    let bed = bed();
    let other = bed.other();
    other.table(&name()).unwrap();
    bed.engine.add_index(&name(), by_tag()).unwrap();
    let error = other.alter_options(&name(), |own| own.change_log = true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    // It has looked again since.
    let table = other.alter_options(&name(), |own| own.change_log = true).unwrap();
    assert_eq!(table.indexes().len(), 1);
}

#[test]
fn a_change_that_another_server_overtakes_is_refused() {
    let bed = bed();
    let other = bed.other();
    other.table(&name()).unwrap();
    // It has looked at the record, and its commit is still to come.
    bed.store.after_get_of(CATALOGUE, move || {
        other.alter_options(&name(), |own| own.change_log = true).unwrap();
    });
    let change = bed.engine.alter_options(&name(), |own| own.exact_counts = true);
    assert_eq!(change.unwrap_err().kind(), ErrorKind::Conflict);
    assert!(bed.other().table(&name()).unwrap().schema.options.change_log);
}

#[test]
fn two_servers_take_a_name_once_and_no_id_twice() {
    for taken in ["u", "v"] {
        let bed = bed();
        let other = bed.other();
        // Between the look at what is there and the commit.
        bed.store.after_get_of(CATALOGUE, move || drop(other.create_table(plain(taken)).unwrap()));
        let created = bed.engine.create_table(plain("u"));
        assert_eq!(created.is_ok(), taken == "v");
        let of = |name: &str| bed.other().table(&plain(name).name).unwrap().id;
        assert!(of("t") < of(taken));
        if let Ok(created) = created {
            assert_ne!(created.id, of("v"));
        }
    }
}

fn expiring_by(attribute: &str) -> impl FnOnce(&mut TableOptions) + use<> {
    let source = TtlSource::Attribute(attribute.to_owned());
    move |options| options.ttl = Some(source)
}

/// Returns the seconds at which something is due.
fn due_times(store: &Watched) -> Vec<u64> {
    let second = |key: &Bytes| u64::from_be_bytes(key[1..9].try_into().unwrap());
    store.keys(DUE).iter().map(second).collect()
}

#[test]
fn an_expiry_that_is_set_while_another_one_is_looked_for_is_the_one_that_stays() {
    let Bed { store, clock, engine, table } = bed();
    let twice = item("b").with("early", Value::number(5)).with("late", Value::number(9));
    engine.write(Write::put(&table, twice)).unwrap();
    let other = engine.clone();
    store.after_scan_of(ROWS, move || {
        clock.advance(Duration::from_secs(1));
        other.alter_options(&name(), expiring_by("late")).unwrap();
    });
    // Whoever set the earlier one is told what stands.
    let table = engine.alter_options(&name(), expiring_by("early")).unwrap();
    assert!(store.was_met());
    assert_eq!(table.schema.options.ttl, Some(TtlSource::Attribute("late".to_owned())));
    assert_eq!((table.schema.options.ttl_pass, due_times(&store)), (None, vec![9]));
    assert_eq!(engine.verify().unwrap().findings, []);
}

#[test]
fn a_look_for_expiries_that_the_store_ends_is_told_and_done_later() {
    let Bed { store, engine, table, .. } = bed();
    engine.write(Write::put(&table, item("b").with("until", Value::number(5)))).unwrap();
    store.before_commit_to(DUE, || Err(StoreError::new(StoreErrorKind::Io, "a broken disk")));
    let error = engine.alter_options(&name(), expiring_by("until")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(due_times(&store), []);
    engine.resume_all_indexes().unwrap();
    assert_eq!(due_times(&store), [5]);
    assert_eq!(engine.table(&name()).unwrap().schema.options.ttl_pass, None);
}

#[test]
fn a_token_that_is_used_again_while_it_is_forgotten_stays() {
    let Bed { store, clock, engine, table } = bed();
    let token = |expires_at: u64| Token { token: b"t".to_vec(), request_hash: 1, expires_at };
    engine.write_all_once(&token(5), vec![]).unwrap();
    clock.advance(Duration::from_secs(10));
    let other = engine.clone();
    let again = vec![Write::put(&table, item("b"))];
    store.after_scan_of(TOKENS, move || {
        other.write_all_once(&token(1_000), again).unwrap();
    });
    engine.sweep(&mut SweepPosition::default(), 10).unwrap();
    let once = engine.write_all_once(&token(1_000), vec![]).unwrap();
    assert_eq!(once, shelfmark_engine::Once::Repeated);
}
