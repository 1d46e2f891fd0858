//! Enumerates the moments of a power cut, and the cases to check at each.
//!
//! Invariant: at every cut, the case in which everything pending is lost and the one in which all
//! of it is kept are looked at; with few pending changes, every choice among whole changes is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use shelfmark_store::random::SplitMix;

use super::disk::Disk;
use super::image::{Choice, Fate};
use super::recording::Event;

/// The number of cases to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// With up to this many pending changes, all choices among them.
    pub all_upto: usize,
    /// Most cases of one cut; the rest is drawn from the seed.
    pub cases_max: usize,
    /// Decides what is drawn.
    pub seed: u64,
}

impl Effort {
    /// Checks every cut, with few cases of each: for tests that run always.
    #[must_use]
    pub fn short(seed: u64) -> Self {
        Self { all_upto: 4, cases_max: 24, seed }
    }

    /// Checks of every cut only the case in which everything pending is lost.
    #[must_use]
    pub fn all_lost() -> Self {
        Self { all_upto: 0, cases_max: 1, seed: 0 }
    }

    /// Thousands of cases of each cut.
    #[must_use]
    pub fn long(seed: u64) -> Self {
        Self { all_upto: 9, cases_max: 2000, seed }
    }
}

/// The fate of all pending changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    rest: Fate,
    fates: BTreeMap<u64, Fate>,
}

impl Case {
    fn all(rest: Fate) -> Self {
        Self { rest, fates: BTreeMap::new() }
    }

    fn except(rest: Fate, number: u64, fate: Fate) -> Self {
        Self { rest, fates: BTreeMap::from([(number, fate)]) }
    }

    fn kept(choices: &[Choice], keep: impl Fn(usize) -> bool) -> Self {
        let kept = choices.iter().enumerate().filter(|(at, _)| keep(*at));
        Self {
            rest: Fate::Lost,
            fates: kept.map(|(_, choice)| (choice.number, Fate::Kept)).collect(),
        }
    }

    /// Returns the fate of a change.
    #[must_use]
    pub fn fate(&self, number: u64) -> Fate {
        self.fates.get(&number).copied().unwrap_or(self.rest)
    }

    /// Says what becomes of each of `choices`, for people.
    #[must_use]
    pub fn describe(&self, choices: &[Choice]) -> String {
        let lines = choices
            .iter()
            .map(|choice| format!("  {:?}: {}\n", self.fate(choice.number), choice.what));
        lines.collect()
    }
}

/// Chooses the cases to look at, those of whole changes first.
#[must_use]
pub fn cases(choices: &[Choice], effort: Effort, random: &mut SplitMix) -> Vec<Case> {
    let mut first = vec![Case::all(Fate::Lost)];
    if choices.is_empty() {
        return first;
    }
    first.push(Case::all(Fate::Kept));
    let mut rest = Vec::new();
    if choices.len() <= effort.all_upto {
        let masks = 1..(1_u32 << choices.len()) - 1;
        rest.extend(masks.map(|mask| Case::kept(choices, |at| mask >> at & 1 == 1)));
    } else {
        for (at, choice) in choices.iter().enumerate() {
            rest.push(Case::except(Fate::Kept, choice.number, Fate::Lost));
            rest.push(Case::except(Fate::Lost, choice.number, Fate::Kept));
            rest.push(Case::kept(choices, |other| other <= at));
        }
        for _ in 0..effort.cases_max / 4 {
            let mask: BTreeSet<usize> = (0..choices.len()).filter(|_| random.chance(500)).collect();
            rest.push(Case::kept(choices, |at| mask.contains(&at)));
        }
    }
    for (at, choice) in choices.iter().enumerate() {
        for torn in tears(choice.write_bytes) {
            rest.push(Case::except(Fate::Kept, choice.number, torn));
            let mut before = Case::kept(choices, |other| other < at);
            before.fates.insert(choice.number, torn);
            rest.push(before);
        }
    }
    // Everything torn at once.
    for torn in [|bytes| Fate::Head(bytes / 2), |bytes| Fate::Tail(bytes / 2), |_| Fate::OnlyLength]
    {
        let writes = choices.iter().filter(|choice| choice.write_bytes > 1);
        let fates: BTreeMap<u64, Fate> =
            writes.map(|choice| (choice.number, torn(choice.write_bytes))).collect();
        if fates.len() > 1 {
            first.push(Case { rest: Fate::Kept, fates });
        }
    }
    while first.len() < effort.cases_max && !rest.is_empty() {
        let at = random.index(rest.len());
        first.push(rest.swap_remove(at));
    }
    first.truncate(effort.cases_max);
    first
}

/// Ways to lose a part of a write.
fn tears(bytes: usize) -> Vec<Fate> {
    const SECTOR: usize = 512;
    if bytes < 2 {
        return Vec::new();
    }
    let mut all = vec![
        Fate::Head(1),
        Fate::Head(bytes / 2),
        Fate::Head(bytes - 1),
        Fate::Tail(bytes / 2),
        Fate::OnlyLength,
        Fate::Hole(bytes / 3, bytes - bytes / 3),
    ];
    if bytes > SECTOR {
        let sectors = bytes / SECTOR;
        all.push(Fate::Head(SECTOR));
        all.push(Fate::Head(sectors * SECTOR));
        all.push(Fate::Tail(SECTOR));
        all.push(Fate::Hole(sectors / 2 * SECTOR, (sectors / 2 + 1) * SECTOR));
    }
    all
}

/// A point at which the power may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// So many events have happened.
    pub events: usize,
}

/// Plays `events` and stops at every cut: before and after each sync ends, after each note, and at
/// the end.
///
/// Syncs that `skip` names by their site are left out, as if the program did not ask for them.
/// `visit` may end the play; `observe` sees every event.
///
/// # Errors
///
/// * A text: the events are impossible on this disk.
pub fn play<T>(
    mut disk: Disk,
    events: &[Event],
    skip: impl Fn(&str) -> bool,
    mut observe: impl FnMut(&Event),
    mut visit: impl FnMut(Cut, &Disk) -> ControlFlow<T>,
) -> Result<Option<T>, String> {
    let mut skipped = BTreeSet::new();
    let mut at_cut = |at: usize, disk: &Disk| visit(Cut { events: at }, disk);
    for (at, event) in events.iter().enumerate() {
        if matches!(event, Event::SyncEnd { .. })
            && let ControlFlow::Break(end) = at_cut(at, &disk)
        {
            return Ok(Some(end));
        }
        observe(event);
        match event {
            Event::Begin => skipped.clear(),
            Event::SyncBegin { site, number, .. } if skip(site) => {
                skipped.insert(*number);
                continue;
            }
            Event::SyncEnd { number } if skipped.remove(number) => continue,
            _ => {}
        }
        disk.apply(event)?;
        if matches!(event, Event::SyncEnd { .. } | Event::Note(_))
            && let ControlFlow::Break(end) = at_cut(at + 1, &disk)
        {
            return Ok(Some(end));
        }
    }
    match at_cut(events.len(), &disk) {
        ControlFlow::Break(end) => Ok(Some(end)),
        ControlFlow::Continue(()) => Ok(None),
    }
}
