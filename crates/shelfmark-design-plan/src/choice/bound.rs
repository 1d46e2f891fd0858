//! Computes a lower bound by dual ascent, and the choice that follows it.
//!
//! Each demand offers a price for being met. A way that costs less than the offer must be paid for
//! out of what its things still cost; when some way has nothing left to take, the offer stays.
//!
//! Invariant: the sum of the offers and of what is open already is a feasible dual, so no choice
//! costs less.

use super::{EQUAL, Problem, Thing, Way};

/// A bound with what it leaves.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) value: f64,
    /// The part of each thing's cost that no demand has offered.
    pub(super) left: Vec<f64>,
}

impl Problem {
    /// Returns a lower bound of all choices that agree with the states.
    pub(super) fn bound(&self, states: &[Thing]) -> Bound {
        let mut left: Vec<f64> = Vec::with_capacity(self.things.len());
        let mut value = 0.0;
        for (price, state) in self.things.iter().zip(states) {
            left.push(if *state == Thing::Free { *price } else { 0.0 });
            if *state == Thing::Open {
                value += price;
            }
        }
        let ways: Vec<Vec<&Way>> =
            self.demands.iter().map(|demand| allowed(demand, states)).collect();
        // What each demand has offered to each thing of its ways.
        let mut offers: Vec<f64> = Vec::with_capacity(ways.len());
        for demand in &ways {
            let cheapest = demand.iter().map(|way| way.cost).min_by(f64::total_cmp);
            match cheapest {
                Some(cost) => offers.push(cost),
                None if demand.is_empty() => offers.push(f64::INFINITY),
                None => offers.push(0.0),
            }
        }
        for (offer, demand) in offers.iter_mut().zip(&self.demands) {
            if demand.is_empty() {
                *offer = 0.0;
            }
        }
        if offers.iter().any(|offer| offer.is_infinite()) {
            return Bound { value: f64::INFINITY, left };
        }
        self.ascend(&ways, &mut offers, &mut left);
        Bound { value: value + offers.iter().sum::<f64>(), left }
    }

    /// Raises the offers, those with the fewest ways first, until none can be raised.
    fn ascend(&self, ways: &[Vec<&Way>], offers: &mut [f64], left: &mut [f64]) {
        let mut given: Vec<Vec<f64>> = ways.iter().map(|list| vec![0.0; list.len()]).collect();
        let mut room = Room::default();
        let count = |at: &usize| ways.get(*at).map_or(0, Vec::len);
        let mut order: Vec<usize> = (0..ways.len()).filter(|at| count(at) > 0).collect();
        order.sort_by_key(count);
        loop {
            let mut raised = false;
            for at in &order {
                let (Some(list), Some(offer), Some(given)) =
                    (ways.get(*at), offers.get_mut(*at), given.get_mut(*at))
                else {
                    continue;
                };
                raised |= raise(list, offer, given, left, &mut room);
            }
            if !raised {
                return;
            }
        }
    }

    /// Returns the choice of the cheapest ways when things cost what the bound has left of them.
    pub(super) fn following(&self, states: &[Thing], bound: &Bound) -> Vec<Option<usize>> {
        let mut open: Vec<bool> = states.iter().map(|state| *state == Thing::Open).collect();
        let mut chosen = vec![None; self.demands.len()];
        let mut order: Vec<usize> = (0..self.demands.len()).collect();
        order.sort_by_key(|at| self.demands.get(*at).map_or(0, Vec::len));
        for at in order {
            let Some(demand) = self.demands.get(at) else { continue };
            let price = |way: &Way| {
                let parts = way.uses.iter().map(|thing| match open.get(*thing) {
                    Some(true) => 0.0,
                    _ => bound.left.get(*thing).copied().unwrap_or(0.0),
                });
                way.cost + parts.sum::<f64>()
            };
            let best = cheapest(demand, |way| is_allowed(way, states).then(|| price(way)));
            if let (Some((place, way)), Some(slot)) = (best, chosen.get_mut(at)) {
                *slot = Some(place);
                for thing in &way.uses {
                    if let Some(open) = open.get_mut(*thing) {
                        *open = true;
                    }
                }
            }
        }
        chosen
    }

    /// Returns a thing to branch over: free, used by the choice, and of those the dearest.
    pub(super) fn disputed(
        &self,
        states: &[Thing],
        ways: &[Option<usize>],
        bound: &Bound,
    ) -> Option<usize> {
        let chosen = self.demands.iter().zip(ways).filter_map(|(demand, way)| demand.get((*way)?));
        let used = chosen.flat_map(|way| way.uses.iter().copied());
        let free = |thing: &usize| states.get(*thing) == Some(&Thing::Free);
        let weight = |thing: usize| {
            let price = self.things.get(thing).copied().unwrap_or(0.0);
            // What is paid for in full is hardly disputed.
            price + bound.left.get(thing).copied().unwrap_or(0.0)
        };
        used.filter(free).max_by(|a, b| weight(*a).total_cmp(&weight(*b)))
    }
}

/// Room for the ways of one offer that have to be paid for, and for what pays: kept from offer to offer.
#[derive(Debug, Default)]
struct Room {
    /// Each tight way with the thing that it draws on.
    draws: Vec<(usize, usize)>,
    /// The things that are drawn on.
    load: Vec<usize>,
}

/// Raises one offer as far as all ways below it can be paid for.
fn raise(
    list: &[&Way],
    offer: &mut f64,
    given: &mut [f64],
    left: &mut [f64],
    room: &mut Room,
) -> bool {
    room.draws.clear();
    room.load.clear();
    // The next cost above the offer at which more ways have to be paid for.
    let mut next = f64::INFINITY;
    for (at, (way, given)) in list.iter().zip(given.iter()).enumerate() {
        let reach = way.cost + given;
        if reach > *offer + EQUAL {
            next = next.min(reach);
            continue;
        }
        // Several tight ways may draw on one thing: one on which another draws already pays for this
        // one too.
        let of = |thing: &usize| left.get(*thing).copied().unwrap_or(0.0);
        let shared = way.uses.iter().find(|thing| room.load.contains(thing));
        let richest = || way.uses.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        let paying = shared.filter(|thing| of(thing) > EQUAL).or_else(richest);
        let Some(thing) = paying else { return false };
        if !room.load.contains(thing) {
            room.load.push(*thing);
        }
        room.draws.push((at, *thing));
    }
    let pays = |thing: &usize| left.get(*thing).copied().unwrap_or(0.0);
    let step = room.load.iter().map(pays).fold(next - *offer, f64::min);
    if step <= EQUAL || !step.is_finite() {
        return false;
    }
    *offer += step;
    for (at, _) in &room.draws {
        if let Some(given) = given.get_mut(*at) {
            *given += step;
        }
    }
    for thing in &room.load {
        if let Some(left) = left.get_mut(*thing) {
            *left -= step;
        }
    }
    true
}

/// Returns the first of the ways that cost least, with its place; those without a price are left out.
pub(super) fn cheapest(
    demand: &[Way],
    price: impl Fn(&Way) -> Option<f64>,
) -> Option<(usize, &Way)> {
    let mut best: Option<(f64, usize, &Way)> = None;
    for (at, way) in demand.iter().enumerate() {
        let Some(price) = price(way) else { continue };
        if best.is_none_or(|(least, ..)| price < least) {
            best = Some((price, at, way));
        }
    }
    best.map(|(_, at, way)| (at, way))
}

fn is_allowed(way: &Way, states: &[Thing]) -> bool {
    way.uses.iter().all(|thing| states.get(*thing) != Some(&Thing::Closed))
}

fn allowed<'a>(demand: &'a [Way], states: &[Thing]) -> Vec<&'a Way> {
    demand.iter().filter(|way| is_allowed(way, states)).collect()
}
