//! The lines of a run: what is tried, each case with its outcome and time, and the end.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use shelfmark_conformance::{Case, Outcome};

/// Standard output with a line below it that says what runs, on a terminal.
pub(super) struct Show {
    bar: ProgressBar,
    group: &'static str,
}

impl Show {
    pub(super) fn new(cases: usize) -> Self {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new(cases as u64),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) =
            ProgressStyle::with_template("{spinner} {pos} of {len}: {msg} ({elapsed})")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, group: "" }
    }

    /// Prints a line.
    pub(super) fn line(&self, line: &str) -> anyhow::Result<()> {
        let printed = self.bar.suspend(|| writeln!(anstream::stdout(), "{line}"));
        Ok(printed?)
    }

    /// Says that a case begins.
    pub(super) fn begins(&mut self, case: &Case) -> anyhow::Result<()> {
        if self.group != case.group {
            self.group = case.group;
            self.line(&format!("\n{}", words(case.group)))?;
        }
        self.bar.set_message(words(case.name));
        Ok(())
    }

    /// Says how a case ended.
    pub(super) fn ended(
        &self,
        case: &Case,
        outcome: &Outcome,
        took: Duration,
    ) -> anyhow::Result<()> {
        self.bar.inc(1);
        let (word, style) = match outcome {
            Outcome::Held => ("ok    ", AnsiColor::Green.on_default()),
            Outcome::Failed(_) => ("FAILED", AnsiColor::Red.on_default().bold()),
        };
        let (seconds, name) = (took.as_secs_f64(), words(case.name));
        self.line(&format!("  {style}{word}{style:#} {seconds:5.1} s  {name}"))?;
        if let Outcome::Failed(message) = outcome {
            let dim = Style::new().dimmed();
            for line in message.lines() {
                self.line(&format!("         {dim}{line}{dim:#}"))?;
            }
        }
        Ok(())
    }

    /// Removes the line that says what runs.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Returns a name as it is read.
pub(super) fn words(name: &str) -> String {
    name.replace('_', " ")
}
