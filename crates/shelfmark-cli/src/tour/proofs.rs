//! Runs the seven models in the modeller's language: each read that a published schema does not
//! serve, on the state that shows it, beside the read that is proven.
//!
//! What it is not: a proof. The modeller proves; here the engine does what the proof says.
//!
//! The time of an answer is that of its own calls.

use anyhow::anyhow;
use serde_json::Value;
use shelfmark_confirm::{Options, Report, Shown, Verdict, confirm_timed};
use shelfmark_design::shown::brief;
use shelfmark_design::{Document, Status};

use super::{Outcome, Plan, Stage};

/// Name of each model, the face of its document, and its text.
pub(super) const MODELS: [(&str, &str, &str); 7] = [
    ("openchat", "candb", include_str!("../../data/seeds/openchat.shelf")),
    ("reddit", "candb", include_str!("../../data/seeds/reddit.shelf")),
    ("publication", "dynamodb", include_str!("../../data/seeds/publication.shelf")),
    ("blog", "orderedtable", include_str!("../../data/seeds/blog.shelf")),
    ("twissandra", "cassandra-cli", include_str!("../../data/seeds/twissandra.shelf")),
    ("followers", "cql", include_str!("../../data/seeds/followers.shelf")),
    ("phonebook", "cql", include_str!("../../data/seeds/phonebook.shelf")),
];

/// The schema that serves each model completely.
const CORRECTED: &str = "corrected";
/// Size of the generated states.
const SCALE: usize = 12;
/// Calls of each pattern.
const CALLS: usize = 4;
/// Longest text of a value that is shown.
const SHOWN_CHARACTERS_MAX: usize = 160;

/// Confirms the models on their own in-memory engines.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for (name, face, text) in MODELS {
        (stage.progress)(name);
        let clock = &*stage.engine.environment().clock;
        let document = Document::parse(name, text)?;
        let options = Options { schema: None, seed: stage.seed, scales: vec![SCALE], calls: CALLS };
        let report = confirm_timed(&document, &options, clock).map_err(|error| anyhow!(error))?;
        let of = Of { model: name, face };
        outcomes.extend(of.outcomes(&report));
    }
    Ok(outcomes)
}

/// The common fields of one model's outcomes.
#[derive(Clone, Copy)]
struct Of {
    model: &'static str,
    face: &'static str,
}

impl Of {
    /// Returns the reads that fail in a schema, each group followed by the one that is proven.
    fn outcomes(self, report: &Report) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let proven = report.verdicts.iter().filter(|own| {
            own.schema == CORRECTED
                && !own.write
                && matches!(own.status, Status::Certified | Status::Multi)
        });
        for right in proven {
            let wrong = report.verdicts.iter().filter(|own| {
                own.schema != CORRECTED
                    && own.pattern == right.pattern
                    && own.status == Status::Refused
            });
            let wrong: Vec<Outcome> =
                wrong.filter_map(|own| Some(self.refused(own, own.shown.as_ref()?))).collect();
            if !wrong.is_empty() {
                outcomes.extend(wrong);
                outcomes.push(self.certified(right));
            }
        }
        outcomes
    }

    fn outcome(self, verdict: &Verdict, plan: Plan) -> Outcome {
        Outcome {
            model: self.model,
            face: self.face,
            pattern: format!("proof.{}", verdict.pattern).into(),
            plan,
            question: format!("{} of the model {}", verdict.pattern, self.model),
            range: String::new(),
            rows_read: verdict.rows_read,
            rows_returned: verdict.rows_handed_on,
            ms: (verdict.took.as_secs_f64() * 1e6).round() / 1e3,
            correct: verdict.ok,
            note: verdict.note.clone(),
            proof: Some(format!("{}.{}", verdict.schema, verdict.pattern)),
            differing: Vec::new(),
        }
    }

    fn refused(self, verdict: &Verdict, shown: &Shown) -> Outcome {
        Outcome {
            range: format!("schema {}, called with {}", verdict.schema, short(&shown.call)),
            // The engine did what the proof foretold: it answered wrongly.
            correct: !verdict.ok,
            note: format!("{}{}; state: {}", verdict.note, sides(shown), short(&shown.state)),
            ..self.outcome(verdict, Plan::Published)
        }
    }

    fn certified(self, verdict: &Verdict) -> Outcome {
        Outcome {
            range: format!(
                "schema {}, {} calls on a state of its own",
                verdict.schema, verdict.calls
            ),
            note: format!(
                "{}: {} key ranges touched, each as the certificate claims",
                verdict.status.word(),
                verdict.ranges
            ),
            ..self.outcome(verdict, Plan::Right)
        }
    }
}

/// Returns the right result and the found one, where the plan gave an answer at all.
fn sides(shown: &Shown) -> String {
    if shown.right.is_string() || shown.plan.is_string() {
        return String::new();
    }
    format!("; right: {}; the plan gave: {}", short(&shown.right), short(&shown.plan))
}

/// Formats a value on part of a line.
fn short(value: &Value) -> String {
    brief(value, SHOWN_CHARACTERS_MAX)
}
