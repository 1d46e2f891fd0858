//! Selects the seeds that a test runs, and reports a failing one.
//!
//! `SHELFMARK_SEED=n` runs that seed alone; `SHELFMARK_LONG=1` runs the long list.
//!
//! Invariant: without these variables the list is the same everywhere.

use std::ops::Range;

/// Runs `test` for each seed: `0..short`, or `0..long` when `SHELFMARK_LONG` is 1, or the one that
/// `SHELFMARK_SEED` names. When `test` panics, its seed is printed.
pub fn each(short: u64, long: u64, mut test: impl FnMut(u64)) {
    let seed = std::env::var("SHELFMARK_SEED").ok();
    let is_long = std::env::var("SHELFMARK_LONG").is_ok_and(|value| value == "1");
    for seed in chosen(seed.as_deref(), if is_long { long } else { short }) {
        let told = ReportSeed(seed);
        test(seed);
        drop(told);
    }
}

/// Returns the seeds to run; a seed that is no number runs none of them but fails as 0 would.
fn chosen(seed: Option<&str>, count: u64) -> Range<u64> {
    match seed {
        Some(seed) => {
            let seed = seed.trim().parse().unwrap_or(0);
            seed..seed.saturating_add(1)
        }
        None => 0..count,
    }
}

/// Prints the seed if the test that ran with it panicked.
struct ReportSeed(u64);

impl Drop for ReportSeed {
    #[expect(clippy::print_stderr, reason = "a test that fails must say how to see it again")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {0}; replay with SHELFMARK_SEED={0}", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn a_seed_runs_alone() {
        assert_eq!(chosen(None, 3), 0..3);
        assert_eq!(chosen(Some("41"), 3), 41..42);
    }
}
