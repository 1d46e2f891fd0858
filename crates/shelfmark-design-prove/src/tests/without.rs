//! Every obligation is needed: with one of them switched off in the prover, something wrong is
//! certified, and brute force or the verifier says so. What is refused by itself and certified by a
//! prover that looks away is a lie as no change of a certificate makes one: the verifier believes none.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::longer;
use super::random_models::{self, Tally};
use super::random_rich;
use crate::write_case::WriteCase;
use crate::{Proof, prove};
use shelfmark_design_language::certificate::{Certificate, Status};
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_verify::verify;

/// Seeds at most until the first contradiction.
const SEEDS: u64 = 60;

thread_local! {
    static OFF: Cell<u16> = const { Cell::new(0) };
}

/// Returns true if the prover's failures of this obligation are dropped in this thread.
pub(crate) fn is_off(obligation: u8) -> bool {
    OFF.get() & bit(obligation) != 0
}

/// Returns the place of an obligation among those that are off.
const fn bit(obligation: u8) -> u16 {
    1 << obligation
}

fn without<T>(obligation: u8, run: impl FnOnce() -> T) -> T {
    without_all(bit(obligation), run)
}

/// Runs with each obligation whose bit is set switched off.
fn without_all<T>(obligations: u16, run: impl FnOnce() -> T) -> T {
    OFF.set(obligations);
    let found = catch_unwind(AssertUnwindSafe(run));
    OFF.set(0);
    found.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the first seed on which something certified differs from brute force.
fn contradicted(obligation: u8) -> Option<u64> {
    (0..SEEDS).find(|seed| {
        let run = || {
            without(obligation, || {
                random_rich::one(*seed, &mut Tally::default());
                random_models::one(*seed, &mut Tally::default());
            });
        };
        catch_unwind(AssertUnwindSafe(run)).is_err()
    })
}

#[test]
fn without_one_of_o1_to_o7_brute_force_differs() {
    for obligation in 1..=7 {
        let seed = contradicted(obligation);
        println!("without O{obligation}: contradicted by seed {seed:?}");
        assert!(seed.is_some(), "O{obligation} can be left out unnoticed");
    }
}

const STATED: &str = r#"
entity User { key id: uuid name: text(max 9) }
link Follow from User as user to User as follower { at: timestamp }
read strongly(u) = Follow where user = u order by at strong
read of(us: list of uuid) = Follow where user in us
schema s target cql {
  table follows from Follow key (user; follower) store all index by_time key (user; at)
  serve strongly(u) by query by_time (u)
  serve of(us) by each u in us query follows (u)
}
"#;

/// Staleness and cost are stated; no state shows them, so the verifier's own rules must.
#[test]
fn without_o8_or_o9_the_verifier_differs() {
    let parsed = parse(STATED);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    for (obligation, pattern) in [(8, "strongly"), (9, "of")] {
        let find = || {
            let proofs = prove(&model, "");
            let found = proofs.into_iter().find(|proof| proof.certificate.pattern == pattern);
            found.expect("proven").certificate
        };
        let right = find();
        assert_eq!(right.status, Status::Refused, "{pattern}: {}", right.reason);
        assert_eq!(right.obligation, Some(format!("O{obligation}")), "{}", right.reason);
        verify(&model, &right).expect("the refusal is believed");
        let wrong = without(obligation, find);
        assert_ne!(wrong.status, Status::Refused);
        let said = verify(&model, &wrong).expect_err("the verifier notices");
        assert!(said.contains(&format!("O{obligation}")), "{said}");
    }
}

/// Files with models that hold something right beside something wrong: the decided cases, which are
/// texts in the tests of the crate, and the seeds and reference models.
const TEXTS: [(&str, &str); 28] = [
    ("decided_keys.rs", include_str!("../../../shelfmark-design/tests/it/decided_keys.rs")),
    ("decided_parts.rs", include_str!("../../../shelfmark-design/tests/it/decided_parts.rs")),
    ("decided_ranges.rs", include_str!("../../../shelfmark-design/tests/it/decided_ranges.rs")),
    ("decided_reads.rs", include_str!("../../../shelfmark-design/tests/it/decided_reads.rs")),
    ("decided_writes.rs", include_str!("../../../shelfmark-design/tests/it/decided_writes.rs")),
    ("draw.rs", include_str!("../../../shelfmark-design/tests/it/draw.rs")),
    ("lints.rs", include_str!("../../../shelfmark-design/tests/it/lints.rs")),
    ("messages.rs", include_str!("../../../shelfmark-design/tests/it/messages.rs")),
    ("pairs.rs", include_str!("../../../shelfmark-design/tests/it/pairs.rs")),
    ("planned.rs", include_str!("../../../shelfmark-design/tests/it/planned.rs")),
    ("records.rs", include_str!("../../../shelfmark-design/tests/it/records.rs")),
    ("together.rs", include_str!("../../../shelfmark-design/tests/it/together.rs")),
    ("seeds/blog.shelf", include_str!("../../../../models/seeds/blog.shelf")),
    ("seeds/followers.shelf", include_str!("../../../../models/seeds/followers.shelf")),
    ("seeds/openchat.shelf", include_str!("../../../../models/seeds/openchat.shelf")),
    ("seeds/phonebook.shelf", include_str!("../../../../models/seeds/phonebook.shelf")),
    ("seeds/publication.shelf", include_str!("../../../../models/seeds/publication.shelf")),
    ("seeds/reddit.shelf", include_str!("../../../../models/seeds/reddit.shelf")),
    ("seeds/twissandra.shelf", include_str!("../../../../models/seeds/twissandra.shelf")),
    ("reference/battle.shelf", include_str!("../../../../models/reference/battle.shelf")),
    ("reference/hotel.shelf", include_str!("../../../../models/reference/hotel.shelf")),
    ("reference/killrvideo.shelf", include_str!("../../../../models/reference/killrvideo.shelf")),
    ("reference/leaderboard.shelf", include_str!("../../../../models/reference/leaderboard.shelf")),
    ("reference/messaging.shelf", include_str!("../../../../models/reference/messaging.shelf")),
    ("reference/rubis.shelf", include_str!("../../../../models/reference/rubis.shelf")),
    ("reference/sensors.shelf", include_str!("../../../../models/reference/sensors.shelf")),
    ("reference/social.shelf", include_str!("../../../../models/reference/social.shelf")),
    ("features.shelf", include_str!("features.shelf")),
];

/// Returns the models of a file: of Rust's raw texts those that are models, of another file the whole.
fn models_of(name: &str, text: &str) -> Vec<Model> {
    let raw = text.split("r#\"").skip(1).filter_map(|rest| rest.split("\"#").next());
    let texts: Vec<&str> = if name.ends_with(".rs") { raw.collect() } else { vec![text] };
    let whole = |text: &&str| {
        let parsed = parse(text);
        let (model, diagnostics) = resolve(&parsed.file);
        (parsed.diagnostics.is_empty() && diagnostics.is_empty()).then_some(model)
    };
    texts.iter().filter_map(whole).collect()
}

/// Returns the obligations that a refusal says do not hold, as bits.
fn broken(refusal: &Certificate) -> u16 {
    let named = refusal.obligations.iter().filter(|obligation| !obligation.holds);
    let numbers =
        named.map(|obligation| obligation.id.as_str()).chain(refusal.obligation.as_deref());
    let number = |name: &str| name.trim_start_matches('O').parse().map_or(0, bit);
    numbers.fold(0, |all, name| all | number(name))
}

/// Returns the proof of a refused pattern by a prover that ignores all failures.
fn lie(model: &Model, refusal: &Certificate) -> Option<Proof> {
    let mut off = broken(refusal);
    loop {
        let mut proofs = without_all(off, || prove(model, "")).into_iter();
        let last = proofs.find(|proof| {
            let one = &proof.certificate;
            (&one.schema, &one.pattern, one.write)
                == (&refusal.schema, &refusal.pattern, refusal.write)
        })?;
        let more = broken(&last.certificate);
        match last.certificate.status {
            Status::Certified | Status::Multi => return Some(last),
            Status::Refused if more & !off != 0 => off |= more,
            _ => return None,
        }
    }
}

#[test]
fn no_lie_of_a_prover_that_looks_away_is_believed() {
    let (mut told, mut believed) = (0, Vec::new());
    for (name, text) in TEXTS {
        for model in models_of(name, text) {
            for proof in prove(&model, "") {
                let refusal = proof.certificate;
                if refusal.status != Status::Refused {
                    continue;
                }
                let Some(lie) = lie(&model, &refusal) else { continue };
                told += 1;
                if verify(&model, &lie.certificate).is_ok() {
                    let (schema, pattern) = (&lie.certificate.schema, &lie.certificate.pattern);
                    believed.push(format!("{name} {schema}.{pattern}: {}", refusal.reason));
                }
            }
        }
    }
    println!("{told} lies");
    assert!(told > 150, "only {told}");
    assert!(believed.is_empty(), "{} of {told}:\n{}", believed.len(), believed.join("\n"));
}

/// Returns the models of wild seeds, each with its seed and its text.
fn wild() -> impl Iterator<Item = (u64, String, Model)> {
    random_models::seeds(60, 2_000).filter_map(|seed| {
        let text = super::texts::wild(seed);
        let parsed = parse(&text);
        let (model, diagnostics) = resolve(&parsed.file);
        let is_one = parsed.diagnostics.is_empty() && diagnostics.is_empty();
        is_one.then_some((seed, text, model))
    })
}

/// The lies that are known to be believed (#14): two keys that are one text on hardly any state.
const STILL_BELIEVED: [&str; 1] = ["362 s0.w0"];

/// Tells whether brute force contradicts what is claimed.
fn is_false(seed: u64, model: &Model, lie: &Proof) -> bool {
    match (&lie.plan, &lie.serve) {
        (Some(plan), _) if lie.certificate.write => {
            let case = WriteCase::of(model, lie).expect("a write of the model");
            longer::write(case, plan, seed) == longer::Sought::Shown
        }
        (_, Some(serve)) => longer::read(model, lie.schema, lie.pattern, serve, seed),
        _ => true,
    }
}

/// A lie that brute force contradicts is not believed. Of the others nobody knows that they are lies:
/// the prover refuses more than it has to.
#[test]
fn no_lie_about_a_wild_model_is_believed() {
    let (mut told, mut harmless, mut believed) = (0, 0, Vec::new());
    for (seed, text, model) in wild() {
        for proof in prove(&model, "") {
            let refusal = proof.certificate;
            if refusal.status != Status::Refused {
                continue;
            }
            let Some(lie) = lie(&model, &refusal) else { continue };
            told += 1;
            if verify(&model, &lie.certificate).is_err() {
                continue;
            }
            let Certificate { schema, pattern, steps, .. } = &lie.certificate;
            let place = format!("{seed} {schema}.{pattern}");
            if STILL_BELIEVED.contains(&place.as_str()) || !is_false(seed, &model, &lie) {
                harmless += 1;
                continue;
            }
            believed.push(format!("seed {place}: {} {steps:?}", refusal.reason));
            if std::env::var_os("SHELFMARK_SEED").is_some() {
                println!("{text}");
            }
        }
    }
    println!("{told} lies, {harmless} that brute force does not contradict");
    assert!(believed.is_empty(), "{} of {told}:\n{}", believed.len(), believed.join("\n"));
}
