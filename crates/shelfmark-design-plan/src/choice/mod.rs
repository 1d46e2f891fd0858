//! Chooses, for each demand, one way to meet it, so that all ways and all that they use cost least.
//!
//! A way has a cost of its own and uses things that cost once, however many ways use them:
//! facility location with several facilities for a way. Solved by branch and bound: a dual bound by
//! ascent, a first choice that follows it and is improved by exchanges, then branching over things
//! on which the bound and the choice disagree. What shares no thing is searched apart.
//!
//! What it is not: it knows nothing of tables and prices.
//!
//! Invariant: the bound is never above the cost of any choice, so that a gap of 0 is a proof. Work
//! is limited by steps, not by a clock: one input has one output.
//!
//! Source: D. Erlenkotter, A Dual-Based Procedure for Uncapacitated Facility Location, 1978.

mod bound;
mod exchange;
mod parts;

/// Most nodes of the search tree.
///
/// Ours: problems of published models need a handful.
pub const NODES_MAX: usize = 4_000;

/// Most looks at ways in the search: nodes times ways.
///
/// Ours: forty demands with four hundred things, ten or twenty ways each, are solved or given up within
/// a tenth of a second.
const LOOKS_MAX: usize = 400_000;

/// The relative difference below which two costs are equal.
const EQUAL: f64 = 1e-9;

/// One way to meet a demand.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// The cost of the way itself.
    pub cost: f64,
    /// The things that it uses.
    pub uses: Vec<usize>,
}

/// Demands with their ways, and the costs of things.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// The cost of each thing, once if it is used.
    pub things: Vec<f64>,
    /// The ways of each demand; a demand without ways is left out.
    pub demands: Vec<Vec<Way>>,
}

/// A choice and what is known of its quality.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The place of the way of each demand; `None` for a demand without ways.
    pub ways: Vec<Option<usize>>,
    /// The cost of all.
    pub cost: f64,
    /// No choice costs less.
    pub bound: f64,
    /// Nodes of the search.
    pub nodes: usize,
}

impl Choice {
    /// Returns by which part of itself the choice may be too dear: 0 where it is the best.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.cost <= self.bound * (1.0 + EQUAL) + EQUAL {
            return 0.0;
        }
        (self.cost - self.bound) / self.cost.abs().max(EQUAL)
    }
}

/// The state of a thing in a node of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    Free,
    /// Used, and paid for already.
    Open,
    /// Not to be used.
    Closed,
}

impl Problem {
    /// Returns the cost of a choice.
    #[must_use]
    pub fn cost(&self, ways: &[Option<usize>]) -> f64 {
        let mut used = vec![false; self.things.len()];
        let mut cost = 0.0;
        for (demand, way) in self.demands.iter().zip(ways) {
            let Some(way) = way.and_then(|way| demand.get(way)) else { continue };
            cost += way.cost;
            for thing in &way.uses {
                if let (Some(used), Some(price)) = (used.get_mut(*thing), self.things.get(*thing))
                    && !*used
                {
                    *used = true;
                    cost += price;
                }
            }
        }
        cost
    }

    /// Returns the best choice, or the best that `nodes_max` nodes find, with its bound.
    fn searched(&self, nodes_max: usize) -> Choice {
        let free = vec![Thing::Free; self.things.len()];
        let root = self.bound(&free);
        let mut best = Choice {
            ways: self.improved(self.following(&free, &root)),
            bound: root.value,
            nodes: 1,
            ..Choice::default()
        };
        best.cost = self.cost(&best.ways);
        // The nodes that are open, each with its bound: the least first keeps the bound honest.
        let mut open: Vec<(f64, Vec<Thing>)> = vec![(root.value, free)];
        while let Some(at) = least(&open) {
            let (bound, states) = open.swap_remove(at);
            best.bound = bound.min(best.cost);
            if bound >= best.cost - EQUAL * best.cost.abs().max(1.0) {
                best.bound = best.cost;
                return best;
            }
            if best.nodes >= nodes_max {
                return best;
            }
            self.branch(&states, &mut open, &mut best);
        }
        best.bound = best.cost;
        best
    }

    /// Adds the two nodes under one, and takes a better choice where it meets one.
    fn branch(&self, states: &[Thing], open: &mut Vec<(f64, Vec<Thing>)>, best: &mut Choice) {
        let here = self.bound(states);
        let ways = self.following(states, &here);
        let Some(thing) = self.disputed(states, &ways, &here) else {
            self.take(ways, best);
            return;
        };
        for state in [Thing::Open, Thing::Closed] {
            let mut under = states.to_vec();
            if let Some(place) = under.get_mut(thing) {
                *place = state;
            }
            best.nodes += 1;
            let bound = self.bound(&under);
            if bound.value < best.cost {
                self.take(self.following(&under, &bound), best);
                open.push((bound.value, under));
            }
        }
    }

    fn take(&self, ways: Vec<Option<usize>>, best: &mut Choice) {
        let whole =
            ways.iter().zip(&self.demands).all(|(way, demand)| way.is_some() || demand.is_empty());
        let cost = self.cost(&ways);
        if whole && cost < best.cost {
            best.cost = cost;
            best.ways = ways;
        }
    }
}

/// Returns the place of the node with the least bound.
fn least(open: &[(f64, Vec<Thing>)]) -> Option<usize> {
    let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    open.iter().enumerate().map(|(at, (bound, _))| (at, *bound)).min_by(order).map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
