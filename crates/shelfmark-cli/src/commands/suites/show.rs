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
        match outcome {
            Outcome::Held => self.row("ok    ", AnsiColor::Green.on_default(), case, took),
            Outcome::Failed(why) => {
                self.row("FAILED", AnsiColor::Red.on_default().bold(), case, took)?;
                self.reason(why)
            }
        }
    }

    /// Says that a case was stopped, which says nothing about the cluster.
    pub(super) fn stopped(&self, case: &Case, why: &str, took: Duration) -> anyhow::Result<()> {
        self.row("ended ", Style::new(), case, took)?;
        self.reason(why)
    }

    fn row(&self, word: &str, style: Style, case: &Case, took: Duration) -> anyhow::Result<()> {
        let (seconds, name) = (took.as_secs_f64(), words(case.name));
        self.line(&format!("  {style}{word}{style:#} {seconds:5.1} s  {name}"))
    }

    fn reason(&self, why: &str) -> anyhow::Result<()> {
        let dim = Style::new().dimmed();
        why.lines().try_for_each(|line| self.line(&format!("         {dim}{line}{dim:#}")))
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

/// Returns a count with its noun.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
