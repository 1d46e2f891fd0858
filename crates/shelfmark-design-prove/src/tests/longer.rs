//! The search for a witness beyond the prover's own: more states, other seeds.
//!
//! What it is not: no proof that there is none; who finds none here has a refusal to look at.
//!
//! Invariant: what counts as harm is what the prover's search counts.

use crate::eval::change::apply;
use crate::eval::generate::{Pool, inputs, state, write_inputs};
use crate::eval::random::Random;
use crate::eval::witness::{Wanted, find, shows};
use crate::write_case::WriteCase;
use crate::write_witness;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::schema::{Serve, WritePlan};

/// States and inputs beyond the usual search, before a refusal counts as false.
const MORE_TRIES: usize = 4_000;

/// Returns true if some small state shows the harm of a read's plan. First the prover's own search.
pub(super) fn read(model: &Model, schema: usize, read: usize, serve: &Serve, seed: u64) -> bool {
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

/// The result of a search for the harm of a write.
#[derive(PartialEq, Eq)]
pub(super) enum Sought {
    Shown,
    Unseen,
    /// No state was found that the write changes into another one.
    Idle,
}

/// Returns true if some small state shows the harm of a write's plan.
pub(super) fn write(case: WriteCase<'_>, plan: &WritePlan, seed: u64) -> Sought {
    let WriteCase { model, schema, write, .. } = case;
    let pools = [Pool::of(Some(schema)), Pool::wide(schema, 9)];
    let mut random = Random::new(seed ^ 0xFEED);
    let mut defined = false;
    for attempt in 0..MORE_TRIES {
        let pool = &pools[attempt % pools.len()];
        let state = state(model, pool, &mut random, 2 + attempt % 5);
        let inputs = write_inputs(model, &state, write, pool, &mut random);
        if write_witness::differs(case, plan, &state, &inputs) {
            return Sought::Shown;
        }
        let changed = apply(model, write, &state, &inputs);
        defined |= changed.is_some_and(|changed| changed.relations != state.relations);
    }
    if defined { Sought::Unseen } else { Sought::Idle }
}
