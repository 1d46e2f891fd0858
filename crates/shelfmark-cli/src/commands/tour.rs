//! `shelfmark tour`: runs the teaching models and prints the results.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use shelfmark_store::embedded::Options;

use crate::arguments::Tour;
use crate::store::open;
use crate::table::terminal_width;
use crate::tour::{MODELS, Model, Outcome, Plan, Stage, how_to_go_on};

/// Column at which a plan's key range and its notes begin.
const RANGE_INDENT: usize = 19;
const NOTE_INDENT: usize = 6;

/// Least width of wrapped lines, however narrow the terminal is.
const WRAPPED_WIDTH_MIN: usize = 24;

/// Width of lines in columns where standard output is no terminal.
const PIPED_WIDTH: usize = 100;

/// Least width of a column of rows that are shown side by side.
const COLUMN_WIDTH_MIN: usize = 10;

/// Least length of a common beginning of all rows, in bytes, that is left out.
const COMMON_BYTES_MIN: usize = 12;

pub(crate) fn run(tour: &Tour) -> anyhow::Result<()> {
    let name = tour.model.as_deref();
    let models: Vec<&Model> =
        MODELS.iter().filter(|model| name.is_none_or(|name| model.name == name)).collect();
    let scratch = tempfile::Builder::new().prefix("shelfmark-tour-").tempdir()?;
    let folder = tour.data.as_deref().unwrap_or(scratch.path());
    if tour.data.is_some() && folder.exists() {
        let found = shelfmark_store::vfs::list(folder);
        let found = found.with_context(|| {
            format!("{} is no folder that can be read; name another", folder.display())
        })?;
        if !found.is_empty() {
            bail!("{} is not empty; the tour needs a folder of its own", folder.display());
        }
    }
    let engine = open(folder, Options::default(), true)?;
    let spinner = spinner(tour.json);
    let mut all = Vec::new();
    for model in &models {
        let stage = Stage {
            engine: &engine,
            seed: tour.seed,
            progress: &|text| spinner.set_message(format!("{}: {text}", model.name)),
        };
        let outcomes = model.outcomes(&stage)?;
        if !tour.json {
            spinner.suspend(|| print_model(model, &outcomes))?;
        }
        all.extend(outcomes);
    }
    spinner.finish_and_clear();
    engine.store().close()?;
    finish(tour, folder, &models, &all)
}

/// Returns a progress line while data is loaded; it stays hidden in a pipe.
fn spinner(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}

fn finish(tour: &Tour, folder: &Path, models: &[&Model], all: &[Outcome]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    if tour.json {
        writeln!(out, "{}", serde_json::to_string_pretty(all)?)?;
        return Ok(());
    }
    writeln!(out, "{}", wrapped(&totals(all), 0))?;
    match &tour.data {
        Some(_) => writeln!(out, "{}", how_to_go_on(folder, models))?,
        None => writeln!(
            out,
            "{}",
            wrapped(
                "Keep the data with --data DIR, and look at it with any client of DynamoDB or \
                 Cassandra.",
                0
            )
        )?,
    }
    Ok(())
}

/// Formats how many plans there were and how many of them were right.
fn totals(all: &[Outcome]) -> String {
    let count =
        |plan, correct| all.iter().filter(|own| own.plan == plan && own.correct == correct).count();
    let of = |plan| match (count(plan, true), count(plan, false)) {
        (right, 0) => format!("{right}, all right"),
        (right, wrong) => format!("{} ({right} right, {wrong} wrong)", right + wrong),
    };
    format!(
        "{} questions were answered by {} plans. As published: {}. Ours: {}.",
        questions(all),
        all.len(),
        of(Plan::Published),
        of(Plan::Right)
    )
}

/// Returns the number of questions: several plans of one count once.
fn questions(all: &[Outcome]) -> usize {
    let asked: BTreeSet<_> = all.iter().map(|own| (own.model, &own.pattern)).collect();
    asked.len()
}

fn print_model(model: &Model, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    let bold = Style::new().bold();
    let title = wrapped(&format!("{}: {}", model.name, model.title), 2);
    let title = title.strip_prefix(model.name).unwrap_or(&title);
    writeln!(out, "{bold}{}{bold:#}{title}", model.name)?;
    if !model.published.is_empty() {
        writeln!(out, "  {}", wrapped(&format!("published in {}", model.published), 2))?;
    }
    writeln!(out)?;
    let mut last = "";
    for outcome in outcomes {
        if outcome.pattern != last {
            writeln!(out, "  {bold}{}{bold:#}", wrapped(&outcome.question, 2))?;
            last = outcome.pattern.as_ref();
        }
        print_outcome(&mut out, outcome)?;
    }
    writeln!(out)?;
    Ok(())
}

fn print_outcome(out: &mut impl std::io::Write, outcome: &Outcome) -> anyhow::Result<()> {
    let (mark, colour) =
        if outcome.correct { ("✓", AnsiColor::Green) } else { ("✗", AnsiColor::Red) };
    let colour = colour.on_default();
    let dim = Style::new().dimmed();
    let plan = match outcome.plan {
        Plan::Published => "as published",
        Plan::Right => "right",
    };
    let range = wrapped(&outcome.range, RANGE_INDENT);
    writeln!(out, "    {colour}{mark} {plan:<12}{colour:#} {range}")?;
    let rows = format!(
        "rows read {}, returned {}, {:.2} ms",
        outcome.rows_read, outcome.rows_returned, outcome.ms
    );
    let noted = wrapped(&format!("{rows}  {}", outcome.note), NOTE_INDENT);
    match noted.strip_prefix(&rows) {
        Some(note) => writeln!(out, "      {dim}{rows}{dim:#}{note}")?,
        None => writeln!(out, "      {noted}")?,
    }
    if !outcome.differing.is_empty() {
        print_differing(out, &outcome.differing)?;
    }
    Ok(())
}

/// Prints rows of a wrong answer and of the right one side by side.
fn print_differing(
    out: &mut impl std::io::Write,
    differing: &[(String, String)],
) -> anyhow::Result<()> {
    let dim = Style::new().dimmed();
    let common = common_beginning(differing);
    let shown = |row: &str| match row.get(common..) {
        _ if row.is_empty() => "-".to_owned(),
        Some(rest) if common > 0 => format!("…{rest}"),
        _ => row.to_owned(),
    };
    let rows: Vec<_> = differing.iter().map(|(one, other)| (shown(one), shown(other))).collect();
    let widest = rows.iter().map(|(found, _)| textwrap::core::display_width(found)).max();
    let width = (line_width().saturating_sub(NOTE_INDENT + 2) / 2)
        .min(widest.unwrap_or(0).max(COLUMN_WIDTH_MIN) + 2);
    writeln!(out, "      {dim}{} instead of{dim:#}", cell("it gives", width))?;
    for (found, expected) in rows {
        let (found, expected) = (cell(&found, width), cell(&expected, width));
        writeln!(out, "      {found} {}", expected.trim_end())?;
    }
    Ok(())
}

/// Returns the length in bytes of the common beginning of all rows, if it is worth leaving out.
fn common_beginning(differing: &[(String, String)]) -> usize {
    let mut rows = differing
        .iter()
        .flat_map(|(found, expected)| [found.as_str(), expected.as_str()])
        .filter(|row| !row.is_empty());
    let Some(first) = rows.next() else { return 0 };
    let common = rows.fold(first, |common, row| {
        let same = common.char_indices().zip(row.chars());
        let end = same.take_while(|((_, one), other)| one == other).last();
        let end = end.map_or(0, |((place, last), _)| place + last.len_utf8());
        common.get(..end).unwrap_or_default()
    });
    // Words and parts of keys are left out whole.
    let end = common.rfind([' ', '#']).map_or(0, |place| place + 1);
    if end < COMMON_BYTES_MIN { 0 } else { end }
}

/// Cuts or pads a text to a width.
fn cell(text: &str, width: usize) -> String {
    let mut cell = String::new();
    let mut left = width;
    for character in text.chars() {
        let wide = textwrap::core::display_width(character.encode_utf8(&mut [0; 4]));
        if wide + 1 > left {
            cell.push('…');
            left = left.saturating_sub(1);
            break;
        }
        cell.push(character);
        left -= wide;
    }
    cell.push_str(&" ".repeat(left));
    cell
}

/// Wraps a text between words; the lines after the first begin at `indent`.
fn wrapped(text: &str, indent: usize) -> String {
    let width = line_width().saturating_sub(indent).max(WRAPPED_WIDTH_MIN);
    textwrap::wrap(text.trim_end(), width).join(&format!("\n{}", " ".repeat(indent)))
}

/// Returns the terminal's width; in a pipe [`PIPED_WIDTH`].
fn line_width() -> usize {
    terminal_width().map_or(PIPED_WIDTH, usize::from)
}
