//! `kill -9` at random moments under four writers: no acknowledged commit is missing, none is there
//! by halves, and nothing has to be repaired.
//!
//! It keeps everything that the kernel holds; what a power cut takes is the matter of `powercut`.

use std::path::Path;
use std::time::Duration;

use shelfmark_store::Durability;
use shelfmark_store::random::SplitMix;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_testkit::crash::judge::judge;
use shelfmark_testkit::crash::plan::Plan;
use shelfmark_testkit::crash::program::{Bench, Running, plain};
use shelfmark_testkit::crash::run::Arguments;
use shelfmark_testkit::seeds;

/// Kills of one store; then a new one is begun, since judging takes longer the more was written.
const ROUNDS: u64 = 5;

fn rounds(seed: u64) {
    let bench = Bench::new().unwrap();
    let mut random = SplitMix::new(seed);
    let plan = Plan { seed, threads: 4, keys: 40, large_bytes: 3000 };
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let interval = random.chance(250);
        let arguments = Arguments {
            plan,
            commits: u64::MAX / 2,
            durability: match interval {
                true => Durability::Interval(Duration::from_millis(20)),
                false => Durability::Sync,
            },
            ..Arguments::new(bench.store(), plan)
        };
        let program = Path::new(env!("CARGO_BIN_EXE_powercut-workload"));
        let mut running = Running::start(plain(program, &arguments)).unwrap();
        // Some are killed while they open, most while they write.
        let most = if random.chance(200) { 4 } else { 300 };
        let lines = random.below(most);
        for _ in 0..lines {
            assert!(running.line().unwrap().is_some(), "the program ended by itself");
        }
        ThreadSleeper.sleep(Duration::from_micros(random.below(3000)));
        running.kill().unwrap();
        let ended = running.end().unwrap();
        assert_eq!(ended.errors, "");
        let found = judge(&bench.store(), &plan, &ended.promise)
            .unwrap_or_else(|why| panic!("round {round}: {why}; told {:?}", ended.promise));
        for (thread, last) in found {
            // Each thread waits for one commit at a time.
            let told = ended.promise.last.get(&thread).copied().unwrap_or(0);
            assert!(told == 0 || last <= told + 1, "thread {thread}: {told} told, {last} there");
            acknowledged += u64::from(told > 0);
        }
    }
    assert!(acknowledged > 0, "every kill came too early");
}

#[test]
fn kills_under_four_writers_lose_nothing() {
    seeds::each(2, 40, rounds);
}
