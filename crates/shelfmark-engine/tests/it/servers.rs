//! Several servers on one store: what one changes, the others work with.
//!
//! They need a cluster; `cargo xtask tikv` starts one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use shelfmark_engine::{ErrorKind, Get, Scan, Write};
use shelfmark_keycode::KeyType;
use shelfmark_model::{
    IndexKind, IndexSchema, IndexState, Item, Key, KeyColumn, Projected, TableOptions, Value,
};

use crate::drivers::{Bed, plain, tikv_servers};

fn both(case: impl Fn(&Bed, &Bed)) {
    let [one, other] = tikv_servers();
    case(&one, &other);
    case(&other, &one);
    for bed in [one, other] {
        bed.engine.store().close().unwrap();
    }
}

fn item(sk: impl ToString, tag: &str) -> Item {
    Item::new().with("pk", "p").with("sk", sk.to_string()).with("tag", tag)
}

fn by_tag(name: &str) -> IndexSchema {
    IndexSchema {
        name: name.to_owned(),
        kind: IndexKind::Secondary,
        partition: vec![KeyColumn::new("tag", KeyType::Text)],
        sort: Vec::new(),
        projected: Projected::All,
        state: IndexState::Public,
    }
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_table_is_there_and_gone_on_every_server_at_once() {
    both(|one, other| {
        for _ in 0..3 {
            let made = one.create_table(plain("t")).unwrap();
            let name = made.schema.name.clone();
            let seen = other.engine.table(&name).unwrap();
            assert_eq!(made.id, seen.id);
            other.put(&seen, item("a", "x"));
            let get = Get::new(Key::pair("p", "a"));
            assert!(one.engine.get(&made, &get).unwrap().item.is_some());
            other.drop_table(&name).unwrap();
            assert_eq!(one.engine.table(&name).unwrap_err().kind(), ErrorKind::NotFound);
            let lost = one.write(Write::put(&made, item("b", "x")));
            assert_eq!(lost.unwrap_err().kind(), ErrorKind::NotFound);
        }
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn options_hold_for_writers_of_every_server() {
    both(|one, other| {
        let made = one.create_table(plain("t")).unwrap();
        let name = made.schema.name.clone();
        let seen = other.engine.table(&name).unwrap();
        other.put(&seen, item("a", "x"));
        // From here on every put has to look at what it replaces.
        one.alter_options(&name, |options: &mut TableOptions| options.change_log = true).unwrap();
        other.put(&seen, item("a", "y"));
        let current = one.engine.table(&name).unwrap();
        // A change is shown once no server can commit an earlier one.
        while one.engine.changes(&current, None, 10).unwrap().is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(one.engine.changes(&current, None, 10).unwrap().len(), 1);
        one.drop_table(&name).unwrap();
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn an_index_is_built_while_writers_of_two_servers_go_on() {
    both(|one, other| {
        let made = one.create_table(plain("t")).unwrap();
        let name = made.schema.name.clone();
        let is_done = AtomicBool::new(false);
        let writes = AtomicU64::new(0);
        let writer = |bed: &Bed, seed: u64| {
            let table = bed.engine.table(&name).unwrap();
            let mut random = shelfmark_store::random::SplitMix::new(seed);
            while !is_done.load(Ordering::SeqCst) {
                let sk = random.below(40);
                let write = match random.chance(500) {
                    true => Write::put(&table, item(sk, &random.below(5).to_string())),
                    false => Write::delete(&table, Key::pair("p", sk.to_string().as_str())),
                };
                bed.write(write).unwrap();
                writes.fetch_add(1, Ordering::SeqCst);
            }
        };
        std::thread::scope(|scope| {
            for seed in 0..3 {
                scope.spawn(move || writer(one, seed));
                scope.spawn(move || writer(other, 10 + seed));
            }
            for index in ["first", "second"] {
                let before = writes.load(Ordering::SeqCst);
                one.add_index(&name, by_tag(index)).unwrap();
                while writes.load(Ordering::SeqCst) < before + 20 {
                    std::thread::yield_now();
                }
            }
            is_done.store(true, Ordering::SeqCst);
        });
        for bed in [one, other] {
            let table = bed.engine.table(&name).unwrap();
            let all = |scan: Scan| {
                let mut items: Vec<Item> = bed.engine.scan(&table, &scan).unwrap().items;
                items
                    .sort_by_key(|item| item.get("sk").and_then(Value::as_text).map(str::to_owned));
                items
            };
            let rows = all(Scan::default());
            for index in ["first", "second"] {
                assert_eq!(
                    all(Scan { index: Some(index.to_owned()), ..Scan::default() }),
                    rows,
                    "{index}"
                );
            }
        }
        one.drop_table(&name).unwrap();
    });
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn a_row_in_chunks_is_replaced_whole_by_a_server_that_never_met_one() {
    both(|one, other| {
        let made = one.create_table(plain("t")).unwrap();
        let name = made.schema.name.clone();
        let seen = other.engine.table(&name).unwrap();
        // Neither looks before it puts.
        other.put(&seen, item("a", "small"));
        one.put(&made, item("a", "large").with("body", "b".repeat(200_000)));
        other.put(&seen, item("a", "small again"));
        let verification = one.engine.verify().unwrap();
        assert!(verification.findings.is_empty(), "{:?}", verification.findings);
        one.drop_table(&name).unwrap();
    });
}
