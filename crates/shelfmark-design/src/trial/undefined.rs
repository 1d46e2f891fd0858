//! Runs writes where they are not defined: the calls, and what a plan may leave of them.

use super::{Call, Scene, Trial};
use shelfmark_design_prove::eval::change;
use shelfmark_design_prove::eval::generate::Pool;
use shelfmark_design_prove::eval::random::Random;
use shelfmark_design_prove::eval::undefined::undefined_inputs;

impl Trial<'_> {
    /// Returns inputs of a write that mostly miss what the state holds, or meet what they should not:
    /// keys that are taken, tuples and references that are not there.
    #[must_use]
    pub fn undefined_call(&self, pattern: usize, scene: &Scene, seed: u64) -> Call {
        let pool = Pool::wide(self.schema, scene.state.size());
        let mut random = Random::new(seed);
        let inputs = match self.write_of(pattern) {
            Some(write) => undefined_inputs(self.model, &scene.state, write, &pool, &mut random),
            None => Vec::new(),
        };
        Call { inputs }
    }

    /// Returns the states whose rows the plan of a write may leave where the write is not defined: as it
    /// was first of all. `None` where the write is defined, or where nothing is said of it.
    #[must_use]
    pub fn outcomes(&self, pattern: usize, scene: &Scene, call: &Call) -> Option<Vec<Scene>> {
        let write = self.write_of(pattern)?;
        let plan = self.proofs.get(pattern)?.plan.as_ref()?;
        let (model, schema) = (self.model, self.schema);
        let states =
            change::outcomes(model, schema, write, plan, &scene.state, &call.inputs)?.into_iter();
        Some(states.map(|state| Scene { state }).collect())
    }
}
