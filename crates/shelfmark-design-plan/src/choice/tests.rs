//! The search against all choices, and at the size that it is promised for.

use super::{Choice, NODES_MAX, Problem, Way};

/// A small generator of numbers; one seed has one stream.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap_or(0) % below.max(1)
    }
}

fn random(seed: u64, demands: usize, things: usize, ways: usize) -> Problem {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(7));
    let prices = (0..things).map(|_| 5.0 + numbers.next(100) as f64).collect();
    let mut way = || {
        let uses = (0..=numbers.next(2)).map(|_| numbers.next(things)).collect();
        Way { cost: numbers.next(60) as f64, uses }
    };
    let demands = (0..demands).map(|_| (0..ways).map(|_| way()).collect()).collect();
    Problem { things: prices, demands }
}

/// Returns the least cost of all choices, by trying them.
fn exhaustive(problem: &Problem) -> f64 {
    let mut ways: Vec<Option<usize>> = vec![Some(0); problem.demands.len()];
    let mut best = f64::INFINITY;
    loop {
        best = best.min(problem.cost(&ways));
        let mut at = 0;
        loop {
            let (Some(slot), Some(list)) = (ways.get_mut(at), problem.demands.get(at)) else {
                return best;
            };
            let next = slot.unwrap_or(0) + 1;
            if next < list.len() {
                *slot = Some(next);
                break;
            }
            *slot = Some(0);
            at += 1;
        }
    }
}

#[test]
fn small_problems_are_solved_exactly() {
    for seed in 0..300 {
        let problem = random(seed, 1 + (seed % 6) as usize, 12, 1 + (seed % 8) as usize);
        let choice = problem.solve(NODES_MAX);
        let least = exhaustive(&problem);
        assert!((choice.cost - least).abs() < 1e-6, "seed {seed}: {} {least}", choice.cost);
        assert_eq!(choice.gap(), 0.0, "seed {seed}");
        assert!((problem.cost(&choice.ways) - choice.cost).abs() < 1e-6, "seed {seed}");
    }
}

/// Checks that the bound of a short search is below the best choice, and that the gap says by how
/// much.
#[test]
fn a_search_that_is_cut_short_says_how_far_it_may_be_off() {
    for seed in 0..60 {
        let problem = random(seed, 6, 14, 8);
        let least = exhaustive(&problem);
        for nodes in [1, 3, 9] {
            let choice = problem.solve(nodes);
            assert!(choice.bound <= least + 1e-6, "seed {seed}: {} {least}", choice.bound);
            assert!(choice.cost >= least - 1e-6, "seed {seed}");
            assert!(choice.cost * (1.0 - choice.gap()) <= least + 1e-6, "seed {seed}");
        }
    }
}

#[test]
fn the_promised_size_is_solved() {
    for seed in 0..2 {
        let problem = random(seed, 40, 400, 10);
        let choice = problem.solve(NODES_MAX);
        println!("seed {seed}: {} nodes, gap {:.4}", choice.nodes, choice.gap());
        assert!(choice.gap() < 0.05, "seed {seed}: {} of {}", choice.bound, choice.cost);
    }
}

#[test]
fn a_demand_without_ways_is_left_out() {
    let problem = Problem {
        things: vec![1.0],
        demands: vec![Vec::new(), vec![Way { cost: 2.0, uses: vec![0] }]],
    };
    let Choice { ways, cost, .. } = problem.solve(NODES_MAX);
    assert_eq!((ways, cost), (vec![None, Some(0)], 3.0));
}

/// Checks that demands which share no thing are searched apart: together they are the product of
/// their nodes, apart the sum.
#[test]
fn what_shares_no_thing_is_searched_apart() {
    let parts: Vec<Problem> = (0..8).map(|seed| random(seed, 5, 12, 8)).collect();
    let mut whole = Problem::default();
    for part in &parts {
        let before = whole.things.len();
        whole.things.extend(&part.things);
        let moved = |way: &Way| Way {
            cost: way.cost,
            uses: way.uses.iter().map(|thing| thing + before).collect(),
        };
        let demands = part.demands.iter().map(|demand| demand.iter().map(moved).collect());
        whole.demands.extend(demands);
    }
    let choice = whole.solve(NODES_MAX);
    let least: f64 = parts.iter().map(exhaustive).sum();
    assert!((choice.cost - least).abs() < 1e-6, "{} {least}", choice.cost);
    assert_eq!(choice.gap(), 0.0);
    assert!((whole.cost(&choice.ways) - choice.cost).abs() < 1e-6);
    let nodes: usize = parts.iter().map(|part| part.solve(NODES_MAX).nodes).sum();
    assert_eq!(choice.nodes, nodes);
    let together = whole.searched(NODES_MAX).nodes;
    assert!(together > 4 * nodes, "{together} nodes together, {nodes} apart");
}
