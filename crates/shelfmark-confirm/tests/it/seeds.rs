//! The seeds, and the model of all abilities, at several scales.

use shelfmark_confirm::{Options, Report, confirm};
use shelfmark_design::{Document, Status};

use crate::{SEEDS, parse, read, seed};

fn run(name: &str, document: &Document, options: &Options) -> Report {
    let report = confirm(document, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    for verdict in &report.verdicts {
        let run = matches!(verdict.status, Status::Certified | Status::Multi);
        assert!(!run || verdict.calls > 0, "{name} {}: not run", verdict.pattern);
        if verdict.status == Status::Certified && !verdict.write && verdict.ok {
            assert_eq!(verdict.ranges, verdict.calls, "{name} {}: one range", verdict.pattern);
        }
    }
    report
}

#[test]
fn the_engine_does_what_the_proofs_say_of_the_seeds() {
    let wrong: Vec<&str> = SEEDS
        .into_iter()
        .filter(|name| !run(name, &seed(name), &Options::default()).ok())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn loops_follow_ups_filters_counts_and_unions_hold_on_the_engine() {
    let text = read("crates/shelfmark-design-prove/src/tests/features.shelf");
    let report = run("features", &parse("features", &text), &Options::default());
    assert!(report.ok());
    let multi = report.verdicts.iter().filter(|one| one.status == Status::Multi).count();
    assert!(multi >= 3, "loops and follow-ups are among them");
}

/// The ends of a range may be binary values, in keys that go up and in keys that go down.
#[test]
fn ranges_of_binary_keys_hold_on_the_engine() {
    let text =
        "entity F { owner: text(min 1, max 9) h: bytes(min 1, max 8) n: int(0..9) key (owner, h) }
read ge(o, x) = F where owner = o and h >= x order by h
read bt(o, x, y) = F where owner = o and h between x and y order by h desc
write add(o, h, n) = insert F(owner o, h h, n n)
schema s target shelfmark { table f from F key (owner; h) store all }
schema d target shelfmark { table f from F key (owner; h desc) store all }
";
    let report = run("binary", &parse("binary", text), &Options::default());
    assert!(report.ok(), "{}", report.text());
    let reads = report.verdicts.iter().filter(|one| !one.write);
    assert!(reads.clone().count() == 4 && reads.clone().all(|one| one.rows_returned > 0));
}

/// A plan that changes rows where its write is not defined is found out, whatever the proof says.
#[test]
fn calls_that_are_not_defined_are_made() {
    let report = run("followers", &seed("followers"), &Options::default());
    let write =
        report.verdicts.iter().find(|one| one.schema == "corrected" && one.pattern == "follow");
    let write = write.expect("a write");
    assert!(write.undefined > 0, "{}", report.text());
    assert!(write.note.contains("where it is not defined"), "{}", write.note);
}

/// What is certified reads as many rows as it returns, however large the state.
#[test]
fn the_same_certificates_hold_at_another_scale_and_seed() {
    let options = Options { seed: 20, scales: vec![90], calls: 4, ..Options::default() };
    assert!(run("followers", &seed("followers"), &options).ok());
}

/// Wrong answers of the published plans are shown beside the right ones.
#[test]
fn witnesses_are_run_and_shown() {
    let report = confirm(&seed("openchat"), &Options::default()).expect("openchat");
    let one = report
        .verdicts
        .iter()
        .find(|one| one.schema == "heading" && one.pattern == "get_messages_in_chat");
    let shown = one.and_then(|one| one.shown.as_ref()).expect("a witness");
    assert_eq!(shown.plan.as_array().map(Vec::len), Some(0), "the range is empty");
    assert!(shown.right.as_array().is_some_and(|right| !right.is_empty()));
}

#[test]
fn runs_repeat_from_their_seed() {
    let document = seed("reddit");
    let options = Options { seed: 5, ..Options::default() };
    let once = confirm(&document, &options).expect("runs").json();
    let twice = confirm(&document, &options).expect("runs").json();
    assert_eq!(once, twice);
}
