//! Checks the judge itself: it must notice what is wrong.
//!
//! A pattern that was refused is run here as if it were certified, on the state of its witness; rows
//! are taken away behind the judge's back; ranges are compared with those of other patterns.

use std::path::PathBuf;

use shelfmark_design::trial::{Shelf as _, Trial};
use shelfmark_design::{Document, Status};

use crate::judge::{Stage, open};

const SEEDS: [&str; 7] =
    ["blog", "followers", "openchat", "phonebook", "publication", "reddit", "twissandra"];

fn seed(name: &str) -> Document {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../models/seeds")
        .join(format!("{name}.shelf"));
    let text = std::fs::read_to_string(&path).expect("a model");
    Document::parse(name, &text).unwrap_or_else(|report| panic!("{report}"))
}

/// Calls `see` with each refused pattern that has a state to show its harm.
fn witnesses(mut see: impl FnMut(&Trial<'_>, usize, bool, &Stage<'_>)) {
    for name in SEEDS {
        let document = seed(name);
        for trial in document.trials() {
            let layout = trial.layout().expect("a layout");
            let patterns: Vec<(usize, bool)> = trial
                .certificates()
                .enumerate()
                .filter(|(_, one)| one.status == Status::Refused)
                .map(|(pattern, one)| (pattern, one.write))
                .collect();
            for (pattern, write) in patterns {
                let Ok(Some((scene, _))) = trial.witness(pattern) else { continue };
                let stage = Stage::new(&trial, &layout, scene, 1).expect("a stage");
                see(&trial, pattern, write, &stage);
            }
        }
    }
}

#[test]
fn what_was_refused_is_not_taken_for_certified() {
    let (mut reads, mut writes) = (0, 0);
    witnesses(|trial, pattern, write, stage| {
        let certificate = trial.certificates().nth(pattern).expect("a certificate");
        let (_, call) = trial.witness(pattern).expect("a state").expect("a witness");
        let mut verdict = open(trial, certificate);
        let place = format!("{}.{}", trial.schema(), certificate.pattern);
        if !write {
            let run = stage.read(pattern, Status::Certified, &call, &mut verdict);
            assert!(run.is_err(), "{place} passes for certified: {}", certificate.reason);
            reads += 1;
        } else if stage.harm(pattern, &call).expect("runs").is_some() {
            // Rows that lie under another's key are lost in the state already; the others are seen.
            let lost = certificate.reason.contains("one row") || certificate.reason.contains("key");
            let run = stage.write(pattern, &call, &mut verdict);
            assert!(run.is_err() || lost, "{place} passes for certified: {}", certificate.reason);
            writes += 1;
        }
    });
    assert!(reads > 10 && writes > 2, "{reads} reads and {writes} writes were tried");
}

#[test]
fn a_row_that_is_missing_is_missed() {
    let document = seed("followers");
    for trial in document.trials() {
        let layout = trial.layout().expect("a layout");
        let stage = Stage::new(&trial, &layout, trial.scene(4, 12), 4).expect("a stage");
        stage.holds(&stage.images).expect("all is there");
        let image = stage.images.first().expect("a row").clone();
        let removed = stage.bench.transact(|session| session.remove(image.table, &image.key));
        removed.expect("removed");
        let said = stage.holds(&stage.images).expect_err("a row is gone");
        assert!(said.contains("other rows"), "{said}");
        stage.bench.transact(|session| session.put(&image)).expect("put back");
        stage.holds(&stage.images).expect("all is there again");
    }
}

/// Checks that entries are counted as well as rows: a state whose rows say that there are more is
/// refused.
#[test]
fn an_index_entry_too_few_is_missed() {
    let document = seed("followers");
    let trials = document.trials();
    let trial = trials.iter().find(|one| one.schema() == "corrected").expect("a schema");
    let layout = trial.layout().expect("a layout");
    let stage = Stage::new(trial, &layout, trial.scene(4, 12), 4).expect("a stage");
    let index = stage.images.iter().find_map(|image| image.entries.keys().next().copied());
    let index = index.expect("a row with an entry");
    let mut fewer = stage.images.clone();
    let image = fewer.iter_mut().find(|one| one.entries.contains_key(&index)).expect("a row");
    image.entries.remove(&index);
    let said = stage.counts(&fewer).expect_err("an entry too many");
    assert!(said.contains("index"), "{said}");
    stage.counts(&stage.images).expect("as many as rows");
}

#[test]
fn a_range_is_not_taken_for_another() {
    let document = seed("followers");
    let trials = document.trials();
    let trial = trials.iter().find(|one| one.schema() == "corrected").expect("a schema");
    let layout = trial.layout().expect("a layout");
    let stage = Stage::new(trial, &layout, trial.scene(4, 12), 4).expect("a stage");
    let reads: Vec<usize> =
        trial.certificates().enumerate().filter(|(_, one)| !one.write).map(|(at, _)| at).collect();
    let mut told_apart = 0;
    for pattern in &reads {
        let session = stage.bench.session();
        let call = trial.call(*pattern, &stage.scene, 9);
        trial.read(*pattern, &stage.scene, &call, &session).expect("runs");
        for access in session.log().iter() {
            stage.claimed(*pattern, access).expect("its own range");
            for other in reads.iter().filter(|other| *other != pattern) {
                let same = trial.range(*other, 0) == trial.range(*pattern, 0);
                let claimed = stage.claimed(*other, access);
                assert!(same || claimed.is_err(), "{pattern} passes for {other}");
                told_apart += usize::from(!same);
            }
        }
    }
    assert!(told_apart > 3, "{told_apart} pairs");
}
