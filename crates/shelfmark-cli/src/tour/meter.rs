//! Adds up the access reports of running work.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shelfmark_engine::{AccessReport, AccessStep, Engine};

use super::asker::Answer;
use super::outcome::Rows;

/// Collects the access reports of an engine's reads and writes.
#[derive(Clone, Default)]
pub(crate) struct Meter {
    report: Arc<Mutex<AccessReport>>,
}

impl Meter {
    /// Returns an engine whose work this meter counts.
    pub(crate) fn on(&self, engine: &Engine) -> Engine {
        let meter = self.clone();
        engine.observed(move |report: &AccessReport| meter.lock().extend(report.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, AccessReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the reports so far and resets them.
    pub(crate) fn take(&self) -> AccessReport {
        std::mem::take(&mut self.lock())
    }

    /// Runs a closure and returns its access report too.
    pub(crate) fn measure<T>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<(T, Rows)> {
        self.take();
        let value = work()?;
        Ok((value, Rows::of(&self.take())))
    }

    /// Runs a plan and returns its rows, or the first refusal, with its access report.
    pub(crate) fn answer(
        &self,
        plan: impl FnOnce() -> anyhow::Result<(Vec<String>, Option<String>)>,
    ) -> anyhow::Result<Answer> {
        self.take();
        let (values, refusal) = plan()?;
        let report = self.take();
        Ok(Answer { values, rows: Rows::of(&report), touched: touched(&report), refusal })
    }
}

/// Names the tables and indexes of a report in the order they were first read, with the number of
/// stretches where there are several: `index by_name, users (3 rows)`.
fn touched(report: &AccessReport) -> String {
    let mut names: Vec<String> = Vec::new();
    for step in &report.steps {
        let name = name(step);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shown: Vec<String> = names
        .into_iter()
        .map(|own| {
            let steps = report.steps.iter().filter(|step| name(step) == own);
            match stretches(steps) {
                0 | 1 => own,
                several => format!("{own} ({several} ranges)"),
            }
        })
        .collect();
    shown.join(", then ")
}

fn name(step: &AccessStep) -> String {
    match &step.index {
        Some(index) => format!("index {index}"),
        None => step.table.clone(),
    }
}

/// Counts ranges; one that continues at a page's end is not counted again.
fn stretches<'s>(steps: impl Iterator<Item = &'s AccessStep>) -> usize {
    let mut own: Vec<&shelfmark_store::KeyRange> = Vec::new();
    for range in steps.flat_map(|step| &step.ranges) {
        let known = own.iter().any(|known| {
            known.start <= range.start
                && match (&known.end, &range.end) {
                    (None, _) => true,
                    (Some(known), Some(end)) => end <= known,
                    (Some(_), None) => false,
                }
        });
        if !known {
            own.push(range);
        }
    }
    own.len()
}
