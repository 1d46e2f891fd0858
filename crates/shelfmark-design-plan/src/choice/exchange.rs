//! Improves a choice by opening one more thing, or doing without one.
//!
//! What it is not: no search for the best; it gives the search a good choice to begin with.
//!
//! Invariant: what it returns costs no more than what it was given.

use super::bound::cheapest;
use super::{EQUAL, Problem, Way};

/// Most rounds of exchanges.
const ROUNDS_MAX: usize = 4;

/// Most looks at a way in all rounds together.
const LOOKS_MAX: usize = 20_000_000;

impl Problem {
    /// Returns a choice that no single exchange makes cheaper, as far as the work allowed goes.
    pub(super) fn improved(&self, ways: Vec<Option<usize>>) -> Vec<Option<usize>> {
        let mut best = (self.cost(&ways), ways);
        let looks: usize = self.demands.iter().map(Vec::len).sum();
        let mut left = LOOKS_MAX;
        for _ in 0..ROUNDS_MAX {
            let before = best.0;
            for thing in 0..self.things.len() {
                let Some(rest) = left.checked_sub(looks) else { return best.1 };
                left = rest;
                let mut open = self.used(&best.1);
                if let Some(place) = open.get_mut(thing) {
                    *place = !*place;
                }
                let closed = open.get(thing) == Some(&false);
                let ways = self.assigned(&mut open, closed.then_some(thing));
                let cost = self.cost(&ways);
                let whole = ways
                    .iter()
                    .zip(&self.demands)
                    .all(|(way, list)| way.is_some() || list.is_empty());
                if whole && cost < best.0 - EQUAL {
                    best = (cost, ways);
                }
            }
            if best.0 >= before - EQUAL {
                break;
            }
        }
        best.1
    }

    fn used(&self, ways: &[Option<usize>]) -> Vec<bool> {
        let mut used = vec![false; self.things.len()];
        for (demand, way) in self.demands.iter().zip(ways) {
            for thing in way.and_then(|way| demand.get(way)).map_or(&[][..], |way| &way.uses) {
                if let Some(place) = used.get_mut(*thing) {
                    *place = true;
                }
            }
        }
        used
    }

    /// Returns the cheapest way of each demand when these things are paid for; what a demand opens
    /// is paid for by those after it, too.
    fn assigned(&self, open: &mut [bool], closed: Option<usize>) -> Vec<Option<usize>> {
        let mut ways = Vec::with_capacity(self.demands.len());
        for demand in &self.demands {
            let price = |way: &Way| {
                let new = way.uses.iter().filter(|thing| open.get(**thing) == Some(&false));
                way.cost + new.filter_map(|thing| self.things.get(*thing)).sum::<f64>()
            };
            let allowed = |way: &Way| closed.is_none_or(|closed| !way.uses.contains(&closed));
            let best = cheapest(demand, |way| allowed(way).then(|| price(way)));
            if let Some((_, way)) = best {
                for thing in &way.uses {
                    if let Some(place) = open.get_mut(*thing) {
                        *place = true;
                    }
                }
            }
            ways.push(best.map(|(place, _)| place));
        }
        ways
    }
}
