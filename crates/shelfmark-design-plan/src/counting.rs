//! Decides which numbers rows keep: all that every write can keep up; and which largest and smallest
//! values, where keeping one costs less than rows in its order.
//!
//! Which write cannot is known only when it is proven: numbers are tried with all others first, then
//! one by one.
//!
//! Invariant: a number that is left out has a note, and no pattern loses its plan for one that is
//! kept.

use std::collections::{BTreeMap, BTreeSet};

use crate::Plan;
use crate::basis::Basis;
use crate::cost::cost;
use crate::families::{Modes, Planner};
use shelfmark_design_language::limits::SEARCHED_PATTERNS_MAX;
use shelfmark_design_language::target::Target;
use shelfmark_design_prove::tally::extreme;

/// Most numbers that are tried one by one.
const TRIED_MAX: usize = 8;

/// Most largest and smallest values that are tried.
const EXTREMES_TRIED_MAX: usize = 4;

/// The part of its cost that a schema must save by a kept value whose rows in order would do as well.
///
/// Ours: a value that is kept is one more thing that writes have to follow.
const KEPT_SAVES: f64 = 0.01;

/// Derives a schema by `derive`, which is told the reads whose numbers and values rows keep.
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
    let (mut best, mut kept) = numbered(basis, target, &mut derive, &mut plan)?;
    let reads = basis.model.reads.iter().enumerate();
    let few = basis.model.reads.len() <= SEARCHED_PATTERNS_MAX;
    let extremes = reads.filter(|(_, read)| few && extreme(read).is_some());
    let possible = possible_of(basis, target, extremes.map(|(at, _)| at));
    for read in possible.into_keys().take(EXTREMES_TRIED_MAX) {
        let with: BTreeSet<usize> = kept.iter().chain([&read]).copied().collect();
        let mut tried = derive(&with)?;
        let (old, new) = (plan(&mut best), plan(&mut tried));
        let saves = || -> Result<bool, String> {
            // Where its condition would cancel a transaction, the write is none any more.
            Ok(!target.one_operation_per_item
                && month(basis, &new.schema)? < month(basis, &old.schema)? * (1.0 - KEPT_SAVES))
        };
        let (lacked, lacks) = (old.unserved(), new.unserved());
        if lacks < lacked || lacks == lacked && saves()? {
            (best, kept) = (tried, with);
        }
    }
    Ok(best)
}

/// Returns what a schema costs a month, in dollars.
fn month(basis: &Basis<'_>, schema: &str) -> Result<f64, String> {
    let model = basis.with(schema)?;
    let found = model.schemas.first().and_then(|schema| cost(&model, schema));
    Ok(found.map_or(0.0, |cost| cost.month()))
}

/// Derives a schema whose rows keep numbers, and returns the reads of those.
fn numbered<T>(
    basis: &Basis<'_>,
    target: &Target,
    derive: &mut impl FnMut(&BTreeSet<usize>) -> Result<T, String>,
    plan: &mut impl FnMut(&mut T) -> &mut Plan,
) -> Result<(T, BTreeSet<usize>), String> {
    let numbers = numbers(basis, target);
    let all: BTreeSet<usize> = numbers.keys().copied().collect();
    let sure = numbers.iter().filter(|(_, sure)| **sure);
    let mut kept: BTreeSet<usize> = sure.map(|(read, _)| *read).collect();
    let mut whole = derive(&all)?;
    if all.is_empty() || all == kept && plan(&mut whole).unserved() == 0 {
        return Ok((whole, all));
    }
    if all == kept {
        // A pattern without a plan may have one where nothing has to be kept up.
        let mut none = derive(&BTreeSet::new())?;
        let lost = plan(&mut none).unserved() < plan(&mut whole).unserved();
        return Ok(if lost { (none, BTreeSet::new()) } else { (whole, all) });
    }
    let mut best = derive(&kept)?;
    if plan(&mut whole).unserved() <= plan(&mut best).unserved() {
        return Ok((whole, all));
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
    Ok((best, kept))
}

/// Returns the reads whose number some row could keep.
pub(crate) fn possible(basis: &Basis<'_>, target: &Target) -> BTreeSet<usize> {
    numbers(basis, target).into_keys().collect()
}

/// Returns these reads, with true for each whose number every write keeps up for sure.
fn numbers(basis: &Basis<'_>, target: &Target) -> BTreeMap<usize, bool> {
    let reads = basis.model.reads.iter().enumerate();
    let numbers = reads.filter(|(_, read)| read.aggregate.is_some());
    possible_of(basis, target, numbers.map(|(at, _)| at))
}

/// Returns those of some reads whose number or value a row could keep, with true for each that every
/// write keeps up for sure.
fn possible_of(
    basis: &Basis<'_>,
    target: &Target,
    reads: impl Iterator<Item = usize>,
) -> BTreeMap<usize, bool> {
    let none = BTreeSet::new();
    let modes = Modes { counts: &none, narrow: true };
    let rules = Planner::new(basis.model, target, modes, BTreeSet::new());
    let one = |at: usize| {
        let kept = rules.countable(basis.model.reads.get(at)?)?;
        Some((at, rules.is_kept_up(&kept)))
    };
    reads.filter_map(one).collect()
}
