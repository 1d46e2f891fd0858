//! Random commits, flushes and reopens against an ordered map.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::contract::{Commit, Direction, KeyRange, Store as _, Write};
use crate::embedded::{EmbeddedStore, Options};

use super::support::{Scratch, bytes, commit_patiently, rows, small};

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<(u8, Change)>),
    Queue(Vec<(u8, Change)>),
    Maintain,
    Close,
    Drop,
    Check(u8, u8),
}

#[derive(Debug, Clone)]
enum Change {
    Put(u16),
    Delete,
    Add(i16),
}

fn changes() -> impl Strategy<Value = Vec<(u8, Change)>> {
    let change = prop_oneof![
        4 => any::<u16>().prop_map(Change::Put),
        2 => Just(Change::Delete),
        2 => any::<i16>().prop_map(Change::Add),
    ];
    prop::collection::vec((0..24_u8, change), 1..6)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => changes().prop_map(Step::Commit),
        8 => changes().prop_map(Step::Queue),
        1 => Just(Step::Maintain),
        1 => Just(Step::Close),
        1 => Just(Step::Drop),
        3 => (0..26_u8, 0..26_u8).prop_map(|(start, end)| Step::Check(start, end)),
    ]
}

/// Keys from 16 on are counters, the others hold values.
fn write(key: u8, change: &Change) -> Write {
    let name = bytes(&format!("k{key:02}"));
    match change {
        Change::Delete => Write::Delete { key: name },
        Change::Put(_) | Change::Add(_) if key < 16 => {
            let number = match change {
                Change::Put(number) => i64::from(*number),
                Change::Add(delta) => i64::from(*delta),
                Change::Delete => 0,
            };
            Write::Put { key: name, value: bytes(&number.to_string().repeat(20)) }
        }
        Change::Put(number) => {
            Write::Put { key: name, value: Write::counter_value(i64::from(*number)) }
        }
        Change::Add(delta) => Write::Add { key: name, delta: i64::from(*delta) },
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn apply(model: &mut Model, write: &Write) {
    match write {
        Write::Put { key, value } => {
            model.insert(key.to_vec(), value.to_vec());
        }
        Write::Delete { key } => {
            model.remove(&key[..]);
        }
        Write::Add { key, delta } => {
            let old = model.get(&key[..]).map_or(0, |value| Write::counter(value).unwrap());
            model.insert(key.to_vec(), Write::counter_value(old + delta).to_vec());
        }
        Write::PutIfAbsent { .. } | Write::PutStamped { .. } => panic!("not generated"),
    }
}

fn check(store: &EmbeddedStore, model: &Model, range: &KeyRange) {
    let snapshot = store.snapshot().unwrap();
    let up = rows(&*snapshot, range.clone(), Direction::Ascending, 3);
    let mut down = rows(&*snapshot, range.clone(), Direction::Descending, 5);
    down.reverse();
    assert_eq!(up, down);
    let expected: Vec<(&[u8], &[u8])> = model
        .iter()
        .filter(|(key, _)| range.contains(key))
        .map(|(key, value)| (&key[..], &value[..]))
        .collect();
    let got: Vec<(&[u8], &[u8])> = up.iter().map(|row| (&row.key[..], &row.value[..])).collect();
    assert_eq!(got, expected);
    for key in 0..26_u8 {
        let name = format!("k{key:02}").into_bytes();
        assert_eq!(snapshot.get(&name).unwrap().as_deref(), model.get(&name).map(|v| &v[..]));
    }
}

fn run(steps: &[Step]) {
    let scratch = Scratch::new();
    let options = || Options {
        memory_table_bytes: 4096,
        log_file_bytes: 1500,
        log_ahead_bytes: 700,
        ..small()
    };
    let mut store = scratch.open_with(options()).unwrap();
    let mut model = Model::new();
    for step in steps {
        match step {
            Step::Commit(changes) | Step::Queue(changes) => {
                let writes: Vec<Write> =
                    changes.iter().map(|(key, change)| write(*key, change)).collect();
                for write in &writes {
                    apply(&mut model, write);
                }
                let waits = matches!(step, Step::Commit(_))
                    || store.submit(Commit::of(writes.clone()), Box::new(|_| {})).is_err();
                if waits {
                    commit_patiently(&store, writes);
                }
            }
            Step::Maintain => drop(store.maintain().unwrap()),
            Step::Close => {
                store.close().unwrap();
                drop(store);
                store = scratch.open_with(options()).unwrap();
            }
            Step::Drop => {
                drop(store);
                store = scratch.open_with(options()).unwrap();
            }
            Step::Check(start, end) => {
                store.commit(Commit::default()).unwrap();
                let key = |number: &u8| bytes(&format!("k{number:02}"));
                check(&store, &model, &KeyRange::new(key(start), key(end)));
            }
        }
    }
    drop(store);
    check(&scratch.open_with(options()).unwrap(), &model, &KeyRange::all());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_an_ordered_map_that_survives(steps in prop::collection::vec(step(), 1..80)) {
        run(&steps);
    }
}
