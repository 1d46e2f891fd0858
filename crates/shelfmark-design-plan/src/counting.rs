//! Decides which numbers rows keep: all that every write can keep up.
//!
//! Which write cannot is known only when it is proven: numbers are tried with all others first, then
//! one by one.
//!
//! Invariant: a number that is left out has a note, and no pattern loses its plan for one that is
//! kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::Plan;
use crate::basis::Basis;
use crate::families::{Modes, Planner};
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::target::Target;

/// Most numbers that are tried one by one.
const TRIED_MAX: usize = 8;

/// Derives a schema by `derive`, which is told the reads whose numbers rows keep.
///
/// # Errors
///
/// As of `derive`.
pub(crate) fn with_counts<T>(
    basis: &Basis<'_>,
    target: &Target,
    mut derive: impl FnMut(&BTreeSet<usize>) -> Result<T, String>,
    mut plan: impl FnMut(&mut T) -> &mut Plan,
) -> Result<T, String> {
    let numbers = numbers(basis, target);
    let all: BTreeSet<usize> = numbers.keys().copied().collect();
    let sure = numbers.iter().filter(|(_, sure)| **sure);
    let mut kept: BTreeSet<usize> = sure.map(|(read, _)| *read).collect();
    let mut whole = derive(&all)?;
    if all == kept {
        return Ok(whole);
    }
    let mut best = derive(&kept)?;
    if plan(&mut whole).unserved() <= plan(&mut best).unserved() {
        return Ok(whole);
    }
    let few = basis.model.reads.len() <= SEARCHED_PATTERNS_MAX;
    let open: Vec<usize> = all.difference(&kept).copied().collect();
    let mut reasons = Vec::new();
    for read in open.iter().take(if few { TRIED_MAX } else { 0 }) {
        let with: BTreeSet<usize> = kept.iter().chain([read]).copied().collect();
        let mut tried = derive(&with)?;
        if plan(&mut tried).unserved() <= plan(&mut best).unserved() {
            (best, kept) = (tried, with);
            continue;
        }
        let old = plan(&mut best).notes.clone();
        let new = plan(&mut tried).notes.iter().find(|note| !old.contains(note));
        reasons.extend(new.map(|note| (*read, note.clone())));
    }
    for (read, reason) in reasons {
        let name = basis.model.reads.get(read).map_or("", |read| read.name.text.as_str());
        plan(&mut best).explain(
            &format!("{name} is unservable: "),
            &format!("{name} is unservable: with a row that keeps it, {reason}"),
        );
    }
    Ok(best)
}

/// Returns the reads whose number some row could keep.
pub(crate) fn possible(basis: &Basis<'_>, target: &Target) -> BTreeSet<usize> {
    numbers(basis, target).into_keys().collect()
}

/// Returns these reads, with true for each whose number every write keeps up for sure.
fn numbers(basis: &Basis<'_>, target: &Target) -> BTreeMap<usize, bool> {
    let none = BTreeSet::new();
    let modes = Modes { counts: &none, narrow: true };
    let rules = Planner::new(basis.model, target, modes, BTreeSet::new());
    let reads = basis.model.reads.iter().enumerate();
    reads.filter_map(|(at, read)| Some((at, rules.is_kept_up(&rules.countable(read)?)))).collect()
}
