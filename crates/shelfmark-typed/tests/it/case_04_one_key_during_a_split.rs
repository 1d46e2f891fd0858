//! Case 4: two writers create the same key during a split: exactly one entity.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use shelfmark_typed::ErrorKind;

use crate::case_03_parallel_splits::{check_shards, sharded};
use crate::drivers::{n, on_every_driver};

#[test]
fn one_creates_and_the_other_is_told() {
    on_every_driver(|bed| {
        let table = sharded(bed, 3);
        for round in 0..5 {
            let partition = table.partition(format!("p{round}"));
            // Two writers wait in the hook, which runs between the two commits of the split.
            let (inside, done) = (Arc::new(Barrier::new(3)), Arc::new(Barrier::new(3)));
            let waits = (Arc::clone(&inside), Arc::clone(&done));
            let first = AtomicBool::new(true);
            let hook = table.on_split(move |_| {
                if first.swap(false, Ordering::SeqCst) {
                    waits.0.wait();
                    waits.1.wait();
                }
                Ok(())
            });
            let outcomes: Vec<_> = std::thread::scope(|scope| {
                let writers: Vec<_> = (0..2)
                    .map(|writer| {
                        let partition = partition.clone();
                        let (inside, done) = (Arc::clone(&inside), Arc::clone(&done));
                        scope.spawn(move || {
                            inside.wait();
                            let outcome = partition.create("c", n(writer));
                            done.wait();
                            outcome
                        })
                    })
                    .collect();
                for key in ["a", "b", "d", "e"] {
                    partition.put(key, n(9)).unwrap();
                }
                writers.into_iter().map(|writer| writer.join().unwrap()).collect()
            });
            drop(hook);
            let created = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            let told = |outcome: &&Result<(), shelfmark_typed::Error>| {
                outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
            };
            assert_eq!((created, outcomes.iter().filter(told).count()), (1, 1));
            assert_eq!(partition.begins_with("c").count().unwrap(), 1);
            assert_eq!(partition.count().unwrap(), 5);
            check_shards(&partition, 3);
        }
    });
}
