//! Cutting a recorded run off everywhere, and judging every store that could be left.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use shelfmark_store::random::SplitMix;
use shelfmark_store::{Durability, vfs};

use crate::powercut::cuts::{Case, Effort, cases, play};
use crate::powercut::disk::Disk;
use crate::powercut::image::{Image, choices};
use crate::powercut::recording::Event;

use super::judge;
use super::plan::Plan;
use super::promise::{Promise, Promises};

/// A recorded run, and what is known of it.
pub struct Trial {
    /// The plan of its writes.
    pub plan: Plan,
    /// The durability mode.
    pub durability: Durability,
    /// The disk at its start.
    pub start: Disk,
    /// The recorded events.
    pub events: Vec<Event>,
    /// The folder for images.
    pub scratch: PathBuf,
    passed: BTreeSet<(u64, Promise)>,
    next: u64,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Cuts that were made.
    pub cuts: usize,
    /// Cases that were looked at.
    pub cases: usize,
    /// Different stores that were judged.
    pub judged: usize,
    /// The first store that was found wanting: why, and how to get there.
    pub failure: Option<String>,
}

impl Trial {
    /// Prepares the trial of `events`, which happened to `start`. Images are put below `scratch`.
    #[must_use]
    pub fn new(
        plan: Plan,
        durability: Durability,
        start: Disk,
        mut events: Vec<Event>,
        scratch: PathBuf,
    ) -> Self {
        name_targets(&mut events);
        Self { plan, durability, start, events, scratch, passed: BTreeSet::new(), next: 0 }
    }

    /// Lists the sites of the syncs, each once, as `target: function < caller < …`.
    #[must_use]
    pub fn sites(&self) -> BTreeSet<String> {
        let sites = self.events.iter().filter_map(|event| match event {
            Event::SyncBegin { site, .. } => Some(site.clone()),
            _ => None,
        });
        sites.collect()
    }

    /// Checks that the recording, played to its end, gives what is in `root` now.
    ///
    /// # Errors
    ///
    /// * A text: where they differ. Something went past the recorder.
    pub fn check_complete(&self, root: &Path) -> Result<(), String> {
        let mut disk = self.start.clone();
        self.events.iter().try_for_each(|event| disk.apply(event))?;
        let rebuilt = Image::of(&disk, |_| crate::powercut::image::Fate::Kept);
        let real = Image::read(root).map_err(|error| error.to_string())?;
        let paths = rebuilt.0.keys().chain(real.0.keys());
        let different: BTreeSet<_> =
            paths.filter(|path| rebuilt.0.get(*path) != real.0.get(*path)).collect();
        if different.is_empty() { Ok(()) } else { Err(format!("{different:?} differ")) }
    }

    /// Cuts everywhere. Syncs whose site `skip` takes are left out. Ends with the first failure.
    ///
    /// # Errors
    ///
    /// * A text: the recording is impossible, or an image cannot be put anywhere.
    pub fn run(&mut self, skip: impl Fn(&str) -> bool, effort: Effort) -> Result<Outcome, String> {
        self.run_with(skip, effort, judge::judge)
    }

    /// Works as [`Trial::run`], with a judge of the caller's.
    ///
    /// # Errors
    ///
    /// * As [`Trial::run`].
    pub fn run_with<T>(
        &mut self,
        skip: impl Fn(&str) -> bool,
        effort: Effort,
        mut judge: impl FnMut(&Path, &Plan, &Promise) -> Result<T, String>,
    ) -> Result<Outcome, String> {
        let promises = std::cell::RefCell::new(Promises::new(self.durability));
        let mut random = SplitMix::new(effort.seed);
        let mut outcome = Outcome { cuts: 0, cases: 0, judged: 0, failure: None };
        let events = std::mem::take(&mut self.events);
        let start = self.start.clone();
        let end = play(
            start,
            &events,
            skip,
            |event| promises.borrow_mut().observe(event),
            |cut, disk| {
                outcome.cuts += 1;
                let promise = promises.borrow().now().clone();
                let choices = choices(disk);
                for case in cases(&choices, effort, &mut random) {
                    outcome.cases += 1;
                    let judged = self.judge_case(disk, &case, &promise, &mut judge);
                    match judged {
                        Ok(new) => outcome.judged += usize::from(new),
                        Err(why) => {
                            return ControlFlow::Break(format!(
                                "cut after event {} of {}: {why}\npending:\n{}promised: {promise:?}",
                                cut.events,
                                events.len(),
                                case.describe(&choices)
                            ));
                        }
                    }
                }
                ControlFlow::Continue(())
            },
        );
        self.events = events;
        outcome.failure = end?;
        Ok(outcome)
    }

    /// Judges one image, unless the same was judged. Returns whether it was new.
    fn judge_case<T>(
        &mut self,
        disk: &Disk,
        case: &Case,
        promise: &Promise,
        judge: &mut impl FnMut(&Path, &Plan, &Promise) -> Result<T, String>,
    ) -> Result<bool, String> {
        let image = Image::of(disk, |number| case.fate(number));
        let known = (image.hash(), promise.clone());
        if self.passed.contains(&known) {
            return Ok(false);
        }
        self.next += 1;
        let root = self.scratch.join(self.next.to_string());
        let text = |error: std::io::Error| format!("the test's own files: {error}");
        image.put(&root).map_err(text)?;
        judge(&root.join("store"), &self.plan, promise)?;
        vfs::remove_tree(&root).map_err(text)?;
        self.passed.insert(known);
        Ok(true)
    }
}

/// Puts the name of what is synced before the site of each sync; numbers in names are left out.
fn name_targets(events: &mut [Event]) {
    let mut targets = BTreeMap::new();
    for event in events {
        match event {
            Event::Open { handle, path, .. } => {
                let name = path.file_name().map_or("root".into(), |name| name.to_string_lossy());
                let name = match name.strip_prefix(".tmp") {
                    Some(_) => ".tmp".to_owned(),
                    None => name.trim_matches(|letter: char| letter.is_ascii_digit()).to_owned(),
                };
                targets.insert(*handle, name);
            }
            Event::SyncBegin { handle, site, .. } => {
                let target = targets.get(handle).map_or("", String::as_str);
                *site = format!("{target}: {site}");
            }
            _ => {}
        }
    }
}
