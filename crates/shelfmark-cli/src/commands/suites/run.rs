//! The run: case after case, each in a space of its own, until all are done or somebody stops it.
//!
//! Invariant: however a run ends but by being killed, its spaces are removed, or it says which stay.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use shelfmark_conformance::{CONTRACT, Case, HISTORIES, Outcome, catch_panics};
use shelfmark_store::clock::{Clock as _, SystemClock};

use super::ground::Ground;
use super::show::{Show, counted, words};
use super::space::Space;
use crate::arguments::Verify;
use crate::cluster::cluster_options;
use crate::connect::{Interrupt, Listening};

/// A case that takes longer hangs: on a test bed the slowest takes seconds.
const CASE_MAX: Duration = Duration::from_secs(180);
/// The time for a case to end that was given up: longer than a call to a cluster that is gone.
const GIVEN_UP_MAX: Duration = Duration::from_secs(15);
/// The time between two looks at Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Seeds are small, so that they can be typed.
const SEEDS: u64 = 1_000_000;

pub(in crate::commands) fn run(verify: &Verify, address: &str) -> anyhow::Result<()> {
    let cases = chosen(verify.only.as_deref())?;
    let seed = match verify.seed {
        Some(seed) => seed,
        None => getrandom::u64().context("the operating system gives no random bytes")? % SEEDS,
    };
    let options = cluster_options(address, verify.place.tls.files()?.as_ref())?;
    let listening = Listening::start()?;
    let ground = Ground::open(options).with_context(|| format!("cannot try {address}"))?;
    catch_panics();
    let mut show = Show::new(cases.len());
    let outcome = in_spaces(&ground, (&cases, seed), &listening.interrupt, &mut show);
    show.clear();
    let run = ground.run().to_owned();
    let left = ground
        .close()
        .with_context(|| format!("key spaces {run}-… may be left; the next run removes them"));
    match (outcome, left) {
        (Err(error), Err(left)) => Err(anyhow!("{error:#}; {left:#}")),
        (Err(error), Ok(())) => {
            show.line(&format!("key spaces {run}-… are removed"))?;
            Err(error)
        }
        (Ok(()), left) => left,
    }
}

/// Returns the cases with `only` in their group or name.
fn chosen(only: Option<&str>) -> anyhow::Result<Vec<Case>> {
    let only = words(only.unwrap_or_default());
    let all = CONTRACT.iter().chain(HISTORIES).copied();
    let is_asked =
        |case: &Case| words(case.group).contains(&only) || words(case.name).contains(&only);
    let cases: Vec<Case> = all.filter(is_asked).collect();
    if cases.is_empty() {
        bail!("no case has {only:?} in its group or name; without --only all are run");
    }
    Ok(cases)
}

/// Runs all cases, and fails if one did.
fn in_spaces(
    ground: &Ground,
    (cases, seed): (&[Case], u64),
    interrupt: &Interrupt,
    show: &mut Show,
) -> anyhow::Result<()> {
    show.line(&format!(
        "{}, with seed {seed}, in key spaces {}-… that are removed",
        counted(cases.len(), "case"),
        ground.run(),
    ))?;
    match ground.remove_leftovers()? {
        0 => {}
        1 => show.line("removed what an earlier run had left")?,
        runs => show.line(&format!("removed what {runs} earlier runs had left"))?,
    }
    let clock = SystemClock::new();
    let began = clock.monotonic();
    let mut failed = 0;
    for (number, case) in (1..).zip(cases) {
        show.begins(case)?;
        let since = clock.monotonic();
        let space = Arc::new(Space::new(ground.of_case(number)));
        let ended = one(case, &space, seed, interrupt);
        show_one(case, &ended, clock.monotonic() - since, show)?;
        let stopped = format!("stopped behind {number} of {} cases", cases.len());
        // Where this fails the cluster is gone, and no case says anything about it any more.
        ground.remove(space.name()).with_context(|| stopped.clone())?;
        match ended {
            Ended::Told(Outcome::Held) => {}
            Ended::Told(Outcome::Failed(_)) => failed += 1,
            Ended::Interrupted => bail!("{stopped}: interrupted"),
            Ended::Hangs => bail!("{stopped}: one did not end; report it, or try again"),
        }
    }
    let seconds = (clock.monotonic() - began).as_secs_f64();
    let held = cases.len() - failed;
    show.line(&format!("\n{held} of {} held, in {seconds:.0} s", counted(cases.len(), "case")))?;
    if failed > 0 {
        bail!(
            "{failed} failed: do not trust this cluster with a store until it is known why; the same \
             transactions again: --suites --seed {seed}"
        );
    }
    Ok(())
}

/// The end of a case, as the run sees it.
enum Ended {
    Told(Outcome),
    Interrupted,
    /// It did not end in its time.
    Hangs,
}

fn one(case: &Case, space: &Arc<Space>, seed: u64, interrupt: &Interrupt) -> Ended {
    let clock = SystemClock::new();
    let began = clock.monotonic();
    let running = match case.start(Arc::clone(space) as _, seed) {
        Ok(running) => running,
        Err(error) => return Ended::Told(Outcome::Failed(format!("no thread: {error}"))),
    };
    let ended = loop {
        if let Some(outcome) = running.wait(LOOK_EVERY) {
            break Ended::Told(outcome);
        }
        if interrupt.is_wanted() {
            break Ended::Interrupted;
        }
        if clock.monotonic() - began > CASE_MAX {
            break Ended::Hangs;
        }
    };
    space.give_up();
    if !matches!(ended, Ended::Told(_)) {
        // It fails at its next call.
        let _ = running.wait(GIVEN_UP_MAX);
    }
    ended
}

fn show_one(case: &Case, ended: &Ended, took: Duration, show: &Show) -> anyhow::Result<()> {
    match ended {
        Ended::Told(outcome) => show.ended(case, outcome, took),
        Ended::Interrupted => show.stopped(case, "interrupted", took),
        Ended::Hangs => {
            let why = format!("did not end within {} s", CASE_MAX.as_secs());
            show.ended(case, &Outcome::Failed(why), took)
        }
    }
}
