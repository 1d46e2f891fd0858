//! Asks one question: measures it, counts its rows, compares its answer.

use std::sync::Arc;

use shelfmark_store::clock::Clock;

use super::outcome::{Outcome, Plan, Rows};

/// Limits the rows of a wrong answer that are shown.
const DIFFERING_ROWS_MAX: usize = 3;

/// A question and the plan that answers it.
pub(crate) struct Question {
    /// Its name in the JSON output.
    pub(crate) pattern: &'static str,
    pub(crate) plan: Plan,
    /// The question in a person's words.
    pub(crate) question: String,
    /// The key range in readable form.
    pub(crate) range: String,
    /// A note for the reader.
    pub(crate) note: &'static str,
}

/// The result of a plan.
#[derive(Default)]
pub(crate) struct Answer {
    /// One text per row, in the order of the answer.
    pub(crate) values: Vec<String>,
    pub(crate) rows: Rows,
    /// The tables and indexes that were read, if the face reports them; they stand before the
    /// range.
    pub(crate) touched: String,
    /// The face's message, where it refused the plan or a part of it.
    pub(crate) refusal: Option<String>,
}

impl Answer {
    /// Returns an answer of rows alone.
    pub(crate) fn new(values: Vec<String>, rows: Rows) -> Self {
        Self { values, rows, ..Self::default() }
    }
}

/// Collects the outcomes of one model.
pub(crate) struct Asker {
    model: &'static str,
    face: &'static str,
    clock: Arc<dyn Clock>,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Asker {
    pub(crate) fn new(model: &'static str, face: &'static str, clock: Arc<dyn Clock>) -> Self {
        Self { model, face, clock, outcomes: Vec::new() }
    }

    /// Runs the plan and compares its answer with `expected`, in order.
    pub(crate) fn ask(
        &mut self,
        question: Question,
        expected: &[String],
        plan: impl FnOnce() -> anyhow::Result<Answer>,
    ) -> anyhow::Result<()> {
        let began = self.clock.monotonic();
        let answer = plan()?;
        let took = self.clock.monotonic() - began;
        let correct = answer.values == expected;
        let found = match &answer.refusal {
            Some(refusal) => format!("refused: {refusal}"),
            None if correct => String::new(),
            None => difference(&answer.values, expected),
        };
        let note = join(question.note, &found, "; ");
        let touched = match (answer.touched.as_str(), &answer.refusal) {
            ("", Some(_)) => "no range",
            (touched, _) => touched,
        };
        let range = join(touched, &question.range, ": ");
        self.outcomes.push(Outcome {
            model: self.model,
            face: self.face,
            pattern: question.pattern.into(),
            plan: question.plan,
            question: question.question,
            range,
            rows_read: answer.rows.read,
            rows_returned: answer.rows.returned,
            ms: (took.as_secs_f64() * 1e6).round() / 1e3,
            correct,
            note,
            proof: None,
            differing: match answer.refusal {
                Some(_) => Vec::new(),
                None => differing(&answer.values, expected),
            },
        });
        Ok(())
    }
}

/// Joins two texts by a separator, which is left out if one is empty.
fn join(first: &str, second: &str, between: &str) -> String {
    match (first, second) {
        ("", only) | (only, "") => only.to_owned(),
        (first, second) => format!("{first}{between}{second}"),
    }
}

/// Pairs the rows of an answer with the expected ones, from the first that differs on.
fn differing(found: &[String], expected: &[String]) -> Vec<(String, String)> {
    let at = |rows: &[String], place: usize| rows.get(place).cloned().unwrap_or_default();
    (0..found.len().max(expected.len()))
        .map(|place| (at(found, place), at(expected, place)))
        .skip_while(|(found, expected)| found == expected)
        .take(DIFFERING_ROWS_MAX)
        .collect()
}

/// Describes how an answer differs from the expected one.
fn difference(found: &[String], expected: &[String]) -> String {
    let missing = expected.iter().filter(|value| !found.contains(value)).count();
    let extra = found.iter().filter(|value| !expected.contains(value)).count();
    match (missing, extra) {
        (0, 0) => "the right rows in the wrong order".to_owned(),
        (missing, 0) => format!("{missing} of {} rows are missing", expected.len()),
        (0, extra) => format!("{extra} rows do not belong to the answer"),
        (missing, extra) => format!(
            "{missing} of {} rows are missing, {extra} do not belong to the answer",
            expected.len()
        ),
    }
}
