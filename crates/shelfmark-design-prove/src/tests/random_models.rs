//! Random models and plans: what is certified never differs from brute force, and what is refused
//! has a witness. `SHELFMARK_SEED=n` runs one seed, `SHELFMARK_LONG=1` ten thousand of both kinds.

use crate::eval::answer::answer;
use crate::eval::generate::{Pool, inputs, state, write_inputs};
use crate::eval::random::Random;
use crate::eval::rows::rows;
use crate::eval::run::run;
use crate::eval::undefined::undefined_inputs;
use crate::eval::witness::{Wanted, find};
use crate::read::analyse;
use crate::write_case::WriteCase;
use crate::{decisive, derive, write_certificate, write_witness};
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::model::schema::{ReadStep, Schema, Serve, Step};
use shelfmark_design_language::model::{Model, Read};
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::target::profile;

/// The share of refusals that may be without a witness, as the model language has it.
const FALSE_REFUSALS: f64 = 0.02;

/// States that one certified plan is run on.
const STATES: usize = 25;

/// The counts of a run.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) certified: usize,
    pub(super) refused: usize,
    pub(super) without_witness: usize,
    pub(super) writes: usize,
    pub(super) why: Vec<String>,
}

impl Tally {
    /// A refusal for which no state shows the harm.
    pub(super) fn without(&mut self, why: String) {
        self.without_witness += 1;
        self.why.push(why);
    }

    /// Prints the figures, and holds them against what must be reached.
    pub(super) fn judge(&self, what: &str, share_max: f64, many: bool) {
        println!(
            "{what}: {} reads certified, {} writes certified, {} refused, {} of them without a witness",
            self.certified, self.writes, self.refused, self.without_witness
        );
        for why in &self.why {
            println!("  false refusal: {why}");
        }
        if many {
            assert!(
                self.certified > 20 && self.refused > 20 && self.writes > 20,
                "too little of one kind"
            );
            let share = self.without_witness as f64 / self.refused.max(1) as f64;
            assert!(share < share_max, "false refusals: {share}");
        }
    }
}

/// `SHELFMARK_SEED=n` alone, `SHELFMARK_SEEDS=from..to`, `many` with `SHELFMARK_LONG`, or `few`.
pub(super) fn seeds(few: u64, many: u64) -> std::ops::Range<u64> {
    let number = |text: &str| text.parse::<u64>().expect("seeds are numbers");
    if let Ok(seed) = std::env::var("SHELFMARK_SEED") {
        return number(&seed)..number(&seed) + 1;
    }
    if let Ok(seeds) = std::env::var("SHELFMARK_SEEDS") {
        let (from, to) = seeds.split_once("..").expect("SHELFMARK_SEEDS=from..to");
        return number(from)..number(to);
    }
    if std::env::var_os("SHELFMARK_LONG").is_some() { 0..many } else { 0..few }
}

#[test]
fn rich_models_and_their_mutations_agree_with_brute_force() {
    let mut tally = Tally::default();
    let seeds = seeds(40, 1_000);
    let many = seeds.end - seeds.start > 1;
    for seed in seeds {
        super::random_rich::one(seed, &mut tally);
    }
    tally.judge("rich models", FALSE_REFUSALS, many);
}

#[test]
fn certified_plans_and_brute_force_agree() {
    let mut tally = Tally::default();
    let seeds = seeds(80, 9_000);
    let many = seeds.end - seeds.start > 1;
    for seed in seeds {
        one(seed, &mut tally);
    }
    tally.judge("plain models", FALSE_REFUSALS, many);
}

pub(super) fn one(seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed ^ 0x7EA5);
    let text = super::texts::plain(seed);
    let parsed = parse(&text);
    assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}\n{text}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "seed {seed}: {diagnostics:?}\n{text}");
    let schema = &model.schemas[0];
    let target = profile(&schema.target).expect("a known target");
    for (index, read) in model.reads.iter().enumerate() {
        for serve in plans(&model, index, &mut random) {
            let analysis = analyse(&model, schema, target, read, &serve);
            let Some(failure) = decisive(&analysis) else {
                tally.certified += 1;
                agree(seed, &model, index, &serve, analysis.multi, &text);
                continue;
            };
            if failure.call || matches!(failure.obligation, 8 | 9) {
                continue;
            }
            tally.refused += 1;
            let shown = find(&model, schema, read, &serve, Wanted::Wrong, seed)
                .or_else(|| find(&model, schema, read, &serve, Wanted::Excess, seed));
            if shown.is_none() {
                if !many() {
                    println!("{} {serve:?}\n{text}", read.name.text);
                }
                tally.without(format!(
                    "seed {seed} {}: O{} {}",
                    read.name.text, failure.obligation, failure.reason
                ));
            }
        }
    }
    for case in WriteCase::all(&model, schema, target) {
        let plan = write_certificate::plan(case);
        let analysis = crate::write::prove_write(case, &plan);
        if !analysis.failures.is_empty() {
            continue;
        }
        tally.writes += 1;
        writes_agree(seed, case, &plan, &text);
    }
}

/// Few values, so that tuples meet, and now and then enough for each to have its own.
fn pools(schema: &Schema) -> [Pool; 3] {
    [Pool::of(Some(schema)), Pool::of(Some(schema)), Pool::wide(schema, 9)]
}

/// A certified write leaves the rows of the changed state.
pub(super) fn writes_agree(
    seed: u64,
    case: WriteCase<'_>,
    plan: &shelfmark_design_language::model::schema::WritePlan,
    text: &str,
) {
    let WriteCase { model, schema, write, .. } = case;
    let pools = pools(schema);
    let mut random = Random::new(seed ^ 0x1234);
    for size in 0..STATES {
        let pool = &pools[size % pools.len()];
        let state = state(model, pool, &mut random, 2 + size % 4);
        let inputs = write_inputs(model, &state, write, pool, &mut random);
        assert!(
            !write_witness::differs(case, plan, &state, &inputs),
            "SHELFMARK_SEED={seed}: {} is certified and leaves other rows\n{plan:?}\n{state:?}\n{inputs:?}\n{text}",
            write.name.text
        );
        let inputs = undefined_inputs(model, &state, write, pool, &mut random);
        assert!(
            !write_witness::differs(case, plan, &state, &inputs)
                && !write_witness::changes_undefined(case, plan, &state, &inputs),
            "SHELFMARK_SEED={seed}: {} is certified and changes rows where it is not defined\n{plan:?}\n{state:?}\n{inputs:?}\n{text}",
            write.name.text
        );
    }
}

fn agree(seed: u64, model: &Model, index: usize, serve: &Serve, multi: bool, text: &str) {
    agree_in(seed, model, 0, index, serve, multi, text);
}

/// A certified read gives what the definition gives.
pub(super) fn agree_in(
    seed: u64,
    model: &Model,
    schema: usize,
    index: usize,
    serve: &Serve,
    multi: bool,
    text: &str,
) {
    let (schema, read) = (&model.schemas[schema], &model.reads[index]);
    let pools = pools(schema);
    let mut random = Random::new(seed ^ 0xABCD);
    for size in 0..STATES {
        let pool = &pools[size % pools.len()];
        let state = state(model, pool, &mut random, 1 + size % 5);
        let inputs = inputs(model, &state, read, pool, &mut random);
        let outcome = run(model, schema, &rows(model, schema, &state), read, serve, &inputs)
            .unwrap_or_else(|error| panic!("SHELFMARK_SEED={seed}: {error}\n{text}"));
        let right = answer(model, &state, read, &inputs);
        assert!(
            right.accepts(&outcome.records),
            "SHELFMARK_SEED={seed}: {} is certified and differs\n{serve:?}\n{state:?}\n{inputs:?}\nright {right:?}\nplan {outcome:?}\n{text}",
            read.name.text
        );
        if read.page {
            let (read, serve) = unpaged(read, serve);
            let all = run(model, schema, &rows(model, schema, &state), &read, &serve, &inputs);
            let all = all.unwrap_or_else(|error| panic!("SHELFMARK_SEED={seed}: {error}\n{text}"));
            assert!(
                answer(model, &state, &read, &inputs).accepts(&all.records),
                "SHELFMARK_SEED={seed}: pages of {} differ, together\n{serve:?}\n{state:?}\n{text}",
                read.name.text
            );
        }
        assert!(
            multi || outcome.rows_read <= right.length(),
            "SHELFMARK_SEED={seed}: {} is certified and reads too much\n{text}",
            read.name.text
        );
    }
}

/// Returns a read and its plan without pages: what all of them give together.
fn unpaged(read: &Read, serve: &Serve) -> (Read, Serve) {
    let mut serve = serve.clone();
    if let Some(Step::Read(step)) = serve.steps.first_mut() {
        step.limit = None;
    }
    (Read { limit: None, page: false, ..read.clone() }, serve)
}

/// Returns the derived plans and mutations of them.
fn plans(model: &Model, index: usize, random: &mut Random) -> Vec<Serve> {
    let mut found = derive::plans(model, &model.schemas[0], index, &model.reads[index]);
    let mut changed = Vec::new();
    for serve in &found {
        let mut serve = serve.clone();
        if let Some(Step::Read(step)) = serve.steps.first_mut() {
            mutate(step, random);
        }
        changed.push(serve);
    }
    found.extend(changed);
    found
}

pub(super) fn mutate(step: &mut ReadStep, random: &mut Random) {
    use shelfmark_design_language::model::schema::Part;
    use shelfmark_design_language::syntax::tree::BoundKind::{
        After, Before, Begins, From, Through, To,
    };
    match random.below(6) {
        0 => step.desc = !step.desc,
        1 => step.limit = None,
        2 => {
            for (kind, _) in &mut step.bounds {
                *kind = match *kind {
                    From => After,
                    After | Begins => From,
                    To => Through,
                    Before => To,
                    Through => Before,
                };
            }
        }
        3 => {
            // A sentinel in the place of the prefix's successor.
            if let [(Begins, parts)] = step.bounds.as_slice() {
                let mut end = parts.clone();
                end.retain(|part| *part != Part::End);
                end.push(Part::Literal("~".to_owned()));
                step.bounds = vec![(From, parts.clone()), (To, end)];
            }
        }
        4 => {
            // The last piece of a prefix is dropped.
            if let Some((_, parts)) = step.bounds.first_mut() {
                parts.pop();
            }
        }
        _ => {
            step.bounds.pop();
        }
    }
}

/// Returns true if more than one seed is run; one alone tells more.
fn many() -> bool {
    std::env::var_os("SHELFMARK_SEED").is_none()
}
