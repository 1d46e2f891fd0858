//! Random steps on the engine and on plain maps: every answer must be the same.
//!
//! Tables of every shape, written one by one, several at once and in transactions, queried and
//! scanned in every way with indexes that come and go, swept, purged, dropped and reopened, on
//! every driver. Beside the answers it checks what they cost (rows read are the rows returned
//! unless a filter drops some), the counts, and that the change log leads to what is there.
//!
//! A failing run prints its seed and the shortest steps that still fail. `SHELFMARK_SEED=n` replays
//! a seed, `SHELFMARK_LONG=1` runs many.

mod answer;
mod oracle;
mod plan;
mod reads;
mod spec;
mod step;
mod world;

use proptest::test_runner::{Config, RngSeed, TestRunner};
use shelfmark_store::fault_injection::FaultOptions;
use shelfmark_testkit::seeds;

use self::world::World;
use crate::drivers::{Bed, embedded, meaner, memory, restless};

fn run(seed: u64, cases: u32, most: usize, build: impl Fn() -> Bed) {
    let config = Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&step::steps(most), |steps| {
        let mut world = World::new(build());
        for step in &steps {
            world.step(step);
        }
        world.end();
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn in_memory() {
    seeds::each(6, 600, |seed| run(seed, 8, 120, memory));
}

#[test]
fn on_the_meanest_driver() {
    seeds::each(4, 400, |seed| {
        run(seed, 6, 80, || {
            let options = FaultOptions::new(seed);
            meaner(FaultOptions { conflict: 100, busy: 50, undetermined: 0, late: 0, ..options })
        });
    });
}

#[test]
fn on_disk() {
    seeds::each(1, 40, |seed| run(seed, 3, 60, embedded));
}

#[test]
fn on_disk_while_it_is_written_out() {
    seeds::each(1, 40, |seed| run(seed + 100, 3, 60, restless));
}
