//! Models without a plan behind them: relations, patterns, row families and plans put together at
//! random, and the same schemas with plans that were changed in something.
//!
//! What it is not: no measure of how much the prover certifies; most of these schemas are no good.
//!
//! Invariant: what is certified never differs from brute force, the verifier believes every
//! certificate, and what is refused has a witness. `SHELFMARK_SEED=n` runs one seed and prints its
//! model, `SHELFMARK_LONG=1` runs thousands.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::longer::Sought;
use super::random_models::{Tally, agree_in, seeds, writes_agree};
use super::{changes, longer, texts};
use crate::eval::random::Random;
use crate::write_case::WriteCase;
use crate::{Proof, decisive, prove};
use shelfmark_design_language::certificate::Status;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_verify::verify;

/// The share of refusals that may be without a witness. It is larger than elsewhere: that a step too
/// many or in another place does no harm here is more than a proof has to see.
const FALSE_REFUSALS: f64 = 0.06;

/// Number of times that the plans of one model are changed.
const CHANGES: usize = 2;

/// The results of some models.
#[derive(Default)]
struct Found {
    tally: Tally,
    /// Texts that are no models, with what is wrong with each.
    unread: Vec<String>,
    /// Models and proofs.
    models: usize,
    reads: usize,
    writes: usize,
    /// Refusals, with their reasons.
    said: BTreeSet<String>,
}

#[test]
fn wild_models_agree_with_brute_force_and_with_the_verifier() {
    let mut found = Found::default();
    let seeds = seeds(24, 6_000);
    let alone = seeds.end - seeds.start == 1;
    let mut wrong = Vec::new();
    // A third as many have conditions, a third more keep numbers, a third more have everything, a third
    // more have sparse indexes; a seed that is asked for says by itself.
    let whole = !alone && seeds.start == 0;
    let more = if whole { seeds.end / 3 } else { 0 };
    let kept = texts::KEEPING..texts::KEEPING + more;
    let newest = texts::NEWEST..texts::NEWEST + more;
    let all = seeds.chain(texts::CONDITIONAL..texts::CONDITIONAL + more).chain(kept);
    let sparse = texts::SPARSE..texts::SPARSE + more;
    for seed in all.chain(newest).chain(sparse) {
        let run = || one(seed, alone, &mut found);
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            wrong.push(seed);
        }
    }
    found.show();
    assert!(wrong.is_empty(), "certified and wrong, or not believed: SHELFMARK_SEED in {wrong:?}");
    found.judge(alone);
}

/// Row types with limits of their own: in one range, and in requests beside one another.
#[test]
fn limits_of_row_types_agree_with_brute_force_and_with_the_verifier() {
    let mut found = Found::default();
    let seeds = seeds(60, 3_000);
    let alone = seeds.end - seeds.start == 1;
    let from = if seeds.start < texts::LIMITED { texts::LIMITED } else { 0 };
    for seed in seeds {
        one(from + seed, alone, &mut found);
    }
    found.show();
    found.tally.judge("limits of row types", FALSE_REFUSALS, false);
    let (certified, refused) = (found.tally.certified, found.tally.refused);
    let unseen = found.tally.without_witness;
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    assert!(alone || certified * 5 > found.reads, "{certified} of {} are certified", found.reads);
    assert!(alone || refused * 8 > found.reads, "{refused} of {} are refused", found.reads);
    assert!(alone || unseen * 16 < refused, "{unseen} of {refused} refusals show nothing");
}

impl Found {
    fn show(&self) {
        let (models, unread) = (self.models, self.unread.len());
        let (reads, writes) = (self.reads, self.writes);
        println!("{models} models, {unread} texts that are none; {reads} reads, {writes} writes");
        for why in &self.unread {
            println!("  no model: {why}");
        }
    }

    /// Holds the figures against what must be reached.
    fn judge(&self, alone: bool) {
        self.tally.judge("wild models", FALSE_REFUSALS, !alone);
        if !alone {
            assert!(self.unread.len() * 19 <= self.models, "more than a twentieth is no model");
            assert!(self.tally.certified * 18 >= self.reads, "too few reads are certified");
            assert!(self.tally.writes * 10 >= self.writes, "too few writes are certified");
        }
    }
}

/// Proves one model as it is and with changed plans, and checks every claim.
fn one(seed: u64, alone: bool, found: &mut Found) {
    let text = texts::wild(seed);
    if alone {
        println!("{text}");
    }
    let model = match read(&text) {
        Ok(model) => model,
        Err(why) => return found.unread.push(format!("seed {seed}: {why}")),
    };
    found.models += 1;
    let mut random = Random::new(seed ^ 0x55);
    claims(seed, &model, &text, found);
    for _ in 0..CHANGES {
        claims(seed, &changes::changed(&model, &mut random), &text, found);
    }
}

fn read(text: &str) -> Result<Model, String> {
    let parsed = parse(text);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(format!("it does not parse: {}", first.message));
    }
    let (model, diagnostics) = resolve(&parsed.file);
    diagnostics.first().map_or(Ok(model), |first| Err(first.message.clone()))
}

fn claims(seed: u64, model: &Model, text: &str, found: &mut Found) {
    for proof in prove(model, "") {
        let one = &proof.certificate;
        let place = format!("SHELFMARK_SEED={seed}: {}.{}", one.schema, one.pattern);
        if let Err(why) = verify(model, one) {
            panic!("{place} {:?} is not believed: {why}\n{:#?}\n{text}", one.status, one.steps);
        }
        *(if one.write { &mut found.writes } else { &mut found.reads }) += 1;
        match (one.status, one.write) {
            (Status::Certified | Status::Multi, true) => {
                let case = WriteCase::of(model, &proof).expect("a write of the model");
                let plan = proof.plan.as_ref().expect("a plan");
                writes_agree(seed, case, plan, text);
                found.tally.writes += 1;
            }
            (Status::Certified | Status::Multi, false) => {
                let serve = proof.serve.as_ref().expect("a plan");
                let multi = one.status == Status::Multi;
                agree_in(seed, model, proof.schema, proof.pattern, serve, multi, text);
                found.tally.certified += 1;
            }
            (Status::Refused, _) => refused(seed, model, &proof, &place, found),
            (Status::Unservable, _) => {}
        }
    }
}

/// A refusal of a call that can be formed shows its harm on some state.
fn refused(seed: u64, model: &Model, proof: &Proof, place: &str, found: &mut Found) {
    let Some(failure) = decisive(&proof.analysis) else { return };
    if failure.call || !proof.certificate.write && matches!(failure.obligation, 8 | 9) {
        return;
    }
    // Changes of one plan are often refused for one reason; it counts once.
    let said = format!("{place}: O{} {}", failure.obligation, failure.reason);
    if !found.said.insert(said.clone()) {
        return;
    }
    let witness = proof.certificate.witness.as_ref();
    let seen = witness.and_then(|one| one.get("found")).is_none();
    let sought = match (&proof.serve, &proof.plan) {
        _ if seen => Sought::Shown,
        (Some(serve), _) if longer::read(model, proof.schema, proof.pattern, serve, seed) => {
            Sought::Shown
        }
        (_, Some(plan)) => {
            let case = WriteCase::of(model, proof).expect("a write of the model");
            longer::write(case, plan, seed)
        }
        _ => Sought::Unseen,
    };
    // What never changes anything is done neither rightly nor wrongly.
    if sought != Sought::Idle {
        found.tally.refused += 1;
    }
    if sought == Sought::Unseen {
        found.tally.without(format!("{said} {:?}", proof.certificate.steps));
    }
}
