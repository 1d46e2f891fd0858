//! The seven models in the modeller's language: each read that a published schema does not serve,
//! run on the state that shows it, beside the read that is proven.
//!
//! What it is not: a proof. The modeller proves; here the engine does what the proof says.
//!
//! The time of an answer is its model's time shared among its patterns: a confirmation measures no
//! single call.

use anyhow::anyhow;
use serde_json::Value;
use shelfmark_confirm::{Options, Report, Shown, Verdict, brief, confirm};
use shelfmark_design::{Document, Status};

use super::{Outcome, Plan, Stage};

/// Name and text of each model.
const MODELS: [(&str, &str); 7] = [
    ("openchat", include_str!("../../../../models/seeds/openchat.shelf")),
    ("reddit", include_str!("../../../../models/seeds/reddit.shelf")),
    ("publication", include_str!("../../../../models/seeds/publication.shelf")),
    ("blog", include_str!("../../../../models/seeds/blog.shelf")),
    ("twissandra", include_str!("../../../../models/seeds/twissandra.shelf")),
    ("followers", include_str!("../../../../models/seeds/followers.shelf")),
    ("phonebook", include_str!("../../../../models/seeds/phonebook.shelf")),
];

/// The schema of each model that serves all of it.
const CORRECTED: &str = "corrected";
/// Size of the states that are drawn.
const SCALE: usize = 12;
/// Calls of each pattern.
const CALLS: usize = 4;
/// Longest text of a value that is shown.
const SHOWN_CHARACTERS_MAX: usize = 160;

/// Confirms the models on engines of their own, in memory.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for (name, text) in MODELS {
        (stage.progress)(name);
        let clock = &stage.engine.environment().clock;
        let began = clock.monotonic();
        let document = Document::parse(name, text)?;
        let options = Options { schema: None, seed: stage.seed, scales: vec![SCALE], calls: CALLS };
        let report = confirm(&document, &options).map_err(|error| anyhow!(error))?;
        let took = (clock.monotonic() - began).as_secs_f64() * 1e3;
        let share = f64::from(u32::try_from(report.verdicts.len().max(1)).unwrap_or(u32::MAX));
        outcomes.extend(of_model(name, &report, (took / share * 1e3).round() / 1e3));
    }
    Ok(outcomes)
}

/// Reads that go wrong in a schema, each group with the one that is proven behind it.
fn of_model(model: &str, report: &Report, ms: f64) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let proven = report.verdicts.iter().filter(|own| {
        own.schema == CORRECTED
            && !own.write
            && matches!(own.status, Status::Certified | Status::Multi)
    });
    for right in proven {
        let wrong = report.verdicts.iter().filter(|own| {
            own.schema != CORRECTED && own.pattern == right.pattern && own.status == Status::Refused
        });
        let wrong: Vec<Outcome> =
            wrong.filter_map(|own| Some(refused(model, own, own.shown.as_ref()?, ms))).collect();
        if !wrong.is_empty() {
            outcomes.extend(wrong);
            outcomes.push(certified(model, right, ms));
        }
    }
    outcomes
}

fn outcome(model: &str, verdict: &Verdict, plan: Plan, ms: f64) -> Outcome {
    Outcome {
        model: "proofs",
        face: face(&verdict.target),
        pattern: format!("{model}.{}", verdict.pattern).into(),
        plan,
        question: format!("{} of the model {model}", verdict.pattern),
        range: String::new(),
        rows_read: verdict.rows_read,
        rows_returned: verdict.rows_returned,
        ms,
        correct: verdict.ok,
        note: verdict.note.clone(),
    }
}

/// The face whose keys a schema of this target has.
fn face(target: &str) -> &'static str {
    match target {
        "candb" => "candb",
        "dynamodb" => "dynamodb",
        "cql" => "cql",
        _ => "orderedtable",
    }
}

fn refused(model: &str, verdict: &Verdict, shown: &Shown, ms: f64) -> Outcome {
    Outcome {
        range: format!("schema {}, called with {}", verdict.schema, short(&shown.call)),
        // The engine did what the proof foretold: it answered wrongly.
        correct: !verdict.ok,
        note: format!("{}{}; state: {}", verdict.note, sides(shown), short(&shown.state)),
        ..outcome(model, verdict, Plan::Published, ms)
    }
}

/// What is right and what came, where the plan gave an answer at all.
fn sides(shown: &Shown) -> String {
    if shown.right.is_string() || shown.plan.is_string() {
        return String::new();
    }
    format!("; right: {}; the plan gave: {}", short(&shown.right), short(&shown.plan))
}

fn certified(model: &str, verdict: &Verdict, ms: f64) -> Outcome {
    Outcome {
        range: format!("schema {}, {} calls on a state of its own", verdict.schema, verdict.calls),
        note: format!(
            "{}: {} key ranges touched, each as the certificate claims",
            verdict.status.word(),
            verdict.ranges
        ),
        ..outcome(model, verdict, Plan::Right, ms)
    }
}

/// A value on part of a line.
fn short(value: &Value) -> String {
    brief(value, SHOWN_CHARACTERS_MAX)
}
