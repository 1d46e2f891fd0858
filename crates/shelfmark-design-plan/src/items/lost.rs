//! Gives up rows and entries with which a write has no plan, where others serve as much.
//!
//! What a candidate costs is known before it is chosen; whether writes can keep it up says the prover
//! afterwards. So the candidates that a lost write would have to change give way, one after another, and
//! the rest is chosen anew.
//!
//! What it is not: no proof, and no search of all sets of candidates.
//!
//! Invariant: what it returns serves no fewer patterns than what it was given.

use std::collections::BTreeSet;

use super::arrange::Apart;
use super::crowded::fitted;
use super::ways::{Market, Place, Rows};
use super::{Draft, draft, without};
use crate::basis::Basis;
use shelfmark_design_language::model::pattern::{Effect, EffectKind};
use shelfmark_design_language::target::Target;

/// Most groups of candidates that are tried for the lost writes of one choice.
///
/// Ours: a write that is lost changes the keys of a few indexes.
const TRIED_MAX: usize = 8;

/// Most times that some candidates give way.
const ROUNDS_MAX: usize = 4;

/// Returns a choice with which more writes have plans, and no fewer patterns; else the one given.
pub(super) fn regained(
    basis: &Basis<'_>,
    target: &Target,
    market: &mut Market<'_>,
    draft: Draft,
    named: (&str, Apart<'_>),
) -> Result<Draft, String> {
    let mut best = draft;
    for _ in 0..ROUNDS_MAX {
        let suspects = market.suspects(&best);
        let all: BTreeSet<usize> = suspects.iter().flatten().copied().collect();
        if all.is_empty() {
            break;
        }
        let whole = tried(basis, target, market, &all, named)?;
        let helps = best.settled.lost.iter().any(|write| !whole.settled.lost.contains(write));
        if !helps {
            break;
        }
        let mut found: Vec<(BTreeSet<usize>, Draft)> = Vec::new();
        if suspects.len() > 1 {
            for group in suspects {
                let one = tried(basis, target, market, &group, named)?;
                found.push((group, one));
            }
        }
        found.push((all, whole));
        found.retain(|(_, one)| one.failures() < best.failures());
        found.sort_by(|(_, a), (_, b)| {
            a.failures().cmp(&b.failures()).then(a.cost.total_cmp(&b.cost))
        });
        let Some((closed, one)) = found.into_iter().next() else { break };
        market.problem = without(&market.problem, &closed);
        best = one;
    }
    Ok(best)
}

/// Chooses without some candidates.
fn tried(
    basis: &Basis<'_>,
    target: &Target,
    market: &mut Market<'_>,
    closed: &BTreeSet<usize>,
    named: (&str, Apart<'_>),
) -> Result<Draft, String> {
    let problem = without(&market.problem, closed);
    let before = std::mem::replace(&mut market.problem, problem);
    let choice = fitted(market, named.1);
    let found = draft(basis, target, market, &choice, named);
    market.problem = before;
    found
}

impl Market<'_> {
    /// Returns the used candidates whose keys or conditions a lost write changes, each with all that
    /// differ from it in what they show alone.
    fn suspects(&self, draft: &Draft) -> Vec<BTreeSet<usize>> {
        let lost = draft.settled.lost.iter().filter_map(|write| self.model.writes.get(*write));
        let effects: Vec<&Effect> = lost.flat_map(|write| &write.effects).collect();
        let mut groups: Vec<BTreeSet<usize>> = Vec::new();
        for thing in &draft.used {
            let Some(rows) = self.rows(*thing) else { continue };
            let changed = effects.iter().any(|effect| changes(effect, rows));
            if !changed || groups.iter().any(|group| group.contains(thing)) {
                continue;
            }
            let alike = |one: &Rows| {
                one.place == rows.place
                    && one.key.partition == rows.key.partition
                    && one.key.sort == rows.key.sort
                    && one.when == rows.when
            };
            let same = self.rows_of(rows.relation).filter(|(_, one)| alike(one));
            groups.push(same.map(|(at, _)| at).collect());
        }
        groups.truncate(TRIED_MAX);
        groups
    }
}

/// Returns true if an effect changes whether a tuple has such rows, or where they lie.
fn changes(effect: &Effect, rows: &Rows) -> bool {
    let hits = |path: &[usize]| effect.set.iter().any(|(column, _)| path == [*column]);
    let moves = matches!(effect.kind, EffectKind::Update | EffectKind::Increment);
    let keys = rows.key.partition.iter().chain(&rows.key.sort);
    let second = !matches!(rows.place, Place::Base | Place::Guard);
    second
        && moves
        && effect.relation == rows.relation
        && (keys.into_iter().any(|path| hits(path)) || rows.when.iter().any(|one| hits(&one.path)))
}
