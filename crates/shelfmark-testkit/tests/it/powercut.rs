//! Power cuts: every store that one could leave opens, holds what was promised and nothing by
//! halves, verifies clean and takes writes; and no sync of ours could be left out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use shelfmark_store::Durability;
use shelfmark_testkit::crash::plan::Plan;
use shelfmark_testkit::crash::run::Arguments;
use shelfmark_testkit::crash::trial::Trial;
use shelfmark_testkit::powercut::cuts::Effort;
use shelfmark_testkit::seeds;

use crate::powercut_recorded::{Recorded, is_long, killed, life, small, torn};

fn interval() -> Durability {
    Durability::Interval(Duration::from_millis(70))
}

/// Where to kill: while the store is created, in its first log files, while its tree is flushed.
const KILLS: [(&str, u32); 8] = [
    ("/root", 1),
    ("/store", 1),
    ("/store", 3),
    ("/log", 1),
    ("/log", 3),
    ("/tree", 2),
    ("/tree", 4),
    ("/tree", 6),
];

/// Fewest cuts of a whole life, and of one that a kill ended: how far that one came before the kill
/// is a matter of how busy the machine is.
const CUTS_MIN: usize = 30;
const CUTS_BEFORE_A_KILL_MIN: usize = 10;

fn survives((recorded, mut trial): (Recorded, Trial), cuts_min: usize) {
    let effort = if is_long() { Effort::long(1) } else { Effort::short(1) };
    let outcome = trial.run(|_| false, effort).unwrap();
    if let Some(why) = outcome.failure {
        recorded.fail(&why);
    }
    // Enough was pending at these cuts to make a difference.
    assert!(outcome.cuts > cuts_min && outcome.judged > outcome.cuts, "{outcome:?}");
}

#[test]
fn a_life_survives_every_cut() {
    survives(life(1, Durability::Sync), CUTS_MIN);
}

#[test]
fn a_life_with_an_interval_survives_every_cut() {
    survives(life(2, interval()), CUTS_MIN);
}

#[test]
fn a_kill_and_a_cut_after_it_are_survived() {
    for (path_end, count) in KILLS {
        survives(killed(path_end, count), CUTS_BEFORE_A_KILL_MIN);
    }
    survives(torn(), CUTS_BEFORE_A_KILL_MIN);
}

/// Larger lives of several threads, from seeds.
#[test]
fn seeded_lives_survive_cuts() {
    seeds::each(1, 60, |seed| {
        let recorded = Recorded::new();
        let durability = if seed % 3 == 2 { interval() } else { Durability::Sync };
        let commits = if is_long() { 60 } else { 8 };
        let plan = Plan { threads: 1 + seed % 5, keys: 30, large_bytes: 5000, seed };
        let plan = if is_long() { plan } else { Plan { threads: 3, ..plan } };
        let arguments = Arguments {
            plan,
            commits,
            maintain_every: 25,
            ..small(&recorded.bench, seed, durability)
        };
        let syncs = u32::try_from(10 + seed % 37).unwrap_or(10);
        recorded.run_until_sync(&Arguments { commits: 600, ..arguments.clone() }, "", 3 * syncs);
        recorded.run(&arguments);
        let mut trial = recorded.trial(plan, durability);
        let effort = Effort { all_upto: 3, cases_max: if is_long() { 40 } else { 6 }, seed };
        let outcome = trial.run(|_| false, effort).unwrap();
        if let Some(why) = outcome.failure {
            recorded.fail(&why);
        }
        assert!(outcome.judged > 20, "{outcome:?}");
    });
}

/// Leaves frames out that say only how one came to the place, so that a site is a place.
fn place(site: &str) -> String {
    const WAYS: [&str; 14] = [
        // Shown or not, as the compiler chose.
        "layout::create",
        "CommitThread::work",
        "commit_thread::run",
        // A group is written by the commit thread or by the thread that waits for it, as it comes.
        "commit_thread::work",
        "leader::write",
        "leader::lead",
        "Store::lead",
        "Store::commit",
        "maintenance::work",
        "maintenance::run",
        "open::start_threads",
        "Inner::maintain",
        "Store::maintain",
        "EmbeddedStore::open",
    ];
    let frames: Vec<&str> = site.split(" < ").filter(|frame| !WAYS.contains(frame)).collect();
    frames.join(" < ")
}

/// Places whose sync alone may be left out, because another one comes before anything relies on
/// it, and that other place, if leaving out both must be noticed.
const COVERED: [(&str, Option<&str>); 7] = [
    // A function of `vfs` never returns with a name that is not synced; creating a store does not
    // rely on it, because it may have been killed within it.
    (
        "root: vfs::sync_folder < vfs::create_folder < open::open_with",
        Some("root: vfs::sync_folder < open::open_with"),
    ),
    (
        "root: vfs::sync_folder < open::open_with",
        Some("root: vfs::sync_folder < vfs::create_folder < open::open_with"),
    ),
    (
        "store: vfs::sync_folder < vfs::create_folder < open::open_with",
        Some("store: vfs::sync_folder < open::open_with"),
    ),
    // A store that was not closed has its folder synced when it is opened, also a new one.
    (
        "store: vfs::sync_folder < vfs::replace_with < vfs::replace < layout::write_superblock < \
         open::open_with",
        Some("store: vfs::sync_folder < open::sync_names < open::open_with"),
    ),
    // What comes back is removed again.
    ("store: vfs::sync_folder < vfs::remove_tree < open::open_with", None),
    // What comes back is overwritten by the file that is created next, and its name synced.
    ("log: vfs::sync_folder < vfs::remove < recovery::settle < open::open_with", None),
    // The cut file is synced once more, before the next is created.
    (
        ".log: vfs::truncate < recovery::settle < open::open_with",
        Some(".log: recovery::settle < open::open_with"),
    ),
];

/// So many lives more are recorded for syncs whose loss has hurt none yet.
const MORE_LIVES: u64 = 15;

#[test]
fn leaving_out_any_sync_of_ours_is_noticed() {
    let mut noticed: BTreeMap<String, bool> = BTreeMap::new();
    look(&mut noticed, torn(), |_| true);
    for (path_end, count) in KILLS {
        look(&mut noticed, killed(path_end, count), |_| true);
    }
    look(&mut noticed, life(3, Durability::Sync), |_| true);
    look(&mut noticed, life(4, interval()), |_| true);
    // Threads flush and remove files when they come to it: what one life leaves nothing to lose for,
    // another one does.
    for seed in 5..5 + MORE_LIVES {
        let missing = unnoticed(&noticed);
        if missing.is_empty() {
            break;
        }
        let durability = if seed % 2 == 0 { interval() } else { Durability::Sync };
        look(&mut noticed, life(seed, durability), |place| missing.contains(place));
    }
    // Those of the bought tree are reported, not demanded.
    for (place, is_noticed) in noticed.iter().filter(|(place, _)| is_tree(place)) {
        println!("{}: {place}", if *is_noticed { "noticed" } else { "not noticed" });
    }
    let unnoticed = unnoticed(&noticed);
    assert!(unnoticed.is_empty(), "left out and not noticed: {unnoticed:#?}");
    assert!(noticed.len() > 25, "too few places: {noticed:#?}");
}

fn is_tree(place: &str) -> bool {
    place.contains("lsm_tree") || place.contains("Tree::open_unchecked")
}

/// The places of ours that are not covered by others and whose syncs nobody has missed yet.
fn unnoticed(noticed: &BTreeMap<String, bool>) -> Vec<String> {
    let is_ours =
        |place: &str| !is_tree(place) && !COVERED.iter().any(|(covered, _)| *covered == place);
    let missing = noticed.iter().filter(|(place, is_noticed)| !**is_noticed && is_ours(place));
    missing.map(|(place, _)| place.clone()).collect()
}

/// Leaves out the syncs of each wanted place in turn, and notes whether a case fails.
fn look(
    noticed: &mut BTreeMap<String, bool>,
    (_recorded, mut trial): (Recorded, Trial),
    is_wanted: impl Fn(&String) -> bool,
) {
    let mut places: BTreeSet<String> = trial.sites().iter().map(|own| place(own)).collect();
    for (one, other) in COVERED {
        if let Some(other) = other
            && places.contains(one)
            && places.contains(other)
        {
            places.insert(format!("{one} and {other}"));
        }
    }
    for own in places.into_iter().filter(is_wanted) {
        let known = noticed.entry(own.clone()).or_default();
        if !*known {
            let left_out: Vec<&str> = own.split(" and ").collect();
            let skip = |site: &str| left_out.contains(&place(site).as_str());
            *known = trial.run(skip, Effort::short(5)).unwrap().failure.is_some();
        }
    }
}
