//! Judges the outcome of a run of mutants.

use std::fmt;
use std::path::Path;

use anyhow::Context as _;

/// The number of mutants that were noticed, and the names of the others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// A test failed, or the tests ran out of time.
    pub(crate) noticed: usize,
    /// Those that do not compile count for nothing.
    pub(crate) unviable: usize,
    /// Those that were not tried, because their functions have no form in which many are built together.
    pub(crate) left_out: usize,
    pub(crate) missed: Vec<String>,
}

impl Verdict {
    /// Returns the number of mutants.
    pub(crate) fn tried(&self) -> usize {
        self.noticed + self.unviable + self.left_out + self.missed.len()
    }

    /// Tells whether so many of a hundred were noticed.
    pub(crate) fn reaches(&self, percent: usize) -> bool {
        self.noticed * 100 >= percent * (self.noticed + self.missed.len())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.noticed + self.missed.len();
        write!(f, "{} of {all} noticed, {} do not compile", self.noticed, self.unviable)?;
        match self.left_out {
            0 => Ok(()),
            count => write!(f, ", {count} not tried"),
        }
    }
}

/// Reads what `cargo mutants` wrote of the mutants that were chosen.
pub(crate) fn read(path: &Path, chosen: &[String]) -> anyhow::Result<Verdict> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text, chosen)
}

fn parse(text: &str, chosen: &[String]) -> anyhow::Result<Verdict> {
    let json: serde_json::Value = serde_json::from_str(text)?;
    let outcomes = json.get("outcomes").and_then(serde_json::Value::as_array);
    let mut verdict = Verdict::default();
    for outcome in outcomes.context("no outcomes")? {
        // The run without a mutant is no outcome of one.
        let Some(mutant) = outcome.get("scenario").and_then(|scenario| scenario.get("Mutant"))
        else {
            continue;
        };
        let name = mutant.get("name").and_then(serde_json::Value::as_str).context("no name")?;
        if !chosen.iter().any(|own| own == name) {
            continue;
        }
        match outcome.get("summary").and_then(serde_json::Value::as_str).context("no summary")? {
            "CaughtMutant" | "Timeout" => verdict.noticed += 1,
            "Unviable" => verdict.unviable += 1,
            _ => verdict.missed.push(name.to_owned()),
        }
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_noticed_nor_unviable_is_missed() {
        let outcome = |name: &str, summary: &str| serde_json::json!({ "scenario": { "Mutant": { "name": name } }, "summary": summary });
        let outcomes = serde_json::json!([
            { "scenario": "Baseline", "summary": "Success" },
            outcome("a", "CaughtMutant"),
            outcome("b", "Timeout"),
            outcome("c", "Unviable"),
            outcome("d", "MissedMutant"),
            outcome("e", "Failure"),
            outcome("not chosen", "MissedMutant"),
        ]);
        let chosen = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let text = serde_json::json!({ "outcomes": outcomes }).to_string();
        let verdict = parse(&text, &chosen).unwrap();
        assert_eq!((verdict.noticed, verdict.unviable), (2, 1));
        assert_eq!(verdict.missed, ["d", "e"]);
        assert!(verdict.reaches(50) && !verdict.reaches(51));
    }
}
