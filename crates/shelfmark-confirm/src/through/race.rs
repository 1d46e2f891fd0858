//! Runs a write whose claim is atomic with another one between its reads and its changes.
//!
//! What lies in the tables afterwards must be what one order of the two leaves, each executed alone: the
//! server itself says what that is.
//!
//! What it is not: no threads are raced. The one moment at which another write matters is tried.
//!
//! Invariant: the tables hold the state again at the end.

use serde_json::Value as Json;
use shelfmark_design::Call;

use super::{Inputs, Stage, Wrong, beside, difference, run, run_with};

/// Most other writes that one write is tried with on one state.
///
/// Ours: with itself, and with those that the model has beside it.
const OTHERS_MAX: usize = 4;

/// One write with its requests and the inputs of a call.
pub(super) struct Racer {
    pub(super) requests: Vec<Call>,
    pub(super) inputs: Inputs,
}

impl Racer {
    /// Returns true if a write reads before it changes something: between them others may come.
    pub(super) fn reads(&self) -> bool {
        self.requests.first().is_some_and(|first| first.reads)
    }

    /// Gives inputs the values that another write's inputs of the same name and type have: both are then
    /// about the same things.
    fn about(&mut self, other: &Self) {
        for (name, value, ty) in &mut self.inputs {
            let same = other.inputs.iter().find(|(named, _, of)| named == name && of == ty);
            if let Some((_, found, _)) = same {
                value.clone_from(found);
            }
        }
    }
}

impl Stage<'_> {
    /// Tries a write with itself and others between its reads and its changes; returns how often.
    pub(super) fn races(&self, own: &Racer, others: Vec<Racer>) -> Result<usize, Box<Wrong>> {
        let mut tried = 0;
        for mut other in others.into_iter().take(OTHERS_MAX) {
            other.about(own);
            let between = self.leaves(&|| {
                let mut alone = || run(self.server, &other.requests, &other.inputs);
                run_with(self.server, &own.requests, &own.inputs, &mut alone)
            })?;
            let after = self.leaves(&|| self.both(own, &other))?;
            let before = self.leaves(&|| self.both(&other, own))?;
            // What is refused with an error is no order to compare with.
            let (Some(between), Some(after), Some(before)) = (between, after, before) else {
                continue;
            };
            if between != after && between != before {
                let name = other.requests.first().map_or("", |one| one.pattern.as_str());
                let why = format!(
                    "with {name} between its reads and its changes, the items are those of no order"
                );
                return Err(difference(why, &before, &between));
            }
            tried += 1;
        }
        Ok(tried)
    }

    fn both(&self, first: &Racer, second: &Racer) -> Result<(), String> {
        run(self.server, &first.requests, &first.inputs)?;
        run(self.server, &second.requests, &second.inputs)
    }

    /// Returns what lies in the tables after some requests, which are put back as they were.
    fn leaves(
        &self,
        requests: &dyn Fn() -> Result<(), String>,
    ) -> Result<Option<Vec<(String, Json)>>, String> {
        let done = requests();
        let found = self.server.dump()?;
        if found != self.items {
            self.server.hold(&self.trial.items(&self.scene)?)?;
        }
        Ok(done.is_ok().then_some(found))
    }
}

/// Returns true if requests are sent once each: those of a loop are several.
pub(super) fn is_plain(requests: &[Call]) -> bool {
    requests.iter().all(|one| beside(one, "for_each").is_none())
}
