//! Takes a problem apart into parts that share no thing: each is solved by itself.
//!
//! What it is not: no search. How far one may go is shared out here, and kept to there.
//!
//! Invariant: the costs, bounds and nodes of the parts add up to those of the whole.

use std::collections::BTreeMap;

use super::{Choice, LOOKS_MAX, Problem, Way};

/// A part of a problem, with the places of its demands in the whole.
struct Part {
    problem: Problem,
    demands: Vec<usize>,
}

impl Problem {
    /// Returns the best choice, or the best that `nodes_max` nodes of each part find, with its bound.
    #[must_use]
    pub fn solve(&self, nodes_max: usize) -> Choice {
        let mut parts = self.parts();
        // Small parts need little: what they leave is for the others.
        parts.sort_by_key(|part| part.problem.ways());
        let mut whole = Choice { ways: vec![None; self.demands.len()], ..Choice::default() };
        let (mut looks, mut open) = (LOOKS_MAX, parts.len());
        for part in parts {
            let ways = part.problem.ways().max(1);
            let choice = part.problem.searched(nodes_max.min(looks / open.max(1) / ways).max(1));
            looks = looks.saturating_sub(choice.nodes * ways);
            open -= 1;
            whole.cost += choice.cost;
            whole.bound += choice.bound;
            whole.nodes += choice.nodes;
            for (at, way) in part.demands.iter().zip(choice.ways) {
                if let Some(slot) = whole.ways.get_mut(*at) {
                    *slot = way;
                }
            }
        }
        whole
    }

    fn ways(&self) -> usize {
        self.demands.iter().map(Vec::len).sum()
    }

    /// Returns the parts, in the order of their first demands; demands without ways are in none.
    fn parts(&self) -> Vec<Part> {
        let mut groups = Groups((0..self.things.len()).collect());
        for demand in &self.demands {
            let mut used = demand.iter().flat_map(|way| way.uses.iter().copied());
            let Some(first) = used.next() else { continue };
            used.for_each(|thing| groups.unite(first, thing));
        }
        let mut of_group: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (at, demand) in self.demands.iter().enumerate().filter(|(_, one)| !one.is_empty()) {
            let first = demand.iter().find_map(|way| way.uses.first());
            let group = first.map(|thing| groups.of(*thing));
            of_group.entry(group).or_default().push(at);
        }
        of_group.into_values().map(|demands| self.part(demands)).collect()
    }

    /// Returns some demands with the things that they use, and no others.
    fn part(&self, demands: Vec<usize>) -> Part {
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut problem = Problem::default();
        for demand in demands.iter().filter_map(|at| self.demands.get(*at)) {
            let mut ways = Vec::with_capacity(demand.len());
            for way in demand {
                let mut uses = Vec::with_capacity(way.uses.len());
                for thing in &way.uses {
                    let place = *places.entry(*thing).or_insert_with(|| {
                        problem.things.push(self.things.get(*thing).copied().unwrap_or(0.0));
                        problem.things.len() - 1
                    });
                    uses.push(place);
                }
                ways.push(Way { cost: way.cost, uses });
            }
            problem.demands.push(ways);
        }
        Part { problem, demands }
    }
}

/// Things in groups: each names another of its group, and one of them itself.
struct Groups(Vec<usize>);

impl Groups {
    fn of(&self, thing: usize) -> usize {
        let mut at = thing;
        while let Some(next) = self.0.get(at).copied().filter(|next| *next != at) {
            at = next;
        }
        at
    }

    fn unite(&mut self, one: usize, other: usize) {
        let (low, high) = (self.of(one), self.of(other));
        if let Some(slot) = self.0.get_mut(low.max(high)) {
            *slot = low.min(high);
        }
    }
}
