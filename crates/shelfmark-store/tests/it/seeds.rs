//! Which seeds a test runs, and how a failing one is told.
//!
//! `SHELFMARK_SEED=n` runs that seed alone; `SHELFMARK_LONG=1` runs the long list.

use std::ops::Range;

/// Runs `test` for each seed of the short or the long list, and says which one failed.
pub(crate) fn each(short: u64, long: u64, mut test: impl FnMut(u64)) {
    for seed in chosen(short, long) {
        let told = ReportSeed(seed);
        test(seed);
        drop(told);
    }
}

fn chosen(short: u64, long: u64) -> Range<u64> {
    if let Ok(seed) = std::env::var("SHELFMARK_SEED") {
        let seed: u64 = seed.parse().expect("SHELFMARK_SEED is a number");
        return seed..seed + 1;
    }
    let is_long = std::env::var("SHELFMARK_LONG").is_ok_and(|value| value == "1");
    0..if is_long { long } else { short }
}

/// Prints the seed if the test that ran with it panicked.
struct ReportSeed(u64);

impl Drop for ReportSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {0}; replay with SHELFMARK_SEED={0}", self.0);
        }
    }
}
