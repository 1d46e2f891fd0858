//! The report of a comparison as text for people: on a terminal, or in a file.
//!
//! Invariant: it says what the answer says, and nothing more.

use std::fmt::Write as _;

use super::{Declared, PatternEntry, Spread, UncoveredEntry, WatchReport};

impl WatchReport {
    /// Returns the report as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a text does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let seconds = self.watched_ms / 1_000;
        writeln!(
            out,
            "{}, schema {} for {}: watched {seconds} s, {}",
            self.model,
            self.schema,
            self.target,
            counted(self.requests, "request")
        )?;
        let beside = [
            (self.refused, "refused or failed, not compared"),
            (self.dropped, "let go, faster than they could be compared; rates count them"),
            (self.unread, "of a form that is not compared"),
        ];
        for (count, what) in beside.into_iter().filter(|(count, _)| *count > 0) {
            writeln!(out, "{count} {what}")?;
        }
        writeln!(out, "\nPatterns")?;
        self.patterns.iter().try_for_each(|own| pattern(out, own))?;
        for (name, why) in &self.left_out {
            writeln!(out, "  {name}: not compared, {}", first_line(why))?;
        }
        writeln!(out, "\nRequests that no pattern covers")?;
        if self.uncovered.is_empty() {
            writeln!(out, "  none")?;
        }
        self.uncovered.iter().try_for_each(|own| uncovered(out, own))?;
        if self.uncovered_more > 0 {
            writeln!(out, "  and {} of further forms", counted(self.uncovered_more, "request"))?;
        }
        writeln!(out, "\nFindings")?;
        if self.findings.is_empty() {
            writeln!(out, "  none")?;
        }
        for own in &self.findings {
            write!(out, "  {}: {}: {}", own.kind, own.about, own.message)?;
            writeln!(
                out,
                "{}",
                if own.count > 1 { format!(" ({} times)", own.count) } else { String::new() }
            )?;
        }
        writeln!(out, "\nData looked at")?;
        if self.tables.is_empty() {
            writeln!(out, "  none yet")?;
        }
        for own in &self.tables {
            let (table, sampled, written) = (&own.table, own.sampled, own.written);
            write!(
                out,
                "  {table}: {} sampled, {written} seen as they were put",
                counted(sampled, "row")
            )?;
            match (&own.unreadable, own.rounds) {
                (Some(why), _) => writeln!(out, "; cannot be read: {}", first_line(why))?,
                (None, 0) => writeln!(out)?,
                (None, rounds) => writeln!(out, ", the whole table {}", times(rounds))?,
            }
        }
        Ok(())
    }
}

fn pattern(out: &mut String, own: &PatternEntry) -> std::fmt::Result {
    writeln!(out, "  {} [{}]", own.patterns.join(", "), own.status)?;
    writeln!(out, "    {}", own.request)?;
    if own.calls + own.further == 0 {
        return Ok(());
    }
    write!(
        out,
        "    {}, {} on average, {} in the busiest 10 s, declared {}",
        counted(own.calls, "call"),
        rate_text(own.rate),
        rate_text(own.busiest_rate),
        own.declared_rate.map_or_else(|| "none".to_owned(), rate_text)
    )?;
    let further =
        if own.further > 0 { format!(", {} of further steps", own.further) } else { String::new() };
    writeln!(out, "{further}")?;
    if own.reads {
        writeln!(
            out,
            "    rows {}, read {}, declared {}",
            own.rows_returned.text(),
            own.rows_read.text(),
            own.declared_rows.text()
        )?;
    }
    writeln!(out, "    microseconds {}", own.took_us.text())
}

fn uncovered(out: &mut String, own: &UncoveredEntry) -> std::fmt::Result {
    writeln!(out, "  {} [{}, {}]", own.request, counted(own.calls, "call"), rate_text(own.rate))?;
    writeln!(out, "    {}", own.why)?;
    writeln!(out, "    rows {}, read {}", own.rows_returned.text(), own.rows_read.text())?;
    own.proposed.iter().try_for_each(|line| writeln!(out, "    {line}"))
}

impl Spread {
    /// Returns the figures as text: half, ninety-nine of a hundred, all.
    #[must_use]
    pub fn text(&self) -> String {
        format!("p50 {} p99 {} max {}", self.p50, self.p99, self.max)
    }
}

impl Declared {
    /// Returns the figures that are declared as text.
    #[must_use]
    pub fn text(&self) -> String {
        let named = [("avg", self.average), ("p99", self.p99), ("max", self.max)];
        let known: Vec<String> = named
            .into_iter()
            .filter_map(|(name, figure)| Some(format!("{name} {}", figure_text(figure?))))
            .collect();
        if known.is_empty() { "none".to_owned() } else { known.join(" ") }
    }
}

fn figure_text(figure: f64) -> String {
    if figure.fract() == 0.0 { format!("{figure:.0}") } else { format!("{figure:.1}") }
}

/// Returns a rate with the unit in which it is at least one, if there is one.
#[must_use]
pub fn rate_text(rate: f64) -> String {
    let units = [(1.0, "s"), (60.0, "min"), (3_600.0, "h")];
    let found = units.into_iter().find(|(seconds, _)| rate * seconds >= 1.0);
    match found {
        Some((seconds, unit)) => format!("{:.1}/{unit}", rate * seconds),
        None if rate == 0.0 => "0/s".to_owned(),
        None => format!("{:.1}/day", rate * 86_400.0),
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
