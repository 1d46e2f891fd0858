//! Runs models on the engine and compares the results with brute force.
//!
//! A certificate says that a plan is right for every state and reads no other row. Here consistent
//! states are drawn from seeds, mapped to rows and loaded into the engine; every pattern runs by its
//! plan there, and its answer is compared with what the state alone says. The engine's access
//! reports must show as many rows read as returned (or no more than stated), and exactly the key
//! ranges that the certificate claims. What was refused is run on its witness, and must go wrong.
//!
//! What it is not: no proof, and no benchmark. It knows no wire forms but in `through`, which sends the
//! requests of certified plans through a face, and no clock but the one that [`confirm_timed`] is
//! handed. `live` describes tables of servers, for importers.
//!
//! Invariant: but for the times taken, a run is a function of the model and of [`Options`].

mod bench;
mod claim;
mod item;
mod judge;
mod live;
mod report;
mod through;

#[cfg(test)]
mod tests;

pub use live::{DESCRIBED_TABLES_MAX, SAMPLED_ROWS, describe_cql, describe_dynamodb};
pub use report::{Report, Shown, Verdict};
pub use through::{
    CqlEndpoint, confirm_at_cql, confirm_at_dynamodb, confirm_through_cql,
    confirm_through_dynamodb, filled,
};

use shelfmark_design::Document;
use shelfmark_store::clock::Clock;

/// The extent of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The only schema to run; all if none is given.
    pub schema: Option<String>,
    /// Seed of states and calls.
    pub seed: u64,
    /// Sizes of the states: about how many entities and links of each kind.
    pub scales: Vec<usize>,
    /// Calls of each pattern on each state.
    pub calls: usize,
}

/// Largest size of a state.
///
/// Ours: states are drawn and checked tuple by tuple, which takes seconds above it.
pub const SCALE_MAX: u16 = 300;

impl Default for Options {
    fn default() -> Self {
        Self { schema: None, seed: 1, scales: vec![3, 12, 40], calls: 8 }
    }
}

/// Runs every pattern of a model in every schema, on engines in memory.
///
/// Cost: for each schema and scale one load, and `calls` runs of each pattern.
///
/// # Errors
///
/// What keeps a schema from being laid out as tables, or an error of the engine itself. What goes
/// otherwise than proven is no error: it is in the report.
pub fn confirm(document: &Document, options: &Options) -> Result<Report, String> {
    run(document, options, None)
}

/// Runs as [`confirm`] does, and measures the calls of each pattern.
///
/// # Errors
///
/// Those of [`confirm`].
pub fn confirm_timed(
    document: &Document,
    options: &Options,
    clock: &dyn Clock,
) -> Result<Report, String> {
    run(document, options, Some(clock))
}

fn run(
    document: &Document,
    options: &Options,
    clock: Option<&dyn Clock>,
) -> Result<Report, String> {
    let mut verdicts = Vec::new();
    for trial in document.trials() {
        if options.schema.as_ref().is_some_and(|name| *name != trial.schema()) {
            continue;
        }
        let judged = judge::judge(&trial, options, clock)
            .map_err(|error| format!("schema {}: {error}", trial.schema()))?;
        verdicts.extend(judged);
    }
    Ok(Report { name: document.name().to_owned(), seed: options.seed, verdicts })
}
