//! The choice of whole plans against all choices, on small random workloads.

use std::collections::BTreeSet;

use super::needs::Needs;
use super::solve;
use super::ways::{Market, Place};
use crate::Options;
use crate::choice::Problem;
use crate::load::Load;
use crate::price::Prices;
use shelfmark_design_language::model::Model;
use shelfmark_design_language::model::resolve::resolve;
use shelfmark_design_language::syntax::parser::parse;
use shelfmark_design_language::target::profile;
use shelfmark_design_prove::eval::random::Random;

/// Most choices of one workload that are tried.
const CHOICES_MAX: usize = 60_000;

const HEAD: &str = "type word = text(min 1, max 20)
entity User { key id: uuid  name: text(max 40)  count 10k }
entity Doc {
  key id: ulid  user: User immutable  kind: word distinct 5  day: date immutable  at: timestamp
  title: text(max 200) avg 80  body: text(max 4000) avg 900
  count 1M  fanout user avg 100  fanout kind avg 200k  fanout user, kind avg 20
}
";

const READS: [&str; 9] = [
    "Doc where user = u order by at desc limit 10",
    "Doc select id, title where user = u order by at desc limit 10",
    "Doc where user = u and kind = k order by at",
    "Doc select id, title where kind = k and day = d order by at limit 20",
    "Doc with user.name where kind = k and day = d order by at limit 20",
    "Doc where id = i unique",
    "Doc with user.name where id = i unique",
    "Doc select id where user = u and day >= d order by day",
    "Doc select id, at where user = u and at >= t order by at strong",
];

const WRITES: [&str; 4] = [
    "insert Doc(id i, user u, kind k, day d, at t, title h, body b)",
    "update Doc(id i) set kind = k",
    "update Doc(id i) set at = t, title = h",
    "update User(id u) set name = n",
];

/// Returns a model of two to four reads and one to three writes, with rates from rare to often.
fn workload(seed: u64) -> String {
    let mut random = Random::new(seed);
    let rate = |random: &mut Random| [1, 10, 100, 1_000, 10_000][random.below(5)];
    let inputs = |text: &str| -> String {
        let words: BTreeSet<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() == 1).collect();
        words.into_iter().collect::<Vec<&str>>().join(", ")
    };
    let mut out = HEAD.to_owned();
    for number in 0..2 + random.below(3) {
        let read = READS[random.below(READS.len())];
        let (given, rate) = (inputs(read), rate(&mut random));
        out.push_str(&format!("read r{number}({given}) = {read} rate {rate}/s\n"));
    }
    for (number, write) in WRITES.iter().enumerate().take(1 + random.below(WRITES.len())) {
        let (given, rate) = (inputs(write), rate(&mut random));
        out.push_str(&format!("write w{number}({given}) = {write} rate {rate}/s\n"));
    }
    out
}

fn model(text: &str) -> Model {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}\n{text}", parsed.diagnostics);
    let (model, diagnostics) = resolve(&parsed.file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    model
}

/// Returns the least cost of all choices in which each relation has one row of its own; `None` where
/// there are too many.
fn exhaustive(market: &Market<'_>, problem: &Problem) -> Option<f64> {
    let counts = problem.demands.iter().map(|demand| demand.len().max(1));
    if counts.product::<usize>() > CHOICES_MAX {
        return None;
    }
    let mut best = f64::INFINITY;
    let mut ways: Vec<Option<usize>> =
        problem.demands.iter().map(|demand| (!demand.is_empty()).then_some(0)).collect();
    loop {
        if has_one_home(market, problem, &ways) {
            best = best.min(problem.cost(&ways));
        }
        let mut at = 0;
        loop {
            let (Some(slot), Some(demand)) = (ways.get_mut(at), problem.demands.get(at)) else {
                return Some(best);
            };
            match slot {
                Some(way) if *way + 1 < demand.len() => {
                    *way += 1;
                    break;
                }
                Some(way) => *way = 0,
                None => {}
            }
            at += 1;
        }
    }
}

fn has_one_home(market: &Market<'_>, problem: &Problem, ways: &[Option<usize>]) -> bool {
    let chosen = ways.iter().zip(&problem.demands).filter_map(|(way, demand)| demand.get((*way)?));
    let used: BTreeSet<usize> = chosen.flat_map(|way| way.uses.iter().copied()).collect();
    let bases = used.iter().filter_map(|thing| market.rows(*thing));
    let mut homes = BTreeSet::new();
    bases.filter(|rows| rows.place == Place::Base).all(|rows| homes.insert(rows.relation))
}

#[test]
fn small_workloads_are_planned_within_a_hundredth_of_the_best() {
    let target = profile("dynamodb").expect("a target");
    let prices = Prices::of("dynamodb").expect("prices");
    let (mut compared, mut worst) = (0, 1.0_f64);
    for seed in 0..400 {
        let text = workload(seed);
        let model = model(&text);
        let load = Load::of(&model, target, prices);
        let needs = Needs::of(&model, target, &load, &BTreeSet::new());
        let market = Market::new(&model, &load, &needs, Options::default());
        let Some(least) = exhaustive(&market, &market.problem) else { continue };
        let found = solve(&market, &market.problem).cost;
        compared += 1;
        worst = worst.max(found / least);
        assert!(found <= least * 1.01, "seed {seed}: {found} of {least}\n{text}");
    }
    println!("{compared} workloads, the dearest {worst:.4} of the best");
    assert!(compared >= 100, "only {compared} are small enough");
}
