//! Chooses rows, entries and copies by cost, for a target of items, indexes and request units.
//!
//! Candidates are listed from what patterns need, each with a price for what is written and stored;
//! each need has the ways in which some candidates serve it, with a price for what is read. The
//! cheapest choice is packed into tables and indexes and written as a schema, which the prover
//! judges; a way that it refuses is closed, and the rest is chosen anew.
//!
//! What it is not: no proof. Its costs are estimates, by which candidates are compared.
//!
//! Invariant: a pattern without a plan has a note that says why.

mod arrange;
mod beside;
mod candidates;
mod crowded;
mod estimate;
mod explain;
mod keys;
mod lost;
mod needs;
mod pack;
mod projection;
mod serve;
mod text;
mod ways;

pub(crate) use arrange::derive;
pub(crate) use explain::explain;
pub(crate) use needs::sorts_as_text;

use std::collections::BTreeSet;

use crate::basis::Basis;
use crate::choice::{Choice, NODES_MAX, Problem};
use crate::families::settle::{Settled, settle};
use crate::families::text::Skeleton;
use crate::load::Load;
use crate::price::Prices;
use crate::{Options, Plan};
use arrange::Apart;
use crowded::fitted;
use needs::{Needs, Origin};
use pack::{Layout, pack};
use serve::Writer;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::target::Target;
use ways::{Access, Market, Place};

/// Most rounds of choosing anew after the prover refused something.
///
/// Ours: one round closes every way that is refused in it.
const ROUNDS_MAX: usize = 8;

/// Derives a schema, and returns true beside it if each write has a plan.
fn planned(
    basis: &Basis<'_>,
    target: &Target,
    (name, options): (&str, Options),
    apart: Apart<'_>,
    counts: &BTreeSet<usize>,
) -> Result<(Plan, bool), String> {
    let prices = Prices::of(&target.name).ok_or("the target has no price list")?;
    let model = basis.model;
    let load = Load::of(model, target, prices);
    let needs = Needs::of(model, target, &load, counts);
    let mut market = Market::new(model, &load, &needs, options);
    let mut best: Option<Draft> = None;
    for _ in 0..ROUNDS_MAX {
        let choice = fitted(&market, apart);
        let draft = draft(basis, target, &market, &choice, (name, apart))?;
        let refused = market.close(&choice, &draft.settled);
        let better = best.as_ref().is_none_or(|old| draft.failures() < old.failures());
        if better {
            best = Some(draft);
        }
        if !refused {
            break;
        }
    }
    let Some(best) = best else { return Err("nothing was chosen".to_owned()) };
    let mut draft = lost::regained(basis, target, &mut market, best, (name, apart))?;
    if let Some(lean) = without_hopeless(basis, target, &mut market, &draft, (name, apart))? {
        draft = lean;
    }
    let mut notes = needs.notes.clone();
    let said: BTreeSet<String> = notes.iter().map(|note| first_word(note)).collect();
    let mut note = |text: String| {
        // What was said of it before says more.
        if !said.contains(&first_word(&text)) && !notes.contains(&text) {
            notes.push(text);
        }
    };
    for (read, why) in &draft.settled.refused {
        let name = model.reads.get(*read).map_or("", |read| read.name.text.as_str());
        note(format!("{name} has no plan: {why}"));
    }
    for text in &draft.settled.notes {
        note(text.clone());
    }
    if draft.gap > 0.0 {
        let percent = draft.gap * 100.0;
        note(format!("the search ended early: the best schema may cost {percent:.1} % less"));
    }
    let text = draft.skeleton.finish(&draft.settled.writes, &notes);
    let schema = crate::basis::formatted(&text)?;
    Ok((Plan { schema, notes }, draft.settled.sound))
}

/// Derives a schema without rows for reads that none serves; `None` where there are no such reads.
fn without_hopeless(
    basis: &Basis<'_>,
    target: &Target,
    market: &mut Market<'_>,
    draft: &Draft,
    named: (&str, Apart<'_>),
) -> Result<Option<Draft>, String> {
    let refused = &draft.settled.refused;
    let of_read = market.demanded();
    let mut fewer = false;
    for (demand, read) in market.problem.demands.iter_mut().zip(of_read) {
        if read.is_some_and(|read| refused.contains_key(&read)) {
            fewer |= !demand.is_empty();
            demand.clear();
        }
    }
    if !fewer {
        return Ok(None);
    }
    let choice = fitted(market, named.1);
    let mut lean = self::draft(basis, target, market, &choice, named)?;
    let worse = lean.failures() > draft.failures();
    lean.settled.refused.extend(refused.clone());
    Ok((!worse).then_some(lean))
}

fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or("").to_owned()
}

/// A written choice with what the prover says of it.
struct Draft {
    skeleton: Skeleton,
    settled: Settled,
    /// The candidates that are used.
    used: BTreeSet<usize>,
    /// The cost by which candidates are compared.
    cost: f64,
    /// The part of the cost that a longer search might save.
    gap: f64,
}

impl Draft {
    /// Returns how many patterns have no plan.
    fn failures(&self) -> usize {
        let writes = self.settled.notes.iter().filter(|note| note.contains(" has no plan")).count();
        self.settled.refused.len() + writes
    }
}

/// Solves the problem so that each relation has one home.
fn solve(market: &Market<'_>, problem: &Problem) -> Choice {
    let mut problem: Problem = problem.clone();
    loop {
        // What cannot be met any more is left out.
        for demand in &mut problem.demands {
            if demand.iter().all(|way| way.cost.is_infinite()) {
                demand.clear();
            }
        }
        let choice = problem.solve(NODES_MAX);
        let used = market.used(&choice);
        let doubled = market.homes.iter().find_map(|relation| {
            let bases: Vec<usize> = market
                .rows_of(*relation)
                .filter(|(at, rows)| rows.place == Place::Base && used.contains(at))
                .map(|(at, _)| at)
                .collect();
            (bases.len() > 1).then_some((*relation, bases))
        });
        let Some((relation, bases)) = doubled else { return choice };
        // One of them is the row; which, the costs of the whole say.
        let tried = bases.iter().map(|base| {
            let others = market
                .rows_of(relation)
                .filter(|(at, rows)| rows.place == Place::Base && at != base);
            let closed: BTreeSet<usize> = others.map(|(at, _)| at).collect();
            let mut one = without(&problem, &closed);
            let unmet = unmet(&mut one);
            (unmet, one.solve(NODES_MAX).cost, one)
        });
        let best = tried.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        match best {
            Some((_, _, one)) => problem = one,
            None => return choice,
        }
    }
}

/// Leaves out the demands that cannot be met, and returns how many.
fn unmet(problem: &mut Problem) -> usize {
    let lost = problem
        .demands
        .iter_mut()
        .filter(|demand| !demand.is_empty() && demand.iter().all(|way| way.cost.is_infinite()));
    lost.map(|demand| demand.clear()).count()
}

/// Returns the problem without the ways that use closed things; places of ways stay.
fn without(problem: &Problem, closed: &BTreeSet<usize>) -> Problem {
    let mut one = problem.clone();
    for way in one.demands.iter_mut().flatten() {
        if way.uses.iter().any(|thing| closed.contains(thing)) {
            way.cost = f64::INFINITY;
        }
    }
    one
}

/// Returns the problem without one way.
fn without_way(problem: &Problem, demand: usize, way: usize) -> Problem {
    let mut one = problem.clone();
    let closed = one.demands.get_mut(demand).and_then(|demand| demand.get_mut(way));
    if let Some(way) = closed {
        way.cost = f64::INFINITY;
    }
    one
}

/// Writes a choice down and asks the prover.
fn draft(
    basis: &Basis<'_>,
    target: &Target,
    market: &Market<'_>,
    choice: &Choice,
    (name, apart): (&str, Apart<'_>),
) -> Result<Draft, String> {
    let chosen = market.chosen(choice);
    let used = market.used(choice);
    let layout = pack(market, &chosen, &used, apart);
    let skeleton = written(market, &chosen, &layout, target, name);
    let mut settled = settle(basis, &skeleton.text(), &skeleton.written(), target)?;
    for (read, why) in market.crowded_out(choice) {
        settled.refused.entry(read).and_modify(|reason| *reason = why);
    }
    let mut skeleton = skeleton;
    skeleton.serves.retain(|(read, _)| !settled.refused.contains_key(read));
    Ok(Draft { skeleton, settled, used, cost: choice.cost, gap: choice.gap() })
}

fn written(
    market: &Market<'_>,
    chosen: &[Option<&Access>],
    layout: &Layout,
    target: &Target,
    name: &str,
) -> Skeleton {
    let model: &Model = market.model;
    let writer = Writer { model, layout };
    let counts: Vec<_> =
        market.needs.counts.iter().map(|(_, kept)| (kept.parent, kept.text.clone())).collect();
    let tables = text::tables(model, layout, &counts);
    let mut serves: Vec<(usize, String)> = Vec::new();
    let mut accesses = chosen.iter();
    for need in &market.needs.needs {
        let access = accesses.next().copied().flatten();
        serves.extend(access.and_then(|access| writer.serve(need, access)));
    }
    for mixed in &market.needs.mixed {
        let access = accesses.next().copied().flatten();
        serves.extend(access.and_then(|access| writer.serve_mixed(mixed, access)));
    }
    for (read, kept) in &market.needs.counts {
        serves.extend(writer.serve_count(*read, kept.parent));
    }
    serves.sort();
    let head = format!("schema {name} target {} \"derived from the patterns\"", target.name);
    Skeleton { head, tables, serves }
}

impl Market<'_> {
    /// Returns the requests of each demand's way.
    fn chosen(&self, choice: &Choice) -> Vec<Option<&Access>> {
        let ways = choice.ways.iter().zip(&self.accesses);
        ways.map(|(way, accesses)| way.and_then(|way| accesses.get(way))).collect()
    }

    /// Returns the things that a choice uses.
    fn used(&self, choice: &Choice) -> BTreeSet<usize> {
        let ways = choice.ways.iter().zip(&self.problem.demands);
        let chosen = ways.filter_map(|(way, demand)| demand.get((*way)?));
        chosen.flat_map(|way| way.uses.iter().copied()).collect()
    }

    /// Returns the read of each demand that is of one: needs, then collections.
    fn demanded(&self) -> Vec<Option<usize>> {
        let reads = self.needs.needs.iter().map(|need| match need.origin {
            Origin::Read(read) => Some(read),
            Origin::Loop(_) => None,
        });
        reads.chain(self.needs.mixed.iter().map(|mixed| Some(mixed.read))).collect()
    }

    /// Closes the ways that the prover refused; returns true if there are others to try.
    fn close(&mut self, choice: &Choice, settled: &Settled) -> bool {
        let mut closed = false;
        for (at, read) in self.demanded().into_iter().enumerate() {
            let refused = read.is_some_and(|read| settled.refused.contains_key(&read));
            let (true, Some(Some(way))) = (refused, choice.ways.get(at)) else { continue };
            let demand = self.problem.demands.get_mut(at);
            if let Some(way) = demand.and_then(|demand| demand.get_mut(*way)) {
                closed |= way.cost.is_finite();
                way.cost = f64::INFINITY;
            }
        }
        closed
    }
}

#[cfg(test)]
mod tests;
