//! Case 5: a failing split hook: the split is tried again, the write is not lost, the error is
//! visible.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use shelfmark_typed::Registry;

use crate::case_03_parallel_splits::{check_shards, sharded};
use crate::drivers::{n, on_every_driver};

#[test]
fn a_failing_hook_delays_the_split_and_nothing_else() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let partition = table.partition("p");
        let failures = Arc::new(AtomicU32::new(3));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (left, events) = (Arc::clone(&failures), Arc::clone(&seen));
        let _hook = table.on_split(move |split| {
            events.lock().unwrap().push(split.clone());
            match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)) {
                Ok(_) => Err("no canister to be had".into()),
                Err(_) => Ok(()),
            }
        });
        for key in ["a", "b", "c", "d"] {
            partition.put(key, n(1)).unwrap();
        }
        // The write that tipped it is there, and the error can be seen.
        assert!(partition.exists("d").unwrap());
        let failed = table.split_failures();
        assert_eq!((failed.len(), failed[0].attempts, failed[0].pk.as_str()), (1, 1, "p"));
        assert_eq!(failed[0].error, "no canister to be had");
        let waiting = partition.shards().unwrap();
        assert_eq!((waiting.len(), waiting[0].splitting, waiting[0].count), (1, true, 4));
        // Writes go on and count while it waits; those that create something try again.
        partition.put("e", n(1)).unwrap();
        partition.delete("a").unwrap();
        assert_eq!(table.split_failures()[0].attempts, 2);
        assert_eq!(partition.shards().unwrap()[0].count, 4);
        // So does the upkeep.
        assert_eq!(table.split_due().unwrap(), 0);
        assert_eq!(table.split_failures()[0].attempts, 3);
        assert!(table.split_due().unwrap() > 0);
        assert_eq!(table.split_failures(), []);
        check_shards(&partition, 3);
        let seen = seen.lock().unwrap();
        assert!(seen.len() >= 4, "told again until it succeeded");
        assert!(seen[..4].iter().all(|split| *split == seen[0]), "of the same split");
        assert_eq!((seen[0].pk.as_str(), seen[0].at.as_str()), ("p", "c"));
    });
}

#[test]
fn a_split_that_waits_survives_a_restart() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        let partition = table.partition("p");
        let hook = table.on_split(|_| Err("not now".into()));
        partition.batch_put((0..6).map(|i| (format!("k{i}"), n(i)))).unwrap();
        assert!(partition.shards().unwrap()[0].splitting);
        drop(hook);
        // Another engine over the same store remembers nothing but what is written.
        let environment = bed.engine.environment().clone();
        let engine =
            shelfmark_engine::Engine::open(Arc::clone(bed.engine.store()), environment).unwrap();
        let registry = Registry::open(&engine).unwrap();
        let database = registry.environment("default").unwrap().database("default").unwrap();
        let again = shelfmark_typed::EntityTable::named(&database, "sharded").unwrap();
        let partition = again.partition("p");
        assert_eq!(partition.shards().unwrap()[0].count, 6);
        partition.put("k6", n(6)).unwrap();
        check_shards(&partition, 3);
    });
}

#[test]
fn hooks_of_other_tables_and_dropped_ones_are_not_told() {
    on_every_driver(|bed| {
        let table = sharded(bed, 1);
        let other = bed.entities("other");
        let _other = other.on_split(|_| Err("not mine".into()));
        drop(table.on_split(|_| Err("dropped".into())));
        table.partition("p").batch_put([("a", n(1)), ("b", n(2))]).unwrap();
        check_shards(&table.partition("p"), 1);
    });
}
