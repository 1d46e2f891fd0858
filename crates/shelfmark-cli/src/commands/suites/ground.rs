//! The key spaces of one run on a cluster: a name for the run, one for each case, and their end.
//!
//! The run holds its own space open, so that another run sees that it is there and leaves its spaces
//! alone. What it is not: locked against anything else; whoever opens a space of these by hand is in it.
//!
//! Invariant: nothing is removed but spaces with names that this file makes, and none of a run that is
//! alive.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use shelfmark_store::Store as _;
use shelfmark_store::clock::SystemClock;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};
use shelfmark_tikv::{Options, Spaces, TikvStore};

/// The beginning of the name of every space that a run makes.
const NAMES: &str = "shelfmark-verify-";
/// Hexadecimal digits that tell runs apart.
const RUN_DIGITS: usize = 10;
/// Digits of a case's number, behind a hyphen.
const CASE_DIGITS: usize = 3;
/// Looks at the cluster until nothing is there any more.
const LOOKS_MAX: usize = 20;
/// The time between two looks, in which what a case had under way ends.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// The part of a cluster that a run works in.
pub(super) struct Ground {
    options: Options,
    spaces: Spaces,
    run: String,
    /// Open as long as the run lasts.
    alive: TikvStore,
}

impl Ground {
    /// Connects to the cluster, and begins a run.
    pub(super) fn open(options: Options) -> anyhow::Result<Self> {
        // The old versions of others are theirs.
        let options = Options { collects: false, ..options };
        let spaces = Spaces::connect(options.clone())?;
        let mut bytes = [0; RUN_DIGITS / 2];
        getrandom::fill(&mut bytes).context("the operating system gives no random bytes")?;
        let run = format!("{NAMES}{}", hex::encode(bytes));
        let own = Options { space: run.clone(), ..options.clone() };
        let alive = TikvStore::open(own, Arc::new(SystemClock::new()))?;
        Ok(Self { options, spaces, run, alive })
    }

    /// Returns the name of the run, with which those of its spaces begin.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// Returns the options of a store in the space of a case.
    pub(super) fn of_case(&self, number: usize) -> Options {
        let space = format!("{}-{number:0CASE_DIGITS$}", self.run);
        Options { space, ..self.options.clone() }
    }

    /// Removes a space of this run.
    pub(super) fn remove(&self, space: &str) -> anyhow::Result<()> {
        anyhow::ensure!(space.starts_with(&self.run), "{space} is not a space of this run");
        self.spaces.remove(space)?;
        Ok(())
    }

    /// Removes what runs have left that ended without doing so; returns how many there were.
    pub(super) fn remove_leftovers(&self) -> anyhow::Result<usize> {
        let mut runs: Vec<String> = self.spaces.names(NAMES)?.iter().filter_map(run_of).collect();
        runs.dedup();
        let mut removed = 0;
        for run in runs {
            if run == self.run || self.spaces.is_in_use(&run)? {
                continue;
            }
            for space in self.spaces.names(&run)?.iter().filter(|name| run_of(name).is_some()) {
                self.spaces.remove(space)?;
            }
            removed += 1;
        }
        Ok(removed)
    }

    /// Ends the run: none of its spaces holds a key any more.
    pub(super) fn close(self) -> anyhow::Result<()> {
        let own = format!("{}-", self.run);
        for _ in 0..LOOKS_MAX {
            let left = self.spaces.names(&own)?;
            if left.is_empty() {
                self.alive.close()?;
                self.spaces.remove(&self.run)?;
                return Ok(());
            }
            for space in &left {
                self.spaces.remove(space)?;
            }
            ThreadSleeper.sleep(BETWEEN_LOOKS);
        }
        anyhow::bail!("somebody writes to key spaces of this run, {own}…, all the time")
    }
}

/// Returns the run that made a space, if one did.
fn run_of(space: impl AsRef<str>) -> Option<String> {
    let rest = space.as_ref().strip_prefix(NAMES)?;
    let (run, case) = rest.split_at_checked(RUN_DIGITS)?;
    let is_run = run.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_case = case.strip_prefix('-').is_some_and(|number| {
        number.len() == CASE_DIGITS && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    (is_run && (case.is_empty() || is_case)).then(|| format!("{NAMES}{run}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_of_others_are_of_no_run() {
        let run = Some("shelfmark-verify-0123456789".to_owned());
        assert_eq!(run_of("shelfmark-verify-0123456789"), run);
        assert_eq!(run_of("shelfmark-verify-0123456789-007"), run);
        for other in [
            "",
            "shop",
            "shelfmark-verify-",
            "shelfmark-verify-012345678",
            "shelfmark-verify-0123456789a",
            "shelfmark-verify-0123456789-07",
            "shelfmark-verify-0123456789-00a",
            "shelfmark-verify-0123456789-0070",
            "shelfmark-verify-012345678x-007",
            "my-shelfmark-verify-0123456789",
        ] {
            assert_eq!(run_of(other), None, "{other}");
        }
    }
}
