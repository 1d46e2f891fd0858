//! Random models on the engine: what the pure evaluator is tried against, run where rows lie in a
//! store. `SHELFMARK_SEED=n` runs one seed; the long mode three thousand and six hundred.

use shelfmark_confirm::{Options, confirm};
use shelfmark_design::{Document, Status};

use crate::texts;

/// What some models came to.
#[derive(Default)]
struct Tally {
    proven: usize,
    refused: usize,
    /// Refusals of which nothing showed on the engine.
    unshown: Vec<String>,
}

fn one(seed: u64, text: &str, tally: &mut Tally) {
    let document = Document::parse("random", text)
        .unwrap_or_else(|report| panic!("SHELFMARK_SEED={seed}: {report}\n{text}"));
    let options = Options { seed, scales: vec![4, 10], calls: 3, ..Options::default() };
    let report = confirm(&document, &options)
        .unwrap_or_else(|error| panic!("SHELFMARK_SEED={seed}: {error}\n{text}"));
    for verdict in &report.verdicts {
        let place = format!("SHELFMARK_SEED={seed}: {}.{}", verdict.schema, verdict.pattern);
        match verdict.status {
            Status::Certified | Status::Multi => {
                assert!(verdict.ok, "{place}: {}\n{:?}\n{text}", verdict.note, verdict.shown);
                tally.proven += 1;
            }
            Status::Refused => {
                tally.refused += 1;
                if !verdict.ok {
                    tally.unshown.push(format!("{place}: {}", verdict.note));
                }
            }
            Status::Unservable => {}
        }
    }
}

/// One refusal in so many may show nothing.
fn judge(tally: &Tally, one_in: usize, alone: bool) {
    let unshown = tally.unshown.len();
    println!("{} proven, {} refused, {unshown} of them unshown", tally.proven, tally.refused);
    println!("{}", tally.unshown.join("\n"));
    assert!(alone || (tally.proven > 20 && tally.refused > 20), "too little of one kind");
    assert!(alone || unshown * one_in < tally.refused, "too many refusals show nothing");
}

#[test]
fn plain_models_go_on_the_engine_as_proven() {
    let (mut tally, seeds) = (Tally::default(), crate::seeds(60, 2_000));
    let alone = seeds.end - seeds.start == 1;
    for seed in seeds {
        one(seed, &texts::plain(seed), &mut tally);
    }
    judge(&tally, 50, alone);
}

#[test]
fn wild_models_go_on_the_engine_as_proven() {
    let (mut tally, seeds) = (Tally::default(), crate::seeds(30, 1_000));
    let alone = seeds.end - seeds.start == 1;
    for seed in seeds {
        let text = texts::wild(seed);
        // A few of these texts are no models.
        if Document::parse("random", &text).is_ok() {
            one(seed, &text, &mut tally);
        }
    }
    // Models that nobody would write are refused for reasons that few states show.
    judge(&tally, 15, alone);
}

#[test]
fn limits_of_row_types_go_on_the_engine_as_proven() {
    let (mut tally, seeds) = (Tally::default(), crate::seeds(60, 3_000));
    let alone = seeds.end - seeds.start == 1;
    let from = if seeds.start < texts::LIMITED { texts::LIMITED } else { 0 };
    for seed in seeds {
        one(from + seed, &texts::wild(from + seed), &mut tally);
    }
    judge(&tally, 15, alone);
}

#[test]
fn rich_models_and_their_mutations_go_on_the_engine_as_proven() {
    let (mut tally, seeds) = (Tally::default(), crate::seeds(6, 600));
    let alone = seeds.end - seeds.start == 1;
    for seed in seeds {
        one(seed, &texts::rich(seed), &mut tally);
    }
    judge(&tally, 50, alone);
}
