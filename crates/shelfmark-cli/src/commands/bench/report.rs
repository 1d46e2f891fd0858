//! Prints the table of `bench`.

use std::io::Write as _;

use super::load::Figures;
use crate::arguments::Bench;
use crate::table::table;

/// Rows of figures: the bare store's and the engine's, and those of starts.
pub(super) struct Report {
    markdown: bool,
    head: String,
    rows: Vec<[String; 6]>,
    starts: Vec<[String; 3]>,
}

impl Report {
    pub(super) fn new(bench: &Bench) -> Self {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let head = format!(
            "{cores} cores; {} items of 200 bytes; {} s each; durability: sync before every answer",
            bench.items, bench.seconds
        );
        Self { markdown: bench.markdown, head, rows: Vec::new(), starts: Vec::new() }
    }

    /// Adds a row; `least` is the ratio that the design demands.
    pub(super) fn add(&mut self, work: &str, least: f64, figures: Vec<Figures>) {
        let [bare, engine] = figures.as_slice() else { return };
        self.rows.push([
            work.to_owned(),
            format!("{:.0}", bare.per_second),
            format!("{:.0}", engine.per_second),
            format!("{:.2}", engine.per_second / bare.per_second),
            format!("{least:.1}"),
            format!(
                "{} / {} µs, {} / {} µs",
                bare.p50_micros, bare.p99_micros, engine.p50_micros, engine.p99_micros
            ),
        ]);
    }

    /// Adds a figure of a start; `most` is the design's limit.
    pub(super) fn add_start(&mut self, what: &str, figure: String, most: &str) {
        self.starts.push([what.to_owned(), figure, most.to_owned()]);
    }

    pub(super) fn print(&self) -> anyhow::Result<()> {
        let heads =
            ["work", "bare store /s", "engine /s", "ratio", "at least", "p50 / p99, bare, engine"];
        writeln!(std::io::stdout(), "{}", self.head)?;
        self.print_table(heads, &self.rows)?;
        self.print_table(["start and memory", "figure", "at most"], &self.starts)
    }

    fn print_table<const COLUMNS: usize>(
        &self,
        heads: [&str; COLUMNS],
        rows: &[[String; COLUMNS]],
    ) -> anyhow::Result<()> {
        let mut out = std::io::stdout();
        if self.markdown {
            writeln!(out, "\n| {} |", heads.join(" | "))?;
            writeln!(out, "|{}", " --- |".repeat(COLUMNS))?;
            for row in rows {
                writeln!(out, "| {} |", row.join(" | "))?;
            }
            return Ok(());
        }
        let mut shown = table(heads);
        for row in rows {
            shown.add_row(row);
        }
        writeln!(out, "{shown}")?;
        Ok(())
    }
}
