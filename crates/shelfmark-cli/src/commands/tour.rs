//! `shelfmark tour`: runs the teaching models and prints what they show.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use shelfmark_store::embedded::Options;

use crate::arguments::Tour;
use crate::store::open;
use crate::tour::{MODELS, Model, Outcome, Plan, Stage, how_to_go_on};

pub(crate) fn run(tour: &Tour) -> anyhow::Result<()> {
    let models = chosen(tour.model.as_deref())?;
    let scratch = tempfile::Builder::new().prefix("shelfmark-tour-").tempdir()?;
    let folder = tour.data.as_deref().unwrap_or(scratch.path());
    if tour.data.is_some() && folder.exists() && !shelfmark_store::vfs::list(folder)?.is_empty() {
        bail!("{} is not empty; the tour needs a folder of its own", folder.display());
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
        let outcomes = (model.run)(&stage)?;
        if !tour.json {
            spinner.suspend(|| print_model(model, &outcomes))?;
        }
        all.extend(outcomes);
    }
    spinner.finish_and_clear();
    engine.store().close()?;
    finish(tour, folder, &models, &all)
}

fn chosen(name: Option<&str>) -> anyhow::Result<Vec<&'static Model>> {
    let models: Vec<&Model> =
        MODELS.iter().filter(|model| name.is_none_or(|name| model.name == name)).collect();
    if models.is_empty() {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        bail!("there is no such model; there are: {}", names.join(", "));
    }
    Ok(models)
}

/// A line that moves while data is loaded; nothing in a pipe.
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
    let wrong = all.iter().filter(|outcome| !outcome.correct).count();
    let right_plans = all.iter().filter(|outcome| outcome.plan == Plan::Right);
    let right = right_plans.clone().filter(|outcome| outcome.correct).count();
    writeln!(
        out,
        "{} questions were asked. {wrong} published plans gave a wrong answer or none; {right} of \
         {} right plans were right.",
        all.len(),
        right_plans.count()
    )?;
    match &tour.data {
        Some(_) => writeln!(out, "{}", how_to_go_on(folder, models))?,
        None => writeln!(
            out,
            "Keep the data with --data DIR, and look at it with any client of DynamoDB or Cassandra."
        )?,
    }
    Ok(())
}

fn print_model(model: &Model, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    let bold = Style::new().bold();
    writeln!(out, "{bold}{}{bold:#}: {}\n", model.name, model.title)?;
    let mut last = "";
    for outcome in outcomes {
        if outcome.pattern != last {
            writeln!(out, "  {bold}{}{bold:#}", outcome.question)?;
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
    writeln!(out, "    {colour}{mark} {plan:<12}{colour:#} {}", outcome.range)?;
    writeln!(
        out,
        "      {dim}rows read {}, returned {}, {:.2} ms{dim:#}{}",
        outcome.rows_read,
        outcome.rows_returned,
        outcome.ms,
        if outcome.note.is_empty() { String::new() } else { format!("  {}", outcome.note) }
    )?;
    Ok(())
}
