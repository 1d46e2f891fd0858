//! Random models with everything that plans can do: loops, follow-up reads, filters, sorts, counts,
//! unions, copies, indexes, named write plans. Each schema is right by construction, and stands
//! beside mutations of itself: swapped components, a dropped completion column, a changed codec, an
//! ambiguous prefix, a missing step of a write, a sentinel, a lost limit.
//!
//! What is certified never differs from brute force; what is refused has a witness that does.

use super::random_models::{Tally, agree_in, writes_agree};
use crate::eval::generate::{Pool, inputs, state};
use crate::eval::random::Random;
use crate::eval::witness::{Wanted, find, shows};
use crate::model::Model;
use crate::model::resolve::resolve;
use crate::model::schema::Serve;
use crate::prove::{decisive, prove_read, write::prove_write, write_certificate, write_witness};
use crate::syntax::parser::parse;
use crate::target::profile;

/// States and inputs beyond the usual search, before a refusal counts as false.
const MORE_TRIES: usize = 4_000;

/// Proves one model and checks every claim; what is counted is added to the tally.
pub(super) fn one(seed: u64, tally: &mut Tally) {
    let text = super::texts::rich(seed);
    let parsed = parse(&text);
    assert!(parsed.diagnostics.is_empty(), "seed {seed}: {:?}\n{text}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "seed {seed}: {diagnostics:?}\n{text}");
    for (number, schema) in model.schemas.iter().enumerate() {
        let target = profile(&schema.target).expect("a known target");
        for (index, read) in model.reads.iter().enumerate() {
            let proof = prove_read(&model, schema, target, index, read);
            let Some(serve) = proof.serve.as_ref() else { continue };
            let Some(failure) = decisive(&proof.analysis) else {
                tally.certified += 1;
                agree_in(seed, &model, number, index, serve, proof.analysis.multi, &text);
                continue;
            };
            if failure.call || matches!(failure.obligation, 8 | 9) {
                continue;
            }
            tally.refused += 1;
            if !has_witness(&model, number, index, serve, seed) {
                tally.without(format!(
                    "seed {seed} {}.{}: O{} {}",
                    schema.name.text, read.name.text, failure.obligation, failure.reason
                ));
            }
        }
        for (index, write) in model.writes.iter().enumerate() {
            let plan = write_certificate::plan(&model, schema, target, index, write);
            let analysis = prove_write(&model, schema, target, write, &plan);
            match decisive(&analysis) {
                None => {
                    tally.writes += 1;
                    writes_agree(seed, &model, number, index, &plan, &text);
                }
                Some(failure) if failure.call => {}
                Some(failure) => {
                    tally.refused += 1;
                    if write_witness::find(&model, schema, write, &plan).is_none() {
                        tally.without(format!(
                            "seed {seed} {}.{}: O{} {}",
                            schema.name.text, write.name.text, failure.obligation, failure.reason
                        ));
                    }
                }
            }
        }
    }
}

/// Whether some small state shows the harm. First the prover's own search, then a longer one.
fn has_witness(model: &Model, schema: usize, read: usize, serve: &Serve, seed: u64) -> bool {
    let (schema, read) = (&model.schemas[schema], &model.reads[read]);
    let wanted = [Wanted::Wrong, Wanted::Excess];
    if wanted.iter().any(|one| find(model, schema, read, serve, *one, seed).is_some()) {
        return true;
    }
    let pool = Pool::of(Some(schema));
    let mut random = Random::new(seed ^ 0xFEED);
    (0..MORE_TRIES).any(|attempt| {
        let state = state(model, &pool, &mut random, 2 + attempt % 5);
        let inputs = inputs(model, &state, read, &pool, &mut random);
        wanted.iter().any(|one| shows(model, schema, read, serve, &state, &inputs, *one))
    })
}
